//! Prints a running turn: as text for a person, or as JSON events for a program.
//!
//! If events come faster than they can be printed, some are dropped. Then the messages are read
//! from the session instead, and following continues from there.

use std::collections::{HashMap, HashSet};
use std::time::Duration;

use lathe_protocol::{
    Event, Message, MessageId, MessagePartUpdated, MessageWithParts, Part, PartId, SessionId,
    SessionStatus, ToolPart, ToolState,
};
use lathe_session::bus::{BusItem, Delta, Notification, Subscription};
use lathe_session::{Failed, Sessions};
use tokio::time::Instant;

use super::stop::Stop;
use super::{permission, question};
use crate::{Outcome, output};

/// How many messages are read after missed events: more than can have been missed.
const CATCH_UP_MESSAGES: usize = 500;

/// Interval between flushes of streamed text, too short to be noticed.
const FLUSH_INTERVAL: Duration = Duration::from_millis(4);

pub struct Follower<'a> {
    sessions: &'a Sessions,
    id: SessionId,
    prompt: MessageId,
    json: bool,
    stop: Stop,
    /// The messages that answer the prompt, without synthetic user messages and summaries.
    answers: HashSet<MessageId>,
    /// The last known state of parts, to apply deltas to. Only used for JSON events.
    parts: HashMap<PartId, Part>,
    /// The number of bytes printed of each text.
    printed: HashMap<PartId, usize>,
    /// Tool calls whose result was printed.
    settled: HashSet<PartId>,
    answered: HashSet<String>,
    /// The text part whose last line is not terminated yet.
    open_line: Option<PartId>,
    /// When the output was last flushed.
    flushed: Instant,
    has_failed: bool,
}

impl<'a> Follower<'a> {
    pub fn new(
        sessions: &'a Sessions,
        id: SessionId,
        prompt: MessageId,
        json: bool,
        stop: Stop,
    ) -> Self {
        Follower {
            sessions,
            id,
            prompt,
            json,
            stop,
            answers: HashSet::new(),
            parts: HashMap::new(),
            printed: HashMap::new(),
            settled: HashSet::new(),
            answered: HashSet::new(),
            open_line: None,
            flushed: Instant::now(),
            has_failed: false,
        }
    }

    /// Whether the session has reported an error, which was printed already.
    pub fn has_failed(&self) -> bool {
        self.has_failed
    }

    /// Follows the turn until it has ended or was stopped. Returns the subscription for later
    /// events.
    pub async fn follow(&mut self, mut events: Subscription) -> Outcome<Subscription> {
        loop {
            let item = match events.try_next() {
                Some(item) => Some(item),
                None if output::has_unflushed() => {
                    self.flush_later().await?;
                    continue;
                }
                None => events.next().await,
            };
            let over = match item {
                None => true,
                Some(BusItem::Missed) => self.catch_up().await?,
                Some(BusItem::Notification(notice)) => self.take(notice.notification).await?,
            };
            if over {
                self.end_line()?;
                output::progress(None);
                output::flush()?;
                return Ok(events);
            }
        }
    }

    /// Waits a moment before flushing, so that pieces that come close together cost one flush
    /// and one wake-up.
    async fn flush_later(&mut self) -> Outcome<()> {
        tokio::time::sleep_until(self.flushed + FLUSH_INTERVAL).await;
        output::flush()?;
        self.flushed = Instant::now();
        Ok(())
    }

    /// Waits for the session's title, and prints its event in JSON mode.
    pub async fn wait_for_title(
        &mut self,
        mut events: Subscription,
        timeout: Duration,
    ) -> Outcome<()> {
        let mut stop = self.stop.clone();
        tokio::select! {
            () = self.sessions.wait_for_titles(timeout) => {}
            () = stop.wait() => {}
        }
        while let Some(item) = events.try_next() {
            if let BusItem::Notification(notice) = item
                && self.json
            {
                self.take(notice.notification).await?;
            }
        }
        Ok(output::flush()?)
    }

    /// True when the turn is over.
    async fn take(&mut self, notification: Notification) -> Outcome<bool> {
        match notification {
            // Whatever is told in this program is about this turn and the tasks it hands out.
            Notification::Delta(delta) if self.json => self.delta_event(&delta)?,
            Notification::Delta(delta) if delta.session_id == self.id => self.delta(&delta)?,
            Notification::Delta(_) | Notification::Queue(_) | Notification::Review(_) => {}
            Notification::Event(event) => {
                let is_ours = event.session_id().is_none_or(|id| *id == self.id);
                if self.json {
                    if let Event::MessagePartUpdated(updated) = &*event {
                        self.parts
                            .insert(updated.part.id().clone(), updated.part.clone());
                    }
                    output::json_line(&*event)?;
                } else if is_ours {
                    self.event(&event)?;
                }
                self.has_failed |= is_ours && matches!(*event, Event::SessionError { .. });
                // Also for subtasks: the turn waits for their answers.
                self.answer(&event).await?;
                return Ok(is_ours && matches!(*event, Event::SessionIdle { .. }));
            }
        }
        Ok(false)
    }

    fn delta(&mut self, delta: &Delta) -> Outcome<()> {
        let Some(printed) = self.printed.get_mut(&delta.part_id) else {
            return Ok(());
        };
        let end = delta.at + delta.text.len();
        if let Some(new) = delta.text.get(printed.saturating_sub(delta.at)..)
            && !new.is_empty()
        {
            *printed = end;
            self.open_line = Some(delta.part_id.clone());
            output::text(new)?;
        }
        Ok(())
    }

    fn delta_event(&mut self, delta: &Delta) -> Outcome<()> {
        let Some(part) = self.parts.get_mut(&delta.part_id) else {
            return Ok(());
        };
        let text = match part {
            Part::Text(part) => &mut part.text,
            Part::Reasoning(part) => &mut part.text,
            _ => return Ok(()),
        };
        let Some(new) = delta.text.get(text.len().saturating_sub(delta.at)..) else {
            return Ok(());
        };
        text.push_str(new);
        let (part, delta) = (part.clone(), Some(new.to_owned()));
        let event = Event::MessagePartUpdated(MessagePartUpdated { part, delta });
        Ok(output::json_line(&event)?)
    }

    fn event(&mut self, event: &Event) -> Outcome<()> {
        match event {
            Event::MessageUpdated { info } => {
                self.note_answer(info);
                Ok(())
            }
            Event::MessagePartUpdated(updated) => self.part(&updated.part),
            Event::SessionError {
                error: Some(error), ..
            } => {
                self.end_line()?;
                output::note(&format!("lathectl: {}", error.message()));
                Ok(())
            }
            _ => Ok(()),
        }
    }

    fn part(&mut self, part: &Part) -> Outcome<()> {
        match part {
            Part::Text(text) if self.answers.contains(&text.message_id) => {
                let begun = self.printed.contains_key(&text.id);
                let printed = self.printed.entry(text.id.clone()).or_default();
                if let Some(new) = text.text.get(*printed..)
                    && !new.is_empty()
                {
                    *printed = text.text.len();
                    self.open_line = Some(text.id.clone());
                    output::text(new)?;
                }
                // The update after the first one means that the text is complete.
                if begun && self.open_line.as_ref() == Some(&text.id) {
                    self.end_line()?;
                }
                Ok(())
            }
            Part::Tool(tool) => self.tool(tool),
            Part::Retry(retry) => {
                let why = retry.error.0.message();
                self.end_line()?;
                output::note(&format!("! try {} failed: {why}", retry.attempt));
                Ok(())
            }
            _ => Ok(()),
        }
    }

    fn tool(&mut self, tool: &ToolPart) -> Outcome<()> {
        if !tool.state().is_settled() {
            if output::shows_progress() {
                // The status line goes below the answer printed so far.
                self.end_line()?;
                output::flush()?;
                let what = format!("… {} {}", tool.tool, tool.state().name());
                output::progress(Some(&what));
            }
        } else if self.settled.insert(tool.id.clone()) {
            self.end_line()?;
            output::note(&tool_line(&tool.tool, tool.state()));
        }
        Ok(())
    }

    fn note_answer(&mut self, info: &Message) {
        if let Message::Assistant(answer) = info
            && answer.summary != Some(true)
        {
            self.answers.insert(answer.id.clone());
        }
    }

    /// Reads the session's messages after missed events. True when the turn is over.
    async fn catch_up(&mut self) -> Outcome<bool> {
        let over = self.sessions.status(&self.id) == SessionStatus::Idle;
        let page = self
            .sessions
            .messages(&self.id, None, CATCH_UP_MESSAGES)
            .await?;
        let mut messages = page.messages.into_iter();
        // Answers are found by position, because after a summary they have another parent. If the
        // prompt is not among these messages, all of them come after it.
        let is_prompt = |one: &MessageWithParts| *one.info.id() == self.prompt;
        if messages.as_slice().iter().any(is_prompt) {
            messages.by_ref().find(is_prompt);
        }
        for message in messages {
            self.note_answer(&message.info);
            if self.json {
                let info = message.info;
                output::json_line(&Event::MessageUpdated { info })?;
            }
            for part in message.parts {
                if self.json {
                    self.parts.insert(part.id().clone(), part.clone());
                    let updated = MessagePartUpdated { part, delta: None };
                    output::json_line(&Event::MessagePartUpdated(updated))?;
                } else {
                    self.part(&part)?;
                }
            }
        }
        for request in self.sessions.permissions() {
            self.answer(&Event::PermissionAsked(request)).await?;
        }
        for request in self.sessions.questions() {
            self.answer(&Event::QuestionAsked(request)).await?;
        }
        Ok(over)
    }

    fn end_line(&mut self) -> Outcome<()> {
        if self.open_line.take().is_some() && !self.json {
            output::text("\n")?;
        }
        Ok(())
    }

    /// Answers a request once. It may be seen twice, or be settled by the answer to another one.
    async fn answer(&mut self, event: &Event) -> Outcome<()> {
        let mut stop = self.stop.clone();
        match event {
            Event::PermissionAsked(request) => {
                let waiting = self.sessions.permissions();
                let waits = waiting.iter().any(|one| one.id == request.id);
                if !waits || !self.answered.insert(request.id.as_str().to_owned()) {
                    return Ok(());
                }
                self.end_line()?;
                output::flush()?;
                tokio::select! {
                    reply = permission::answer(request) => {
                        let done = self.sessions.answer_permission(&request.id, reply).await;
                        ignore_settled(done)?;
                    }
                    () = stop.wait() => {}
                }
            }
            Event::QuestionAsked(request) => {
                let waiting = self.sessions.questions();
                let waits = waiting.iter().any(|one| one.id == request.id);
                if !waits || !self.answered.insert(request.id.as_str().to_owned()) {
                    return Ok(());
                }
                self.end_line()?;
                output::flush()?;
                tokio::select! {
                    answers = question::answer(request) => ignore_settled(match answers {
                        Some(answers) => self.sessions.answer_question(&request.id, answers),
                        None => self.sessions.dismiss_question(&request.id),
                    })?,
                    () = stop.wait() => {}
                }
            }
            _ => {}
        }
        Ok(())
    }
}

/// A request that is gone was answered by another process in the meantime.
fn ignore_settled(done: Result<(), Failed>) -> Result<(), Failed> {
    match done {
        Err(Failed::Missing { .. }) => Ok(()),
        done => done,
    }
}

fn tool_line(tool: &str, state: &ToolState) -> String {
    match state {
        ToolState::Completed(done) => format!("· {tool} {}", output::one_line(&done.title)),
        ToolState::Error(failed) => format!("× {tool} {}", output::one_line(&failed.error)),
        other => format!("· {tool} {}", other.name()),
    }
}
