//! The only place that prints.
//!
//! Answers go to standard output, everything about them to standard error. A reader that
//! went away (`| head`) ends the program quietly.

#![allow(clippy::print_stderr, reason = "a command line speaks on its terminal")]

use std::error::Error;
use std::io::{self, BufWriter, IsTerminal, Stdout, Write};
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{LazyLock, Mutex, PoisonError};

use serde::Serialize;
use tokio::sync::oneshot;

pub fn fail(error: &dyn Error) -> ExitCode {
    eprintln!("lathectl: {error}");
    ExitCode::FAILURE
}

/// A line about the work. What was printed before it is seen before it.
pub fn note(text: &str) {
    if let Err(error) = flush() {
        eprintln!("lathectl: {error}");
    }
    progress(None);
    eprintln!("{text}");
}

/// The one line on a terminal that says what is going on; the next one replaces it.
pub fn progress(line: Option<&str>) {
    static SHOWN: AtomicBool = AtomicBool::new(false);
    // Asked once: this is called for every piece of an answer.
    static IS_TERMINAL: LazyLock<bool> = LazyLock::new(|| io::stderr().is_terminal());
    if !*IS_TERMINAL {
        return;
    }
    if SHOWN.swap(line.is_some(), Ordering::Relaxed) {
        eprint!("\r\x1b[2K");
    }
    if let Some(line) = line {
        let short: String = line.chars().take(70).collect();
        eprint!("{short}");
    }
    // What a terminal does not show now it will show with the next line.
    let _ = io::stderr().flush();
}

/// Answers come in many small pieces; they are written together.
static OUT: LazyLock<Mutex<BufWriter<Stdout>>> =
    LazyLock::new(|| Mutex::new(BufWriter::new(io::stdout())));

/// Printed with the next [`flush`], or when enough has come together.
pub fn text(text: &str) -> io::Result<()> {
    progress(None);
    let mut out = OUT.lock().unwrap_or_else(PoisonError::into_inner);
    out.write_all(text.as_bytes())
}

pub fn flush() -> io::Result<()> {
    OUT.lock().unwrap_or_else(PoisonError::into_inner).flush()
}

pub fn line(line: &str) -> io::Result<()> {
    text(line)?;
    text("\n")
}

/// Indented where a person reads it, one line where a program does.
pub fn json(value: &impl Serialize) -> io::Result<()> {
    line(&serde_json::to_string_pretty(value)?)
}

pub fn json_line(value: &impl Serialize) -> io::Result<()> {
    line(&serde_json::to_string(value)?)
}

/// Whether somebody is there to answer a question.
pub fn has_person() -> bool {
    io::stdin().is_terminal() && io::stderr().is_terminal()
}

/// Asks on the terminal; `None` when there is no answer. Whoever no longer waits for it may
/// end the program all the same: nobody waits for the thread that reads.
pub async fn ask(question: &str) -> Option<String> {
    eprint!("{question}");
    io::stderr().flush().ok()?;
    let (answer, answered) = oneshot::channel();
    std::thread::spawn(move || {
        let mut line = String::new();
        let read = io::stdin().read_line(&mut line);
        // A question that nobody waits for any more has no answer.
        let _ = answer.send(read.ok().map(|_| line.trim().to_owned()));
    });
    answered.await.ok()?
}
