//! The conversation, cut into passages that are written once.
//!
//! From step to step a conversation only grows at its end, and a long one is large: what a
//! wire has written of a passage is kept with it.

use std::{
    collections::hash_map::DefaultHasher,
    hash::{Hash, Hasher},
    sync::Arc,
};

use bytes::Bytes;
use parking_lot::Mutex;
use serde::{Serialize, Serializer};
use serde_json::Value;

use super::{AssistantContent, ModelMessage, UserContent};
use crate::{model::ModelInfo, wire::WireKind};

/// Cheap to clone: passages are shared.
#[derive(Debug, Clone, Default)]
pub struct Conversation {
    passages: Vec<Arc<Passage>>,
}

/// Where a conversation ended at some time, to go back to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Mark {
    messages: usize,
}

/// So many small passages become one: a request is sent in pieces, and few large ones are
/// sent sooner than many small ones.
const MERGED: usize = if cfg!(test) { 4 } else { 128 };

impl Conversation {
    pub fn push(&mut self, message: ModelMessage) {
        match self.passages.last_mut() {
            Some(last) if !last.can_end_before(&message) => Arc::make_mut(last).push(message),
            _ => {
                self.merge();
                self.passages.push(Arc::new(Passage::of(message)));
            }
        }
    }

    /// Passages that end well can be written together as well as each for itself.
    fn merge(&mut self) {
        let is_small = |passage: &&Arc<Passage>| passage.messages.len() < MERGED;
        let small = self.passages.iter().rev().take_while(is_small).count();
        if small >= MERGED {
            let begin = self.passages.len() - small;
            let merged = Passage::merged(self.passages.drain(begin..));
            self.passages.push(Arc::new(merged));
        }
    }

    pub fn passages(&self) -> &[Arc<Passage>] {
        &self.passages
    }

    pub fn iter(&self) -> impl DoubleEndedIterator<Item = &ModelMessage> {
        self.passages.iter().flat_map(|passage| passage.messages())
    }

    pub fn mark(&self) -> Mark {
        Mark {
            messages: self.len(),
        }
    }

    pub fn go_back_to(&mut self, mark: Mark) {
        let mut surplus = self.len().saturating_sub(mark.messages);
        while surplus > 0
            && let Some(last) = self.passages.last_mut()
        {
            let messages = last.messages.len();
            if messages > surplus {
                Arc::make_mut(last).truncate(messages - surplus);
                return;
            }
            surplus -= messages;
            self.passages.pop();
        }
    }

    fn len(&self) -> usize {
        let passages = self.passages.iter();
        passages.map(|passage| passage.messages.len()).sum()
    }
}

impl Extend<ModelMessage> for Conversation {
    fn extend<I: IntoIterator<Item = ModelMessage>>(&mut self, messages: I) {
        messages.into_iter().for_each(|message| self.push(message));
    }
}

impl From<Vec<ModelMessage>> for Conversation {
    fn from(messages: Vec<ModelMessage>) -> Self {
        let mut conversation = Self::default();
        conversation.extend(messages);
        conversation
    }
}

impl PartialEq for Conversation {
    fn eq(&self, other: &Self) -> bool {
        self.iter().eq(other.iter())
    }
}

impl Serialize for Conversation {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.iter())
    }
}

/// Messages that each wire writes the same whatever is before and after them.
#[derive(Debug, Default)]
pub struct Passage {
    messages: Vec<ModelMessage>,
    written: Mutex<Option<(Writing, Bytes)>>,
}

/// What decides how messages are written, as a hash.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Writing(u64);

impl Writing {
    pub fn of(wire: WireKind, model: &ModelInfo) -> Self {
        let mut hasher = DefaultHasher::new();
        wire.hash(&mut hasher);
        serde_json::to_vec(model)
            .unwrap_or_default()
            .hash(&mut hasher);
        Self(hasher.finish())
    }
}

impl Passage {
    fn of(message: ModelMessage) -> Self {
        Self {
            messages: vec![message],
            written: Mutex::default(),
        }
    }

    /// What was written of each is written of the whole.
    fn merged(passages: impl Iterator<Item = Arc<Passage>>) -> Self {
        let mut messages = Vec::new();
        let mut written: Option<(Writing, Vec<Bytes>)> = None;
        let mut is_written = true;
        for passage in passages {
            match (&*passage.written.lock(), &mut written) {
                (Some((of, bytes)), None) if messages.is_empty() => {
                    written = Some((*of, vec![bytes.clone()]));
                }
                (Some((of, bytes)), Some((so_far, pieces))) if of == so_far => {
                    pieces.push(bytes.clone());
                }
                _ => is_written = false,
            }
            match Arc::try_unwrap(passage) {
                Ok(passage) => messages.extend(passage.messages),
                Err(passage) => messages.extend_from_slice(&passage.messages),
            }
        }
        let written = written.filter(|_| is_written);
        let written = written.map(|(of, pieces)| (of, join(&pieces)));
        Self {
            messages,
            written: Mutex::new(written),
        }
    }

    pub fn messages(&self) -> &[ModelMessage] {
        &self.messages
    }

    /// The wire's items for these messages, as JSON with commas between.
    pub fn written(
        &self,
        writing: Writing,
        encode: impl FnOnce(&[ModelMessage]) -> Vec<Value>,
    ) -> Bytes {
        let mut written = self.written.lock();
        if let Some((of, bytes)) = &*written
            && *of == writing
        {
            return bytes.clone();
        }
        let bytes = write_items(&encode(&self.messages));
        *written = Some((writing, bytes.clone()));
        bytes
    }

    fn push(&mut self, message: ModelMessage) {
        self.messages.push(message);
        self.written = Mutex::default();
    }

    fn truncate(&mut self, messages: usize) {
        self.messages.truncate(messages);
        self.written = Mutex::default();
    }

    /// Wires join neighbours of one role, so a passage ends with something of the user's
    /// and the next begins with something of the model's.
    fn can_end_before(&self, next: &ModelMessage) -> bool {
        let ends = match self.messages.last() {
            Some(ModelMessage::User { content }) => content.iter().any(is_said),
            Some(ModelMessage::Assistant { content }) => content.iter().any(is_call),
            None => false,
        };
        let begins = match next {
            ModelMessage::Assistant { content } => {
                content.iter().any(is_shown) && !content.iter().any(has_files)
            }
            ModelMessage::User { .. } => false,
        };
        ends && begins
    }
}

impl Clone for Passage {
    fn clone(&self) -> Self {
        Self {
            messages: self.messages.clone(),
            written: Mutex::default(),
        }
    }
}

/// Items of a list as JSON, without the brackets around them.
pub fn write_items(items: &[Value]) -> Bytes {
    let mut bytes = Vec::new();
    for (at, item) in items.iter().enumerate() {
        if at > 0 {
            bytes.push(b',');
        }
        // Writing a value into memory cannot fail.
        let _ = serde_json::to_writer(&mut bytes, item);
    }
    bytes.into()
}

/// Written pieces of a list, one after the other.
fn join(pieces: &[Bytes]) -> Bytes {
    let mut joined = Vec::new();
    for piece in pieces.iter().filter(|piece| !piece.is_empty()) {
        if !joined.is_empty() {
            joined.push(b',');
        }
        joined.extend_from_slice(piece);
    }
    joined.into()
}

fn is_said(content: &UserContent) -> bool {
    match content {
        UserContent::Text { text } => !text.trim().is_empty(),
        UserContent::File(_) => true,
    }
}

fn is_call(content: &AssistantContent) -> bool {
    matches!(content, AssistantContent::ToolCall { .. })
}

fn is_shown(content: &AssistantContent) -> bool {
    match content {
        AssistantContent::Text { text, .. } => !text.trim().is_empty(),
        AssistantContent::Reasoning { .. } => false,
        AssistantContent::ToolCall { .. } => true,
    }
}

/// Files of a result go before the model's message on wires that cannot carry them there.
fn has_files(content: &AssistantContent) -> bool {
    match content {
        AssistantContent::ToolCall { result, .. } => !result.attachments.is_empty(),
        _ => false,
    }
}

#[cfg(test)]
mod tests;
