//! A turn as it goes, for a person or as events for a program.
//!
//! What is told faster than it can be printed is not lost: a listener that fell behind looks
//! at the session itself and goes on from there.

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
use super::{answer, choose};
use crate::{Outcome, output};

/// How far back a listener that fell behind looks: more steps than it can have missed.
const CATCH_UP: usize = 500;

/// Nobody sees so short a time, and the end of a turn is not told later than that.
const GATHER: Duration = Duration::from_millis(4);

pub struct Follower<'a> {
    sessions: &'a Sessions,
    id: SessionId,
    prompt: MessageId,
    json: bool,
    stop: Stop,
    /// The messages that answer the prompt. What is said in the person's place, and what sums
    /// a session up, are none.
    answers: HashSet<MessageId>,
    /// Parts as they were last told, for the deltas that follow. Only events need them.
    open: HashMap<PartId, Part>,
    /// How many bytes of each text are printed.
    printed: HashMap<PartId, usize>,
    /// Calls whose end was said.
    settled: HashSet<PartId>,
    answered: HashSet<String>,
    /// The text part whose line is not ended yet.
    open_line: Option<PartId>,
    /// When what is printed was last brought to sight.
    shown: Instant,
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
            open: HashMap::new(),
            printed: HashMap::new(),
            settled: HashSet::new(),
            answered: HashSet::new(),
            open_line: None,
            shown: Instant::now(),
            has_failed: false,
        }
    }

    /// The session told of an error, and so did we.
    pub fn has_failed(&self) -> bool {
        self.has_failed
    }

    /// To the end of the turn, also of one that is stopped. Returns what may still be heard.
    pub async fn follow(&mut self, mut events: Subscription) -> Outcome<Subscription> {
        loop {
            let item = match events.try_next() {
                Some(item) => Some(item),
                None if output::is_behind() => {
                    self.gather().await?;
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

    /// Nothing more for now. Words that follow each other closely are shown together: woken
    /// for each of them, this thread would do little else.
    async fn gather(&mut self) -> Outcome<()> {
        tokio::time::sleep_until(self.shown + GATHER).await;
        output::flush()?;
        self.shown = Instant::now();
        Ok(())
    }

    /// A title that comes in time is an event like any other.
    pub async fn wait_for_title(
        &mut self,
        mut events: Subscription,
        patience: Duration,
    ) -> Outcome<()> {
        let mut stop = self.stop.clone();
        tokio::select! {
            () = self.sessions.settle_titles(patience) => {}
            () = stop.asked() => {}
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
            Notification::Delta(_) | Notification::Queue(_) => {}
            Notification::Event(event) => {
                let is_ours = event.session_id().is_none_or(|id| *id == self.id);
                if self.json {
                    if let Event::MessagePartUpdated(updated) = &*event {
                        self.open
                            .insert(updated.part.id().clone(), updated.part.clone());
                    }
                    output::json_line(&*event)?;
                } else if is_ours {
                    self.event(&event)?;
                }
                self.has_failed |= is_ours && matches!(*event, Event::SessionError { .. });
                // A task that waits for an answer makes us wait, too.
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
        let Some(part) = self.open.get_mut(&delta.part_id) else {
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
                // Told once more when it is complete.
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
                // It has a line of its own, below what was said.
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

    /// Looks at the session itself. True when the turn is over.
    async fn catch_up(&mut self) -> Outcome<bool> {
        let over = self.sessions.status(&self.id) == SessionStatus::Idle;
        let page = self.sessions.messages(&self.id, None, CATCH_UP).await?;
        let mut messages = page.messages.into_iter();
        // By position: after a summary, answers have another prompt. One that is so far back
        // that it is not among these has everything here behind it.
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
                    self.open.insert(part.id().clone(), part.clone());
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

    /// Once for each request: it may be heard of twice, or be settled by the answer to another.
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
                    reply = answer::permission(request) => {
                        let done = self.sessions.answer_permission(&request.id, reply).await;
                        or_settled(done)?;
                    }
                    () = stop.asked() => {}
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
                    answers = choose::answers(request) => or_settled(match answers {
                        Some(answers) => self.sessions.answer_question(&request.id, answers),
                        None => self.sessions.dismiss_question(&request.id),
                    })?,
                    () = stop.asked() => {}
                }
            }
            _ => {}
        }
        Ok(())
    }
}

/// Whoever was quicker has answered it.
fn or_settled(done: Result<(), Failed>) -> Result<(), Failed> {
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
