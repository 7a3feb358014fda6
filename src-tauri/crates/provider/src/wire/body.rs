//! The body of a request: an object, one list of which is written already.

use bytes::Bytes;
use serde::{Serialize, Serializer};
use serde_json::{Map, Value};

/// System prompt and tools, mostly.
const ROOM_FOR_THE_REST: usize = 64 * 1024;

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

    pub fn to_bytes(&self) -> Vec<u8> {
        let pieces: usize = self.pieces.iter().map(|piece| piece.len() + 1).sum();
        let mut bytes = Vec::with_capacity(pieces + ROOM_FOR_THE_REST);
        let mut before = b'{';
        for (name, value) in &self.fields {
            bytes.push(before);
            before = b',';
            write(&mut bytes, name);
            bytes.push(b':');
            match value {
                Value::Null if name == self.conversation => self.write_pieces(&mut bytes),
                value => write(&mut bytes, value),
            }
        }
        bytes.push(b'}');
        bytes
    }

    fn write_pieces(&self, bytes: &mut Vec<u8>) {
        let mut before = b'[';
        for piece in self.pieces.iter().filter(|piece| !piece.is_empty()) {
            bytes.push(before);
            before = b',';
            bytes.extend_from_slice(piece);
        }
        if before == b'[' {
            bytes.push(before);
        }
        bytes.push(b']');
    }

    /// For people and tests to look at.
    pub fn to_value(&self) -> Value {
        serde_json::from_slice(&self.to_bytes()).unwrap_or_default()
    }
}

/// Writing a value into memory cannot fail.
fn write(bytes: &mut Vec<u8>, value: &(impl Serialize + ?Sized)) {
    let _ = serde_json::to_writer(bytes, value);
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
