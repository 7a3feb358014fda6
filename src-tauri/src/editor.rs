//! Opening a file where the person edits.
//!
//! The path comes from what a model wrote: it must be a file that exists, and the system is
//! never asked to open what it would run.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use lathe_protocol::ipc::{EditorChoice, EditorKind};
use tauri::AppHandle;
use tauri_plugin_opener::OpenerExt;

/// What a system starts when it opens it.
const RUN: [&str; 22] = [
    "app", "appimage", "bat", "cmd", "com", "command", "cpl", "desktop", "exe", "hta", "jar", "js",
    "jse", "lnk", "msi", "pif", "ps1", "scr", "url", "vbe", "vbs", "workflow",
];

#[derive(Debug, thiserror::Error)]
pub enum EditorError {
    #[error("{0} is not a file")]
    NoFile(String),
    #[error("{program} could not be started: {error}")]
    Start { program: String, error: io::Error },
    #[error("Name a program in the settings, such as: subl {{file}}:{{line}}")]
    NoCommand,
    #[error(transparent)]
    System(#[from] tauri_plugin_opener::Error),
}

/// The file that a path of the project names.
pub fn resolve(worktree: &Path, path: &str) -> Result<PathBuf, EditorError> {
    let none = || EditorError::NoFile(path.to_owned());
    let file = fs::canonicalize(worktree.join(path)).map_err(|_| none())?;
    if file.is_file() {
        Ok(file)
    } else {
        Err(none())
    }
}

pub fn open(
    app: &AppHandle,
    choice: &EditorChoice,
    file: &Path,
    line: Option<u32>,
) -> Result<(), EditorError> {
    let Some(command) = command(choice, file, line)? else {
        return open_by_system(app, file);
    };
    let (program, arguments) = command;
    let started = Command::new(&program)
        .args(arguments)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn();
    match started {
        Ok(mut child) => {
            // An editor may stay open for days; someone must take note when it ends.
            std::thread::spawn(move || child.wait());
            Ok(())
        }
        Err(error) => Err(EditorError::Start { program, error }),
    }
}

fn open_by_system(app: &AppHandle, file: &Path) -> Result<(), EditorError> {
    match is_plain_text(file) {
        true => app
            .opener()
            .open_path(file.display().to_string(), None::<&str>)?,
        false => app.opener().reveal_item_in_dir(file)?,
    }
    Ok(())
}

fn is_plain_text(file: &Path) -> bool {
    let ending = file
        .extension()
        .unwrap_or_default()
        .to_string_lossy()
        .to_lowercase();
    if RUN.contains(&ending.as_str()) {
        return false;
    }
    let mut start = Vec::new();
    let read = File::open(file).and_then(|file| file.take(8192).read_to_end(&mut start));
    read.is_ok() && !start.contains(&0)
}

type Call = (String, Vec<String>);

/// `None` where the system decides.
fn command(
    choice: &EditorChoice,
    file: &Path,
    line: Option<u32>,
) -> Result<Option<Call>, EditorError> {
    let path = file.display().to_string();
    let at = format!("{path}:{}", line.unwrap_or(1));
    Ok(Some(match choice.kind {
        EditorKind::System => return Ok(None),
        EditorKind::Vscode => ("code".into(), vec!["--goto".into(), at]),
        EditorKind::Zed => ("zed".into(), vec![at]),
        EditorKind::Neovim => {
            in_terminal(vec!["nvim".into(), format!("+{}", line.unwrap_or(1)), path])
        }
        EditorKind::Custom => custom(&choice.command, &path, line)?,
    }))
}

/// The words are split before the path goes in: a space in it is not an argument's end.
fn custom(template: &str, path: &str, line: Option<u32>) -> Result<Call, EditorError> {
    let line = line.unwrap_or(1).to_string();
    let fill = |word: &str| word.replace("{line}", &line).replace("{file}", path);
    let mut words: Vec<String> = template.split_whitespace().map(fill).collect();
    if words.is_empty() {
        return Err(EditorError::NoCommand);
    }
    if !template.contains("{file}") {
        words.push(path.to_owned());
    }
    let program = words.remove(0);
    Ok((program, words))
}

#[cfg(target_os = "linux")]
fn in_terminal(mut words: Vec<String>) -> Call {
    words.insert(0, "-e".into());
    ("x-terminal-emulator".into(), words)
}

#[cfg(windows)]
fn in_terminal(mut words: Vec<String>) -> Call {
    words.splice(0..0, ["/c".into(), "start".into(), String::new()]);
    ("cmd".into(), words)
}

/// The terminal takes a line of shell: each word is quoted for it, then for the script.
#[cfg(not(any(target_os = "linux", windows)))]
fn in_terminal(words: Vec<String>) -> Call {
    let quoted: Vec<_> = words
        .iter()
        .map(|word| format!("'{}'", word.replace('\'', "'\\''")))
        .collect();
    let line = quoted.join(" ").replace('\\', "\\\\").replace('"', "\\\"");
    let script = format!("tell application \"Terminal\"\nactivate\ndo script \"{line}\"\nend tell");
    ("osascript".into(), vec!["-e".into(), script])
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    fn call(kind: EditorKind, template: &str) -> Option<Call> {
        let choice = EditorChoice {
            kind,
            command: template.to_owned(),
        };
        command(&choice, Path::new("/a b/c.rs"), Some(7)).unwrap()
    }

    fn words(words: &[&str]) -> Vec<String> {
        words.iter().map(|word| (*word).to_owned()).collect()
    }

    #[test]
    fn each_editor_is_told_the_file_and_the_line_in_its_own_way() {
        assert_eq!(call(EditorKind::System, ""), None);
        let cases = [
            (
                EditorKind::Vscode,
                "",
                "code",
                vec!["--goto", "/a b/c.rs:7"],
            ),
            (EditorKind::Zed, "", "zed", vec!["/a b/c.rs:7"]),
            (
                EditorKind::Custom,
                "subl -w {file}:{line}",
                "subl",
                vec!["-w", "/a b/c.rs:7"],
            ),
            (
                EditorKind::Custom,
                "kate -l {line}",
                "kate",
                vec!["-l", "7", "/a b/c.rs"],
            ),
        ];
        for (kind, template, program, arguments) in cases {
            assert_eq!(
                call(kind, template),
                Some((program.to_owned(), words(&arguments)))
            );
        }
        let nameless = EditorChoice {
            kind: EditorKind::Custom,
            command: "  ".into(),
        };
        assert!(command(&nameless, Path::new("/c"), None).is_err());
    }

    #[test]
    fn a_path_that_is_no_file_is_refused() {
        let folder = std::env::temp_dir();
        for path in ["", ".", "no such file", "../no such file either"] {
            assert!(resolve(&folder, path).is_err(), "{path}");
        }
    }

    #[test]
    fn what_the_system_would_run_is_not_plain_text() {
        for name in ["a.desktop", "b.EXE", "c.bat", "missing.txt"] {
            assert!(!is_plain_text(Path::new(name)), "{name}");
        }
        assert!(is_plain_text(
            Path::new(env!("CARGO_MANIFEST_DIR"))
                .join("Cargo.toml")
                .as_ref()
        ));
    }
}
