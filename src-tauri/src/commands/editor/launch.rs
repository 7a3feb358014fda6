//! How each editor is told which file and line to show.

use std::path::Path;
use std::process::{Command, Stdio};

use lathe_protocol::ipc::{EditorChoice, EditorKind};

/// Endings that a double click runs, on one system or another.
const PROGRAMS: [&str; 32] = [
    "app", "appimage", "bat", "bin", "chm", "cmd", "com", "command", "cpl", "desktop", "exe",
    "hta", "inf", "jar", "js", "jse", "lnk", "msc", "msi", "msp", "pif", "ps1", "reg", "run",
    "scf", "scr", "terminal", "url", "vb", "vbs", "workflow", "wsf",
];

/// The command for an editor; none where the system shall decide.
pub fn command(choice: &EditorChoice, file: &Path, line: u32) -> Option<Command> {
    let path = file.display().to_string();
    let words: Vec<String> = match choice.kind {
        EditorKind::System => return None,
        EditorKind::VsCode => vec![vscode().into(), "--goto".into(), format!("{path}:{line}")],
        EditorKind::Zed => vec!["zed".into(), format!("{path}:{line}")],
        EditorKind::Neovim => in_terminal(vec!["nvim".into(), format!("+{line}"), path]),
        EditorKind::Custom => filled(choice.command.as_deref()?, &path, line),
    };
    let (program, arguments) = words.split_first()?;
    let mut command = Command::new(program);
    command
        .args(arguments)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    Some(command)
}

/// Whether the system would run this instead of showing it.
pub fn is_program(file: &Path) -> bool {
    let ending = file.extension().map(|ending| ending.to_ascii_lowercase());
    let named = ending.is_some_and(|ending| PROGRAMS.iter().any(|known| ending == *known));
    named || is_executable(file)
}

#[cfg(unix)]
fn is_executable(file: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    file.metadata()
        .is_ok_and(|meta| meta.is_file() && meta.permissions().mode() & 0o111 != 0)
}

#[cfg(not(unix))]
fn is_executable(_file: &Path) -> bool {
    false
}

fn vscode() -> &'static str {
    if cfg!(windows) { "code.cmd" } else { "code" }
}

#[cfg(target_os = "macos")]
fn in_terminal(command: Vec<String>) -> Vec<String> {
    const SCRIPT: &str = "on run words\n\
        set line to \"\"\n\
        repeat with word in words\n\
        set line to line & quoted form of (word as text) & \" \"\n\
        end repeat\n\
        tell application \"Terminal\" to do script line\n\
        tell application \"Terminal\" to activate\n\
        end run";
    let mut words = vec!["osascript".into(), "-e".into(), SCRIPT.into()];
    words.extend(command);
    words
}

#[cfg(windows)]
fn in_terminal(command: Vec<String>) -> Vec<String> {
    let mut words = vec!["wt.exe".into()];
    words.extend(command);
    words
}

#[cfg(not(any(target_os = "macos", windows)))]
fn in_terminal(command: Vec<String>) -> Vec<String> {
    const TERMINALS: [(&str, &[&str]); 8] = [
        ("x-terminal-emulator", &["-e"]),
        ("gnome-terminal", &["--"]),
        ("konsole", &["-e"]),
        ("kitty", &[]),
        ("alacritty", &["-e"]),
        ("wezterm", &["start", "--"]),
        ("foot", &[]),
        ("xterm", &["-e"]),
    ];
    let there = |name: &str| {
        let path = std::env::var_os("PATH").unwrap_or_default();
        std::env::split_paths(&path).any(|folder| folder.join(name).is_file())
    };
    let (name, flags) = TERMINALS
        .into_iter()
        .find(|(name, _)| there(name))
        .unwrap_or(TERMINALS[0]);
    let mut words = vec![name.to_owned()];
    words.extend(flags.iter().map(|flag| (*flag).to_owned()));
    words.extend(command);
    words
}

/// The words of a command, with the file and the line put in. Without a place for the file it
/// comes last.
fn filled(command: &str, path: &str, line: u32) -> Vec<String> {
    let mut words: Vec<String> = split(command);
    if !words.iter().any(|word| word.contains("{path}")) {
        words.push("{path}".to_owned());
    }
    let line = line.to_string();
    words
        .into_iter()
        // The line first: a path may hold braces of its own.
        .map(|word| word.replace("{line}", &line).replace("{path}", path))
        .collect()
}

/// Splits at blanks, except inside quotes.
fn split(command: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote = None;
    for c in command.chars() {
        match quote {
            Some(open) if c == open => quote = None,
            Some(_) => word.get_or_insert_default().push(c),
            None if c == '"' || c == '\'' => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            None if c.is_whitespace() => words.extend(word.take()),
            None => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    words
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn words(kind: EditorKind, custom: Option<&str>) -> Option<Vec<String>> {
        let choice = EditorChoice {
            kind,
            command: custom.map(str::to_owned),
        };
        let command = command(&choice, Path::new("/p/a b.rs"), 12)?;
        let arguments = command.get_args();
        Some(
            std::iter::once(command.get_program())
                .chain(arguments)
                .map(|word| word.to_string_lossy().into_owned())
                .collect(),
        )
    }

    #[test]
    fn each_editor_is_told_the_file_and_the_line() {
        assert_eq!(words(EditorKind::System, None), None);
        let code = words(EditorKind::VsCode, None).unwrap_or_default();
        assert_eq!(code[1..], ["--goto", "/p/a b.rs:12"]);
        assert_eq!(
            words(EditorKind::Zed, None),
            Some(vec!["zed".into(), "/p/a b.rs:12".into()])
        );
        let nvim = words(EditorKind::Neovim, None).unwrap_or_default();
        assert_eq!(nvim[nvim.len() - 3..], ["nvim", "+12", "/p/a b.rs"]);
    }

    #[test]
    fn a_command_of_ones_own_is_split_but_its_file_is_not() {
        assert_eq!(
            words(EditorKind::Custom, Some("'my editor' --line={line} {path}")),
            Some(vec![
                "my editor".into(),
                "--line=12".into(),
                "/p/a b.rs".into()
            ])
        );
        assert_eq!(
            words(EditorKind::Custom, Some("emacs")),
            Some(vec!["emacs".into(), "/p/a b.rs".into()])
        );
        assert_eq!(words(EditorKind::Custom, None), None);
    }

    #[cfg(unix)]
    #[test]
    fn what_would_run_is_known_by_its_ending_and_its_mode() {
        use std::os::unix::fs::PermissionsExt;
        let folder = std::env::temp_dir().join(format!("lathe-launch-{}", std::process::id()));
        assert!(fs::create_dir_all(&folder).is_ok());
        for (name, mode, expected) in [
            ("notes.txt", 0o644, false),
            ("setup.EXE", 0o644, true),
            ("page.desktop", 0o644, true),
            ("run-me", 0o755, true),
        ] {
            let path = folder.join(name);
            assert!(fs::write(&path, "x").is_ok());
            assert!(fs::set_permissions(&path, fs::Permissions::from_mode(mode)).is_ok());
            assert_eq!(is_program(&path), expected, "{name}");
        }
        assert!(fs::remove_dir_all(&folder).is_ok());
    }
}
