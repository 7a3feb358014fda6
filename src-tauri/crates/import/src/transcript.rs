//! Builds the messages of one session and hands each to the writer when it is complete.

mod content;
mod parts;

use lathe_protocol::{
    AssistantMessage, AssistantPath, AssistantTime, BadId, CreatedTime, Extra, Finish, ForkedFrom,
    Map, Message, MessageError, MessageId, MessageWithParts, Millis, ModelRef, Part, ProjectId,
    Session, SessionId, SessionTime, StepFinishPart, Tick, TokenUsage, UserMessage,
};
use serde_json::json;

use crate::Control;
use crate::ids;
use crate::report::{Progress, Report};
use crate::writer::{Discard, IMPORTED, Known, Writer};
pub use content::{Call, Content};

const MOST_TITLE: usize = 80;

/// Why a session was not written to its end.
pub enum Stop<E> {
    /// The writer failed: the import cannot go on.
    Failed(E),
    /// The source failed: the next session can.
    Unreadable(String),
    Stopped,
}

impl<E> From<std::io::Error> for Stop<E> {
    fn from(error: std::io::Error) -> Self {
        Stop::Unreadable(error.to_string())
    }
}

impl<E> From<BadId> for Stop<E> {
    fn from(error: BadId) -> Self {
        Stop::Unreadable(error.to_string())
    }
}

/// What is known of a session before its messages.
#[derive(Debug, Clone)]
pub struct Header {
    pub id: SessionId,
    /// What the ids of its messages are derived from.
    pub scope: String,
    pub program: &'static str,
    /// The session's id over there.
    pub source_id: String,
    pub mark: String,
    pub directory: String,
    pub version: String,
    pub parent: Option<SessionId>,
    pub fork: Option<ForkedFrom>,
    pub created: Millis,
    pub title: Option<String>,
    pub archived: bool,
}

struct Answer {
    key: String,
    time: Millis,
    model: ModelRef,
    cwd: String,
    content: Vec<Content>,
    tokens: Option<TokenUsage>,
    cost: f64,
    error: Option<MessageError>,
    end: Millis,
    summary: bool,
}

pub struct Transcript<'a, W: Writer> {
    writer: &'a mut W,
    report: &'a mut Report,
    control: &'a Control,
    progress: &'a mut Progress,
    header: Header,
    known: Known,
    last: Tick,
    updated: Millis,
    prompt: Option<MessageId>,
    answer: Option<Answer>,
    first_prompt: Option<String>,
    newest: Option<MessageId>,
    count: usize,
    is_counting: bool,
}

impl<'a, W: Writer> Transcript<'a, W> {
    /// `None` if the session is here already.
    pub fn begin(
        header: Header,
        writer: &'a mut W,
        report: &'a mut Report,
        control: &'a Control,
        progress: &'a mut Progress,
    ) -> Result<Option<Self>, Stop<W::Error>> {
        if control.is_stopped() {
            return Err(Stop::Stopped);
        }
        let known = writer
            .begin(&header.id, &header.mark)
            .map_err(Stop::Failed)?;
        match known {
            Known::Same => report.already += 1,
            Known::Continued => {
                report.already += 1;
                let why = "it was continued here, so what was added there since is left out";
                report.problem(format!("session {}", header.source_id), why);
            }
            Known::New | Known::Grown => {
                return Ok(Some(Transcript {
                    last: Tick(0),
                    updated: header.created,
                    writer,
                    report,
                    control,
                    progress,
                    header,
                    known,
                    prompt: None,
                    answer: None,
                    first_prompt: None,
                    newest: None,
                    count: 0,
                    is_counting: true,
                }));
            }
        }
        Ok(None)
    }

    pub fn leave_out(&mut self, what: &str, why: &'static str) {
        if self.is_counting {
            self.report.leave_out(what, why);
        }
    }

    /// Whether what is left out is counted: not for records that another session has as well.
    pub fn set_counting(&mut self, is_counting: bool) {
        self.is_counting = is_counting;
    }

    /// The number of messages so far, and the newest one's id.
    pub fn newest(&self) -> (usize, Option<&MessageId>) {
        (self.count, self.newest.as_ref())
    }

    pub fn set_fork(&mut self, fork: ForkedFrom) {
        self.header.fork = Some(fork);
    }

    pub fn has_answer(&self) -> bool {
        self.answer.is_some()
    }

    pub fn user(
        &mut self,
        key: &str,
        time: Option<Millis>,
        model: Option<&ModelRef>,
        content: Vec<Content>,
    ) -> Result<(), Stop<W::Error>> {
        self.flush()?;
        if content.is_empty() {
            return Ok(());
        }
        let (created, tick) = self.next(time);
        let id = ids::message(&self.header.scope, key, tick)?;
        if self.first_prompt.is_none() {
            self.first_prompt = content.iter().find_map(|one| match one {
                Content::Text {
                    text,
                    synthetic: false,
                    ..
                } => title_of(text),
                _ => None,
            });
        }
        let parts = self.parts(key, tick, &id, created, content)?;
        let message = Message::User(UserMessage {
            id: id.clone(),
            session_id: self.header.id.clone(),
            time: CreatedTime {
                created,
                extra: Extra::default(),
            },
            summary: None,
            agent: None,
            model: model.cloned(),
            system: None,
            tools: None,
            variant: None,
            unsent: None,
            extra: Extra::default(),
        });
        self.prompt = Some(id);
        self.write(message, parts)
    }

    /// Begins an answer: the result of one API call.
    pub fn answer(
        &mut self,
        key: &str,
        time: Option<Millis>,
        model: ModelRef,
        cwd: &str,
    ) -> Result<(), Stop<W::Error>> {
        self.flush()?;
        let time = time.unwrap_or(self.updated);
        self.answer = Some(Answer {
            key: key.to_owned(),
            time,
            model,
            cwd: cwd.to_owned(),
            content: Vec::new(),
            tokens: None,
            cost: 0.0,
            error: None,
            end: time,
            summary: false,
        });
        Ok(())
    }

    pub fn push(&mut self, content: Content) {
        if let Some(answer) = &mut self.answer {
            if let Content::Call(call) = &content {
                answer.end = answer.end.max(call.end.unwrap_or(Millis(0)));
            }
            answer.content.push(content);
        }
    }

    pub fn set_usage(&mut self, tokens: TokenUsage, cost: f64) {
        if let Some(answer) = &mut self.answer {
            answer.tokens = Some(tokens);
            answer.cost = cost;
        }
    }

    pub fn set_error(&mut self, error: MessageError) {
        if let Some(answer) = &mut self.answer {
            answer.error = Some(error);
        }
    }

    pub fn seen(&mut self, time: Option<Millis>) {
        if let (Some(answer), Some(time)) = (&mut self.answer, time) {
            answer.end = answer.end.max(time);
        }
    }

    /// A request for a summary, and the summary that replaces what came before it.
    pub fn compaction(
        &mut self,
        key: &str,
        time: Option<Millis>,
        model: ModelRef,
        auto: bool,
        summary: String,
    ) -> Result<(), Stop<W::Error>> {
        self.user(
            &format!("{key}/request"),
            time,
            Some(&model),
            vec![Content::Compaction { auto }],
        )?;
        let cwd = self.header.directory.clone();
        self.answer(key, time, model, &cwd)?;
        self.push(Content::text(summary));
        if let Some(answer) = &mut self.answer {
            answer.summary = true;
        }
        self.flush()
    }

    pub fn flush(&mut self) -> Result<(), Stop<W::Error>> {
        let Some(answer) = self.answer.take() else {
            return Ok(());
        };
        if answer.content.is_empty() && answer.error.is_none() {
            return Ok(());
        }
        // An answer needs a prompt. A session that was cut at its start has none.
        if self.prompt.is_none() {
            let note = "The prompt of what follows is not in the imported file.";
            let key = format!("{}/prompt", answer.key);
            let content = vec![Content::synthetic(note)];
            self.user(&key, Some(answer.time), None, content)?;
        }
        let Some(parent_id) = self.prompt.clone() else {
            return Ok(());
        };
        let (created, tick) = self.next(Some(answer.time));
        let id = ids::message(&self.header.scope, &answer.key, tick)?;
        let called = answer
            .content
            .iter()
            .any(|one| matches!(one, Content::Call(_)));
        let finish = match (&answer.error, called) {
            (Some(_), _) => Finish::Error,
            (None, true) => Finish::ToolCalls,
            (None, false) => Finish::Stop,
        };
        let end = answer.end.max(created);
        let tokens = answer.tokens.unwrap_or_default();
        let parts = self.answer_parts(
            &answer.key,
            tick,
            &id,
            (created, end),
            answer.content,
            |place| {
                let step = StepFinishPart {
                    id: place.0,
                    session_id: place.1,
                    message_id: place.2,
                    reason: finish.as_str().to_owned(),
                    snapshot: None,
                    cost: answer.cost,
                    tokens: tokens.clone(),
                    extra: Extra::default(),
                };
                Part::StepFinish(step)
            },
        )?;
        let message = Message::Assistant(AssistantMessage {
            id,
            session_id: self.header.id.clone(),
            time: AssistantTime {
                created,
                completed: Some(end),
                extra: Extra::default(),
            },
            error: answer.error,
            parent_id,
            model_id: answer.model.model_id,
            provider_id: answer.model.provider_id,
            mode: None,
            agent: None,
            path: Some(AssistantPath {
                root: answer.cwd.clone(),
                cwd: answer.cwd,
                extra: Extra::default(),
            }),
            summary: answer.summary.then_some(true),
            cost: answer.cost,
            tokens,
            finish: Some(finish),
            extra: Extra::default(),
        });
        self.updated = self.updated.max(end);
        self.write(message, parts)
    }

    /// Writes the session's own record, which makes it visible. A session without messages is
    /// left out.
    pub fn end(mut self, title: Option<String>) -> Result<(), Stop<W::Error>> {
        self.flush()?;
        let header = self.header;
        if self.count == 0 {
            self.report.leave_out("session", "it has no messages");
            return Ok(());
        }
        let title = title
            .and_then(|title| title_of(&title))
            .or(header.title)
            .or(self.first_prompt)
            .unwrap_or_else(|| "Imported session".to_owned());
        let imported = json!({
            "from": header.program, "id": header.source_id, "mark": header.mark,
        });
        let session = Session {
            id: header.id,
            slug: None,
            // Its sessions are found by their folder.
            project_id: ProjectId::parse("global")?,
            directory: header.directory,
            parent_id: header.parent,
            forked_from: header.fork,
            summary: None,
            share: None,
            title,
            version: header.version,
            time: SessionTime {
                created: header.created,
                updated: self.updated,
                compacting: None,
                archived: header.archived.then_some(self.updated),
                extra: Extra::default(),
            },
            permission: None,
            revert: None,
            extra: Extra(Map::from_iter([(IMPORTED.to_owned(), imported)])),
        };
        self.writer.end(session).map_err(Stop::Failed)?;
        match self.known {
            Known::Grown => self.report.grown += 1,
            _ => self.report.added += 1,
        }
        self.progress.sessions += 1;
        self.control.report(*self.progress);
        Ok(())
    }

    /// Time never goes back within a session, whatever the file says.
    fn next(&mut self, time: Option<Millis>) -> (Millis, u64) {
        let wanted = Tick::at(time.unwrap_or(self.updated));
        let tick = Tick(wanted.0.max(self.last.0 + 1));
        self.last = tick;
        let created = tick.millis();
        self.updated = self.updated.max(created);
        (created, tick.0)
    }

    fn write(&mut self, info: Message, parts: Vec<Part>) -> Result<(), Stop<W::Error>> {
        if self.control.is_stopped() {
            return Err(Stop::Stopped);
        }
        for part in &parts {
            match part {
                Part::Tool(call) => {
                    self.report.calls += 1;
                    self.report.pictures += call.attachments().len();
                }
                Part::File(_) => self.report.pictures += 1,
                _ => {}
            }
        }
        self.newest = Some(info.id().clone());
        let message = MessageWithParts { info, parts };
        self.writer.message(&message).map_err(Stop::Failed)?;
        self.count += 1;
        self.report.messages += 1;
        self.progress.messages += 1;
        if self.progress.messages.is_multiple_of(100) {
            self.control.report(*self.progress);
        }
        Ok(())
    }
}

/// Converts a session without writing it.
pub fn without_writing<T>(
    header: Header,
    convert: impl FnOnce(&mut Transcript<Discard>) -> Result<T, Stop<std::convert::Infallible>>,
) -> Option<T> {
    let (mut report, mut progress) = (Report::default(), Progress::default());
    let (mut writer, control) = (Discard, Control::default());
    let begun =
        Transcript::begin(header, &mut writer, &mut report, &control, &mut progress).ok()?;
    convert(&mut begun?).ok()
}

/// The first line with words in it, shortened.
fn title_of(text: &str) -> Option<String> {
    let line = text.lines().map(str::trim).find(|line| !line.is_empty())?;
    let mut title: String = line.chars().take(MOST_TITLE).collect();
    if title.len() < line.len() {
        title.push('…');
    }
    Some(title)
}
