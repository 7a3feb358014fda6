//! Names for things that have none yet.

use lathe_protocol::Millis;

const FIRST: [&str; 32] = [
    "amber", "brisk", "calm", "clear", "cosy", "crisp", "dusty", "early", "fresh", "gentle",
    "golden", "green", "humble", "keen", "late", "light", "lively", "lucky", "mellow", "misty",
    "neat", "open", "plain", "quiet", "rapid", "ready", "silver", "smooth", "steady", "sunny",
    "tidy", "warm",
];
const SECOND: [&str; 32] = [
    "anvil", "beacon", "bridge", "brook", "canyon", "cedar", "comet", "delta", "ember", "falcon",
    "field", "forest", "garden", "harbor", "heron", "island", "lantern", "lathe", "maple",
    "meadow", "mill", "orchard", "otter", "pebble", "pine", "river", "sparrow", "stone", "summit",
    "tide", "valley", "willow",
];

/// Two words, such as `quiet-river`. It need not be unique: ids are.
pub fn make() -> String {
    let mut bytes = [0; 2];
    // Without randomness every session would be called the same, which does no harm.
    let _ = getrandom::fill(&mut bytes);
    let pick = |words: [&'static str; 32], byte: u8| words[usize::from(byte) % words.len()];
    format!("{}-{}", pick(FIRST, bytes[0]), pick(SECOND, bytes[1]))
}

/// `2026-11-16T08:00:00.000Z`, as default titles carry it.
pub fn iso_time(at: Millis) -> String {
    let day = at.date();
    let rest = at.0.rem_euclid(86_400_000);
    let (hours, minutes) = (rest / 3_600_000, rest / 60_000 % 60);
    format!(
        "{day}T{hours:02}:{minutes:02}:{:02}.{:03}Z",
        rest / 1000 % 60,
        rest % 1000
    )
}
