//! The order of a session's messages, known without reading them all.
//!
//! A small derived file per session has the time and id of every message, oldest first, and is
//! read from its end. It is used only if the modification time of the message folder is the same
//! as when the folder was listed, and only if that listing happened well after the folder's last
//! change: within the resolution of the file system's clock, another program could have added a
//! message without changing the modification time. Otherwise the folder is listed again, and only
//! new messages are read.

use std::collections::HashMap;
use std::path::PathBuf;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use lathe_protocol::{MessageId, Millis, SessionId, sort_serially, timestamp};
use serde::Deserialize;

use crate::error::{IoContext, Result, optional};
use crate::json_format;
use crate::key::Key;
use crate::parallel;
use crate::storage::Storage;
use crate::validate::fingerprint;

const MAGIC: &[u8; 8] = b"order 1\n";
const HEADER: usize = 8 + 8 + 16;
/// Longer than the resolution of any known file system's clock (two seconds on FAT).
const CLOCK_RESOLUTION: Duration = Duration::from_secs(3);

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct OrderEntry {
    pub(crate) created: Millis,
    pub(crate) id: MessageId,
}

/// The order as bytes; an entry is decoded only when it is asked for.
pub(crate) struct MessageOrder(Vec<u8>);

impl MessageOrder {
    /// From the newest message to the oldest.
    pub(crate) fn newest_first(&self) -> impl Iterator<Item = OrderEntry> {
        let mut rest = &self.0[HEADER..];
        std::iter::from_fn(move || {
            let (entry, before) = last_entry(rest)?;
            rest = before;
            Some(entry)
        })
    }

    fn encode(entries: &[OrderEntry], changed: u128) -> MessageOrder {
        let mut body = changed.to_le_bytes().to_vec();
        for entry in entries {
            let id = entry.id.as_str().as_bytes();
            body.extend_from_slice(&entry.created.0.to_le_bytes());
            body.extend_from_slice(id);
            // An id is at most 84 bytes long.
            body.push(u8::try_from(id.len()).unwrap_or(u8::MAX));
        }
        let mut bytes = MAGIC.to_vec();
        bytes.extend_from_slice(&fingerprint(&body).to_le_bytes());
        bytes.extend_from_slice(&body);
        MessageOrder(bytes)
    }

    fn decode(bytes: Vec<u8>) -> Option<MessageOrder> {
        let (magic, rest) = bytes.split_first_chunk::<8>()?;
        let (sum, body) = rest.split_first_chunk::<8>()?;
        let is_valid =
            magic == MAGIC && body.len() >= 16 && u64::from_le_bytes(*sum) == fingerprint(body);
        is_valid.then_some(MessageOrder(bytes))
    }

    /// Modification time of the folder before it was listed; zero if it was too recent to be relied
    /// on.
    fn folder_changed(&self) -> u128 {
        self.0
            .get(16..32)
            .and_then(|at| at.try_into().ok())
            .map_or(0, u128::from_le_bytes)
    }
}

fn last_entry(bytes: &[u8]) -> Option<(OrderEntry, &[u8])> {
    let (len, rest) = bytes.split_last()?;
    let (rest, id) = rest.split_at_checked(rest.len().checked_sub(usize::from(*len))?)?;
    let (rest, created) = rest.split_last_chunk::<8>()?;
    let id = MessageId::parse(std::str::from_utf8(id).ok()?).ok()?;
    Some((
        OrderEntry {
            created: Millis(i64::from_le_bytes(*created)),
            id,
        },
        rest,
    ))
}

#[derive(Deserialize)]
struct MessageTime {
    time: Created,
}

#[derive(Deserialize)]
struct Created {
    created: Millis,
}

impl Storage {
    pub(crate) fn message_order(&self, session: &SessionId) -> Result<MessageOrder> {
        let changed = self.message_folder_changed(session)?;
        match self.stored_order(session) {
            Some(order) if order.folder_changed() == changed => Ok(order),
            stale => self.build_order(session, stale, changed),
        }
    }

    /// Reads every message again and ignores the stored order.
    pub(crate) fn rebuild_order(&self, session: &SessionId) -> Result<MessageOrder> {
        let changed = self.message_folder_changed(session)?;
        self.build_order(session, None, changed)
    }

    /// When a message was last added or removed; now, if there is no message folder.
    fn message_folder_changed(&self, session: &SessionId) -> Result<u128> {
        let folder = Key::new(["message", session.as_str()])?.folder(&self.dirs.tree);
        let metadata = optional(self.fs.metadata(&folder)).doing("looking at", &folder)?;
        let modified = metadata.map_or_else(SystemTime::now, |metadata| metadata.modified);
        Ok(since_epoch(modified).as_nanos())
    }

    pub(crate) fn remove_order(&self, session: &SessionId) -> Result<()> {
        let path = self.order_path(session);
        optional(self.fs.remove_file(&path))
            .doing("removing", &path)
            .map(drop)
    }

    fn stored_order(&self, session: &SessionId) -> Option<MessageOrder> {
        let mut bytes = Vec::new();
        self.fs.read(&self.order_path(session), &mut bytes).ok()?;
        MessageOrder::decode(bytes)
    }

    fn build_order(
        &self,
        session: &SessionId,
        stale: Option<MessageOrder>,
        changed: u128,
    ) -> Result<MessageOrder> {
        let is_reliable = SystemTime::now()
            .checked_sub(CLOCK_RESOLUTION)
            .is_some_and(|then| changed < since_epoch(then).as_nanos());
        let folder = Key::new(["message", session.as_str()])?;
        let names = self.record_names(&folder.folder(&self.dirs.tree))?;
        let known: HashMap<String, Millis> = stale
            .iter()
            .flat_map(MessageOrder::newest_first)
            .map(|entry| (entry.id.as_str().to_owned(), entry.created))
            .collect();
        let ids: Vec<MessageId> = names
            .iter()
            .filter_map(|name| MessageId::parse(name).ok())
            .collect();
        let mut entries = parallel::map(&ids, |id, buffer| OrderEntry {
            created: match known.get(id.as_str()) {
                Some(created) => *created,
                None => self.read_created(&folder, id, buffer),
            },
            id: id.clone(),
        });
        sort_messages(&mut entries);
        let order = MessageOrder::encode(&entries, if is_reliable { changed } else { 0 });
        if self.write_state.is_some()
            && !entries.is_empty()
            && let Err(error) = self.write_atomically(&self.order_path(session), &order.0, false)
        {
            tracing::debug!(%error, "the order of a session's messages could not be stored");
        }
        Ok(order)
    }

    /// When a message was created. If it cannot be read, its id says when.
    fn read_created(&self, folder: &Key, id: &MessageId, buffer: &mut Vec<u8>) -> Millis {
        let path = folder.folder(&self.dirs.tree).join(format!("{id}.json"));
        let read = self.fs.read(&path, buffer).ok();
        match read.and_then(|()| json_format::from_bytes::<MessageTime>(buffer).ok()) {
            Some(message) => message.time.created,
            None => {
                let modified = self
                    .fs
                    .metadata(&path)
                    .map_or_else(|_| SystemTime::now(), |metadata| metadata.modified);
                let reference = Millis(since_epoch(modified).as_millis() as i64);
                timestamp(id.as_str(), reference).unwrap_or(reference)
            }
        }
    }

    fn order_path(&self, session: &SessionId) -> PathBuf {
        self.dirs.index.join(format!("{session}.order"))
    }
}

/// Sorts by time, then by id. Ids are compared only among messages of the same millisecond.
pub(crate) fn sort_messages(entries: &mut [OrderEntry]) {
    entries.sort_by_key(|entry| entry.created);
    for run in entries.chunk_by_mut(|a, b| a.created == b.created) {
        if let [first, _, ..] = run {
            let anchor = first.id.as_str().to_owned();
            sort_serially(run, &anchor, |entry| entry.id.as_str());
        }
    }
}

fn since_epoch(time: SystemTime) -> Duration {
    time.duration_since(UNIX_EPOCH).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(created: i64, id: &str) -> OrderEntry {
        OrderEntry {
            created: Millis(created),
            id: MessageId::parse(id).unwrap(),
        }
    }

    #[test]
    fn an_order_is_read_from_its_end_and_damage_is_detected() {
        let entries = [
            entry(1, "msg_a"),
            entry(-5, "msg_bb"),
            entry(i64::MAX, "msg_ccc"),
        ];
        let order = MessageOrder::encode(&entries, 77);
        assert_eq!(order.folder_changed(), 77);
        let back: Vec<_> = order.newest_first().collect();
        assert_eq!(
            back,
            [entries[2].clone(), entries[1].clone(), entries[0].clone()]
        );
        for at in 0..order.0.len() {
            let mut bytes = order.0.clone();
            bytes[at] ^= 1;
            assert!(
                MessageOrder::decode(bytes).is_none(),
                "a flipped bit at {at} was not detected"
            );
            assert!(MessageOrder::decode(order.0[..at].to_vec()).is_none());
        }
    }

    #[test]
    fn messages_of_one_millisecond_are_sorted_by_id_also_where_ids_wrap() {
        let mut entries = [
            entry(5, "msg_000000000001aaaaaaaaaaaaaa"),
            entry(9, "msg_000000000000aaaaaaaaaaaaaa"),
            entry(5, "msg_ffffffffffffaaaaaaaaaaaaaa"),
            entry(1, "msg_000000000002aaaaaaaaaaaaaa"),
        ];
        sort_messages(&mut entries);
        let times: Vec<_> = entries
            .iter()
            .map(|entry| entry.id.as_str()[4..16].to_owned())
            .collect();
        assert_eq!(
            times,
            [
                "000000000002",
                "ffffffffffff",
                "000000000001",
                "000000000000"
            ]
        );
    }
}
