//! Whether a rule that denies means a command, however its options are spelled.

use lathe_protocol::Rule;

use crate::rules::{expand, wildcard};

/// Letters and the long options they stand for in most programs.
const SAME: [(char, &str); 9] = [
    ('f', "force"),
    ('r', "recursive"),
    ('R', "recursive"),
    ('d', "delete"),
    ('D', "delete"),
    ('i', "in-place"),
    ('a', "all"),
    ('A', "all"),
    ('g', "global"),
];

/// By its text, or by its words: `rm -rf *` also means `rm -r -f x` and `rm x --force
/// --recursive`, and `git push --force *` means `git push origin -f`.
pub(crate) fn denies(rule: &Rule, text: &str) -> bool {
    let pattern = expand(&rule.pattern);
    wildcard(&pattern, text) || means(&pattern, text)
}

fn means(pattern: &str, text: &str) -> bool {
    let Some(named) = pattern.strip_suffix(" *") else {
        return false;
    };
    if named.contains(['*', '?']) || !named.contains(" -") {
        return false;
    }
    let (wanted, given) = (Words::read(named), Words::read(text));
    let operands = wanted.operands.len() <= given.operands.len()
        && wanted
            .operands
            .iter()
            .zip(&given.operands)
            .all(|(a, b)| a == b);
    operands
        && wanted
            .letters
            .iter()
            .all(|letter| given.has_letter(*letter))
        && wanted.long.iter().all(|long| given.has_long(long))
}

#[derive(Default)]
struct Words<'t> {
    operands: Vec<&'t str>,
    letters: Vec<char>,
    long: Vec<&'t str>,
}

impl<'t> Words<'t> {
    fn read(text: &'t str) -> Self {
        let mut words = Words::default();
        for word in text.split(' ').filter(|word| !word.is_empty()) {
            if let Some(long) = word.strip_prefix("--") {
                words.long.push(long.split('=').next().unwrap_or(long));
            } else if let Some(letters) = word.strip_prefix('-') {
                words.letters.extend(letters.chars());
            } else {
                words.operands.push(word);
            }
        }
        words
    }

    fn has_letter(&self, letter: char) -> bool {
        let same = SAME.iter().filter(|(short, _)| *short == letter);
        let spelled = |(_, long): &(char, &str)| self.abbreviates(long);
        self.letters.contains(&letter)
            || (letter.eq_ignore_ascii_case(&'r')
                && self.letters.iter().any(|c| c.eq_ignore_ascii_case(&'r')))
            || same.into_iter().any(spelled)
    }

    fn has_long(&self, long: &str) -> bool {
        let short = SAME.iter().filter(|(_, name)| *name == long);
        self.abbreviates(long)
            || short
                .into_iter()
                .any(|(letter, _)| self.letters.contains(letter))
    }

    /// The option itself, or a beginning of it that programs accept.
    fn abbreviates(&self, long: &str) -> bool {
        let begins = |given: &&str| given.len() >= 2 && long.starts_with(given);
        self.long
            .iter()
            .any(|given| *given == long || begins(given))
    }
}

#[cfg(test)]
mod tests {
    use lathe_protocol::Action;

    use crate::rules::rule;

    #[test]
    fn options_count_however_they_are_spelled() {
        let denies =
            |pattern: &str, text: &str| super::denies(&rule("bash", pattern, Action::Deny), text);
        for (pattern, text) in [
            ("rm -rf *", "rm -rf x"),
            ("rm -rf *", "rm -fr x"),
            ("rm -rf *", "rm -r -f x"),
            ("rm -rf *", "rm x -rfv"),
            ("rm -rf *", "rm --recursive --force x"),
            ("rm -rf *", "rm --recur -f x"),
            ("rm -rf *", "rm -Rf x"),
            ("git push --force *", "git push origin --force"),
            ("git push --force *", "git push -f"),
            ("git push --force *", "git push origin main -uf"),
            ("sed -i *", "sed -n -i.bak s/a/b/ x"),
            ("sed -i *", "sed --in-place s/a/b/ x"),
        ] {
            assert!(denies(pattern, text), "{pattern} on {text}");
        }
        for (pattern, text) in [
            ("rm -rf *", "rm x"),
            ("rm -rf *", "rm -r x"),
            ("git push --force *", "git push origin main"),
            ("git push --force *", "git pull --force"),
            ("sed -i *", "sed -n p x"),
            ("rm *", "rmdir x"),
        ] {
            assert!(!denies(pattern, text), "{pattern} on {text}");
        }
    }
}
