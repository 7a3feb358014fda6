use super::*;

#[test]
fn hidden_characters_are_escaped() {
    let cases = [
        ("rm \u{202e}txt.exe", "rm \\u{202e}txt.exe"),
        ("\u{1b}[31mred", "␛[31mred"),
        ("\u{1b}]0;title\u{7}", "␛]0;title␇"),
        ("a\u{200b}b\u{feff}", "a\\u{200b}b\\u{feff}"),
        ("\u{e0041}", "\\u{e0041}"),
        ("\u{2066}x\u{2069}", "\\u{2066}x\\u{2069}"),
        ("a\u{ad}b", "a\\u{ad}b"),
        ("\u{9b}31m", "\\u{9b}31m"),
        ("\u{7f}\u{0}\r", "␡␀␍"),
        ("A\u{fe01}\u{e0101}", "A\\u{fe01}\\u{e0101}"),
    ];
    for (text, shown) in cases {
        assert_eq!(visible(text), shown);
    }
}

#[test]
fn ordinary_text_in_any_script_is_unchanged() {
    for text in [
        "naïve — “quotes”",
        "中文，日本語",
        "مرحبا",
        "می\u{200c}خواهم",
        "क्\u{200d}ष",
    ] {
        assert_eq!(visible(text), text);
    }
    for emoji in ["👩\u{200d}💻", "❤\u{fe0f}", "1\u{fe0f}\u{20e3}", "👍🏽"] {
        assert_eq!(visible(emoji), emoji);
    }
}

#[test]
fn a_line_break_is_escaped_only_in_text_for_one_line() {
    assert_eq!(visible("a\n\tb"), "a\n\tb");
    assert_eq!(visible_line("a\n\tb"), "a␊␉b");
}

#[test]
fn the_runs_joined_are_the_source_text() {
    let text = "a\u{202e}\u{200b}b\u{200d}";
    let joined: String = runs(text)
        .map(|run| match run {
            Run::Visible(text) | Run::Hidden(text, _) => text,
        })
        .collect();
    assert_eq!(joined, text);
}
