//! Decodes the fixtures of every wire: whole, in random chunks, and damaged.

#![allow(clippy::unwrap_used, reason = "tests")]

use std::{fs, path::PathBuf};

use lathe_fuzz::fuzz;
use lathe_provider::{StreamEvent, Wire, WireKind};

const WIRES: [(&str, WireKind); 4] = [
    ("anthropic", WireKind::Anthropic),
    ("openai_chat", WireKind::OpenaiChat),
    ("openai_responses", WireKind::OpenaiResponses),
    ("gemini", WireKind::Gemini),
];

struct Fixture {
    name: String,
    wire: &'static dyn Wire,
    bytes: Vec<u8>,
}

fn fixtures() -> Vec<Fixture> {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../tests/fixtures/provider");
    let mut fixtures = Vec::new();
    for (folder, kind) in WIRES {
        let (Some(wire), Ok(files)) = (kind.codec(), fs::read_dir(root.join(folder))) else {
            continue;
        };
        let mut paths: Vec<PathBuf> = files.map(|file| file.unwrap().path()).collect();
        paths.retain(|path| path.extension().is_some_and(|extension| extension == "sse"));
        paths.sort();
        for path in paths {
            let stem = path.file_stem().unwrap().to_str().unwrap();
            fixtures.push(Fixture {
                name: format!("{folder}__{stem}"),
                wire,
                bytes: fs::read(&path).unwrap(),
            });
        }
    }
    assert!(fixtures.len() >= 20, "fixtures are missing");
    fixtures
}

fn decode<'a>(wire: &dyn Wire, chunks: impl IntoIterator<Item = &'a [u8]>) -> Vec<StreamEvent> {
    let mut decoder = wire.decoder();
    let mut events = Vec::new();
    for chunk in chunks {
        decoder.feed(chunk, &mut events);
    }
    decoder.end(&mut events);
    events
}

/// A xorshift generator: the same numbers on every machine.
struct Random(u64);

impl Random {
    /// A number from 0 to `limit - 1`.
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % limit.max(1) as u64) as usize
    }
}

/// The number of rounds; more with `LATHE_SOAK`.
fn rounds(everyday: usize, soak: usize) -> usize {
    let is_soak = std::env::var_os("LATHE_SOAK").is_some();
    if is_soak { soak } else { everyday }
}

#[test]
fn every_fixture_decodes_to_its_events() {
    for fixture in fixtures() {
        let events = decode(fixture.wire, [fixture.bytes.as_slice()]);
        let lines: Vec<String> = events
            .iter()
            .map(|event| serde_json::to_string(event).unwrap())
            .collect();
        insta::assert_snapshot!(fixture.name, lines.join("\n"));
    }
}

#[test]
fn chunking_does_not_change_the_events() {
    for fixture in fixtures() {
        let expected = decode(fixture.wire, [fixture.bytes.as_slice()]);
        let single_bytes = decode(fixture.wire, fixture.bytes.chunks(1));
        assert_eq!(single_bytes, expected, "{} byte by byte", fixture.name);
        let mut random = Random(0x1a7e);
        for round in 0..rounds(200, 1_000) {
            let longest = 1 + random.below(fixture.bytes.len());
            let mut rest = fixture.bytes.as_slice();
            let mut chunks = Vec::new();
            while !rest.is_empty() {
                let (chunk, after) = rest.split_at((1 + random.below(longest)).min(rest.len()));
                chunks.push(chunk);
                rest = after;
            }
            let events = decode(fixture.wire, chunks);
            assert_eq!(events, expected, "{} in round {round}", fixture.name);
        }
    }
}

#[test]
fn damaged_streams_do_not_panic_and_end_exactly_once() {
    let fixtures = fixtures();
    let seed = 1..u64::MAX;
    fuzz(5_000, seed, |seed| {
        let mut random = Random(seed);
        let fixture = &fixtures[random.below(fixtures.len())];
        let other = &fixtures[random.below(fixtures.len())];
        let damaged = damage(&fixture.bytes, &other.bytes, &mut random);
        let cut = random.below(damaged.len() + 1);
        let events = decode(fixture.wire, [&damaged[..cut], &damaged[cut..]]);
        check_order(&fixture.name, &events);
        let whole = decode(fixture.wire, [damaged.as_slice()]);
        assert_eq!(events, whole, "{} in two pieces", fixture.name);
    });
}

/// A decoder must not look at everything again with each piece that comes.
#[test]
fn a_stream_that_repeats_itself_is_decoded_in_time() {
    let fixtures = fixtures();
    let repeated = (1..u64::MAX, 1_000_usize..400_000);
    fuzz(20, repeated, |(seed, length)| {
        let mut random = Random(seed);
        let fixture = &fixtures[random.below(fixtures.len())];
        let from = random.below(fixture.bytes.len());
        let to = (from + 1 + random.below(300)).min(fixture.bytes.len());
        let mut bytes = fixture.bytes[..from].to_vec();
        while bytes.len() < length {
            bytes.extend_from_slice(&fixture.bytes[from..to]);
        }
        bytes.extend_from_slice(&fixture.bytes[to..]);
        let chunk = [1, 16, 1_000, bytes.len()][random.below(4)];
        let events = decode(fixture.wire, bytes.chunks(chunk));
        check_order(&fixture.name, &events);
    });
}

fn damage(bytes: &[u8], other: &[u8], random: &mut Random) -> Vec<u8> {
    const TOKENS: [&[u8]; 10] = [
        b"null", b"{}", b"[]", b"\"\"", b"-1", b"1e999", b"\n\n", b"\r", b"\xff", b"\\ud800",
    ];
    let mut bytes = bytes.to_vec();
    for _ in 0..=random.below(4) {
        let at = random.below(bytes.len() + 1);
        let to = (at + random.below(40)).min(bytes.len());
        match random.below(5) {
            0 => drop(bytes.drain(at..to)),
            1 if at < bytes.len() => bytes[at] ^= 1 << random.below(8),
            2 => drop(bytes.splice(at..to, TOKENS[random.below(TOKENS.len())].iter().copied())),
            3 => bytes.truncate(at),
            _ => {
                let from = random.below(other.len());
                bytes.splice(at..at, other[from..].iter().take(200).copied());
            }
        }
    }
    bytes
}

/// Checks that deltas are inside their block and that exactly one terminal event comes last.
fn check_order(name: &str, events: &[StreamEvent]) {
    use StreamEvent as E;
    let mut open: Vec<&str> = Vec::new();
    for (at, event) in events.iter().enumerate() {
        match event {
            E::TextStart { id, .. }
            | E::ReasoningStart { id, .. }
            | E::ToolInputStart { id, .. } => {
                open.push(id);
            }
            E::TextDelta { id, .. }
            | E::ReasoningDelta { id, .. }
            | E::ToolInputDelta { id, .. } => {
                assert!(
                    open.contains(&&**id),
                    "{name}: delta outside {id} in {events:?}"
                );
            }
            E::TextEnd { id, .. } | E::ReasoningEnd { id, .. } | E::ToolInputEnd { id } => {
                let found = open.iter().position(|open| *open == &**id);
                open.remove(found.unwrap_or_else(|| panic!("{name}: end of {id} in {events:?}")));
            }
            E::FinishStep { .. } => {
                assert!(open.is_empty(), "{name}: finished with {open:?} open");
                assert_eq!(at + 1, events.len(), "{name}: continued after the end");
            }
            E::Error { .. } => assert_eq!(at + 1, events.len(), "{name}: continued after an error"),
            E::Start | E::StartStep | E::Finish => panic!("{name}: not an event of a decoder"),
            E::ToolCall { .. } | E::ToolResult { .. } | E::ToolError { .. } => {}
        }
    }
    let last = events.last();
    assert!(
        matches!(last, Some(E::FinishStep { .. } | E::Error { .. })),
        "{name}: no end in {events:?}"
    );
}
