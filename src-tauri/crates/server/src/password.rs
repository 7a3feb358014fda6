//! The password that every request has to send.

use base64::Engine;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use http::header::AUTHORIZATION;
use http::request::Parts;
use subtle::ConstantTimeEq;

const DEFAULT_USER: &str = "opencode";
const RANDOM_BYTES: usize = 24;

#[derive(Debug, thiserror::Error)]
pub enum PasswordError {
    #[error("this system gives no random numbers, so no password can be made")]
    NoRandomness,
    #[error("the password is empty")]
    Empty,
}

#[derive(Clone)]
pub struct Password {
    user: String,
    secret: String,
}

impl Password {
    pub fn new(user: Option<String>, secret: String) -> Result<Self, PasswordError> {
        if secret.is_empty() {
            return Err(PasswordError::Empty);
        }
        let user = user.filter(|user| !user.is_empty());
        Ok(Password {
            user: user.unwrap_or_else(|| DEFAULT_USER.to_owned()),
            secret,
        })
    }

    /// Makes a new one.
    pub fn generate(user: Option<String>) -> Result<Self, PasswordError> {
        let mut bytes = [0; RANDOM_BYTES];
        getrandom::fill(&mut bytes).map_err(|_| PasswordError::NoRandomness)?;
        Self::new(user, URL_SAFE_NO_PAD.encode(bytes))
    }

    pub fn secret(&self) -> &str {
        &self.secret
    }

    pub fn user(&self) -> &str {
        &self.user
    }

    /// Whether a request carries it: as Basic or Bearer authorization, or as `auth_token` in the
    /// query, for clients that cannot set headers.
    pub fn is_in(&self, request: &Parts) -> bool {
        let header = request.headers.get(AUTHORIZATION);
        if let Some(header) = header.and_then(|value| value.to_str().ok()) {
            return match header.split_once(' ') {
                Some((scheme, token)) if scheme.eq_ignore_ascii_case("basic") => {
                    self.matches_basic(token.trim())
                }
                Some((scheme, token)) if scheme.eq_ignore_ascii_case("bearer") => {
                    same(token.trim().as_bytes(), self.secret.as_bytes())
                }
                _ => false,
            };
        }
        let query = request.uri.query().unwrap_or_default();
        let mut pairs = url::form_urlencoded::parse(query.as_bytes());
        let token = pairs.find(|(name, _)| name == "auth_token");
        token.is_some_and(|(_, token)| self.matches_basic(&token))
    }

    fn matches_basic(&self, token: &str) -> bool {
        let Ok(given) = STANDARD.decode(token) else {
            return false;
        };
        same(&given, format!("{}:{}", self.user, self.secret).as_bytes())
    }
}

/// Takes the same time wherever the two differ.
fn same(given: &[u8], wanted: &[u8]) -> bool {
    given.ct_eq(wanted).into()
}
