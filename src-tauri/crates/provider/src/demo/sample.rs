//! The project the tour is given in: small enough to read in a minute, with one mistake
//! that a test catches.

/// Paths and contents, to be written into an empty folder.
pub const SAMPLE_PROJECT: &[(&str, &[u8])] = &[
    ("README.md", include_bytes!("sample/README.md")),
    ("tea.sh", include_bytes!("sample/tea.sh")),
    ("tests/run.sh", include_bytes!("sample/tests/run.sh")),
    (
        "docs/steeping.png",
        include_bytes!("sample/docs/steeping.png"),
    ),
];
