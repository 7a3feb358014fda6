//! What a whole session holds and cost, also where nobody has scrolled to.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use lathe_protocol::{
    AssistantMessage, CacheTokens, Count, FilePart, Message, MessageId, MessageWithParts, Part,
    PartId, SessionId, TokenUsage, ipc::SessionUsage,
};
use lathe_tools::webfetch;
use parking_lot::Mutex;
use rust_decimal::Decimal;
use rust_decimal::prelude::{FromPrimitive, ToPrimitive};

use super::Sessions;
use crate::error::{Failed, Result};

/// Messages read at once while looking for files.
const PAGE: usize = 200;

/// What each finished answer of a session cost; those are never read again.
pub type Counted = HashMap<MessageId, Spent>;

#[derive(Debug, Clone, Default)]
pub struct Spent {
    cost: Decimal,
    tokens: TokenUsage,
}

impl Sessions {
    /// An attachment by its id: a part of its own, or what a tool call brought along.
    pub async fn attachment(
        &self,
        session: &SessionId,
        message: &MessageId,
        part: &PartId,
    ) -> Result<Option<FilePart>> {
        if let Some(Part::File(file)) = self.part(session, message, part).await? {
            return Ok(Some(file));
        }
        let parts = self.core.records.store().parts(message).await?.items;
        let found = parts.into_iter().find_map(|one| match one {
            Part::Tool(tool) if tool.session_id == *session => tool
                .attachments()
                .iter()
                .find(|file| file.id == *part)
                .cloned(),
            _ => None,
        });
        Ok(found)
    }

    /// A picture of the web that the person clicked on, as bytes nobody has looked at yet.
    pub async fn fetch_picture(&self, url: &str) -> Result<Vec<u8>> {
        let hosts = self.core.environment.private_hosts();
        let fetched = webfetch::fetch_asked_for(url, hosts, &webfetch::SystemLookup).await;
        fetched.map_err(|failure| Failed::refused(failure.to_string()))
    }

    /// Every attachment of a session that `keep` wants, oldest first.
    pub async fn attachments<T>(
        &self,
        id: &SessionId,
        mut keep: impl FnMut(&FilePart) -> Option<T>,
    ) -> Result<Vec<T>> {
        let mut found = Vec::new();
        let mut before: Option<MessageId> = None;
        loop {
            let page = self.messages(id, before.as_ref(), PAGE).await?;
            // Newest first, as the pages come; turned at the end.
            for message in page.messages.iter().rev() {
                found.extend(files(message).rev().filter_map(&mut keep));
            }
            before = page.messages.first().map(|one| one.info.id().clone());
            if !page.has_older || before.is_none() {
                found.reverse();
                return Ok(found);
            }
        }
    }

    /// All the answers of a session added up, in decimal.
    pub async fn usage(&self, id: &SessionId) -> Result<SessionUsage> {
        let mut counted = self.core.spent.lock().get(id).cloned().unwrap_or_default();
        let present = Arc::new(Mutex::new(HashSet::new()));
        let (seen, noted) = (counted.clone(), present.clone());
        let unseen = move |one: &MessageId| {
            noted.lock().insert(one.clone());
            !seen.contains_key(one)
        };
        let fresh = self.core.records.store().message_infos(id, unseen).await?;
        // What a revert took away is no longer part of the session.
        counted.retain(|one, _| present.lock().contains(one));
        let mut running = Vec::new();
        for message in fresh {
            let Message::Assistant(answer) = message else {
                continue;
            };
            match answer.time.completed {
                Some(_) => drop(counted.insert(answer.id.clone(), spent(&answer))),
                None => running.push(spent(&answer)),
            }
        }
        let usage = add_up(id, counted.values().chain(&running));
        self.core.spent.lock().insert(id.clone(), counted);
        Ok(usage)
    }
}

fn files(message: &MessageWithParts) -> impl DoubleEndedIterator<Item = &FilePart> {
    message.parts.iter().flat_map(|part| match part {
        Part::File(file) => std::slice::from_ref(file),
        Part::Tool(tool) => tool.attachments(),
        _ => &[],
    })
}

fn spent(answer: &AssistantMessage) -> Spent {
    Spent {
        // What is no number was never a price.
        cost: Decimal::from_f64(answer.cost).unwrap_or_default(),
        tokens: answer.tokens.clone(),
    }
}

fn add_up<'a>(id: &SessionId, all: impl Iterator<Item = &'a Spent>) -> SessionUsage {
    let (mut cost, mut tokens, mut steps) = (Decimal::ZERO, TokenUsage::default(), 0);
    for one in all {
        cost = cost.saturating_add(one.cost);
        add_tokens(&mut tokens, &one.tokens);
        steps += 1;
    }
    SessionUsage {
        session_id: id.clone(),
        cost: cost.to_f64().unwrap_or_default(),
        tokens,
        steps: Count(steps),
    }
}

fn add_tokens(total: &mut TokenUsage, more: &TokenUsage) {
    let add = |a: &mut Count, b: Count| a.0 = a.0.saturating_add(b.0);
    add(&mut total.input, more.input);
    add(&mut total.output, more.output);
    add(&mut total.reasoning, more.reasoning);
    let CacheTokens { read, write, .. } = &more.cache;
    add(&mut total.cache.read, *read);
    add(&mut total.cache.write, *write);
}
