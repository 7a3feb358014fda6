//! The same turns over every wire give the same parts, tokens and cost.

use lathe_protocol::{Part, Session, ToolState};
use lathe_provider::{Usage, WireKind};
use lathe_test_support::app::TestApp;
use lathe_test_support::fake_model::{FakeModel, call, reasoning, text, usage};
use serde_json::{Value, json};

const WIRES: [WireKind; 4] = [
    WireKind::Anthropic,
    WireKind::OpenaiChat,
    WireKind::OpenaiResponses,
    WireKind::Gemini,
];

/// What must not depend on the wire.
async fn conversation(wire: WireKind, split: usize) -> Vec<Value> {
    let model = FakeModel::start().await;
    model.split(split);
    model.title("Numbers");
    let counted = Usage {
        input: 1_000,
        output: 50,
        reasoning: 0,
        cache_read: 200,
        cache_write: 0,
    };
    model.reply([
        reasoning("I should look at both."),
        text("Looking at **both** — naïvely."),
        call("read", json!({ "filePath": "a.txt" })),
        call("read", json!({ "filePath": "b.txt" })),
        usage(counted),
    ]);
    let last = model.reply([text("One and two."), usage(counted)]);
    let app = TestApp::with_model(&model, wire)
        .await
        .file("a.txt", "one\n")
        .file("b.txt", "two\n");
    app.ask("what do they say?").await;
    assert!(
        last.request().assistant_text().contains("naïvely"),
        "{wire:?}"
    );

    let mut seen = Vec::new();
    for message in app.messages().await {
        let parts: Vec<_> = message.parts.iter().map(essence).collect();
        let answer = message.info.as_assistant().map(|answer| {
            json!({ "cost": answer.cost, "tokens": answer.tokens, "finish": answer.finish })
        });
        seen.push(json!({ "answer": answer, "parts": parts }));
    }
    seen
}

fn essence(part: &Part) -> Value {
    match part {
        Part::Text(part) => json!({ "text": part.text }),
        Part::Reasoning(part) => json!({ "reasoning": part.text }),
        Part::Tool(tool) => match tool.state() {
            ToolState::Completed(done) => {
                json!({ "tool": tool.tool, "input": done.input, "output": done.output })
            }
            other => json!({ "tool": tool.tool, "state": other.name() }),
        },
        Part::StepFinish(part) => {
            json!({ "reason": part.reason, "tokens": part.tokens, "cost": part.cost })
        }
        other => json!(lathe_test_support::app::kind(other)),
    }
}

#[tokio::test]
async fn the_same_conversation_gives_the_same_parts_tokens_and_cost_on_every_wire() {
    let expected = conversation(WIRES[0], 0).await;
    assert_eq!(expected.len(), 3);
    assert_eq!(expected[1]["answer"]["cost"], json!(0.00381));
    assert_eq!(
        expected[1]["parts"][1],
        json!({ "reasoning": "I should look at both." })
    );
    for wire in &WIRES[1..] {
        assert_eq!(conversation(*wire, 0).await, expected, "{wire:?}");
    }
    for wire in WIRES {
        assert_eq!(
            conversation(wire, 3).await,
            expected,
            "{wire:?} in small pieces"
        );
    }
}

#[tokio::test]
async fn a_session_without_a_title_of_the_model_has_the_first_line_of_its_prompt() {
    let model = FakeModel::start().await;
    model.title(" ");
    model.reply([text("hello")]);
    let app = TestApp::with_model(&model, WIRES[0]).await;
    let mut events = app.sessions.subscribe();
    app.send("\n  Count the beds\nand water them").await;
    lathe_test_support::app::until(&mut events, |event| {
        matches!(event, lathe_protocol::Event::SessionUpdated { info: Session { title, .. } }
            if title == "Count the beds")
    })
    .await;
}

#[tokio::test]
async fn a_first_prompt_gives_the_session_a_title() {
    let model = FakeModel::start().await;
    model.title("Counting beds");
    model.reply([text("hello")]);
    let app = TestApp::with_model(&model, WIRES[0]).await;
    let mut events = app.sessions.subscribe();
    app.send("count the beds").await;
    lathe_test_support::app::until(&mut events, |event| {
        matches!(event, lathe_protocol::Event::SessionUpdated { info: Session { title, .. } }
            if title == "Counting beds")
    })
    .await;
}
