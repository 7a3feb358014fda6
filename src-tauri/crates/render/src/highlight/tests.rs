use super::*;

fn text(line: &[Span]) -> String {
    line.iter().map(|span| span.text.as_str()).collect()
}

#[test]
fn rust_is_coloured_by_what_the_words_mean() {
    let lines = lines("fn main() { // go\n    let x = \"é\";\n}\n", "src/main.rs");
    let coloured: Vec<(&str, &str)> = lines
        .iter()
        .flatten()
        .filter_map(|span| Some((span.text.as_str(), span.class.as_deref()?)))
        .collect();
    assert_eq!(
        coloured,
        [
            ("fn", "hl-keyword"),
            ("main", "hl-function"),
            ("// go", "hl-comment"),
            ("let", "hl-keyword"),
            ("=", "hl-operator"),
            ("\"é\"", "hl-string"),
        ]
    );
}

#[test]
fn names_and_paths_find_their_grammar() {
    let named = [
        "rust",
        "rs",
        "ts",
        "tsx",
        "typescript",
        "js",
        "jsx",
        "python",
        "py",
        "bash",
        "sh",
        "shell",
        "console",
        "json",
        "jsonc",
        "yaml",
        "yml",
        "toml",
        "go",
        "golang",
        "c",
        "cpp",
        "c++",
        "java",
        "kotlin",
        "swift",
        "ruby",
        "php",
        "html",
        "css",
        "scss",
        "sql",
        "diff",
        "dockerfile",
        "makefile",
        "md",
        "markdown",
        "xml",
        "lua",
        "zig",
        "csharp",
        "c#",
        "svelte",
        "vue",
        "graphql",
        "Cargo.toml",
        "a/b/Makefile",
        "x.test.ts",
    ];
    let missing: Vec<_> = named
        .into_iter()
        .filter(|name| find_syntax(name).is_none())
        .collect();
    assert_eq!(missing, Vec::<&str>::new());
    assert!(find_syntax("").is_none());
    assert!(find_syntax("no-such-language").is_none());
}

#[test]
fn the_text_of_the_lines_is_the_text_of_the_code() {
    let code = "a = '\u{202e}'\n\n\tb\r\nlast";
    for name in ["py", "none"] {
        let joined: Vec<String> = lines(code, name).iter().map(|line| text(line)).collect();
        assert_eq!(joined.join("\n"), code);
    }
}

#[test]
fn a_hidden_character_is_drawn_as_its_code() {
    let spans = &lines("x\u{202e}y", "none")[0];
    assert_eq!(
        spans
            .iter()
            .map(|span| (span.text.as_str(), span.shown.as_deref()))
            .collect::<Vec<_>>(),
        [("x", None), ("\u{202e}", Some("\\u{202e}")), ("y", None)]
    );
}

#[test]
fn past_the_bounds_the_text_is_plain_and_whole() {
    let code = "let x = 1;\n".repeat(MAX_LINES + 5);
    let lines = lines(&code, "rs");
    assert_eq!(lines.len(), MAX_LINES + 5);
    assert!(lines[MAX_LINES - 1].len() > 1);
    assert_eq!(lines[MAX_LINES].len(), 1);
}

#[test]
fn a_long_line_is_plain_and_the_next_one_is_not() {
    let code = format!("let a = \"{}\";\nlet b = 1;\n", "x".repeat(5_000));
    let lines = lines(&code, "rs");
    assert_eq!(lines[0].len(), 1);
    assert!(lines[1].len() > 1);
}

#[test]
fn html_uses_only_the_listed_classes() {
    let out = html("fn f() -> u8 { 1 } // <b>", "rs");
    assert!(
        out.contains("<span class=\"hl-comment\">// &lt;b&gt;</span>"),
        "{out}"
    );
}
