//! `lathectl`: the session core without a window.
//!
//! Same data, same config, safe beside the open app: a session has one writer at a time.

mod args;
mod config;
mod data;
mod output;
mod run;
mod show;
mod time;

use std::process::ExitCode;
use std::sync::Arc;

use clap::{CommandFactory, Parser};
use clap_complete::Shell;
use lathe_session::{Options, Sessions, default_data_dir};

use args::{Args, Command};

/// What went wrong, for a person at a terminal.
type Outcome<T = ExitCode> = Result<T, Box<dyn std::error::Error>>;

fn main() -> ExitCode {
    let args = Args::parse();
    // One turn needs one thread beside this one, which may wait for a slow reader.
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
        Err(error) if is_gone(&*error) => ExitCode::FAILURE,
        Err(error) => output::fail(&*error),
    }
}

/// Whoever read our output has had enough (`| head`).
fn is_gone(error: &(dyn std::error::Error + 'static)) -> bool {
    let io = error.downcast_ref::<std::io::Error>();
    io.is_some_and(|error| error.kind() == std::io::ErrorKind::BrokenPipe)
}

/// By way of memory: what writes them takes a reader that went away for a bug.
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
    // Opening what is stored may change it.
    config::check_named(&args.command, args.config.as_deref())?;
    let data_dir = match args.data_dir {
        Some(dir) => dir,
        None => default_data_dir()?,
    };
    let mut options = Options::new(data_dir);
    options.config = args.config;
    options.fit_picture = Arc::new(fit_picture);
    options.draw_page = Some(Arc::new(lathe_render::page::render_session));
    options.cleans_up = matches!(args.command, Command::Run(_));
    let sessions = Sessions::open(options).await?;
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
        Command::Import { path, json } => data::import(&sessions, &path, json).await,
        Command::Fork { id, at } => time::fork(&sessions, &id, at.as_ref()).await,
        Command::Revert {
            id,
            to,
            preview,
            keep_files,
        } => time::revert(&sessions, &id, to, keep_files, preview).await,
        Command::Unrevert { id } => time::unrevert(&sessions, &id).await,
        Command::Rm { id } => data::remove(&sessions, &id).await,
        Command::Models { json } => data::models(&sessions, &directory, json).await,
        Command::Check { repair } => data::check(&sessions, repair).await,
        // Above: they need no data.
        Command::Completions { shell } => completions(shell),
    }
}

fn fit_picture(bytes: &[u8], max_edge: u32, max_bytes: usize) -> Option<(String, Vec<u8>)> {
    let fitted = lathe_render::picture::fit_for_model(bytes, max_edge, max_bytes).ok()?;
    Some((fitted.mime.to_owned(), fitted.bytes))
}
