//! What the fake model answers, in tests and in script files alike.

use std::collections::BTreeMap;
use std::sync::Arc;

use lathe_provider::Usage;
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::sync::Semaphore;

/// A script file: see `fake-model --help`.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub struct Script {
    pub replies: Vec<Reply>,
    pub title: Option<String>,
    pub chunk: usize,
    /// Start again when the replies are used up.
    pub repeat: bool,
    /// Neither check nor store the requests.
    pub forget: bool,
}

/// One answer.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Reply {
    /// A stream; it ends well unless an item says otherwise.
    Say(Vec<Item>),
    Refuse(Refusal),
    /// Reads the request and never answers.
    Hang,
    /// Closes the connection without a byte.
    Drop,
    /// Status 200 and nothing in it.
    Empty,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Refusal {
    pub status: u16,
    #[serde(default)]
    pub headers: BTreeMap<String, String>,
    #[serde(default)]
    pub body: Value,
}

impl Refusal {
    pub fn new(status: u16, headers: &[(&str, &str)], message: &str) -> Self {
        let headers = headers
            .iter()
            .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
            .collect();
        let body = json!({ "type": "error", "error": { "message": message } });
        Self {
            status,
            headers,
            body,
        }
    }
}

/// One item of a reply.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Item {
    Text(String),
    Reasoning(String),
    Call {
        name: String,
        input: Value,
    },
    /// Arguments exactly like this, valid or not.
    RawCall {
        name: String,
        arguments: String,
    },
    /// Nothing for this many milliseconds.
    Pause(u64),
    /// Nothing until the test opens the gate. Unlike a pause, this does not depend on the speed of
    /// the machine.
    #[serde(skip)]
    Hold(Gate),
    /// Nothing, with the connection open.
    Stall,
    /// The connection is reset here.
    Reset,
    /// The body ends here without an error and without its final event.
    Cut,
    /// An event that is not JSON.
    BadJson,
    /// An error inside the stream.
    Error {
        kind: String,
        message: String,
    },
    Usage(Usage),
    /// The answer ends because it reached its length limit.
    Full,
}

/// Holds a reply back until the test opens it.
#[derive(Debug, Clone)]
pub struct Gate(Arc<Semaphore>);

impl Gate {
    pub fn closed() -> Self {
        Self(Arc::new(Semaphore::new(0)))
    }

    /// Lets every reply continue, now and later.
    pub fn open(&self) {
        self.0.close();
    }

    pub(super) async fn wait(&self) {
        // The semaphore has no permits: waiting ends when it is closed.
        let _ = self.0.acquire().await;
    }
}

pub fn text(text: impl Into<String>) -> Item {
    Item::Text(text.into())
}

pub fn reasoning(text: impl Into<String>) -> Item {
    Item::Reasoning(text.into())
}

pub fn call(name: &str, input: Value) -> Item {
    Item::Call {
        name: name.to_owned(),
        input,
    }
}

pub fn raw_call(name: &str, arguments: &str) -> Item {
    Item::RawCall {
        name: name.to_owned(),
        arguments: arguments.to_owned(),
    }
}

pub fn pause(milliseconds: u64) -> Item {
    Item::Pause(milliseconds)
}

pub fn hold(gate: &Gate) -> Item {
    Item::Hold(gate.clone())
}

pub fn stall() -> Item {
    Item::Stall
}

pub fn reset() -> Item {
    Item::Reset
}

pub fn cut() -> Item {
    Item::Cut
}

pub fn bad_json() -> Item {
    Item::BadJson
}

pub fn stream_error(kind: &str, message: &str) -> Item {
    Item::Error {
        kind: kind.to_owned(),
        message: message.to_owned(),
    }
}

pub fn full() -> Item {
    Item::Full
}

pub fn usage(usage: Usage) -> Item {
    Item::Usage(usage)
}
