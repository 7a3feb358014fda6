//! Converts the body of a response to text for the model. Does not access the network.

use encoding_rs::{Encoding, UTF_8, WINDOWS_1252};
use htmd::{HtmlToMarkdown, Node};
use markup5ever_rcdom::NodeData;
use std::rc::Rc;

use super::Format;
use super::request::Answer;
use crate::read;
use crate::tool::{Attachment, ToolFailure};

/// Limit for nesting: conversion is recursive, and a page must not exhaust the stack. Browsers
/// have a similar limit.
const MAX_DEPTH: usize = 256;
const MAX_OPEN: usize = 5_000;
const SNIFF_BYTES: usize = 1024;
const HIDDEN_ELEMENTS: [&str; 10] = [
    "script", "style", "noscript", "template", "iframe", "object", "embed", "svg", "head", "canvas",
];

pub(super) enum Content {
    Text(String),
    Media(Box<Attachment>),
}

pub(super) fn read(answer: Answer, format: Format) -> Result<Content, ToolFailure> {
    if let Some(mime) = read::media(&answer.body) {
        let name = answer
            .url
            .path_segments()
            .and_then(|mut parts| parts.next_back());
        let filename = name.filter(|name| !name.is_empty()).map(str::to_owned);
        return Ok(Content::Media(Box::new(Attachment {
            mime: mime.to_owned(),
            filename,
            bytes: answer.body,
            source: None,
        })));
    }
    let mime = answer.mime();
    let html = is_html(&mime, &answer.body);
    let encoding = encoding(&answer, html);
    let sniffed = &answer.body[..answer.body.len().min(SNIFF_BYTES)];
    let wide = encoding == encoding_rs::UTF_16LE || encoding == encoding_rs::UTF_16BE;
    if !html && (!is_text(&mime) || (read::is_binary(sniffed) && !wide)) {
        return Err(ToolFailure::failed(format!(
            "The answer is binary ({}), which can’t be shown.",
            if mime.is_empty() {
                "of no named type"
            } else {
                &mime
            }
        )));
    }
    let (text, _, _) = encoding.decode(&answer.body);
    Ok(Content::Text(match format {
        _ if !html => text.into_owned(),
        Format::Html => text.into_owned(),
        Format::Markdown => markdown(&text)?,
        Format::Text => plain(&text)?,
    }))
}

fn is_html(mime: &str, body: &[u8]) -> bool {
    let looks = || {
        let start = String::from_utf8_lossy(&body[..body.len().min(SNIFF_BYTES)]).to_lowercase();
        let start = start.trim_start_matches('\u{feff}').trim_start();
        start.starts_with("<!doctype html") || start.starts_with("<html")
    };
    match mime {
        "text/html" | "application/xhtml+xml" => true,
        "" => looks(),
        _ => false,
    }
}

/// Without a content type, the bytes decide.
fn is_text(mime: &str) -> bool {
    const TEXTS: [&str; 10] = [
        "json",
        "xml",
        "javascript",
        "ecmascript",
        "yaml",
        "toml",
        "sql",
        "graphql",
        "x-sh",
        "x-ndjson",
    ];
    let subtype = mime.split_once('/').map_or("", |(_, subtype)| subtype);
    let last = subtype.rsplit(['+', '.']).next().unwrap_or_default();
    let last = last.strip_prefix("x-").unwrap_or(last);
    mime.is_empty()
        || mime.starts_with("text/")
        || TEXTS
            .iter()
            .any(|text| last == text.trim_start_matches("x-"))
}

/// The encoding of the header, else that of the page itself, else one that fits the bytes. A byte
/// order mark overrides them all; decoding handles that.
fn encoding(answer: &Answer, html: bool) -> &'static Encoding {
    let label = |text: &str| {
        let at = text.to_ascii_lowercase().find("charset=")?;
        let value = text[at + 8..].trim_start_matches(['"', '\'', ' ']);
        let end = value.find(|c: char| !c.is_ascii_alphanumeric() && !"-_:.".contains(c));
        Encoding::for_label(&value.as_bytes()[..end.unwrap_or(value.len())])
    };
    let start = &answer.body[..answer.body.len().min(SNIFF_BYTES)];
    let in_page = || {
        label(
            &start
                .iter()
                .map(|b| char::from(*b & 0x7f))
                .collect::<String>(),
        )
    };
    let by_bytes = || {
        if std::str::from_utf8(&answer.body).is_ok() {
            UTF_8
        } else {
            WINDOWS_1252
        }
    };
    Encoding::for_bom(&answer.body)
        .map(|(encoding, _)| encoding)
        .or_else(|| answer.content_type.as_deref().and_then(label))
        .or_else(|| html.then(in_page).flatten())
        .unwrap_or_else(by_bytes)
}

fn markdown(html: &str) -> Result<String, ToolFailure> {
    let converter = HtmlToMarkdown::builder()
        .skip_tags(HIDDEN_ELEMENTS.to_vec())
        .build();
    let tree = tree(&converter, html)?;
    Ok(converter.tree_to_markdown(&tree))
}

fn tree(converter: &HtmlToMarkdown, html: &str) -> Result<Rc<Node>, ToolFailure> {
    if open_tags(html) > MAX_OPEN {
        return Err(ToolFailure::failed(
            "The page is nested too deeply to be converted. Fetch it with the format html.",
        ));
    }
    let tree = converter
        .html_to_tree(html)
        .map_err(|error| ToolFailure::failed(format!("The page can’t be read: {error}.")))?;
    let mut level = vec![tree.clone()];
    for _ in 0..MAX_DEPTH {
        level = level
            .iter()
            .flat_map(|node| node.children.borrow().clone())
            .collect();
    }
    for node in level {
        node.children.borrow_mut().clear();
    }
    Ok(tree)
}

/// The approximate maximum number of open elements. Parsing time is quadratic in it.
fn open_tags(html: &str) -> usize {
    const NOT_NESTED: [&str; 20] = [
        "area", "base", "br", "col", "dd", "dt", "hr", "img", "input", "li", "link", "meta",
        "option", "p", "source", "td", "th", "tr", "track", "wbr",
    ];
    let (mut open, mut most) = (0_usize, 0);
    for tag in html.split('<').skip(1) {
        let closes = tag.starts_with('/');
        let name = tag.trim_start_matches('/');
        let end = name
            .find(|c: char| !c.is_ascii_alphanumeric())
            .unwrap_or(name.len());
        let name = name[..end].to_ascii_lowercase();
        if name.is_empty() || NOT_NESTED.contains(&name.as_str()) {
            continue;
        }
        open = if closes {
            open.saturating_sub(1)
        } else {
            open + 1
        };
        most = most.max(open);
    }
    most
}

fn plain(html: &str) -> Result<String, ToolFailure> {
    let tree = tree(&HtmlToMarkdown::new(), html)?;
    let mut text = String::new();
    collect(&tree, false, &mut text);
    Ok(text.trim().to_owned())
}

/// The text of a tree that is not too deep, blocks on lines of their own.
fn collect(node: &Rc<Node>, pre: bool, text: &mut String) {
    let (mut block, mut pre) = (false, pre);
    match &node.data {
        NodeData::Text { contents } => push(&contents.borrow(), pre, text),
        NodeData::Element { name, .. } => {
            let tag = name.local.as_ref();
            if HIDDEN_ELEMENTS.contains(&tag) {
                return;
            }
            block = !is_inline(tag);
            pre |= tag == "pre";
        }
        _ => {}
    }
    if block {
        end_line(text);
    }
    for child in node.children.borrow().iter() {
        collect(child, pre, text);
    }
    if block {
        end_line(text);
    }
}

fn push(contents: &str, pre: bool, text: &mut String) {
    if pre {
        text.push_str(contents);
        return;
    }
    for c in contents.chars() {
        if !c.is_whitespace() {
            text.push(c);
        } else if !text.is_empty() && !text.ends_with([' ', '\n']) {
            text.push(' ');
        }
    }
}

fn end_line(text: &mut String) {
    text.truncate(text.trim_end_matches(' ').len());
    if !text.is_empty() && !text.ends_with('\n') {
        text.push('\n');
    }
}

fn is_inline(tag: &str) -> bool {
    matches!(
        tag,
        "a" | "abbr"
            | "b"
            | "bdi"
            | "bdo"
            | "cite"
            | "code"
            | "data"
            | "del"
            | "dfn"
            | "em"
            | "font"
            | "i"
            | "img"
            | "ins"
            | "kbd"
            | "label"
            | "mark"
            | "q"
            | "s"
            | "samp"
            | "small"
            | "span"
            | "strong"
            | "sub"
            | "sup"
            | "time"
            | "tt"
            | "u"
            | "var"
            | "wbr"
    )
}
