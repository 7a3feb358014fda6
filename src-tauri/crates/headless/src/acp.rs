//! `lathectl acp`: the agent for an editor, over standard input and output.

use std::process::ExitCode;

use agent_client_protocol::Stdio;
use lathe_session::Sessions;

use crate::Outcome;
use crate::serve::until_signal;

pub async fn acp(sessions: &Sessions) -> Outcome {
    let ended = tokio::select! {
        ended = lathe_acp::serve(sessions.clone(), Stdio::new()) => ended,
        () = until_signal()? => Ok(()),
    };
    sessions.close().await;
    match ended {
        Ok(()) => Ok(ExitCode::SUCCESS),
        Err(error) => Err(error.to_string().into()),
    }
}
