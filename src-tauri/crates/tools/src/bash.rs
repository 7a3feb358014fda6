//! Runs a command in the user's shell.

mod capture;

use std::time::Duration;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};
use tokio::sync::oneshot;
use tokio::time::Instant;

use self::capture::{Capture, Captured};
use crate::context::{CommandAsk, Progress, ToolContext};
use crate::environment::Shell;
use crate::files;
use crate::paths::{Place, Target};
use crate::process::{CommandSpec, Run};
use crate::text;
use crate::tool::{Effect, Tool, ToolFailure, ToolOutput};
use crate::truncate::{self, MAX_BYTES, MAX_LINES};

const DEFAULT_TIMEOUT: Duration = Duration::from_secs(120);
const MAX_TIMEOUT: Duration = Duration::from_secs(60 * 60);
/// How long a child may keep the output open after the shell has ended. Including the time to
/// kill the child this stays below two and a half seconds.
const OPEN_PIPE_WAIT: Duration = Duration::from_secs(2);
const PROGRESS_INTERVAL: Duration = Duration::from_millis(100);
/// A card shows the end of the output; `cardCut` says that there was more before.
const CARD_BYTES: usize = 30 * 1024;

pub struct Bash;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BashInput {
    /// The command to run.
    command: String,
    /// What it does, in five to ten words.
    description: String,
    /// Milliseconds after which it is ended; 120000 if not given.
    #[schemars(range(min = 1))]
    timeout: Option<u64>,
    /// Where to run it, if not in the working directory. Use this instead of cd.
    workdir: Option<String>,
}

impl Tool for Bash {
    const NAME: &'static str = "bash";
    const PROMPT: &'static str = include_str!("bash.txt");
    const TRUNCATES_ITSELF: bool = true;
    const EFFECT: Effect = Effect::Ordered;
    type Input = BashInput;

    async fn run(&self, input: Self::Input, cx: &ToolContext) -> Result<ToolOutput, ToolFailure> {
        if input.command.trim().is_empty() {
            return Err(ToolFailure::failed("The command is empty."));
        }
        if input.command.contains('\0') {
            return Err(ToolFailure::failed("The command contains a NUL character."));
        }
        let directory = working_directory(&input, cx).await?;
        let shell = cx.environment.shell();
        cx.host
            .ask_to_run(CommandAsk {
                command: input.command.clone(),
                directory: directory.path().to_owned(),
                dialect: shell.dialect,
                metadata: for_dialog(&input),
            })
            .await?;
        cx.host.ensure_writable().await?;
        execute(&input, &shell, &directory, cx).await
    }
}

async fn working_directory(input: &BashInput, cx: &ToolContext) -> Result<Place, ToolFailure> {
    let given = input.workdir.as_deref().unwrap_or(".");
    let place = cx.locate(given, Target::Directory).await?;
    if files::is_directory(&place) {
        return Ok(place);
    }
    let shown = text::quoted(place.shown());
    Err(ToolFailure::failed(format!(
        "The working directory {shown} is not a directory."
    )))
}

fn for_dialog(input: &BashInput) -> Map<String, Value> {
    Map::from_iter([
        ("command".to_owned(), text::visible(&input.command).into()),
        (
            "description".to_owned(),
            text::visible(&input.description).into(),
        ),
    ])
}

/// How the command ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Ending {
    Exited(Option<i32>),
    TimedOut(Duration),
    Aborted,
}

async fn execute(
    input: &BashInput,
    shell: &Shell,
    directory: &Place,
    cx: &ToolContext,
) -> Result<ToolOutput, ToolFailure> {
    let variables = cx.environment.variables().await;
    let spec = CommandSpec {
        program: &shell.program,
        arguments: shell.arguments(&input.command),
        directory: directory.path(),
        variables,
    };
    let mut run =
        cx.environment.processes().start(&spec).map_err(|error| {
            ToolFailure::failed(format!("The shell could not be started: {error}"))
        })?;
    let Some(pipe) = run.take_output() else {
        return Err(ToolFailure::failed("The shell has no output."));
    };
    let (capture, ended) = Capture::start(pipe, cx.output_file());
    let ending = wait(&mut run, ended, &capture, input, cx).await;
    run.end().await;
    let card = text::coloured(&capture.latest(CARD_BYTES));
    let captured = capture.finish();
    if ending == Ending::Aborted {
        let mut failure = ToolFailure::aborted()
            .with("output", card)
            .with("description", text::visible(&input.description));
        if captured.total > CARD_BYTES as u64 {
            failure = failure.with("cardCut", true);
        }
        if let Some(path) = captured.saved {
            failure = failure.with("outputPath", path.to_string_lossy().into_owned());
        }
        return Err(failure);
    }
    Ok(output(input, captured, card, ending, cx))
}

async fn wait(
    run: &mut Run,
    mut ended: oneshot::Receiver<()>,
    capture: &Capture,
    input: &BashInput,
    cx: &ToolContext,
) -> Ending {
    let timeout = input
        .timeout
        .map_or(DEFAULT_TIMEOUT, Duration::from_millis)
        .min(MAX_TIMEOUT);
    let mut deadline = Instant::now() + timeout;
    let mut live = tokio::time::interval(PROGRESS_INTERVAL);
    let mut shown = 0;
    let mut exited = None;
    loop {
        tokio::select! {
            biased;
            () = cx.cancel.cancelled() => return Ending::Aborted,
            code = run.exit_code(), if exited.is_none() => {
                exited = Some(code);
                deadline = Instant::now() + OPEN_PIPE_WAIT;
            }
            _ = &mut ended, if exited.is_some() => break,
            () = tokio::time::sleep_until(deadline) => break,
            _ = live.tick() => {
                let total = capture.total();
                if total != shown {
                    shown = total;
                    cx.host.progress(live_card(input, capture));
                }
            }
        }
    }
    exited.map_or(Ending::TimedOut(timeout), Ending::Exited)
}

fn live_card(input: &BashInput, capture: &Capture) -> Progress {
    let mut metadata = Map::new();
    let output = text::coloured(&capture.latest(CARD_BYTES));
    metadata.insert("output".to_owned(), output.into());
    metadata.insert(
        "description".to_owned(),
        text::visible(&input.description).into(),
    );
    Progress {
        title: None,
        metadata,
    }
}

fn output(
    input: &BashInput,
    captured: Captured,
    card: String,
    ending: Ending,
    cx: &ToolContext,
) -> ToolOutput {
    let card_cut = captured.total > CARD_BYTES as u64;
    let (mut answer, saved, cut) = for_model(captured, cx);
    if answer.trim().is_empty() {
        answer = "(no output)".to_owned();
    }
    let code = match ending {
        Ending::Exited(code) => code,
        Ending::TimedOut(_) | Ending::Aborted => None,
    };
    match ending {
        Ending::Exited(Some(0)) | Ending::Aborted => {}
        Ending::Exited(Some(code)) => answer.push_str(&format!("\n\n(exit code {code})")),
        Ending::Exited(None) => answer.push_str("\n\n(the shell was killed)"),
        Ending::TimedOut(timeout) => answer.push_str(&format!(
            "\n\n(ended after its timeout of {} ms; give a longer one if it needs more)",
            timeout.as_millis()
        )),
    }
    let title = if input.description.trim().is_empty() {
        &input.command
    } else {
        &input.description
    };
    let mut result = ToolOutput::new(text::visible(title), answer)
        .with("output", card)
        .with("description", text::visible(&input.description))
        .with("exit", code)
        .with("truncated", cut);
    if card_cut {
        result = result.with("cardCut", true);
    }
    if matches!(ending, Ending::TimedOut(_)) {
        result = result.with("timedOut", true);
    }
    if let Some(path) = saved {
        result = result.with("outputPath", path.to_string_lossy().into_owned());
    }
    result
}

/// A part of the start, and more of the end, because errors come last.
fn for_model(captured: Captured, cx: &ToolContext) -> (String, Option<std::path::PathBuf>, bool) {
    let head = text::plain(&captured.head);
    if captured.tail.is_empty() {
        if truncate::head_end(&head, MAX_LINES, MAX_BYTES) == head.len() {
            return (head, None, false);
        }
        let saved = truncate::save(cx, head.as_bytes());
        return (
            join(&head, &head, head.len() as u64, saved.as_deref()),
            saved,
            true,
        );
    }
    let tail = text::plain(&captured.tail);
    (
        join(&head, &tail, captured.total, captured.saved.as_deref()),
        captured.saved,
        true,
    )
}

fn join(head: &str, tail: &str, total: u64, saved: Option<&std::path::Path>) -> String {
    let head = &head[..truncate::head_end(head, MAX_LINES / 5, MAX_BYTES / 5)];
    let tail = &tail[truncate::tail_start(tail, MAX_LINES * 3 / 4, MAX_BYTES * 3 / 4)..];
    let left_out = total.saturating_sub((head.len() + tail.len()) as u64);
    format!(
        "{}{}\n\n{tail}",
        head.trim_end(),
        truncate::note(left_out, saved)
    )
}
