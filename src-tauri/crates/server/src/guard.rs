//! Who may ask: checks Host, Origin and password before a handler sees a request.
//!
//! A page in the person's browser can send requests to this machine. It cannot know the password;
//! and if it made the browser send it, its Origin is not allowed, and a name that was bound to
//! this address (DNS rebinding) is not one of ours.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::{Request, State};
use axum::middleware::Next;
use axum::response::Response;
use http::header::{self, HeaderValue};
use http::request::Parts;
use http::{Method, StatusCode, Version};

use crate::connections::Connection;
use crate::context::Shared;
use crate::{grpc, reply, unread};

/// The desktop apps of OpenCode.
const APP_ORIGINS: [&str; 4] = [
    "tauri://localhost",
    "http://tauri.localhost",
    "https://tauri.localhost",
    "oc://renderer",
];

#[derive(Debug, Clone, Default)]
pub struct AllowedOrigins(pub Vec<String>);

impl AllowedOrigins {
    fn allows(&self, origin: &str) -> bool {
        self.0.iter().any(|one| one.trim_end_matches('/') == origin)
            || APP_ORIGINS.contains(&origin)
    }
}

pub async fn check(State(shared): State<Arc<Shared>>, request: Request, next: Next) -> Response {
    let (parts, body) = request.into_parts();
    let origin = parts.headers.get(header::ORIGIN).cloned();
    let mut response = match refuse(&shared, &parts, origin.as_ref()) {
        Some(refused) => refused,
        None => {
            let connection = parts.extensions.get::<Connection>().cloned();
            let is_http2 = parts.version == Version::HTTP_2;
            let response = next.run(Request::from_parts(parts, body));
            match connection {
                Some(connection) => {
                    connection.admit();
                    let response = response.await;
                    match is_http2 {
                        true => unread::limited(response, shared.limits.unread, connection.end),
                        false => response,
                    }
                }
                None => response.await,
            }
        }
    };
    let headers = response.headers_mut();
    let allowed = origin.filter(|origin| is_allowed(&shared, origin));
    if let Some(origin) = allowed {
        headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, origin);
        headers.insert(
            header::ACCESS_CONTROL_EXPOSE_HEADERS,
            HeaderValue::from_static("link, x-next-cursor"),
        );
    }
    headers.append(header::VARY, HeaderValue::from_static("origin"));
    headers.insert(
        header::X_CONTENT_TYPE_OPTIONS,
        HeaderValue::from_static("nosniff"),
    );
    headers
        .entry(header::CACHE_CONTROL)
        .or_insert(HeaderValue::from_static("no-store"));
    response
}

/// The answer to a request that gets no further.
fn refuse(shared: &Shared, parts: &Parts, origin: Option<&HeaderValue>) -> Option<Response> {
    if !is_known_host(shared, parts) {
        let message = "This server does not answer to that host name";
        return Some(refusal(parts, StatusCode::FORBIDDEN, message));
    }
    if origin.is_some_and(|origin| !is_allowed(shared, origin)) {
        let message = "Pages of this origin may not call this server; allow it with --cors";
        return Some(refusal(parts, StatusCode::FORBIDDEN, message));
    }
    if parts.method == Method::OPTIONS && origin.is_some() {
        return Some(preflight(parts));
    }
    if is_from_another_site(parts, origin) {
        let message = "Pages of other sites may not load anything from this server";
        return Some(refusal(parts, StatusCode::FORBIDDEN, message));
    }
    if !shared.password.is_in(parts) && !has_ticket(shared, parts) {
        let message = "The password is missing or wrong";
        let mut response = refusal(parts, StatusCode::UNAUTHORIZED, message);
        response.headers_mut().insert(
            header::WWW_AUTHENTICATE,
            HeaderValue::from_static("Basic realm=\"Lathe\""),
        );
        return Some(response);
    }
    None
}

/// A page can load pictures and scripts without an Origin, and a browser that knows the password
/// sends it with them.
fn is_from_another_site(parts: &Parts, origin: Option<&HeaderValue>) -> bool {
    let site = parts.headers.get("sec-fetch-site");
    origin.is_none() && site.is_some_and(|site| site == "cross-site")
}

/// A connection to a terminal may have a ticket in the place of the password.
fn has_ticket(shared: &Shared, parts: &Parts) -> bool {
    let path = parts.uri.path();
    let terminal = path
        .strip_prefix("/pty/")
        .and_then(|rest| rest.strip_suffix("/connect"));
    let query = parts.uri.query().unwrap_or_default();
    let mut pairs = url::form_urlencoded::parse(query.as_bytes());
    let ticket = pairs.find(|(name, _)| name == "ticket");
    let asked = terminal.zip(ticket).filter(|_| parts.method == Method::GET);
    asked.is_some_and(|(terminal, (_, ticket))| shared.terminals.take_ticket(&ticket, terminal))
}

fn refusal(parts: &Parts, status: StatusCode, message: &str) -> Response {
    if grpc::is_call(parts) {
        return grpc::refusal(status, message);
    }
    reply::error(status, message)
}

fn is_allowed(shared: &Shared, origin: &HeaderValue) -> bool {
    origin
        .to_str()
        .is_ok_and(|text| shared.origins.allows(text))
}

/// The name that the client used for this server is one that it has.
fn is_known_host(shared: &Shared, parts: &Parts) -> bool {
    let header = parts.headers.get(header::HOST);
    let named = match header {
        Some(value) => value.to_str().ok().and_then(|text| text.parse().ok()),
        // HTTP/2 has it in the address of the request.
        None => parts.uri.authority().cloned(),
    };
    let Some(authority): Option<http::uri::Authority> = named else {
        return false;
    };
    let host = authority.host().to_ascii_lowercase();
    let host = host.trim_start_matches('[').trim_end_matches(']');
    let port_matches = authority.port_u16().unwrap_or(80) == shared.address.port();
    let local = matches!(host, "localhost" | "127.0.0.1" | "::1");
    port_matches && (local || shared.hosts.contains(host) || is_own_address(shared, host))
}

/// A server for every address answers to any of them, but to no name: only names can be rebound.
fn is_own_address(shared: &Shared, host: &str) -> bool {
    shared.address.ip().is_unspecified() && host.parse::<std::net::IpAddr>().is_ok()
}

fn preflight(parts: &Parts) -> Response {
    let mut response = Response::new(Body::empty());
    *response.status_mut() = StatusCode::NO_CONTENT;
    let headers = response.headers_mut();
    headers.insert(
        header::ACCESS_CONTROL_ALLOW_METHODS,
        HeaderValue::from_static("GET, POST, PUT, PATCH, DELETE"),
    );
    if let Some(asked) = parts.headers.get(header::ACCESS_CONTROL_REQUEST_HEADERS) {
        headers.insert(header::ACCESS_CONTROL_ALLOW_HEADERS, asked.clone());
    }
    headers.insert(
        header::ACCESS_CONTROL_MAX_AGE,
        HeaderValue::from_static("600"),
    );
    response
}
