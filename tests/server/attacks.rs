//! Nobody gets in: other hosts, other pages, no password, ids that are paths.

use lathe_server::ROUTES;
use reqwest::{Method, StatusCode};
use serde_json::{Value, json};

use crate::door::{Door, PASSWORD};

#[tokio::test]
async fn every_route_needs_the_password() {
    let door = Door::open().await;
    for route in ROUTES {
        let method = Method::from_bytes(route.method.as_bytes()).unwrap();
        let response = door.stranger(method, route.path).send().await.unwrap();
        assert_eq!(
            response.status(),
            StatusCode::UNAUTHORIZED,
            "{}",
            route.path
        );
        assert!(response.headers().contains_key("www-authenticate"));
        let body: Value = response.json().await.unwrap();
        assert_eq!(body["name"], "UnauthorizedError");
    }
}

#[tokio::test]
async fn a_wrong_password_or_user_is_refused() {
    let door = Door::open().await;
    for (user, password) in [("opencode", "open"), ("opencode", ""), ("root", PASSWORD)] {
        let request = door.stranger(Method::GET, "/session");
        let response = request
            .basic_auth(user, Some(password))
            .send()
            .await
            .unwrap();
        assert_eq!(response.status(), StatusCode::UNAUTHORIZED);
    }
    let token = "/session?auth_token=b3BlbmNvZGU6b3BlbiBzZXNhbWU=";
    let response = door.stranger(Method::GET, token).send().await.unwrap();
    assert_eq!(response.status(), StatusCode::OK);
}

#[tokio::test]
async fn a_name_that_was_bound_to_this_address_is_refused() {
    let door = Door::open().await;
    let port = door.address.port();
    for host in [
        format!("evil.example:{port}"),
        "evil.example".to_owned(),
        "127.0.0.1:1".to_owned(),
        format!("127.0.0.1.evil.example:{port}"),
    ] {
        let request = door.request(Method::GET, "/session").header("host", &host);
        let response = request.send().await.unwrap();
        assert_eq!(response.status(), StatusCode::FORBIDDEN, "{host}");
    }
    let request = door.request(Method::GET, "/session");
    let response = request.header("host", format!("localhost:{port}"));
    assert_eq!(response.send().await.unwrap().status(), StatusCode::OK);
}

/// A picture or a script on a page of another site: no Origin, and a browser that knows the
/// password sends it.
#[tokio::test]
async fn what_pages_of_other_sites_load_is_refused_even_with_the_password() {
    let door = Door::open().await;
    for (site, wanted) in [
        ("cross-site", StatusCode::FORBIDDEN),
        ("same-site", StatusCode::OK),
        ("same-origin", StatusCode::OK),
        ("none", StatusCode::OK),
    ] {
        let request = door.request(Method::GET, "/session");
        let response = request.header("sec-fetch-site", site).send().await.unwrap();
        assert_eq!(response.status(), wanted, "{site}");
    }
}

#[tokio::test]
async fn pages_of_other_origins_are_refused_even_with_the_password() {
    let door = Door::open().await;
    for origin in [
        "https://evil.example",
        "null",
        "http://localhost.evil.example",
        "http://127.0.0.1.evil.example:80",
        "http://localhost:80@evil.example",
        // Any program of this machine can send pages from there.
        "http://localhost:3000",
        "http://127.0.0.1:5173",
    ] {
        for method in [Method::GET, Method::POST, Method::OPTIONS] {
            let request = door.request(method, "/session").header("origin", origin);
            let response = request.send().await.unwrap();
            assert_eq!(response.status(), StatusCode::FORBIDDEN, "{origin}");
            assert!(
                !response
                    .headers()
                    .contains_key("access-control-allow-origin")
            );
        }
    }
}

#[tokio::test]
async fn pages_of_allowed_origins_may_ask() {
    let door = Door::open().await;
    for origin in [
        "https://allowed.example",
        "tauri://localhost",
        "oc://renderer",
    ] {
        let preflight = door
            .stranger(Method::OPTIONS, "/session")
            .header("origin", origin);
        let preflight = preflight.send().await.unwrap();
        assert_eq!(preflight.status(), StatusCode::NO_CONTENT);
        assert_eq!(preflight.headers()["access-control-allow-origin"], origin);
        let without = door
            .stranger(Method::GET, "/session")
            .header("origin", origin);
        assert_eq!(
            without.send().await.unwrap().status(),
            StatusCode::UNAUTHORIZED
        );
        let with = door
            .request(Method::GET, "/session")
            .header("origin", origin);
        assert_eq!(with.send().await.unwrap().status(), StatusCode::OK);
    }
}

/// What a page sends without asking its browser first is not JSON.
#[tokio::test]
async fn a_body_of_a_page_is_read_only_as_json() {
    let door = Door::open().await;
    let send = async |kind: &str, origin: Option<&str>| {
        let request = door.request(Method::POST, "/session").body("{}");
        let mut request = request.header("content-type", kind);
        if let Some(origin) = origin {
            request = request.header("origin", origin);
        }
        request.send().await.unwrap().status()
    };
    let page = Some("https://allowed.example");
    for kind in ["text/plain", "application/x-www-form-urlencoded", ""] {
        assert_eq!(send(kind, page).await, StatusCode::BAD_REQUEST, "{kind}");
        assert_eq!(send(kind, None).await, StatusCode::OK, "{kind}");
    }
    for kind in ["application/json", "application/json; charset=utf-8"] {
        assert_eq!(send(kind, page).await, StatusCode::OK, "{kind}");
    }
}

#[tokio::test]
async fn ids_and_paths_that_lead_outside_are_refused() {
    let door = Door::open().await;
    let secret = tempfile::NamedTempFile::new().unwrap();
    let secret = secret.path().to_str().unwrap();
    for path in [
        "/session/..%2f..%2fetc".to_owned(),
        "/session/ses_..%2f..%2fx/message".to_owned(),
        "/session/ses_a%00b".to_owned(),
        "/session/ses_a/message/..%2f..".to_owned(),
        "/session/msg_a".to_owned(),
        format!("/file/content?path={secret}"),
        "/file?path=..".to_owned(),
        "/file?path=/etc".to_owned(),
        "/session?directory=relative".to_owned(),
        "/session/ses_a/diff?messageID=../x".to_owned(),
        "/session/ses_a/message?before=..".to_owned(),
    ] {
        let (status, message) = door.refused(Method::GET, &path, json!({})).await;
        assert_eq!(status, StatusCode::BAD_REQUEST, "{path}: {message}");
    }
    let session = door.new_session().await;
    for body in [
        json!({ "messageID": "../../x", "parts": [{ "type": "text", "text": "a" }] }),
        json!({ "parts": [{ "id": "prt_../x", "type": "text", "text": "a" }] }),
        json!({ "parts": [{ "type": "unheard-of" }] }),
        json!({ "parts": [] }),
        json!([]),
    ] {
        let path = format!("{session}/message");
        let (status, message) = door.refused(Method::POST, &path, body).await;
        assert_eq!(status, StatusCode::BAD_REQUEST, "{message}");
    }
}

#[tokio::test]
async fn a_link_out_of_the_project_is_not_followed() {
    let door = Door::open().await;
    let outside = tempfile::tempdir().unwrap();
    std::fs::write(outside.path().join("secret"), "s").unwrap();
    std::os::unix::fs::symlink(outside.path(), door.app.path("link")).unwrap();
    let path = "/file/content?path=link/secret";
    let (status, _) = door.refused(Method::GET, path, json!({})).await;
    assert_eq!(status, StatusCode::BAD_REQUEST);
}

#[tokio::test]
async fn an_unknown_route_is_answered_in_json() {
    let door = Door::open().await;
    for (method, path) in [
        (Method::GET, "/"),
        (Method::GET, "/index.html"),
        (Method::PUT, "/session"),
        (Method::GET, "/api/unheard-of"),
        (Method::GET, "/%00"),
    ] {
        let (status, message) = door.refused(method, path, json!({})).await;
        assert_eq!(status, StatusCode::NOT_FOUND, "{path}");
        assert_eq!(message, "There is no such route");
    }
}
