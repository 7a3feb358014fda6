use super::*;

fn words(text: &str) -> Vec<String> {
    named(text).into_iter().map(|named| named.word).collect()
}

#[test]
fn an_at_sign_names_something_unless_it_follows_a_word_or_a_backtick() {
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
fn a_name_may_end_with_a_sentence_and_carry_lines() {
    let read = |text: &str| -> Vec<(String, Option<Lines>, String)> {
        let named = named(text).remove(0);
        let spellings = named.spellings();
        spellings
            .map(|spelling| (spelling.path, spelling.lines, spelling.source.value))
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
fn places_are_counted_as_the_window_counts_them() {
    let named = named("😀é @b.rs!").remove(0);
    let source = named.spellings().nth(1).unwrap().source;
    assert_eq!(
        (source.value.as_str(), source.start.0, source.end.0),
        ("@b.rs", 4, 9)
    );
    assert!(named.overlaps(&source));
}
