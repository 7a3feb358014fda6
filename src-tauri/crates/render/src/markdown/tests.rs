use super::*;

fn html(source: &str) -> String {
    render(source, &Options::default()).join("")
}

fn html_in(source: &str, root: &str) -> String {
    render(
        source,
        &Options {
            root: Some(root.to_owned()),
        },
    )
    .join("")
}

#[test]
fn an_ordinary_answer_is_drawn_block_by_block() {
    let source = include_str!("../../tests/samples/answer.md");
    insta::assert_snapshot!(render(source, &Options::default()).join("\n---- block ----\n"));
}

#[test]
fn each_top_level_block_is_one_string() {
    let blocks = render(
        "# a\n\nb\nc\n\n- d\n\n- e\n\n> f\n\n***\n",
        &Options::default(),
    );
    assert_eq!(
        blocks,
        [
            "<h1>a</h1>\n",
            "<p>b\nc</p>\n",
            "<ul>\n<li><p>d</p>\n</li>\n<li><p>e</p>\n</li>\n</ul>\n",
            "<blockquote>\n<p>f</p>\n</blockquote>\n",
            "<hr>\n",
        ]
    );
}

#[test]
fn blocks_without_blank_lines_between_them_are_separated() {
    let blocks = render(
        "text\n# h\n```sh\nls\n```\n- a\n- b\n1. c",
        &Options::default(),
    );
    assert_eq!(
        blocks,
        [
            "<p>text</p>\n",
            "<h1>h</h1>\n",
            "<pre class=\"code\" data-lang=\"sh\"><code><span class=\"hl-function\">ls</span>\n</code></pre>",
            "<ul>\n<li>a</li>\n<li>b</li>\n</ul>\n",
            "<ol>\n<li>c</li>\n</ol>\n",
        ]
    );
}

#[test]
fn raw_html_is_shown_as_text() {
    assert_eq!(
        html("<script>alert(1)</script>\n\na <b onclick=x>b</b><br>c"),
        "<p class=\"raw-html\">&lt;script&gt;alert(1)&lt;/script&gt;\n</p>\n\
         <p>a &lt;b onclick=x&gt;b&lt;/b&gt;<br>c</p>\n"
    );
}

#[test]
fn a_link_to_a_place_in_a_session_is_one_and_what_only_looks_so_is_not() {
    let turn = "lathe://session/ses_1a2b/msg_3c4d";
    let part = "lathe://session/ses_1a2b/msg_3c4d/prt_5e6f";
    for place in [turn, part] {
        let link =
            |text: &str| format!("<a href=\"{place}\" rel=\"noopener noreferrer\">{text}</a>");
        assert_eq!(
            html(&format!("[there]({place}), {place}.")),
            format!("<p>{}, {}.</p>\n", link("there"), link(place))
        );
    }
    for other in [
        "lathe://session/ses_1a2b",
        "lathe://session/../msg_1",
        "lathe://session/ses_1/msg_",
        "lathe://settings/ses_1/msg_1",
        "lathe://session/ses_1/msg_1/prt_1/x",
        "lathe://session/ses_1/msg_1?x",
        "LATHE://session/ses_1/msg_1",
    ] {
        let shown = html(&format!("[a]({other})"));
        assert_eq!(shown, "<p>a</p>\n", "{other}");
    }
}

#[test]
fn only_web_and_mail_addresses_become_external_links() {
    let external = |url: &str, text: &str| {
        format!(
            "<p><a href=\"{url}\" data-external=\"\" rel=\"noopener noreferrer\">{text}</a></p>\n"
        )
    };
    assert_eq!(
        html("[a](https://x.example/y)"),
        external("https://x.example/y", "a")
    );
    assert_eq!(
        html("[a](mailto:a@x.example)"),
        external("mailto:a@x.example", "a")
    );
    assert_eq!(
        html("https://x.example/y"),
        external("https://x.example/y", "https://x.example/y")
    );
    for target in [
        "javascript:alert(1)",
        "JaVaScRiPt:alert(1)",
        "data:text/html,x",
        "file:///etc/passwd",
        "vbscript:x",
        "ftp://x",
        "tauri://localhost",
        "#id",
        "//x.example",
        "ipc:x",
        "blob:x",
    ] {
        assert_eq!(html(&format!("[a]({target})")), "<p>a</p>\n", "{target}");
    }
}

#[test]
fn references_to_project_files_become_links() {
    assert_eq!(
        html_in(
            "See /p/q/src/a.rs:12, `src/b.rs` and [c](docs/c.md#L3).",
            "/p/q"
        ),
        "<p>See <a class=\"file-ref\" role=\"link\" tabindex=\"0\" data-path=\"src/a.rs\" data-line=\"12\" rel=\"noopener noreferrer\">src/a.rs:12</a>, \
         <a class=\"file-ref\" role=\"link\" tabindex=\"0\" data-path=\"src/b.rs\" rel=\"noopener noreferrer\"><code>src/b.rs</code></a> and \
         <a class=\"file-ref\" role=\"link\" tabindex=\"0\" data-path=\"docs/c.md\" data-line=\"3\" rel=\"noopener noreferrer\">c</a>.</p>\n"
    );
}

#[test]
fn a_mention_links_to_its_file_and_is_shown_as_typed() {
    assert_eq!(
        html("See @src/a.rs."),
        "<p>See <a class=\"file-ref\" role=\"link\" tabindex=\"0\" data-path=\"src/a.rs\" rel=\"noopener noreferrer\">@src/a.rs</a>.</p>\n"
    );
}

#[test]
fn a_remote_image_is_a_button_that_names_its_host() {
    assert_eq!(
        html("![a <b>](https://good.example@evil.example/x.png)"),
        "<p><button type=\"button\" class=\"remote-image\" \
         data-src=\"https://good.example@evil.example/x.png\" data-host=\"evil.example\">\
         a &lt;b&gt; · evil.example</button></p>\n"
    );
    assert_eq!(html("![a](javascript:x)"), "<p>a</p>\n");
    assert_eq!(html("![a](data:image/svg+xml;base64,AAAA)"), "<p>a</p>\n");
    assert_eq!(
        html("![a](data:image/png;base64,AAAA)"),
        "<p><img class=\"inline-image\" src=\"data:image/png;base64,AAAA\" alt=\"a\"></p>\n"
    );
}

#[test]
fn a_large_inline_image_is_replaced_by_its_name() {
    let data = "A".repeat(40_000);
    assert_eq!(
        html(&format!("![a](data:image/png;base64,{data})")),
        "<p>a</p>\n"
    );
}

#[test]
fn hidden_characters_are_shown_as_their_code_everywhere() {
    let mark = "<span class=\"hidden-char\">\\u{202e}</span>";
    assert_eq!(html("a\u{202e}b"), format!("<p>a{mark}b</p>\n"));
    assert_eq!(
        html("`a\u{202e}b`"),
        format!("<p><code>a{mark}b</code></p>\n")
    );
    assert_eq!(
        html("```\n\u{202e}\n```"),
        format!("<pre class=\"code\"><code>{mark}\n</code></pre>")
    );
}

#[test]
fn a_link_to_a_later_definition_is_resolved() {
    let expected = "<p><a href=\"https://x.example/\" data-external=\"\" rel=\"noopener noreferrer\">a</a></p>\n";
    assert_eq!(
        html("[a][X]\n\ntext\n\n[x]: https://x.example\n"),
        format!("{expected}<p>text</p>\n")
    );
    assert_eq!(html("[x]: https://x.example\n\n[a][x]\n"), expected);
    assert_eq!(html("[x]: javascript:alert(1)\n\n[a][x]\n"), "<p>a</p>\n");
}

#[test]
fn footnotes_stay_in_place_and_references_need_a_footnote() {
    assert_eq!(
        html("a[^1] and b[^2]\n\n[^1]: note\n"),
        "<p>a<sup class=\"footnote-ref\">1</sup> and b[^2]</p>\n\
         <div class=\"footnote\"><sup class=\"footnote-label\">1</sup><p>note</p>\n</div>\n"
    );
}

#[test]
fn an_underline_makes_a_heading_of_the_paragraph_above() {
    assert_eq!(
        html("a\n===\nb\n---\nc"),
        "<h1>a</h1>\n<h2>b</h2>\n<p>c</p>\n"
    );
}

#[test]
fn a_list_keeps_its_nested_blocks() {
    assert_eq!(
        html("1. a\n\n   ```\n   x\n\n   # y\n   ```\n\n   b\n2. c\n"),
        "<ol>\n<li><p>a</p>\n<pre class=\"code\"><code>x\n\n# y\n</code></pre>\n<p>b</p>\n</li>\n\
         <li><p>c</p>\n</li>\n</ol>\n"
    );
}

#[test]
fn a_long_list_continues_with_its_numbers() {
    let blocks = render(&"1. x\n".repeat(60), &Options::default());
    let heads: Vec<&str> = blocks
        .iter()
        .filter_map(|block| block.lines().next())
        .collect();
    assert_eq!(
        heads,
        [
            "<ol>",
            "<ol class=\"continued\" start=\"26\">",
            "<ol class=\"continued\" start=\"51\">"
        ]
    );
}

#[test]
fn a_long_table_repeats_its_header() {
    let rows = "| 1 | 2 |\n".repeat(150);
    let blocks = render(
        &format!("| a | b |\n|---|--:|\n{rows}"),
        &Options::default(),
    );
    assert_eq!(blocks.len(), 2);
    let header = "<thead><tr><th>a</th><th class=\"right\">b</th></tr></thead>";
    assert!(blocks[0].starts_with(&format!("<table>{header}")));
    assert!(blocks[1].starts_with(&format!("<table class=\"continued\">{header}")));
    assert_eq!(blocks[1].matches("<td>1</td>").count(), 50);
}

#[test]
fn a_long_fence_continues_in_further_blocks_with_its_colours() {
    let code = format!("/*\n{}*/\n", "in a comment\n".repeat(98));
    let blocks = render(&format!("```rust\n{code}```\n"), &Options::default());
    assert_eq!(blocks.len(), 2);
    let head =
        "<pre class=\"code continued\" data-lang=\"rust\"><code><span class=\"hl-comment\">in a";
    assert!(blocks[1].starts_with(head), "{}", blocks[1]);
}

#[test]
fn the_output_for_deep_nesting_and_long_lines_is_bounded() {
    let deep = render(&">".repeat(5_000), &Options::default()).join("");
    assert!(deep.matches("<blockquote>").count() <= 24);
    let long = render(&"x".repeat(300_000), &Options::default());
    assert!(long.len() > 1 && long.iter().all(|block| block.len() < 100_000));
    let repeated = format!(
        "[x]: https://x.example/{}\n\n{}",
        "y".repeat(5_000),
        "[x] ".repeat(5_000)
    );
    assert!(render(&repeated, &Options::default()).join("").len() < 100_000);
}

#[test]
fn every_kind_of_line_break_is_recognised() {
    assert_eq!(html("a\r\n\r\nb\rc\n"), html("a\n\nb\nc\n"));
}

#[test]
fn a_text_that_cannot_be_rendered_is_shown_as_it_is() {
    let blocks = plain("a *b*\n<script>");
    assert_eq!(
        blocks,
        ["<pre class=\"code\"><code>a *b*\n&lt;script&gt;</code></pre>"]
    );
    assert!(plain(&"line\n".repeat(200)).len() > 1);
}
