//! Merges what a person changed with what a revert changes, line by line.

use similar::{DiffableStr, MergeRegion, MergeResolution, TextMerge};

/// A merge of three texts: the common one, mine and the other one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Merged {
    /// The conflicts are as in mine.
    pub mine: String,
    /// The conflicts are as in the other text.
    pub other: String,
    pub conflicts: Vec<Overlap>,
}

/// Lines that both texts changed, and not to the same.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Overlap {
    /// The number of its first line in mine, from 1.
    pub line: usize,
    pub common: String,
    pub mine: String,
    pub other: String,
}

pub fn merge(common: &str, mine: &str, other: &str) -> Merged {
    let merge = TextMerge::from_lines(common, mine, other);
    let mut merged = Merged {
        mine: String::new(),
        other: String::new(),
        conflicts: Vec::new(),
    };
    for region in merge.regions() {
        let ours = || text(region.ours_range(), |at| merge.ours_line(at));
        let theirs = || text(region.theirs_range(), |at| merge.theirs_line(at));
        match region.resolution() {
            MergeResolution::Theirs => merged.push(&theirs(), &theirs()),
            MergeResolution::Conflict => {
                merged.push(&ours(), &theirs());
                merged.conflicts.push(Overlap {
                    line: region.ours_range().start + 1,
                    common: common_text(&merge, region),
                    mine: ours(),
                    other: theirs(),
                });
            }
            _ => merged.push(&ours(), &ours()),
        }
    }
    merged
}

impl Merged {
    fn push(&mut self, mine: &str, other: &str) {
        push_lines(&mut self.mine, mine);
        push_lines(&mut self.other, other);
    }
}

/// The end of one text may now be in the middle.
fn push_lines(text: &mut String, lines: &str) {
    if !lines.is_empty() && !text.is_empty() && !text.ends_with(['\n', '\r']) {
        text.push('\n');
    }
    text.push_str(lines);
}

fn common_text<T: DiffableStr + ?Sized>(
    merge: &TextMerge<'_, '_, '_, T>,
    region: &MergeRegion,
) -> String {
    region
        .base_range()
        .filter_map(|at| merge.base_line(at)?.as_str())
        .collect()
}

fn text<'a>(lines: std::ops::Range<usize>, line: impl Fn(usize) -> Option<&'a str>) -> String {
    lines.filter_map(line).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn edits_in_different_places_are_both_taken() {
        let merged = merge("a\nb\nc\nd\n", "top\na\nb\nc\nd\n", "a\nb\nC\nd\n");
        assert_eq!(merged.mine, "top\na\nb\nC\nd\n");
        assert_eq!(
            (merged.other.clone(), merged.conflicts),
            (merged.mine, vec![])
        );
    }

    #[test]
    fn edits_of_the_same_line_are_a_conflict_and_the_rest_is_merged() {
        let merged = merge("a\nb\nc\nd\n", "a\nmine\nc\nd\n", "a\nother\nc\nD\n");
        assert_eq!(
            merged,
            Merged {
                mine: "a\nmine\nc\nD\n".into(),
                other: "a\nother\nc\nD\n".into(),
                conflicts: vec![Overlap {
                    line: 2,
                    common: "b\n".into(),
                    mine: "mine\n".into(),
                    other: "other\n".into(),
                }],
            }
        );
    }

    fn texts() -> impl Strategy<Value = String> {
        prop::collection::vec("[abc]{1,2}\n", 0..10).prop_map(|lines| lines.concat())
    }

    proptest! {
        #[test]
        fn a_text_that_did_not_change_leaves_the_other_one_as_it_is(common in texts(), other in texts()) {
            prop_assert_eq!(merge(&common, &common, &other).mine, other.clone());
            prop_assert_eq!(merge(&common, &other, &common).mine, other.clone());
            prop_assert_eq!(merge(&common, &other, &other).mine, other);
        }

        #[test]
        fn the_sides_of_a_merge_differ_only_in_its_conflicts(
            common in texts(), mine in texts(), other in texts(),
        ) {
            let merged = merge(&common, &mine, &other);
            prop_assert_eq!(merged.conflicts.is_empty(), merged.mine == merged.other);
        }
    }
}
