//! Builds the request that would be sent next, without sending it.

use std::sync::Arc;

use lathe_protocol::Session;
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use super::history::History;
use super::{Runner, Turn};
use crate::core::Core;
use lathe_records::{Failed, Result};

/// A request that was not sent.
#[derive(Debug, Clone, PartialEq)]
pub struct NextRequest {
    /// In the vocabulary that all providers share.
    pub neutral: Value,
    /// The JSON body that the provider would get; the built-in model gets none.
    pub body: Option<Value>,
}

pub async fn preview(core: Arc<Core>, runner: Runner, session: Session) -> Result<NextRequest> {
    let project = core.workspace.project_of(&session).await?;
    let (records, id, revert) = (
        core.records.clone(),
        session.id.clone(),
        session.revert.clone(),
    );
    let mut turn = Turn::new(
        core,
        Arc::new(runner),
        session,
        project,
        CancellationToken::new(),
        None,
    )
    .await?;
    if let Some(revert) = &revert {
        // The next prompt makes the revert final before the model is asked.
        turn.history = History::load_cut(&records, &id, revert).await?;
    }
    let newest = turn.history.newest_user();
    let Some(user) = newest.and_then(|message| message.info.as_user()) else {
        return Err(Failed::refused("This session has no prompts yet"));
    };
    let resolved = turn.resolve_prompt(user).await;
    let model = turn.setup.models.open(&resolved.model).await;
    let model = model.map_err(|error| Failed::refused(error.to_string()))?;
    let tools = turn.step_tools(&resolved, &model).await;
    let request = turn.request(&resolved, &model, &tools).await;
    let neutral = serde_json::to_value(&request);
    Ok(NextRequest {
        neutral: neutral.map_err(|error| Failed::refused(error.to_string()))?,
        body: model.body(&request),
    })
}
