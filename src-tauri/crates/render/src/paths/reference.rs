//! References to project files: `src/a.rs:12`, `docs/guide.md#L3`.

use lathe_protocol::data_url::percent_decode;

use super::{has_drive, relativize};

/// A file of the project, by its path from the root, and a line in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct FileRef {
    pub path: String,
    pub line: Option<u32>,
}

/// Reads one word of running text. It must look like a path beyond doubt: a file extension,
/// and a folder or a line number. A prompt writes `@` before it, which is no part of its name.
pub(crate) fn reference(word: &str, root: Option<&str>) -> Option<FileRef> {
    let word = word.strip_prefix('@').unwrap_or(word);
    let found = split_line(&from_root(word, root)?)?;
    let name = found.path.rsplit(['/', '\\']).next()?;
    let (stem, extension) = name.rsplit_once('.')?;
    let extension_fits = (1..=10).contains(&extension.len())
        && extension.bytes().all(|b| b.is_ascii_alphanumeric())
        && extension.bytes().any(|b| b.is_ascii_alphabetic());
    let has_folder = name.len() < found.path.len();
    let placed = has_folder || found.line.is_some();
    let fits = extension_fits && placed && (!stem.is_empty() || has_folder);
    (fits && !starts_with_host(&found.path)).then_some(found)
}

/// Reads the target of a Markdown link that has no scheme. Here the author said it is a link,
/// so any relative path will do.
pub(crate) fn link_target(target: &str, root: Option<&str>) -> Option<FileRef> {
    let target = target.strip_prefix("file://").unwrap_or(target);
    if target.starts_with(['#', '?']) || target.starts_with("//") {
        return None;
    }
    split_line(&from_root(&percent_decoded(target)?, root)?)
}

/// The path below the root; an absolute path elsewhere is none of the project's.
fn from_root(path: &str, root: Option<&str>) -> Option<String> {
    let path = root.map_or(path.into(), |root| relativize(path, root));
    let plain = |c: char| c.is_alphanumeric() || "/\\._-+@~:#[]() $&,=!".contains(c);
    let inside = !path.starts_with(['/', '\\', '~', '-']) && !has_drive(&path);
    (inside && !path.contains("://") && path.chars().all(plain)).then(|| path.into_owned())
}

fn split_line(path: &str) -> Option<FileRef> {
    let (path, line) = match path.split_once('#') {
        Some((path, fragment)) => (path, fragment.strip_prefix('L').and_then(first_number)),
        None => match path.split_once(':') {
            Some((path, suffix)) => (path, Some(first_number(suffix)?)),
            None => (path, None),
        },
    };
    (!path.is_empty()).then(|| FileRef {
        path: path.to_owned(),
        line,
    })
}

/// The line of `12`, `12:5`, `12-20` and `12-L20`.
fn first_number(text: &str) -> Option<u32> {
    let end = text
        .find(|c: char| !c.is_ascii_digit())
        .unwrap_or(text.len());
    let rest_fits = text[end..]
        .chars()
        .all(|c| c.is_ascii_digit() || ":-L".contains(c));
    let line = text[..end].parse().ok()?;
    (rest_fits && line > 0).then_some(line)
}

/// `example.com/a.html` and `localhost.dev:80` are addresses, not files.
fn starts_with_host(path: &str) -> bool {
    const ENDINGS: [&str; 9] = ["com", "org", "net", "io", "dev", "ai", "app", "edu", "gov"];
    let first = path.split(['/', '\\']).next().unwrap_or_default();
    first.rsplit_once('.').is_some_and(|(host, ending)| {
        !host.is_empty() && ENDINGS.contains(&ending.to_ascii_lowercase().as_str())
    })
}

fn percent_decoded(text: &str) -> Option<String> {
    String::from_utf8(percent_decode(text)).ok()
}
