use super::*;

fn words(text: &str) -> Vec<String> {
    find_mentions(text)
        .into_iter()
        .map(|mention| mention.word)
        .collect()
}

#[test]
fn an_at_sign_starts_a_mention_unless_it_follows_a_word_or_a_backtick() {
    let cases: [(&str, &[&str]); 9] = [
        ("look at @src/a.rs please", &["src/a.rs"]),
        ("@a and (@b)", &["a", "b)"]),
        ("me@example.org", &[]),
        ("`@decorator` and x_@y", &[]),
        ("é@x 世@y", &[]),
        ("@ alone, @", &[]),
        ("@\"my file.txt\" and @\"\"", &["my file.txt"]),
        ("@a@b", &["a"]),
        ("@a`@b", &["a"]),
    ];
    for (text, expected) in cases {
        assert_eq!(words(text), expected, "{text:?}");
    }
}

#[test]
fn a_mention_may_have_trailing_punctuation_and_line_numbers() {
    let read = |text: &str| -> Vec<(String, Option<Lines>, String)> {
        let mention = find_mentions(text).remove(0);
        let candidates = mention.candidates();
        candidates
            .map(|candidate| (candidate.path, candidate.lines, candidate.source.value))
            .collect()
    };
    let lines = |first, last| Some(Lines { first, last });
    assert_eq!(
        read("see @a.rs#L10-L20."),
        [
            ("a.rs#L10-L20.".into(), None, "@a.rs#L10-L20.".into()),
            ("a.rs".into(), lines(10, 20), "@a.rs#L10-L20".into()),
        ]
    );
    assert_eq!(
        read("@\"a b.rs#L3\""),
        [("a b.rs".into(), lines(3, 3), "@\"a b.rs#L3\"".into())]
    );
    assert_eq!(read("@a#L5-2")[0].1, None);
    assert_eq!(read("@a#L5-7")[0].1, lines(5, 7));
}

#[test]
fn positions_are_counted_in_utf16_units() {
    let mention = find_mentions("😀é @b.rs!").remove(0);
    let source = mention.candidates().nth(1).unwrap().source;
    assert_eq!(
        (source.value.as_str(), source.start.0, source.end.0),
        ("@b.rs", 4, 9)
    );
    assert!(mention.overlaps(&source));
}
