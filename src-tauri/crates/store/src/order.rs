//! In which order the messages of a session come, without reading them all.
//!
//! Derived and disposable: a small file per session with every message's time and id, oldest
//! first, read from its end. It is trusted only while the message folder is exactly as it was
//! when the folder was listed, and only if that listing happened well after the folder's last
//! change: within the clock's grain, another program could have added a message that the
//! folder's time does not show. Otherwise the folder is listed again and only messages that
//! are new are read.

use std::collections::HashMap;
use std::path::PathBuf;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use lathe_protocol::{MessageId, Millis, SessionId, sort_serially, timestamp};
use serde::Deserialize;

use crate::damage::fingerprint;
use crate::error::{IoContext, Result, optional};
use crate::key::Key;
use crate::parallel;
use crate::spelling;
use crate::storage::Storage;

const MAGIC: &[u8; 8] = b"order 1\n";
const HEADER: usize = 8 + 8 + 16;
/// Coarser than any file system's clock that we know of (FAT counts in two seconds).
const GRAIN: Duration = Duration::from_secs(3);

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Place {
    pub(crate) created: Millis,
    pub(crate) id: MessageId,
}

/// The order as bytes; places are decoded only where they are asked for.
pub(crate) struct Order(Vec<u8>);

impl Order {
    /// From the newest message to the oldest.
    pub(crate) fn newest_first(&self) -> impl Iterator<Item = Place> {
        let mut rest = &self.0[HEADER..];
        std::iter::from_fn(move || {
            let (place, before) = last_place(rest)?;
            rest = before;
            Some(place)
        })
    }

    fn encode(places: &[Place], changed: u128) -> Order {
        let mut body = changed.to_le_bytes().to_vec();
        for place in places {
            let id = place.id.as_str().as_bytes();
            body.extend_from_slice(&place.created.0.to_le_bytes());
            body.extend_from_slice(id);
            // Ids are at most 84 bytes long.
            body.push(u8::try_from(id.len()).unwrap_or(u8::MAX));
        }
        let mut bytes = MAGIC.to_vec();
        bytes.extend_from_slice(&fingerprint(&body).to_le_bytes());
        bytes.extend_from_slice(&body);
        Order(bytes)
    }

    fn decode(bytes: Vec<u8>) -> Option<Order> {
        let (magic, rest) = bytes.split_first_chunk::<8>()?;
        let (sum, body) = rest.split_first_chunk::<8>()?;
        let whole =
            magic == MAGIC && body.len() >= 16 && u64::from_le_bytes(*sum) == fingerprint(body);
        whole.then_some(Order(bytes))
    }

    /// When the folder last changed before it was listed; zero where that was too recent.
    fn changed(&self) -> u128 {
        self.0
            .get(16..32)
            .and_then(|at| at.try_into().ok())
            .map_or(0, u128::from_le_bytes)
    }
}

fn last_place(bytes: &[u8]) -> Option<(Place, &[u8])> {
    let (len, rest) = bytes.split_last()?;
    let (rest, id) = rest.split_at_checked(rest.len().checked_sub(usize::from(*len))?)?;
    let (rest, created) = rest.split_last_chunk::<8>()?;
    let id = MessageId::parse(std::str::from_utf8(id).ok()?).ok()?;
    Some((
        Place {
            created: Millis(i64::from_le_bytes(*created)),
            id,
        },
        rest,
    ))
}

#[derive(Deserialize)]
struct Dated {
    time: Created,
}

#[derive(Deserialize)]
struct Created {
    created: Millis,
}

impl Storage {
    pub(crate) fn order(&self, session: &SessionId) -> Result<Order> {
        let changed = self.changed(session)?;
        match self.stored_order(session) {
            Some(order) if order.changed() == changed => Ok(order),
            stale => self.list_order(session, stale, changed),
        }
    }

    /// Reads every message again, whatever is stored.
    pub(crate) fn rebuild_order(&self, session: &SessionId) -> Result<Order> {
        let changed = self.changed(session)?;
        self.list_order(session, None, changed)
    }

    /// When a message was last added or taken away; now, if there are none.
    fn changed(&self, session: &SessionId) -> Result<u128> {
        let folder = Key::new(["message", session.as_str()])?.folder(&self.places.tree);
        let stamp = optional(self.fs.stat(&folder)).doing("looking at", &folder)?;
        let modified = stamp.map_or_else(SystemTime::now, |stamp| stamp.modified);
        Ok(since_epoch(modified).as_nanos())
    }

    pub(crate) fn forget_order(&self, session: &SessionId) -> Result<()> {
        let path = self.order_path(session);
        optional(self.fs.remove_file(&path))
            .doing("removing", &path)
            .map(drop)
    }

    fn stored_order(&self, session: &SessionId) -> Option<Order> {
        let mut bytes = Vec::new();
        self.fs.read(&self.order_path(session), &mut bytes).ok()?;
        Order::decode(bytes)
    }

    fn list_order(
        &self,
        session: &SessionId,
        stale: Option<Order>,
        changed: u128,
    ) -> Result<Order> {
        let settled = SystemTime::now()
            .checked_sub(GRAIN)
            .is_some_and(|then| changed < since_epoch(then).as_nanos());
        let folder = Key::new(["message", session.as_str()])?;
        let names = self.names(&folder.folder(&self.places.tree))?;
        let known: HashMap<String, Millis> = stale
            .iter()
            .flat_map(Order::newest_first)
            .map(|place| (place.id.as_str().to_owned(), place.created))
            .collect();
        let ids: Vec<MessageId> = names
            .iter()
            .filter_map(|name| MessageId::parse(name).ok())
            .collect();
        let mut places = parallel::map(&ids, |id, buffer| Place {
            created: match known.get(id.as_str()) {
                Some(created) => *created,
                None => self.date(&folder, id, buffer),
            },
            id: id.clone(),
        });
        arrange(&mut places);
        let order = Order::encode(&places, if settled { changed } else { 0 });
        if self.writing.is_some()
            && !places.is_empty()
            && let Err(error) = self.put(&self.order_path(session), &order.0, false)
        {
            tracing::debug!(%error, "a session's order is not kept");
        }
        Ok(order)
    }

    /// A message that cannot be read stands where its id says it was made.
    fn date(&self, folder: &Key, id: &MessageId, buffer: &mut Vec<u8>) -> Millis {
        let path = folder.folder(&self.places.tree).join(format!("{id}.json"));
        let read = self.fs.read(&path, buffer).ok();
        match read.and_then(|()| spelling::from_bytes::<Dated>(buffer).ok()) {
            Some(dated) => dated.time.created,
            None => {
                let modified = self
                    .fs
                    .stat(&path)
                    .map_or_else(|_| SystemTime::now(), |s| s.modified);
                let reference = Millis(since_epoch(modified).as_millis() as i64);
                timestamp(id.as_str(), reference).unwrap_or(reference)
            }
        }
    }

    fn order_path(&self, session: &SessionId) -> PathBuf {
        self.places.index.join(format!("{session}.order"))
    }
}

/// By time, then by id; ids are compared only among messages of the same millisecond.
pub(crate) fn arrange(places: &mut [Place]) {
    places.sort_by_key(|place| place.created);
    for run in places.chunk_by_mut(|a, b| a.created == b.created) {
        if let [first, _, ..] = run {
            let anchor = first.id.as_str().to_owned();
            sort_serially(run, &anchor, |place| place.id.as_str());
        }
    }
}

fn since_epoch(time: SystemTime) -> Duration {
    time.duration_since(UNIX_EPOCH).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(created: i64, id: &str) -> Place {
        Place {
            created: Millis(created),
            id: MessageId::parse(id).unwrap(),
        }
    }

    #[test]
    fn an_order_reads_back_from_its_end_and_notices_damage() {
        let places = [
            place(1, "msg_a"),
            place(-5, "msg_bb"),
            place(i64::MAX, "msg_ccc"),
        ];
        let order = Order::encode(&places, 77);
        assert_eq!(order.changed(), 77);
        let back: Vec<_> = order.newest_first().collect();
        assert_eq!(
            back,
            [places[2].clone(), places[1].clone(), places[0].clone()]
        );
        for at in 0..order.0.len() {
            let mut bytes = order.0.clone();
            bytes[at] ^= 1;
            assert!(
                Order::decode(bytes).is_none(),
                "a flipped bit at {at} went unseen"
            );
            assert!(Order::decode(order.0[..at].to_vec()).is_none());
        }
    }

    #[test]
    fn messages_of_one_millisecond_follow_their_ids_across_the_wrap() {
        let mut places = [
            place(5, "msg_000000000001aaaaaaaaaaaaaa"),
            place(9, "msg_000000000000aaaaaaaaaaaaaa"),
            place(5, "msg_ffffffffffffaaaaaaaaaaaaaa"),
            place(1, "msg_000000000002aaaaaaaaaaaaaa"),
        ];
        arrange(&mut places);
        let times: Vec<_> = places
            .iter()
            .map(|place| place.id.as_str()[4..16].to_owned())
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
