//! The messages of a request, in segments whose encoding is cached.
//!
//! From step to step a conversation only grows at its end, and a long one is expensive to
//! encode. So each segment caches the JSON that a wire has made of it.

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

/// Cheap to clone, because segments are shared.
#[derive(Debug, Clone, Default)]
pub struct Conversation {
    segments: Vec<Arc<Segment>>,
}

/// This many small segments are merged into one: a request is sent segment by segment, and a
/// few large ones are faster than many small ones.
const MERGE_COUNT: usize = if cfg!(test) { 4 } else { 128 };

impl Conversation {
    pub fn push(&mut self, message: ModelMessage) {
        match self.segments.last_mut() {
            Some(last) if !last.can_end_before(&message) => Arc::make_mut(last).push(message),
            _ => {
                self.merge_small_segments();
                self.segments.push(Arc::new(Segment::new(message)));
            }
        }
    }

    /// Segments are independent, so several can be encoded as one with the same result.
    fn merge_small_segments(&mut self) {
        let is_small = |segment: &&Arc<Segment>| segment.messages.len() < MERGE_COUNT;
        let small = self.segments.iter().rev().take_while(is_small).count();
        if small >= MERGE_COUNT {
            let begin = self.segments.len() - small;
            let merged = Segment::merge(self.segments.drain(begin..));
            self.segments.push(Arc::new(merged));
        }
    }

    pub(crate) fn segments(&self) -> &[Arc<Segment>] {
        &self.segments
    }

    /// The encoding of every segment.
    pub(crate) fn encoded(
        &self,
        key: EncodingKey,
        encode: impl Fn(&[ModelMessage]) -> Vec<Value>,
    ) -> Vec<Bytes> {
        let segments = self.segments.iter();
        segments
            .map(|segment| segment.encoded(key, &encode))
            .collect()
    }

    pub fn iter(&self) -> impl DoubleEndedIterator<Item = &ModelMessage> {
        self.segments.iter().flat_map(|segment| segment.messages())
    }

    pub fn message_count(&self) -> usize {
        let segments = self.segments.iter();
        segments.map(|segment| segment.messages.len()).sum()
    }

    /// Keeps the first messages and drops the rest.
    pub fn truncate(&mut self, message_count: usize) {
        let mut surplus = self.message_count().saturating_sub(message_count);
        while surplus > 0
            && let Some(last) = self.segments.last_mut()
        {
            let messages = last.messages.len();
            if messages > surplus {
                Arc::make_mut(last).truncate(messages - surplus);
                return;
            }
            surplus -= messages;
            self.segments.pop();
        }
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

/// Messages whose encoding does not depend on the messages before and after them.
#[derive(Debug, Default)]
pub(crate) struct Segment {
    messages: Vec<ModelMessage>,
    /// The latest encoding, and what it was made for.
    encoded: Mutex<Option<(EncodingKey, Bytes)>>,
}

/// A hash of everything that the encoding of a message depends on besides the message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct EncodingKey(u64);

impl EncodingKey {
    pub fn new(wire: WireKind, model: &ModelInfo) -> Self {
        let mut hasher = DefaultHasher::new();
        wire.hash(&mut hasher);
        serde_json::to_vec(model)
            .unwrap_or_default()
            .hash(&mut hasher);
        Self(hasher.finish())
    }
}

impl Segment {
    fn new(message: ModelMessage) -> Self {
        Self {
            messages: vec![message],
            encoded: Mutex::default(),
        }
    }

    /// If all segments are encoded for the same key, so is the result.
    fn merge(segments: impl Iterator<Item = Arc<Segment>>) -> Self {
        let mut messages = Vec::new();
        let mut encoded: Option<(EncodingKey, Vec<Bytes>)> = None;
        let mut all_encoded = true;
        for segment in segments {
            match (&*segment.encoded.lock(), &mut encoded) {
                (Some((key, bytes)), None) if messages.is_empty() => {
                    encoded = Some((*key, vec![bytes.clone()]));
                }
                (Some((key, bytes)), Some((first_key, lists))) if key == first_key => {
                    lists.push(bytes.clone());
                }
                _ => all_encoded = false,
            }
            match Arc::try_unwrap(segment) {
                Ok(segment) => messages.extend(segment.messages),
                Err(segment) => messages.extend_from_slice(&segment.messages),
            }
        }
        let encoded = encoded.filter(|_| all_encoded);
        let encoded = encoded.map(|(key, lists)| (key, join(&lists)));
        Self {
            messages,
            encoded: Mutex::new(encoded),
        }
    }

    pub fn messages(&self) -> &[ModelMessage] {
        &self.messages
    }

    /// The wire's items for these messages, as JSON separated by commas.
    pub fn encoded(
        &self,
        key: EncodingKey,
        encode: impl FnOnce(&[ModelMessage]) -> Vec<Value>,
    ) -> Bytes {
        let mut encoded = self.encoded.lock();
        if let Some((cached_key, bytes)) = &*encoded
            && *cached_key == key
        {
            return bytes.clone();
        }
        let bytes = encode_items(&encode(&self.messages));
        *encoded = Some((key, bytes.clone()));
        bytes
    }

    fn push(&mut self, message: ModelMessage) {
        self.messages.push(message);
        self.encoded = Mutex::default();
    }

    fn truncate(&mut self, messages: usize) {
        self.messages.truncate(messages);
        self.encoded = Mutex::default();
    }

    /// Wires merge adjacent messages of one role. So a segment must end with user content (tool
    /// results are user content too), and the next one must begin with assistant content.
    fn can_end_before(&self, next: &ModelMessage) -> bool {
        let ends_with_user = match self.messages.last() {
            Some(ModelMessage::User { content }) => content.iter().any(is_not_empty),
            Some(ModelMessage::Assistant { content }) => content.iter().any(is_call),
            None => false,
        };
        let starts_with_assistant = match next {
            ModelMessage::Assistant { content } => {
                content.iter().any(is_always_encoded) && !content.iter().any(has_attachments)
            }
            ModelMessage::User { .. } => false,
        };
        ends_with_user && starts_with_assistant
    }
}

impl Clone for Segment {
    fn clone(&self) -> Self {
        Self {
            messages: self.messages.clone(),
            encoded: Mutex::default(),
        }
    }
}

/// Items of a list as JSON, without the brackets around them.
pub(crate) fn encode_items(items: &[Value]) -> Bytes {
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

/// Concatenates encoded lists without brackets.
fn join(lists: &[Bytes]) -> Bytes {
    let mut joined = Vec::new();
    for list in lists.iter().filter(|list| !list.is_empty()) {
        if !joined.is_empty() {
            joined.push(b',');
        }
        joined.extend_from_slice(list);
    }
    joined.into()
}

fn is_not_empty(content: &UserContent) -> bool {
    match content {
        UserContent::Text { text } => !text.trim().is_empty(),
        UserContent::File(_) => true,
    }
}

fn is_call(content: &AssistantContent) -> bool {
    matches!(content, AssistantContent::ToolCall { .. })
}

/// Some wires drop reasoning, and all drop blank text.
fn is_always_encoded(content: &AssistantContent) -> bool {
    match content {
        AssistantContent::Text { text, .. } => !text.trim().is_empty(),
        AssistantContent::Reasoning { .. } => false,
        AssistantContent::ToolCall { .. } => true,
    }
}

/// Some wires move the attachments of a tool result in front of the assistant message.
fn has_attachments(content: &AssistantContent) -> bool {
    match content {
        AssistantContent::ToolCall { result, .. } => !result.attachments.is_empty(),
        _ => false,
    }
}

#[cfg(test)]
mod tests;
