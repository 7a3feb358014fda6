//! The built-in demo model, driven like a session drives it.

#![allow(clippy::unwrap_used, reason = "tests")]

use std::{sync::Arc, time::Duration};

use futures::StreamExt;
use lathe_provider::{
    AssistantContent, DemoPace, Metadata, ModelMessage, ModelRequest, ProviderError, StreamEvent,
    ToolOutcome, ToolSpec, UserContent,
    demo::{Demo, SAMPLE_PROJECT, script},
};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

fn request(prompt: &str, tools: &[&str]) -> ModelRequest {
    let mut request = ModelRequest::new("demo");
    request.tools = tools
        .iter()
        .map(|name| ToolSpec {
            name: (*name).to_owned(),
            description: String::new(),
            input_schema: Arc::new(json!({})),
        })
        .collect();
    request.messages = vec![ModelMessage::User {
        content: vec![UserContent::Text {
            text: prompt.to_owned(),
        }],
    }]
    .into();
    request
}

const ALL_TOOLS: [&str; 6] = ["read", "grep", "todowrite", "edit", "bash", "question"];

fn text_of(events: &[StreamEvent]) -> String {
    events
        .iter()
        .filter_map(|event| match event {
            StreamEvent::TextDelta { text, .. } => Some(text.as_str()),
            _ => None,
        })
        .collect()
}

/// Runs steps until one has no tool call; `outcome` gives the results of the tools. Returns the
/// tools called, the number of failed steps, and the text of the last step.
async fn run(
    mut request: ModelRequest,
    outcome: impl Fn(&str) -> ToolOutcome,
) -> (Vec<String>, usize, String) {
    let demo = Demo::new(DemoPace::Instant);
    let (mut called, mut failed) = (Vec::new(), 0);
    for _ in 0..30 {
        let events: Vec<StreamEvent> = demo
            .stream(&request, CancellationToken::new())
            .collect()
            .await;
        if matches!(events.last(), Some(StreamEvent::Error { .. })) {
            failed += 1;
            continue;
        }
        let mut content = Vec::new();
        for event in &events {
            if let StreamEvent::ToolCall {
                id, name, input, ..
            } = event
            {
                called.push(name.clone());
                content.push(AssistantContent::ToolCall {
                    id: id.to_string(),
                    name: name.clone(),
                    input: serde_json::from_str::<Value>(input).unwrap(),
                    metadata: Metadata::new(),
                    result: outcome(name),
                });
            }
        }
        if content.is_empty() {
            return (called, failed, text_of(&events));
        }
        request.messages.push(ModelMessage::Assistant { content });
    }
    panic!("the tour does not end: {called:?}");
}

#[tokio::test]
async fn the_tour_uses_every_tool_fails_once_and_ends_with_a_summary() {
    let request = request("Show me around: give me the tour", &ALL_TOOLS);
    let (called, failed, last) = run(request, |_| ToolOutcome::text("ok")).await;
    let expected = [
        "read",
        "grep",
        "todowrite",
        "read",
        "edit",
        "bash",
        "question",
        "read",
        "todowrite",
    ];
    assert_eq!(called, expected);
    assert_eq!(failed, 1);
    assert!(
        last.contains("That was the tour") && !last.contains("Left out"),
        "{last}"
    );
}

#[tokio::test]
async fn a_tool_that_is_not_offered_is_skipped_and_named_in_the_summary() {
    let request = request("tour please", &["read", "grep"]);
    let (called, _, last) = run(request, |_| ToolOutcome::text("ok")).await;
    assert_eq!(called, ["read", "grep", "read", "read"]);
    assert!(last.contains("Left out") && last.contains("bash"), "{last}");
}

#[tokio::test]
async fn a_denied_edit_is_named_in_the_summary() {
    let request = request("tour", &ALL_TOOLS);
    let deny = |name: &str| match name {
        "edit" => ToolOutcome::error("The user rejected this edit."),
        _ => ToolOutcome::text("ok"),
    };
    let (called, _, last) = run(request, deny).await;
    assert_eq!(called.len(), 9);
    assert!(last.contains("Not everything went through: edit"), "{last}");
}

#[test]
fn a_free_prompt_is_quoted_and_answered_with_how_to_connect_a_model() {
    let events = script(&request("Why is the sky blue?", &ALL_TOOLS), false);
    let text = text_of(&events);
    assert!(text.contains("> Why is the sky blue?"), "{text}");
    assert!(
        text.contains("demo model") && text.contains("Settings → Providers"),
        "{text}"
    );
    assert_eq!(
        events,
        script(&request("Why is the sky blue?", &ALL_TOOLS), false)
    );
}

#[test]
fn a_tournament_is_not_a_tour() {
    let text = text_of(&script(&request("Plan a tournament", &ALL_TOOLS), false));
    assert!(text.contains("You wrote"), "{text}");
}

#[test]
fn a_title_is_short() {
    let mut request = request(
        "please explain how the parser of this project works in detail",
        &[],
    );
    request.system = vec!["You write a title.".to_owned()];
    let title = text_of(&script(&request, false));
    assert_eq!(title, "please explain how the parser of");
}

#[tokio::test(start_paused = true)]
async fn the_realistic_pace_has_pauses_and_cancelling_stops_at_once() {
    let demo = Demo::new(DemoPace::Realistic);
    let request = request("hello", &ALL_TOOLS);
    let start = tokio::time::Instant::now();
    let count = demo
        .stream(&request, CancellationToken::new())
        .count()
        .await;
    let elapsed = start.elapsed();
    assert!(
        count > 100 && elapsed > Duration::from_secs(2),
        "{count} events in {elapsed:?}"
    );

    let cancel = CancellationToken::new();
    let mut stream = Box::pin(demo.stream(&request, cancel.clone()));
    stream.next().await;
    cancel.cancel();
    let rest: Vec<StreamEvent> = stream.collect().await;
    let aborted = StreamEvent::Error {
        error: ProviderError::Aborted,
    };
    assert_eq!(rest, [aborted]);
}

#[test]
fn the_sample_project_has_the_line_that_the_tour_edits() {
    let file = |path: &str| {
        SAMPLE_PROJECT
            .iter()
            .find(|(name, _)| *name == path)
            .unwrap()
            .1
    };
    let tea = String::from_utf8(file("tea.sh").to_vec()).unwrap();
    assert_eq!(tea.matches("oolong) echo 30 ;;").count(), 1);
    assert!(file("docs/steeping.png").starts_with(b"\x89PNG"));
    assert!(!file("README.md").is_empty() && !file("tests/run.sh").is_empty());
}
