//! The sanitiser: only elements, attributes and classes that are listed here leave this crate.
//!
//! The writers of this crate escape all text already. The sanitiser parses their HTML as a
//! browser would and removes everything that is not listed, so that a bug in a writer leads to a
//! missing element instead of a running script. No ids, no styles and no attributes are allowed
//! that make a browser load anything by itself.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::sync::LazyLock;

use ammonia::{Builder, UrlRelative};

use crate::ansi::colour;
use crate::highlight;
use crate::html::HIDDEN_CLASS;

/// The allowed elements, each with its attributes besides `class`.
pub const ELEMENTS: [(&str, &[&str]); 58] = [
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
    // Formulas. Text in them is text: none of these takes another document in.
    ("math", &["display"]),
    ("menclose", &["notation"]),
    ("mfrac", &["linethickness"]),
    ("mi", &["mathvariant"]),
    ("mmultiscripts", &[]),
    ("mn", &[]),
    (
        "mo",
        &[
            "stretchy",
            "symmetric",
            "form",
            "fence",
            "separator",
            "lspace",
            "rspace",
            "minsize",
            "maxsize",
            "largeop",
            "movablelimits",
        ],
    ),
    ("mover", &["accent"]),
    (
        "mpadded",
        &["width", "height", "depth", "lspace", "voffset"],
    ),
    ("mphantom", &[]),
    ("mprescripts", &[]),
    ("mroot", &[]),
    ("mrow", &[]),
    ("mspace", &["width", "height", "depth"]),
    ("msqrt", &[]),
    ("mstyle", &["displaystyle", "scriptlevel"]),
    ("msub", &[]),
    ("msubsup", &[]),
    ("msup", &[]),
    ("mtable", &["columnalign"]),
    ("mtd", &["columnalign"]),
    ("mtext", &[]),
    ("mtr", &[]),
    ("munder", &["accentunder"]),
    ("munderover", &["accent", "accentunder"]),
];

/// The classes that any element may have. Spans may also have those of [`highlight::CLASSES`] and
/// of terminal output.
pub const BLOCK_CLASSES: [&str; 21] = [
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
    "math-display",
    "raw-html",
    "remote-image",
    "right",
    "task",
    "task-done",
    "inline-image",
];

/// Removes everything that is not listed.
pub fn clean(html: &str) -> String {
    SANITISER.clean(html).to_string()
}

/// Whether a link may have this address. The shell opens addresses of the same schemes only.
pub(crate) fn is_external(url: &str) -> bool {
    let scheme = url.split_once(':').map_or("", |(scheme, _)| scheme);
    ["http", "https", "mailto"]
        .iter()
        .any(|known| scheme.eq_ignore_ascii_case(known))
}

/// Whether this leads to a turn or a part of a session, as `ui/src/text/place-link.ts` writes it. The
/// window goes there itself.
pub(crate) fn is_place(url: &str) -> bool {
    let Some(path) = url.strip_prefix("lathe://session/") else {
        return false;
    };
    let kinds = ["ses_", "msg_", "prt_"];
    let ids: Vec<_> = path.split('/').collect();
    let is_id = |(id, kind): (&&str, &str)| {
        let letters = id.strip_prefix(kind).unwrap_or_default();
        !letters.is_empty()
            && letters
                .bytes()
                .all(|b| b.is_ascii_alphanumeric() || b == b'_')
    };
    (2..=kinds.len()).contains(&ids.len()) && ids.iter().zip(kinds).all(is_id)
}

/// Whether this is a `data:` URL of an image. SVG is excluded, because it can contain scripts.
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

static SANITISER: LazyLock<Builder<'static>> = LazyLock::new(|| {
    let mut builder = Builder::empty();
    builder
        .tags(ELEMENTS.iter().map(|(tag, _)| *tag).collect())
        .tag_attributes(attributes())
        .allowed_classes(classes())
        .url_schemes(HashSet::from(["http", "https", "mailto", "data", "lathe"]))
        .url_relative(UrlRelative::Deny)
        .link_rel(Some("noopener noreferrer"))
        .attribute_filter(filter_attribute);
    builder
});

fn attributes() -> HashMap<&'static str, HashSet<&'static str>> {
    // ammonia writes `rel` itself, and panics if it is allowed too.
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

/// A formula must not reach over what is beside it: no more than some letters, in either direction.
fn is_small_length(value: &str) -> bool {
    const MOST: f64 = 40.0;
    let number = value.trim_end_matches(|c: char| c.is_ascii_alphabetic() || c == '%');
    number
        .parse::<f64>()
        .is_ok_and(|length| length.abs() <= MOST)
}

fn is_word(value: &str) -> bool {
    value
        .bytes()
        .all(|b| b.is_ascii_alphanumeric() || b"-+ ".contains(&b))
}

fn filter_attribute<'v>(tag: &str, name: &str, value: &'v str) -> Option<Cow<'v, str>> {
    let allowed = match (tag, name) {
        ("a", "href") => is_external(value) || is_place(value),
        ("img", "src") => is_inline_image(value),
        ("button", "type") => value == "button",
        ("span", "role") => value == "img",
        ("a", "role") => value == "link",
        ("a", "tabindex") => value == "0",
        (
            "mo" | "mpadded" | "mspace" | "mfrac",
            "width" | "height" | "depth" | "lspace" | "rspace" | "voffset" | "minsize" | "maxsize"
            | "linethickness",
        ) => is_small_length(value),
        ("math" | "mi" | "menclose" | "mtable" | "mtd" | "mstyle", _) => is_word(value),
        ("ol", "start") | ("a", "data-line") => value.bytes().all(|b| b.is_ascii_digit()),
        _ => true,
    };
    allowed.then_some(Cow::Borrowed(value))
}
