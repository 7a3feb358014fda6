use lathe_protocol::view::{DiffHunk, DiffLine};
use proptest::prelude::*;

use super::write_patch::unified;
use super::*;

fn text_of(line: &DiffLine) -> String {
    let text: String = line.spans.iter().map(|span| span.text.as_str()).collect();
    if line.no_newline { text } else { text + "\n" }
}

/// Applies hunks to the old text.
pub(super) fn apply(before: &str, hunks: &[DiffHunk]) -> String {
    let old: Vec<&str> = before.split_inclusive('\n').collect();
    let mut out = String::new();
    let mut at = 0;
    for hunk in hunks {
        let start = if hunk.old_lines == 0 {
            hunk.old_start
        } else {
            hunk.old_start - 1
        };
        out.extend(old[at..start].iter().copied());
        at = start;
        for line in &hunk.lines {
            if line.kind != DiffLineKind::Add {
                assert_eq!(text_of(line), old[at], "an old line must be the old file's");
                at += 1;
            }
            if line.kind != DiffLineKind::Del {
                out.push_str(&text_of(line));
            }
        }
    }
    out.extend(old[at..].iter().copied());
    out
}

fn file() -> impl Strategy<Value = String> {
    let line = prop_oneof![
        4 => proptest::sample::select(vec![
            "fn a() {\n", "}\n", "\n", "let x = 1;\n", "let x = 2;\n", "    é\r\n", "--- a\n",
            "+++ b\n", "@@ -1 +1 @@\n", "\\ No newline\n", "\u{202e}\n", "\tb\n", "x\r",
        ]).prop_map(str::to_owned),
        1 => "[ab ]{0,6}\n?",
    ];
    proptest::collection::vec(line, 0..25).prop_map(|lines| lines.concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(
        if std::env::var_os("LATHE_SOAK").is_some() { 20_000 } else { 300 }
    ))]

    #[test]
    fn applying_the_hunks_to_the_old_text_gives_the_new_one(
        before in file(), after in file(), context in 0usize..5,
    ) {
        let options = DiffOptions { context, ..DiffOptions::new("a.rs") };
        let view = file_diff(Some(&before), Some(&after), &options);
        prop_assert_eq!(apply(&before, &view.hunks), after);
    }

    #[test]
    fn a_written_patch_is_parsed_to_the_same_change(
        before in file(), after in file(), context in 1usize..5,
    ) {
        let options = DiffOptions { context, ..DiffOptions::new("dir/a b.rs") };
        let files = parse_unified(&unified(Some(&before), Some(&after), &options), false);
        prop_assert_eq!(files.len(), usize::from(before != after));
        let drawn = file_diff(Some(&before), Some(&after), &options);
        for file in files {
            prop_assert_eq!(&file.path, "dir/a b.rs");
            prop_assert_eq!((file.additions, file.deletions), (drawn.additions, drawn.deletions));
            prop_assert_eq!(apply(&before, &file.hunks), after.clone());
        }
    }

    #[test]
    fn no_text_makes_the_patch_parser_panic(text in "([-+ @\\\\a0-9,\"/]{0,12}\n){0,20}") {
        parse_unified(&text, false);
    }
}
