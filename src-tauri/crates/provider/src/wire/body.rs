//! The body of a request: an object, one list of which is written already.

use bytes::Bytes;
use serde::{Serialize, Serializer};
use serde_json::{Map, Value};

/// A piece of this size is worth a call of its own.
const LARGE: usize = 16 * 1024;

/// A JSON object. The conversation in it comes in written pieces, so that what was written
/// for the step before is only copied.
#[derive(Debug, Clone)]
pub struct Body {
    fields: Map<String, Value>,
    conversation: &'static str,
    /// Items with commas between them; each piece holds any number of items.
    pieces: Vec<Bytes>,
}

impl Body {
    /// The conversation's field is there with nothing in it; where the user's config has put
    /// something into it, that is sent instead.
    pub fn new(fields: Map<String, Value>, conversation: &'static str, pieces: Vec<Bytes>) -> Self {
        Self {
            fields,
            conversation,
            pieces,
        }
    }

    /// The bytes to send, in order. What is large already is not copied.
    pub fn chunks(&self) -> Vec<Bytes> {
        let mut out = Chunks::default();
        let mut before = b'{';
        for (name, value) in &self.fields {
            out.open.push(before);
            before = b',';
            out.write(name);
            out.open.push(b':');
            match value {
                Value::Null if name == self.conversation => self.write_pieces(&mut out),
                value => out.write(value),
            }
        }
        if before == b'{' {
            out.open.push(before);
        }
        out.open.push(b'}');
        out.finish()
    }

    fn write_pieces(&self, out: &mut Chunks) {
        let mut before = b'[';
        for piece in self.pieces.iter().filter(|piece| !piece.is_empty()) {
            out.open.push(before);
            before = b',';
            out.add(piece);
        }
        if before == b'[' {
            out.open.push(before);
        }
        out.open.push(b']');
    }

    /// For people and tests to look at.
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

    fn add(&mut self, piece: &Bytes) {
        if piece.len() < LARGE {
            self.open.extend_from_slice(piece);
        } else {
            self.done.push(std::mem::take(&mut self.open).into());
            self.done.push(piece.clone());
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
