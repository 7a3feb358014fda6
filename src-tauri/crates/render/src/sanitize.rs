//! The gate: no markup leaves this crate but what is listed here.
//!
//! The writers of this crate already escape every text they are given. The gate parses what
//! they wrote as a browser would and drops what is not on the list, so that a mistake in a
//! writer costs a missing element and not a running script. There are no ids, no styles and
//! no attribute that makes a browser fetch anything by itself.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::sync::LazyLock;

use ammonia::{Builder, UrlRelative};

use crate::ansi::colour;
use crate::highlight;
use crate::html::HIDDEN_CLASS;

/// Every element that may reach the browser, with its attributes besides `class`.
pub const ELEMENTS: [(&str, &[&str]); 33] = [
    (
        "a",
        &[
            "href",
            "rel",
            "role",
            "tabindex",
            "data-external",
            "data-path",
            "data-line",
        ],
    ),
    ("blockquote", &[]),
    ("br", &[]),
    ("button", &["type", "data-src", "data-host"]),
    ("code", &[]),
    ("del", &[]),
    ("div", &[]),
    ("em", &[]),
    ("h1", &[]),
    ("h2", &[]),
    ("h3", &[]),
    ("h4", &[]),
    ("h5", &[]),
    ("h6", &[]),
    ("hr", &[]),
    ("img", &["src", "alt"]),
    ("li", &[]),
    ("ol", &["start"]),
    ("p", &[]),
    ("pre", &["data-lang"]),
    ("span", &["role", "aria-label"]),
    ("strong", &[]),
    ("sub", &[]),
    ("sup", &[]),
    ("table", &[]),
    ("tbody", &[]),
    ("td", &[]),
    ("th", &[]),
    ("thead", &[]),
    ("tr", &[]),
    ("ul", &[]),
    ("kbd", &[]),
    ("mark", &[]),
];

/// The classes of blocks. Those of spans come from [`highlight::CLASSES`] and the terminal.
pub const BLOCK_CLASSES: [&str; 20] = [
    "callout",
    "callout-caution",
    "callout-important",
    "callout-note",
    "callout-tip",
    "callout-warning",
    "center",
    "code",
    "continued",
    "file-ref",
    "footnote",
    "footnote-label",
    "footnote-ref",
    "left",
    "raw-html",
    "remote-image",
    "right",
    "task",
    "task-done",
    "inline-image",
];

/// Returns `markup` with everything that is not listed taken out.
pub fn clean(markup: &str) -> String {
    GATE.clean(markup).to_string()
}

/// The only addresses a link may have. The opener of the shell takes the same.
pub(crate) fn is_external(url: &str) -> bool {
    let scheme = url.split_once(':').map_or("", |(scheme, _)| scheme);
    ["http", "https", "mailto"]
        .iter()
        .any(|known| scheme.eq_ignore_ascii_case(known))
}

/// An image that is its own data. Pictures only: SVG is a program.
pub(crate) fn is_inline_image(url: &str) -> bool {
    ["png", "jpeg", "gif", "webp"].iter().any(|kind| {
        url.strip_prefix("data:image/")
            .and_then(|rest| rest.strip_prefix(kind))
            .and_then(|rest| rest.strip_prefix(";base64,"))
            .is_some_and(|data| {
                !data.is_empty()
                    && data
                        .bytes()
                        .all(|b| b.is_ascii_alphanumeric() || b"+/=".contains(&b))
            })
    })
}

static GATE: LazyLock<Builder<'static>> = LazyLock::new(|| {
    let mut gate = Builder::empty();
    gate.tags(ELEMENTS.iter().map(|(tag, _)| *tag).collect())
        .tag_attributes(attributes())
        .allowed_classes(classes())
        .url_schemes(HashSet::from(["http", "https", "mailto", "data"]))
        .url_relative(UrlRelative::Deny)
        .link_rel(Some("noopener noreferrer"))
        .attribute_filter(keep_attribute);
    gate
});

fn attributes() -> HashMap<&'static str, HashSet<&'static str>> {
    // The gate itself writes `rel`, and refuses a list that names it.
    ELEMENTS
        .iter()
        .map(|(tag, names)| {
            (
                *tag,
                names
                    .iter()
                    .copied()
                    .filter(|name| *name != "rel")
                    .collect(),
            )
        })
        .collect()
}

fn classes() -> HashMap<&'static str, HashSet<&'static str>> {
    let spans = highlight::CLASSES
        .iter()
        .copied()
        .chain(colour::CLASSES.iter().map(String::as_str))
        .chain(BLOCK_CLASSES)
        .chain([HIDDEN_CLASS]);
    let mut classes: HashMap<_, _> = ELEMENTS
        .iter()
        .map(|(tag, _)| (*tag, HashSet::from(BLOCK_CLASSES)))
        .collect();
    classes.insert("span", spans.collect());
    classes
}

fn keep_attribute<'v>(tag: &str, name: &str, value: &'v str) -> Option<Cow<'v, str>> {
    let keep = match (tag, name) {
        ("a", "href") => is_external(value),
        ("img", "src") => is_inline_image(value),
        ("button", "type") => value == "button",
        ("span", "role") => value == "img",
        ("a", "role") => value == "link",
        ("a", "tabindex") => value == "0",
        ("ol", "start") | ("a", "data-line") => value.bytes().all(|b| b.is_ascii_digit()),
        _ => true,
    };
    keep.then_some(Cow::Borrowed(value))
}
