//! The agent for editors: the Agent Client Protocol with one editor.
//!
//! An editor starts `lathectl acp` and speaks JSON-RPC with it. All work is done by
//! [`lathe_session::Sessions`]; this crate translates. Permissions are asked of the person at the
//! editor, exactly where the window would ask. It must not know windows, rendering, models or the
//! store.
//!
//! [`agent`] has the requests, [`turn`] follows a turn, [`updates`] turns parts into what the
//! editor draws, [`requests`] asks the person, [`prompt`] reads what they send.

mod agent;
mod prompt;
mod requests;
mod turn;
mod updates;

use std::sync::Arc;

use agent_client_protocol::v1::schema as acp;
use agent_client_protocol::{
    Agent as AgentRole, ConnectTo, Error, on_receive_notification, on_receive_request,
};
use lathe_session::Sessions;

use agent::Agent;

/// Answers an editor until it closes the stream. What still runs then is not stopped here: that
/// is for [`Sessions::close`].
pub async fn serve(
    sessions: Sessions,
    editor: impl ConnectTo<AgentRole> + 'static,
) -> Result<(), Error> {
    let agent = Arc::new(Agent::new(sessions));
    let (news, loads, lists) = (agent.clone(), agent.clone(), agent.clone());
    let (modes, prompts, cancels) = (agent.clone(), agent.clone(), agent);
    AgentRole
        .v1()
        .name("lathe")
        .on_receive_request(
            async move |_: acp::InitializeRequest, responder, _| {
                responder.respond(agent::capabilities())
            },
            on_receive_request!(),
        )
        .on_receive_request(
            async move |request: acp::NewSessionRequest, responder, editor| {
                let agent = news.clone();
                let connection = editor.clone();
                let servers = request.mcp_servers.clone();
                connection.spawn(async move {
                    match agent.new_session(request).await {
                        Ok((answer, session)) => {
                            responder.respond(answer)?;
                            agent.announce(&editor, &session, &servers).await
                        }
                        Err(error) => responder.respond_with_error(error),
                    }
                })
            },
            on_receive_request!(),
        )
        .on_receive_request(
            async move |request: acp::LoadSessionRequest, responder, editor| {
                let agent = loads.clone();
                let connection = editor.clone();
                let servers = request.mcp_servers.clone();
                connection.spawn(async move {
                    match agent.load_session(request, &editor).await {
                        Ok((answer, session)) => {
                            responder.respond(answer)?;
                            agent.announce(&editor, &session, &servers).await
                        }
                        Err(error) => responder.respond_with_error(error),
                    }
                })
            },
            on_receive_request!(),
        )
        .on_receive_request(
            async move |request: acp::ListSessionsRequest, responder, _| {
                responder.respond_with_result(lists.list_sessions(request).await)
            },
            on_receive_request!(),
        )
        .on_receive_request(
            async move |request: acp::SetSessionModeRequest, responder, _| {
                responder.respond_with_result(modes.set_mode(request).await)
            },
            on_receive_request!(),
        )
        .on_receive_request(
            async move |request: acp::PromptRequest, responder, editor| {
                let agent = prompts.clone();
                let connection = editor.clone();
                // Before the next message is read: it may be a cancel.
                let running = agent.note_prompt(&request.session_id);
                // The turn outlasts this callback, which holds up all other messages.
                connection.spawn(async move {
                    let answer = agent.prompt(request, &running, editor).await;
                    responder.respond_with_result(answer)
                })
            },
            on_receive_request!(),
        )
        .on_receive_notification(
            async move |cancelled: acp::CancelNotification, _| {
                cancels.cancel(&cancelled).await;
                Ok(())
            },
            on_receive_notification!(),
        )
        .connect_to(editor)
        .await
}
