//! Runs a command in the user's shell.

mod capture;
mod protected;

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};
use tokio::sync::oneshot;
use tokio::time::Instant;

use self::capture::{Capture, Captured};
use self::protected::{SetAsideFiles, ask_to_keep};
use crate::context::{CommandAsk, Progress, Refusal, RunPermit, ToolContext, Walls};
use crate::environment::Shell;
use crate::files;
use crate::paths::{Place, Target};
use crate::process::{CommandSpec, Run};
use crate::text;
use crate::tool::{Effect, FailureKind, Tool, ToolFailure, ToolOutput};
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
        let directory = cx.locate(input.workdir.as_deref().unwrap_or("."))?;
        let outside = cx.outside(&directory, Target::Directory);
        // What is outside is not revealed before it is allowed.
        if outside.is_none() {
            ensure_directory(&directory)?;
        }
        let shell = cx.environment.shell();
        let ask = CommandAsk {
            command: input.command.clone(),
            directory: directory.path().to_owned(),
            dialect: shell.dialect,
            wants: outside.into_iter().collect(),
            metadata: for_dialog(&input, &directory),
        };
        let permit = cx.host.ask_to_run(ask.clone()).await?;
        ensure_directory(&directory)?;
        let start = Start {
            input: &input,
            shell: &shell,
            directory: &directory,
        };
        let first = start.run(permit, cx).await?;
        let ended = match first.refusal.clone() {
            None => first,
            Some(refusal) => start.run_again(first, ask.clone(), refusal, cx).await?,
        };
        ask_to_keep(ended.output, ended.aside, ask.metadata, cx).await
    }
}

fn ensure_directory(place: &Place) -> Result<(), ToolFailure> {
    if files::is_directory(place) {
        return Ok(());
    }
    let shown = text::quoted(place.shown());
    Err(ToolFailure::failed(format!(
        "The working directory {shown} is not a directory."
    )))
}

fn for_dialog(input: &BashInput, directory: &Place) -> Map<String, Value> {
    let mut metadata = Map::from_iter([
        ("command".to_owned(), text::visible(&input.command).into()),
        (
            "description".to_owned(),
            text::visible(&input.description).into(),
        ),
    ]);
    if input.workdir.is_some() {
        metadata.insert(
            "workdir".to_owned(),
            text::visible(directory.shown()).into(),
        );
    }
    metadata
}

/// One command to start.
struct Start<'a> {
    input: &'a BashInput,
    shell: &'a Shell,
    directory: &'a Place,
}

/// A command that has ended.
struct Ended {
    output: ToolOutput,
    /// What the sandbox refused, if that made it fail.
    refusal: Option<Refusal>,
    /// What it made in protected places.
    aside: SetAsideFiles,
}

/// How the command ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Ending {
    Exited(Option<i32>),
    TimedOut(Duration),
    Aborted,
}

impl Start<'_> {
    async fn run(&self, permit: RunPermit, cx: &ToolContext) -> Result<Ended, ToolFailure> {
        let input = self.input;
        let since = SystemTime::now();
        cx.host.about_to_run().await?;
        let walls = match permit {
            RunPermit::Free => None,
            RunPermit::Confined(walls) => Some(walls),
        };
        let spec = CommandSpec {
            program: &self.shell.program,
            arguments: self.shell.arguments(&input.command),
            directory: self.directory.path(),
            variables: cx.environment.variables().await,
            walls: walls.clone(),
            watched_since: Some(since),
        };
        let mut run = cx.environment.processes().start(&spec).map_err(|error| {
            ToolFailure::failed(format!("The shell couldn’t be started: {error}"))
        })?;
        let Some(pipe) = run.take_output() else {
            return Err(ToolFailure::failed("The shell has no output."));
        };
        let (capture, ended) = Capture::start(pipe, cx.output_file());
        let ending = wait(&mut run, ended, &capture, input, cx).await;
        let evidence = run.take_evidence();
        run.end().await;
        // Before the tree after the command is taken, so that the tree has the names that last.
        let aside = SetAsideFiles::of(walls.clone()).await;
        cx.host.has_run(aside.noted_in(evidence)).await;
        let card = text::coloured(&capture.latest(CARD_BYTES));
        let captured = capture.finish();
        if ending == Ending::Aborted {
            return Err(aside.noted_with(aborted(input, captured, card)));
        }
        let refusal = match &walls {
            Some(walls) => refusal(walls.clone(), ending, &captured).await,
            None => None,
        };
        let mut output = output(input, captured, card, ending, cx);
        if let Some(walls) = walls {
            output = output.with("sandbox", walls.engine());
        }
        Ok(Ended {
            output,
            refusal,
            aside,
        })
    }

    /// The sandbox made the first run fail. The person is asked once; after a no, the first
    /// result stands.
    async fn run_again(
        &self,
        first: Ended,
        ask: CommandAsk,
        refusal: Refusal,
        cx: &ToolContext,
    ) -> Result<Ended, ToolFailure> {
        let stopped = refusal.text.clone();
        match cx.host.ask_to_leave_sandbox(ask, refusal).await {
            Ok(permit) => {
                let mut second = self.run(permit, cx).await?;
                if let Some(again) = &second.refusal {
                    second.output = with_note(second.output, &again.text, "");
                }
                second.aside = first.aside.and(second.aside);
                Ok(second)
            }
            Err(failure) if failure.kind == FailureKind::Aborted => {
                let failure = first.aside.noted_with(ToolFailure {
                    metadata: first.output.metadata,
                    ..failure
                });
                Err(failure)
            }
            Err(failure) => Ok(Ended {
                output: with_note(first.output, &stopped, &failure.text),
                ..first
            }),
        }
    }
}

/// Tells the model that the command failed because of the sandbox, so that it does not look for
/// the cause elsewhere.
fn with_note(mut output: ToolOutput, stopped: &str, answer: &str) -> ToolOutput {
    let answer = match answer {
        "" => String::new(),
        answer => format!(" It was not run again: {answer}"),
    };
    let note = format!("\n\n(The sandbox stopped this command. {stopped}{answer})");
    output.output.push_str(&note);
    output.with("refused", stopped)
}

/// Looks at the file system, so not on an async thread.
async fn refusal(walls: Arc<dyn Walls>, ending: Ending, captured: &Captured) -> Option<Refusal> {
    let Ending::Exited(code) = ending else {
        return None;
    };
    let text = text::plain(&format!("{}\n{}", captured.head, captured.tail));
    let found = tokio::task::spawn_blocking(move || walls.refusal(code, &text));
    found.await.ok().flatten()
}

fn aborted(input: &BashInput, captured: Captured, card: String) -> ToolFailure {
    let mut failure = ToolFailure::aborted()
        .with("output", card)
        .with("description", text::visible(&input.description));
    if captured.total > CARD_BYTES as u64 {
        failure = failure.with("cardCut", true);
    }
    if let Some(path) = captured.saved {
        failure = failure.with("outputPath", path.to_string_lossy().into_owned());
    }
    failure
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
