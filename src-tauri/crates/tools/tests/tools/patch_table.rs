//! Patches as models write them: the files before, the patch, and the files after or a part of
//! the refusal, which leaves every file untouched.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::json;

use super::support::Project;

type Files = &'static [(&'static str, &'static str)];
type Row = (
    &'static str,
    Files,
    &'static str,
    Result<Files, &'static str>,
);

const NO_LINES: Result<Files, &str> = Err("these lines are not there");

#[rustfmt::skip] // One row a line.
const FITTING: &[Row] = &[
    ("add", &[], "*** Add File: a\n+one\n+two", Ok(&[("a", "one\ntwo\n")])),
    ("add below new directories", &[], "*** Add File: x/y z/ü.txt\n+one", Ok(&[("x/y z/ü.txt", "one\n")])),
    ("add an empty file", &[], "*** Add File: a", Ok(&[("a", "")])),
    ("add blank lines", &[], "*** Add File: a\n+\n+x\n+", Ok(&[("a", "\nx\n\n")])),
    ("add lines with signs", &[], "*** Add File: a\n++x\n+-y\n+@@ z\n+*** End of File", Ok(&[("a", "+x\n-y\n@@ z\n*** End of File\n")])),
    ("add blank lines without a sign", &[], "*** Add File: a\n+x\n\n+y\n\n*** Add File: b\n+z", Ok(&[("a", "x\n\ny\n"), ("b", "z\n")])),
    ("delete", &[("a", "x"), ("b", "y")], "*** Delete File: a", Ok(&[("b", "y")])),
    ("update", &[("a", "1\n2\n3\n")], "*** Update File: a\n@@\n 1\n-2\n+two\n 3", Ok(&[("a", "1\ntwo\n3\n")])),
    ("update without @@", &[("a", "1\n2\n3\n")], "*** Update File: a\n 1\n-2\n+two", Ok(&[("a", "1\ntwo\n3\n")])),
    ("rename", &[("a", "1\n")], "*** Update File: a\n*** Move to: dir/b", Ok(&[("dir/b", "1\n")])),
    ("rename and change", &[("a", "1\n2\n")], "*** Update File: a\n*** Move to: b\n@@\n-1\n+one", Ok(&[("b", "one\n2\n")])),
    ("several hunks", &[("a", "1\n2\n3\n4\n5\n6\n")], "*** Update File: a\n@@\n-1\n+one\n@@\n 4\n-5\n+five", Ok(&[("a", "one\n2\n3\n4\nfive\n6\n")])),
    ("several files", &[("a", "1\n"), ("b", "2\n"), ("c", "3\n")], "*** Update File: a\n@@\n-1\n+x\n*** Delete File: b\n*** Add File: d\n+4", Ok(&[("a", "x\n"), ("c", "3\n"), ("d", "4\n")])),
    ("blank lines between files", &[("a", "1\n")], "*** Add File: b\n+x\n\n*** Update File: a\n@@\n-1\n+2\n\n*** Add File: c\n+y", Ok(&[("a", "2\n"), ("b", "x\n"), ("c", "y\n")])),
    ("a context line chooses", &[("a", "fn f() {\n  x\n}\nfn g() {\n  x\n}\n")], "*** Update File: a\n@@ fn g() {\n-  x\n+  y", Ok(&[("a", "fn f() {\n  x\n}\nfn g() {\n  y\n}\n")])),
    ("two context lines choose", &[("a", "A\nf\nx\nB\ne\nx\nf\nx\n")], "*** Update File: a\n@@ B\n@@ f\n-x\n+y", Ok(&[("a", "A\nf\nx\nB\ne\nx\nf\ny\n")])),
    ("the context line quoted again", &[("a", "f\nx\n")], "*** Update File: a\n@@ f\n f\n-x\n+y", Ok(&[("a", "f\ny\n")])),
    ("line numbers as in a diff", &[("a", "1\n2\n")], "*** Update File: a\n@@ -9,1 +9,1 @@\n-2\n+two", Ok(&[("a", "1\ntwo\n")])),
    ("line numbers and a context", &[("a", "x\nf\nx\n")], "*** Update File: a\n@@ -1,2 +1,2 @@ f\n-x\n+y", Ok(&[("a", "x\nf\ny\n")])),
    ("only added, after a context", &[("a", "f\nx\n")], "*** Update File: a\n@@ f\n+new", Ok(&[("a", "f\nnew\nx\n")])),
    ("only added, nowhere named", &[("a", "f\nx\n")], "*** Update File: a\n@@\n+new", Ok(&[("a", "f\nx\nnew\n")])),
    ("only added to an empty file", &[("a", "")], "*** Update File: a\n@@\n+new", Ok(&[("a", "new\n")])),
    ("only removed", &[("a", "1\n2\n3\n")], "*** Update File: a\n@@\n-2", Ok(&[("a", "1\n3\n")])),
    ("everything removed", &[("a", "1\n2\n")], "*** Update File: a\n@@\n-1\n-2", Ok(&[("a", "")])),
    ("anchored at the end", &[("a", "x\ny\nx\n")], "*** Update File: a\n@@\n-x\n+z\n*** End of File", Ok(&[("a", "x\ny\nz\n")])),
    ("added at the end", &[("a", "x\ny\nx\ny\n")], "*** Update File: a\n@@\n y\n+z\n*** End of File", Ok(&[("a", "x\ny\nx\ny\nz\n")])),
    ("no last break stays so", &[("a", "1\n2")], "*** Update File: a\n@@\n 1\n-2\n+two", Ok(&[("a", "1\ntwo")])),
    ("added after a line without a break", &[("a", "1\n2")], "*** Update File: a\n@@\n 2\n+3", Ok(&[("a", "1\n2\n3")])),
    ("CRLF stays", &[("a", "1\r\n2\r\n3\r\n")], "*** Update File: a\n@@\n 1\n-2\n+two\n+more\n 3", Ok(&[("a", "1\r\ntwo\r\nmore\r\n3\r\n")])),
    ("CRLF without a last break", &[("a", "1\r\n2")], "*** Update File: a\n@@\n 2\n+3", Ok(&[("a", "1\r\n2\r\n3")])),
    ("mixed endings stay where lines stay", &[("a", "1\r\n2\n3\r\n")], "*** Update File: a\n@@\n 1\n-2\n+two\n 3", Ok(&[("a", "1\r\ntwo\n3\r\n")])),
    ("a patch in CRLF", &[("a", "1\n2\n")], "*** Update File: a\r\n@@\r\n-1\r\n+one\r", Ok(&[("a", "one\n2\n")])),
    ("a mark at the start stays", &[("a", "\u{feff}1\n2\n")], "*** Update File: a\n@@\n-1\n+one", Ok(&[("a", "\u{feff}one\n2\n")])),
    ("blanks at the end of lines", &[("a", "1  \n2\n")], "*** Update File: a\n@@\n 1\n-2\n+two", Ok(&[("a", "1  \ntwo\n")])),
    ("another indentation", &[("a", "    1\n    2\n")], "*** Update File: a\n@@\n 1\n-2\n+    two", Ok(&[("a", "    1\n    two\n")])),
    ("typographic punctuation", &[("a", "say “hi” – it’s\u{a0}ok\nx\n")], "*** Update File: a\n@@\n say \"hi\" - it's ok\n-x\n+y", Ok(&[("a", "say “hi” – it’s\u{a0}ok\ny\n")])),
    ("an exact place before a like one", &[("a", " x\nx\n")], "*** Update File: a\n@@\n-x\n+y", Ok(&[("a", " x\ny\n")])),
    ("the first of equal places after the last hunk", &[("a", "x\nq\nx\n")], "*** Update File: a\n@@\n-x\n+1\n@@\n-x\n+2", Ok(&[("a", "1\nq\n2\n")])),
    ("a blank context line written without its blank", &[("a", "1\n\n2\n")], "*** Update File: a\n@@\n 1\n\n-2\n+two", Ok(&[("a", "1\n\ntwo\n")])),
    ("beyond ASCII", &[("ü 日.txt", "grüße\n")], "*** Update File: ü 日.txt\n@@\n-grüße\n+Grüße", Ok(&[("ü 日.txt", "Grüße\n")])),
];

#[rustfmt::skip]
const FAILING: &[Row] = &[
    ("lines that are not there", &[("a", "1\n")], "*** Update File: a\n@@\n-2\n+x", NO_LINES),
    ("a hunk behind the one before it", &[("a", "1\n2\n")], "*** Update File: a\n@@\n-2\n+x\n@@\n-1\n+y", NO_LINES),
    ("a context that is not there", &[("a", "1\n")], "*** Update File: a\n@@ fn f\n-1\n+x", Err("no line `fn f`")),
    ("not at the end", &[("a", "1\n2\n")], "*** Update File: a\n@@\n-1\n+x\n*** End of File", Err("at the end of the file")),
    ("the second file does not fit", &[("a", "1\n"), ("b", "1\n")], "*** Update File: a\n@@\n-1\n+x\n*** Update File: b\n@@\n-2\n+x", NO_LINES),
    ("the last one does not exist", &[("a", "1\n"), ("b", "1\n")], "*** Delete File: a\n*** Add File: c\n+x\n*** Delete File: d", Err("d does not exist")),
    ("an update of nothing", &[], "*** Update File: a\n@@\n-1\n+x", Err("a does not exist")),
    ("an added file exists", &[("a", "1\n")], "*** Add File: a\n+x", Err("exists already")),
    ("the target of a move exists", &[("a", "1\n"), ("b", "2\n")], "*** Update File: a\n*** Move to: b", Err("b exists already")),
    ("a file named twice", &[("a", "1\n2\n")], "*** Update File: a\n@@\n-1\n+x\n*** Update File: ./a\n@@\n-2\n+y", Err("names a twice")),
    ("moved to a file that is added", &[("a", "1\n")], "*** Add File: b\n+x\n*** Update File: a\n*** Move to: b", Err("names b twice")),
    ("a hunk without a change", &[("a", "1\n")], "*** Update File: a\n@@\n 1", Err("must add or remove")),
    ("an update without a hunk", &[("a", "1\n")], "*** Update File: a", Err("no hunk")),
    ("a line without its sign", &[("a", "1\n")], "*** Update File: a\n@@\n-1\nx", Err("line 5")),
    ("an unknown header", &[("a", "1\n")], "*** Rename File: a", Err("line 2")),
    ("no path", &[("a", "1\n")], "*** Delete File: ", Err("path is missing")),
    ("nothing at all", &[("a", "1\n")], "", Err("no change")),
    ("a directory", &[("d/a", "1\n")], "*** Delete File: d", Err("directory")),
    ("binary content", &[("a", "1\0\n")], "*** Update File: a\n@@\n-1\n+2", Err("not UTF-8")),
];

#[tokio::test]
async fn every_patch_has_its_expected_result_or_changes_nothing() {
    let rows = [FITTING, FAILING].concat();
    assert!(rows.len() >= 40, "{}", rows.len());
    let mut wrong = Vec::new();
    for (name, files, body, expected) in rows {
        let project = with_files(files);
        let patch = format!("*** Begin Patch\n{body}\n*** End Patch\n");
        let result = project
            .run("apply_patch", json!({ "patchText": patch }))
            .await;
        let after = all_files(&project.cx.root);
        let right = match (&result, expected) {
            (Ok(_), Ok(files)) => after == owned(files),
            (Err(failure), Err(part)) => failure.text.contains(part) && after == owned(files),
            _ => false,
        };
        if !right {
            let said = result.map_or_else(|failure| failure.text, |output| output.output);
            wrong.push(format!("{name}: {after:?}, {said}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

#[tokio::test]
async fn wrappers_around_the_patch_are_removed() {
    let patch = "*** Begin Patch\n*** Add File: a\n+x\n*** End Patch";
    for wrapped in [
        format!("apply_patch <<'EOF'\n{patch}\nEOF"),
        format!("cat <<\"PATCH\"\n{patch}\nPATCH\n"),
        format!("<<EOF\n{patch}\nEOF"),
        format!("apply_patch <<-EOF\n{patch}\nEOF\n\n"),
        format!("\n\n  {patch}  \n"),
    ] {
        let project = Project::new();
        project
            .run("apply_patch", json!({ "patchText": wrapped }))
            .await
            .unwrap();
        assert_eq!(project.content("a"), "x\n", "{wrapped}");
    }
}

pub fn with_files(files: Files) -> Project {
    files
        .iter()
        .fold(Project::new(), |project, (name, content)| {
            project.file(name, content)
        })
}

fn owned(files: Files) -> BTreeMap<String, String> {
    files
        .iter()
        .map(|(name, content)| ((*name).to_owned(), (*content).to_owned()))
        .collect()
}

/// Every file below the root, including temporary ones.
pub fn all_files(root: &Path) -> BTreeMap<String, String> {
    let mut files = BTreeMap::new();
    let mut directories = vec![root.to_owned()];
    while let Some(directory) = directories.pop() {
        for entry in std::fs::read_dir(directory).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                directories.push(path);
                continue;
            }
            let name = path
                .strip_prefix(root)
                .unwrap()
                .to_str()
                .unwrap()
                .to_owned();
            files.insert(name, std::fs::read_to_string(&path).unwrap());
        }
    }
    files
}
