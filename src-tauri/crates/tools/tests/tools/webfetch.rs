//! webfetch against a real server on this machine.

use std::collections::HashMap;
use std::io;
use std::net::IpAddr;
use std::sync::Arc;

use async_trait::async_trait;
use axum::Router;
use axum::body::Body;
use axum::extract::RawQuery;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use lathe_tools::webfetch::{Lookup, WebFetch};
use lathe_tools::{FailureKind, Registry, ToolFailure, ToolOutput};
use parking_lot::Mutex;
use serde_json::{Value, json};

use super::support::Project;

/// A resolver with fixed entries that records its lookups.
#[derive(Clone)]
pub struct Names {
    known: HashMap<String, Vec<IpAddr>>,
    asked: Arc<Mutex<Vec<String>>>,
}

impl Names {
    pub fn of(known: &[(&str, &[&str])]) -> Self {
        let parsed = |(name, addresses): &(&str, &[&str])| {
            let addresses = addresses.iter().map(|address| address.parse().unwrap());
            ((*name).to_owned(), addresses.collect())
        };
        Self {
            known: known.iter().map(parsed).collect(),
            asked: Arc::default(),
        }
    }

    pub fn none() -> Self {
        Self::of(&[])
    }

    pub fn looked_up(&self) -> Vec<String> {
        self.asked.lock().clone()
    }
}

#[async_trait]
impl Lookup for Names {
    async fn addresses(&self, host: &str) -> io::Result<Vec<IpAddr>> {
        self.asked.lock().push(host.to_owned());
        self.known
            .get(host)
            .cloned()
            .ok_or_else(|| io::Error::other("no such name"))
    }
}

pub async fn fetch(
    project: &Project,
    allowed: &[&str],
    names: Names,
    url: &str,
) -> Result<ToolOutput, ToolFailure> {
    run(project, allowed, names, json!({ "url": url })).await
}

async fn run(
    project: &Project,
    allowed: &[&str],
    names: Names,
    input: Value,
) -> Result<ToolOutput, ToolFailure> {
    let allowed = allowed.iter().map(|host| (*host).to_owned()).collect();
    project.cx.environment.set_private_hosts(allowed);
    let tool = WebFetch::with_lookup(Arc::new(names));
    Registry::default()
        .with(tool)
        .run("webfetch", input, &project.cx)
        .await
}

pub struct Site {
    port: u16,
}

impl Site {
    pub async fn start() -> Self {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        tokio::spawn(async move { axum::serve(listener, pages()).await });
        Self { port }
    }

    pub fn url(&self, host: &str, path: &str) -> String {
        format!("http://{host}:{}{path}", self.port)
    }

    async fn get(&self, path: &str) -> Result<ToolOutput, ToolFailure> {
        self.get_as(path, "markdown").await
    }

    async fn get_as(&self, path: &str, format: &str) -> Result<ToolOutput, ToolFailure> {
        let input = json!({ "url": self.url("127.0.0.1", path), "format": format });
        run(&Project::new(), &["127.0.0.1"], Names::none(), input).await
    }
}

const PAGE: &str = "<!doctype html><html><head><title>T</title><style>.x{}</style></head><body><h1>Head</h1>\
    <script>alert(1)</script><p>One <b>bold</b> &amp; <a href=\"/x\">link</a></p><ul><li>a</li><li>b</li></ul>\
    <pre><code>x  y\n  z</code></pre></body></html>";

fn typed(mime: &'static str, body: impl Into<Body>) -> Response {
    ([(header::CONTENT_TYPE, mime)], body.into()).into_response()
}

fn png() -> Vec<u8> {
    [b"\x89PNG\r\n\x1a\n".as_slice(), &[0; 64]].concat()
}

fn endless() -> Body {
    // Without a content length, so that only counting bytes can stop it.
    let (sender, receiver) = tokio::sync::mpsc::channel::<Vec<u8>>(1);
    tokio::spawn(async move { while sender.send(vec![b'x'; 64 * 1024]).await.is_ok() {} });
    Body::from_stream(Chunks(receiver))
}

struct Chunks(tokio::sync::mpsc::Receiver<Vec<u8>>);

impl futures::Stream for Chunks {
    type Item = Result<Vec<u8>, io::Error>;

    fn poll_next(
        mut self: std::pin::Pin<&mut Self>,
        cx: &mut std::task::Context,
    ) -> std::task::Poll<Option<Self::Item>> {
        self.0.poll_recv(cx).map(|chunk| chunk.map(Ok))
    }
}

async fn redirect(RawQuery(to): RawQuery) -> Response {
    (
        StatusCode::FOUND,
        [(header::LOCATION, to.unwrap_or_default())],
    )
        .into_response()
}

fn pages() -> Router {
    Router::new()
        .route(
            "/page",
            get(|| async { typed("text/html; charset=utf-8", PAGE) }),
        )
        .route(
            "/plain",
            get(|| async { typed("text/plain", "plain words\n") }),
        )
        .route(
            "/json",
            get(|| async { typed("application/problem+json", "{\"a\":1}") }),
        )
        .route(
            "/latin",
            get(|| async { typed("text/plain; charset=ISO-8859-1", b"caf\xe9".to_vec()) }),
        )
        .route(
            "/meta",
            get(|| async {
                typed(
                    "text/html",
                    b"<meta charset='shift_jis'><p>\x93\xfa\x96\x7b".to_vec(),
                )
            }),
        )
        .route(
            "/unnamed",
            get(|| async { typed("text/plain", b"caf\xe9".to_vec()) }),
        )
        .route(
            "/wide",
            get(|| async { typed("text/plain", b"\xff\xfeh\0i\0".to_vec()) }),
        )
        .route("/pic", get(|| async { typed("image/png", png()) }))
        .route(
            "/zip",
            get(|| async { typed("application/zip", b"PK\x03\x04\0\0".to_vec()) }),
        )
        .route(
            "/lie",
            get(|| async { typed("text/plain", b"a\0\0b".to_vec()) }),
        )
        .route(
            "/empty",
            get(|| async { typed("text/html", "<script>x</script>") }),
        )
        .route(
            "/deep",
            get(|| async { typed("text/html", format!("{}deep", "<div>".repeat(3_000))) }),
        )
        .route(
            "/abyss",
            get(|| async { typed("text/html", "<div>".repeat(900_000)) }),
        )
        .route("/endless", get(|| async { typed("text/plain", endless()) }))
        .route(
            "/large",
            get(|| async { typed("text/plain", vec![b'x'; 5 * 1024 * 1024 + 1]) }),
        )
        .route("/gone", get(|| async { (StatusCode::GONE, "gone") }))
        .route(
            "/never",
            get(|| async { std::future::pending::<()>().await }),
        )
        .route(
            "/loop",
            get(|| async { (StatusCode::FOUND, [(header::LOCATION, "/loop")]) }),
        )
        .route("/nowhere", get(|| async { StatusCode::FOUND }))
        .route("/to", get(redirect))
}

#[tokio::test]
async fn a_page_comes_as_markdown_text_or_source() {
    let site = Site::start().await;
    let markdown = site.get("/page").await.unwrap();
    assert_eq!(
        markdown.output,
        "# Head\n\nOne **bold** & [link](/x)\n\n*   a\n*   b\n\n```\nx  y\n  z\n```"
    );
    assert_eq!(markdown.title, site.url("127.0.0.1", "/page"));
    assert_eq!(markdown.metadata["contentType"], "text/html");
    let text = site.get_as("/page", "text").await.unwrap().output;
    assert_eq!(text, "Head\nOne bold & link\na\nb\nx  y\n  z");
    assert_eq!(site.get_as("/page", "html").await.unwrap().output, PAGE);
}

#[tokio::test]
async fn other_text_comes_as_it_is_in_its_own_charset() {
    let site = Site::start().await;
    let rows = [
        ("/plain", "plain words\n"),
        ("/json", "{\"a\":1}"),
        ("/latin", "café"),
        ("/unnamed", "café"),
        ("/meta", "日本"),
        ("/wide", "hi"),
        ("/empty", "(The page holds no text.)"),
    ];
    for (path, expected) in rows {
        assert_eq!(site.get(path).await.unwrap().output, expected, "{path}");
    }
}

#[tokio::test]
async fn images_are_attached_and_other_binaries_refused() {
    let site = Site::start().await;
    let picture = site.get("/pic").await.unwrap();
    assert_eq!(picture.attachments.len(), 1);
    assert_eq!(picture.attachments[0].mime, "image/png");
    assert_eq!(picture.attachments[0].bytes, png());
    for path in ["/zip", "/lie"] {
        let failure = site.get(path).await.unwrap_err();
        assert!(failure.text.contains("binary"), "{failure}");
    }
}

#[tokio::test]
async fn a_failed_fetch_is_explained() {
    let site = Site::start().await;
    let rows = [
        ("/endless", "larger than 5 MB"),
        ("/large", "larger than 5 MB"),
        ("/gone", "410 Gone"),
        ("/loop", "more than 5 times"),
        ("/nowhere", "without a target"),
        ("/abyss", "nested too deeply"),
    ];
    for (path, part) in rows {
        let failure = site.get(path).await.unwrap_err();
        assert!(failure.text.contains(part), "{path}: {failure}");
    }
    assert!(site.get("/deep").await.is_ok());
    for (url, part) in [
        ("ftp://example.org/", "Only http and https"),
        ("file:///etc/passwd", "Only http and https"),
        ("example.org", "is not an address"),
        ("http://user:secret@example.org/", "user name or password"),
        ("http://nobody.test/", "no such name"),
    ] {
        let failure = fetch(&Project::new(), &[], Names::none(), url)
            .await
            .unwrap_err();
        assert!(failure.text.contains(part), "{url}: {failure}");
    }
}

#[tokio::test]
async fn each_host_of_a_redirect_is_asked_about_once() {
    let site = Site::start().await;
    let project = Project::new();
    let names = Names::of(&[("one.test", &["127.0.0.1"]), ("two.test", &["127.0.0.1"])]);
    let last = site.url("two.test", "/plain");
    let back = site.url("one.test", &format!("/to?{last}"));
    let url = site.url("one.test", &format!("/to?{back}"));
    let result = fetch(&project, &["one.test", "TWO.test"], names, &url)
        .await
        .unwrap();
    assert_eq!(result.output, "plain words\n");
    assert_eq!(result.metadata["url"], last);
    let asks = project.host.asks.lock().clone();
    let asked: Vec<_> = asks
        .iter()
        .flat_map(|ask| &ask.wants)
        .map(|want| {
            (
                &*want.permission,
                want.patterns.clone(),
                want.always.clone(),
            )
        })
        .collect();
    let host = |name: &str| ("webfetch", vec![name.to_owned()], vec![name.to_owned()]);
    assert_eq!(asked, [host("one.test"), host("two.test")]);
}

#[tokio::test]
async fn a_server_that_never_answers_is_left_after_the_timeout() {
    let site = Site::start().await;
    let input = json!({ "url": site.url("127.0.0.1", "/never"), "timeout": 1 });
    let failure = run(&Project::new(), &["127.0.0.1"], Names::none(), input)
        .await
        .unwrap_err();
    assert!(failure.text.contains("did not answer in time"), "{failure}");
}

#[tokio::test]
async fn an_abort_ends_the_request() {
    let site = Site::start().await;
    let project = Project::new();
    let cancel = project.cx.cancel.clone();
    let project = project.answering(move |_| {
        cancel.cancel();
        Ok(())
    });
    let url = site.url("127.0.0.1", "/never");
    let failure = fetch(&project, &["127.0.0.1"], Names::none(), &url)
        .await
        .unwrap_err();
    assert_eq!(failure.kind, FailureKind::Aborted);
}
