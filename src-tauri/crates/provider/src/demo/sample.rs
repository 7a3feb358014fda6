//! The sample project of the tour: small enough to read in a minute, with one bug that a test
//! finds.

/// Paths and contents of the files.
pub const SAMPLE_PROJECT: &[(&str, &[u8])] = &[
    ("README.md", include_bytes!("sample/README.md")),
    ("tea.sh", include_bytes!("sample/tea.sh")),
    ("tests/run.sh", include_bytes!("sample/tests/run.sh")),
    (
        "docs/steeping.png",
        include_bytes!("sample/docs/steeping.png"),
    ),
];
