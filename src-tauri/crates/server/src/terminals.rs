//! Terminals that clients have opened: what runs in them, what it has written, who is connected.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::extract::ws::{Message, WebSocket};
use bytes::Bytes;
use lathe_folders::{OpenTerminal, TerminalEnd, TerminalSize};
use lathe_protocol::ProjectId;
use parking_lot::Mutex;
use serde::Serialize;
use serde_json::{Value, json};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, broadcast, mpsc, watch};
use tokio_util::sync::CancellationToken;

use crate::reply::{Answer, Refusal};
use crate::wire;

const MOST_TERMINALS: usize = 16;
/// Questions about terminals that wait for the person at once.
const MOST_ASKED: usize = 4;
/// Of what a program has written, for those who connect later.
const MOST_TEXT: usize = 1024 * 1024;
const MOST_TICKETS: usize = 64;
pub const TICKET_TIME: Duration = Duration::from_secs(60);
/// For what the program wrote last, while something that it started has the terminal open.
const DRAIN: Duration = Duration::from_millis(500);
/// Pieces of output that wait for whom they are for.
const WAITING: usize = 256;
/// Bytes of input that wait for a program which does not read them.
const MOST_WAITING_INPUT: usize = 2 * 1024 * 1024;
/// What a piece of input takes besides its bytes.
const PIECE_BYTES: usize = 128;
const READ_BYTES: usize = 16 * 1024;
const ID_BYTES: usize = 12;

/// Something about a terminal that subscribers of its project are sent.
pub struct TerminalNews {
    pub project: ProjectId,
    pub directory: String,
    pub payload: Value,
}

pub struct Terminals {
    open: Mutex<BTreeMap<String, Arc<Terminal>>>,
    tickets: Mutex<HashMap<String, Ticket>>,
    news: broadcast::Sender<Arc<TerminalNews>>,
    asking: Arc<Semaphore>,
}

impl Default for Terminals {
    fn default() -> Self {
        Terminals {
            open: Mutex::default(),
            tickets: Mutex::default(),
            news: broadcast::Sender::new(WAITING),
            asking: Arc::new(Semaphore::new(MOST_ASKED)),
        }
    }
}

/// Lets one connection to a terminal in without the password: a page cannot set headers there.
struct Ticket {
    terminal: String,
    until: Instant,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
enum Status {
    Running,
    Exited,
}

#[derive(Debug, Clone, Serialize)]
pub struct Info {
    pub id: String,
    pub title: String,
    command: String,
    args: Vec<String>,
    cwd: String,
    status: Status,
    pid: u32,
    #[serde(rename = "exitCode", skip_serializing_if = "Option::is_none")]
    exit_code: Option<i32>,
}

pub struct Terminal {
    project: ProjectId,
    directory: String,
    state: Mutex<State>,
    output: broadcast::Sender<Arc<str>>,
    input: mpsc::UnboundedSender<Typed>,
    /// Bytes of input that may still wait for the program.
    room: Arc<Semaphore>,
    size: watch::Sender<Option<TerminalSize>>,
    /// The program has ended, and all that it wrote was sent.
    ended: CancellationToken,
    removed: CancellationToken,
}

struct State {
    info: Info,
    text: Recent,
}

/// The end of a text, with positions counted as the clients count them: in UTF-16 units.
#[derive(Default)]
struct Recent {
    text: String,
    start: u64,
}

/// What was typed, with its share of the room for what waits.
type Typed = (Bytes, OwnedSemaphorePermit);

impl Terminals {
    pub fn subscribe(&self) -> broadcast::Receiver<Arc<TerminalNews>> {
        self.news.subscribe()
    }

    /// Whether one more can be opened. Those that ended make room.
    fn ensure_room(&self) -> Answer<()> {
        let mut open = self.open.lock();
        if open.len() >= MOST_TERMINALS {
            open.retain(|_, terminal| terminal.state.lock().info.status == Status::Running);
        }
        match open.len() < MOST_TERMINALS {
            true => Ok(()),
            false => Err(Refusal::TooMany("There are too many terminals".into())),
        }
    }

    /// Held while the person is asked about a terminal.
    pub fn ask(&self) -> Answer<OwnedSemaphorePermit> {
        self.ensure_room()?;
        let permit = self.asking.clone().try_acquire_owned();
        let message = "The person is asked about other terminals already";
        permit.map_err(|_| Refusal::TooMany(message.into()))
    }

    pub fn add(
        self: &Arc<Self>,
        started: OpenTerminal,
        title: Option<String>,
        project: ProjectId,
        directory: String,
        closing: &CancellationToken,
    ) -> Answer<Info> {
        self.ensure_room()?;
        let title = title.filter(|title| !title.trim().is_empty());
        let info = Info {
            id: format!("pty_{}", random()?),
            title: title.unwrap_or_else(|| started.command.clone()),
            command: started.command.clone(),
            args: started.arguments.clone(),
            cwd: started.directory.display().to_string(),
            status: Status::Running,
            pid: started.process,
            exit_code: None,
        };
        let (input, inputs) = mpsc::unbounded_channel();
        let terminal = Arc::new(Terminal {
            project,
            directory,
            state: Mutex::new(State {
                info: info.clone(),
                text: Recent::default(),
            }),
            output: broadcast::Sender::new(WAITING),
            input,
            room: Arc::new(Semaphore::new(MOST_WAITING_INPUT)),
            size: watch::Sender::new(None),
            ended: CancellationToken::new(),
            removed: closing.child_token(),
        });
        self.open.lock().insert(info.id.clone(), terminal.clone());
        self.publish(&terminal, "pty.created", json!({ "info": info }));
        let terminals = self.clone();
        tokio::spawn(async move { terminals.run(terminal, started, inputs).await });
        Ok(info)
    }

    async fn run(
        &self,
        terminal: Arc<Terminal>,
        started: OpenTerminal,
        mut inputs: mpsc::UnboundedReceiver<Typed>,
    ) {
        let OpenTerminal {
            mut run,
            terminal: end,
            ..
        } = started;
        let mut exit_code = None;
        {
            let reading = terminal.read_from(&end);
            let mut reading = std::pin::pin!(reading);
            let writing = async {
                while let Some((bytes, _room)) = inputs.recv().await {
                    if let Err(error) = end.write_all(&bytes).await {
                        tracing::debug!(%error, "a terminal did not take its input");
                    }
                }
            };
            let mut sizes = terminal.size.subscribe();
            // It may have been set before this task began.
            sizes.mark_changed();
            let resizing = async {
                while sizes.changed().await.is_ok() {
                    let size = *sizes.borrow_and_update();
                    if let Some(Err(error)) = size.map(|size| end.resize(size)) {
                        tracing::debug!(%error, "a terminal did not take its size");
                    }
                }
            };
            tokio::select! {
                // What is typed after a change of the size is written after it.
                biased;
                () = terminal.removed.cancelled() => {}
                () = resizing => {}
                code = run.exit_code() => {
                    exit_code = code;
                    let _ = tokio::time::timeout(DRAIN, reading).await;
                }
                () = writing => {}
                () = &mut reading => {}
            }
        }
        if exit_code.is_none() && !terminal.removed.is_cancelled() {
            // The program may close its terminal a moment before it ends.
            let code = tokio::time::timeout(DRAIN, run.exit_code()).await;
            exit_code = code.ok().flatten();
        }
        run.end().await;
        drop(end);
        let info = {
            let mut state = terminal.state.lock();
            state.info.status = Status::Exited;
            state.info.exit_code = exit_code;
            state.info.clone()
        };
        terminal.ended.cancel();
        let ended = json!({ "id": info.id, "exitCode": exit_code.unwrap_or(-1) });
        self.publish(&terminal, "pty.exited", ended);
    }

    pub fn list(&self, project: &ProjectId) -> Vec<Info> {
        let open = self.open.lock();
        let own = open.values().filter(|one| one.project == *project);
        own.map(|terminal| terminal.info()).collect()
    }

    pub fn find(&self, id: &str) -> Answer<Arc<Terminal>> {
        let found = self.open.lock().get(id).cloned();
        found.ok_or_else(|| Refusal::NotFound("There is no such terminal".into()))
    }

    pub async fn update(
        &self,
        id: &str,
        title: Option<String>,
        size: Option<TerminalSize>,
    ) -> Answer<Info> {
        let terminal = self.find(id)?;
        if let Some(title) = title.filter(|title| !title.trim().is_empty()) {
            terminal.state.lock().info.title = title;
        }
        if let Some(size) = size {
            terminal.size.send_replace(Some(size));
        }
        let info = terminal.info();
        self.publish(&terminal, "pty.updated", json!({ "info": info }));
        Ok(info)
    }

    pub fn remove(&self, id: &str) -> Answer<()> {
        let terminal = self.find(id)?;
        self.open.lock().remove(id);
        terminal.removed.cancel();
        self.publish(&terminal, "pty.deleted", json!({ "id": id }));
        Ok(())
    }

    pub fn new_ticket(&self, terminal: &str) -> Answer<String> {
        self.find(terminal)?;
        let ticket = random()?;
        let now = Instant::now();
        let mut tickets = self.tickets.lock();
        tickets.retain(|_, ticket| ticket.until > now);
        if tickets.len() >= MOST_TICKETS {
            return Err(Refusal::TooMany("There are too many tickets".into()));
        }
        let new = Ticket {
            terminal: terminal.to_owned(),
            until: now + TICKET_TIME,
        };
        tickets.insert(ticket.clone(), new);
        Ok(ticket)
    }

    /// Uses a ticket up. True if it was for this terminal and is not too old.
    pub fn take_ticket(&self, ticket: &str, terminal: &str) -> bool {
        let found = self.tickets.lock().remove(ticket);
        found.is_some_and(|found| found.terminal == terminal && found.until > Instant::now())
    }

    fn publish(&self, terminal: &Terminal, kind: &str, properties: Value) {
        // Having no subscriber is not an error.
        let _ = self.news.send(Arc::new(TerminalNews {
            project: terminal.project.clone(),
            directory: terminal.directory.clone(),
            payload: wire::event(kind, properties),
        }));
    }
}

/// Random names: nobody can guess an id or a ticket.
fn random() -> Answer<String> {
    let mut bytes = [0; ID_BYTES];
    let made = getrandom::fill(&mut bytes);
    made.map_err(|_| Refusal::Failed("This system gives no random numbers".into()))?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

impl Terminal {
    pub fn info(&self) -> Info {
        self.state.lock().info.clone()
    }

    async fn read_from(&self, end: &TerminalEnd) {
        let mut buffer = vec![0; READ_BYTES];
        let mut rest = Vec::new();
        loop {
            match end.read(&mut buffer).await {
                Ok(0) | Err(_) => return,
                Ok(count) => self.add_output(take_text(&mut rest, &buffer[..count])),
            }
        }
    }

    fn add_output(&self, text: String) {
        if text.is_empty() {
            return;
        }
        // Under the lock: who connects gets it once.
        let mut state = self.state.lock();
        state.text.push(&text);
        let _ = self.output.send(text.into());
    }

    /// Waits until the program has read enough of what was typed before.
    async fn room_for(&self, typed: &Bytes) -> Option<OwnedSemaphorePermit> {
        let bytes = (typed.len() + PIECE_BYTES).min(MOST_WAITING_INPUT);
        let room = self.room.clone().acquire_many_owned(bytes as u32);
        room.await.ok()
    }

    /// Connects a client: first what it has not seen from its position on, then what comes.
    pub async fn connect(&self, mut socket: WebSocket, cursor: Option<i64>) {
        let (seen, mut output) = {
            let state = self.state.lock();
            (state.text.since(cursor), self.output.subscribe())
        };
        if !seen.is_empty() && socket.send(Message::Text(seen.into())).await.is_err() {
            return;
        }
        let mut waiting = Bytes::new();
        loop {
            tokio::select! {
                biased;
                text = output.recv() => {
                    // One that is too far behind connects again, at its position.
                    let Ok(text) = text else { break };
                    if socket.send(Message::Text((&*text).into())).await.is_err() {
                        return;
                    }
                }
                () = self.ended.cancelled() => break,
                () = self.removed.cancelled() => break,
                room = self.room_for(&waiting), if !waiting.is_empty() => {
                    let typed = std::mem::take(&mut waiting);
                    let sent = room.and_then(|room| self.input.send((typed, room)).ok());
                    if sent.is_none() {
                        break;
                    }
                }
                message = socket.recv(), if waiting.is_empty() => {
                    waiting = match message {
                        Some(Ok(Message::Text(text))) => Bytes::from(text),
                        Some(Ok(Message::Binary(bytes))) => bytes,
                        Some(Ok(Message::Ping(_) | Message::Pong(_))) => continue,
                        Some(Ok(Message::Close(_)) | Err(_)) | None => return,
                    };
                }
            }
        }
        let _ = socket.send(Message::Close(None)).await;
    }
}

impl Recent {
    fn push(&mut self, text: &str) {
        self.text.push_str(text);
        if self.text.len() <= MOST_TEXT {
            return;
        }
        let mut cut = self.text.len() - MOST_TEXT;
        while !self.text.is_char_boundary(cut) {
            cut += 1;
        }
        self.start += units(&self.text[..cut]);
        self.text.drain(..cut);
    }

    /// What comes after a position: all that there is without one, nothing after -1.
    fn since(&self, cursor: Option<i64>) -> String {
        let Ok(cursor) = u64::try_from(cursor.unwrap_or(0)) else {
            return String::new();
        };
        let mut at = self.start;
        let mut characters = self.text.char_indices();
        let from = characters.find(|(_, character)| {
            let found = at >= cursor;
            at += character.len_utf16() as u64;
            found
        });
        from.map_or_else(String::new, |(from, _)| self.text[from..].to_owned())
    }
}

fn units(text: &str) -> u64 {
    text.chars().map(|one| one.len_utf16() as u64).sum()
}

/// The text in the bytes so far. A character that is not complete waits for the rest of it.
fn take_text(rest: &mut Vec<u8>, bytes: &[u8]) -> String {
    rest.extend_from_slice(bytes);
    let mut text = String::new();
    let mut done = 0;
    for chunk in rest.utf8_chunks() {
        let invalid = chunk.invalid();
        let end = done + chunk.valid().len() + invalid.len();
        text.push_str(chunk.valid());
        done += chunk.valid().len();
        let may_continue = end == rest.len() && is_start(invalid);
        if !invalid.is_empty() && !may_continue {
            text.push(char::REPLACEMENT_CHARACTER);
            done = end;
        }
    }
    rest.drain(..done);
    text
}

/// Whether bytes can be the start of a character.
fn is_start(bytes: &[u8]) -> bool {
    std::str::from_utf8(bytes).is_err_and(|error| error.error_len().is_none())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_character_in_two_pieces_is_one() {
        let mut rest = Vec::new();
        let text: Vec<_> = [&b"a\xc3"[..], b"\xa4\xff", b"\xf0\x9f", b"\xa6", b"\x80."]
            .map(|piece| take_text(&mut rest, piece))
            .into();
        assert_eq!(text, ["a", "ä\u{fffd}", "", "", "🦀."]);
        assert!(rest.is_empty());
    }

    #[test]
    fn a_client_continues_where_it_was() {
        let mut recent = Recent::default();
        recent.push("a🦀b");
        let since = |cursor| recent.since(cursor);
        assert_eq!(since(None), "a🦀b");
        assert_eq!(since(Some(1)), "🦀b");
        assert_eq!(since(Some(3)), "b");
        assert_eq!(since(Some(4)), "");
        assert_eq!(since(Some(-1)), "");
    }

    #[test]
    fn only_the_end_of_a_long_output_is_held() {
        let mut recent = Recent::default();
        recent.push(&"ä".repeat(MOST_TEXT));
        assert_eq!(recent.text.len(), MOST_TEXT);
        assert_eq!(recent.start, MOST_TEXT as u64 / 2);
        let end = recent.start + MOST_TEXT as u64 / 2 - 2;
        assert_eq!(recent.since(i64::try_from(end).ok()), "ää");
    }
}
