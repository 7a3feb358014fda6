//! How large a package is: its source without tests, and its tests.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use super::manifest::Package;
use super::rust_source::{self, RustSource};
use crate::Outcome;

/// The numbers of one package.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Measured {
    /// The first paragraph of the crate's documentation.
    pub purpose: String,
    pub source_lines: usize,
    pub test_lines: usize,
    /// How many functions are tests.
    pub tests: usize,
    /// Files of source with their lines without tests, the largest first.
    pub files: Vec<(PathBuf, usize)>,
    /// Functions outside tests with their files and lines, the largest first.
    pub functions: Vec<(String, PathBuf, usize)>,
}

impl Measured {
    /// The lines of the file in the middle.
    pub fn median_file(&self) -> usize {
        self.files
            .get(self.files.len() / 2)
            .map_or(0, |(_, lines)| *lines)
    }
}

/// Reads every Rust file of the package. Benches and examples are left out.
pub fn measure(tree: &Path, package: &Package) -> Outcome<Measured> {
    let mut paths = BTreeSet::new();
    let source = parent(&package.entry);
    collect(tree, &source, &mut paths)?;
    // The app's package is the root of the repository; the tests there belong to others.
    let own_tests = package.folder.join("tests");
    if !package.folder.as_os_str().is_empty() && tree.join(&own_tests).is_dir() {
        collect(tree, &own_tests, &mut paths)?;
    }
    for target in &package.test_targets {
        if target.file_name().is_some_and(|name| name == "main.rs") {
            collect(tree, &parent(target), &mut paths)?;
        } else {
            paths.insert(target.clone());
        }
    }
    let mut files = Vec::new();
    for path in paths {
        let text = fs::read_to_string(tree.join(&path))
            .map_err(|error| format!("{} could not be read: {error}", path.display()))?;
        files.push((path, rust_source::read(&text)));
    }
    let mut measured = sum_up(&package.folder, &files);
    let entry = fs::read_to_string(tree.join(&package.entry)).unwrap_or_default();
    measured.purpose = first_paragraph(&entry);
    Ok(measured)
}

fn sum_up(folder: &Path, files: &[(PathBuf, RustSource)]) -> Measured {
    let test_files: Vec<PathBuf> = files
        .iter()
        .flat_map(|(path, source)| {
            let modules = source.test_modules.iter();
            modules.map(|module| match &module.path {
                Some(named) => parent(path).join(named),
                None => children(path).join(&module.name).with_extension("rs"),
            })
        })
        .collect();
    let mut measured = Measured::default();
    for (path, source) in files {
        measured.tests += source.tests;
        if is_test(path, &test_files) {
            measured.test_lines += source.lines;
            continue;
        }
        measured.test_lines += source.test_lines;
        let lines = source.lines - source.test_lines;
        measured.source_lines += lines;
        let short = path.strip_prefix(folder).unwrap_or(path).to_path_buf();
        for function in &source.functions {
            let name = function.name.clone();
            let row = (name, short.clone(), function.lines);
            measured.functions.push(row);
        }
        measured.files.push((short, lines));
    }
    measured
        .files
        .sort_by_key(|(_, lines)| std::cmp::Reverse(*lines));
    measured
        .functions
        .sort_by_key(|(_, _, lines)| std::cmp::Reverse(*lines));
    measured
}

/// A file in a folder `tests`, named `tests.rs`, or of a module that is compiled for tests only.
fn is_test(path: &Path, test_files: &[PathBuf]) -> bool {
    path.components().any(|part| part.as_os_str() == "tests")
        || path.file_name().is_some_and(|name| name == "tests.rs")
        || test_files
            .iter()
            .any(|file| path == file || path.starts_with(file.with_extension("")))
}

/// The folder of the modules that a file declares.
fn children(path: &Path) -> PathBuf {
    match path.file_stem().and_then(|stem| stem.to_str()) {
        Some("lib" | "main" | "mod") | None => parent(path),
        Some(stem) => parent(path).join(stem),
    }
}

fn parent(path: &Path) -> PathBuf {
    path.parent().unwrap_or(Path::new("")).to_path_buf()
}

/// Adds every Rust file below a folder of the tree.
fn collect(tree: &Path, folder: &Path, paths: &mut BTreeSet<PathBuf>) -> Outcome {
    let entries = fs::read_dir(tree.join(folder))
        .map_err(|error| format!("{} could not be read: {error}", folder.display()))?;
    for entry in entries.flatten() {
        let path = folder.join(entry.file_name());
        if entry.path().is_dir() {
            collect(tree, &path, paths)?;
        } else if path.extension().is_some_and(|ending| ending == "rs") {
            paths.insert(path);
        }
    }
    Ok(())
}

fn first_paragraph(source: &str) -> String {
    let lines = source.lines().map_while(|line| line.strip_prefix("//!"));
    let words: Vec<_> = lines
        .map(str::trim)
        .take_while(|line| !line.is_empty())
        .collect();
    words.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(path: &str, text: &str) -> (PathBuf, RustSource) {
        (path.into(), rust_source::read(text))
    }

    #[test]
    fn tests_are_counted_apart_from_source_wherever_they_are() {
        let files = [
            file(
                "crates/a/src/lib.rs",
                "mod id;\nfn a() {}\n#[cfg(test)]\nmod samples;\n",
            ),
            file("crates/a/src/samples.rs", "fn sample() {}\n"),
            file("crates/a/src/samples/more.rs", "fn more() {}\n"),
            file(
                "crates/a/src/id.rs",
                "fn b() {\n}\n#[cfg(test)]\n#[path = \"id_tests.rs\"]\nmod tests;\n",
            ),
            file("crates/a/src/id_tests.rs", "#[test]\nfn c() {}\n"),
            file("crates/a/src/id/tests.rs", "#[test]\nfn d() {}\n"),
            file("crates/a/tests/e.rs", "#[test]\nfn e() {}\n"),
            file(
                "crates/a/src/f.rs",
                "fn f() {}\n#[cfg(test)]\nmod tests {\n#[test]\nfn g() {}\n}\n",
            ),
        ];
        let measured = sum_up(Path::new("crates/a"), &files);
        assert_eq!(measured.source_lines, 4 + 5 + 1);
        assert_eq!(measured.test_lines, 1 + 1 + 2 + 2 + 2 + 5);
        assert_eq!(measured.tests, 4);
        let path = |name: &str| PathBuf::from(name);
        assert_eq!(
            measured.files,
            [
                (path("src/id.rs"), 5),
                (path("src/lib.rs"), 4),
                (path("src/f.rs"), 1)
            ]
        );
        assert_eq!(measured.median_file(), 4);
        let functions = [("b", "id", 2), ("a", "lib", 1), ("f", "f", 1)];
        assert_eq!(
            measured.functions,
            functions.map(|(name, file, lines)| {
                (name.to_owned(), path(&format!("src/{file}.rs")), lines)
            })
        );
    }

    #[test]
    fn the_purpose_is_the_first_paragraph_on_one_line() {
        let source = "//! Keys to\n//! files.\n//!\n//! More.\nmod a;\n";
        assert_eq!(first_paragraph(source), "Keys to files.");
        assert_eq!(first_paragraph("mod a;\n"), "");
    }
}
