//! What must not be shared is taken out: secrets by their look, the home folder by its name.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::LazyLock;

use lathe_protocol::ipc::Redaction;
use lathe_provider::ApiKey;
use regex::{Captures, Regex};
use serde_json::Value;

const MARK: &str = "[redacted]";
/// What people type for a server that wants no key (`x`, `none`) is no secret.
const SHORTEST_KEY: usize = 8;

/// A kind of secret. Where the pattern has a group, only that goes.
static SECRETS: LazyLock<Vec<(&'static str, Regex)>> = LazyLock::new(|| {
    let patterns = [
        (
            "private key",
            r"-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY-----|\z)",
        ),
        ("API key", r"\b(?:sk|pk|rk)-[A-Za-z0-9_-]{16,}"),
        (
            "GitHub token",
            r"\b(?:gh[pousr]_[A-Za-z0-9]{20,}|github_pat_[A-Za-z0-9_]{20,})",
        ),
        ("GitLab token", r"\bglpat-[A-Za-z0-9_-]{16,}"),
        ("AWS key", r"\b(?:AKIA|ASIA)[A-Z0-9]{16}\b"),
        ("Google key", r"\bAIza[A-Za-z0-9_-]{30,}"),
        ("Slack token", r"\bxox[abeoprs]-[A-Za-z0-9-]{10,}"),
        (
            "signed token",
            r"\beyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{5,}",
        ),
        ("bearer token", r"(?i)\bbearer\s+([A-Za-z0-9._~+/=-]{12,})"),
        ("password in an address", r"://[^\s/:@]+:([^\s/@]+)@"),
        (
            "secret",
            r#"(?i)\b[a-z0-9_.-]*(?:api[_-]?key|secret|token|passwd|password)[a-z0-9_.-]*["']?\s*[:=]\s*["']?([a-z0-9_+/=.-]{12,})"#,
        ),
    ];
    let compile = |(what, pattern)| Regex::new(pattern).ok().map(|regex| (what, regex));
    patterns.into_iter().filter_map(compile).collect()
});

/// Everything that was taken out so far.
#[derive(Default)]
pub struct Redactor {
    home: Option<String>,
    /// The person's own keys, whatever they look like.
    keys: Vec<String>,
    found: BTreeMap<(&'static str, String), usize>,
}

/// Redacts one text after the other, without a list of what was found.
pub fn text_redactor(
    home: Option<PathBuf>,
    keys: &[ApiKey],
) -> impl Fn(&str) -> String + Send + Sync + 'static {
    let Redactor { home, keys, .. } = Redactor::new(home, keys);
    move |text| {
        let mut redactor = Redactor {
            home: home.clone(),
            keys: keys.clone(),
            found: BTreeMap::new(),
        };
        redactor.text(text)
    }
}

impl Redactor {
    pub fn new(home: Option<PathBuf>, keys: &[ApiKey]) -> Self {
        let home = home.map(|home| home.display().to_string());
        let keys = keys.iter().map(|key| key.expose().to_owned());
        Redactor {
            keys: keys.filter(|key| key.len() >= SHORTEST_KEY).collect(),
            home: home.filter(|home| home.len() > 1),
            found: BTreeMap::new(),
        }
    }

    pub fn clean(&mut self, value: &mut Value) {
        match value {
            // Pictures are not text.
            Value::String(text) if text.starts_with("data:") => {}
            Value::String(text) => *text = self.text(text),
            Value::Array(items) => items.iter_mut().for_each(|item| self.clean(item)),
            Value::Object(fields) => fields.values_mut().for_each(|field| self.clean(field)),
            _ => {}
        }
    }

    pub fn found(self) -> Vec<Redaction> {
        let tell = |((what, sample), count): ((&str, String), usize)| Redaction {
            what: what.to_owned(),
            sample,
            count,
        };
        self.found.into_iter().map(tell).collect()
    }

    fn text(&mut self, text: &str) -> String {
        let mut text = self.without_keys(text);
        for (what, pattern) in SECRETS.iter() {
            if pattern.is_match(&text) {
                let replaced =
                    pattern.replace_all(&text, |found: &Captures<'_>| self.replace(what, found));
                text = replaced.into_owned();
            }
        }
        match self.home.clone() {
            Some(home) if text.contains(&home) => self.without_home(&text, &home),
            _ => text,
        }
    }

    fn without_keys(&mut self, text: &str) -> String {
        let mut text = text.to_owned();
        for key in self.keys.clone() {
            for _ in text.matches(&key) {
                self.note("your key", &key);
            }
            text = text.replace(&key, MARK);
        }
        text
    }

    fn replace(&mut self, what: &'static str, found: &Captures<'_>) -> String {
        let whole = &found[0];
        let Some(secret) = found.get(1).map(|group| group.as_str()) else {
            self.note(what, whole);
            return MARK.to_owned();
        };
        // Words are named like secrets, too; what has no digit is taken for one of those.
        if what == "secret" && !secret.contains(|c: char| c.is_ascii_digit()) {
            return whole.to_owned();
        }
        if secret == MARK {
            return whole.to_owned();
        }
        self.note(what, secret);
        whole.replace(secret, MARK)
    }

    /// Only where it is a whole path or the front of one.
    fn without_home(&mut self, text: &str, home: &str) -> String {
        let mut out = String::with_capacity(text.len());
        let mut rest = text;
        while let Some(at) = rest.find(home) {
            let after = &rest[at + home.len()..];
            let goes_on = |c: char| c.is_alphanumeric() || "_-.".contains(c);
            out.push_str(&rest[..at]);
            if after.starts_with(goes_on) {
                out.push_str(home);
            } else {
                out.push('~');
                *self
                    .found
                    .entry(("home folder", "~".to_owned()))
                    .or_default() += 1;
            }
            rest = after;
        }
        out.push_str(rest);
        out
    }

    fn note(&mut self, what: &'static str, secret: &str) {
        let shown: String = secret.chars().take(4).collect();
        *self.found.entry((what, format!("{shown}…"))).or_default() += 1;
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn own_keys() -> Vec<ApiKey> {
        ApiKey::new("plain-words-only").into_iter().collect()
    }

    fn clean(mut value: Value) -> (Value, Vec<String>) {
        let mut redactor = Redactor::new(Some("/home/ada".into()), &own_keys());
        redactor.clean(&mut value);
        let told = |one: &Redaction| format!("{} {} {}", one.what, one.sample, one.count);
        (value, redactor.found().iter().map(told).collect())
    }

    #[test]
    fn secrets_and_the_home_folder_go_and_are_told_of() {
        let (value, found) = clean(json!({
            "a": "key sk-canary-4f9d2c7b8a61aa in /home/ada/x and /home/adam",
            "b": ["postgres://me:hunter2@db/x", "Authorization: Bearer abcdefghijkl123"],
            "c": "API_KEY=abcdef123456789",
            "d": "they said plain-words-only twice: plain-words-only",
        }));
        assert_eq!(
            value,
            json!({
                "a": "key [redacted] in ~/x and /home/adam",
                "b": ["postgres://me:[redacted]@db/x", "Authorization: Bearer [redacted]"],
                "c": "API_KEY=[redacted]",
                "d": "they said [redacted] twice: [redacted]",
            })
        );
        assert_eq!(
            found,
            [
                "API key sk-c… 1",
                "bearer token abcd… 1",
                "home folder ~ 1",
                "password in an address hunt… 1",
                "secret abcd… 1",
                "your key plai… 2",
            ]
        );
    }

    #[test]
    fn ordinary_code_and_pictures_stay_as_they_are() {
        let text = json!([
            "let token = parse_next_token(input);",
            "data:image/png;base64,sk-aaaaaaaaaaaaaaaaaaaaaaa",
            "tokens: 12",
        ]);
        assert_eq!(clean(text.clone()), (text, Vec::new()));
    }
}
