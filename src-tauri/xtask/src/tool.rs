//! Starting other programs, from the root of the repository.

use std::io::{self, BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};

use crate::Outcome;

/// The root of the repository.
pub fn root() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.ancestors().nth(2).unwrap_or(here).to_path_buf()
}

/// Where cargo puts what it builds.
pub fn target_dir() -> PathBuf {
    std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root().join("target"), PathBuf::from)
}

/// The built app.
pub fn app(profile: &str) -> PathBuf {
    target_dir()
        .join(profile)
        .join(format!("lathe{}", std::env::consts::EXE_SUFFIX))
}

/// A built example of the app's package.
pub fn example(profile: &str, name: &str) -> PathBuf {
    let file = format!("{name}{}", std::env::consts::EXE_SUFFIX);
    target_dir().join(profile).join("examples").join(file)
}

/// A cargo call that sees the environment of a plain terminal.
///
/// `cargo run` describes this package to us in variables. Some build scripts watch those, and
/// would build again each time the caller changes between xtask and the terminal.
pub fn cargo() -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    for (name, _) in std::env::vars_os() {
        let text = name.to_string_lossy();
        if text.starts_with("CARGO_PKG_")
            || text.starts_with("CARGO_MANIFEST_")
            || text.starts_with("CARGO_BIN_")
        {
            command.env_remove(&name);
        }
    }
    command.current_dir(root());
    command
}

/// An npm call in the UI's folder.
pub fn npm() -> Command {
    let mut command = Command::new(if cfg!(windows) { "npm.cmd" } else { "npm" });
    command.current_dir(root().join("ui")).stdin(Stdio::null());
    command
}

/// The program and its arguments as one would type them.
pub fn spelled(command: &Command) -> String {
    let program = Path::new(command.get_program());
    let name = program
        .file_stem()
        .unwrap_or(command.get_program())
        .to_string_lossy();
    let args = command
        .get_args()
        .map(|arg| format!(" {}", arg.to_string_lossy()));
    format!("{name}{}", args.collect::<String>())
}

/// Runs to the end with our own input and output; a failure is an error.
pub fn expect_success(command: &mut Command) -> Outcome {
    let status = command
        .status()
        .map_err(|error| format!("`{}` could not start: {error}", spelled(command)))?;
    if status.success() {
        Ok(())
    } else {
        Err(format!("`{}` failed ({status})", spelled(command)))
    }
}

/// What a command prints, when it ends well.
pub fn output_of(command: &mut Command) -> Option<String> {
    let output = command
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .output()
        .ok()?;
    output
        .status
        .success()
        .then(|| String::from_utf8_lossy(&output.stdout).into_owned())
}

/// Runs a command and hands over its lines as they come, output and errors in their order.
pub fn each_line(command: &mut Command, mut line: impl FnMut(&str)) -> Outcome<ExitStatus> {
    let spelled = spelled(command);
    let wrap = |error: io::Error| format!("`{spelled}` could not run: {error}");
    let (reader, writer) = io::pipe().map_err(wrap)?;
    command.stdin(Stdio::null());
    command
        .stdout(writer.try_clone().map_err(wrap)?)
        .stderr(writer);
    let mut child = command.spawn().map_err(wrap)?;
    // Our copies of the pipe's writing end: while they live, reading would never end.
    command.stdout(Stdio::null()).stderr(Stdio::null());
    let mut reader = BufReader::new(reader);
    let mut bytes = Vec::new();
    while reader.read_until(b'\n', &mut bytes).map_err(wrap)? > 0 {
        line(String::from_utf8_lossy(&bytes).trim_end_matches(['\n', '\r']));
        bytes.clear();
    }
    child.wait().map_err(wrap)
}

/// Whether a program can be found on the search path.
pub fn on_path(program: &str) -> bool {
    let file = format!("{program}{}", std::env::consts::EXE_SUFFIX);
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|folder| folder.join(&file).is_file())
}
