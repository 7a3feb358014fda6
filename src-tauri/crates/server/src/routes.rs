//! The table of routes: everything that this server answers to.

use std::sync::Arc;

use axum::Router;
use axum::middleware::from_fn_with_state;
use axum::response::Response;
use axum::routing::{MethodFilter, on};
use http::StatusCode;
use schemars::{JsonSchema, Schema, SchemaGenerator};

use crate::context::Shared;
use crate::handlers::{
    absent, changes, files, messages, newer, project, requests, sessions, terminals,
};
use crate::{events, grpc, guard, openapi, reply};

pub struct Route {
    pub method: &'static str,
    pub path: &'static str,
    pub purpose: &'static str,
    /// The schema of the body, if there is one.
    pub body: Option<fn(&mut SchemaGenerator) -> Schema>,
}

fn schema_of<T: JsonSchema>(generator: &mut SchemaGenerator) -> Schema {
    generator.subschema_for::<T>()
}

macro_rules! routes {
    ($($method:ident $path:literal $purpose:literal $([$Body:ty])? => $handler:path;)*) => {
        pub const ROUTES: &[Route] = &[$(Route {
            method: stringify!($method),
            path: $path,
            purpose: $purpose,
            body: routes!(@body $($Body)?),
        },)*];

        fn table() -> Router<Arc<Shared>> {
            Router::new()$(.route($path, on(MethodFilter::$method, $handler)))*
        }
    };
    (@body $Body:ty) => { Some(schema_of::<$Body>) };
    (@body) => { None };
}

routes! {
    GET "/session" "List the sessions of a project" => sessions::list;
    POST "/session" "Create a session" [sessions::NewSession] => sessions::create;
    GET "/session/status" "The status of every session that is not idle" => sessions::statuses;
    GET "/session/{sessionID}" "Get a session" => sessions::get;
    PATCH "/session/{sessionID}" "Rename or archive a session" [sessions::SessionEdit] => sessions::update;
    DELETE "/session/{sessionID}" "Move a session to the trash" => sessions::remove;
    POST "/session/{sessionID}/message" "Send a prompt and wait for the answer" [messages::PromptBody] => messages::send;
    GET "/session/{sessionID}/message" "List messages from the newest back" => messages::list;
    GET "/session/{sessionID}/message/{messageID}" "Get a message" => messages::get;
    POST "/session/{sessionID}/abort" "Stop the turn" => sessions::abort;
    POST "/session/{sessionID}/prompt_async" "Send a prompt" [messages::PromptBody] => messages::send_async;
    POST "/session/{sessionID}/command" "Run a command" [messages::CommandBody] => messages::run_command;
    GET "/session/{sessionID}/children" "List the subtasks" => sessions::children;
    GET "/session/{sessionID}/diff" "What a session or a turn changed" => sessions::diff;
    GET "/session/{sessionID}/todo" "The agent's task list" => sessions::todos;
    POST "/session/{sessionID}/fork" "Copy a session" [sessions::ForkPoint] => sessions::fork;
    POST "/session/{sessionID}/revert" "Revert a message and all after it" [sessions::RevertPoint] => sessions::revert;
    POST "/session/{sessionID}/unrevert" "Undo a revert" => sessions::unrevert;
    POST "/session/{sessionID}/summarize" "Compact a session" [sessions::ModelInput] => sessions::summarize;
    POST "/session/{sessionID}/init" "Write the project's instructions" [sessions::ModelInput] => sessions::init;
    POST "/session/{sessionID}/share" "Share a session as a page" => sessions::share;
    DELETE "/session/{sessionID}/share" "Delete the page" => sessions::unshare;
    POST "/session/{sessionID}/permissions/{permissionID}" "Answer a permission" [requests::OldPermissionAnswer] => requests::answer_permission_of;
    POST "/session/{sessionID}/shell" "Run a command" [messages::ShellBody] => messages::run_shell;
    // History is not edited by others.
    DELETE "/session/{sessionID}/message/{messageID}" "Not available" => absent::not_available;
    DELETE "/session/{sessionID}/message/{messageID}/part/{partID}" "Not available" => absent::not_available;
    PATCH "/session/{sessionID}/message/{messageID}/part/{partID}" "Not available" => absent::not_available;
    GET "/experimental/session" "List all sessions" => sessions::list_all;
    POST "/experimental/session/{sessionID}/background" "Not available" => absent::no;

    GET "/event" "The events of a project" => events::project_events;
    GET "/global/event" "The events of all projects" => events::all_events;
    GET "/permission" "List the permissions that are asked for" => requests::permissions;
    POST "/permission/{requestID}/reply" "Answer a permission" [requests::PermissionAnswer] => requests::answer_permission;
    GET "/question" "List the open questions" => requests::questions;
    POST "/question/{requestID}/reply" "Answer a question" [requests::QuestionAnswers] => requests::answer_question;
    POST "/question/{requestID}/reject" "Dismiss a question" => requests::reject_question;

    GET "/config" "The config, without secrets" => project::config;
    GET "/config/providers" "The providers that can be used" => project::config_providers;
    GET "/provider" "All providers" => project::providers;
    GET "/provider/auth" "Ways to sign in" => absent::empty_object;
    GET "/agent" "List the agents" => project::agents;
    GET "/command" "List the commands" => project::commands;
    GET "/project" "List the projects" => project::projects;
    GET "/project/current" "The project of a folder" => project::current;
    GET "/project/{projectID}/directories" "The folders of a project" => project::directories;
    GET "/path" "The paths of a project" => project::paths;
    GET "/vcs" "The branches" => changes::branches;
    GET "/vcs/status" "The files that are not committed" => changes::status;
    GET "/vcs/diff" "What is not committed, or not in the default branch" => changes::diff;
    GET "/vcs/diff/raw" "What is not committed, as one patch" => changes::raw_diff;
    GET "/mcp" "The status of the MCP servers" => project::tool_servers;
    POST "/mcp/{name}/connect" "Start an MCP server" => project::connect;
    POST "/mcp/{name}/disconnect" "Stop an MCP server" => project::disconnect;
    GET "/experimental/resource" "The resources of the MCP servers" => project::resources;
    POST "/log" "Write to the log" [project::LogLine] => project::log;
    GET "/global/health" "Whether the server answers" => project::health;
    GET "/global/config" "The config, without secrets" => project::config;
    GET "/doc" "This description" => openapi::document;

    GET "/file" "List a folder" => files::list;
    GET "/file/content" "Read a file" => files::read;
    GET "/file/status" "The files that are not committed" => changes::file_status;
    GET "/find" "Find text in files" => files::find_text;
    GET "/find/file" "Find files by name" => files::find_files;
    GET "/find/symbol" "Find functions and types" => files::find_symbols;

    // Config, keys and tool servers are changed in the window, where the person sees what changes.
    PATCH "/config" "Not available" => absent::not_available;
    PATCH "/global/config" "Not available" => absent::not_available;
    PUT "/auth/{providerID}" "Not available" => absent::not_available;
    DELETE "/auth/{providerID}" "Not available" => absent::not_available;
    POST "/provider/{providerID}/oauth/authorize" "Not available" => absent::not_available;
    POST "/provider/{providerID}/oauth/callback" "Not available" => absent::not_available;
    POST "/mcp" "Not available" => absent::not_available;
    POST "/mcp/{name}/auth" "Not available" => absent::not_available;
    DELETE "/mcp/{name}/auth" "Not available" => absent::not_available;
    POST "/mcp/{name}/auth/authenticate" "Not available" => absent::not_available;
    POST "/mcp/{name}/auth/callback" "Not available" => absent::not_available;
    PATCH "/project/{projectID}" "Not available" => absent::not_available;
    POST "/project/git/init" "Not available" => absent::not_available;

    // What runs in a terminal is asked about like a command of the agent.
    GET "/pty" "List the terminals" => terminals::list;
    POST "/pty" "Open a terminal" [terminals::NewTerminal] => terminals::create;
    GET "/pty/shells" "List the shells" => terminals::shells;
    GET "/pty/{ptyID}" "Get a terminal" => terminals::get;
    PUT "/pty/{ptyID}" "Rename or resize a terminal" [terminals::TerminalEdit] => terminals::update;
    DELETE "/pty/{ptyID}" "Close a terminal" => terminals::remove;
    GET "/pty/{ptyID}/connect" "Connect to a terminal" => terminals::connect;
    POST "/pty/{ptyID}/connect-token" "A ticket for one connection" => terminals::ticket;

    GET "/lsp" "There are no language servers" => absent::empty_list;
    GET "/formatter" "There are no formatters" => absent::empty_list;
    GET "/skill" "There are no skills" => absent::empty_list;
    GET "/experimental/tool" "The tools of the agent" => project::tools;
    GET "/experimental/tool/ids" "The names of the tools" => project::tool_ids;
    GET "/experimental/worktree" "The folders of its forks" => project::worktrees;
    POST "/experimental/worktree" "Not available" => absent::not_available;
    DELETE "/experimental/worktree" "Not available" => absent::not_available;
    POST "/experimental/worktree/reset" "Not available" => absent::not_available;
    GET "/experimental/workspace" "Not available" => absent::empty_list;
    GET "/experimental/workspace/status" "Not available" => absent::empty_list;
    GET "/experimental/workspace/adapter" "Not available" => absent::empty_list;
    GET "/experimental/console" "Not available" => absent::console;
    GET "/experimental/capabilities" "Not available" => absent::capabilities;
    POST "/vcs/apply" "Not available" => absent::not_available;
    POST "/instance/dispose" "Does nothing" => absent::yes;
    POST "/global/dispose" "Does nothing" => absent::yes;
    POST "/global/upgrade" "Not available" => absent::not_available;

    GET "/api/health" "Whether the server answers" => newer::health;
    GET "/api/location" "The project of a folder" => newer::location;
    GET "/api/agent" "List the agents" => newer::agents;
    GET "/api/command" "List the commands" => newer::commands;
    GET "/api/session" "List the sessions of a project" => newer::sessions;
    GET "/api/fs/find" "Find files by name" => newer::find_files;
    GET "/api/integration" "Not available" => newer::nothing;
    GET "/api/model" "The models that can be used" => newer::models;
    GET "/api/provider" "The providers that can be used" => newer::providers;
    GET "/api/reference" "Not available" => newer::nothing;
    GET "/api/skill" "Not available" => newer::nothing;

    POST "/tui/append-prompt" "Does nothing" => absent::yes;
    POST "/tui/clear-prompt" "Does nothing" => absent::yes;
    POST "/tui/execute-command" "Does nothing" => absent::yes;
    POST "/tui/open-help" "Does nothing" => absent::yes;
    POST "/tui/open-models" "Does nothing" => absent::yes;
    POST "/tui/open-sessions" "Does nothing" => absent::yes;
    POST "/tui/open-themes" "Does nothing" => absent::yes;
    POST "/tui/publish" "Does nothing" => absent::yes;
    POST "/tui/select-session" "Does nothing" => absent::yes;
    POST "/tui/show-toast" "Does nothing" => absent::yes;
    POST "/tui/submit-prompt" "Does nothing" => absent::yes;
    GET "/tui/control/next" "Not available" => absent::no_request;
    POST "/tui/control/response" "Does nothing" => absent::yes;
}

/// The routes behind the guard.
pub fn service(shared: Arc<Shared>) -> Router {
    table()
        .merge(grpc::routes(&shared))
        .fallback(unknown)
        .method_not_allowed_fallback(unknown)
        .layer(from_fn_with_state(shared.clone(), guard::check))
        .with_state(shared)
}

async fn unknown() -> Response {
    reply::error(StatusCode::NOT_FOUND, "There is no such route")
}
