use super::*;

fn text(line: &[Span]) -> String {
    line.iter().map(|span| span.text.as_str()).collect()
}

#[test]
fn rust_code_is_coloured() {
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
fn a_grammar_is_found_by_language_extension_or_file_name() {
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
fn the_lines_joined_are_the_source_text() {
    let code = "a = '\u{202e}'\n\n\tb\r\nlast";
    for name in ["py", "none"] {
        let joined: Vec<String> = lines(code, name).iter().map(|line| text(line)).collect();
        assert_eq!(joined.join("\n"), code);
    }
}

#[test]
fn a_hidden_character_is_shown_as_its_code() {
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
fn beyond_the_limits_the_text_is_complete_but_not_coloured() {
    let code = "let x = 1;\n".repeat(MAX_LINES + 5);
    let lines = lines(&code, "rs");
    assert_eq!(lines.len(), MAX_LINES + 5);
    assert!(lines[MAX_LINES - 1].len() > 1);
    assert_eq!(lines[MAX_LINES].len(), 1);
}

#[test]
fn a_long_line_is_not_coloured_but_the_next_one_is() {
    let code = format!("let a = \"{}\";\nlet b = 1;\n", "x".repeat(5_000));
    let lines = lines(&code, "rs");
    assert_eq!(lines[0].len(), 1);
    assert!(lines[1].len() > 1);
}

#[test]
fn a_line_as_html_is_escaped_and_has_classes() {
    let line = "fn f() -> u8 { 1 } // <b>";
    let mut out = String::new();
    push_line(&mut out, line, &Highlighter::new("rs").line(line));
    assert_eq!(crate::sanitize::clean(&out), out);
    assert!(
        out.contains("<span class=\"hl-comment\">// &lt;b&gt;</span>"),
        "{out}"
    );
}
