//! Fetches one address from the web.
//!
//! The model chooses the address, so it must not give access to the user's private network. For
//! every host permission is asked, the name is resolved once, its addresses are checked, and the
//! connection is made to exactly these. Redirects are followed here, with the same checks.

mod address;
mod page;
mod request;

use std::sync::Arc;
use std::time::Duration;

use schemars::JsonSchema;
use serde::Deserialize;
use tokio_util::sync::CancellationToken;
use url::Url;

pub use self::address::{Lookup, SystemLookup, is_public};
use self::request::{Answer, Consent, Fetch};
use crate::context::ToolContext;
use crate::text;
use crate::tool::{Tool, ToolFailure, ToolOutput};

const DEFAULT_SECONDS: u64 = 30;
const MAX_SECONDS: u64 = 120;
const MAX_TITLE: usize = 200;

pub struct WebFetch {
    lookup: Arc<dyn Lookup>,
}

impl Default for WebFetch {
    fn default() -> Self {
        Self::with_lookup(Arc::new(SystemLookup))
    }
}

impl WebFetch {
    pub fn with_lookup(lookup: Arc<dyn Lookup>) -> Self {
        Self { lookup }
    }
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct WebFetchInput {
    /// The address, with http:// or https://.
    url: String,
    format: Option<Format>,
    /// In seconds; 30 if not given, 120 at most.
    #[schemars(range(min = 1, max = 120))]
    timeout: Option<u64>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Format {
    #[default]
    Markdown,
    Text,
    Html,
}

impl Tool for WebFetch {
    const NAME: &'static str = "webfetch";
    const PROMPT: &'static str = include_str!("webfetch.txt");
    type Input = WebFetchInput;

    async fn run(&self, input: Self::Input, cx: &ToolContext) -> Result<ToolOutput, ToolFailure> {
        let url = parse(&input.url)?;
        let seconds = input.timeout.unwrap_or(DEFAULT_SECONDS);
        let fetch = Fetch {
            allowed_hosts: cx.environment.private_hosts(),
            lookup: self.lookup.as_ref(),
            consent: Consent::Ask(cx.host.as_ref()),
            cancel: cx.cancel.clone(),
            left: Duration::from_secs(seconds.clamp(1, MAX_SECONDS)),
            asked: Vec::new(),
        };
        let answer = fetch.run(url).await?;
        let format = input.format.unwrap_or_default();
        tokio::task::spawn_blocking(move || output(answer, format))
            .await
            .unwrap_or_else(|_| Err(ToolFailure::failed("Reading the page broke off.")))
    }
}

/// Fetches an address that the person asked for, with the same checks as for the model.
pub async fn fetch_asked_for(
    url: &str,
    allowed_hosts: Vec<String>,
    lookup: &dyn Lookup,
) -> Result<Vec<u8>, ToolFailure> {
    let fetch = Fetch {
        allowed_hosts,
        lookup,
        consent: Consent::Given,
        cancel: CancellationToken::new(),
        left: Duration::from_secs(DEFAULT_SECONDS),
        asked: Vec::new(),
    };
    Ok(fetch.run(parse(url)?).await?.body)
}

fn parse(url: &str) -> Result<Url, ToolFailure> {
    Url::parse(url.trim()).map_err(|error| {
        let shown = text::quoted(&text::shortened(url, MAX_TITLE));
        ToolFailure::failed(format!("{shown} is not an address: {error}."))
    })
}

fn output(answer: Answer, format: Format) -> Result<ToolOutput, ToolFailure> {
    let title = text::visible(&text::shortened(answer.url.as_str(), MAX_TITLE));
    let url = answer.url.to_string();
    let mime = answer.mime();
    let output = match page::read(answer, format)? {
        page::Content::Text(text) if text.trim().is_empty() => {
            ToolOutput::new(title, "(The page holds no text.)")
        }
        page::Content::Text(text) => ToolOutput::new(title, text),
        page::Content::Media(attachment) => ToolOutput::new(
            title,
            format!("Fetched {}; it is attached.", attachment.mime),
        )
        .attach(*attachment),
    };
    Ok(output.with("url", url).with("contentType", mime))
}
