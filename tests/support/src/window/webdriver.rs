//! The WebDriver protocol, as far as these tests speak it.

use std::ffi::OsString;
use std::net::{Ipv4Addr, TcpListener};
use std::path::Path;
use std::time::Instant;

use reqwest::Method;
use serde_json::{Value, json};

use super::process::{Group, PATIENCE, glance};
use super::stage::Stage;
use super::{WindowError, WindowOptions};

/// A running driver, without a session yet.
pub struct WebDriver {
    http: reqwest::Client,
    address: String,
}

/// An app that the driver has started and can ask.
pub struct Session {
    http: reqwest::Client,
    address: String,
}

impl WebDriver {
    /// Starts the driver on a free port, and waits until it answers.
    pub async fn start(
        stage: &Stage,
        options: &WindowOptions,
    ) -> Result<(Group, Self), WindowError> {
        let port = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?
            .local_addr()?
            .port();
        let mut command = stage.command(Path::new("WebKitWebDriver"), options);
        let group = Group::start(command.arg(format!("--port={port}")))?;
        let http = reqwest::Client::builder().no_proxy().build()?;
        let driver = Self {
            http,
            address: format!("http://127.0.0.1:{port}"),
        };
        let deadline = Instant::now() + PATIENCE;
        while driver
            .http
            .get(format!("{}/status", driver.address))
            .send()
            .await
            .is_err()
        {
            glance(deadline, "the driver's first answer").await?;
        }
        Ok((group, driver))
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

    /// The driver's own name for an element.
    pub async fn element(&self, css: &str) -> Result<String, WindowError> {
        let found = self
            .post("element", json!({ "using": "css selector", "value": css }))
            .await?;
        name_of(&found)
    }

    /// The same for all such elements, in the order of the page.
    pub async fn elements(&self, css: &str) -> Result<Vec<String>, WindowError> {
        let found = self
            .post("elements", json!({ "using": "css selector", "value": css }))
            .await?;
        found
            .as_array()
            .into_iter()
            .flatten()
            .map(name_of)
            .collect()
    }
}

fn name_of(element: &Value) -> Result<String, WindowError> {
    let fields = element.as_object();
    let name = fields.and_then(|fields| fields.values().next()?.as_str());
    name.map(str::to_owned).ok_or_else(|| WindowError::Driver {
        what: element.to_string(),
    })
}

async fn ask(
    http: &reqwest::Client,
    method: Method,
    address: &str,
    body: Option<Value>,
) -> Result<Value, WindowError> {
    let mut request = http.request(method, address).timeout(4 * PATIENCE);
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
