use lathe_fuzz::fuzz;
use proptest::prelude::*;

use super::*;

#[test]
fn colours_and_attributes_become_classes() {
    let cases = [
        (
            "\u{1b}[31mred\u{1b}[0m.",
            "<span class=\"ansi-fg-1\">red</span>.",
        ),
        (
            "\u{1b}[1;92;40mx\u{1b}[m",
            "<span class=\"ansi-fg-10 ansi-bg-0 ansi-bold\">x</span>",
        ),
        ("\u{1b}[38;5;208mx", "<span class=\"ansi-fg-208\">x</span>"),
        (
            "\u{1b}[38;2;255;0;0mx",
            "<span class=\"ansi-fg-196\">x</span>",
        ),
        (
            "\u{1b}[48:2::0:0:255mx",
            "<span class=\"ansi-bg-21\">x</span>",
        ),
        (
            "\u{1b}[3;4;9mx\u{1b}[23;24;29my",
            "<span class=\"ansi-italic ansi-underline ansi-strike\">x</span>y",
        ),
        ("\u{9b}31mx", "<span class=\"ansi-fg-1\">x</span>"),
        ("\u{1b}[8mconcealed", "concealed"),
        ("a\u{1b}[31m\nb", "a\n<span class=\"ansi-fg-1\">b</span>"),
    ];
    for (text, expected) in cases {
        assert_eq!(to_html(text), expected);
    }
}

#[test]
fn sequences_that_set_no_style_are_removed() {
    for text in [
        "a\u{1b}]0;title\u{7}b",
        "a\u{1b}]8;;http://x.example\u{1b}\\b",
        "a\u{1b}]52;c;Zm9v\u{7}b",
        "a\u{1b}[2Jb",
        "a\u{1b}[10;10Hb",
        "a\u{1b}[?25lb",
        "a\u{1b}[?1049hb",
        "a\u{1b}(Bb",
        "a\u{1b}=b",
        "a\u{1b}Pq#0\u{1b}\\b",
        "a\u{1b}[>4;2mb",
        "a\u{7}\u{0}b",
    ] {
        assert_eq!(to_html(text), "ab", "{text:?}");
        assert_eq!(strip(text), "ab", "{text:?}");
    }
}

#[test]
fn a_title_without_end_does_not_hide_the_next_line() {
    assert_eq!(strip("a\u{1b}]0;title\nb"), "a\nb");
    assert_eq!(strip("a\u{1b}[12\nb"), "a\nb");
}

#[test]
fn a_progress_line_is_shown_in_its_last_state() {
    let cases = [
        ("10%\r20%\r100%\ndone\n", "100%\ndone\n"),
        ("downloading\rdone\u{1b}[K\n", "done\n"),
        ("long text\r\u{1b}[2Kshort", "short"),
        ("abc\u{8}\u{8}X", "aXc"),
        ("a\r\nb\r\n", "a\nb\n"),
        ("a\n\nb", "a\n\nb"),
        ("", ""),
    ];
    for (text, expected) in cases {
        assert_eq!(strip(text), expected, "{text:?}");
    }
}

#[test]
fn html_and_hidden_characters_are_escaped() {
    assert_eq!(
        to_html("<img src=x onerror=alert(1)>\u{202e}"),
        "&lt;img src=x onerror=alert(1)&gt;<span class=\"hidden-char\">\\u{202e}</span>"
    );
}

#[test]
fn a_very_long_line_is_broken() {
    let lines = strip(&"x".repeat(40_000));
    assert!(lines.lines().all(|line| line.len() <= MAX_LINE_CHARS));
    assert_eq!(lines.replace('\n', "").len(), 40_000);
}

fn html_lines(lines: &[Line]) -> Vec<String> {
    lines.iter().map(line_to_html).collect()
}

fn html_of_open_line(screen: &Screen) -> Option<String> {
    screen.open_line().map(line_to_html)
}

#[test]
fn a_write_returns_complete_lines_and_keeps_the_open_one() {
    let mut screen = Screen::default();
    assert_eq!(html_lines(&screen.write("a\nb")), ["a"]);
    assert_eq!(html_of_open_line(&screen).as_deref(), Some("b"));
    assert!(screen.write("c\u{1b}[3").is_empty());
    assert_eq!(html_of_open_line(&screen).as_deref(), Some("bc"));
    assert_eq!(
        html_lines(&screen.write("1md\n")),
        ["bc<span class=\"ansi-fg-1\">d</span>"]
    );
    assert!(screen.write("").is_empty());
    assert_eq!(html_of_open_line(&screen), None);
}

fn output() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        8 => "[a-z<é ]{0,5}",
        8 => proptest::sample::select(vec![
            "\n", "\r", "\u{8}", "\u{1b}[31m", "\u{1b}[0m", "\u{1b}[K", "\u{1b}]0;t\u{7}",
            "\u{1b}[38;2;1;2;3m", "\u{1b}", "[", "\u{1b}P", "\u{1b}\\", "\t", "\u{9b}",
            "\u{1b}[99999999999999999999m", "\u{1b}[;;;;m", "\u{1b}[38;5m", "\u{1b}[38;2;m",
        ])
        .prop_map(str::to_owned),
        4 => any::<String>(),
        1 => (1_usize..3_000).prop_map(|count| "x\u{8}".repeat(count)),
        1 => (1_usize..3_000).prop_map(|count| "\u{1b}[1;".repeat(count)),
    ];
    proptest::collection::vec(piece, 0..20).prop_map(|pieces| pieces.concat())
}

#[test]
fn any_chunking_of_an_output_gives_the_same_lines() {
    fuzz(256, output(), |text| {
        let mut screen = Screen::default();
        let mut lines: Vec<String> = Vec::new();
        for c in text.chars() {
            lines.extend(html_lines(&screen.write(c.encode_utf8(&mut [0; 4]))));
        }
        lines.extend(html_of_open_line(&screen));
        let lines: Vec<String> = lines.iter().map(|line| sanitize::clean(line)).collect();
        let whole = to_html(&text);
        assert_eq!(lines.join("\n"), whole.strip_suffix('\n').unwrap_or(&whole));
        let is_plain = |c: char| !c.is_control() || c == '\n' || c == '\t';
        assert!(strip(&text).chars().all(is_plain));
    });
}
