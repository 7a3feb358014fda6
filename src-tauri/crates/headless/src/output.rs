//! The only place that prints.
//!
//! Answers go to standard output, everything about them to standard error. A reader that
//! went away (`| head`) ends the program quietly.

#![allow(clippy::print_stderr, reason = "a command line speaks on its terminal")]

use std::error::Error;
use std::io::{self, IsTerminal, Write};
use std::process::ExitCode;

use serde::Serialize;

pub fn fail(error: &dyn Error) -> ExitCode {
    eprintln!("lathectl: {error}");
    ExitCode::FAILURE
}

pub fn note(text: &str) {
    eprintln!("{text}");
}

pub fn text(text: &str) -> io::Result<()> {
    let mut out = io::stdout().lock();
    out.write_all(text.as_bytes())?;
    out.flush()
}

pub fn line(line: &str) -> io::Result<()> {
    text(&format!("{line}\n"))
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

/// Asks on the terminal; `None` when there is no answer.
pub fn ask(question: &str) -> Option<String> {
    eprint!("{question}");
    io::stderr().flush().ok()?;
    let mut answer = String::new();
    io::stdin().read_line(&mut answer).ok()?;
    Some(answer.trim().to_owned())
}
