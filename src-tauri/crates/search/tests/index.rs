//! The index through its public interface: search and find, removal, restart, and damage.

#![allow(clippy::unwrap_used)]

use std::fs;
use std::path::Path;

use lathe_protocol::ipc::{HitKind, SnippetPiece};
use lathe_protocol::{IdSource, MessageId, Millis, PartId, Session, SessionId, Tick};
use lathe_search::{Index, IndexState, IndexedMessage, MessageText, PartText, SearchError};
use proptest::prelude::*;

struct Fixture {
    index: Index,
    ids: IdSource,
    folder: tempfile::TempDir,
}

impl Fixture {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        Fixture {
            index: Index::open(folder.path().join("search.db")).unwrap(),
            ids: IdSource::new(Tick::default()),
            folder,
        }
    }

    fn path(&self) -> std::path::PathBuf {
        self.folder.path().join("search.db")
    }

    fn session(&self, title: &str) -> SessionId {
        let id = self.ids.session(Millis(1));
        let session: Session = serde_json::from_value(serde_json::json!({
            "id": id, "projectID": "prj", "directory": "/x", "title": title, "version": "1",
            "time": { "created": 1, "updated": 1 },
        }))
        .unwrap();
        self.index
            .set_session(&session, IndexState::Complete(Millis(1)))
            .unwrap();
        id
    }

    fn message(&self, session: &SessionId, at: i64, texts: &[&str]) -> MessageText {
        let part = |text: &&str| {
            let words = PartText {
                kind: HitKind::Text,
                text: (*text).to_owned(),
            };
            (self.ids.part(Millis(at)), words)
        };
        MessageText {
            session: session.clone(),
            message: self.ids.message(Millis(at)),
            at: Millis(at),
            parts: texts.iter().map(part).collect(),
        }
    }

    fn put(&self, session: &SessionId, at: i64, texts: &[&str]) -> MessageText {
        let message = self.message(session, at, texts);
        self.index
            .put_messages(std::slice::from_ref(&message))
            .unwrap();
        message
    }

    fn titles(&self, typed: &str) -> Vec<String> {
        let hits = self.index.search(typed, 50).unwrap();
        hits.into_iter().map(|hit| hit.title).collect()
    }

    fn found(&self, session: &SessionId, text: &str) -> Vec<(MessageId, PartId, u32)> {
        let hits = self.index.find(session, text, 100).unwrap();
        hits.into_iter()
            .map(|hit| (hit.message_id, hit.part_id, hit.nth))
            .collect()
    }
}

#[test]
fn a_hit_has_its_place_and_a_snippet_with_the_matches() {
    let fixture = Fixture::new();
    let lamp = fixture.session("Lamp");
    let other = fixture.session("Other");
    let message = fixture.put(
        &lamp,
        5,
        &["nothing", "the <b>Flickering</b>\ntimer of the lamp"],
    );
    fixture.put(&other, 6, &["about doors"]);

    let hits = fixture.index.search("flick timer", 10).unwrap();

    let piece = |text: &str, hit| SnippetPiece {
        text: text.to_owned(),
        hit,
    };
    assert_eq!(hits.len(), 1);
    let hit = &hits[0];
    assert_eq!(
        (&hit.session_id, hit.title.as_str(), hit.at),
        (&lamp, "Lamp", Millis(5))
    );
    assert_eq!(
        (&hit.message_id, &hit.part_id),
        (&message.message, &message.parts[1].0)
    );
    assert_eq!(
        hit.snippet,
        [
            piece("the <b>", false),
            piece("Flick", true),
            piece("ering</b> ", false),
            piece("timer", true),
            piece(" of the lamp", false),
        ]
    );
}

#[test]
fn words_are_found_ignoring_case_and_accents_and_inside_other_words() {
    let fixture = Fixture::new();
    let one = fixture.session("one");
    fixture.put(
        &one,
        1,
        &["Prévoir le naïve Straße 日本語のテキスト list_sessions createSession openDb"],
    );
    for typed in [
        "prev",
        "NAIVE",
        "straße",
        "日本語",
        "list_sess",
        "sessions",
        "revoir",
        "テキスト",
        "本語",
        "createsession",
        "Session",
        "db",
        "le createS",
        "\"le naïve\"",
    ] {
        assert_eq!(fixture.titles(typed), ["one"], "{typed}");
    }
    for typed in [
        "\"naïve le\"",
        "ss",
        "prev missing",
        "",
        "\"",
        "*",
        "AND OR NOT",
    ] {
        assert_eq!(fixture.titles(typed), [""; 0], "{typed}");
    }
}

#[test]
fn putting_a_message_again_replaces_its_text() {
    let fixture = Fixture::new();
    let one = fixture.session("one");
    let mut message = fixture.put(&one, 1, &["first words"]);
    message.parts[0].1.text = "second thoughts".into();
    fixture
        .index
        .put_messages(std::slice::from_ref(&message))
        .unwrap();
    assert_eq!(fixture.titles("first"), [""; 0]);
    assert_eq!(fixture.titles("second"), ["one"]);
    let indexed = IndexedMessage {
        at: Millis(1),
        content_hash: message.content_hash(),
    };
    assert_eq!(
        fixture.index.indexed_messages(&one).unwrap(),
        [(message.message.clone(), indexed)].into()
    );
}

#[test]
fn removed_messages_and_sessions_are_not_found() {
    let fixture = Fixture::new();
    let (one, two) = (fixture.session("one"), fixture.session("two"));
    let gone = fixture.put(&one, 1, &["a common word"]);
    fixture.put(&one, 2, &["a common word again"]);
    fixture.put(&two, 3, &["the common word"]);

    fixture.index.remove_messages([&gone.message]).unwrap();
    assert_eq!(fixture.found(&one, "common").len(), 1);
    fixture.index.remove_session(&two).unwrap();
    assert_eq!(fixture.titles("common"), ["one"]);
    assert_eq!(fixture.index.session_states().unwrap().len(), 1);
}

#[test]
fn find_returns_every_occurrence_in_reading_order() {
    let fixture = Fixture::new();
    let one = fixture.session("one");
    let late = fixture.put(&one, 20, &["xTimer"]);
    let early = fixture.put(&one, 10, &["no", "timer, Timers and TIMERS", "untimered"]);
    let place = |message: &MessageText, part: usize, nth| {
        (message.message.clone(), message.parts[part].0.clone(), nth)
    };
    assert_eq!(
        fixture.found(&one, " timer "),
        [
            place(&early, 1, 0),
            place(&early, 1, 1),
            place(&early, 1, 2),
            place(&early, 2, 0),
            place(&late, 0, 0)
        ]
    );
    assert_eq!(fixture.index.find(&one, "timer", 2).unwrap().len(), 2);
    assert_eq!(fixture.found(&one, "  "), []);
}

#[test]
fn session_states_survive_a_restart() {
    let fixture = Fixture::new();
    let one = fixture.session("one");
    let reopened = Index::open(fixture.path()).unwrap();
    assert_eq!(
        reopened.session_states().unwrap(),
        [(one, IndexState::Complete(Millis(1)))].into()
    );
}

#[test]
fn a_file_that_is_not_an_index_is_replaced_by_an_empty_one() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("deep/search.db");
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    for garbage in [
        &b"not a database at all, but long enough to look at"[..],
        &[0; 8192],
        b"",
    ] {
        fs::write(&path, garbage).unwrap();
        assert_eq!(
            Index::open(&path).unwrap().session_states().unwrap(),
            [].into()
        );
    }
}

#[test]
fn an_index_of_another_version_is_replaced_by_an_empty_one() {
    let fixture = Fixture::new();
    fixture.session("one");
    let version = rusqlite::Connection::open(fixture.path()).unwrap();
    version.execute_batch("PRAGMA user_version = 999").unwrap();
    drop(version);
    let again = Index::open(fixture.path()).unwrap();
    assert_eq!(again.session_states().unwrap(), [].into());
}

#[test]
fn damage_is_noticed_and_leaves_a_usable_index() {
    let fixture = Fixture::new();
    let one = fixture.session("one");
    for at in 0..300 {
        fixture.put(
            &one,
            at,
            &["many words that fill some pages of the file on the disk"],
        );
    }
    let Fixture { index, folder, ids } = fixture;
    drop(index);
    overwrite_pages(&folder.path().join("search.db"));
    let index = Index::open(folder.path().join("search.db")).unwrap();

    let outcome = (
        index.search("words", 500),
        index.find(&one, "words", 500),
        index.session_states(),
    );
    let emptied = |error: SearchError| matches!(error, SearchError::Emptied);
    let noticed = outcome.0.is_err_and(emptied)
        || outcome.1.is_err_and(emptied)
        || outcome.2.is_ok_and(|states| states.is_empty());
    assert!(noticed, "the damage was not noticed");
    let fixture = Fixture { index, folder, ids };
    let fresh = fixture.session("fresh");
    fixture.put(&fresh, 1, &["words"]);
    assert_eq!(fixture.titles("words"), ["fresh"]);
}

/// Damages everything after the first page.
fn overwrite_pages(path: &Path) {
    let mut bytes = fs::read(path).unwrap();
    for byte in bytes.iter_mut().skip(4096) {
        *byte = 0xAB;
    }
    fs::write(path, bytes).unwrap();
}

proptest! {
    /// Input is text to search for, never syntax of the search engine.
    #[test]
    fn any_input_is_searched_without_an_error(typed in "\\PC{0,40}|[\"*:^(){}+-]{0,12}|.{0,20}") {
        let fixture = Fixture::new();
        let one = fixture.session("one");
        fixture.put(&one, 1, &["some words"]);
        fixture.index.search(&typed, 5).unwrap();
        fixture.index.find(&one, &typed, 5).unwrap();
    }

    #[test]
    fn whole_words_of_a_text_find_it(words in proptest::collection::vec("[a-z]{2,8}", 1..8)) {
        let fixture = Fixture::new();
        let one = fixture.session("one");
        fixture.put(&one, 1, &[&words.join(" ")]);
        prop_assert_eq!(fixture.titles(&words.join(" ")), ["one"]);
    }
}
