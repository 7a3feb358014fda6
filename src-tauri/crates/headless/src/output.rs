//! The only place that prints.
//!
//! Answers go to standard output, everything about them to standard error. A reader that
//! went away (`| head`) ends the program quietly; one that only closed standard error misses
//! what is said there, and the work goes on.
//!
//! What a model, a file or a server says may hold codes that a terminal acts upon. They are
//! made visible on the way to a terminal; a pipe gets the bytes as they are.

use std::error::Error;
use std::fmt::Arguments;
use std::io::{self, BufWriter, IsTerminal, Stdout, Write};
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{LazyLock, Mutex, PoisonError};

use lathe_render::escape;
use serde::Serialize;
use tokio::sync::oneshot;

// Asked once: they are needed for every piece of an answer.
static OUT_IS_TERMINAL: LazyLock<bool> = LazyLock::new(|| io::stdout().is_terminal());
static ERR_IS_TERMINAL: LazyLock<bool> = LazyLock::new(|| io::stderr().is_terminal());

pub fn fail(error: &dyn Error) -> ExitCode {
    note(&format!("lathectl: {error}"));
    ExitCode::FAILURE
}

/// A line about the work. What was printed before it is seen before it.
pub fn note(text: &str) {
    if let Err(error) = flush() {
        say(format_args!("lathectl: {error}\n"));
    }
    progress(None);
    say(format_args!("{}\n", escape::visible(text)));
}

/// The one line on a terminal that says what is going on; the next one replaces it.
pub fn progress(line: Option<&str>) {
    static SHOWN: AtomicBool = AtomicBool::new(false);
    if !*ERR_IS_TERMINAL {
        return;
    }
    if SHOWN.swap(line.is_some(), Ordering::Relaxed) {
        say(format_args!("\r\x1b[2K"));
    }
    if let Some(line) = line {
        let short: String = one_line(line).chars().take(70).collect();
        say(format_args!("{short}"));
    }
}

/// Whether anybody sees [`progress`].
pub fn shows_progress() -> bool {
    *ERR_IS_TERMINAL
}

/// A title or a name: its first line, with nothing in it that a terminal acts upon.
pub fn one_line(text: &str) -> String {
    escape::visible_line(text.lines().next().unwrap_or_default())
}

/// Nobody may be listening there any more, and the work goes on all the same.
fn say(text: Arguments<'_>) {
    let mut err = io::stderr().lock();
    let _ = err.write_fmt(text);
    let _ = err.flush();
}

/// Answers come in many small pieces; they are written together.
struct Out {
    to: BufWriter<Stdout>,
    /// What a character means may depend on the one before it, in the piece before.
    previous: Option<char>,
}

static OUT: LazyLock<Mutex<Out>> = LazyLock::new(|| {
    Mutex::new(Out {
        to: BufWriter::with_capacity(64 << 10, io::stdout()),
        previous: None,
    })
});

/// Printed with the next [`flush`], or when enough has come together.
pub fn text(text: &str) -> io::Result<()> {
    if !*OUT_IS_TERMINAL {
        return exact(|to| to.write_all(text.as_bytes()));
    }
    progress(None);
    let mut out = OUT.lock().unwrap_or_else(PoisonError::into_inner);
    let shown = visible_after(&mut out.previous, text);
    out.to.write_all(shown.as_bytes())
}

/// For programs: whatever the target, these bytes.
fn exact(write: impl FnOnce(&mut BufWriter<Stdout>) -> io::Result<()>) -> io::Result<()> {
    progress(None);
    let mut out = OUT.lock().unwrap_or_else(PoisonError::into_inner);
    write(&mut out.to)
}

fn visible_after(previous: &mut Option<char>, text: &str) -> String {
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

/// Something is printed that cannot be seen yet.
pub fn is_behind() -> bool {
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

/// Indented where a person reads it, one line where a program does.
pub fn json(value: &impl Serialize) -> io::Result<()> {
    exact(|to| {
        serde_json::to_writer_pretty(&mut *to, value)?;
        to.write_all(b"\n")
    })
}

pub fn json_line(value: &impl Serialize) -> io::Result<()> {
    exact(|to| {
        serde_json::to_writer(&mut *to, value)?;
        to.write_all(b"\n")
    })
}

/// Whether somebody is there to answer a question.
pub fn has_person() -> bool {
    io::stdin().is_terminal() && *ERR_IS_TERMINAL
}

/// Asks on the terminal; `None` when there is no answer. Whoever no longer waits for it may
/// end the program all the same: nobody waits for the thread that reads.
pub async fn ask(question: &str) -> Option<String> {
    progress(None);
    say(format_args!("{question}"));
    let (answer, answered) = oneshot::channel();
    std::thread::spawn(move || {
        let mut line = String::new();
        let read = io::stdin().read_line(&mut line);
        // A question that nobody waits for any more has no answer.
        let _ = answer.send(read.ok().map(|_| line.trim().to_owned()));
    });
    answered.await.ok()?
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_terminal_would_act_upon_is_seen_and_everything_else_stays() {
        let said = "Don't panic \"now\":\n\t\u{1b}]52;c;aGk=\u{7}done\u{202e} \u{9b}2J";
        assert_eq!(
            visible_after(&mut None, said),
            "Don't panic \"now\":\n\t␛]52;c;aGk=␇done\\u{202e} \\u{9b}2J"
        );
    }

    #[test]
    fn a_picture_of_several_characters_may_come_in_pieces() {
        let mut previous = None;
        let pieces = ["👩", "\u{200d}", "💻"];
        let shown: String = pieces
            .iter()
            .map(|piece| visible_after(&mut previous, piece))
            .collect();
        assert_eq!(shown, "👩\u{200d}💻");
    }
}
