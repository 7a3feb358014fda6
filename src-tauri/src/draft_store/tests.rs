#![allow(clippy::unwrap_used)]

use super::*;

fn store() -> (tempfile::TempDir, DraftStore) {
    let data = tempfile::tempdir().unwrap();
    let store = DraftStore::new(data.path());
    (data, store)
}

fn draft(text: &str) -> Draft {
    Draft {
        text: text.to_owned(),
        ..Draft::default()
    }
}

fn texts(store: &DraftStore) -> Vec<(String, String)> {
    let all = store.all().into_iter();
    all.map(|(place, draft)| (place, draft.text)).collect()
}

#[test]
fn each_place_has_its_own_draft_until_it_is_sent() {
    let (data, store) = store();
    store.set("ses_a", Some(draft("half")));
    store.set("ses_a", Some(draft("half a thought")));
    store.set("edit:msg_b", Some(draft("said better")));
    store.write();

    let again = DraftStore::new(data.path());
    let expected = [
        ("edit:msg_b".to_owned(), "said better".to_owned()),
        ("ses_a".to_owned(), "half a thought".to_owned()),
    ];
    assert_eq!(texts(&again), expected);
    again.set("ses_a", None);
    again.set("ses_c", None);
    again.write();
    assert_eq!(texts(&again), expected[..1]);
}

#[test]
fn a_draft_is_written_after_a_short_delay() {
    let (data, store) = store();
    store.set("ses_a", Some(draft("half a thought")));
    let path = data.path().join("drafts/ses_a.json");
    let deadline = std::time::Instant::now() + Duration::from_secs(20);
    while !path.exists() && std::time::Instant::now() < deadline {
        std::thread::yield_now();
    }
    assert!(path.exists());
}

#[test]
fn a_place_cannot_reach_another_folder() {
    let (data, store) = store();
    for place in ["", "../settings", "a/b", "a.b", "new:ö", &"x".repeat(500)] {
        assert!(!store.set(place, Some(draft("x"))), "{place}");
    }
    store.write();
    assert!(!data.path().join("drafts").exists());
}

#[test]
fn files_that_are_not_drafts_are_left_alone() {
    let (data, store) = store();
    store.set("ses_a", Some(draft("here")));
    store.write();
    let broken = data.path().join("drafts/ses_b.json");
    fs::write(&broken, "{\"text\": ").unwrap();
    let half = data.path().join("drafts/ses_c.4711.tmp");
    fs::write(&half, "{").unwrap();
    assert_eq!(texts(&store), [("ses_a".to_owned(), "here".to_owned())]);
    assert!(broken.exists() && !half.exists());
}

#[test]
fn a_failed_write_is_tried_again() {
    let (data, store) = store();
    let folder = data.path().join("drafts");
    fs::write(&folder, "in the way").unwrap();
    store.set("ses_a", Some(draft("still here")));
    store.write();
    fs::remove_file(&folder).unwrap();
    assert_eq!(
        texts(&store),
        [("ses_a".to_owned(), "still here".to_owned())]
    );
}
