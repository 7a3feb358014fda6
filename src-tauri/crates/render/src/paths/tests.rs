use super::*;

fn file(path: &str, line: Option<u32>) -> Option<FileRef> {
    Some(FileRef {
        path: path.to_owned(),
        line,
    })
}

#[test]
fn the_root_is_removed_only_where_a_path_starts_with_it() {
    let root = "/home/ann/project";
    let cases = [
        ("/home/ann/project/src/a.rs", "src/a.rs"),
        (
            "see /home/ann/project/a and (/home/ann/project/b)",
            "see a and (b)",
        ),
        ("'/home/ann/project/a.rs':3", "'a.rs':3"),
        ("--path=/home/ann/project/a", "--path=a"),
        ("/home/ann/project-old/a", "/home/ann/project-old/a"),
        ("/home/ann/projects/a", "/home/ann/projects/a"),
        ("/mnt/home/ann/project/a", "/mnt/home/ann/project/a"),
        ("/home/ann/project", "/home/ann/project"),
        ("cd /home/ann/project/ && ls", "cd /home/ann/project/ && ls"),
        ("/home/ann/project/../other", "../other"),
        ("/home/ann/project/.env", ".env"),
        ("/home/ann/project//a", "/home/ann/project//a"),
        ("/home/ann/project/é.rs", "é.rs"),
        ("nothing here", "nothing here"),
        ("", ""),
    ];
    for (text, expected) in cases {
        assert_eq!(relativize(text, root), expected, "{text}");
        assert_eq!(relativize(text, "/home/ann/project/"), expected, "{text}");
    }
}

#[test]
fn a_windows_root_matches_with_either_separator_and_any_case() {
    let root = r"C:\Users\Ann\project";
    let cases = [
        (r"C:\Users\Ann\project\src\a.rs", r"src\a.rs"),
        ("c:/users/ann/project/src/a.rs", "src/a.rs"),
        (r#""C:\\Users\\Ann\\project\\a.rs""#, r#""a.rs""#),
        (r"C:\Users\Ann\project", r"C:\Users\Ann\project"),
        (r"C:\Users\Ann\project\", r"C:\Users\Ann\project\"),
        (r"C:\Users\Ann\project2\a", r"C:\Users\Ann\project2\a"),
        (r"D:\Users\Ann\project\a", r"D:\Users\Ann\project\a"),
    ];
    for (text, expected) in cases {
        assert_eq!(relativize(text, root), expected, "{text}");
    }
}

#[test]
fn the_root_of_a_disk_is_never_removed() {
    for root in ["/", "", "C:\\", "C:", "\\"] {
        assert_eq!(
            relativize("/etc/hosts C:\\a", root),
            "/etc/hosts C:\\a",
            "{root}"
        );
    }
}

#[test]
fn only_words_that_are_clearly_paths_are_references() {
    let root = Some("/home/ann/project");
    let cases = [
        ("src/a.rs", file("src/a.rs", None)),
        ("src/a.rs:12", file("src/a.rs", Some(12))),
        ("a.rs:12:5", file("a.rs", Some(12))),
        ("src/a.rs#L12-L20", file("src/a.rs", Some(12))),
        ("/home/ann/project/src/a.rs:7", file("src/a.rs", Some(7))),
        (r"src\a.rs", file(r"src\a.rs", None)),
        ("app/[id]/page.tsx", file("app/[id]/page.tsx", None)),
        (".github/ci.yml", file(".github/ci.yml", None)),
        ("@src/a.rs", file("src/a.rs", None)),
        ("@src/a.rs:12", file("src/a.rs", Some(12))),
        ("@/home/ann/project/src/a.rs", file("src/a.rs", None)),
        ("@/components/a.vue", None),
        ("@@src/a.rs", file("@src/a.rs", None)),
        ("a.rs", None),
        ("/etc/passwd.txt", None),
        ("C:\\a\\b.txt", None),
        ("and/or", None),
        ("1.5/2.5", None),
        ("example.com/a.html", None),
        ("example.com:80", None),
        ("http://a/b.html", None),
        ("a.rs:x", None),
        ("src/\u{202e}a.rs", None),
        ("-o/a.rs", None),
    ];
    for (word, expected) in cases {
        assert_eq!(parse_reference(word, root), expected, "{word}");
    }
}

#[test]
fn a_relative_link_is_a_file_and_a_web_address_is_not() {
    let cases = [
        ("docs/", file("docs/", None)),
        ("My%20File.md#L3", file("My File.md", Some(3))),
        ("a.md#section", file("a.md", None)),
        ("../x", file("../x", None)),
        ("#top", None),
        ("//evil.example/x", None),
        ("javascript:alert(1)", None),
        ("java%73cript:alert(1)", None),
        ("file:///etc/passwd", None),
        ("", None),
    ];
    for (target, expected) in cases {
        assert_eq!(parse_link_target(target, None), expected, "{target}");
    }
    assert_eq!(
        parse_link_target("file:///p/q/a.rs", Some("/p/q")),
        file("a.rs", None)
    );
}

#[test]
fn an_incomplete_root_is_found_at_the_end_of_a_text() {
    assert_eq!(trailing_root_prefix("see /home/an", "/home/ann"), Some(4));
    assert_eq!(trailing_root_prefix("see /home/ann/", "/home/ann"), Some(4));
    assert_eq!(trailing_root_prefix("see /home/ann/x", "/home/ann"), None);
    assert_eq!(trailing_root_prefix("see /", "/home/ann"), None);
    assert_eq!(trailing_root_prefix("see ", "/home/ann"), None);
}
