//! Ids that are derived from those of the other program: the same record always gets the same id.
//!
//! They have the form of our own ids, so they sort by time like these. The tail is a hash.

use lathe_protocol::{BadId, MessageId, Millis, PartId, SessionId, Tick};
use sha2::{Digest, Sha256};

const LOW_48: u64 = (1 << 48) - 1;
/// Begins the tail of every derived id, so that a message written here can be told from one that
/// was imported.
const MARK: &str = "Imp";

pub fn session(scope: &str, created: Millis) -> Result<SessionId, BadId> {
    let tick = !Tick::at(created).0 & LOW_48;
    SessionId::parse(&format!("ses_{tick:012x}{}", tail(&[scope])))
}

pub fn message(scope: &str, key: &str, tick: u64) -> Result<MessageId, BadId> {
    MessageId::parse(&format!(
        "msg_{:012x}{}",
        tick & LOW_48,
        tail(&[scope, key])
    ))
}

/// `index` is the position in the message; the ids of its parts ascend.
pub fn part(scope: &str, key: &str, tick: u64, index: u64) -> Result<PartId, BadId> {
    let tail = tail(&[scope, key, &index.to_string()]);
    PartId::parse(&format!("prt_{:012x}{tail}", (tick + index) & LOW_48))
}

/// Whether a message was imported, and not written here.
pub fn is_imported(message: &MessageId) -> bool {
    let text = message.as_str();
    text.len() == 30 && text.get(16..19) == Some(MARK)
}

fn tail(parts: &[&str]) -> String {
    const BASE62: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
    let mut hash = Sha256::new();
    for part in parts {
        hash.update((part.len() as u64).to_le_bytes());
        hash.update(part.as_bytes());
    }
    let digest = hash.finalize();
    let characters = digest
        .iter()
        .take(11)
        .map(|byte| char::from(BASE62[usize::from(*byte) % 62]));
    MARK.chars().chain(characters).collect()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;
    use lathe_protocol::{IdSource, serial_cmp};
    use std::cmp::Ordering;

    #[test]
    fn an_id_is_the_same_each_time_and_sorts_by_its_time() {
        let at = |ms| Tick::at(Millis(ms)).0;
        let first = message("a", "1", at(1_790_000_000_000)).unwrap();
        assert_eq!(first, message("a", "1", at(1_790_000_000_000)).unwrap());
        let later = message("a", "2", at(1_790_000_000_001)).unwrap();
        assert_eq!(serial_cmp(first.as_str(), later.as_str()), Ordering::Less);
        assert_ne!(
            message("a", "12", 5).unwrap(),
            message("a1", "2", 5).unwrap()
        );
    }

    #[test]
    fn only_derived_ids_are_recognised() {
        let ours = IdSource::new(Tick(0)).message(Millis(1_790_000_000_000));
        assert!(!is_imported(&ours));
        assert!(is_imported(&message("a", "1", 7).unwrap()));
    }
}
