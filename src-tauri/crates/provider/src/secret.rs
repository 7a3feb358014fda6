//! API keys that must never be shown, and their removal from text that will be.

use std::fmt;

/// A provider key. Printing it shows at most its last four characters.
#[derive(Clone, PartialEq, Eq)]
pub struct ApiKey(String);

impl ApiKey {
    /// `None` for an empty or blank key, which counts as missing.
    pub fn new(key: impl AsRef<str>) -> Option<Self> {
        let key = key.as_ref().trim();
        (!key.is_empty()).then(|| Self(key.to_owned()))
    }

    /// For the authentication header and nothing else.
    pub fn expose(&self) -> &str {
        &self.0
    }

    /// The part of the key that a settings page may show.
    pub fn hint(&self) -> String {
        let count = self.0.chars().count();
        if count < 12 {
            return "…".to_owned();
        }
        let tail: String = self.0.chars().skip(count - 4).collect();
        format!("…{tail}")
    }
}

impl fmt::Debug for ApiKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ApiKey({})", self.hint())
    }
}

/// Replaces known secrets in any text that leaves this crate (PROMISES 19).
#[derive(Clone, Default)]
pub struct Redactor {
    secrets: Vec<String>,
}

impl Redactor {
    const MARK: &str = "[redacted]";
    /// Shorter values would match ordinary words.
    const MIN_LENGTH: usize = 6;

    pub fn new<S: AsRef<str>>(secrets: impl IntoIterator<Item = S>) -> Self {
        let mut redactor = Self::default();
        for secret in secrets {
            redactor.add(secret.as_ref());
        }
        redactor
    }

    pub fn add(&mut self, secret: &str) {
        let secret = secret.trim();
        if secret.len() < Self::MIN_LENGTH {
            return;
        }
        let escaped = serde_json::Value::from(secret).to_string();
        let in_json = escaped.trim_matches('"').to_owned();
        let in_url: String = secret.bytes().map(percent_encoded).collect();
        for form in [secret.to_owned(), in_json, in_url] {
            if !self.secrets.contains(&form) {
                self.secrets.push(form);
            }
        }
        // The longest first: otherwise a key that contains another would be removed only in part.
        self.secrets
            .sort_by_key(|secret| std::cmp::Reverse(secret.len()));
    }

    pub fn redact(&self, text: &str) -> String {
        self.secrets.iter().fold(text.to_owned(), |text, secret| {
            if text.contains(secret.as_str()) {
                text.replace(secret.as_str(), Self::MARK)
            } else {
                text
            }
        })
    }
}

impl fmt::Debug for Redactor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Redactor({} secrets)", self.secrets.len())
    }
}

fn percent_encoded(byte: u8) -> String {
    if byte.is_ascii_alphanumeric() || b"-_.~".contains(&byte) {
        char::from(byte).to_string()
    } else {
        format!("%{byte:02X}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_removed_in_every_encoding() {
        let redactor = Redactor::new(["sk-\"quoted\"/key"]);
        let text = r#"plain sk-"quoted"/key json sk-\"quoted\"/key url sk-%22quoted%22%2Fkey"#;
        assert_eq!(
            redactor.redact(text),
            "plain [redacted] json [redacted] url [redacted]"
        );
    }

    #[test]
    fn the_longer_of_two_nested_keys_is_removed_completely() {
        let redactor = Redactor::new(["sk-abcdef", "sk-abcdef-longer"]);
        assert_eq!(redactor.redact("sk-abcdef-longer"), "[redacted]");
    }

    #[test]
    fn printing_a_key_shows_only_its_last_characters() {
        let key = ApiKey::new(" sk-canary-0123456789 ").unwrap();
        assert_eq!(format!("{key:?}"), "ApiKey(…6789)");
        assert_eq!(ApiKey::new("short").unwrap().hint(), "…");
        assert_eq!(ApiKey::new("  "), None);
    }
}
