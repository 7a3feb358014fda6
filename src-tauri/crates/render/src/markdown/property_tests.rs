use lathe_fuzz::fuzz;
use proptest::prelude::*;

use super::*;

/// Texts made of pieces that decide where blocks start and end.
fn markdown() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        4 => "[a-zé ]{1,12}",
        3 => Just("\n".to_owned()),
        2 => Just("\n\n".to_owned()),
        1 => proptest::sample::select(vec![
            "- ", "* ", "1. ", "2) ", "  ", "    ", "\t", "# ", "## ", "> ", "```", "```rust\n",
            "~~~\n", "---", "===", "***", "**", "*", "_", "`", "~~", "|", "|---|---|\n", "| a | b |\n",
            "[x]", "[a][x]", "[x]: https://x.example\n", "[^1]", "[^1]: note\n", "![i](http://h/i)",
            "[t](", ")", "<script>", "<br>", "&amp;", "\\", "\r", "\r\n", "\u{202e}", "\0", "👩‍💻",
            "- [ ] ", "- [x] ", "src/a.rs:3", "/p/q/a.rs", "https://x.example/y", "fn f() {}\n",
        ])
        .prop_map(str::to_owned),
    ];
    proptest::collection::vec(piece, 0..40).prop_map(|pieces| pieces.concat())
}

fn chunks(text: &str, cuts: &[prop::sample::Index]) -> Vec<String> {
    let ends: Vec<usize> = text.char_indices().map(|(at, _)| at).collect();
    let mut cuts: Vec<usize> = cuts
        .iter()
        .filter(|_| !ends.is_empty())
        .map(|cut| *cut.get(&ends))
        .collect();
    cuts.sort_unstable();
    cuts.push(text.len());
    let mut from = 0;
    cuts.into_iter()
        .map(|to| text[std::mem::replace(&mut from, to)..to].to_owned())
        .collect()
}

/// Ordinary Markdown, for which splitting before parsing must change nothing.
fn ordinary() -> impl Strategy<Value = String> {
    let line = proptest::sample::select(vec![
        "text",
        "more text",
        "",
        "",
        "",
        "# heading",
        "- item",
        "- other",
        "  - nested",
        "  in item",
        "1. one",
        "2. two",
        "   in one",
        "* star",
        "> quote",
        ">",
        "> - item",
        "```",
        "```rs",
        "~~~",
        "   ```",
        "  ```",
        "---",
        "===",
        "***",
        "    indented",
        "| a | b |",
        "|---|---|",
        "| 1 | 2 |",
        "#",
        "-",
        "text  ",
        "10) ten",
        "+ plus",
        "    - deep",
        "a|b",
        "-|-",
        "`",
        "## two ##",
    ]);
    proptest::collection::vec(line, 0..4).prop_map(|lines| lines.join("\n"))
}

/// Renders a text without splitting it.
fn render_unsplit(source: &str) -> String {
    let prose = segment::Prose {
        source: source.to_owned(),
        ..Default::default()
    };
    let (options, known) = (Options::default(), blocks::Definitions::default());
    let written = write::write(&prose, &options, &known, &mut code::NestedCode::default());
    crate::sanitize::clean(&written.markup)
}

fn without_gaps(html: &str) -> String {
    html.replace(">\n\n<", "><")
        .replace(">\n<", "><")
        .trim_end()
        .to_owned()
}

#[test]
fn splitting_does_not_change_the_result() {
    fuzz(400, ordinary(), |source| {
        let split = without_gaps(&render(&source, &Options::default()).join("\n"));
        assert_eq!(split, without_gaps(&render_unsplit(&source)), "{source}");
    });
}

#[test]
fn any_chunking_gives_the_same_blocks() {
    let cuts = proptest::collection::vec(any::<prop::sample::Index>(), 0..12);
    fuzz(150, (markdown(), cuts), |(text, cuts)| {
        let root = Some("/p/q".to_owned());
        let options = Options { root };
        let mut stream = Stream::new(options.clone());
        let mut shown: Vec<String> = Vec::new();
        for chunk in chunks(&text, &cuts) {
            let update = stream.push(&chunk);
            shown.truncate(update.keep);
            shown.extend(update.blocks);
        }
        let update = stream.finish();
        shown.truncate(update.keep);
        shown.extend(update.blocks);
        assert_eq!(shown, render(&text, &options));
    });
}

#[test]
fn a_finished_block_never_changes_while_the_text_grows() {
    fuzz(150, markdown(), |text| {
        let mut blocks = blocks::Blocks::new(Options::default());
        let mut finished: Vec<String> = Vec::new();
        for c in text.chars() {
            blocks.feed(c.encode_utf8(&mut [0; 4]));
            blocks.preview();
            assert_eq!(&blocks.html()[..finished.len()], &finished[..]);
            finished = blocks.html().to_vec();
        }
    });
}

#[test]
fn no_text_makes_the_renderer_panic() {
    fuzz(150, "\\PC{0,80}", |text| {
        let mut stream = Stream::new(Options::default());
        for c in text.chars() {
            stream.push(c.encode_utf8(&mut [0; 4]));
        }
        stream.finish();
    });
}

/// What nests, repeats or never closes is what parsers take too long for.
#[test]
fn a_text_that_repeats_itself_is_rendered_in_time() {
    let piece = "[\\[\\](){}<>*_`~|#>!&:;\\\\^=+. a1\n-]{1,6}";
    let repeated = (piece, 1_usize..3_000, piece, 1_usize..3_000, piece);
    fuzz(20, repeated, |(first, once, second, again, last)| {
        let text = first.repeat(once) + &second.repeat(again) + &last;
        render(&text, &Options::default());
    });
}
