//! A set of line numbers, as sorted ranges: a file of 100,000 changed lines needs one entry.

use std::ops::Range;

use serde::{Deserialize, Serialize};

/// Counted from 0. The ranges are sorted, not empty and do not touch.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Ranges(Vec<Range<usize>>);

impl Ranges {
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub fn len(&self) -> usize {
        self.0.iter().map(ExactSizeIterator::len).sum()
    }

    pub fn contains(&self, line: usize) -> bool {
        let after = self.0.partition_point(|range| range.end <= line);
        self.0.get(after).is_some_and(|range| range.start <= line)
    }

    /// The number of lines of `range` that are in the set.
    pub fn count_in(&self, range: &Range<usize>) -> usize {
        self.within(range).map(|one| one.len()).sum()
    }

    /// The parts of the set in `range`.
    pub fn within<'a>(
        &'a self,
        range: &'a Range<usize>,
    ) -> impl Iterator<Item = Range<usize>> + 'a {
        let first = self.0.partition_point(|one| one.end <= range.start);
        let rest = self.0[first..].iter();
        rest.take_while(|one| one.start < range.end)
            .map(|one| one.start.max(range.start)..one.end.min(range.end))
    }

    pub fn iter(&self) -> impl Iterator<Item = Range<usize>> + '_ {
        self.0.iter().cloned()
    }

    pub fn insert(&mut self, range: Range<usize>) {
        if range.is_empty() {
            return;
        }
        let first = self.0.partition_point(|one| one.end < range.start);
        let end = self.0.partition_point(|one| one.start <= range.end);
        let joined = self.0[first..end].iter().fold(range, |all, one| {
            all.start.min(one.start)..all.end.max(one.end)
        });
        self.0.splice(first..end, [joined]);
    }

    pub fn remove(&mut self, range: &Range<usize>) {
        let all = std::mem::take(&mut self.0);
        for one in all {
            self.insert(one.start..one.end.min(range.start));
            self.insert(one.start.max(range.end)..one.end);
        }
    }
}

impl FromIterator<Range<usize>> for Ranges {
    fn from_iter<I: IntoIterator<Item = Range<usize>>>(ranges: I) -> Self {
        let mut all = Ranges::default();
        ranges.into_iter().for_each(|range| all.insert(range));
        all
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn ranges_are_the_set_of_their_lines(
            edits in prop::collection::vec((any::<bool>(), 0usize..30, 0usize..8), 0..20),
        ) {
            let (mut ranges, mut lines) = (Ranges::default(), BTreeSet::new());
            for (adds, start, length) in edits {
                let range = start..start + length;
                if adds {
                    ranges.insert(range.clone());
                    lines.extend(range);
                } else {
                    ranges.remove(&range);
                    lines.retain(|line| !range.contains(line));
                }
            }
            let listed: BTreeSet<usize> = ranges.iter().flatten().collect();
            prop_assert_eq!(&listed, &lines);
            prop_assert_eq!(ranges.len(), lines.len());
            for line in 0..40 {
                prop_assert_eq!(ranges.contains(line), lines.contains(&line));
            }
            prop_assert_eq!(ranges.count_in(&(5..17)), lines.range(5..17).count());
            prop_assert!(ranges.0.windows(2).all(|pair| pair[0].end < pair[1].start));
        }
    }
}
