//! Decides which variables a command must not see.

use lathe_protocol::wildcard;

/// Parts of a name, between underscores, that suggest a secret.
const WORDS: [&str; 17] = [
    "KEY",
    "KEYS",
    "APIKEY",
    "TOKEN",
    "TOKENS",
    "SECRET",
    "SECRETS",
    "PASSWORD",
    "PASSWORDS",
    "PASSWD",
    "PASSPHRASE",
    "PASS",
    "CREDENTIAL",
    "CREDENTIALS",
    "AUTH",
    "COOKIE",
    "PAT",
];
/// The same as part of longer words.
const STEMS: [&str; 6] = [
    "APIKEY",
    "ACCESSKEY",
    "TOKEN",
    "SECRET",
    "PASSWORD",
    "CREDENTIAL",
];
/// These look secret, but only hold the address of an agent; without them git over ssh fails.
const HARMLESS: [&str; 3] = ["SSH_AUTH_SOCK", "XAUTHORITY", "GPG_AGENT_INFO"];

#[derive(Debug, Clone, Default)]
pub(super) struct SecretNames {
    pub withhold: Vec<String>,
    pub pass: Vec<String>,
}

impl SecretNames {
    pub fn is_secret(&self, name: &str, value: &str) -> bool {
        let upper = name.to_ascii_uppercase();
        let named = |list: &[String]| {
            list.iter()
                .any(|pattern| wildcard::matches(&pattern.to_ascii_uppercase(), &upper))
        };
        // Our own variables configure this app, not the user's programs.
        if upper.starts_with("LATHE_") || named(&self.withhold) {
            return true;
        }
        if named(&self.pass) || HARMLESS.contains(&upper.as_str()) {
            return false;
        }
        upper
            .split(['_', '-', '.'])
            .any(|word| WORDS.contains(&word))
            || STEMS.iter().any(|stem| upper.contains(stem))
            || has_password(value)
    }
}

/// `scheme://user:password@host`, as often in DATABASE_URL.
fn has_password(value: &str) -> bool {
    value.split("://").skip(1).any(|rest| {
        let authority = rest.split(['/', '?', '#', ' ']).next().unwrap_or_default();
        authority.rsplit_once('@').is_some_and(|(user, _)| {
            user.split_once(':')
                .is_some_and(|(_, password)| !password.is_empty())
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_values_that_hold_secrets_are_withheld() {
        let names = SecretNames::default();
        for (name, value) in [
            ("ANTHROPIC_API_KEY", "x"),
            ("GITHUB_TOKEN", "x"),
            ("aws_secret_access_key", "x"),
            ("NPM_CONFIG__AUTH", "x"),
            ("PGPASSWORD", "x"),
            ("OPENAI_APIKEY", "x"),
            ("MYSQL_PASS", "x"),
            ("LATHE_DATA_DIR", "/x"),
            ("DATABASE_URL", "postgres://me:hunter2@db/x"),
            ("GOOGLE_APPLICATION_CREDENTIALS", "/x"),
        ] {
            assert!(names.is_secret(name, value), "{name}");
        }
    }

    #[test]
    fn ordinary_names_are_passed_on() {
        let names = SecretNames::default();
        for (name, value) in [
            ("PATH", "/bin"),
            ("HOME", "/home/me"),
            ("PWD", "/x"),
            ("SSH_AUTH_SOCK", "/run/x"),
            ("KEYBOARD", "de"),
            ("MONKEY", "x"),
            ("COMPASS_URL", "https://host/a:b@c"),
            ("HTTP_PROXY", "http://proxy:8080"),
            ("EDITOR", "vi"),
        ] {
            assert!(!names.is_secret(name, value), "{name}");
        }
    }

    #[test]
    fn settings_add_and_remove_names() {
        let names = SecretNames {
            withhold: vec!["CORP_*".to_owned()],
            pass: vec!["*_PUBLIC_KEY".to_owned()],
        };
        assert!(names.is_secret("corp_host", "x"));
        assert!(!names.is_secret("APP_PUBLIC_KEY", "x"));
        assert!(names.is_secret("APP_PUBLIC_KEY_TOKEN", "x"));
        assert!(!names.is_secret("HOST", "x"));
    }
}
