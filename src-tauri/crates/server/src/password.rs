//! The password that every request has to send.

use base64::Engine;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use http::header::AUTHORIZATION;
use http::request::Parts;
use sha2::{Digest, Sha256};
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
    /// Of `user:secret`, and of the secret alone.
    basic: Digest32,
    bearer: Digest32,
}

/// What is given is only ever compared as this: two of them take the same time wherever they
/// differ, and a longer or shorter text makes no other length.
#[derive(Clone)]
struct Digest32([u8; 32]);

impl Digest32 {
    fn of(text: &[u8]) -> Self {
        Digest32(Sha256::digest(text).into())
    }

    fn is_of(&self, given: &[u8]) -> bool {
        self.0.ct_eq(&Self::of(given).0).into()
    }
}

impl Password {
    pub fn new(user: Option<String>, secret: String) -> Result<Self, PasswordError> {
        if secret.is_empty() {
            return Err(PasswordError::Empty);
        }
        let user = user.filter(|user| !user.is_empty());
        let user = user.unwrap_or_else(|| DEFAULT_USER.to_owned());
        Ok(Password {
            basic: Digest32::of(format!("{user}:{secret}").as_bytes()),
            bearer: Digest32::of(secret.as_bytes()),
            user,
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
                    self.bearer.is_of(token.trim().as_bytes())
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
        let given = STANDARD.decode(token);
        given.is_ok_and(|given| self.basic.is_of(&given))
    }
}

#[cfg(test)]
mod tests {
    use std::marker::PhantomData;

    use super::*;

    struct Probe<T>(PhantomData<T>);

    impl<T: PartialEq> Probe<T> {
        const COMPARES: bool = true;
    }

    trait Otherwise {
        const COMPARES: bool = false;
    }

    impl<T> Otherwise for Probe<T> {}

    /// How long it takes cannot be tested well; that there is no other comparison can.
    #[test]
    fn what_is_given_can_only_be_compared_in_constant_time() {
        let compares = [Probe::<[u8; 32]>::COMPARES, Probe::<Digest32>::COMPARES];
        assert_eq!(compares, [true, false]);
    }

    #[test]
    fn only_the_same_text_is_the_password() {
        let password = Digest32::of(b"open sesame");
        let found = [
            "open sesame",
            "open sesam",
            "open sesame ",
            "",
            "Open sesame",
        ]
        .map(|given| password.is_of(given.as_bytes()));
        assert_eq!(found, [true, false, false, false, false]);
    }
}
