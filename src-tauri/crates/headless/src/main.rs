//! `lathectl`: the session core without a window.
//!
//! Uses the same data and config as the app and may run at the same time: a session has only one
//! writer.

mod acp;
mod args;
mod config;
mod data;
mod import;
mod mcp;
mod output;
mod revert;
mod run;
mod serve;
mod show;
mod texts;

use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;

use clap::{CommandFactory, Parser};
use clap_complete::Shell;
use lathe_log::{Log, OnScreen};
use lathe_session::{Options, Sessions, default_data_dir};

use args::{Args, Command, Reverted};

/// The result of a command. The error is printed to standard error.
type Outcome<T = ExitCode> = Result<T, Box<dyn std::error::Error>>;

fn main() -> ExitCode {
    let args = Args::parse();
    // A second thread, because this one may block on a slow reader of the output.
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build();
    let runtime = match runtime {
        Ok(runtime) => runtime,
        Err(error) => return output::fail(&error),
    };
    let done = runtime.block_on(dispatch(args));
    let done = done.and_then(|code| {
        output::flush()?;
        Ok(code)
    });
    match done {
        Ok(code) => code,
        Err(error) if is_broken_pipe(&*error) => ExitCode::FAILURE,
        Err(error) => output::fail(&*error),
    }
}

/// Whether the reader of our output has closed it (`| head`).
fn is_broken_pipe(error: &(dyn std::error::Error + 'static)) -> bool {
    let io = error.downcast_ref::<std::io::Error>();
    io.is_some_and(|error| error.kind() == std::io::ErrorKind::BrokenPipe)
}

/// Generated into memory first: the generator panics if writing fails (`| head`).
fn completions(shell: Shell) -> Outcome {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Args::command(), "lathectl", &mut script);
    output::text(&String::from_utf8(script)?)?;
    Ok(ExitCode::SUCCESS)
}

async fn dispatch(args: Args) -> Outcome {
    if let Command::Completions { shell } = args.command {
        return completions(shell);
    }
    // Before the sessions are opened, because opening may migrate the data.
    config::check_named(&args.command, args.config.as_deref())?;
    let data_dir = match args.data_dir {
        Some(dir) => dir,
        None => default_data_dir()?,
    };
    let log = start_log(&data_dir, args.verbose);
    let mut options = Options::new(&data_dir);
    options.config = args.config;
    options.fit_picture = Arc::new(fit_picture);
    options.draw_page = Some(Arc::new(lathe_render::page::render_session));
    options.cleans_up = matches!(
        args.command,
        Command::Run(_) | Command::Serve(_) | Command::Acp
    );
    let sessions = Sessions::open(options).await?;
    if let Some(log) = log {
        log.set_redactor(sessions.text_redactor().await);
    }
    let directory = match args.directory {
        Some(directory) => directory,
        None => std::env::current_dir()?,
    };
    match args.command {
        Command::Run(run) => run::run(&sessions, &directory, run).await,
        Command::Sessions { json, search, all } => {
            data::sessions(&sessions, &directory, json, search.as_deref(), all).await
        }
        Command::Show { id, form } => show::show(&sessions, &id, form).await,
        Command::Export { id } => show::export(&sessions, &id).await,
        Command::Import { path, from, json } => import::import(&sessions, path, from, json).await,
        Command::Fork { id, at } => revert::fork(&sessions, &id, at.as_ref()).await,
        Command::Revert(args) => revert::revert(&sessions, args).await,
        Command::Unrevert { id, force } => revert::unrevert(&sessions, &id, force).await,
        Command::Reverted { what } => match what {
            Reverted::List { id, json } => revert::list(&sessions, &id, json).await,
            Reverted::Restore { id, item, force } => {
                revert::restore(&sessions, &id, &item, force).await
            }
        },
        Command::Rm { id } => data::remove(&sessions, &id).await,
        Command::Models { json } => data::models(&sessions, &directory, json).await,
        Command::Check { repair } => data::check(&sessions, repair).await,
        Command::Serve(args) => serve::serve(&sessions, &data_dir, &directory, args).await,
        Command::Acp => acp::acp(&sessions).await,
        Command::Mcp { allow_ask } => mcp::mcp(&sessions, &directory, allow_ask).await,
        // Handled above, before anything is opened.
        Command::Completions { shell } => completions(shell),
    }
}

/// A program that cannot write its log works without one.
fn start_log(data_dir: &Path, verbose: u8) -> Option<Log> {
    let started = Log::start(&lathe_log::Options {
        folder: &data_dir.join("logs"),
        program: "lathectl",
        on_screen: match verbose {
            0 => OnScreen::Quiet,
            1 => OnScreen::Usual,
            _ => OnScreen::Debug,
        },
    });
    match started {
        Ok(log) => {
            lathe_log::log_panics(|_| {});
            Some(log)
        }
        Err(error) => {
            output::note(&texts::no_log(error));
            None
        }
    }
}

fn fit_picture(bytes: &[u8], max_edge: u32, max_bytes: usize) -> Option<(String, Vec<u8>)> {
    let fitted = lathe_render::picture::fit_for_model(bytes, max_edge, max_bytes).ok()?;
    Some((fitted.mime.to_owned(), fitted.bytes))
}
