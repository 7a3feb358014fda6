use super::*;

fn file(path: &str, line: Option<u32>) -> Option<FileRef> {
    Some(FileRef {
        path: path.to_owned(),
        line,
    })
}

#[test]
fn the_root_goes_only_where_it_is_a_whole_path_prefix() {
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
fn a_root_that_is_the_whole_disk_strips_nothing() {
    for root in ["/", "", "C:\\", "C:", "\\"] {
        assert_eq!(
            relativize("/etc/hosts C:\\a", root),
            "/etc/hosts C:\\a",
            "{root}"
        );
    }
}

#[test]
fn words_that_are_paths_beyond_doubt_are_references() {
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
        assert_eq!(reference(word, root), expected, "{word}");
    }
}

#[test]
fn a_relative_link_is_a_file_and_an_address_is_not() {
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
        assert_eq!(link_target(target, None), expected, "{target}");
    }
    assert_eq!(
        link_target("file:///p/q/a.rs", Some("/p/q")),
        file("a.rs", None)
    );
}

#[test]
fn a_root_that_is_still_being_written_is_found_at_the_end() {
    assert_eq!(trailing_root_prefix("see /home/an", "/home/ann"), Some(4));
    assert_eq!(trailing_root_prefix("see /home/ann/", "/home/ann"), Some(4));
    assert_eq!(trailing_root_prefix("see /home/ann/x", "/home/ann"), None);
    assert_eq!(trailing_root_prefix("see /", "/home/ann"), None);
    assert_eq!(trailing_root_prefix("see ", "/home/ann"), None);
}
