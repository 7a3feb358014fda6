//! The key of a record: a short path of checked segments.
//!
//! Ids come from outside (imports, forks, requests). No text becomes part of a path before
//! [`segment`] has checked it, so a [`Key`] cannot name a path outside of the store.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use lathe_protocol::{MessageId, PartId, ProjectId, SessionId};

/// Longer than every id. With `.json` or the name of a temp file it stays well below the 255 bytes
/// that file systems allow.
const MAX_SEGMENT_BYTES: usize = 160;

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{text:?} cannot name a record: {why}")]
pub struct BadKey {
    pub text: String,
    pub why: &'static str,
}

/// The path of one record, or of a folder of records, without its `.json`.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Key(Arc<str>);

impl Key {
    pub fn new<S: AsRef<str>>(segments: impl IntoIterator<Item = S>) -> Result<Key, BadKey> {
        let mut path = String::new();
        for text in segments {
            let text = segment(text.as_ref())?;
            if !path.is_empty() {
                path.push('/');
            }
            path.push_str(text);
        }
        if path.is_empty() {
            return Err(BadKey {
                text: path,
                why: "it is empty",
            });
        }
        Ok(Key(path.into()))
    }

    pub fn project(project: &ProjectId) -> Result<Key, BadKey> {
        Key::new(["project", project.as_str()])
    }

    pub fn session(project: &ProjectId, session: &SessionId) -> Result<Key, BadKey> {
        Key::new(["session", project.as_str(), session.as_str()])
    }

    pub fn message(session: &SessionId, message: &MessageId) -> Result<Key, BadKey> {
        Key::new(["message", session.as_str(), message.as_str()])
    }

    pub fn part(message: &MessageId, part: &PartId) -> Result<Key, BadKey> {
        Key::new(["part", message.as_str(), part.as_str()])
    }

    pub fn session_diff(session: &SessionId) -> Result<Key, BadKey> {
        Key::new(["session_diff", session.as_str()])
    }

    /// What was reverted and can be restored.
    pub fn session_revert(session: &SessionId) -> Result<Key, BadKey> {
        Key::new(["session_revert", session.as_str()])
    }

    /// What a person did in the review: marks, comments, actions to undo.
    pub fn session_review(session: &SessionId) -> Result<Key, BadKey> {
        Key::new(["session_review", session.as_str()])
    }

    /// What reverts removed, kept for a while.
    pub fn reverted(session: &SessionId) -> Result<Key, BadKey> {
        Key::new(["session_reverted", session.as_str()])
    }

    pub fn todo(session: &SessionId) -> Result<Key, BadKey> {
        Key::new(["todo", session.as_str()])
    }

    pub fn permission(project: &ProjectId) -> Result<Key, BadKey> {
        Key::new(["permission", project.as_str()])
    }

    pub fn session_share(session: &SessionId) -> Result<Key, BadKey> {
        Key::new(["session_share", session.as_str()])
    }

    pub fn child(&self, name: &str) -> Result<Key, BadKey> {
        Ok(Key(format!("{}/{}", self.0, segment(name)?).into()))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    pub fn segments(&self) -> impl DoubleEndedIterator<Item = &str> {
        self.0.split('/')
    }

    /// The first segment: the kind of the record.
    pub fn kind(&self) -> &str {
        self.0.split_once('/').map_or(&*self.0, |(kind, _)| kind)
    }

    /// The last segment: the record's own id.
    pub fn name(&self) -> &str {
        self.0.rsplit_once('/').map_or(&*self.0, |(_, name)| name)
    }

    /// The key of the folder it lies in.
    pub(crate) fn parent(&self) -> &str {
        self.0.rsplit_once('/').map_or("", |(folder, _)| folder)
    }

    /// The session that the key names, if it does: a part names only its message.
    pub(crate) fn session_name(&self) -> Option<&str> {
        match self.kind() {
            "message" => self.segments().nth(1),
            "session" => self.segments().nth(2),
            "todo" | "session_diff" | "session_revert" | "session_reverted" | "session_review"
            | "session_share" | "share" => self.segments().nth(1),
            _ => None,
        }
    }

    pub(crate) fn file(&self, tree: &Path) -> PathBuf {
        tree.join(format!("{}.json", self.0))
    }

    pub(crate) fn folder(&self, tree: &Path) -> PathBuf {
        tree.join(&*self.0)
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "Key({})", self.0)
    }
}

/// Checks a text that is to become one segment of a path. The rules are the same on every
/// platform, because a data directory may move between machines.
pub fn segment(text: &str) -> Result<&str, BadKey> {
    let refuse = |why| {
        Err(BadKey {
            text: text.chars().take(80).collect(),
            why,
        })
    };
    if text.is_empty() {
        return refuse("it is empty");
    }
    if text.len() > MAX_SEGMENT_BYTES {
        return refuse("it is too long");
    }
    if !text
        .bytes()
        .all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-' | b'.'))
    {
        return refuse("only letters, digits, '_', '-' and '.' are allowed");
    }
    if text.starts_with('.') || text.ends_with('.') {
        return refuse("it starts or ends with a dot");
    }
    if is_device(text) {
        return refuse("it is a device name on Windows");
    }
    Ok(text)
}

fn is_device(text: &str) -> bool {
    let stem = text.split('.').next().unwrap_or(text).to_ascii_lowercase();
    if matches!(
        stem.as_str(),
        "con" | "prn" | "aux" | "nul" | "conin$" | "conout$"
    ) {
        return true;
    }
    let numbered = stem
        .strip_prefix("com")
        .or_else(|| stem.strip_prefix("lpt"));
    numbered.is_some_and(|rest| rest.len() == 1 && rest.bytes().all(|b| b.is_ascii_digit()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn segments_that_could_leave_the_store_are_refused() {
        let long = "a".repeat(161);
        for bad in [
            "",
            ".",
            "..",
            "../../x",
            "/etc/passwd",
            "a/b",
            "a\\b",
            "C:",
            "C:\\x",
            "a\0b",
            ".hidden",
            "dot.",
            "nul",
            "NUL.txt",
            "com1",
            "Lpt9.json",
            "a b",
            "ä",
            "a\nb",
            "~",
            "%2e%2e",
            &long,
        ] {
            assert!(segment(bad).is_err(), "{bad:?} was accepted");
        }
    }

    #[test]
    fn real_ids_are_accepted() {
        for good in [
            "ses_46275e2c6ffeABCDEFghijklmn",
            "msg_b996eae6d001xyzXYZ01234567",
            "global",
            "4b825dc642cb6eb9a060e54bf8d69288fbee4904",
            "home-user-work",
            "com10",
            "console",
        ] {
            assert_eq!(segment(good), Ok(good));
        }
    }

    #[test]
    fn a_key_is_a_path_below_the_tree() {
        let key = Key::new(["part", "msg_1", "prt_2"]).unwrap();
        assert_eq!(
            key.file(Path::new("t")),
            Path::new("t/part/msg_1/prt_2.json")
        );
        assert_eq!((key.kind(), key.name()), ("part", "prt_2"));
        assert!(Key::new(["part", "../x"]).is_err());
        assert!(Key::new(Vec::<&str>::new()).is_err());
    }
}
