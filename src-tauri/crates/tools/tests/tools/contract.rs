//! What all tools have in common, and the tools without a test file of their own.

use lathe_tools::{Effect, FailureKind, Registry};
use serde_json::json;

use super::support::Project;

#[test]
fn every_tool_has_a_prompt_and_a_schema_that_takes_nothing_else() {
    for tool in Registry::builtin().iter() {
        let schema = tool.schema();
        assert!(tool.prompt().len() > 80, "{}", tool.name());
        assert_eq!(schema["type"], "object", "{}", tool.name());
        assert_eq!(schema["additionalProperties"], false, "{}", tool.name());
        let text = schema.to_string();
        for word in ["$ref", "$schema", "anyOf", "\"null\""] {
            assert!(!text.contains(word), "{}: {text}", tool.name());
        }
    }
}

#[test]
fn there_are_thirteen_tools_and_two_that_change_the_mode() {
    let registry = Registry::builtin();
    let mut names: Vec<&str> = registry.names().collect();
    names.sort_unstable();
    assert_eq!(
        names,
        [
            "apply_patch",
            "bash",
            "edit",
            "glob",
            "grep",
            "list",
            "plan_enter",
            "plan_exit",
            "question",
            "read",
            "task",
            "todoread",
            "todowrite",
            "webfetch",
            "write",
        ]
    );
}

#[test]
fn tools_that_change_things_are_ordered() {
    let ordered: Vec<String> = Registry::builtin()
        .iter()
        .filter(|tool| tool.effect() == Effect::Ordered)
        .map(|tool| tool.name().to_owned())
        .collect();
    assert_eq!(ordered, ["bash", "edit", "write", "apply_patch"]);
}

#[test]
fn a_tool_is_found_by_its_name_in_any_case_and_others_are_listed() {
    let registry = Registry::builtin();
    assert_eq!(registry.find("Read").unwrap().name(), "read");
    let failure = registry.find("fly").err().unwrap();
    assert!(
        failure.text.contains("\"fly\"") && failure.text.contains("glob"),
        "{failure}"
    );
    let fewer = registry.without(|name| name == "read");
    assert!(fewer.find("read").is_err());
}

#[tokio::test]
async fn arguments_that_miss_the_schema_are_quoted_and_nothing_runs() {
    let project = Project::new();
    let failure = project.failure("read", json!({ "path": "a.txt" })).await;
    assert_eq!(failure.kind, FailureKind::Failed);
    assert!(failure.text.contains("`path`"), "{failure}");
    assert_eq!(project.asked(), []);
}

#[tokio::test]
async fn a_cancelled_call_does_not_start() {
    let project = Project::new().file("a.txt", "x");
    project.cx.cancel.cancel();
    let failure = project
        .failure("read", json!({ "filePath": "a.txt" }))
        .await;
    assert_eq!(failure.kind, FailureKind::Aborted);
    assert_eq!(project.asked(), []);
}

#[tokio::test]
async fn todos_are_written_whole_and_read_back() {
    let project = Project::new();
    let todo = |status: &str, id: &str| json!({ "content": "do", "status": status, "priority": "high", "id": id });
    let todos = json!([todo("completed", "1"), todo("in_progress", "2")]);
    let written = project
        .run("todowrite", json!({ "todos": todos }))
        .await
        .unwrap();
    assert_eq!(written.title, "1 todo");
    assert_eq!(written.metadata["todos"], todos);
    let read = project.run("todoread", json!({})).await.unwrap();
    assert_eq!(
        serde_json::from_str::<serde_json::Value>(&read.output).unwrap(),
        todos
    );
}

#[tokio::test]
async fn a_todo_with_an_invented_status_is_refused() {
    let todo = json!({ "content": "do", "status": "doing", "priority": "high", "id": "1" });
    let failure = Project::new()
        .failure("todowrite", json!({ "todos": [todo] }))
        .await;
    assert!(failure.text.contains("`todos[0].status`"), "{failure}");
    assert!(failure.text.contains("in_progress"), "{failure}");
}

fn question(header: &str) -> serde_json::Value {
    json!({ "questions": [{
        "question": "Which one?",
        "header": header,
        "options": [{ "label": "A", "description": "the first" }],
    }] })
}

#[tokio::test]
async fn answers_reach_the_model() {
    let project = Project::new();
    *project.host.answers.lock() = Some(vec![vec!["A".to_owned(), "own words".to_owned()]]);
    let output = project.output("question", question("Choice")).await;
    assert_eq!(output, "The user answered:\n- Which one?: A, own words");
}

#[tokio::test]
async fn a_dismissed_question_is_a_failure_of_its_own_kind() {
    let failure = Project::new().failure("question", question("Choice")).await;
    assert_eq!(failure.kind, FailureKind::Dismissed);
}

#[tokio::test]
async fn a_header_over_thirty_characters_is_refused() {
    let project = Project::new();
    let failure = project.failure("question", question(&"h".repeat(31))).await;
    assert!(failure.text.contains("30"), "{failure}");
    *project.host.answers.lock() = Some(vec![vec![]]);
    project
        .run("question", question(&"ü".repeat(30)))
        .await
        .unwrap();
}

#[tokio::test]
async fn a_task_gives_its_text_and_its_id() {
    let project = Project::new();
    let input = json!({ "description": "look", "prompt": "find x", "subagent_type": "explore" });
    let result = project.run("task", input).await.unwrap();
    assert_eq!(result.title, "look");
    assert_eq!(result.output, "found it\n\n(session_id: ses_child)");
    assert_eq!(result.metadata["sessionId"], "ses_child");
    assert_eq!(result.metadata["summary"], json!(["read a.txt"]));
    assert_eq!(
        project.asked(),
        [("task".to_owned(), vec!["explore".to_owned()])]
    );
}

#[tokio::test]
async fn a_denied_tool_does_nothing() {
    for (tool, input) in [
        (
            "task",
            json!({ "description": "d", "prompt": "p", "subagent_type": "x" }),
        ),
        ("todowrite", json!({ "todos": [] })),
        ("todoread", json!({})),
        ("question", question("Choice")),
        ("read", json!({ "filePath": "a.txt" })),
        ("list", json!({})),
        ("glob", json!({ "pattern": "*" })),
        ("grep", json!({ "pattern": "x" })),
        (
            "bash",
            json!({ "command": "touch made", "description": "d" }),
        ),
        // write, edit and apply_patch ask for "edit"; their own tests deny that.
    ] {
        let project = Project::new().file("a.txt", "x").denying(tool);
        assert_eq!(
            project.failure(tool, input).await.kind,
            FailureKind::Denied,
            "{tool}"
        );
        assert!(!project.path("made").exists());
        assert!(project.host.tasks.lock().is_empty());
    }
}
