//! Runs the tool calls of a step and brings each to its end.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use futures::FutureExt;
use futures::future::{join, join_all};
use lathe_protocol::{CallOutcome, Extra, FilePart, Map, Part, ToolPart};
use lathe_tools::{Attachment, Effect, FailureKind, Progress, ToolFailure, ToolOutput};
use serde_json::{Value, json};
use tokio::sync::watch;
use tracing::Instrument;

use super::host::{CallHost, CallScope};
use super::run::panic_text;
use super::step::Call;
use lathe_permission::NOT_COVERED;
use lathe_protocol::data_url;
use lathe_records::Records;
use lathe_records::Result;
use lathe_review::credit::Credit;

/// Progress of a running tool is stored at most this often.
const PROGRESS_EVERY: Duration = Duration::from_millis(100);

/// The tool name that is stored for a call of an unknown tool.
pub const INVALID: &str = "invalid";

/// The key in a call's metadata of the times in which it waited for the person.
const WAITS: &str = "waits";

const LAST_STEP: &str = "This call did not run: it was made on the last step of the turn, when \
    no tools are available any more.";

/// Whether the turn continues after the calls of a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CallsOutcome {
    Continue,
    /// The person refused a call, or stopped the turn.
    Stop,
}

/// Runs independent calls concurrently, and calls that change things in the order in which they
/// were made. Every call ends completed or error.
pub async fn run_all(scope: &Arc<CallScope>, calls: Vec<Call>) -> Result<CallsOutcome> {
    let (ordered, independent): (Vec<_>, Vec<_>) = calls
        .into_iter()
        .partition(|call| scope.effect(&call.part.tool) == Effect::Ordered);
    let concurrent = join_all(independent.into_iter().map(|call| run(scope, call)));
    let in_order = async {
        let mut ends = Vec::new();
        for call in ordered {
            ends.push(run(scope, call).await);
        }
        ends
    };
    let (concurrent, in_order) = join(concurrent, in_order).await;
    let mut outcome = CallsOutcome::Continue;
    for end in concurrent.into_iter().chain(in_order) {
        if end? == CallsOutcome::Stop {
            outcome = CallsOutcome::Stop;
        }
    }
    // Also where the call itself had an end to tell of, such as a command that the sandbox stopped.
    if scope.stop.is_refused() {
        outcome = CallsOutcome::Stop;
    }
    Ok(outcome)
}

/// Fails calls that the model made although no tool was offered. Results of calls that the
/// provider ran are stored as they are.
pub async fn refuse_all(records: &Records, calls: Vec<Call>) -> Result<()> {
    for call in calls {
        let Call {
            mut part,
            raw,
            answered,
        } = call;
        if let Some(answer) = answered {
            settle_answered(records, part, &raw, answer).await?;
            continue;
        }
        let now = records.now();
        let _ = part.start(parse_arguments(&raw).unwrap_or_default(), now);
        let _ = part.fail(LAST_STEP.to_owned(), None, now);
        records.put_part(Part::Tool(part)).await?;
    }
    Ok(())
}

async fn run(scope: &Arc<CallScope>, call: Call) -> Result<CallsOutcome> {
    let Call {
        part,
        raw,
        answered,
    } = call;
    if let Some(answer) = answered {
        settle_answered(scope.records(), part, &raw, answer).await?;
        return Ok(CallsOutcome::Continue);
    }
    if scope.stop.is_refused() {
        return leave_unrun(scope, part, &raw).await;
    }
    match prepare(scope, part, &raw) {
        Err(part) => scope
            .records()
            .put_part(Part::Tool(*part))
            .await
            .map(|()| CallsOutcome::Continue),
        Ok((part, input)) => run_and_watch(scope, part, input).await,
    }
}

/// A call behind one that the person refused.
async fn leave_unrun(scope: &CallScope, mut part: ToolPart, raw: &str) -> Result<CallsOutcome> {
    let now = scope.records().now();
    let _ = part.start(parse_arguments(raw).unwrap_or_default(), now);
    let after = end(scope, &mut part, Err(ToolFailure::not_run()));
    scope.records().put_part(Part::Tool(part)).await?;
    Ok(after)
}

/// The call with parsed arguments, or the failed call if it cannot run.
fn prepare(
    scope: &CallScope,
    mut part: ToolPart,
    raw: &str,
) -> Result<(ToolPart, Map), Box<ToolPart>> {
    let now = scope.records().now();
    let parsed = parse_arguments(raw);
    let refused = match (scope.tools().find(&part.tool), parsed) {
        (Ok(tool), Ok(input)) => match tool.check(&Value::Object(input.clone())) {
            Ok(()) => {
                part.tool = tool.name().to_owned();
                return Ok((part, input));
            }
            Err(failure) => {
                // The card shows the arguments that were sent, although they are not valid.
                let _ = part.start(input, now);
                failure.text
            }
        },
        (Ok(_), Err(why)) => format!(
            "The arguments for {} are not valid JSON: {why}. They were: {raw}",
            part.tool
        ),
        (Err(failure), parsed) => {
            let input = parsed.map_or_else(|_| Value::from(raw), Value::Object);
            let input = json!({ "tool": part.tool, "input": input });
            part.tool = INVALID.to_owned();
            let _ = part.start(input.as_object().cloned().unwrap_or_default(), now);
            failure.text
        }
    };
    let _ = part.fail(refused, None, now);
    Err(Box::new(part))
}

/// Some models send no arguments at all instead of an empty object.
fn parse_arguments(raw: &str) -> Result<Map, String> {
    if raw.trim().is_empty() {
        return Ok(Map::new());
    }
    match serde_json::from_str(raw) {
        Ok(Value::Object(map)) => Ok(map),
        Ok(other) => Err(format!("expected an object, found {other}")),
        Err(error) => Err(error.to_string()),
    }
}

async fn run_and_watch(
    scope: &Arc<CallScope>,
    mut part: ToolPart,
    input: Map,
) -> Result<CallsOutcome> {
    let records = scope.records();
    let _ = part.start(input.clone(), records.now());
    let changes_files = scope.effect(&part.tool) != Effect::ReadOnly;
    if changes_files {
        Credit::default().store_in(&mut part);
    }
    records.put_part(Part::Tool(part.clone())).await?;

    let (progress, mut changed) = watch::channel(Progress::default());
    let (credit, mut stored) = scope.keep_credit();
    let credit = Arc::new(credit);
    let host = Arc::new(CallHost::new(
        scope.clone(),
        &part,
        progress,
        credit.clone(),
    ));
    let outcome = {
        // The call gets the part as it started; progress is stored in our copy.
        let started = part.clone();
        let span = tracing::info_span!("call", tool = started.tool);
        let running = call_tool(scope, &started, input, host.clone()).instrument(span);
        let mut running = std::pin::pin!(running);
        loop {
            tokio::select! {
                outcome = &mut running => break outcome,
                Some((credit, is_safe)) = stored.recv() => {
                    credit.store_in(&mut part);
                    records.put_part(Part::Tool(part.clone())).await?;
                    records.store().make_durable(&part.session_id).await?;
                    let _ = is_safe.send(());
                }
                () = next_progress(&mut changed) => {
                    let latest = changed.borrow_and_update().clone();
                    let _ = part.progress(latest.title, latest.metadata);
                    records.put_part(Part::Tool(part.clone())).await?;
                }
            }
        }
    };
    let mut outcome = outcome;
    let waits = host.waits();
    if !waits.is_empty() {
        metadata_of(&mut outcome).insert(WAITS.to_owned(), waits.into());
    }
    if changes_files {
        let credit = credit.finish().await;
        let not_covered = credit.not_covered_sentences();
        if !not_covered.is_empty() {
            metadata_of(&mut outcome).insert(NOT_COVERED.to_owned(), not_covered.into());
        }
        credit.store_in(&mut part);
    }
    let after = end(scope, &mut part, outcome);
    records.put_part(Part::Tool(part)).await?;
    Ok(after)
}

fn metadata_of(outcome: &mut Result<ToolOutput, ToolFailure>) -> &mut Map {
    match outcome {
        Ok(output) => &mut output.metadata,
        Err(failure) => &mut failure.metadata,
    }
}

async fn call_tool(
    scope: &Arc<CallScope>,
    part: &ToolPart,
    input: Map,
    host: Arc<CallHost>,
) -> Result<ToolOutput, ToolFailure> {
    let cancel = scope.cancel().clone();
    let run = async {
        scope.ask_if_repeated(&host, &part.tool, &input).await?;
        let cx = scope.context(part, host.clone());
        let call = scope.tools().run(&part.tool, Value::Object(input), &cx);
        // A fault of one tool is its own failure: the model reads it and goes on.
        let outcome = AssertUnwindSafe(call).catch_unwind().await;
        outcome.unwrap_or_else(|panic| Err(ToolFailure::failed(panic_text(&*panic))))
    };
    let mut run = std::pin::pin!(run);
    tokio::select! {
        outcome = &mut run => outcome,
        () = cancel.cancelled() => {
            // A tool that cleans up after itself gets a moment, but not for ever.
            let grace = tokio::time::timeout(Duration::from_secs(3), run).await;
            match grace {
                Ok(Ok(output)) => Ok(output),
                // What failed because of the cancellation was stopped, whatever it says.
                Ok(Err(failure)) if failure.kind != FailureKind::Failed => Err(failure),
                Ok(Err(_)) | Err(_) => Err(ToolFailure::aborted()),
            }
        }
    }
}

async fn next_progress(changed: &mut watch::Receiver<Progress>) {
    if changed.changed().await.is_err() {
        // The sender lives as long as the call.
        std::future::pending::<()>().await;
    }
    tokio::time::sleep(PROGRESS_EVERY).await;
}

fn end(
    scope: &CallScope,
    part: &mut ToolPart,
    outcome: Result<ToolOutput, ToolFailure>,
) -> CallsOutcome {
    let now = scope.records().now();
    match outcome {
        Ok(output) => {
            let attachments = output
                .attachments
                .into_iter()
                .map(|file| file_part(scope, part, file))
                .collect();
            let _ = part.complete(
                output.output,
                output.title,
                output.metadata,
                attachments,
                now,
            );
            CallsOutcome::Continue
        }
        Err(failure) => {
            let (outcome, after) = match failure.kind {
                FailureKind::Aborted => (Some(CallOutcome::Stopped), CallsOutcome::Stop),
                FailureKind::Rejected => (Some(CallOutcome::Denied), CallsOutcome::Stop),
                FailureKind::NotRun => (Some(CallOutcome::NotRun), CallsOutcome::Stop),
                FailureKind::Denied => (Some(CallOutcome::Denied), CallsOutcome::Continue),
                FailureKind::Failed | FailureKind::Dismissed => (None, CallsOutcome::Continue),
            };
            let text = match failure.kind {
                FailureKind::Aborted => ToolPart::ABORTED.to_owned(),
                _ => failure.text.clone(),
            };
            let failure = match outcome {
                Some(outcome) => failure.with(CallOutcome::KEY, outcome.as_str()),
                None => failure,
            };
            let metadata = (!failure.metadata.is_empty()).then_some(failure.metadata);
            let _ = part.fail(text, metadata, now);
            after
        }
    }
}

fn file_part(scope: &CallScope, part: &ToolPart, file: Attachment) -> FilePart {
    let records = scope.records();
    FilePart {
        id: records.ids().part(records.now()),
        session_id: part.session_id.clone(),
        message_id: part.message_id.clone(),
        url: data_url::encode(&file.mime, &file.bytes),
        mime: file.mime,
        filename: file.filename,
        source: file.source,
        extra: Extra::default(),
    }
}

/// Stores the result of a call that the provider ran itself.
async fn settle_answered(
    records: &Records,
    mut part: ToolPart,
    raw: &str,
    answer: Result<String, String>,
) -> Result<()> {
    let now = records.now();
    let _ = part.start(parse_arguments(raw).unwrap_or_default(), now);
    let _ = match answer {
        Ok(output) => {
            let title = part.tool.clone();
            part.complete(output, title, Map::new(), Vec::new(), now)
        }
        Err(error) => part.fail(error, None, now),
    };
    records.put_part(Part::Tool(part)).await
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_text_is_no_arguments_and_text_that_is_not_an_object_says_why() {
        assert_eq!(parse_arguments("  "), Ok(Map::new()));
        assert!(parse_arguments("{\"filePath\": ").is_err());
        assert_eq!(
            parse_arguments("[1]"),
            Err("expected an object, found [1]".to_owned())
        );
    }
}
