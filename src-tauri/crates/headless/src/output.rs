//! The only place that prints.
//!
//! Answers go to standard output, everything else to standard error. If standard output is
//! closed by its reader (`| head`), the program ends quietly; if only standard error is closed,
//! its messages are lost and the work continues.
//!
//! Text from a model, a file or a server may contain terminal control codes. They are escaped
//! when written to a terminal; a pipe gets the unchanged bytes.

use std::error::Error;
use std::fmt::Arguments;
use std::io::{self, BufWriter, IsTerminal, Stdout, Write};
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{LazyLock, Mutex, PoisonError};

use lathe_render::escape;
use serde::Serialize;
use tokio::sync::oneshot;

// Cached: they are checked for every piece of an answer.
static OUT_IS_TERMINAL: LazyLock<bool> = LazyLock::new(|| io::stdout().is_terminal());
static ERR_IS_TERMINAL: LazyLock<bool> = LazyLock::new(|| io::stderr().is_terminal());

pub fn fail(error: &dyn Error) -> ExitCode {
    note(&format!("lathectl: {error}"));
    ExitCode::FAILURE
}

/// Prints a line to standard error, after flushing standard output to keep the order.
pub fn note(text: &str) {
    if let Err(error) = flush() {
        write_stderr(format_args!("lathectl: {error}\n"));
    }
    progress(None);
    write_stderr(format_args!("{}\n", escape::visible(text)));
}

/// Shows a status line on the terminal, replacing the previous one; `None` clears it.
pub fn progress(line: Option<&str>) {
    static SHOWN: AtomicBool = AtomicBool::new(false);
    if !*ERR_IS_TERMINAL {
        return;
    }
    if SHOWN.swap(line.is_some(), Ordering::Relaxed) {
        write_stderr(format_args!("\r\x1b[2K"));
    }
    if let Some(line) = line {
        let short: String = one_line(line).chars().take(70).collect();
        write_stderr(format_args!("{short}"));
    }
}

/// Whether [`progress`] prints anything.
pub fn shows_progress() -> bool {
    *ERR_IS_TERMINAL
}

/// The first line of a title or name, with control codes escaped.
pub fn one_line(text: &str) -> String {
    escape::visible_line(text.lines().next().unwrap_or_default())
}

/// Errors are ignored: standard error may be closed, and the work continues without it.
fn write_stderr(text: Arguments<'_>) {
    let mut err = io::stderr().lock();
    let _ = err.write_fmt(text);
    let _ = err.flush();
}

/// Standard output, buffered because answers come in many small pieces.
struct Out {
    to: BufWriter<Stdout>,
    /// Whether a character is escaped may depend on the last one of the previous piece.
    previous: Option<char>,
}

static OUT: LazyLock<Mutex<Out>> = LazyLock::new(|| {
    Mutex::new(Out {
        to: BufWriter::with_capacity(64 << 10, io::stdout()),
        previous: None,
    })
});

/// Prints to the buffer of standard output; see [`flush`].
pub fn text(text: &str) -> io::Result<()> {
    if !*OUT_IS_TERMINAL {
        return write_raw(|to| to.write_all(text.as_bytes()));
    }
    progress(None);
    let mut out = OUT.lock().unwrap_or_else(PoisonError::into_inner);
    let shown = escape_after(&mut out.previous, text);
    out.to.write_all(shown.as_bytes())
}

/// Writes without escaping, also to a terminal.
fn write_raw(write: impl FnOnce(&mut BufWriter<Stdout>) -> io::Result<()>) -> io::Result<()> {
    progress(None);
    let mut out = OUT.lock().unwrap_or_else(PoisonError::into_inner);
    write(&mut out.to)
}

fn escape_after(previous: &mut Option<char>, text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        match escape::is_hidden(*previous, c) {
            true => shown.push_str(&escape::replacement(c)),
            false => shown.push(c),
        }
        *previous = Some(c);
    }
    shown
}

/// Whether the buffer holds text that is not written yet.
pub fn has_unflushed() -> bool {
    let out = OUT.lock().unwrap_or_else(PoisonError::into_inner);
    !out.to.buffer().is_empty()
}

pub fn flush() -> io::Result<()> {
    let mut out = OUT.lock().unwrap_or_else(PoisonError::into_inner);
    out.to.flush()
}

pub fn line(line: &str) -> io::Result<()> {
    text(line)?;
    text("\n")
}

/// Indented JSON; [`json_line`] prints it on one line.
pub fn json(value: &impl Serialize) -> io::Result<()> {
    write_raw(|to| {
        serde_json::to_writer_pretty(&mut *to, value)?;
        to.write_all(b"\n")
    })
}

pub fn json_line(value: &impl Serialize) -> io::Result<()> {
    write_raw(|to| {
        serde_json::to_writer(&mut *to, value)?;
        to.write_all(b"\n")
    })
}

/// Whether a person can be asked: standard input and standard error are terminals.
pub fn can_ask() -> bool {
    io::stdin().is_terminal() && *ERR_IS_TERMINAL
}

/// Asks on the terminal; `None` if reading fails. Reads in a detached thread, so that a
/// pending question does not keep the program from exiting.
pub async fn ask(question: &str) -> Option<String> {
    progress(None);
    write_stderr(format_args!("{question}"));
    let (answer, answered) = oneshot::channel();
    std::thread::spawn(move || {
        let mut line = String::new();
        let read = io::stdin().read_line(&mut line);
        // Fails when the question was cancelled; the typed line is dropped then.
        let _ = answer.send(read.ok().map(|_| line.trim().to_owned()));
    });
    answered.await.ok()?
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_codes_are_escaped_and_everything_else_stays() {
        let text = "Don't panic \"now\":\n\t\u{1b}]52;c;aGk=\u{7}done\u{202e} \u{9b}2J";
        assert_eq!(
            escape_after(&mut None, text),
            "Don't panic \"now\":\n\t␛]52;c;aGk=␇done\\u{202e} \\u{9b}2J"
        );
    }

    #[test]
    fn an_emoji_of_several_characters_may_come_in_pieces() {
        let mut previous = None;
        let pieces = ["👩", "\u{200d}", "💻"];
        let shown: String = pieces
            .iter()
            .map(|piece| escape_after(&mut previous, piece))
            .collect();
        assert_eq!(shown, "👩\u{200d}💻");
    }
}
