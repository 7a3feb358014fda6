//! The `MessageService` of `message.proto`: gRPC on the same port, behind the same guard.
//!
//! Each call does what its HTTP route does. A request is first turned into the JSON that the
//! route reads, so that both have one parser.

use std::pin::Pin;
use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::Response;
use futures::{Stream, stream};
use http::request::Parts;
use http::{StatusCode, header};
use lathe_contract::message as proto;
use lathe_contract::message::message_service_server::{MessageService, MessageServiceServer};
use lathe_contract::{ConvertError, to_json, to_protobuf};
use lathe_protocol::{MessageId, SessionId};
use serde_json::{Value, json};
use tonic::{Code, Status};

use crate::context::{Shared, read_body};
use crate::events::{Scope, StreamEnd, Subscriber};
use crate::frames::DeltaForm;
use crate::handlers::messages::{PromptBody, submit, until_idle};
use crate::handlers::sessions::stop;
use crate::reply::{Answer, Refusal};
use crate::wire;

const PATH: &str = "/opencode.message.MessageService/{method}";

pub fn routes(shared: &Arc<Shared>) -> Router<Arc<Shared>> {
    let service = MessageServiceServer::new(Service {
        shared: shared.clone(),
    });
    let service = service.max_decoding_message_size(shared.limits.body_bytes);
    Router::new()
        .route_service(PATH, service)
        .layer(from_fn_with_state(shared.clone(), read_first))
}

/// No call streams its request, so the whole body is read under the limits of all bodies.
async fn read_first(State(shared): State<Arc<Shared>>, request: Request, next: Next) -> Response {
    let (parts, body) = request.into_parts();
    let headers = Request::from_parts(parts.clone(), body);
    match read_body(headers, &shared).await {
        Ok(bytes) => {
            next.run(Request::from_parts(parts, Body::from(bytes)))
                .await
        }
        Err(refusal) => Status::from(refusal).into_http(),
    }
}

/// Whether the client reads answers as gRPC.
pub fn is_call(parts: &Parts) -> bool {
    let kind = parts.headers.get(header::CONTENT_TYPE);
    let kind = kind.and_then(|kind| kind.to_str().ok());
    kind.is_some_and(|kind| kind.starts_with("application/grpc"))
}

/// An answer of the guard: clients would read a JSON body as a message.
pub fn refusal(status: StatusCode, message: &str) -> Response {
    let code = match status {
        StatusCode::UNAUTHORIZED => Code::Unauthenticated,
        _ => Code::PermissionDenied,
    };
    Status::new(code, message).into_http()
}

struct Service {
    shared: Arc<Shared>,
}

#[tonic::async_trait]
impl MessageService for Service {
    type StreamEventsStream = Pin<Box<dyn Stream<Item = Result<proto::Event, Status>> + Send>>;

    async fn send_message(
        &self,
        request: tonic::Request<proto::SendMessageRequest>,
    ) -> Result<tonic::Response<proto::Empty>, Status> {
        let (id, body) = prompt_body(request.into_inner())?;
        let sessions = &self.shared.sessions;
        let events = sessions.subscribe();
        submit(sessions, &id, body).await?;
        tokio::select! {
            () = until_idle(sessions, &id, events) => {}
            () = self.shared.closing.cancelled() => {
                return Err(Status::unavailable("The server stops; the turn continues"));
            }
        }
        Ok(tonic::Response::new(proto::Empty {}))
    }

    async fn get_messages(
        &self,
        request: tonic::Request<proto::GetMessagesRequest>,
    ) -> Result<tonic::Response<proto::MessageList>, Status> {
        let request = request.into_inner();
        let list = self.read_messages(&request).await?;
        Ok(tonic::Response::new(list))
    }

    async fn abort_session(
        &self,
        request: tonic::Request<proto::AbortSessionRequest>,
    ) -> Result<tonic::Response<proto::Empty>, Status> {
        let id = self.existing(&request.into_inner().session_id).await?;
        stop(&self.shared.sessions, &id).await?;
        Ok(tonic::Response::new(proto::Empty {}))
    }

    async fn stream_events(
        &self,
        request: tonic::Request<proto::StreamEventsRequest>,
    ) -> Result<tonic::Response<Self::StreamEventsStream>, Status> {
        let scope = match request.into_inner().session_id {
            Some(id) => Scope::Session(self.existing(&id).await?),
            None => Scope::All,
        };
        let subscriber = Subscriber::new(self.shared.clone(), scope, DeltaForm::Delta)?;
        let events = stream::unfold(Some(subscriber), |subscriber| async move {
            let mut subscriber = subscriber?;
            let event = match subscriber.next_payload().await {
                Ok(payload) => to_protobuf("Event", &payload).map_err(unconverted),
                Err(StreamEnd::Closing) => return None,
                Err(StreamEnd::Behind) => Err(Status::data_loss(
                    "The client read too slowly; events are missing",
                )),
            };
            let rest = event.is_ok().then_some(subscriber);
            Some((event, rest))
        });
        Ok(tonic::Response::new(Box::pin(events)))
    }
}

impl Service {
    async fn existing(&self, id: &str) -> Answer<SessionId> {
        let id = SessionId::parse(id)?;
        self.shared.sessions.get(&id).await?;
        Ok(id)
    }

    async fn read_messages(
        &self,
        request: &proto::GetMessagesRequest,
    ) -> Result<proto::MessageList, Status> {
        let id = self.existing(&request.session_id).await?;
        let before = request.before.as_deref().map(MessageId::parse).transpose();
        let before = before.map_err(Refusal::from)?;
        let limit = request.limit.and_then(|limit| usize::try_from(limit).ok());
        let limit = limit.filter(|limit| *limit > 0).unwrap_or(usize::MAX);
        let page = self.shared.sessions.messages(&id, before.as_ref(), limit);
        let page = page.await.map_err(Refusal::from)?;
        let with_parts = page.messages.iter().map(|message| {
            let message = to_protobuf("MessageWithParts", &wire::value(message));
            message.map_err(unconverted)
        });
        let with_parts: Vec<proto::MessageWithParts> = with_parts.collect::<Result<_, _>>()?;
        let infos = with_parts.iter();
        let messages = infos.filter_map(|message| message.info.clone()).collect();
        let oldest = page.messages.first().filter(|_| page.has_older);
        Ok(proto::MessageList {
            messages,
            with_parts,
            before: oldest.map(|oldest| oldest.info.id().to_string()),
        })
    }
}

/// The session and the body of the HTTP request that says the same.
fn prompt_body(request: proto::SendMessageRequest) -> Result<(SessionId, PromptBody), Status> {
    let id = SessionId::parse(&request.session_id).map_err(Refusal::from)?;
    let mut message_id = None;
    let mut parts = Vec::new();
    for part_of in &request.parts {
        let mut part = to_json("Part", part_of).map_err(unconverted)?;
        if let Some(fields) = part.as_object_mut() {
            // Which part it is says the choice among them; clients need not say it again.
            if let Some(kind) = part_type(part_of)
                && fields.get("type").is_none_or(|given| given == "")
            {
                fields.insert("type".to_owned(), json!(kind));
            }
            // Protobuf has empty strings where JSON has nothing.
            fields.retain(|name, value| !name.ends_with("ID") && name != "id" || *value != "");
            if fields
                .remove("sessionID")
                .is_some_and(|own| own != request.session_id)
            {
                return Err(Status::invalid_argument("A part is of another session"));
            }
            let own = fields.remove("messageID");
            if own.is_some() && message_id.is_some() && own != message_id {
                return Err(Status::invalid_argument(
                    "The parts are of several messages",
                ));
            }
            message_id = message_id.or(own);
        }
        parts.push(part);
    }
    let model = request.model.as_ref().map(|model| {
        let model = to_json("ModelSelection", model);
        model.map_err(unconverted)
    });
    let body = json!({
        "messageID": message_id,
        "model": model.transpose()?,
        "agent": request.agent,
        "parts": Value::Array(parts),
    });
    let body = serde_json::from_value(body);
    let body = body.map_err(|error| Status::invalid_argument(error.to_string()))?;
    Ok((id, body))
}

/// The kinds of parts that a prompt has.
fn part_type(part: &proto::Part) -> Option<&'static str> {
    match part.part.as_ref()? {
        proto::part::Part::Text(_) => Some("text"),
        proto::part::Part::File(_) => Some("file"),
        proto::part::Part::Agent(_) => Some("agent"),
        proto::part::Part::Subtask(_) => Some("subtask"),
        _ => None,
    }
}

fn unconverted(error: ConvertError) -> Status {
    tracing::error!(%error, "a message was not converted");
    Status::internal(error.to_string())
}

impl From<Refusal> for Status {
    fn from(refusal: Refusal) -> Self {
        let (code, message) = match refusal {
            Refusal::BadRequest(message) => (Code::InvalidArgument, message),
            Refusal::NotFound(message) => (Code::NotFound, message),
            Refusal::Conflict(message) => (Code::FailedPrecondition, message),
            Refusal::TooMany(message) | Refusal::TooLarge(message) => {
                (Code::ResourceExhausted, message)
            }
            Refusal::Failed(message) => {
                tracing::error!(%message, "a call failed");
                (Code::Internal, message)
            }
        };
        Status::new(code, message)
    }
}
