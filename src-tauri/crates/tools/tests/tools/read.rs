use lathe_tools::{Attachment, ContentHash, FailureKind};
use serde_json::json;

use super::support::Project;

async fn read(project: &Project, path: &str) -> String {
    project.output("read", json!({ "filePath": path })).await
}

#[tokio::test]
async fn lines_are_numbered_and_the_hash_is_recorded() {
    let project = Project::new().file("a.txt", "one\ntwo\n");
    let result = project
        .run("read", json!({ "filePath": "a.txt" }))
        .await
        .unwrap();
    assert_eq!(
        result.output,
        "     1\tone\n     2\ttwo\n\n(End of the file: 2 lines.)"
    );
    assert_eq!(result.title, "a.txt");
    assert_eq!(result.metadata["truncated"], false);
    assert_eq!(
        project.asked(),
        [("read".to_owned(), vec!["a.txt".to_owned()])]
    );
    let hash = project.cx.reads.hash_of(&project.path("a.txt"));
    assert_eq!(hash, Some(ContentHash::of(b"one\ntwo\n")));
}

#[tokio::test]
async fn names_with_blanks_unicode_and_line_breaks_are_read() {
    for name in [
        "a b.txt",
        "ünï/日本.txt",
        "two\nlines.txt",
        "-dash",
        "'quote\".txt",
    ] {
        let project = Project::new().file(name, "content");
        assert!(read(&project, name).await.contains("content"), "{name}");
    }
}

#[tokio::test]
async fn offset_and_limit_choose_the_lines() {
    let text: String = (1..=10).map(|n| format!("line {n}\n")).collect();
    let project = Project::new().file("a.txt", text);
    let input = json!({ "filePath": "a.txt", "offset": 4, "limit": 2 });
    assert_eq!(
        project.output("read", input).await,
        "     4\tline 4\n     5\tline 5\n\n(Lines 4 to 5 of 10. Continue with offset 6.)"
    );
    let failure = project
        .failure("read", json!({ "filePath": "a.txt", "offset": 11 }))
        .await;
    assert!(failure.text.contains("has 10 lines"), "{failure}");
}

#[tokio::test]
async fn two_thousand_lines_are_given_at_once() {
    let project = Project::new().file("a.txt", "x\n".repeat(2_001));
    let output = read(&project, "a.txt").await;
    assert!(output.contains("\n  2000\tx\n") && !output.contains("\n  2001\t"));
    assert!(output.ends_with("(Lines 1 to 2000 of 2001. Continue with offset 2001.)"));
}

#[tokio::test]
async fn a_result_never_needs_to_be_cut_again() {
    let project = Project::new().file("a.txt", format!("{}\n", "y".repeat(300)).repeat(1_000));
    let result = project
        .run("read", json!({ "filePath": "a.txt" }))
        .await
        .unwrap();
    assert!(result.output.len() < 50 * 1024);
    assert!(result.output.contains("Continue with offset"));
    assert_eq!(result.metadata["truncated"], true);
    assert!(!result.metadata.contains_key("outputPath"));
}

#[tokio::test]
async fn long_lines_are_cut_by_characters() {
    let project = Project::new().file("a.txt", format!("{}\nnext", "ü".repeat(100_000)));
    let output = read(&project, "a.txt").await;
    assert!(output.contains(&format!("     1\t{}…\n     2\tnext", "ü".repeat(2_000))));
}

#[tokio::test]
async fn line_endings_and_marks_are_not_shown_but_hashed() {
    let project = Project::new().file("a.txt", "\u{feff}one\r\ntwo\r\n");
    assert!(
        read(&project, "a.txt")
            .await
            .starts_with("     1\tone\n     2\ttwo\n")
    );
    let hash = project.cx.reads.hash_of(&project.path("a.txt"));
    assert_eq!(
        hash,
        Some(ContentHash::of("\u{feff}one\r\ntwo\r\n".as_bytes()))
    );
}

#[tokio::test]
async fn an_empty_file_is_said_to_be_empty() {
    let project = Project::new().file("a.txt", "");
    assert_eq!(read(&project, "a.txt").await, "(The file is empty.)");
}

#[tokio::test]
async fn text_in_no_known_encoding_is_still_shown() {
    let project = Project::new().file("a.txt", b"caf\xe9 ol\xe9");
    assert!(
        read(&project, "a.txt")
            .await
            .contains("caf\u{fffd} ol\u{fffd}")
    );
}

#[tokio::test]
async fn binary_files_and_directories_are_refused() {
    let project = Project::new().file("a.bin", b"a\0b").file("dir/x", "");
    let failure = project
        .failure("read", json!({ "filePath": "a.bin" }))
        .await;
    assert_eq!(failure.text, "a.bin is a binary file, not read.");
    let failure = project.failure("read", json!({ "filePath": "dir" })).await;
    assert!(failure.text.contains("directory"), "{failure}");
    assert_eq!(project.cx.reads.hash_of(&project.path("a.bin")), None);
}

#[tokio::test]
async fn images_and_pdfs_become_attachments_by_content() {
    let png = [b"\x89PNG\r\n\x1a\n".as_slice(), &[0; 100_000]].concat();
    let project = Project::new()
        .file("pic.dat", &png)
        .file("doc.pdf", "%PDF-1.7 x");
    let result = project
        .run("read", json!({ "filePath": "pic.dat" }))
        .await
        .unwrap();
    let expected = Attachment {
        mime: "image/png".to_owned(),
        filename: Some("pic.dat".to_owned()),
        bytes: png,
        source: None,
    };
    assert_eq!(result.attachments, [expected]);
    let result = project
        .run("read", json!({ "filePath": "doc.pdf" }))
        .await
        .unwrap();
    assert_eq!(result.attachments[0].mime, "application/pdf");
}

#[tokio::test]
async fn a_missing_file_suggests_near_names() {
    let project = Project::new()
        .file("src/parser.rs", "")
        .file("src/printer.rs", "");
    let failure = project
        .failure("read", json!({ "filePath": "src/Parsr.rs" }))
        .await;
    let near = project.path("src/parser.rs");
    assert!(
        failure.text.starts_with("There is no file src/Parsr.rs."),
        "{failure}"
    );
    assert!(failure.text.contains(near.to_str().unwrap()), "{failure}");
    assert!(!failure.text.contains("printer"), "{failure}");
}

#[tokio::test]
async fn an_env_file_is_asked_for_by_its_own_name_also_through_a_link() {
    let project = Project::new().file("conf/.env", "A=1").denying("read");
    #[cfg(unix)]
    std::os::unix::fs::symlink(project.path("conf/.env"), project.path("harmless.txt")).unwrap();
    let path = if cfg!(unix) {
        "harmless.txt"
    } else {
        "conf/.env"
    };
    let failure = project.failure("read", json!({ "filePath": path })).await;
    assert_eq!(failure.kind, FailureKind::Denied);
    assert_eq!(
        project.asked(),
        [("read".to_owned(), vec!["conf/.env".to_owned()])]
    );
}

#[cfg(unix)]
#[tokio::test]
async fn a_fifo_does_not_hang() {
    let project = Project::new();
    let made = std::process::Command::new("mkfifo")
        .arg(project.path("pipe"))
        .status()
        .unwrap();
    assert!(made.success());
    let failure = project.failure("read", json!({ "filePath": "pipe" })).await;
    assert!(failure.text.contains("not a regular file"), "{failure}");
}
