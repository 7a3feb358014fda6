//! Whatever a model writes as a patch, it is applied or refused.
//!
//! A text that failed is stored beside this file and tried first from then on.

use lathe_fuzz::fuzz;
use proptest::prelude::*;

use super::hunks;
use super::parse::{Action, parse};

const LINES: [&str; 19] = [
    "*** Begin Patch",
    "*** End Patch",
    "*** Add File: a.txt",
    "*** Delete File: a.txt",
    "*** Update File: a.txt",
    "*** Move to: b.txt",
    "*** End of File",
    "*** ",
    "@@",
    "@@ -1,2 +1,2 @@ fn main",
    "@@ one",
    " one",
    "-one",
    "+two",
    "+",
    "-",
    "",
    "\u{feff}ü\u{2028}",
    "<<EOF",
];

fn lines(most: usize) -> impl Strategy<Value = Vec<&'static str>> {
    prop::collection::vec(prop::sample::select(&LINES[..]), 0..most)
}

#[test]
fn a_patch_of_any_lines_is_applied_or_refused() {
    let before = prop::collection::vec(prop::sample::select(&["one", "two", "", "ü"][..]), 0..12);
    let end = prop::sample::select(&["\n", "\r\n"][..]);
    fuzz(256, (lines(30), before, end), |(lines, before, end)| {
        let framed = format!("{}\n{}\n{}", LINES[0], lines.join(end), LINES[1]);
        for text in [lines.join(end), framed] {
            for action in parse(&text).unwrap_or_default() {
                if let Action::Update { hunks, .. } = action {
                    let _ = hunks::apply(&before.join(end), &hunks);
                }
            }
        }
    });
}

#[test]
fn a_text_that_is_no_patch_is_refused() {
    fuzz(256, any::<String>(), |text| assert!(parse(&text).is_err()));
}
