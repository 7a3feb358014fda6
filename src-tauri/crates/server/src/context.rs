//! What handlers share, and what they read from a request.

use std::collections::{HashMap, HashSet};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;

use axum::extract::{FromRequest, FromRequestParts, RawPathParams, Request};
use bytes::Bytes;
use http::request::Parts;
use http::{HeaderMap, header};
use http_body_util::{BodyExt, Limited};
use lathe_folders::{FilePlace, Folders};
use lathe_protocol::{MessageId, PermissionId, Project, ProjectId, QuestionId, Session, SessionId};
use lathe_session::Sessions;
use parking_lot::Mutex;
use serde::de::DeserializeOwned;
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;

use crate::answers::Answers;
use crate::frames::Frames;
use crate::guard::AllowedOrigins;
use crate::password::Password;
use crate::reply::{Answer, Refusal};
use crate::terminals::Terminals;
use crate::{Limits, Options};

const DIRECTORY_HEADER: &str = "x-opencode-directory";
const DIRECTORY_QUERIES: [&str; 2] = ["directory", "location[directory]"];

pub struct Shared {
    pub sessions: Sessions,
    pub folders: Folders,
    pub password: Password,
    pub origins: AllowedOrigins,
    pub limits: Limits,
    pub directory: PathBuf,
    pub address: SocketAddr,
    pub hosts: HashSet<String>,
    pub subscribers: Arc<Semaphore>,
    pub closing: CancellationToken,
    pub answers: Answers,
    pub frames: Frames,
    pub terminals: Arc<Terminals>,
    /// Of each session that had an event.
    places: Mutex<HashMap<SessionId, Arc<SessionPlace>>>,
}

/// The project and the folder of a session.
#[derive(Debug, PartialEq, Eq)]
pub struct SessionPlace {
    pub project: ProjectId,
    pub directory: String,
}

impl Shared {
    pub fn new(
        sessions: Sessions,
        options: Options,
        address: SocketAddr,
        hosts: HashSet<String>,
    ) -> Self {
        Shared {
            folders: Folders::new(sessions.clone()),
            sessions,
            password: options.password,
            origins: AllowedOrigins(options.origins),
            subscribers: Arc::new(Semaphore::new(options.limits.subscribers)),
            limits: options.limits,
            directory: options.directory,
            address,
            hosts,
            terminals: Arc::default(),
            closing: CancellationToken::new(),
            answers: Answers::default(),
            frames: Frames::default(),
            places: Mutex::default(),
        }
    }

    /// Remembers where a session is. Most of the time that is known already.
    pub fn note_place(&self, session: &Session) -> Arc<SessionPlace> {
        let mut places = self.places.lock();
        if let Some(known) = places.get(&session.id)
            && known.project == session.project_id
            && known.directory == session.directory
        {
            return known.clone();
        }
        let place = Arc::new(SessionPlace {
            project: session.project_id.clone(),
            directory: session.directory.clone(),
        });
        places.insert(session.id.clone(), place.clone());
        place
    }

    pub async fn place_of(&self, session: &SessionId) -> Option<Arc<SessionPlace>> {
        let known = self.places.lock().get(session).cloned();
        if known.is_some() {
            return known;
        }
        let info = self.sessions.get(session).await.ok()?;
        Some(self.note_place(&info))
    }
}

impl Shared {
    /// Whether a session is one of a project.
    pub async fn is_in(&self, session: &SessionId, place: &Place) -> bool {
        let found = self.place_of(session).await;
        found.is_some_and(|found| found.project == place.project.id)
    }
}

/// The project and the folder that a request is about.
pub struct Place {
    pub project: Project,
    /// As the client named it.
    pub directory: PathBuf,
    /// Without links.
    pub real: PathBuf,
}

impl FromRequestParts<Arc<Shared>> for Place {
    type Rejection = Refusal;

    async fn from_request_parts(parts: &mut Parts, shared: &Arc<Shared>) -> Answer<Self> {
        let named = named_directory(parts).map(PathBuf::from);
        let directory = named.unwrap_or_else(|| shared.directory.clone());
        if !directory.is_absolute() || directory.as_os_str().as_encoded_bytes().contains(&0) {
            let message = "The directory must be an absolute path";
            return Err(Refusal::BadRequest(message.into()));
        }
        let found = tokio::fs::metadata(&directory).await;
        if !found.is_ok_and(|found| found.is_dir()) {
            let message = format!("There is no folder {}", directory.display());
            return Err(Refusal::NotFound(message));
        }
        let project = shared.sessions.project_at(&directory).await?;
        let real = tokio::fs::canonicalize(&directory).await;
        let real = real.map_err(|error| Refusal::BadRequest(error.to_string()))?;
        Ok(Place {
            project,
            directory,
            real,
        })
    }
}

/// A place whose files are read, or where a session works. The person started the server in its own
/// folder; any other one only the client names, so it must not be a home folder or one with settings
/// and keys that is no project.
pub struct OpenPlace(pub Place);

impl FromRequestParts<Arc<Shared>> for OpenPlace {
    type Rejection = Refusal;

    async fn from_request_parts(parts: &mut Parts, shared: &Arc<Shared>) -> Answer<Self> {
        let place = Place::from_request_parts(parts, shared).await?;
        if place.directory != shared.directory {
            shared.sessions.named_project_at(&place.directory).await?;
        }
        Ok(OpenPlace(place))
    }
}

fn named_directory(parts: &Parts) -> Option<String> {
    let query = parts.uri.query().unwrap_or_default();
    let mut pairs = url::form_urlencoded::parse(query.as_bytes());
    let is_directory = |name: &str| DIRECTORY_QUERIES.contains(&name);
    let queried = pairs.find(|(name, value)| is_directory(name) && !value.is_empty());
    if let Some((_, value)) = queried {
        return Some(value.into_owned());
    }
    let header = parts.headers.get(DIRECTORY_HEADER)?.as_bytes();
    // In a header `+` is a plus: only `%` escapes are decoded.
    let escaped = String::from_utf8_lossy(header)
        .replace('+', "%2B")
        .replace('&', "%26");
    let decoded = url::form_urlencoded::parse(format!("d={escaped}").as_bytes())
        .next()
        .map(|(_, value)| value.into_owned());
    decoded.filter(|value| !value.is_empty())
}

impl Place {
    /// A path of a client in this place.
    pub fn at<'a>(&'a self, path: &'a str) -> FilePlace<'a> {
        FilePlace {
            project: &self.project,
            directory: &self.directory,
            path,
        }
    }
}

/// The JSON body. An empty one is an empty object: clients leave it out.
pub struct Input<T>(pub T);

impl<T: DeserializeOwned> FromRequest<Arc<Shared>> for Input<T> {
    type Rejection = Refusal;

    async fn from_request(request: Request, shared: &Arc<Shared>) -> Answer<Self> {
        let is_foreign = is_not_json_of_a_page(request.headers());
        let bytes = read_body(request, shared).await?;
        if is_foreign && !bytes.is_empty() {
            let message = "The body must be sent as application/json";
            return Err(Refusal::BadRequest(message.into()));
        }
        let bytes: &[u8] = if bytes.is_empty() { b"{}" } else { &bytes };
        let value = serde_json::from_slice(bytes);
        value
            .map(Input)
            .map_err(|error| Refusal::BadRequest(format!("The body can’t be used: {error}")))
    }
}

/// A page can send any other type of body without asking its browser whether it may.
fn is_not_json_of_a_page(headers: &HeaderMap) -> bool {
    let kind = headers.get(header::CONTENT_TYPE);
    let kind = kind.and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    let kind = kind.split(';').next().unwrap_or_default().trim();
    headers.contains_key(header::ORIGIN) && !kind.eq_ignore_ascii_case("application/json")
}

/// The whole body, if it is not too large and comes in time.
pub async fn read_body(request: Request, shared: &Shared) -> Answer<Bytes> {
    let limit = shared.limits.body_bytes;
    let too_large = || Refusal::TooLarge(format!("A body has at most {limit} bytes"));
    let announced = request.headers().get(http::header::CONTENT_LENGTH);
    let announced = announced.and_then(|value| value.to_str().ok()?.parse::<u64>().ok());
    if announced.is_some_and(|bytes| bytes > limit as u64) {
        return Err(too_large());
    }
    let body = Limited::new(request.into_body(), limit).collect();
    match tokio::time::timeout(shared.limits.request, body).await {
        Err(_) => Err(Refusal::BadRequest("The body took too long".into())),
        Ok(Err(error)) if error.is::<http_body_util::LengthLimitError>() => Err(too_large()),
        Ok(Err(error)) => Err(Refusal::BadRequest(error.to_string())),
        Ok(Ok(body)) => Ok(body.to_bytes()),
    }
}

/// The query, where a value that cannot be read is an error.
pub struct Asked<T>(pub T);

impl<T: DeserializeOwned> FromRequestParts<Arc<Shared>> for Asked<T> {
    type Rejection = Refusal;

    async fn from_request_parts(parts: &mut Parts, _: &Arc<Shared>) -> Answer<Self> {
        let query = axum::extract::Query::<T>::try_from_uri(&parts.uri);
        query
            .map(|axum::extract::Query(value)| Asked(value))
            .map_err(|error| Refusal::BadRequest(error.body_text()))
    }
}

async fn path_param(parts: &mut Parts, wanted: &str) -> Answer<String> {
    let params = RawPathParams::from_request_parts(parts, &()).await;
    let params = params.map_err(|error| Refusal::BadRequest(error.to_string()))?;
    let found = params.iter().find(|(name, _)| *name == wanted);
    found
        .map(|(_, value)| value.to_owned())
        .ok_or_else(|| Refusal::BadRequest(format!("The path has no {wanted}")))
}

macro_rules! path_ids {
    ($($Name:ident($Id:ty) = $param:literal;)*) => {$(
        pub struct $Name(pub $Id);

        impl FromRequestParts<Arc<Shared>> for $Name {
            type Rejection = Refusal;

            async fn from_request_parts(parts: &mut Parts, _: &Arc<Shared>) -> Answer<Self> {
                let text = path_param(parts, $param).await?;
                Ok($Name(<$Id>::parse(&text)?))
            }
        }
    )*};
}

path_ids! {
    SessionPath(SessionId) = "sessionID";
    MessagePath(MessageId) = "messageID";
    PermissionPath(PermissionId) = "requestID";
    OldPermissionPath(PermissionId) = "permissionID";
    QuestionPath(QuestionId) = "requestID";
}

macro_rules! path_names {
    ($($Name:ident = $param:literal;)*) => {$(
        pub struct $Name(pub String);

        impl FromRequestParts<Arc<Shared>> for $Name {
            type Rejection = Refusal;

            async fn from_request_parts(parts: &mut Parts, _: &Arc<Shared>) -> Answer<Self> {
                Ok($Name(path_param(parts, $param).await?))
            }
        }
    )*};
}

path_names! {
    NamePath = "name";
    TerminalPath = "ptyID";
}
