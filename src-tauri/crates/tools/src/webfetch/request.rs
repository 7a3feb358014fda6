//! Sends a request and follows redirects; permission and address of each host are checked.

use std::net::{IpAddr, SocketAddr};
use std::time::{Duration, Instant};

use reqwest::header::{ACCEPT, CONTENT_ENCODING, CONTENT_TYPE, LOCATION};
use reqwest::redirect::Policy;
use reqwest::{Client, Response};
use tokio_util::sync::CancellationToken;
use url::{Host, Url};

use super::address::{Lookup, is_public};
use crate::context::{Host as Asked, PermissionAsk};
use crate::text;
use crate::tool::ToolFailure;

const MAX_BYTES: usize = 5 * 1024 * 1024;
const MAX_REDIRECTS: usize = 5;
const USER_AGENT: &str = concat!("Lathe/", env!("CARGO_PKG_VERSION"));
const ACCEPTED_TYPES: &str = "text/markdown, text/html;q=0.9, text/*;q=0.8, */*;q=0.5";

pub(super) struct Fetch<'a> {
    /// From the user's settings: reachable although they are private.
    pub allowed_hosts: Vec<String>,
    pub lookup: &'a dyn Lookup,
    pub consent: Consent<'a>,
    pub cancel: CancellationToken,
    /// Remaining time for the network. Waiting for the user's answer does not count.
    pub left: Duration,
    pub asked: Vec<String>,
}

/// Who allows a host to be reached.
pub(super) enum Consent<'a> {
    Ask(&'a dyn Asked),
    /// The person has asked for exactly this address.
    Given,
}

pub(super) struct Answer {
    pub url: Url,
    pub content_type: Option<String>,
    pub body: Vec<u8>,
}

impl Answer {
    /// Lower case, without parameters.
    pub fn mime(&self) -> String {
        let whole = self.content_type.as_deref().unwrap_or_default();
        let mime = whole.split(';').next().unwrap_or_default();
        mime.trim().to_ascii_lowercase()
    }
}

impl Fetch<'_> {
    pub async fn run(mut self, mut url: Url) -> Result<Answer, ToolFailure> {
        for _ in 0..=MAX_REDIRECTS {
            let client = self.client_for(&url).await?;
            let request = client.get(url.clone()).header(ACCEPT, ACCEPTED_TYPES);
            let response = self
                .in_time(&url, async {
                    request.send().await.map_err(|e| unreached(&e))
                })
                .await?;
            if !response.status().is_redirection() {
                return self.answer(url, response).await;
            }
            url = target(&url, &response)?;
        }
        Err(ToolFailure::failed(format!(
            "The address redirects more than {MAX_REDIRECTS} times."
        )))
    }

    /// A client that can only reach the addresses that were just checked.
    async fn client_for(&mut self, url: &Url) -> Result<Client, ToolFailure> {
        let host = checked_host(url)?;
        let allowed = self.is_allowed(&host);
        let literal = match host {
            Host::Ipv4(address) => Some(IpAddr::V4(address)),
            Host::Ipv6(address) => Some(IpAddr::V6(address)),
            Host::Domain(_) => None,
        };
        if let Some(address) = literal.filter(|address| !allowed && !is_public(*address)) {
            return Err(private(&host, address));
        }
        self.ask(&host, url).await?;
        let mut builder = Client::builder()
            .user_agent(USER_AGENT)
            .redirect(Policy::none())
            // A proxy would resolve the name itself, unjudged.
            .no_proxy();
        if let Host::Domain(name) = &host {
            let addresses = self.checked_addresses(name, &host, allowed, url).await?;
            builder = builder.resolve_to_addrs(name, &addresses);
        }
        builder
            .build()
            .map_err(|error| ToolFailure::failed(format!("No request can be made: {error}.")))
    }

    /// One private address is enough to refuse a name, because we do not choose which one is used.
    async fn checked_addresses(
        &mut self,
        name: &str,
        host: &Host<String>,
        allowed: bool,
        url: &Url,
    ) -> Result<Vec<SocketAddr>, ToolFailure> {
        let lookup = self.lookup;
        let addresses = self
            .in_time(url, async {
                lookup.addresses(name).await.map_err(|e| e.to_string())
            })
            .await?;
        let private_one = addresses.iter().find(|address| !is_public(**address));
        if let Some(address) = private_one.filter(|_| !allowed) {
            return Err(private(host, *address));
        }
        if addresses.is_empty() {
            return Err(ToolFailure::failed(format!("{host} has no address.")));
        }
        // Port 0: the port of the URL is used.
        Ok(addresses
            .into_iter()
            .map(|ip| SocketAddr::new(ip, 0))
            .collect())
    }

    fn is_allowed(&self, host: &Host<String>) -> bool {
        let plain = |name: &str| {
            name.trim_end_matches('.')
                .trim_matches(['[', ']'])
                .to_lowercase()
        };
        let host = plain(&host.to_string());
        self.allowed_hosts
            .iter()
            .any(|allowed| plain(allowed) == host)
    }

    async fn ask(&mut self, host: &Host<String>, url: &Url) -> Result<(), ToolFailure> {
        let Consent::Ask(person) = self.consent else {
            return Ok(());
        };
        let host = host.to_string();
        if self.asked.contains(&host) {
            return Ok(());
        }
        let ask = PermissionAsk::new("webfetch", &host)
            .always(&host)
            .with("url", url.as_str());
        person.ask(ask).await?;
        self.asked.push(host);
        Ok(())
    }

    async fn answer(&mut self, url: Url, mut response: Response) -> Result<Answer, ToolFailure> {
        let status = response.status();
        if !status.is_success() {
            return Err(ToolFailure::failed(format!(
                "{} answered {status}.",
                shown(&url)
            )));
        }
        let header = |name| {
            let value = response.headers().get(name)?;
            value.to_str().ok().map(str::to_owned)
        };
        let content_type = header(CONTENT_TYPE);
        if header(CONTENT_ENCODING).is_some_and(|encoding| encoding != "identity") {
            return Err(ToolFailure::failed(format!(
                "{} answered in a compressed form that was not asked for.",
                shown(&url)
            )));
        }
        let too_large = response
            .content_length()
            .is_some_and(|length| length > MAX_BYTES as u64);
        let mut body = Vec::new();
        while !too_large
            && let Some(chunk) = self
                .in_time(&url, async {
                    response.chunk().await.map_err(|e| unreached(&e))
                })
                .await?
        {
            body.extend_from_slice(&chunk);
            if body.len() > MAX_BYTES {
                break;
            }
        }
        if too_large || body.len() > MAX_BYTES {
            return Err(ToolFailure::failed(format!(
                "{} is larger than 5 MB, so it was not fetched.",
                shown(&url)
            )));
        }
        Ok(Answer {
            url,
            content_type,
            body,
        })
    }

    async fn in_time<T>(
        &mut self,
        url: &Url,
        work: impl Future<Output = Result<T, String>>,
    ) -> Result<T, ToolFailure> {
        let began = Instant::now();
        let result = tokio::select! {
            () = self.cancel.cancelled() => return Err(ToolFailure::aborted()),
            result = tokio::time::timeout(self.left, work) => result,
        };
        self.left = self.left.saturating_sub(began.elapsed());
        match result {
            Ok(Ok(done)) => Ok(done),
            Ok(Err(error)) => Err(ToolFailure::failed(format!(
                "{} couldn’t be fetched: {error}.",
                shown(url)
            ))),
            Err(_) => Err(ToolFailure::failed(format!(
                "{} did not answer in time.",
                shown(url)
            ))),
        }
    }
}

fn checked_host(url: &Url) -> Result<Host<String>, ToolFailure> {
    if !matches!(url.scheme(), "http" | "https") {
        return Err(ToolFailure::failed(format!(
            "Only http and https addresses are fetched, not {}:.",
            url.scheme()
        )));
    }
    // User info before the host can make an address look like another one.
    if !url.username().is_empty() || url.password().is_some() {
        return Err(ToolFailure::failed(
            "An address with a user name or password in it is not fetched.",
        ));
    }
    url.host()
        .map(|host| host.to_owned())
        .ok_or_else(|| ToolFailure::failed("The address names no host."))
}

fn target(url: &Url, response: &Response) -> Result<Url, ToolFailure> {
    let location = response.headers().get(LOCATION);
    location
        .and_then(|location| std::str::from_utf8(location.as_bytes()).ok())
        .and_then(|location| url.join(location).ok())
        .ok_or_else(|| {
            let status = response.status();
            ToolFailure::failed(format!(
                "{} answered {status} without a target.",
                shown(url)
            ))
        })
}

fn private(host: &Host<String>, address: IpAddr) -> ToolFailure {
    ToolFailure::failed(format!(
        "{host} leads to {address}, an address inside a machine or private network. It is not \
         fetched unless the user allows this host in the settings."
    ))
}

fn shown(url: &Url) -> String {
    text::quoted(&text::shortened(url.as_str(), 200))
}

/// The innermost cause: the outer errors only repeat the address.
fn unreached(error: &reqwest::Error) -> String {
    let mut cause: &dyn std::error::Error = error;
    while let Some(inner) = cause.source() {
        cause = inner;
    }
    cause.to_string()
}
