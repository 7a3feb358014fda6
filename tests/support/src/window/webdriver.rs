//! The parts of the WebDriver protocol that the tests use.

use std::ffi::OsString;
use std::net::{Ipv4Addr, TcpListener};
use std::path::Path;
use std::time::Instant;

use reqwest::Method;
use serde_json::{Value, json};

use super::desktop::Desktop;
use super::process::{Group, TIMEOUT, next_check};
use super::{WindowError, WindowOptions};

/// A running driver, without a session yet.
pub struct WebDriver {
    http: reqwest::Client,
    address: String,
}

/// An app that the driver has started.
pub struct Session {
    http: reqwest::Client,
    address: String,
}

impl WebDriver {
    /// Starts the driver on a free port, and waits until it answers.
    ///
    /// The driver cannot choose a port itself, so another program may take the port between our
    /// choice and its start. The driver ends then, and another port is chosen. An answer counts
    /// only while the driver runs: it could be the other program's.
    pub async fn start(
        desktop: &Desktop,
        options: &WindowOptions,
    ) -> Result<(Group, Self), WindowError> {
        let http = reqwest::Client::builder().no_proxy().build()?;
        let deadline = Instant::now() + TIMEOUT;
        loop {
            let port = free_port()?;
            let mut command = desktop.command(Path::new("WebKitWebDriver"), options);
            let mut group = Group::start(command.arg(format!("--port={port}")))?;
            let driver = Self {
                http: http.clone(),
                address: format!("http://127.0.0.1:{port}"),
            };
            while group.leader().try_wait()?.is_none() {
                let answer = http.get(format!("{}/status", driver.address)).send().await;
                if answer.is_ok() && group.leader().try_wait()?.is_none() {
                    return Ok((group, driver));
                }
                next_check(deadline, "the driver's first answer").await?;
            }
            next_check(deadline, "a port for the driver").await?;
        }
    }

    /// Starts the app.
    pub async fn open(&self, app: &Path, args: &[OsString]) -> Result<Session, WindowError> {
        let args: Vec<_> = args.iter().map(|arg| arg.to_string_lossy()).collect();
        let options = json!({ "binary": app, "args": args });
        let wanted = json!({ "alwaysMatch": { "webkitgtk:browserOptions": options } });
        let address = format!("{}/session", self.address);
        let answer = ask(
            &self.http,
            Method::POST,
            &address,
            Some(json!({ "capabilities": wanted })),
        )
        .await?;
        let id = answer["sessionId"].as_str().unwrap_or_default();
        Ok(Session {
            http: self.http.clone(),
            address: format!("{address}/{id}"),
        })
    }
}

impl Session {
    pub async fn get(&self, what: &str) -> Result<Value, WindowError> {
        ask(
            &self.http,
            Method::GET,
            &format!("{}/{what}", self.address),
            None,
        )
        .await
    }

    pub async fn post(&self, what: &str, body: Value) -> Result<Value, WindowError> {
        ask(
            &self.http,
            Method::POST,
            &format!("{}/{what}", self.address),
            Some(body),
        )
        .await
    }

    /// Runs a function's body in the page; its last argument is the callback for the answer.
    pub async fn run(&self, body: &str, args: Value) -> Result<Value, WindowError> {
        self.post("execute/async", json!({ "script": body, "args": args }))
            .await
    }
}

fn free_port() -> std::io::Result<u16> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
    Ok(listener.local_addr()?.port())
}

/// The driver's reference to an element that a script returned.
pub fn element_name(element: &Value) -> Option<String> {
    let name = element.as_object()?.values().next()?;
    name.as_str().map(str::to_owned)
}

async fn ask(
    http: &reqwest::Client,
    method: Method,
    address: &str,
    body: Option<Value>,
) -> Result<Value, WindowError> {
    let mut request = http.request(method, address).timeout(3 * TIMEOUT);
    if let Some(body) = body {
        request = request.json(&body);
    }
    let response = request.send().await?;
    let good = response.status().is_success();
    let mut answer: Value = response.json().await?;
    let value = answer["value"].take();
    if good {
        return Ok(value);
    }
    let text = |name: &str| value[name].as_str().unwrap_or_default().to_owned();
    Err(WindowError::Driver {
        what: format!("{}: {}", text("error"), text("message")),
    })
}
