//! A writer that holds everything in memory, and draws it as text to compare.

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use lathe_import::{Control, Known, Program, Report, Writer};
use lathe_protocol::{Message, MessageWithParts, Part, Session, SessionId, ToolState};

#[derive(Default)]
pub struct Memory {
    pub sessions: BTreeMap<String, Session>,
    pub messages: BTreeMap<String, Vec<MessageWithParts>>,
    pub current: Option<String>,
    /// Stops the import after so many messages.
    pub stop_after: Option<(usize, Control)>,
    pub written: usize,
}

impl Writer for Memory {
    type Error = Infallible;

    fn begin(&mut self, session: &SessionId, mark: &str) -> Result<Known, Infallible> {
        let key = session.to_string();
        let known = self.sessions.get(&key);
        let earlier = known.and_then(|known| known.extra.0["imported"]["mark"].as_str());
        if earlier == Some(mark) {
            return Ok(Known::Same);
        }
        self.messages.insert(key.clone(), Vec::new());
        self.current = Some(key);
        Ok(match known {
            Some(_) => Known::Grown,
            None => Known::New,
        })
    }

    fn message(&mut self, message: &MessageWithParts) -> Result<(), Infallible> {
        let current = self.current.as_ref().unwrap();
        assert_eq!(message.info.session_id().as_str(), current);
        self.messages
            .get_mut(current)
            .unwrap()
            .push(message.clone());
        self.written += 1;
        if let Some((after, control)) = &self.stop_after
            && self.written >= *after
        {
            control.stop();
        }
        Ok(())
    }

    fn end(&mut self, session: Session) -> Result<(), Infallible> {
        self.sessions.insert(session.id.to_string(), session);
        Ok(())
    }
}

pub fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/fixtures")
        .join(name)
}

pub fn import(program: Program, path: &Path) -> (Memory, Report) {
    let mut memory = Memory::default();
    let report = lathe_import::import(program, path, &mut memory, &Control::default()).unwrap();
    (memory, report)
}

/// `(added, grown, already, messages, calls, pictures)`.
pub fn counts(report: &Report) -> (usize, usize, usize, usize, usize, usize) {
    let Report {
        added,
        grown,
        already,
        messages,
        calls,
        pictures,
        ..
    } = report;
    (*added, *grown, *already, *messages, *calls, *pictures)
}

pub fn left_out(report: &Report) -> Vec<String> {
    let lines = report.left_out().into_iter();
    lines
        .map(|one| format!("{} × {}: {}", one.count, one.what, one.why))
        .collect()
}

impl Memory {
    /// All sessions, the oldest first.
    pub fn draw(&self) -> String {
        let mut sessions: Vec<_> = self.sessions.values().collect();
        sessions.sort_by_key(|session| {
            (
                session.time.created,
                session.forked_from.is_some(),
                session.title.clone(),
            )
        });
        let title = |id: &SessionId| self.sessions.get(id.as_str()).map_or("?", |one| &one.title);
        let mut out = String::new();
        for session in sessions {
            write!(out, "# {} in {}", session.title, session.directory).unwrap();
            if let Some(parent) = &session.parent_id {
                write!(out, ", child of {}", title(parent)).unwrap();
            }
            if let Some(fork) = &session.forked_from {
                write!(out, ", fork of {}", title(&fork.session_id)).unwrap();
                if let Some(at) = &fork.message_id {
                    let messages = &self.messages[fork.session_id.as_str()];
                    let at = messages.iter().position(|one| one.info.id() == at).unwrap();
                    write!(out, " before its message {at}").unwrap();
                }
            }
            out.push('\n');
            for message in &self.messages[session.id.as_str()] {
                draw_message(&mut out, message, self);
            }
        }
        out
    }
}

fn draw_message(out: &mut String, message: &MessageWithParts, memory: &Memory) {
    match &message.info {
        Message::User(_) => out.push_str("user"),
        Message::Assistant(answer) => {
            let tokens = &answer.tokens;
            write!(out, "{}", answer.model_id).unwrap();
            if tokens.context() > 0 {
                let (input, output, reasoning) = (tokens.input, tokens.output, tokens.reasoning);
                let (read, write_) = (tokens.cache.read, tokens.cache.write);
                write!(out, " {input}/{output}/{reasoning}/{read}/{write_}").unwrap();
            }
            if let Some(error) = &answer.error {
                write!(out, " error({})", error.message()).unwrap();
            }
            if answer.summary == Some(true) {
                out.push_str(" summary");
            }
        }
    }
    for part in &message.parts {
        match part {
            Part::Text(part) => {
                let mark = match (part.synthetic, part.ignored) {
                    (_, Some(true)) => "ignored ",
                    (Some(true), _) => "synthetic ",
                    _ => "",
                };
                write!(out, " | {mark}{:?}", part.text).unwrap();
            }
            Part::Reasoning(part) => write!(out, " | thinks {:?}", part.text).unwrap(),
            Part::File(part) => {
                write!(out, " | file {}", part.mime).unwrap();
            }
            Part::Compaction(part) => write!(out, " | compaction auto={}", part.auto).unwrap(),
            Part::Tool(call) => {
                write!(
                    out,
                    " | {} {}",
                    call.tool,
                    serde_json::to_string(call.state().input()).unwrap()
                )
                .unwrap();
                let child = match call.state() {
                    ToolState::Completed(done) => {
                        write!(out, " → {:?}", done.output).unwrap();
                        if done.time.compacted.is_some() {
                            out.push_str(" compacted");
                        }
                        for (name, value) in &done.metadata {
                            if ["diff", "exit"].contains(&name.as_str()) {
                                write!(out, " {name}={value}").unwrap();
                            }
                        }
                        done.metadata.get("sessionId")
                    }
                    ToolState::Error(error) => {
                        write!(out, " ✗ {:?}", error.error).unwrap();
                        None
                    }
                    other => panic!("a call is left {}", other.name()),
                };
                if let Some(child) = child.and_then(|child| child.as_str()) {
                    write!(out, " by {}", memory.sessions[child].title).unwrap();
                }
                for file in call.attachments() {
                    write!(out, " + {}", file.mime).unwrap();
                }
            }
            _ => {}
        }
    }
    out.push('\n');
}

/// Compares with a file in `fixtures`. To write it anew, set `LATHE_WRITE_EXPECTED` and read the
/// difference.
pub fn assert_drawn(name: &str, memory: &Memory, report: &Report) {
    let file = fixture(name);
    let (added, grown, already, messages, calls, pictures) = counts(report);
    let drawn = format!(
        "{}\n{added} added, {grown} grown, {already} already, {messages} messages, {calls} calls, \
         {pictures} pictures\n{}\n",
        memory.draw(),
        left_out(report).join("\n")
    );
    if std::env::var_os("LATHE_WRITE_EXPECTED").is_some() {
        std::fs::write(&file, &drawn).unwrap();
    }
    assert_eq!(drawn, std::fs::read_to_string(&file).unwrap());
    assert_eq!(report.problems, []);
}
