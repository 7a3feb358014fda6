//! If oldString differs from the file by a rule (indentation, escapes), newString usually differs
//! by the same rule. This module applies the correction to newString.

use super::lines::{Lines, indentation};

/// How to convert the indentation of the model's lines to that of the file's lines.
#[derive(Debug, PartialEq, Eq)]
enum Shift {
    Added(String),
    Removed(String),
    /// Only the first line was given without its indentation.
    AddedToFirst(String),
    TabsFor(usize),
    SpacesFor(usize),
}

/// `new` with the indentation of the region, if that differs from `old`'s by one rule.
pub(super) fn indented(region: &str, old: &str, new: &str) -> String {
    let first = |text: &str| {
        let line = text.lines().find(|line| !line.trim().is_empty());
        line.map(|line| indentation(line).to_owned())
    };
    // A new text whose first line is indented differently from the old one keeps its indentation.
    if first(old) != first(new) {
        return new.to_owned();
    }
    let shifted = shift(region, old).and_then(|shift| apply(&shift, new));
    shifted.unwrap_or_else(|| new.to_owned())
}

/// Removes the last line break of `new` if `old` ends with one and the region does not.
pub(super) fn same_end(region: &str, old: &str, mut new: String) -> String {
    if old.ends_with('\n') && !region.ends_with('\n') && new.ends_with('\n') {
        new.pop();
    }
    new
}

/// `new` without the whitespace that was trimmed from both ends of `old`.
pub(super) fn without_boundary(old: &str, new: &str) -> String {
    let lead = &old[..old.len() - old.trim_start().len()];
    let trail = &old[old.trim_end().len()..];
    let new = new.strip_prefix(lead).unwrap_or(new);
    new.strip_suffix(trail).unwrap_or(new).to_owned()
}

/// The same, but only for whitespace with line breaks: whitespace within a line is part of the
/// match.
pub(super) fn without_blank_lines(old: &str, new: &str) -> String {
    let lead = &old[..old.len() - old.trim_start().len()];
    let trail = &old[old.trim_end().len()..];
    let lead = if lead.contains('\n') { lead } else { "" };
    let trail = if is_one_break(trail) { "" } else { trail };
    let new = new.strip_prefix(lead).unwrap_or(new);
    new.strip_suffix(trail).unwrap_or(new).to_owned()
}

/// Whether the text is whitespace up to the end of one line, with or without its break.
pub(super) fn is_one_break(blanks: &str) -> bool {
    !blanks.strip_suffix('\n').unwrap_or(blanks).contains('\n')
}

/// Removes one level of backslash escapes.
pub(super) fn unescaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        let meant = match (c, chars.peek()) {
            ('\\', Some('n')) => '\n',
            ('\\', Some('t')) => '\t',
            ('\\', Some('r')) => '\r',
            ('\\', Some(quoted @ ('"' | '\'' | '`' | '\\' | '$' | '\n'))) => *quoted,
            _ => {
                out.push(c);
                continue;
            }
        };
        chars.next();
        out.push(meant);
    }
    out
}

fn shift(region: &str, old: &str) -> Option<Shift> {
    let (region, old) = (Lines::new(region), Lines::new(old));
    let last = (old.len() - 1, region.len() - 1);
    let pairs: Vec<(&str, &str)> = (0..old.len().min(region.len()))
        .map(|at| (at, at))
        .chain((last.0 != last.1).then_some(last))
        .map(|(o, r)| (old.get(o), region.get(r)))
        .filter(|(o, r)| !o.trim().is_empty() && o.trim() == r.trim())
        .map(|(o, r)| (indentation(o), indentation(r)))
        .collect();
    let (first, rest) = pairs.split_first()?;
    let same = |(o, r): &(&str, &str)| o == r;
    let added = first.1.strip_suffix(first.0);
    let removed = first.0.strip_suffix(first.1);
    if let Some(more) = added.filter(|more| !more.is_empty()) {
        if pairs.iter().all(|(o, r)| r.strip_suffix(o) == Some(more)) {
            return Some(Shift::Added(more.to_owned()));
        }
        if !rest.is_empty() && rest.iter().all(same) {
            return Some(Shift::AddedToFirst(more.to_owned()));
        }
    }
    if let Some(less) = removed.filter(|less| !less.is_empty())
        && pairs.iter().all(|(o, r)| o.strip_suffix(r) == Some(less))
    {
        return Some(Shift::Removed(less.to_owned()));
    }
    tabs(&pairs)
}

fn tabs(pairs: &[(&str, &str)]) -> Option<Shift> {
    let only = |text: &str, c: char| text.chars().all(|found| found == c);
    let width = |tabs: &str, spaces: &str| {
        (!tabs.is_empty() && spaces.len().is_multiple_of(tabs.len()))
            .then(|| spaces.len() / tabs.len())
    };
    let fits = |tabs: &str, spaces: &str, each: usize| {
        only(tabs, '\t') && only(spaces, ' ') && tabs.len() * each == spaces.len()
    };
    let to_tabs = pairs.iter().find_map(|(o, r)| width(r, o));
    if let Some(each) = to_tabs.filter(|each| *each > 0)
        && pairs.iter().all(|(o, r)| fits(r, o, each))
    {
        return Some(Shift::TabsFor(each));
    }
    let to_spaces = pairs.iter().find_map(|(o, r)| width(o, r));
    if let Some(each) = to_spaces.filter(|each| *each > 0)
        && pairs.iter().all(|(o, r)| fits(o, r, each))
    {
        return Some(Shift::SpacesFor(each));
    }
    None
}

fn apply(shift: &Shift, new: &str) -> Option<String> {
    let mut out = String::with_capacity(new.len());
    let mut first = true;
    for line in new.split_inclusive('\n') {
        if line.trim().is_empty() {
            out.push_str(line);
            continue;
        }
        let (indent, rest) = line.split_at(indentation(line).len());
        match shift {
            Shift::Added(more) => out.push_str(&[more, line].concat()),
            Shift::AddedToFirst(more) if first => out.push_str(&[more, line].concat()),
            Shift::AddedToFirst(_) => out.push_str(line),
            Shift::Removed(less) => out.push_str(line.strip_prefix(less.as_str())?),
            Shift::TabsFor(each) => {
                let columns: usize = indent
                    .chars()
                    .map(|c| if c == '\t' { *each } else { 1 })
                    .sum();
                out.push_str(&"\t".repeat(columns / each));
                out.push_str(&" ".repeat(columns % each));
                out.push_str(rest);
            }
            Shift::SpacesFor(each) => {
                out.push_str(&indent.replace('\t', &" ".repeat(*each)));
                out.push_str(rest);
            }
        }
        first = false;
    }
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_are_undone_by_one_level() {
        assert_eq!(unescaped(r#"a\n\t\"b\" \\n \d"#), "a\n\t\"b\" \\n \\d");
        assert_eq!(unescaped("ends with \\"), "ends with \\");
    }

    #[test]
    fn the_new_text_is_indented_as_the_old_one_should_have_been() {
        let adapt = |region, old, new| indented(region, old, new);
        assert_eq!(
            adapt("    a\n      b", "a\n  b", "a\n  c\n\nd"),
            "    a\n      c\n\n    d"
        );
        assert_eq!(adapt("a\n  b", "  a\n    b", "  a\n    c"), "a\n  c");
        assert_eq!(
            adapt("\ta\n\t\tb", "  a\n    b", "  x\n     y"),
            "\tx\n\t\t y"
        );
        assert_eq!(
            adapt("  a\n    b", "\ta\n\t\tb", "\tx\n\t\ty"),
            "  x\n    y"
        );
        assert_eq!(
            adapt("    a\n      b ", "a\n      b", "x\n      y"),
            "    x\n      y"
        );
    }

    #[test]
    fn a_new_text_with_an_indentation_of_its_own_keeps_it() {
        assert_eq!(indented("    a\n    b", "a\nb", "  a\n  c"), "  a\n  c");
        assert_eq!(indented("  a\n      b", "a\nb", "a\nc"), "a\nc");
    }
}
