//! Inexact oldStrings as models write them, and the expected results.

use serde_json::json;

use super::support::Project;

/// The file before, oldString, newString, and the file after or a part of the refusal.
type Row = (
    &'static str,
    &'static str,
    &'static str,
    &'static str,
    Result<&'static str, &'static str>,
);

const NOT_FOUND: Result<&str, &str> = Err("was not found");
const SEVERAL: Result<&str, &str> = Err("times");
const TOO_LONG: Result<&str, &str> = Err("far more than");

#[rustfmt::skip] // One row a line.
const EXACT: &[Row] = &[
    ("one word", "let a = 1;\n", "1", "2", Ok("let a = 2;\n")),
    ("a whole line", "a\nb\nc\n", "b\n", "B\n", Ok("a\nB\nc\n")),
    ("a line deleted", "a\nb\nc\n", "b\n", "", Ok("a\nc\n")),
    ("several lines for one", "a\nb\nc\n", "b", "b1\nb2", Ok("a\nb1\nb2\nc\n")),
    ("the first byte", "abc", "a", "x", Ok("xbc")),
    ("the last byte", "abc", "c", "x", Ok("abx")),
    ("no last break, none added", "a\nb", "b", "c", Ok("a\nc")),
    ("the last break is kept", "a\nb\n", "b\n", "c", Ok("a\nc\n")),
    ("everything", "all\n", "all\n", "new\n", Ok("new\n")),
    ("everything deleted", "all\n", "all\n", "", Ok("")),
    ("regex characters are plain", "a.*b\naxxb\n", "a.*b", "$1", Ok("$1\naxxb\n")),
    ("dollars are plain", "x = 1\n", "x = 1", "x = $&\\1", Ok("x = $&\\1\n")),
    ("beyond ASCII", "grüße 日本\n", "grüße", "Grüße", Ok("Grüße 日本\n")),
    ("blanks only, exact", "a\n\n\n\nb\n", "\n\n\n\n", "\n\n", Ok("a\n\nb\n")),
    ("twice", "x = 1\nx = 1\n", "x = 1", "x = 2", SEVERAL),
    ("twice, once as a part of a line", "foo\nfoobar\n", "foo", "bar", SEVERAL),
    ("twice, overlapping", "aaa", "aa", "b", SEVERAL),
    ("twice but for the context", "a\nx\nb\nx\n", "b\nx", "b\ny", Ok("a\nx\nb\ny\n")),
    ("not there", "abc\n", "xyz", "q", NOT_FOUND),
    ("other case", "Hello\n", "hello", "bye", NOT_FOUND),
    ("with line numbers", "a\nb\n", "     1\ta\n     2\tb", "c", Err("line numbers")),
    ("the same text", "a\n", "a", "a", Err("are the same")),
];

#[rustfmt::skip] // One row a line.
const BLANKS: &[Row] = &[
    ("blanks after the line", "a  \nb\nc\n", "a\nb\n", "A\nB\n", Ok("A\nB\nc\n")),
    ("blanks given but not there", "a\nb\n", "a   \nb   ", "A\nB", Ok("A\nB\n")),
    ("too little indentation", "def f():\n    if x:\n        y()\n        z()\n", "if x:\n    y()\n    z()", "if x:\n    w()\n    z()", Ok("def f():\n    if x:\n        w()\n        z()\n")),
    ("too much indentation", "if x:\n    y()\n", "    if x:\n        y()\n", "    if x:\n        z()\n", Ok("if x:\n    z()\n")),
    ("spaces for tabs", "{\n\ta;\n\t\tb;\n}\n", "    a;\n        b;", "    a;\n        c;", Ok("{\n\ta;\n\t\tc;\n}\n")),
    ("two spaces for tabs", "{\n\ta;\n\t\tb;\n}\n", "  a;\n    b;", "  a;\n    c;", Ok("{\n\ta;\n\t\tc;\n}\n")),
    ("tabs for spaces", "{\n    a;\n        b;\n}\n", "\ta;\n\t\tb;", "\ta;\n\t\tc;", Ok("{\n    a;\n        c;\n}\n")),
    ("only the first line outdented", "x\n    if a {\n        b;  \n    }\n", "if a {\n        b;\n    }", "if a {\n        c;\n    }", Ok("x\n    if a {\n        c;\n    }\n")),
    ("an indentation that is to be changed", "  a\n  b\n", "a \nb", "\ta\n\tb", Ok("\ta\n\tb\n")),
    ("a blank line holding blanks", "a\n   \nb\n", "a\n\nb", "a\nb", Ok("a\nb\n")),
    ("a break too many at the end of the file", "a\nb", "a \nb\n", "a\nc\n", Ok("a\nc")),
    ("double blanks between words", "let  x =   1;\n", "let x = 1;", "let x = 2;", Ok("let x = 2;\n")),
    ("blanks given between words", "if (a && b) {\n", "if (a  &&  b)", "if (b)", Ok("if (b) {\n")),
    ("a tab between words", "a\t=\t1\n", "a = 1", "a = 2", Ok("a = 2\n")),
    ("a line that was wrapped", "f(a,\n  b)\ng()\n", "f(a, b)", "f(b)", Ok("f(b)\ng()\n")),
    ("a line that was not wrapped", "f(a, b)\ng()\n", "f(a,\n  b)", "f(b)", Ok("f(b)\ng()\n")),
    ("indented and blanks differ", "\tlet  x = 1;\n", "    let x = 1;", "    let x = 2;", Ok("    let x = 2;\n")),
    ("twice but for the indentation, given loosely", "  a\n    b\n--\na\n  b\n", " a \n b ", "c", SEVERAL),
    ("twice trimmed, once with this shape", "  a\n    b\n--\na\nb\n", " a\n   b", " a\n   c", Ok("  a\n    c\n--\na\nb\n")),
    ("words in another order", "a = b\n", "b = a", "c", NOT_FOUND),
    ("words run together", "a=b\n", "a = b", "c", NOT_FOUND),
    ("blanks only, not there", "a\nb\n", "  \n\n", "x", NOT_FOUND),
];

#[rustfmt::skip] // One row a line.
const BLOCKS: &[Row] = &[
    ("a comment misquoted", "fn f() {\n    // counts the visible rows\n    rows.len()\n}\n", "fn f() {\n    // counts visible rows\n    rows.len()\n}", "fn f() {\n    0\n}", Ok("fn f() {\n    0\n}\n")),
    ("a line left out in the middle", "begin\nalpha one\nbeta two\ngamma three\ndelta four\nend\n", "begin\nalpha one\nbeta two\ndelta four\nend", "begin\nend", Ok("begin\nend\n")),
    ("a line more in the middle", "begin\nalpha one\ndelta four\nend\n", "begin\nalpha one\nbeta\ndelta four\nend", "begin\nend", Ok("begin\nend\n")),
    ("a typing error in the middle", "a {\n  retrun value;\n}\n", "a {\n  return value;\n}", "a {\n  return 1;\n}", Ok("a {\n  return 1;\n}\n")),
    ("a middle that has nothing in common", "a {\n  zzzz;\n}\n", "a {\n  1 + 2 = 3\n}", "b", NOT_FOUND),
    ("two blocks that are alike", "a {\n  return x1;\n}\na {\n  return x2;\n}\n", "a {\n  return x3;\n}", "b", SEVERAL),
    ("two blocks, one that is alike", "a {\n  return x1;\n}\na {\n  ++++++++++;\n}\n", "a {\n  return x3;\n}", "b", Ok("b\na {\n  ++++++++++;\n}\n")),
    ("another first line", "x {\n  return 1;\n}\n", "a {\n  return 1;\n}", "b", NOT_FOUND),
    ("another last line", "a {\n  return 1;\n)\n", "a {\n  return 1;\n}", "b", NOT_FOUND),
    ("half of the lines between", "start\none\ntwo\nXXXXXXXXXXXXXXXXX\nYYYYYYYYYYYYYYYYY\nstop\n", "start\none\ntwo\nqqqqqqqqqqqqqqqqq\nppppppppppppppppp\nstop", "start\nstop", Ok("start\nstop\n")),
    ("less than half of them", "start\none\nXXXXXXXXXXXXXXXXX\nYYYYYYYYYYYYYYYYY\nstop\n", "start\none\nqqqqqqqqqqqqqqqqq\nppppppppppppppppp\nstop", "start\nstop", NOT_FOUND),
    ("blank lines do not count as equal", "start\n\nXXXXX\n\nstop\n", "start\n\nqqqqq\n\nstop", "start\nstop", NOT_FOUND),
    ("a block indented and misquoted", "  a {\n    retrun value;\n  }\n", "a {\n  return value;\n}", "a {\n  return 1;\n}", Ok("  a {\n    return 1;\n  }\n")),
    ("two lines anchor nothing", "a\nbb\n", "a\ncc", "x", NOT_FOUND),
];

#[rustfmt::skip] // One row a line.
const ESCAPES: &[Row] = &[
    ("escaped quotes", "say(\"hi\")\n", "say(\\\"hi\\\")", "say(\\\"bye\\\")", Ok("say(\"bye\")\n")),
    ("escaped single quotes", "it's\n", "it\\'s", "it is", Ok("it is\n")),
    ("escaped breaks", "a\nb\nc\n", "a\\nb", "a\\nB", Ok("a\nB\nc\n")),
    ("escaped tabs", "\ta\n", "\\ta", "\\tb", Ok("\tb\n")),
    ("escaped backslashes", "p = \"a\\b\"\n", "p = \"a\\\\b\"", "p = \"c\\\\d\"", Ok("p = \"c\\d\"\n")),
    ("escaped dollar and backtick", "`${x}`\n", "\\`\\${x}\\`", "\\`y\\`", Ok("`y`\n")),
    ("escapes that are in the file", "s = \"a\\nb\"\n", "\"a\\nb\"", "\"a\\tb\"", Ok("s = \"a\\tb\"\n")),
    ("escaped, twice there", "\"a\"\n\"a\"\n", "\\\"a\\\"", "b", SEVERAL),
    ("blank lines around", "x\na = 1\ny\n", "\n\na = 1\n\n", "\n\na = 2\n\n", Ok("x\na = 2\ny\n")),
    ("a break before that is not there", "x a = 1 y\n", "\na = 1", "\na = 2", Ok("x a = 2 y\n")),
    ("blank lines around, twice there", "(a = 1)\n(a = 1)\n", "\n\na = 1\n\n", "b", SEVERAL),
];

#[rustfmt::skip] // One row a line.
const ENDINGS: &[Row] = &[
    ("CRLF stays", "a\r\nb\r\nc\r\n", "a\nb", "A\nB\nB2", Ok("A\r\nB\r\nB2\r\nc\r\n")),
    ("CRLF given for CRLF", "a\r\nb\r\n", "a\r\nb", "A\r\nB", Ok("A\r\nB\r\n")),
    ("CRLF given for LF", "a\nb\n", "a\r\nb", "A\r\nB", Ok("A\nB\n")),
    ("CRLF with trimmed lines", "  a\r\n  b\r\n", "a\nb", "a\nc", Ok("  a\r\n  c\r\n")),
    ("CRLF, one line to two", "a\r\nb\r\n", "b", "b\nc", Ok("a\r\nb\r\nc\r\n")),
    ("CRLF, the last line without a break", "a\r\nb", "b", "b\nc", Ok("a\r\nb\r\nc")),
    ("mixed: the lines there decide", "a\nb\nc\r\nd\r\n", "c\nd", "c\nx\nd", Ok("a\nb\nc\r\nx\r\nd\r\n")),
    ("mixed: what stays keeps its ending", "a\r\nb\nc\r\n", "a\nb\nc", "a\nB\nc", Ok("a\r\nB\nc\r\n")),
    ("a mark at the start stays", "\u{feff}a\nb\n", "a\n", "A\n", Ok("\u{feff}A\nb\n")),
    ("a lone carriage return is a character", "a\rb\n", "b", "c", Ok("a\rc\n")),
    ("the last CRLF is kept", "a\r\nb\r\n", "b\n", "c", Ok("a\r\nc\r\n")),
];

#[rustfmt::skip] // One row a line.
const LENGTH: &[Row] = &[
    ("more lines than were given", "a {\n  alpha beta\n  gamma delta\n  epsilon zeta\n  1\n  2\n  3\n  4\n}\n", "a {\n  alpha beta\n  gamma delta\n  epsilon zeta\n}", "b", TOO_LONG),
    ("much more text on as many lines", "a {\n  x\n  one, two, three, four, five, six, seven, eight, nine, ten, eleven, twelve, thirteen\n}\n", "a {\n  x\n  y\n}", "b", TOO_LONG),
];

#[tokio::test]
async fn every_inexact_old_string_has_its_expected_result() {
    let tables = [EXACT, BLANKS, BLOCKS, ESCAPES, ENDINGS, LENGTH];
    let mut wrong = Vec::new();
    let mut count = 0;
    for (name, before, old, new, expected) in tables.concat() {
        count += 1;
        let project = Project::new().file("f.txt", before);
        project.output("read", json!({ "filePath": "f.txt" })).await;
        let input = json!({ "filePath": "f.txt", "oldString": old, "newString": new });
        let result = project.run("edit", input).await;
        let after = project.content("f.txt");
        let right = match (&result, expected) {
            (Ok(_), Ok(expected)) => after == expected,
            (Err(failure), Err(part)) => failure.text.contains(part) && after == before,
            _ => false,
        };
        if !right {
            let said = result.map_or_else(|failure| failure.text, |output| output.output);
            wrong.push(format!("{name}: {after:?}, {said}"));
        }
    }
    assert!(count >= 60, "{count}");
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

#[tokio::test]
async fn all_places_are_replaced_when_asked_for() {
    let rows = [
        ("a b a\n", "a", "x", "x b x\n"),
        ("aaa\n", "aa", "b", "ba\n"),
        (
            "  f( x );\n\tf( x );  \n",
            "f( x );\n",
            "g();\n",
            "  g();\n\tf( x );  \n",
        ),
        (
            "  a\n  b\n--\n    a\n    b\n",
            "a\nb",
            "a\nc",
            "  a\n  c\n--\n    a\n    c\n",
        ),
        ("a\r\nb\na\r\n", "a\n", "x\ny\n", "x\r\ny\r\nb\nx\r\ny\r\n"),
    ];
    for (before, old, new, after) in rows {
        let project = Project::new().file("f.txt", before);
        project.output("read", json!({ "filePath": "f.txt" })).await;
        let input =
            json!({ "filePath": "f.txt", "oldString": old, "newString": new, "replaceAll": true });
        project.run("edit", input).await.unwrap();
        assert_eq!(project.content("f.txt"), after, "{old:?}");
    }
}
