#![allow(clippy::unwrap_used)]

use super::*;

/// One black pixel.
const GIF: &[u8] =
    b"GIF89a\x01\x00\x01\x00\x80\x00\x00\x00\x00\x00\xff\xff\xff,\x00\x00\x00\x00\x01\x00\x01\x00\x00\x02\x02D\x01\x00;";

fn staged() -> (tempfile::TempDir, StagedAttachments) {
    let data = tempfile::tempdir().unwrap();
    let staged = StagedAttachments::new(data.path());
    (data, staged)
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
fn attachments_are_recognised_by_content_and_not_by_name() {
    let (data, staged) = staged();
    let paths = [
        file(&data, "notes.png", b"just words"),
        file(&data, "shot", GIF),
        file(&data, "manual.txt", b"%PDF-1.7 ..."),
        file(&data, "drawing.svg", b"<svg onload='x()'/>"),
        file(&data, "wide.txt", b"\xff\xfeh\x00i\x00"),
        data.path().to_owned(),
    ];
    let attached = staged.stage_paths(&paths);
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
fn an_unusable_file_is_refused_with_a_reason() {
    let (data, staged) = staged();
    let large = data.path().join("large.log");
    fs::write(&large, vec![b'x'; MAX_TEXT as usize + 1]).unwrap();
    let paths = [
        file(&data, "tool.exe", b"MZ\x00\x01"),
        file(&data, "broken.gif", &GIF[..9]),
        data.path().join("nowhere"),
        large,
    ];
    let attached = staged.stage_paths(&paths);
    assert_eq!(attached.added, []);
    assert_eq!(
        attached.refused,
        [
            refusal("tool.exe", RefusedWhy::Type),
            refusal("broken.gif", RefusedWhy::Damaged),
            refusal("nowhere", RefusedWhy::Unreadable),
            refused("large.log", RefusedWhy::TooLarge, Some(MAX_TEXT)),
        ]
    );
}

#[cfg(unix)]
#[test]
fn a_pipe_is_not_waited_for() {
    let (_data, staged) = staged();
    let refused = staged.stage_path(Path::new("/dev/null")).unwrap_err();
    assert_eq!(refused, refusal("null", RefusedWhy::Unreadable));
}

#[test]
fn a_pasted_attachment_survives_a_restart_until_it_is_removed() {
    let (data, staged) = staged();
    let pasted = staged
        .stage_bytes("Pasted text.txt", b"a long story")
        .unwrap();
    assert_eq!(pasted.path, None);
    assert_eq!(
        pasted.url,
        format!("attachment://localhost/staged/{}", pasted.id)
    );

    let again = StagedAttachments::new(data.path());
    assert_eq!(again.find(&pasted.id), Some(pasted.clone()));
    assert_eq!(again.read(&pasted).unwrap(), b"a long story");

    again.remove(&pasted.id);
    assert_eq!(again.find(&pasted.id), None);
}

#[test]
fn an_id_that_was_never_assigned_is_not_found() {
    let (data, staged) = staged();
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
        assert_eq!(staged.place(id), None, "{id:?}");
    }
}

#[test]
fn only_old_attachments_are_swept() {
    let (_data, staged) = staged();
    let pasted = staged.stage_bytes("a.txt", b"a").unwrap();
    staged.sweep(SystemTime::now());
    assert_eq!(staged.find(&pasted.id), Some(pasted.clone()));
    staged.sweep(SystemTime::now() + MAX_AGE + Duration::from_secs(60));
    assert_eq!(staged.find(&pasted.id), None);
}

#[test]
fn the_core_gets_a_file_url_or_a_data_url() {
    let (data, staged) = staged();
    let named = staged.stage_path(&file(&data, "a b.txt", b"hi")).unwrap();
    let pasted = staged.stage_bytes("p.txt", b"hi").unwrap();
    let path = Url::from_file_path(data.path().join("a b.txt")).unwrap();
    assert_eq!(staged.url_for_core(&named).unwrap(), path.as_str());
    assert!(path.as_str().ends_with("/a%20b.txt"));
    assert_eq!(
        staged.url_for_core(&pasted).unwrap(),
        "data:text/plain;base64,aGk="
    );
}
