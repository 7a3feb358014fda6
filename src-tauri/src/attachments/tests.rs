#![allow(clippy::unwrap_used)]

use super::*;

/// One black pixel.
const GIF: &[u8] =
    b"GIF89a\x01\x00\x01\x00\x80\x00\x00\x00\x00\x00\xff\xff\xff,\x00\x00\x00\x00\x01\x00\x01\x00\x00\x02\x02D\x01\x00;";

fn desk() -> (tempfile::TempDir, AttachmentDesk) {
    let data = tempfile::tempdir().unwrap();
    let desk = AttachmentDesk::new(data.path());
    (data, desk)
}

fn file(data: &tempfile::TempDir, name: &str, content: &[u8]) -> PathBuf {
    let path = data.path().join(name);
    fs::write(&path, content).unwrap();
    path
}

fn refusal(name: &str, why: RefusedWhy) -> RefusedAttachment {
    refused(name, why, None)
}

#[test]
fn things_are_known_by_what_they_hold_and_not_by_their_names() {
    let (data, desk) = desk();
    let paths = [
        file(&data, "notes.png", b"just words"),
        file(&data, "shot", GIF),
        file(&data, "manual.txt", b"%PDF-1.7 ..."),
        file(&data, "drawing.svg", b"<svg onload='x()'/>"),
        file(&data, "wide.txt", b"\xff\xfeh\x00i\x00"),
        data.path().to_owned(),
    ];
    let attached = desk.stage_paths(&paths);
    let kinds: Vec<_> = attached
        .added
        .iter()
        .map(|one| (one.kind, one.mime.as_str(), one.width))
        .collect();
    assert_eq!(
        kinds,
        [
            (AttachmentKind::Text, "text/plain", None),
            (AttachmentKind::Image, "image/gif", Some(1)),
            (AttachmentKind::Pdf, "application/pdf", None),
            (AttachmentKind::Text, "text/plain", None),
            (AttachmentKind::Text, "text/plain", None),
            (AttachmentKind::Directory, "application/x-directory", None),
        ]
    );
    assert_eq!(attached.refused, []);
}

#[test]
fn what_cannot_be_attached_is_refused_with_the_reason() {
    let (data, desk) = desk();
    let large = data.path().join("large.log");
    fs::write(&large, vec![b'x'; MOST_TEXT as usize + 1]).unwrap();
    let paths = [
        file(&data, "tool.exe", b"MZ\x00\x01"),
        file(&data, "broken.gif", &GIF[..9]),
        data.path().join("nowhere"),
        large,
    ];
    let attached = desk.stage_paths(&paths);
    assert_eq!(attached.added, []);
    assert_eq!(
        attached.refused,
        [
            refusal("tool.exe", RefusedWhy::Type),
            refusal("broken.gif", RefusedWhy::Damaged),
            refusal("nowhere", RefusedWhy::Unreadable),
            refused("large.log", RefusedWhy::TooLarge, Some(MOST_TEXT)),
        ]
    );
}

#[cfg(unix)]
#[test]
fn a_pipe_is_not_waited_for() {
    let (_data, desk) = desk();
    let refused = desk.stage_path(Path::new("/dev/null")).unwrap_err();
    assert_eq!(refused, refusal("null", RefusedWhy::Unreadable));
}

#[test]
fn what_was_pasted_is_found_again_by_another_start_and_then_removed() {
    let (data, desk) = desk();
    let pasted = desk
        .stage_bytes("Pasted text.txt", b"a long story")
        .unwrap();
    assert_eq!(pasted.path, None);
    assert_eq!(
        pasted.url,
        format!("attachment://localhost/staged/{}", pasted.id)
    );

    let again = AttachmentDesk::new(data.path());
    assert_eq!(again.find(&pasted.id), Some(pasted.clone()));
    assert_eq!(again.read(&pasted).unwrap(), b"a long story");

    again.remove(&pasted.id);
    assert_eq!(again.find(&pasted.id), None);
}

#[test]
fn a_name_we_never_gave_leads_nowhere() {
    let (data, desk) = desk();
    fs::write(data.path().join(ABOUT), "{}").unwrap();
    for id in [
        "",
        "att_",
        "..",
        "att_../..",
        "att_x/..",
        "/etc/passwd",
        "att_\\",
    ] {
        assert_eq!(desk.place(id), None, "{id:?}");
    }
}

#[test]
fn only_drafts_that_were_given_up_are_swept() {
    let (_data, desk) = desk();
    let kept = desk.stage_bytes("a.txt", b"a").unwrap();
    desk.sweep(SystemTime::now());
    assert_eq!(desk.find(&kept.id), Some(kept.clone()));
    desk.sweep(SystemTime::now() + KEPT + Duration::from_secs(60));
    assert_eq!(desk.find(&kept.id), None);
}

#[test]
fn the_core_gets_a_path_or_the_bytes_themselves() {
    let (data, desk) = desk();
    let named = desk.stage_path(&file(&data, "a b.txt", b"hi")).unwrap();
    let pasted = desk.stage_bytes("p.txt", b"hi").unwrap();
    let path = Url::from_file_path(data.path().join("a b.txt")).unwrap();
    assert_eq!(desk.url_for_core(&named).unwrap(), path.as_str());
    assert!(path.as_str().ends_with("/a%20b.txt"));
    assert_eq!(
        desk.url_for_core(&pasted).unwrap(),
        "data:text/plain;base64,aGk="
    );
}
