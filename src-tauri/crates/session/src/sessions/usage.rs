//! Tokens and cost of a whole session.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use lathe_protocol::{
    AssistantMessage, CacheTokens, Count, Message, MessageId, SessionId, TokenUsage,
    ipc::SessionUsage,
};
use parking_lot::Mutex;
use rust_decimal::Decimal;
use rust_decimal::prelude::{FromPrimitive, ToPrimitive};

use super::Sessions;
use lathe_records::Result;

/// The sessions whose costs are remembered; of more, they are read again.
const MOST_COUNTED: usize = 64;

/// The cost of each message that is final: finished answers, and prompts (`None`), which cost
/// nothing. They are read only once.
#[derive(Debug, Default)]
pub struct CountedMessages(Arc<Mutex<HashMap<MessageId, Option<Usage>>>>);

#[derive(Debug, Clone, Default)]
struct Usage {
    cost: Decimal,
    tokens: TokenUsage,
}

impl Sessions {
    /// All the answers of a session added up, in decimal.
    pub async fn usage(&self, id: &SessionId) -> Result<SessionUsage> {
        let counted = {
            let mut all = self.counted.lock();
            if all.len() >= MOST_COUNTED && !all.contains_key(id) {
                all.clear();
            }
            all.entry(id.clone()).or_default().0.clone()
        };
        let present = Arc::new(Mutex::new(HashSet::new()));
        let (known, noted) = (counted.clone(), present.clone());
        let unseen = move |one: &MessageId| {
            noted.lock().insert(one.clone());
            !known.lock().contains_key(one)
        };
        let fresh = self.core.records.store().message_infos(id, unseen).await?;
        let mut counted = counted.lock();
        // Messages that a revert removed no longer count.
        let present = present.lock();
        counted.retain(|one, _| present.contains(one));
        let mut running = Vec::new();
        for message in fresh {
            match message {
                Message::Assistant(answer) if answer.time.completed.is_none() => {
                    running.push(usage(&answer));
                }
                Message::Assistant(answer) => {
                    let usage = usage(&answer);
                    counted.insert(answer.id, Some(usage));
                }
                other => drop(counted.insert(other.id().clone(), None)),
            }
        }
        Ok(add_up(id, counted.values().flatten().chain(&running)))
    }
}

fn usage(answer: &AssistantMessage) -> Usage {
    Usage {
        // Not a number: the provider sent no valid price.
        cost: Decimal::from_f64(answer.cost).unwrap_or_default(),
        tokens: answer.tokens.clone(),
    }
}

fn add_up<'a>(id: &SessionId, all: impl Iterator<Item = &'a Usage>) -> SessionUsage {
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
