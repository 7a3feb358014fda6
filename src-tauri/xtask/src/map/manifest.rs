//! The packages of a workspace, read from its manifests.
//!
//! Only as much TOML as our own manifests use: tables, quoted strings and lists of them.

use std::fs;
use std::path::{Path, PathBuf};

use crate::Outcome;

/// One package of the workspace. Paths are relative to the tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Package {
    /// The name in the manifest.
    pub name: String,
    /// The short name that the map shows: the folder's, or "shell" for the app itself.
    pub label: String,
    pub folder: PathBuf,
    /// The file of the library, or of the program where there is none.
    pub entry: PathBuf,
    /// Test targets that are outside the package's own `tests` folder.
    pub test_targets: Vec<PathBuf>,
    /// Packages of this workspace that it depends on, by label.
    pub dependencies: Vec<String>,
    /// Packages of this workspace that only its tests and benches depend on, by label.
    pub dev_dependencies: Vec<String>,
}

/// Every package of the workspace, the app first, then the members in their order.
pub fn packages(tree: &Path) -> Outcome<Vec<Package>> {
    let root = Manifest::read(tree, Path::new(""))?;
    let mut manifests = vec![root];
    let members = manifests[0].list("[workspace]", "members");
    for member in members {
        manifests.push(Manifest::read(tree, Path::new(&member))?);
    }
    let labels: Vec<(String, String)> = manifests
        .iter()
        .map(|manifest| (manifest.name(), manifest.label()))
        .collect();
    let packages = manifests.iter().map(|manifest| {
        let mut package = manifest.package(&labels);
        if !tree.join(&package.entry).is_file() {
            package.entry.set_file_name("main.rs");
        }
        package
    });
    Ok(packages.collect())
}

/// The lines of a manifest, each with the header of its table.
struct Manifest {
    folder: PathBuf,
    lines: Vec<(String, String)>,
}

impl Manifest {
    fn read(tree: &Path, folder: &Path) -> Outcome<Self> {
        let file = tree.join(folder).join("Cargo.toml");
        let text = fs::read_to_string(&file)
            .map_err(|error| format!("{} could not be read: {error}", file.display()))?;
        Ok(Self::parse(folder, &text))
    }

    fn parse(folder: &Path, text: &str) -> Self {
        let mut header = String::new();
        let mut lines = Vec::new();
        for line in text.lines().map(str::trim) {
            if line.starts_with('[') && line.ends_with(']') {
                header = line.to_owned();
            }
            lines.push((header.clone(), line.to_owned()));
        }
        Self {
            folder: folder.to_path_buf(),
            lines,
        }
    }

    fn name(&self) -> String {
        self.text("[package]", "name").unwrap_or_default()
    }

    fn label(&self) -> String {
        let folder = self.folder.file_name();
        folder.map_or_else(
            || "shell".to_owned(),
            |name| name.to_string_lossy().into_owned(),
        )
    }

    fn package(&self, labels: &[(String, String)]) -> Package {
        let entry = self.text("[lib]", "path");
        let entry = entry.unwrap_or_else(|| "src/lib.rs".into());
        let mut dependencies = Vec::new();
        let mut dev_dependencies = Vec::new();
        for (header, line) in &self.lines {
            let key = line.split([' ', '.', '=']).next().unwrap_or_default();
            let Some((_, label)) = labels.iter().find(|(name, _)| name == key) else {
                continue;
            };
            // `[target.'cfg(unix)'.dependencies]` counts like `[dependencies]`.
            if header.ends_with("dev-dependencies]") {
                dev_dependencies.push(label.clone());
            } else if header.ends_with("dependencies]") && !header.contains("workspace") {
                dependencies.push(label.clone());
            }
        }
        dev_dependencies.retain(|label| !dependencies.contains(label));
        for list in [&mut dependencies, &mut dev_dependencies] {
            list.sort();
            list.dedup();
        }
        let test_targets = self.texts("[[test]]", "path").into_iter();
        Package {
            name: self.name(),
            label: self.label(),
            folder: self.folder.clone(),
            entry: flatten(&self.folder.join(entry)),
            test_targets: test_targets
                .map(|path| flatten(&self.folder.join(path)))
                .collect(),
            dependencies,
            dev_dependencies,
        }
    }

    fn text(&self, header: &str, key: &str) -> Option<String> {
        self.texts(header, key).into_iter().next()
    }

    /// The values of a key that is set to a string, in every table with this header.
    fn texts(&self, header: &str, key: &str) -> Vec<String> {
        let lines = self.lines.iter().filter(|(within, _)| within == header);
        lines
            .filter_map(|(_, line)| line.split_once('='))
            .filter(|(name, _)| name.trim() == key)
            .filter_map(|(_, value)| value.split('"').nth(1).map(str::to_owned))
            .collect()
    }

    /// The strings of a list, on one line or on many.
    fn list(&self, header: &str, key: &str) -> Vec<String> {
        let mut inside = false;
        let mut found = Vec::new();
        for (_, line) in self.lines.iter().filter(|(within, _)| within == header) {
            inside |= line.starts_with(key) && line.contains('[');
            if inside {
                found.extend(line.split('"').skip(1).step_by(2).map(str::to_owned));
            }
            if line.contains(']') {
                inside = false;
            }
        }
        found
    }
}

/// The path without `..`; nothing here is a symbolic link.
fn flatten(path: &Path) -> PathBuf {
    let mut flat = PathBuf::new();
    for component in path.components() {
        if component.as_os_str() == ".." {
            flat.pop();
        } else {
            flat.push(component);
        }
    }
    flat
}

#[cfg(test)]
mod tests {
    use super::*;

    const SESSION: &str = r#"
[package]
name = "lathe-session"
description = "The loop"

[dependencies]
serde = { workspace = true }
lathe-store = { workspace = true }

[dev-dependencies]
lathe-store = { workspace = true }
lathe-test-support.workspace = true

[target.'cfg(unix)'.dependencies]
lathe-protocol = { workspace = true }

[[test]]
name = "session"
path = "../../../tests/session/main.rs"
"#;

    #[test]
    fn a_package_is_read_with_its_dependencies_and_tests() {
        let labels = [
            ("lathe-store", "store"),
            ("lathe-protocol", "protocol"),
            ("lathe-test-support", "support"),
        ];
        let labels = labels.map(|(name, label)| (name.to_owned(), label.to_owned()));
        let manifest = Manifest::parse(Path::new("src-tauri/crates/session"), SESSION);
        let package = manifest.package(&labels);
        assert_eq!(package.label, "session");
        assert_eq!(package.dependencies, ["protocol", "store"]);
        assert_eq!(package.dev_dependencies, ["support"]);
        assert_eq!(
            package.entry,
            Path::new("src-tauri/crates/session/src/lib.rs")
        );
        assert_eq!(package.test_targets, [Path::new("tests/session/main.rs")]);
    }

    #[test]
    fn members_are_read_from_one_line_or_many() {
        let one = Manifest::parse(Path::new(""), "[workspace]\nmembers = [\"a\", \"b/c\"]\n");
        assert_eq!(one.list("[workspace]", "members"), ["a", "b/c"]);
        let many = "[workspace]\nmembers = [\n    \"a\",\n    \"b/c\",\n]\nexclude = [\"d\"]\n";
        let many = Manifest::parse(Path::new(""), many);
        assert_eq!(many.list("[workspace]", "members"), ["a", "b/c"]);
    }

    #[test]
    fn every_member_of_this_workspace_is_found_with_its_entry() {
        let packages = packages(&crate::tool::root()).unwrap();
        assert_eq!(packages[0].label, "shell");
        for package in packages {
            let entry = crate::tool::root().join(&package.entry);
            assert!(
                entry.is_file(),
                "{} has no {}",
                package.name,
                entry.display()
            );
        }
    }
}
