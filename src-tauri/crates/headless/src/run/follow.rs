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
use lathe_session::Sessions;
use lathe_session::bus::{Delta, Heard, Subscription, Told};
use tokio::time::Instant;

use super::answer;
use crate::{Outcome, output};

/// How far back a listener that fell behind looks: more steps than it can have missed.
const CATCH_UP: usize = 500;

/// Nobody sees so short a time, and the end of a turn is not told later than that.
const GATHER: Duration = Duration::from_millis(4);

pub struct Follower<'a> {
    sessions: &'a Sessions,
    id: &'a SessionId,
    prompt: MessageId,
    json: bool,
    /// Parts as they were last told, for the deltas that follow. Only events need them.
    open: HashMap<PartId, Part>,
    /// How many bytes of each text are printed.
    printed: HashMap<PartId, usize>,
    /// Calls whose end was said.
    settled: HashSet<PartId>,
    answered: HashSet<String>,
    /// The text part whose line is not ended yet.
    open_line: Option<PartId>,
    /// Something is printed that cannot be seen yet.
    is_behind: bool,
    /// When what is printed was last brought to sight.
    shown: Instant,
    is_stopped: bool,
}

impl<'a> Follower<'a> {
    pub fn new(sessions: &'a Sessions, id: &'a SessionId, prompt: MessageId, json: bool) -> Self {
        Follower {
            sessions,
            id,
            prompt,
            json,
            open: HashMap::new(),
            printed: HashMap::new(),
            settled: HashSet::new(),
            answered: HashSet::new(),
            open_line: None,
            is_behind: false,
            shown: Instant::now(),
            is_stopped: false,
        }
    }

    /// To the end of the turn. Ctrl+C stops the turn, and its end is followed all the same.
    pub async fn follow(mut self, mut events: Subscription) -> Outcome<()> {
        loop {
            let heard = match events.try_next() {
                Some(heard) => Some(heard),
                None => match self.wait(&mut events).await? {
                    Some(heard) => heard,
                    None => continue,
                },
            };
            let over = match heard {
                None => true,
                Some(Heard::Missed) => self.catch_up().await?,
                Some(Heard::Notice(notice)) => self.take(notice.told).await?,
            };
            if over {
                self.end_line()?;
                output::progress(None);
                return Ok(output::flush()?);
            }
        }
    }

    /// Nothing more for now. Words that follow each other closely are shown together.
    async fn wait(&mut self, events: &mut Subscription) -> Outcome<Option<Option<Heard>>> {
        let shown = self.shown + GATHER;
        tokio::select! {
            // Woken for each word, this thread would do little else.
            heard = events.next(), if !self.is_behind => return Ok(Some(heard)),
            () = tokio::time::sleep_until(shown), if self.is_behind => {
                output::flush()?;
                self.is_behind = false;
                self.shown = Instant::now();
            }
            _ = tokio::signal::ctrl_c(), if !self.is_stopped => self.stop().await,
        }
        Ok(None)
    }

    async fn stop(&mut self) {
        self.is_stopped = true;
        self.sessions.abort(self.id).await;
    }

    /// True when the turn is over.
    async fn take(&mut self, told: Told) -> Outcome<bool> {
        self.is_behind = true;
        match told {
            Told::Delta(delta) if delta.session_id == *self.id => self.delta(&delta)?,
            Told::Delta(_) | Told::Queue(_) => {}
            Told::Event(event) if event.session_id().is_none_or(|id| id == self.id) => {
                if self.json {
                    if let Event::MessagePartUpdated(updated) = &*event {
                        self.open
                            .insert(updated.part.id().clone(), updated.part.clone());
                    }
                    output::json_line(&*event)?;
                } else {
                    self.event(&event)?;
                }
                self.answer(&event).await?;
                return Ok(matches!(*event, Event::SessionIdle { .. }));
            }
            // A task that waits for an answer makes us wait, too.
            Told::Event(event) => self.answer(&event).await?,
        }
        Ok(false)
    }

    fn delta(&mut self, delta: &Delta) -> Outcome<()> {
        if self.json {
            return self.delta_event(delta);
        }
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
            Part::Text(text) if self.is_answer(&text.message_id) => {
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
            let what = format!("… {} {}", tool.tool, tool.state().name());
            output::progress(Some(&visible(&what)));
        } else if self.settled.insert(tool.id.clone()) {
            self.end_line()?;
            output::note(&tool_line(&tool.tool, tool.state()));
        }
        Ok(())
    }

    /// What was said before the prompt, and the prompt itself, are known.
    fn is_answer(&self, message: &MessageId) -> bool {
        *message != self.prompt
    }

    /// Looks at the session itself. True when the turn is over.
    async fn catch_up(&mut self) -> Outcome<bool> {
        let over = self.sessions.status(self.id) == SessionStatus::Idle;
        let page = self.sessions.messages(self.id, None, CATCH_UP).await?;
        let since = |message: &MessageWithParts| match &message.info {
            Message::Assistant(info) => info.parent_id == self.prompt,
            Message::User(_) => false,
        };
        let messages = page.messages.into_iter().filter(since);
        for part in messages
            .flat_map(|message| message.parts)
            .collect::<Vec<_>>()
        {
            if self.json {
                self.open.insert(part.id().clone(), part.clone());
                let updated = MessagePartUpdated { part, delta: None };
                output::json_line(&Event::MessagePartUpdated(updated))?;
            } else {
                self.part(&part)?;
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

    /// Once for each request: it may be heard of twice.
    async fn answer(&mut self, event: &Event) -> Outcome<()> {
        match event {
            Event::PermissionAsked(request)
                if self.answered.insert(request.id.as_str().to_owned()) =>
            {
                self.end_line()?;
                output::flush()?;
                tokio::select! {
                    reply = answer::permission(request) => {
                        self.sessions.answer_permission(&request.id, reply).await?;
                    }
                    _ = tokio::signal::ctrl_c() => self.stop().await,
                }
            }
            Event::QuestionAsked(request)
                if self.answered.insert(request.id.as_str().to_owned()) =>
            {
                self.end_line()?;
                output::flush()?;
                tokio::select! {
                    answers = answer::answers(request) => match answers {
                        Some(answers) => self.sessions.answer_question(&request.id, answers)?,
                        None => self.sessions.dismiss_question(&request.id)?,
                    },
                    _ = tokio::signal::ctrl_c() => self.stop().await,
                }
            }
            _ => {}
        }
        Ok(())
    }
}

fn tool_line(tool: &str, state: &ToolState) -> String {
    match state {
        ToolState::Completed(done) => format!("· {tool} {}", visible(&done.title)),
        ToolState::Error(failed) => format!("× {tool} {}", visible(&failed.error)),
        other => format!("· {tool} {}", other.name()),
    }
}

/// A title from a model may hold anything; a terminal acts on some of it.
pub fn visible(text: &str) -> String {
    text.lines()
        .next()
        .unwrap_or_default()
        .escape_debug()
        .to_string()
}
