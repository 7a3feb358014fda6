//! The command line of each editor, and which files must not be opened at all.

use std::path::Path;
use std::process::{Command, Stdio};

use lathe_protocol::ipc::{EditorChoice, EditorKind};

/// Extensions that are run on any system that has a handler, whatever the file mode is.
const PROGRAMS: [&str; 29] = [
    "action", "app", "appimage", "bin", "chm", "com", "command", "cpl", "desktop", "exe", "hta",
    "jar", "jnlp", "lnk", "msc", "msi", "msp", "pif", "pkg", "reg", "run", "scr", "terminal",
    "tool", "vbe", "vbs", "workflow", "wsf", "wsh",
];

/// Extensions that Windows runs, by itself or through an installed language runtime: it looks at
/// the extension only. Elsewhere these are text files.
const WINDOWS_PROGRAMS: [&str; 28] = [
    "ahk",
    "application",
    "au3",
    "bat",
    "cmd",
    "inf",
    "js",
    "jse",
    "lua",
    "php",
    "pl",
    "ps1",
    "py",
    "pyc",
    "pyw",
    "pyz",
    "rb",
    "rbw",
    "scf",
    "sct",
    "sh",
    "tcl",
    "url",
    "vb",
    "ws",
    "wsc",
    "xbap",
    "xll",
];

/// Text files that no handler runs even if the mode is executable: on some disks every file is.
/// Scripts are not in the list. For freedesktop, JavaScript, Python, Ruby, Perl and shell scripts are
/// executables, and a desktop may run one whose mode allows it.
const TEXTS: [&str; 50] = [
    "adoc", "c", "cc", "cfg", "conf", "cpp", "cs", "css", "csv", "cxx", "dart", "ex", "exs", "go",
    "gradle", "h", "hpp", "hs", "html", "ini", "java", "json", "json5", "jsonc", "jsx", "kt",
    "less", "lock", "log", "m", "md", "mdx", "ml", "proto", "rs", "rst", "sass", "scala", "scss",
    "sql", "svelte", "swift", "toml", "ts", "tsx", "txt", "vue", "xml", "yaml", "yml",
];

/// None if the system chooses the editor.
/// Without a line, an editor that has the file open leaves the caret where it is.
pub fn command(choice: &EditorChoice, file: &Path, line: Option<u32>) -> Option<Command> {
    let path = file.display().to_string();
    let place = match line {
        Some(line) => format!("{path}:{line}"),
        None => path.clone(),
    };
    let words: Vec<String> = match choice.kind {
        EditorKind::System => return None,
        EditorKind::VsCode if line.is_none() => vec![vscode().into(), path],
        EditorKind::VsCode => vec![vscode().into(), "--goto".into(), place],
        EditorKind::Zed => vec!["zed".into(), place],
        EditorKind::Neovim => {
            let line = line.map(|line| format!("+{line}"));
            let words = std::iter::once("nvim".into()).chain(line);
            in_terminal(words.chain([path]).collect())
        }
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

/// Whether the system might run this file instead of showing it. If in doubt, yes: a click on a file
/// name must never start what a model wrote.
pub fn is_program(file: &Path) -> bool {
    let ending = file.extension().map(|ending| ending.to_ascii_lowercase());
    let is_one_of = |known: &[&str]| {
        known
            .iter()
            .any(|one| ending.as_deref() == Some((*one).as_ref()))
    };
    let named = is_one_of(&PROGRAMS) || (cfg!(windows) && is_one_of(&WINDOWS_PROGRAMS));
    named || (is_executable(file) && !is_one_of(&TEXTS))
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

/// Fills the file and the line into the words of a command. If no word has a placeholder for the
/// file, it comes last. If there is no line, words that mention it are left out, except for a word
/// that is only the line: it may be the value of the option before it, so it becomes 1.
fn filled(command: &str, path: &str, line: Option<u32>) -> Vec<String> {
    let mut words: Vec<String> = split(command);
    if !words.iter().any(|word| word.contains("{path}")) {
        words.push("{path}".to_owned());
    }
    if line.is_none() {
        words
            .retain(|word| word == "{line}" || word.contains("{path}") || !word.contains("{line}"));
    }
    let number = line.unwrap_or(1).to_string();
    let fill = |word: String| {
        let word = match line {
            None => word.replace("{path}:{line}", "{path}"),
            Some(_) => word,
        };
        // The line first: a path may contain braces.
        word.replace("{line}", &number).replace("{path}", path)
    };
    words.into_iter().map(fill).collect()
}

/// Splits at spaces, except inside quotes.
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
        words_at(kind, custom, Some(12))
    }

    fn words_at(kind: EditorKind, custom: Option<&str>, line: Option<u32>) -> Option<Vec<String>> {
        let choice = EditorChoice {
            kind,
            command: custom.map(str::to_owned),
        };
        let command = command(&choice, Path::new("/p/a b.rs"), line)?;
        let arguments = command.get_args();
        Some(
            std::iter::once(command.get_program())
                .chain(arguments)
                .map(|word| word.to_string_lossy().into_owned())
                .collect(),
        )
    }

    #[test]
    fn each_editor_gets_the_file_and_the_line() {
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
    fn a_custom_command_is_split_but_the_file_name_is_not() {
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

    #[test]
    fn without_a_line_no_editor_moves_its_caret() {
        let at = |kind, custom| words_at(kind, custom, None).unwrap_or_default();
        assert_eq!(at(EditorKind::VsCode, None)[1..], ["/p/a b.rs"]);
        assert_eq!(at(EditorKind::Zed, None), ["zed", "/p/a b.rs"]);
        let nvim = at(EditorKind::Neovim, None);
        assert_eq!(nvim[nvim.len() - 2..], ["nvim", "/p/a b.rs"]);
        for (command, rest) in [
            ("e +{line} {path}", vec!["/p/a b.rs"]),
            ("e --line={line} {path}", vec!["/p/a b.rs"]),
            ("e {path}:{line}", vec!["/p/a b.rs"]),
            ("e -l {line} {path}", vec!["-l", "1", "/p/a b.rs"]),
        ] {
            assert_eq!(
                at(EditorKind::Custom, Some(command))[1..],
                rest,
                "{command}"
            );
        }
    }

    #[cfg(unix)]
    #[test]
    fn programs_are_recognised_by_extension_and_mode() {
        use std::os::unix::fs::PermissionsExt;
        let folder = std::env::temp_dir().join(format!("lathe-launch-{}", std::process::id()));
        assert!(fs::create_dir_all(&folder).is_ok());
        for (name, mode, expected) in [
            ("notes.txt", 0o644, false),
            ("setup.EXE", 0o644, true),
            ("page.desktop", 0o644, true),
            ("run-me", 0o755, true),
            ("main.js", 0o644, false),
            ("build.bat", 0o644, false),
            ("lib.py", 0o644, false),
            ("setup.sh", 0o644, false),
            ("cli.js", 0o755, true),
            ("tool.py", 0o755, true),
            ("setup.sh", 0o755, true),
            ("on-a-shared-disk.rs", 0o777, false),
            ("on-a-shared-disk.ts", 0o777, false),
            ("double.txt.command", 0o644, true),
            ("Lathe.AppImage", 0o755, true),
        ] {
            let path = folder.join(name);
            assert!(fs::write(&path, "x").is_ok());
            assert!(fs::set_permissions(&path, fs::Permissions::from_mode(mode)).is_ok());
            assert_eq!(is_program(&path), expected, "{name}");
        }
        assert!(fs::remove_dir_all(&folder).is_ok());
    }
}
