//! However large a text is, no block that is drawn or sent with a frame is.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use lathe_render::markdown::{Options, Stream, render};

/// The HTML of one block. Text becomes up to six times longer when it is escaped.
const MOST_BYTES: usize = 512 * 1024;
const MOST_ELEMENTS: usize = 60_000;
const MOST_DEPTH: usize = 64;

fn depth(html: &str) -> usize {
    let (mut now, mut most) = (0_usize, 0);
    for tag in html.split('<').skip(1) {
        let is_void = ["br", "hr", "img"].iter().any(|name| tag.starts_with(name));
        match tag.starts_with('/') {
            true => now = now.saturating_sub(1),
            false if is_void => {}
            false => now += 1,
        }
        most = most.max(now);
    }
    most
}

fn check(what: &str, blocks: &[String]) {
    for block in blocks {
        assert!(
            block.len() <= MOST_BYTES,
            "{what}: a block of {} bytes",
            block.len()
        );
        let elements = block.matches('<').count();
        assert!(
            elements <= MOST_ELEMENTS,
            "{what}: a block of {elements} tags"
        );
        assert!(
            depth(block) <= MOST_DEPTH,
            "{what}: {} levels",
            depth(block)
        );
    }
}

fn table(rows: usize, columns: usize) -> String {
    let row = |cell: &str| format!("|{}\n", format!("{cell}|").repeat(columns));
    row("head") + &row("---") + &row("cell").repeat(rows)
}

/// Smaller than what was seen to freeze the window, so that the everyday run stays short; the
/// bound of a block does not depend on the size of the text.
fn large_texts() -> Vec<(&'static str, String)> {
    vec![
        ("a line", "word ".repeat(30_000)),
        ("a line without spaces", "x".repeat(150_000)),
        (
            "a line of code",
            format!("```js\n{}\n```\n", "a=1;".repeat(15_000)),
        ),
        ("a table", table(40, 100)),
        ("entities", "&amp;".repeat(30_000)),
        ("lines of entities", "&lt;&amp; &#39;\n".repeat(8_000)),
        ("nested quotes", ">".repeat(10_000) + " deep\n"),
        (
            "nested lists",
            (0..400)
                .map(|level| format!("{}- x\n", "  ".repeat(level)))
                .collect(),
        ),
        ("nested emphasis", "*a **b ".repeat(5_000)),
        ("brackets", "[".repeat(20_000)),
    ]
}

#[test]
fn no_block_of_a_large_text_is_large() {
    for (what, text) in large_texts() {
        check(what, &render(&text, &Options::default()));
    }
}

#[test]
fn no_update_of_a_streaming_text_is_large() {
    for (what, text) in large_texts() {
        let mut stream = Stream::new(Options::default());
        let mut rest = text.as_str();
        while !rest.is_empty() {
            let mut cut = rest.len().min(40_000);
            while !rest.is_char_boundary(cut) {
                cut -= 1;
            }
            let update = stream.push(&rest[..cut]);
            check(what, &update.blocks);
            // Forty thousand bytes of text, and the blocks that were open.
            let bytes: usize = update.blocks.iter().map(String::len).sum();
            assert!(
                bytes <= 2 * MOST_BYTES + 6 * 40_000,
                "{what}: {bytes} bytes in a frame"
            );
            rest = &rest[cut..];
        }
    }
}
