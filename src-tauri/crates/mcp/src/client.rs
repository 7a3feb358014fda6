//! Requests to one connected server: listing and calling tools, listing and reading resources.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use futures::FutureExt;
use parking_lot::Mutex;
use rmcp::model::{
    CallToolRequest, CallToolRequestParams, CancelledNotificationParam, ClientRequest,
    ProgressNotificationParam, ProgressToken, ReadResourceRequestParams, ServerPeerInfo,
    ServerResult,
};
use rmcp::service::{Peer, PeerRequestOptions, RoleClient, ServiceError};
use serde_json::{Map, Value};
use tokio_util::sync::CancellationToken;

use crate::answer::Answer;
use crate::connection::with_causes;

/// A call without any sign of progress fails after this time; each sign restarts it.
const IDLE_TIMEOUT: Duration = Duration::from_secs(120);
const MAX_CALL: Duration = Duration::from_secs(60 * 60);
const LIST_TIMEOUT: Duration = Duration::from_secs(10);
const CANCEL_TIMEOUT: Duration = Duration::from_millis(500);

#[derive(Debug, Clone, PartialEq)]
pub struct CallProgress {
    pub done: f64,
    pub total: Option<f64>,
    pub message: Option<String>,
}

pub type ProgressSink = Arc<dyn Fn(CallProgress) + Send + Sync>;

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CallError {
    #[error("The MCP server {0} is not running.")]
    NotRunning(String),
    #[error("The server has no tool {0}.")]
    NoTool(String),
    #[error(
        "The description of {0} has changed since it was last seen. It can be used again when \
         the user has looked at it in the settings."
    )]
    Changed(String),
    #[error("The call was stopped.")]
    Cancelled,
    #[error("The server did not answer within {} s.", .0.as_secs())]
    TimedOut(Duration),
    /// An error from the server itself.
    #[error("{0}")]
    Refused(String),
    #[error("The connection to the server was lost: {0}")]
    Lost(String),
}

/// The progress sinks of the calls in flight.
#[derive(Clone, Default)]
pub struct ProgressSinks(Arc<Mutex<HashMap<ProgressToken, ProgressSink>>>);

impl ProgressSinks {
    pub fn report(&self, params: ProgressNotificationParam) {
        // Cloned, so that a sink runs without the lock.
        let sink = self.0.lock().get(&params.progress_token).cloned();
        if let Some(sink) = sink {
            sink(CallProgress {
                done: params.progress,
                total: params.total,
                message: params.message,
            });
        }
    }

    fn register(&self, token: ProgressToken, sink: ProgressSink) -> Registration {
        self.0.lock().insert(token.clone(), sink);
        Registration {
            sinks: self.clone(),
            token,
        }
    }
}

/// Removes the sink of a call when dropped.
struct Registration {
    sinks: ProgressSinks,
    token: ProgressToken,
}

impl Drop for Registration {
    fn drop(&mut self) {
        self.sinks.0.lock().remove(&self.token);
    }
}

/// Cheap to clone: all calls to a server share one connection.
#[derive(Clone)]
pub struct Client {
    peer: Peer<RoleClient>,
    progress: ProgressSinks,
}

impl Client {
    pub fn new(peer: Peer<RoleClient>, progress: ProgressSinks) -> Self {
        Client { peer, progress }
    }

    pub fn is_closed(&self) -> bool {
        self.peer.is_transport_closed()
    }

    pub async fn tools(&self) -> Result<Vec<rmcp::model::Tool>, CallError> {
        if !self.server_has(|info| info.capabilities.tools.is_some()) {
            return Ok(Vec::new());
        }
        with_timeout(LIST_TIMEOUT, self.peer.list_all_tools()).await
    }

    pub async fn resources(&self) -> Result<Vec<rmcp::model::Resource>, CallError> {
        if !self.server_has(|info| info.capabilities.resources.is_some()) {
            return Ok(Vec::new());
        }
        with_timeout(LIST_TIMEOUT, self.peer.list_all_resources()).await
    }

    fn server_has(&self, capability: impl Fn(&ServerPeerInfo) -> bool) -> bool {
        self.peer.peer_info().is_some_and(|info| capability(&info))
    }

    pub async fn read(&self, uri: &str) -> Result<Answer, CallError> {
        let params = ReadResourceRequestParams::new(uri);
        let result = with_timeout(IDLE_TIMEOUT, self.peer.read_resource(params)).await?;
        Ok(Answer::from_resource(result))
    }

    pub async fn call(
        &self,
        tool: &str,
        arguments: Map<String, Value>,
        progress: ProgressSink,
        cancel: &CancellationToken,
    ) -> Result<Answer, CallError> {
        let params = CallToolRequestParams::new(tool.to_owned()).with_arguments(arguments);
        let request = ClientRequest::CallToolRequest(CallToolRequest::new(params));
        let options = PeerRequestOptions::with_timeout(IDLE_TIMEOUT)
            .reset_timeout_on_progress()
            .with_max_total_timeout(MAX_CALL);
        let sent = self.peer.send_cancellable_request(request, options).await;
        let handle = sent.map_err(call_error)?;
        let _registration = self
            .progress
            .register(handle.progress_token.clone(), progress);
        let id = handle.id.clone();
        tokio::select! {
            response = handle.await_response() => match response.map_err(call_error)? {
                ServerResult::CallToolResult(result) => Ok(Answer::from_call(result)),
                ServerResult::InputRequiredResult(_) => Err(CallError::Refused(
                    "The server asks for input, which it cannot get here.".to_owned(),
                )),
                _ => Err(CallError::Refused("The server's answer can’t be read.".to_owned())),
            },
            () = cancel.cancelled() => {
                let params = CancelledNotificationParam::new(Some(id), Some("stopped by the user".to_owned()));
                // A server that does not read the notification must not hold up the abort.
                let _ = tokio::time::timeout(CANCEL_TIMEOUT, self.peer.notify_cancelled(params)).await;
                Err(CallError::Cancelled)
            }
        }
    }
}

async fn with_timeout<T>(
    limit: Duration,
    request: impl Future<Output = Result<T, ServiceError>> + Send,
) -> Result<T, CallError> {
    // Boxed: the types of rmcp's futures are too deep for the compiler to prove them Send.
    let request = request.boxed();
    match tokio::time::timeout(limit, request).await {
        Ok(answer) => answer.map_err(call_error),
        Err(_) => Err(CallError::TimedOut(limit)),
    }
}

fn call_error(error: ServiceError) -> CallError {
    match error {
        ServiceError::McpError(error) => CallError::Refused(error.message.into_owned()),
        ServiceError::Timeout { timeout } => CallError::TimedOut(timeout),
        ServiceError::Cancelled { .. } => CallError::Cancelled,
        ServiceError::TransportClosed => CallError::Lost("it has ended".to_owned()),
        ServiceError::TransportSend(error) => CallError::Lost(with_causes(&error)),
        other => CallError::Refused(other.to_string()),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn progress_reaches_the_sink_of_its_call_until_the_call_ends() {
        let report = |sinks: &ProgressSinks, token: &str, done: f64| {
            let params = json!({ "progressToken": token, "progress": done });
            sinks.report(serde_json::from_value(params).unwrap());
        };
        let token = |name: &str| serde_json::from_value(json!(name)).unwrap();
        let seen: Arc<Mutex<Vec<f64>>> = Arc::default();
        let sinks = ProgressSinks::default();
        let sink = seen.clone();
        let registration = sinks.register(
            token("a"),
            Arc::new(move |progress| sink.lock().push(progress.done)),
        );
        report(&sinks, "a", 1.0);
        report(&sinks, "b", 2.0);
        drop(registration);
        report(&sinks, "a", 3.0);
        assert_eq!(*seen.lock(), [1.0]);
    }
}
