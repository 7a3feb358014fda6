//! Links, images and file references inside a block.

use ammonia::Url;

use crate::paths::{self, FileRef};
use crate::{html, sanitize};

/// A longer URL is not linked, because it would be repeated at every use of its label.
const MAX_URL_BYTES: usize = 2_048;
/// The maximum length of a `data:` URL of an image in the text.
const MAX_INLINE_IMAGE_BYTES: usize = 32 * 1024;

/// Where a link leads.
pub(super) enum Target {
    External(String),
    File(FileRef),
    /// A turn or a part of a session.
    Place(String),
    /// Not allowed or not understood: only the text of the link is shown.
    None,
}

impl Target {
    pub fn parse(target: &str, root: Option<&str>) -> Self {
        let target = target.trim();
        if target.len() > MAX_URL_BYTES {
            return Self::None;
        }
        if sanitize::is_external(target) {
            return Url::parse(target).map_or(Self::None, |url| Self::External(url.into()));
        }
        if sanitize::is_place(target) {
            return Self::Place(target.to_owned());
        }
        // A mail address without `mailto:` is not linked.
        if target.contains('@') && !target.contains('/') {
            return Self::None;
        }
        paths::parse_link_target(target, root).map_or(Self::None, Self::File)
    }
}

/// Appends the opening tag of a link; nothing for [`Target::None`].
pub(super) fn push_link_tag(out: &mut String, target: &Target) {
    match target {
        Target::External(url) => {
            out.push_str("<a");
            html::push_attribute(out, "href", url);
            html::push_attribute(out, "rel", "noopener noreferrer");
            html::push_attribute(out, "data-external", "");
            out.push('>');
        }
        Target::File(file) => {
            out.push_str("<a");
            html::push_attribute(out, "class", "file-ref");
            // Without `href`, an `a` needs these to be a link for keyboards and screen readers.
            html::push_attribute(out, "role", "link");
            html::push_attribute(out, "tabindex", "0");
            html::push_attribute(out, "data-path", &file.path);
            if let Some(line) = file.line {
                html::push_attribute(out, "data-line", &line.to_string());
            }
            out.push('>');
        }
        Target::Place(url) => {
            out.push_str("<a");
            html::push_attribute(out, "href", url);
            out.push('>');
        }
        Target::None => {}
    }
}

/// Appends text with paths relative to the root, without links.
pub(super) fn push_plain(out: &mut String, text: &str, root: Option<&str>) {
    match root {
        Some(root) => html::push_text(out, &paths::relativize(text, root)),
        None => html::push_text(out, text),
    }
}

/// Appends text in which web addresses and file references become links.
pub(super) fn push_linked(out: &mut String, text: &str, root: Option<&str>) {
    let mut plain = String::new();
    for word in text.split_inclusive(char::is_whitespace) {
        let (before, core, after) = trim_word(word);
        let target = word_target(core, root);
        if matches!(target, Target::None) {
            plain.push_str(word);
            continue;
        }
        plain.push_str(before);
        push_plain(out, &std::mem::take(&mut plain), root);
        push_link_tag(out, &target);
        push_plain(out, core, root);
        out.push_str("</a>");
        plain.push_str(after);
    }
    push_plain(out, &plain, root);
}

/// Appends inline code, which becomes a link if it names a file.
pub(super) fn push_code(out: &mut String, text: &str, root: Option<&str>, in_link: bool) {
    let file = if in_link {
        None
    } else {
        paths::parse_reference(text, root)
    };
    let linked = file.is_some();
    push_link_tag(out, &file.map_or(Target::None, Target::File));
    out.push_str("<code>");
    push_plain(out, text, root);
    out.push_str("</code>");
    if linked {
        out.push_str("</a>");
    }
}

/// Appends an image. A remote one is never loaded by itself: it becomes a button that names its
/// host.
pub(super) fn push_image(
    out: &mut String,
    source: &str,
    name: &str,
    root: Option<&str>,
    in_link: bool,
) {
    if source.len() <= MAX_INLINE_IMAGE_BYTES && sanitize::is_inline_image(source) {
        out.push_str("<img");
        html::push_attribute(out, "class", "inline-image");
        html::push_attribute(out, "src", source);
        html::push_attribute(out, "alt", &crate::escape::visible_line(name));
        return out.push('>');
    }
    let name = if name.is_empty() { "image" } else { name };
    // Inside a link there must not be another link or button.
    match Target::parse(source, root) {
        Target::External(url) if !in_link && !url.starts_with("mailto:") => {
            push_remote_image(out, &url, name);
        }
        target @ Target::File(_) if !in_link => {
            push_link_tag(out, &target);
            html::push_text(out, name);
            out.push_str("</a>");
        }
        _ => html::push_text(out, name),
    }
}

fn push_remote_image(out: &mut String, url: &str, name: &str) {
    let host = Url::parse(url)
        .ok()
        .and_then(|url| url.host_str().map(str::to_owned));
    let host = host.unwrap_or_default();
    out.push_str("<button");
    html::push_attribute(out, "type", "button");
    html::push_attribute(out, "class", "remote-image");
    html::push_attribute(out, "data-src", url);
    html::push_attribute(out, "data-host", &host);
    out.push('>');
    html::push_text(out, &format!("{name} · {host}"));
    out.push_str("</button>");
}

fn word_target(word: &str, root: Option<&str>) -> Target {
    let known = ["https://", "http://", "lathe://"];
    if known.iter().any(|scheme| word.starts_with(scheme)) {
        return Target::parse(word, root);
    }
    paths::parse_reference(word, root).map_or(Target::None, Target::File)
}

/// Separates a word from the punctuation around it.
fn trim_word(word: &str) -> (&str, &str, &str) {
    let core = word.trim_start_matches(['(', '"', '\'', '[', '{', '<', '“', '‘']);
    let before = &word[..word.len() - core.len()];
    let mut end = core.len();
    while let Some(last) = core[..end].chars().next_back() {
        let balanced = match last {
            ')' => core[..end].contains('('),
            ']' => core[..end].contains('['),
            _ => false,
        };
        if balanced || !(last.is_whitespace() || ".,;:!?\"')]}>…”’*_".contains(last)) {
            break;
        }
        end -= last.len_utf8();
    }
    (before, &core[..end], &core[end..])
}
