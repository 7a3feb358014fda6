#![allow(clippy::unwrap_used)]

use super::*;

fn desk() -> (tempfile::TempDir, DraftDesk) {
    let data = tempfile::tempdir().unwrap();
    let desk = DraftDesk::new(data.path());
    (data, desk)
}

fn saying(text: &str) -> Draft {
    Draft {
        text: text.to_owned(),
        ..Draft::default()
    }
}

fn texts(desk: &DraftDesk) -> Vec<(String, String)> {
    let all = desk.all().into_iter();
    all.map(|(place, draft)| (place, draft.text)).collect()
}

#[test]
fn each_place_has_its_own_draft_until_it_is_sent() {
    let (data, desk) = desk();
    desk.keep("ses_a", Some(saying("half")));
    desk.keep("ses_a", Some(saying("half a thought")));
    desk.keep("edit:msg_b", Some(saying("said better")));
    desk.write();

    let again = DraftDesk::new(data.path());
    let expected = [
        ("edit:msg_b".to_owned(), "said better".to_owned()),
        ("ses_a".to_owned(), "half a thought".to_owned()),
    ];
    assert_eq!(texts(&again), expected);
    again.keep("ses_a", None);
    again.keep("ses_c", None);
    again.write();
    assert_eq!(texts(&again), expected[..1]);
}

#[test]
fn a_draft_is_written_by_itself_after_a_moment() {
    let (data, desk) = desk();
    desk.keep("ses_a", Some(saying("half a thought")));
    let path = data.path().join("drafts/ses_a.json");
    let deadline = std::time::Instant::now() + Duration::from_secs(20);
    while !path.exists() && std::time::Instant::now() < deadline {
        std::thread::yield_now();
    }
    assert!(path.exists());
}

#[test]
fn a_place_leads_nowhere_else() {
    let (data, desk) = desk();
    for place in ["", "../settings", "a/b", "a.b", "new:ö", &"x".repeat(500)] {
        assert!(!desk.keep(place, Some(saying("x"))), "{place}");
    }
    desk.write();
    assert!(!data.path().join("drafts").exists());
}

#[test]
fn what_is_no_draft_is_left_alone() {
    let (data, desk) = desk();
    desk.keep("ses_a", Some(saying("here")));
    desk.write();
    let broken = data.path().join("drafts/ses_b.json");
    fs::write(&broken, "{\"text\": ").unwrap();
    let half = data.path().join("drafts/ses_c.4711.tmp");
    fs::write(&half, "{").unwrap();
    assert_eq!(texts(&desk), [("ses_a".to_owned(), "here".to_owned())]);
    assert!(broken.exists() && !half.exists());
}

#[test]
fn a_disk_that_takes_nothing_is_tried_again() {
    let (data, desk) = desk();
    let folder = data.path().join("drafts");
    fs::write(&folder, "in the way").unwrap();
    desk.keep("ses_a", Some(saying("still here")));
    desk.write();
    fs::remove_file(&folder).unwrap();
    assert_eq!(
        texts(&desk),
        [("ses_a".to_owned(), "still here".to_owned())]
    );
}
