//! Ids: `{prefix}_{12 hex digits of time}{14 random characters}`.
//!
//! The 48-bit number is milliseconds × 4096 + a counter, cut to its low 48 bits: it wraps
//! every 2^36 ms (795 days) and did so in August 2026. **Ids are never compared as text.**
//! Two ids of one session compare by serial arithmetic ([`serial_cmp`]); a list is sorted
//! around an anchor ([`sort_serially`]), because serial order alone is not transitive over
//! more than half the ring. Messages order by `time.created` first.

use std::cmp::Ordering;
use std::fmt;
use std::sync::Mutex;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use ts_rs::TS;

use crate::json::Millis;

/// Milliseconds × 4096 + counter, not yet cut to 48 bits.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Tick(pub u64);

const COUNTER_BITS: u32 = 12;
const RING: u64 = 1 << 48;
const HEX_DIGITS: usize = 12;
const RANDOM_CHARS: usize = 14;
/// An id that seems to be further than this after the reference is taken for one from an
/// earlier lap of the ring.
const AHEAD_MS: i64 = 30 * 24 * 3600 * 1000;
/// A clock jump larger than this within one run is ignored. Serial order reverses at half the
/// ring (2^47), and the parts of one message must stay in order.
const MAX_JUMP_TICKS: u64 = 1 << 46;

impl Tick {
    pub fn at(now: Millis) -> Tick {
        Tick((now.0.max(0) as u64) << COUNTER_BITS)
    }

    pub fn millis(self) -> Millis {
        Millis((self.0 >> COUNTER_BITS) as i64)
    }
}

/// Makes ids that only ascend, even when the clock is set back.
#[derive(Debug)]
pub struct IdSource {
    last: Mutex<Last>,
}

#[derive(Debug)]
struct Last {
    tick: Tick,
    /// Whether this run has made an id. Before that, `tick` is the floor of an earlier run,
    /// and a large difference to the clock is normal.
    used: bool,
}

impl IdSource {
    /// `floor` is the newest tick that an earlier run may have used.
    pub fn new(floor: Tick) -> Self {
        IdSource {
            last: Mutex::new(Last {
                tick: floor,
                used: false,
            }),
        }
    }

    /// The newest tick used so far, to be stored as the next run's floor.
    pub fn floor(&self) -> Tick {
        self.lock().tick
    }

    /// Makes all further ids newer than `floor`, for ids that were made elsewhere (by an import
    /// or another process).
    pub fn raise(&self, floor: Tick) {
        let mut last = self.lock();
        last.tick = last.tick.max(floor);
    }

    /// Whether this id is newer than every id that was made here: another program made it.
    pub fn is_behind(&self, id: &str) -> bool {
        let newest = self.floor().0 & (RING - 1);
        serial_cmp(id, &format_id("msg", newest)) == Ordering::Greater
    }

    /// A tick after every earlier one. It runs ahead of the clock when more than 4,095 ids are
    /// made in one millisecond, or when the clock stops or is set back.
    pub fn next(&self, now: Millis) -> Tick {
        let mut last = self.lock();
        let wall = Tick::at(now).0 + 1;
        let jumped = last.used && wall > last.tick.0.saturating_add(MAX_JUMP_TICKS);
        last.tick = Tick(if jumped {
            last.tick.0 + 1
        } else {
            wall.max(last.tick.0 + 1)
        });
        last.used = true;
        last.tick
    }

    pub fn session(&self, now: Millis) -> SessionId {
        SessionId(format_id("ses", !self.next(now).0 & (RING - 1)))
    }

    pub fn message(&self, now: Millis) -> MessageId {
        MessageId(format_id("msg", self.next(now).0 & (RING - 1)))
    }

    pub fn part(&self, now: Millis) -> PartId {
        PartId(format_id("prt", self.next(now).0 & (RING - 1)))
    }

    pub fn permission(&self, now: Millis) -> PermissionId {
        PermissionId(format_id("per", self.next(now).0 & (RING - 1)))
    }

    pub fn question(&self, now: Millis) -> QuestionId {
        QuestionId(format_id("que", self.next(now).0 & (RING - 1)))
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Last> {
        self.last
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}

fn format_id(prefix: &str, low48: u64) -> String {
    const BASE62: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
    let mut random = [0u8; RANDOM_CHARS];
    // The counter makes ids of one machine unique; the random tail only tells two machines
    // apart. So the program goes on without a source of randomness.
    if getrandom::fill(&mut random).is_err() {
        random = [0; RANDOM_CHARS];
    }
    let mut id = format!("{prefix}_{low48:012x}");
    id.extend(
        random
            .iter()
            .map(|byte| char::from(BASE62[usize::from(*byte) % 62])),
    );
    id
}

/// The 48-bit number in an ascending id.
pub fn parse_tick(id: &str) -> Option<u64> {
    let (_, rest) = id.split_once('_')?;
    let hex = rest.get(..HEX_DIGITS)?;
    if !hex.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return None;
    }
    u64::from_str_radix(hex, 16).ok()
}

/// When an ascending id was made. The format drops the high bits of the time; they are chosen
/// so that the result is the latest possible time before `reference`, or up to a month after
/// it, because clocks disagree.
pub fn timestamp(id: &str, reference: Millis) -> Option<Millis> {
    const LAP: i64 = 1 << 36;
    let low = (parse_tick(id)? >> COUNTER_BITS) as i64;
    let latest = reference.0 + AHEAD_MS;
    Some(Millis(latest - (latest - low).rem_euclid(LAP)))
}

/// Compares by time of creation: `a` is less if (b − a) mod 2^48 < 2^47. Ids in another format
/// have no time; they come last, in text order.
pub fn serial_cmp(a: &str, b: &str) -> Ordering {
    match (parse_tick(a), parse_tick(b)) {
        (Some(x), Some(y)) if x == y => a.cmp(b),
        (Some(x), Some(y)) => {
            if y.wrapping_sub(x) & (RING - 1) < RING / 2 {
                Ordering::Less
            } else {
                Ordering::Greater
            }
        }
        (Some(_), None) => Ordering::Less,
        (None, Some(_)) => Ordering::Greater,
        (None, None) => a.cmp(b),
    }
}

/// Sorts by distance from `anchor`. This is a total order, and it agrees with [`serial_cmp`]
/// for ids made within half a lap of the anchor. To sort parts, use their message's id.
pub fn sort_serially<T>(items: &mut [T], anchor: &str, id: impl Fn(&T) -> &str) {
    let anchor = parse_tick(anchor).or_else(|| items.iter().find_map(|item| parse_tick(id(item))));
    let Some(anchor) = anchor else {
        return items.sort_by(|a, b| id(a).cmp(id(b)));
    };
    let position = |text: &str| {
        parse_tick(text).map(|tick| tick.wrapping_sub(anchor).wrapping_add(RING / 2) & (RING - 1))
    };
    items.sort_by(|a, b| match (position(id(a)), position(id(b))) {
        (Some(x), Some(y)) => x.cmp(&y).then_with(|| id(a).cmp(id(b))),
        (Some(_), None) => Ordering::Less,
        (None, Some(_)) => Ordering::Greater,
        (None, None) => id(a).cmp(id(b)),
    });
}

/// Text from outside that is not a valid id.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{text:?} is not a valid {kind} id")]
pub struct BadId {
    pub kind: &'static str,
    pub text: String,
}

macro_rules! ids {
    ($($(#[$doc:meta])* $Name:ident = $kind:literal, $prefix:expr;)*) => {$(
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema, TS)]
        #[serde(transparent)]
        pub struct $Name(String);

        impl $Name {
            /// Checks prefix, length and alphabet of text from outside, so that an id is always
            /// safe to use as a file name.
            pub fn parse(text: &str) -> Result<Self, BadId> {
                let prefix: Option<&str> = $prefix;
                let unprefixed = match prefix {
                    Some(prefix) => text.strip_prefix(prefix).and_then(|rest| rest.strip_prefix('_')),
                    None => Some(text),
                };
                let safe = |rest: &str| {
                    (1..=80).contains(&rest.len())
                        && rest.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte))
                };
                match unprefixed {
                    Some(rest) if safe(rest) => Ok($Name(text.to_owned())),
                    _ => Err(BadId { kind: $kind, text: text.chars().take(100).collect() }),
                }
            }

            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $Name {
            fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl AsRef<str> for $Name {
            fn as_ref(&self) -> &str {
                &self.0
            }
        }

        impl std::str::FromStr for $Name {
            type Err = BadId;
            fn from_str(text: &str) -> Result<Self, BadId> {
                Self::parse(text)
            }
        }
    )*};
}

ids! {
    /// The first commit of the repository, or a hash of the folder's path. Has no prefix.
    ProjectId = "project", None;
    /// Descends with time, so that a plain folder listing shows the newest session first.
    SessionId = "session", Some("ses");
    MessageId = "message", Some("msg");
    PartId = "part", Some("prt");
    PermissionId = "permission", Some("per");
    QuestionId = "question", Some("que");
}

impl MessageId {
    /// Stands for an id that an old record does not have.
    pub(crate) fn missing() -> Self {
        MessageId(String::new())
    }

    pub fn is_missing(&self) -> bool {
        self.0.is_empty()
    }
}

#[cfg(test)]
mod tests;
