//! Hostile text in every function that makes HTML: the result has only what the sanitiser lists.

use std::cell::RefCell;

use html5ever::tendril::StrTendril;
use html5ever::tokenizer::{
    BufferQueue, TagKind, Token, TokenSink, TokenSinkResult, Tokenizer, TokenizerOpts,
};
use lathe_render::ansi;
use lathe_render::markdown::{Options, Stream, render};
use lathe_render::{highlight, sanitize};
use proptest::prelude::*;

fn payloads() -> Vec<String> {
    include_str!("samples/payloads.txt")
        .lines()
        .filter(|line| !line.is_empty())
        .map(|line| {
            line.replace("\\n", "\n")
                .replace("\\t", "\t")
                .replace("\\0", "\0")
        })
        .collect()
}

/// Markdown texts with a payload at each possible place.
const PLACES: [&str; 20] = [
    "§",
    "text § text",
    "# §",
    "- §\n- [x] §",
    "> §",
    "| § | b |\n|---|---|\n| § | § |",
    "```§\n§\n```",
    "```html\n§\n```",
    "```md\n§\n```",
    "`§`",
    "**§**",
    "[§](https://x.example)",
    "[a](§)",
    "[a](<§>)",
    "[a](https://x.example \"§\")",
    "![§](https://x.example/i.png)",
    "![a](§)",
    "[a][§]\n\n[§]: §",
    "a[^§]\n\n[^§]: §",
    "    §",
];

#[derive(Default)]
struct Audit {
    faults: RefCell<Vec<String>>,
}

impl TokenSink for Audit {
    type Handle = ();

    fn process_token(&self, token: Token, _line: u64) -> TokenSinkResult<()> {
        match token {
            Token::TagToken(tag) => self.tag(&tag),
            Token::CommentToken(_) | Token::DoctypeToken(_) => self.fault("a comment or doctype"),
            _ => {}
        }
        TokenSinkResult::Continue
    }
}

impl Audit {
    fn fault(&self, text: impl Into<String>) {
        self.faults.borrow_mut().push(text.into());
    }

    fn tag(&self, tag: &html5ever::tokenizer::Tag) {
        let name = tag.name.as_ref();
        let Some((_, attributes)) = sanitize::ELEMENTS.iter().find(|(known, _)| *known == name)
        else {
            return self.fault(format!("element {name}"));
        };
        if tag.kind == TagKind::EndTag {
            return;
        }
        for attribute in &tag.attrs {
            let key = attribute.name.local.as_ref();
            let value: &str = &attribute.value;
            let fine = match (name, key) {
                (_, "class") => value.split_whitespace().all(known_class),
                ("a", "href") => ["http://", "https://", "mailto:", "lathe://session/"]
                    .iter()
                    .any(|scheme| value.starts_with(scheme)),
                ("img", "src") => ["png", "jpeg", "gif", "webp"]
                    .iter()
                    .any(|kind| value.starts_with(&format!("data:image/{kind};base64,"))),
                _ => attributes.contains(&key),
            };
            if !fine {
                self.fault(format!("attribute {name} {key}={value}"));
            }
        }
    }
}

fn known_class(class: &str) -> bool {
    highlight::CLASSES.contains(&class)
        || sanitize::BLOCK_CLASSES.contains(&class)
        || ansi::classes().iter().any(|known| known == class)
        || class == "hidden-char"
}

fn faults(html: &str) -> Vec<String> {
    let input = BufferQueue::default();
    input.push_back(StrTendril::from(html));
    let tokenizer = Tokenizer::new(Audit::default(), TokenizerOpts::default());
    let _ = tokenizer.feed(&input);
    tokenizer.end();
    tokenizer.sink.faults.take()
}

fn audit(origin: &str, html: &str) {
    let faults = faults(html);
    assert!(faults.is_empty(), "{faults:?}\nfrom {origin}\nin {html}");
    // A browser must build the same tree as the sanitiser, so sanitising again changes nothing.
    assert_eq!(
        sanitize::clean(html),
        html,
        "sanitised again, from {origin}"
    );
}

fn audit_markdown(text: &str) {
    for block in render(text, &Options::default()) {
        audit(text, &block);
    }
}

#[test]
fn there_are_at_least_a_hundred_payloads() {
    assert!(payloads().len() >= 100, "{}", payloads().len());
}

#[test]
fn the_audit_finds_faults() {
    for html in [
        "<script>x</script>",
        "<p onclick=x>",
        "<p style=x>",
        "<p id=x>",
        "<p class=evil>",
        "<a href=javascript:x>",
        "<img src=https://x.example>",
        "<!-- x -->",
    ] {
        assert!(!faults(html).is_empty(), "{html}");
    }
}

#[test]
fn no_payload_gets_through_in_markdown() {
    for payload in payloads() {
        for place in PLACES {
            audit_markdown(&place.replace('§', &payload));
        }
    }
}

#[test]
fn no_payload_gets_through_in_terminal_output() {
    for payload in payloads() {
        let coloured = format!("\u{1b}[31m{payload}\u{1b}]8;;{payload}\u{7}");
        for output in [&payload, &coloured] {
            audit(output, &ansi::to_html(output));
        }
    }
}

#[test]
fn no_payload_gets_through_while_it_streams_in() {
    for payload in payloads() {
        for place in ["§", "[a](§)", "![§](§)", "```\n§"] {
            let text = place.replace('§', &payload);
            let mut stream = Stream::new(Options {
                root: Some("/p/q".to_owned()),
            });
            let chars: Vec<char> = text.chars().collect();
            for piece in chars.chunks(5) {
                let piece: String = piece.iter().collect();
                stream
                    .push(&piece)
                    .blocks
                    .iter()
                    .for_each(|block| audit(&text, block));
            }
            stream
                .finish()
                .blocks
                .iter()
                .for_each(|block| audit(&text, block));
        }
    }
}

#[test]
fn no_payload_gets_through_the_sanitiser_itself() {
    for payload in payloads() {
        audit(&payload, &sanitize::clean(&payload));
    }
}

proptest! {
    #[test]
    fn no_combination_of_payloads_gets_through(
        picks in proptest::collection::vec(any::<prop::sample::Index>(), 1..4),
        cuts in proptest::collection::vec(any::<prop::sample::Index>(), 4),
        place in proptest::sample::select(PLACES.to_vec()),
    ) {
        let all = payloads();
        let mixed: String = picks
            .iter()
            .zip(&cuts)
            .map(|(pick, cut)| {
                let chars: Vec<char> = pick.get(&all).chars().collect();
                chars[cut.index(chars.len())..].iter().collect::<String>()
            })
            .collect();
        audit_markdown(&place.replace('§', &mixed));
    }
}
