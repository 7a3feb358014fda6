//! References to project files: `src/a.rs:12`, `docs/guide.md#L3`.

use lathe_protocol::data_url::percent_decode;

use super::{has_drive, relativize};

/// A file of the project, by its path relative to the root, and a line in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct FileRef {
    pub path: String,
    pub line: Option<u32>,
}

/// Parses one word of a text. It counts as a path only if it has a file extension, and a folder or
/// a line number. The `@` of a mention in a prompt is not part of the path.
pub(crate) fn parse_reference(word: &str, root: Option<&str>) -> Option<FileRef> {
    let word = word.strip_prefix('@').unwrap_or(word);
    let file = split_line(&relative_to_root(word, root)?)?;
    let name = file.path.rsplit(['/', '\\']).next()?;
    let (stem, extension) = name.rsplit_once('.')?;
    let valid_extension = (1..=10).contains(&extension.len())
        && extension.bytes().all(|b| b.is_ascii_alphanumeric())
        && extension.bytes().any(|b| b.is_ascii_alphabetic());
    let has_folder = name.len() < file.path.len();
    let specific = has_folder || file.line.is_some();
    let is_path = valid_extension && specific && (!stem.is_empty() || has_folder);
    (is_path && !starts_with_host(&file.path)).then_some(file)
}

/// Parses the target of a Markdown link without a scheme. The author marked it as a link, so any
/// relative path is accepted.
pub(crate) fn parse_link_target(target: &str, root: Option<&str>) -> Option<FileRef> {
    let target = target.strip_prefix("file://").unwrap_or(target);
    if target.starts_with(['#', '?']) || target.starts_with("//") {
        return None;
    }
    let target = String::from_utf8(percent_decode(target)).ok()?;
    split_line(&relative_to_root(&target, root)?)
}

/// The path relative to the root; `None` for an absolute path outside of it.
fn relative_to_root(path: &str, root: Option<&str>) -> Option<String> {
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
    let valid_rest = text[end..]
        .chars()
        .all(|c| c.is_ascii_digit() || ":-L".contains(c));
    let line = text[..end].parse().ok()?;
    (valid_rest && line > 0).then_some(line)
}

/// `example.com/a.html` and `localhost.dev:80` are web addresses, not files.
fn starts_with_host(path: &str) -> bool {
    const ENDINGS: [&str; 9] = ["com", "org", "net", "io", "dev", "ai", "app", "edu", "gov"];
    let first = path.split(['/', '\\']).next().unwrap_or_default();
    first.rsplit_once('.').is_some_and(|(host, ending)| {
        !host.is_empty() && ENDINGS.contains(&ending.to_ascii_lowercase().as_str())
    })
}
