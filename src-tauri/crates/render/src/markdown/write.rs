//! Parses one segment and writes its HTML.

use std::cell::RefCell;

use pulldown_cmark::{
    Alignment, BlockQuoteKind, BrokenLink, CodeBlockKind, CowStr, Event, Options as Syntax, Parser,
    Tag, TagEnd, TextMergeWithOffset,
};

use super::Options;
use super::blocks::{Definitions, normalize_label};
use super::code::{self, NestedCode};
use super::inline::{self, Target};
use super::math;
use super::segment::Prose;
use crate::html;

/// Deeper nesting is flattened, because browsers limit the depth of a document.
const MAX_DEPTH: usize = 24;

pub(super) struct Written {
    /// HTML that is not sanitised yet.
    pub markup: String,
    /// The link definitions in the segment.
    pub links: Vec<(String, String)>,
    /// The labels of the footnotes in the segment.
    pub footnotes: Vec<String>,
    /// The labels that are used but not defined yet.
    pub missing: Vec<String>,
}

pub(super) fn write(
    prose: &Prose,
    options: &Options,
    known: &Definitions,
    nested: &mut NestedCode,
) -> Written {
    nested.rewind();
    let missing = RefCell::new(Vec::new());
    let look_up = |link: BrokenLink<'_>| {
        let label = normalize_label(&link.reference);
        let Some(target) = known.links.get(&label) else {
            missing.borrow_mut().push(label);
            return None;
        };
        Some((CowStr::from(target.clone()), CowStr::from("")))
    };
    let source = math::with_dollars(&prose.source);
    let parser = Parser::new_with_broken_link_callback(&source, syntax(), Some(look_up));
    let parser = parser.into_offset_iter();
    let links = parser
        .reference_definitions()
        .iter()
        .map(|(label, link)| (normalize_label(label), link.dest.to_string()))
        .collect();
    let mut writer = Writer::new(prose, options, known, nested);
    for (event, place) in TextMergeWithOffset::new(parser) {
        match event {
            Event::InlineMath(_) if !math::is_formula(&source, &place) => {
                writer.event(Event::Text(source[place].into()));
            }
            event => writer.event(event),
        }
    }
    let mut missing = missing.take();
    missing.append(&mut writer.missing);
    Written {
        markup: writer.out,
        links,
        footnotes: writer.footnotes,
        missing,
    }
}

fn syntax() -> Syntax {
    Syntax::ENABLE_TABLES
        | Syntax::ENABLE_STRIKETHROUGH
        | Syntax::ENABLE_TASKLISTS
        | Syntax::ENABLE_OLD_FOOTNOTES
        | Syntax::ENABLE_GFM
        | Syntax::ENABLE_MATH
}

struct Writer<'a> {
    out: String,
    prose: &'a Prose,
    root: Option<&'a str>,
    known: &'a Definitions,
    nested: &'a mut NestedCode,
    footnotes: Vec<String>,
    missing: Vec<String>,
    /// The closing tags of the open elements, innermost last.
    closers: Vec<&'static str>,
    /// The language and the text of an open code block, which is highlighted at its end.
    code: Option<(String, String)>,
    image: Option<Image>,
    in_link: usize,
    columns: Vec<Alignment>,
    column: usize,
    in_head: bool,
    first_list: bool,
}

struct Image {
    source: String,
    name: String,
    depth: usize,
}

impl<'a> Writer<'a> {
    fn new(
        prose: &'a Prose,
        options: &'a Options,
        known: &'a Definitions,
        nested: &'a mut NestedCode,
    ) -> Self {
        Self {
            out: String::with_capacity(prose.source.len() * 2),
            prose,
            root: options.root.as_deref(),
            known,
            nested,
            footnotes: Vec::new(),
            missing: Vec::new(),
            closers: Vec::new(),
            code: None,
            image: None,
            in_link: 0,
            columns: Vec::new(),
            column: 0,
            in_head: false,
            first_list: true,
        }
    }

    fn event(&mut self, event: Event<'_>) {
        if self.image.is_some() {
            return self.image_event(event);
        }
        match event {
            Event::Start(tag) => self.start(tag),
            Event::End(tag) => self.end(tag),
            Event::Text(text) => self.text(&text),
            Event::Code(text) => {
                inline::push_code(&mut self.out, &text, self.root, self.in_link > 0)
            }
            Event::Html(text) => html::push_text(&mut self.out, &text),
            Event::InlineHtml(text) if is_line_break(&text) => self.out.push_str("<br>"),
            Event::InlineHtml(text) => html::push_text(&mut self.out, &text),
            Event::SoftBreak => self.out.push('\n'),
            Event::HardBreak => self.out.push_str("<br>\n"),
            Event::Rule => self.out.push_str("<hr>\n"),
            Event::TaskListMarker(done) => self.task(done),
            Event::FootnoteReference(label) => self.footnote_reference(&label),
            Event::InlineMath(latex) => math::push(&mut self.out, &latex, false),
            Event::DisplayMath(latex) => math::push(&mut self.out, &latex, true),
        }
    }

    fn start(&mut self, tag: Tag<'_>) {
        match tag {
            Tag::Paragraph => self.open("<p>", "</p>\n"),
            Tag::Heading { level, .. } => {
                let (open, close) = HEADINGS[level as usize - 1];
                self.open(open, close);
            }
            Tag::BlockQuote(kind) => self.open(quote(kind), "</blockquote>\n"),
            Tag::CodeBlock(kind) => self.code = Some((language(&kind), String::new())),
            Tag::HtmlBlock => self.open("<p class=\"raw-html\">", "</p>\n"),
            Tag::List(number) => self.list(number),
            Tag::Item => self.open("<li>", "</li>\n"),
            Tag::FootnoteDefinition(label) => self.footnote(&label),
            Tag::Table(columns) => {
                self.columns = columns;
                let continued = if self.prose.continued {
                    " class=\"continued\""
                } else {
                    ""
                };
                self.out.push_str(&format!("<table{continued}>"));
            }
            Tag::TableHead => {
                self.in_head = true;
                self.column = 0;
                self.out.push_str("<thead><tr>");
            }
            Tag::TableRow => {
                self.column = 0;
                self.out.push_str("<tr>");
            }
            Tag::TableCell => self.cell(),
            Tag::Emphasis => self.open("<em>", "</em>"),
            Tag::Strong => self.open("<strong>", "</strong>"),
            Tag::Strikethrough => self.open("<del>", "</del>"),
            Tag::Link { dest_url, .. } => self.link(&dest_url),
            Tag::Image { dest_url, .. } => {
                let source = dest_url.into_string();
                self.image = Some(Image {
                    source,
                    name: String::new(),
                    depth: 0,
                });
            }
            _ => self.open("", ""),
        }
    }

    fn end(&mut self, tag: TagEnd) {
        match tag {
            TagEnd::CodeBlock => {
                if let Some((lang, text)) = self.code.take() {
                    let markup = self.nested.markup(&lang, &text);
                    self.out.push_str(&code::block(&lang, false, &markup));
                    self.out.push('\n');
                }
            }
            TagEnd::Table => self.out.push_str("</tbody></table>\n"),
            TagEnd::TableHead => {
                self.in_head = false;
                self.out.push_str("</tr></thead><tbody>");
            }
            TagEnd::TableRow => self.out.push_str("</tr>"),
            TagEnd::TableCell => self
                .out
                .push_str(if self.in_head { "</th>" } else { "</td>" }),
            TagEnd::Link => {
                self.in_link = self.in_link.saturating_sub(1);
                self.close();
            }
            _ => self.close(),
        }
    }

    fn open(&mut self, open: &str, close: &'static str) {
        let flat = self.closers.len() >= MAX_DEPTH;
        if !flat {
            self.out.push_str(open);
        }
        self.closers.push(if flat { "" } else { close });
    }

    fn close(&mut self) {
        self.out.push_str(self.closers.pop().unwrap_or_default());
    }

    fn text(&mut self, text: &str) {
        match &mut self.code {
            Some((_, code)) => code.push_str(text),
            None if self.in_link > 0 => inline::push_plain(&mut self.out, text, self.root),
            None => inline::push_linked(&mut self.out, text, self.root),
        }
    }

    fn list(&mut self, number: Option<u64>) {
        let first = std::mem::take(&mut self.first_list);
        let continued = first && self.prose.continued;
        let number = if continued { self.prose.number } else { number };
        let class = if continued {
            " class=\"continued\""
        } else {
            ""
        };
        match number {
            None => self.open(&format!("<ul{class}>\n"), "</ul>\n"),
            Some(1) => self.open(&format!("<ol{class}>\n"), "</ol>\n"),
            Some(start) => self.open(&format!("<ol{class} start=\"{start}\">\n"), "</ol>\n"),
        }
    }

    fn cell(&mut self) {
        let class = match self.columns.get(self.column) {
            Some(Alignment::Left) => " class=\"left\"",
            Some(Alignment::Center) => " class=\"center\"",
            Some(Alignment::Right) => " class=\"right\"",
            _ => "",
        };
        self.column += 1;
        let tag = if self.in_head { "th" } else { "td" };
        self.out.push_str(&format!("<{tag}{class}>"));
    }

    fn task(&mut self, done: bool) {
        self.out.push_str(if done {
            "<span class=\"task task-done\" role=\"img\" aria-label=\"done\"></span> "
        } else {
            "<span class=\"task\" role=\"img\" aria-label=\"open\"></span> "
        });
    }

    fn footnote(&mut self, label: &str) {
        self.footnotes.push(footnote_label(label));
        self.open("<div class=\"footnote\">", "</div>\n");
        self.out.push_str("<sup class=\"footnote-label\">");
        html::push_text(&mut self.out, label);
        self.out.push_str("</sup>");
    }

    fn footnote_reference(&mut self, label: &str) {
        let key = footnote_label(label);
        if self.known.footnotes.contains(&key) || self.footnotes.contains(&key) {
            self.out.push_str("<sup class=\"footnote-ref\">");
            html::push_text(&mut self.out, label);
            self.out.push_str("</sup>");
        } else {
            html::push_text(&mut self.out, &format!("[^{label}]"));
            self.missing.push(key);
        }
    }

    fn link(&mut self, target: &str) {
        self.in_link += 1;
        let mut tag = String::new();
        inline::push_link_tag(&mut tag, &Target::parse(target, self.root));
        self.open(&tag, if tag.is_empty() { "" } else { "</a>" });
    }

    /// Everything inside an image is its alternative text.
    fn image_event(&mut self, event: Event<'_>) {
        let Some(image) = &mut self.image else { return };
        match event {
            Event::Start(_) => image.depth += 1,
            Event::End(_) if image.depth > 0 => image.depth -= 1,
            Event::End(_) => {
                let Image { source, name, .. } = std::mem::take(&mut self.image).unwrap_or(Image {
                    source: String::new(),
                    name: String::new(),
                    depth: 0,
                });
                inline::push_image(&mut self.out, &source, &name, self.root, self.in_link > 0);
            }
            Event::Text(text)
            | Event::Code(text)
            | Event::InlineHtml(text)
            | Event::Html(text)
            | Event::InlineMath(text)
            | Event::DisplayMath(text) => {
                image.name.push_str(&text);
            }
            Event::SoftBreak | Event::HardBreak => image.name.push(' '),
            _ => {}
        }
    }
}

const HEADINGS: [(&str, &str); 6] = [
    ("<h1>", "</h1>\n"),
    ("<h2>", "</h2>\n"),
    ("<h3>", "</h3>\n"),
    ("<h4>", "</h4>\n"),
    ("<h5>", "</h5>\n"),
    ("<h6>", "</h6>\n"),
];

fn quote(kind: Option<BlockQuoteKind>) -> &'static str {
    match kind {
        None => "<blockquote>\n",
        Some(BlockQuoteKind::Note) => "<blockquote class=\"callout callout-note\">\n",
        Some(BlockQuoteKind::Tip) => "<blockquote class=\"callout callout-tip\">\n",
        Some(BlockQuoteKind::Important) => "<blockquote class=\"callout callout-important\">\n",
        Some(BlockQuoteKind::Warning) => "<blockquote class=\"callout callout-warning\">\n",
        Some(BlockQuoteKind::Caution) => "<blockquote class=\"callout callout-caution\">\n",
    }
}

fn language(kind: &CodeBlockKind<'_>) -> String {
    match kind {
        CodeBlockKind::Indented => String::new(),
        CodeBlockKind::Fenced(info) => info
            .split_whitespace()
            .next()
            .unwrap_or_default()
            .to_owned(),
    }
}

/// The caret keeps labels of footnotes and labels of links apart.
fn footnote_label(label: &str) -> String {
    format!("^{}", normalize_label(label))
}

fn is_line_break(tag: &str) -> bool {
    matches!(tag, "<br>" | "<br/>" | "<br />")
}
