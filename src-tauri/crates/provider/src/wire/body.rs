//! The body of a request: a JSON object in which one list is already encoded.

use bytes::Bytes;
use serde::{Serialize, Serializer};
use serde_json::{Map, Value};

/// A segment of at least this size is sent as a chunk of its own instead of being copied.
const LARGE: usize = 16 * 1024;

/// A JSON object. The conversation in it is given as encoded segments, so that the segments of
/// earlier steps need not be encoded again.
#[derive(Debug, Clone)]
pub struct Body {
    fields: Map<String, Value>,
    conversation: &'static str,
    /// Each holds any number of list items, separated by commas.
    segments: Vec<Bytes>,
}

impl Body {
    /// `fields` has null in the `conversation` field. If the user's config has set the field to
    /// something else, that is sent instead.
    pub fn new(
        fields: Map<String, Value>,
        conversation: &'static str,
        segments: Vec<Bytes>,
    ) -> Self {
        Self {
            fields,
            conversation,
            segments,
        }
    }

    /// The bytes to send, in order. Large segments are not copied.
    pub fn chunks(&self) -> Vec<Bytes> {
        let mut out = Chunks::default();
        let mut separator = b'{';
        for (name, value) in &self.fields {
            out.open.push(separator);
            separator = b',';
            out.write(name);
            out.open.push(b':');
            match value {
                Value::Null if name == self.conversation => self.write_segments(&mut out),
                value => out.write(value),
            }
        }
        if separator == b'{' {
            out.open.push(separator);
        }
        out.open.push(b'}');
        out.finish()
    }

    fn write_segments(&self, out: &mut Chunks) {
        let mut separator = b'[';
        for segment in self.segments.iter().filter(|segment| !segment.is_empty()) {
            out.open.push(separator);
            separator = b',';
            out.add(segment);
        }
        if separator == b'[' {
            out.open.push(separator);
        }
        out.open.push(b']');
    }

    /// For display and for tests.
    pub fn to_value(&self) -> Value {
        serde_json::from_slice(&self.chunks().concat()).unwrap_or_default()
    }
}

#[derive(Default)]
struct Chunks {
    done: Vec<Bytes>,
    open: Vec<u8>,
}

impl Chunks {
    fn write(&mut self, value: &(impl Serialize + ?Sized)) {
        // Writing a value into memory cannot fail.
        let _ = serde_json::to_writer(&mut self.open, value);
    }

    fn add(&mut self, segment: &Bytes) {
        if segment.len() < LARGE {
            self.open.extend_from_slice(segment);
        } else {
            self.done.push(std::mem::take(&mut self.open).into());
            self.done.push(segment.clone());
        }
    }

    fn finish(mut self) -> Vec<Bytes> {
        self.done.push(self.open.into());
        self.done
    }
}

impl PartialEq for Body {
    fn eq(&self, other: &Self) -> bool {
        self.to_value() == other.to_value()
    }
}

impl Serialize for Body {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.to_value().serialize(serializer)
    }
}
