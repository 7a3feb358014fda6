//! Patterns of ignore files, which searches also take on the command line.
//!
//! A file whose name a pattern asks for is searched although it is hidden. Programs differ in what
//! their patterns mean, so only plain ones are understood.

use crate::rules::wildcard;

/// A pattern that is understood. It may match more than the program's own, never less.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SearchPattern {
    alternatives: Vec<String>,
}

impl SearchPattern {
    /// None for whatever is more than letters, digits, `*` and one list in braces: then any file
    /// may be meant.
    pub fn parse(pattern: &str) -> Option<Self> {
        let plain = |text: &str| {
            text.chars()
                .all(|c| c.is_ascii_alphanumeric() || "_-./*".contains(c))
        };
        let alternatives: Vec<String> = match pattern.split_once('{') {
            None => vec![pattern.to_owned()],
            Some((before, rest)) => {
                let (list, after) = rest.split_once('}')?;
                let one = |choice: &str| format!("{before}{choice}{after}");
                list.split(',').map(one).collect()
            }
        };
        let all_plain = alternatives.iter().all(|one| plain(one));
        all_plain.then(|| Self {
            alternatives: alternatives.iter().map(|one| loose(one)).collect(),
        })
    }

    /// `path` is relative to where the pattern counts from.
    pub fn may_match(&self, path: &str) -> bool {
        // Without a difference between `a` and `A`, as many programs have it; beyond ASCII they do
        // not agree.
        let path = path.to_ascii_lowercase();
        let matches = |one: &String| wildcard(one, &path) || wildcard(&format!("*/{one}"), &path);
        !path.is_ascii() || self.alternatives.iter().any(matches)
    }
}

/// `**/` matches no folder, too.
fn loose(pattern: &str) -> String {
    let pattern = pattern.trim_matches('/').to_ascii_lowercase();
    pattern.replace("**/", "*")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plain_pattern_matches_at_least_what_a_search_takes_it_for() {
        for (pattern, path, expected) in [
            (".env", ".env", true),
            (".ENV", "src/.env", true),
            (".env", "src/.ENV", true),
            ("/src/.e*", "src/.env", true),
            ("**/.env", ".env", true),
            ("src/**/.env", "src/.env", true),
            ("src/**", "src/a/.env", true),
            ("*/*", "src/.env", true),
            ("*.{ts,env}", "src/.env", true),
            ("*.{ts,tsx}", ".env", false),
            ("*.rs", ".env", false),
            (".github/**", "src/.env", false),
            ("*.rs", "ſ.env", true),
        ] {
            let pattern = SearchPattern::parse(pattern).unwrap();
            assert_eq!(pattern.may_match(path), expected, "{pattern:?} on {path}");
        }
    }

    #[test]
    fn any_other_pattern_is_not_understood() {
        for pattern in [
            "\\.env",
            ".\\env",
            ".[e]nv",
            ".en?",
            "{a,{b,c}}",
            "{.env",
            "!.env",
            ".env ",
            "{a,b}{c,d}",
        ] {
            assert_eq!(SearchPattern::parse(pattern), None, "{pattern}");
        }
    }
}
