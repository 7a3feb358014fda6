//! What every route answers: a table of all of them.

use std::process::Command;

use lathe_server::ROUTES;
use lathe_test_support::fake_model::text;
use reqwest::{Method, StatusCode};
use serde_json::{Value, json};

use crate::door::Door;

pub enum Does {
    /// This request is answered with a value of this shape.
    Answers(&'static str, &'static str),
    /// Needs a body, or waits: other files here have its tests.
    Flow,
    /// Has no such thing, and says so in the form that clients read. Then why.
    Empty(&'static str, &'static str),
    /// Says yes and does nothing. Then why.
    Ignores(&'static str),
    /// Then why.
    Refuses(&'static str),
}
use Does::{Answers, Empty, Flow, Ignores, Refuses};

#[rustfmt::skip]
pub const TABLE: &[(&str, &str, Does)] = &[
    ("GET", "/session", Answers("/session", r#"[{"id":"","projectID":"","directory":"","title":"","version":"","time":{"created":0,"updated":0}}]"#)),
    ("POST", "/session", Flow),
    ("GET", "/session/status", Answers("/session/status", r#"{}"#)),
    ("GET", "/session/{sessionID}", Answers("{session}", r#"{"id":"","projectID":"","directory":"","title":"","version":"","time":{"created":0,"updated":0}}"#)),
    ("PATCH", "/session/{sessionID}", Flow),
    ("DELETE", "/session/{sessionID}", Flow),
    ("POST", "/session/{sessionID}/message", Flow),
    ("GET", "/session/{sessionID}/message", Answers("{session}/message", r#"[{"info":{"id":"","sessionID":"","role":"","time":{"created":0}},"parts":[{"id":"","messageID":"","sessionID":"","type":""}]}]"#)),
    ("GET", "/session/{sessionID}/message/{messageID}", Flow),
    ("POST", "/session/{sessionID}/abort", Flow),
    ("POST", "/session/{sessionID}/prompt_async", Flow),
    ("POST", "/session/{sessionID}/command", Flow),
    ("GET", "/session/{sessionID}/children", Answers("{session}/children", r#"[]"#)),
    ("GET", "/session/{sessionID}/diff", Answers("{session}/diff", r#"[]"#)),
    ("GET", "/session/{sessionID}/todo", Answers("{session}/todo", r#"[]"#)),
    ("POST", "/session/{sessionID}/fork", Flow),
    ("POST", "/session/{sessionID}/revert", Flow),
    ("POST", "/session/{sessionID}/unrevert", Flow),
    ("POST", "/session/{sessionID}/summarize", Flow),
    ("POST", "/session/{sessionID}/init", Flow),
    ("POST", "/session/{sessionID}/share", Flow),
    ("DELETE", "/session/{sessionID}/share", Flow),
    ("POST", "/session/{sessionID}/permissions/{permissionID}", Flow),
    ("POST", "/session/{sessionID}/shell", Flow),
    ("DELETE", "/session/{sessionID}/message/{messageID}", Refuses("History is not edited by others")),
    ("DELETE", "/session/{sessionID}/message/{messageID}/part/{partID}", Refuses("History is not edited by others")),
    ("PATCH", "/session/{sessionID}/message/{messageID}/part/{partID}", Refuses("History is not edited by others")),
    ("GET", "/experimental/session", Answers("/experimental/session", r#"[{"id":"","directory":""}]"#)),
    ("POST", "/experimental/session/{sessionID}/background", Empty(r#"false"#, "A task runs in its turn")),
    ("GET", "/event", Flow),
    ("GET", "/global/event", Flow),
    ("GET", "/permission", Answers("/permission", r#"[]"#)),
    ("POST", "/permission/{requestID}/reply", Flow),
    ("GET", "/question", Answers("/question", r#"[]"#)),
    ("POST", "/question/{requestID}/reply", Flow),
    ("POST", "/question/{requestID}/reject", Flow),
    ("GET", "/config", Answers("/config", r#"{"model":"","share":"","agent":{},"command":{},"mcp":{}}"#)),
    ("GET", "/config/providers", Answers("/config/providers", r#"{"providers":[{"id":"","name":"","source":"","env":[],"options":{},"models":{}}],"default":{"fake":""}}"#)),
    ("GET", "/provider", Answers("/provider", r#"{"all":[{"id":"","name":"","env":[],"models":{}}],"default":{},"connected":[""]}"#)),
    ("GET", "/provider/auth", Empty(r#"{}"#, "Keys are entered in the window")),
    ("GET", "/agent", Answers("/agent", r#"[{"name":"","description":"","mode":"","native":true,"permission":[],"options":{}}]"#)),
    ("GET", "/command", Answers("/command", r#"[{"name":"","description":"","source":"","template":"","hints":[]}]"#)),
    ("GET", "/project", Answers("/project", r#"[{"id":"","worktree":"","time":{"created":0,"updated":0}}]"#)),
    ("GET", "/project/current", Answers("/project/current", r#"{"id":"","worktree":"","time":{"created":0,"updated":0},"sandboxes":[]}"#)),
    ("GET", "/project/{projectID}/directories", Answers("/project/{project}/directories", r#"[""]"#)),
    ("GET", "/path", Answers("/path", r#"{"home":"","state":"","config":"","worktree":"","directory":""}"#)),
    ("GET", "/vcs", Answers("/vcs", r#"{"branch":""}"#)),
    ("GET", "/vcs/status", Answers("/vcs/status", r#"[{"file":"","additions":0,"deletions":0,"status":""}]"#)),
    ("GET", "/vcs/diff", Answers("/vcs/diff?mode=git", r#"[{"file":"","patch":"","additions":0,"deletions":0,"status":""}]"#)),
    ("GET", "/vcs/diff/raw", Flow),
    ("GET", "/mcp", Answers("/mcp", r#"{}"#)),
    ("POST", "/mcp/{name}/connect", Flow),
    ("POST", "/mcp/{name}/disconnect", Flow),
    ("GET", "/experimental/resource", Answers("/experimental/resource", r#"{}"#)),
    ("POST", "/log", Flow),
    ("GET", "/global/health", Answers("/global/health", r#"{"healthy":true,"version":""}"#)),
    ("GET", "/global/config", Answers("/global/config", r#"{"model":"","share":"","agent":{},"command":{},"mcp":{}}"#)),
    ("GET", "/doc", Answers("/doc", r#"{"openapi":"","info":{"title":"","version":""},"paths":{},"components":{"schemas":{}}}"#)),
    ("GET", "/file", Answers("/file?path=.", r#"[{"name":"","path":"","absolute":"","type":"","ignored":true}]"#)),
    ("GET", "/file/content", Answers("/file/content?path=src/main.rs", r#"{"type":"","content":""}"#)),
    ("GET", "/file/status", Answers("/file/status", r#"[{"path":"","added":0,"removed":0,"status":""}]"#)),
    ("GET", "/find", Answers("/find?pattern=main", r#"[{"path":{"text":""},"lines":{"text":""},"line_number":0,"absolute_offset":0,"submatches":[{"match":{"text":""},"start":0,"end":0}]}]"#)),
    ("GET", "/find/file", Answers("/find/file?query=main", r#"[""]"#)),
    ("GET", "/find/symbol", Answers("/find/symbol?query=main", r#"[{"name":"","kind":0,"location":{"uri":"","range":{"start":{"line":0,"character":0},"end":{"line":0,"character":0}}}}]"#)),
    ("PATCH", "/config", Refuses("The person changes it in the window")),
    ("PATCH", "/global/config", Refuses("The person changes it in the window")),
    ("PUT", "/auth/{providerID}", Refuses("Keys are entered in the window")),
    ("DELETE", "/auth/{providerID}", Refuses("Keys are entered in the window")),
    ("POST", "/provider/{providerID}/oauth/authorize", Refuses("Keys are entered in the window")),
    ("POST", "/provider/{providerID}/oauth/callback", Refuses("Keys are entered in the window")),
    ("POST", "/mcp", Refuses("Tool servers are added in the window")),
    ("POST", "/mcp/{name}/auth", Refuses("Tool servers are added in the window")),
    ("DELETE", "/mcp/{name}/auth", Refuses("Tool servers are added in the window")),
    ("POST", "/mcp/{name}/auth/authenticate", Refuses("Tool servers are added in the window")),
    ("POST", "/mcp/{name}/auth/callback", Refuses("Tool servers are added in the window")),
    ("PATCH", "/project/{projectID}", Refuses("The person changes it in the window")),
    ("POST", "/project/git/init", Refuses("The person changes it in the window")),
    ("GET", "/pty", Answers("/pty", r#"[]"#)),
    ("POST", "/pty", Flow),
    ("GET", "/pty/shells", Answers("/pty/shells", r#"[{"path":"","name":"","acceptable":true}]"#)),
    ("GET", "/pty/{ptyID}", Flow),
    ("PUT", "/pty/{ptyID}", Flow),
    ("DELETE", "/pty/{ptyID}", Flow),
    ("GET", "/pty/{ptyID}/connect", Flow),
    ("POST", "/pty/{ptyID}/connect-token", Flow),
    ("GET", "/lsp", Empty(r#"[]"#, "There are no language servers")),
    ("GET", "/formatter", Empty(r#"[]"#, "There are no formatters")),
    ("GET", "/skill", Empty(r#"[]"#, "There are no skills")),
    ("GET", "/experimental/tool", Answers("/experimental/tool?provider=fake&model=m", r#"[{"id":"","description":"","parameters":{}}]"#)),
    ("GET", "/experimental/tool/ids", Answers("/experimental/tool/ids", r#"[""]"#)),
    ("GET", "/experimental/worktree", Answers("/experimental/worktree", r#"[]"#)),
    ("POST", "/experimental/worktree", Refuses("A fork makes its own folder")),
    ("DELETE", "/experimental/worktree", Refuses("A fork makes its own folder")),
    ("POST", "/experimental/worktree/reset", Refuses("A fork makes its own folder")),
    ("GET", "/experimental/workspace", Empty(r#"[]"#, "There are no workspaces")),
    ("GET", "/experimental/workspace/status", Empty(r#"[]"#, "There are no workspaces")),
    ("GET", "/experimental/workspace/adapter", Empty(r#"[]"#, "There are no workspaces")),
    ("GET", "/experimental/console", Empty(r#"{"consoleManagedProviders":[],"switchableOrgCount":0}"#, "There is no such service")),
    ("GET", "/experimental/capabilities", Empty(r#"{"backgroundSubagents":false}"#, "None of them")),
    ("POST", "/vcs/apply", Refuses("Files are changed by tool calls")),
    ("POST", "/instance/dispose", Ignores("A project needs no end")),
    ("POST", "/global/dispose", Ignores("A project needs no end")),
    ("POST", "/global/upgrade", Refuses("The app updates itself")),
    ("GET", "/api/health", Answers("/api/health", r#"{"healthy":true}"#)),
    ("GET", "/api/location", Answers("/api/location", r#"{"directory":"","project":{"id":"","directory":""}}"#)),
    ("GET", "/api/agent", Answers("/api/agent", r#"{"location":{"directory":"","project":{"id":"","directory":""}},"data":[{"id":"","name":"","mode":""}]}"#)),
    ("GET", "/api/command", Answers("/api/command", r#"{"location":{"directory":"","project":{"id":"","directory":""}},"data":[{"name":"","template":""}]}"#)),
    ("GET", "/api/session", Answers("/api/session", r#"{"data":[{"id":"","location":{"directory":""},"cost":0,"tokens":{"input":0}}],"cursor":{}}"#)),
    ("GET", "/api/fs/find", Answers("/api/fs/find?query=main", r#"{"location":{"directory":"","project":{"id":"","directory":""}},"data":[{"path":"","type":""}]}"#)),
    ("GET", "/api/integration", Empty(r#"[]"#, "Keys are entered in the window")),
    ("GET", "/api/model", Answers("/api/model", r#"{"location":{"directory":"","project":{"id":"","directory":""}},"data":[{"id":"","providerID":"","name":"","api":{"id":"","type":""},"capabilities":{"tools":true,"input":[""],"output":[""]},"request":{"headers":{},"body":{}},"variants":[],"time":{"released":0},"cost":[{"input":0,"output":0}],"status":"","enabled":true,"limit":{"context":0,"output":0}}]}"#)),
    ("GET", "/api/provider", Answers("/api/provider", r#"{"location":{"directory":"","project":{"id":"","directory":""}},"data":[{"id":"","name":"","api":{"type":"","settings":{}},"request":{"headers":{},"body":{}}}]}"#)),
    ("GET", "/api/reference", Empty(r#"[]"#, "There are none")),
    ("GET", "/api/skill", Empty(r#"[]"#, "There are no skills")),
    ("POST", "/tui/append-prompt", Ignores("There is no terminal interface here")),
    ("POST", "/tui/clear-prompt", Ignores("There is no terminal interface here")),
    ("POST", "/tui/execute-command", Ignores("There is no terminal interface here")),
    ("POST", "/tui/open-help", Ignores("There is no terminal interface here")),
    ("POST", "/tui/open-models", Ignores("There is no terminal interface here")),
    ("POST", "/tui/open-sessions", Ignores("There is no terminal interface here")),
    ("POST", "/tui/open-themes", Ignores("There is no terminal interface here")),
    ("POST", "/tui/publish", Ignores("There is no terminal interface here")),
    ("POST", "/tui/select-session", Ignores("There is no terminal interface here")),
    ("POST", "/tui/show-toast", Ignores("There is no terminal interface here")),
    ("POST", "/tui/submit-prompt", Ignores("There is no terminal interface here")),
    ("GET", "/tui/control/next", Empty(r#"{"path":"","body":null}"#, "There is no terminal interface here")),
    ("POST", "/tui/control/response", Ignores("There is no terminal interface here")),
];

#[test]
fn the_table_has_every_route() {
    let names = |(method, path): (&str, &str)| format!("{method} {path}");
    let mut listed: Vec<_> = TABLE.iter().map(|row| names((row.0, row.1))).collect();
    let mut served: Vec<_> = ROUTES
        .iter()
        .map(|one| names((one.method, one.path)))
        .collect();
    listed.sort();
    served.sort();
    assert_eq!(listed, served);
}

/// Makes a repository of the project, with all its files in one commit.
pub fn commit_all(door: &Door) {
    let folder = door.app.path(".");
    for args in [
        &["init", "-q", "-b", "main"][..],
        &["add", "."],
        &[
            "-c",
            "user.name=A",
            "-c",
            "user.email=a@example.org",
            "commit",
            "-qm",
            "first",
        ],
    ] {
        let done = Command::new("git").args(args).current_dir(&folder).status();
        assert!(done.unwrap().success());
    }
}

/// A project with a commit, a change, and a session with a turn.
async fn used_door() -> (Door, String) {
    let door = Door::open().await;
    door.app.write("src/main.rs", "fn main() {}\n");
    commit_all(&door);
    let changed = "fn main() {}\nfn more() {}\n";
    door.app.write("src/main.rs", changed);
    door.model.reply([text("Hello")]);
    let session = door.new_session().await;
    let body = json!({ "parts": [{ "type": "text", "text": "Hi" }] });
    door.post(&format!("{session}/message"), body).await;
    (door, session)
}

#[tokio::test]
async fn every_route_answers_what_the_table_says() {
    let (door, session) = used_door().await;
    let project = door.get("/project/current").await["id"].clone();
    let project = project.as_str().unwrap();
    for (method, path, does) in TABLE {
        let named = path
            .replace("/session/{sessionID}", &session)
            .replace("{projectID}", project);
        let method = Method::from_bytes(method.as_bytes()).unwrap();
        match does {
            Flow => {}
            Answers(request, shape) => {
                let request = request
                    .replace("{session}", &session)
                    .replace("{project}", project);
                let answer = door.get(&request).await;
                let shape: Value = serde_json::from_str(shape).unwrap();
                if let Err(wrong) = has_shape(&answer, &shape, "") {
                    panic!("{path}: {wrong}: {answer}");
                }
            }
            Empty(wanted, why) => {
                let wanted: Value = serde_json::from_str(wanted).unwrap();
                let request = door.request(method, &named).send().await.unwrap();
                let answer: Value = request.json().await.unwrap();
                let answer = match path.starts_with("/api/") {
                    true => &answer["data"],
                    false => &answer,
                };
                assert_eq!(*answer, wanted, "{path}: {why}");
            }
            Ignores(why) => {
                let request = door.request(method, &named).send().await.unwrap();
                assert_eq!(
                    request.json::<Value>().await.unwrap(),
                    json!(true),
                    "{path}: {why}"
                );
            }
            Refuses(why) => {
                let (status, message) = door.refused(method, &named, json!({})).await;
                assert_eq!(status, StatusCode::BAD_REQUEST, "{path}: {why}");
                assert_eq!(message, "This is not available here", "{path}: {why}");
            }
        }
    }
}

/// Whether a value has the shape, and a list at least one item where the shape has one.
fn has_shape(value: &Value, shape: &Value, at: &str) -> Result<(), String> {
    compare(value, shape, at, true)
}

/// The same where a list may be empty.
pub fn fits(value: &Value, shape: &Value) -> Result<(), String> {
    compare(value, shape, "", false)
}

/// Every field of the shape is there with a value of its type; every item of a list has the shape
/// of the shape's first.
fn compare(value: &Value, shape: &Value, at: &str, needs_items: bool) -> Result<(), String> {
    match (value, shape) {
        (Value::Object(value), Value::Object(shape)) => {
            for (name, shape) in shape {
                let at = format!("{at}.{name}");
                let found = value.get(name).ok_or_else(|| format!("there is no {at}"))?;
                compare(found, shape, &at, needs_items)?;
            }
            Ok(())
        }
        (Value::Array(value), Value::Array(shape)) => {
            let Some(shape) = shape.first() else {
                return Ok(());
            };
            if needs_items && value.is_empty() {
                return Err(format!("{at} is empty"));
            }
            let mut items = value.iter().enumerate();
            items.try_for_each(|(index, item)| {
                compare(item, shape, &format!("{at}[{index}]"), needs_items)
            })
        }
        (Value::String(_), Value::String(_))
        | (Value::Number(_), Value::Number(_))
        | (Value::Bool(_), Value::Bool(_))
        | (Value::Null, Value::Null) => Ok(()),
        _ => Err(format!("{at} is not like {shape}")),
    }
}
