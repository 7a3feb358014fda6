//! `cargo xtask bundle`: the packages people install, made by Tauri's own bundler.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::setup::{self, Need};
use crate::{Outcome, tool, ui};

/// The bundler, at the version that fits the crates.
const CLI: &str = "@tauri-apps/cli@2.12.4";

/// What this platform's people install, and what its making needs beyond a build.
#[cfg(target_os = "linux")]
const KINDS: [(&str, &str); 3] = [
    ("deb", "nothing more"),
    ("rpm", "nothing more"),
    (
        "appimage",
        "a download of linuxdeploy on the first run, and FUSE",
    ),
];
#[cfg(target_os = "macos")]
const KINDS: [(&str, &str); 2] = [
    ("app", "nothing more"),
    ("dmg", "a certificate, to open without a warning elsewhere"),
];
#[cfg(windows)]
const KINDS: [(&str, &str); 1] = [("nsis", "a download of NSIS on the first run")];

/// Made when nobody names a kind: those that need nothing more.
#[derive(Debug, PartialEq, Eq)]
pub struct Options {
    kinds: Vec<String>,
}

impl Options {
    pub fn parse(args: &[String]) -> Outcome<Self> {
        let names: Vec<&str> = KINDS.iter().map(|(kind, _)| *kind).collect();
        if let Some(other) = args.iter().find(|arg| !names.contains(&arg.as_str())) {
            return Err(format!(
                "there is no package `{other}` here; there are: {}",
                names.join(", ")
            ));
        }
        let usual = KINDS.iter().filter(|(_, needs)| *needs == "nothing more");
        let kinds = match args {
            [] => usual.map(|(kind, _)| (*kind).to_owned()).collect(),
            some => some.to_vec(),
        };
        Ok(Options { kinds })
    }
}

pub fn run(options: &Options) -> Outcome {
    setup::provide(&[Need::Build, Need::Window, Need::Node])?;
    ui::install()?;
    for (kind, needs) in KINDS {
        if options.kinds.iter().any(|wanted| wanted == kind) {
            println!("{kind}: needs {needs}");
        }
    }
    let mut command = Command::new(if cfg!(windows) { "npx.cmd" } else { "npx" });
    command.current_dir(tool::root()).stdin(Stdio::null());
    command.args(["--yes", CLI, "build", "--bundles", &options.kinds.join(",")]);
    tool::expect_success(&mut command)?;
    for package in packages(&tool::target_dir().join("release/bundle")) {
        println!("{}", package.display());
    }
    Ok(())
}

/// What lies in the folders that the bundler names after the kinds.
fn packages(folder: &Path) -> Vec<PathBuf> {
    const ENDINGS: [&str; 6] = ["AppImage", "app", "deb", "dmg", "exe", "rpm"];
    let inside = |path: &Path| {
        let entries = path.read_dir().into_iter().flatten().flatten();
        entries.map(|entry| entry.path()).collect::<Vec<_>>()
    };
    let mut found: Vec<_> = inside(folder)
        .iter()
        .flat_map(|kind| inside(kind))
        .collect();
    found.retain(|path| {
        path.extension()
            .is_some_and(|ending| ENDINGS.iter().any(|one| ending == *one))
    });
    found.sort();
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_a_name_the_packages_that_need_nothing_more_are_made() {
        let options = Options::parse(&[]).unwrap();
        assert!(!options.kinds.is_empty() || cfg!(windows));
        assert!(!options.kinds.contains(&"appimage".to_owned()));
    }

    #[test]
    fn a_package_of_another_platform_is_refused_by_name() {
        let error = Options::parse(&["floppy".into()]).unwrap_err();
        assert!(
            error.contains("floppy") && error.contains("there are"),
            "{error}"
        );
    }
}
