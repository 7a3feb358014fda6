use lathe_protocol::view::BlockUpdate;

use crate::markdown::{Options, Stream, render};

/// The blocks as the window has them.
#[derive(Default)]
struct Reader(Vec<String>);

impl Reader {
    fn apply(&mut self, update: &BlockUpdate) {
        assert!(
            update.keep <= self.0.len(),
            "an update cannot keep more blocks than there are"
        );
        self.0.truncate(update.keep);
        self.0.extend(update.blocks.iter().cloned());
    }
}

/// Renders a text that is not complete.
fn preview(source: &str) -> String {
    let mut reader = Reader::default();
    reader.apply(&Stream::new(Options::default()).push(source));
    reader.0.join("")
}

#[test]
fn a_finished_block_is_not_sent_again() {
    let mut stream = Stream::new(Options::default());
    stream.push("# a\n\nb\n\nc");
    let update = stream.push("d");
    assert_eq!(
        update,
        BlockUpdate {
            keep: 2,
            blocks: vec!["<p>cd</p>\n".to_owned()]
        }
    );
    assert_eq!(
        stream.push("\n\n"),
        BlockUpdate {
            keep: 3,
            blocks: vec![]
        }
    );
    assert_eq!(
        stream.finish(),
        BlockUpdate {
            keep: 3,
            blocks: vec![]
        }
    );
}

#[test]
fn an_open_fence_is_rendered_as_code_from_its_first_line() {
    assert_eq!(preview("``"), "");
    assert_eq!(preview("```ru"), "");
    assert_eq!(
        preview("```text\nlet x"),
        "<pre class=\"code\" data-lang=\"text\"><code>let x</code></pre>"
    );
    let closing = preview("```text\nlet x\n``");
    assert_eq!(
        closing,
        "<pre class=\"code\" data-lang=\"text\"><code>let x\n</code></pre>"
    );
}

#[test]
fn unclosed_markup_is_rendered_as_if_it_were_closed() {
    let cases = [
        ("a *", "<p>a</p>\n"),
        ("a **", "<p>a</p>\n"),
        ("a **b", "<p>a <strong>b</strong></p>\n"),
        ("a **b c ", "<p>a <strong>b c</strong></p>\n"),
        ("a **b*", "<p>a <strong>b</strong></p>\n"),
        ("a **b**", "<p>a <strong>b</strong></p>\n"),
        ("a *b", "<p>a <em>b</em></p>\n"),
        ("a ***b", "<p>a <em><strong>b</strong></em></p>\n"),
        ("**a `b", "<p><strong>a <code>b</code></strong></p>\n"),
        ("a `", "<p>a</p>\n"),
        ("a `b", "<p>a <code>b</code></p>\n"),
        ("a ~~b", "<p>a <del>b</del></p>\n"),
        ("see [the", "<p>see the</p>\n"),
        ("see [the docs](htt", "<p>see the docs</p>\n"),
        ("see ![the docs](htt", "<p>see</p>\n"),
        ("snake_case and 2 * 3", "<p>snake_case and 2 * 3</p>\n"),
        ("- a **b", "<ul>\n<li>a <strong>b</strong></li>\n</ul>\n"),
        (
            "- [ ] a **b",
            "<ul>\n<li><span class=\"task\" role=\"img\" aria-label=\"open\"></span> a <strong>b</strong></li>\n</ul>\n",
        ),
        ("# a **b", "<h1>a <strong>b</strong></h1>\n"),
        (
            "> a **b",
            "<blockquote>\n<p>a <strong>b</strong></p>\n</blockquote>\n",
        ),
        (
            "**a**\n\nb **c",
            "<p><strong>a</strong></p>\n<p>b <strong>c</strong></p>\n",
        ),
    ];
    for (source, expected) in cases {
        assert_eq!(preview(source), expected, "{source}");
    }
}

#[test]
fn markup_in_nested_code_is_not_closed() {
    let open = "- a\n\n  ```\n  let x = *p; f([";
    let html = "<ul>\n<li><p>a</p>\n<pre class=\"code\"><code>let x = *p; f([</code></pre>\n</li>\n</ul>\n";
    assert_eq!(preview(open), html);
    assert_eq!(
        preview("    a **b"),
        "<pre class=\"code\"><code>a **b</code></pre>\n"
    );
    let closed = preview("- a\n\n  ```\n  x\n  ```\n\n  b **c");
    assert!(closed.contains("<p>b <strong>c</strong></p>"), "{closed}");
}

#[test]
fn streaming_nested_code_is_coloured_like_complete_nested_code() {
    let source = "- a\n\n  ```rust\n  /* x\n  let\n  */ let y = 1;\n  ```\n\n  ```py\n  def f(): pass\n  ```\n";
    let mut stream = Stream::new(Options::default());
    let mut reader = Reader::default();
    for c in source.chars() {
        reader.apply(&stream.push(c.encode_utf8(&mut [0; 4])));
    }
    reader.apply(&stream.finish());
    assert_eq!(reader.0, render(source, &Options::default()));
}

#[test]
fn an_incomplete_marker_is_not_shown() {
    for (source, expected) in [
        ("text\n-", "<p>text</p>\n"),
        ("text\n==", "<p>text</p>\n"),
        ("text\n\n*", "<p>text</p>\n"),
        ("text\n\n1", "<p>text</p>\n"),
        ("text\n\n1.", "<p>text</p>\n"),
        ("text\n\n##", "<p>text</p>\n"),
        ("text\n\n>", "<p>text</p>\n"),
        ("- a\n  -", "<ul>\n<li>a</li>\n</ul>\n"),
    ] {
        assert_eq!(preview(source), expected, "{source}");
    }
}

#[test]
fn a_table_is_shown_as_soon_as_its_header_is_complete() {
    let head = "<table><thead><tr><th>a</th><th>b</th></tr></thead><tbody></tbody></table>\n";
    assert_eq!(preview("| a | b"), "");
    for source in [
        "| a | b |\n",
        "| a | b |\n|-",
        "| a | b |\n|---|--",
        "| a | b |\n|---|---|\n",
    ] {
        assert_eq!(preview(source), head, "{source}");
    }
    assert_eq!(
        preview("| a | b |\n|---|---|\n| 1"),
        "<table><thead><tr><th>a</th><th>b</th></tr></thead><tbody><tr><td>1</td><td></td></tr></tbody></table>\n"
    );
}

#[test]
fn an_incomplete_path_to_the_root_is_not_shown() {
    let mut stream = Stream::new(Options {
        root: Some("/home/ann/p".to_owned()),
    });
    assert_eq!(stream.push("see /home/a").blocks, ["<p>see</p>\n"]);
    assert_eq!(stream.push("nn/p/src").blocks, ["<p>see src</p>\n"]);
}

#[test]
fn later_definitions_change_earlier_blocks_at_the_end() {
    let source = "[a][x]\n\nb\n\n[x]: https://x.example\n";
    let mut stream = Stream::new(Options::default());
    let mut reader = Reader::default();
    reader.apply(&stream.push(source));
    assert_eq!(reader.0, ["<p>[a][x]</p>\n", "<p>b</p>\n"]);
    let update = stream.finish();
    assert_eq!(update.keep, 0);
    reader.apply(&update);
    assert_eq!(reader.0, render(source, &Options::default()));
}

/// The cost of a push grows with the size of its update, so a long block must not be sent again.
#[test]
fn a_long_open_block_is_not_sent_again_with_every_push() {
    let fence = (0..300).map(|n| format!("let x{n} = {n};\n"));
    let list = (0..120).map(|n| format!("- item {n} with some words in it\n"));
    let table = (0..220).map(|n| format!("| row {n} | a cell |\n"));
    let texts: [(&str, Vec<String>); 3] = [
        ("```txt\n", fence.collect()),
        ("", list.collect()),
        ("| a | b |\n|---|---|\n", table.collect()),
    ];
    for (head, lines) in texts {
        let mut stream = Stream::new(Options::default());
        let mut reader = Reader::default();
        reader.apply(&stream.push(head));
        for line in &lines {
            let update = stream.push(line);
            assert!(update.blocks.iter().map(String::len).sum::<usize>() < 8_000);
            reader.apply(&update);
        }
        reader.apply(&stream.finish());
        assert_eq!(
            reader.0,
            render(&format!("{head}{}", lines.concat()), &Options::default())
        );
    }
}
