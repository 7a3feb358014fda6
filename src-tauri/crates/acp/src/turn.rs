//! Follows a turn from the prompt to its end, and sends the editor what happens.

use std::collections::HashSet;

use agent_client_protocol::v1::ConnectionTo;
use agent_client_protocol::v1::schema as acp;
use agent_client_protocol::{Client, Error};
use lathe_protocol::ipc::{CommandView, PromptInput};
use lathe_protocol::{
    Event, Message, MessageError, MessageId, MessageWithParts, Part, Session, SessionId,
    SessionStatus,
};
use lathe_session::Sessions;
use lathe_session::bus::{BusItem, Notification, Subscription};
use tokio_util::sync::CancellationToken;

use crate::agent::{failed, said};
use crate::requests;
use crate::updates::{self, Drawing};

/// Enough messages to hold all that a turn wrote since the last event.
const CAUGHT_UP: usize = 200;

/// The editor, as far as one session is concerned.
#[derive(Clone)]
pub struct Editor {
    pub connection: ConnectionTo<Client>,
    pub session: acp::SessionId,
}

impl Editor {
    pub fn new(connection: ConnectionTo<Client>, session: &Session) -> Self {
        Editor {
            connection,
            session: acp::SessionId::from(session.id.to_string()),
        }
    }

    pub fn send(&self, update: acp::SessionUpdate) -> Result<(), Error> {
        let sent = acp::SessionNotification::new(self.session.clone(), update);
        self.connection.send_notification(sent)
    }
}

pub struct Turn<'a> {
    sessions: &'a Sessions,
    session: Session,
    editor: Editor,
    events: Subscription,
    drawing: Drawing,
    /// The session and its subtasks: their requests are asked in the same place.
    family: HashSet<SessionId>,
    asked: HashSet<String>,
    mode: Option<String>,
}

impl<'a> Turn<'a> {
    /// From here on no event is missed.
    pub fn begin(sessions: &'a Sessions, session: Session, editor: Editor) -> Self {
        Turn {
            sessions,
            editor,
            events: sessions.subscribe(),
            drawing: Drawing::new(&session),
            family: HashSet::from([session.id.clone()]),
            asked: HashSet::new(),
            mode: None,
            session,
        }
    }

    pub async fn run(
        mut self,
        input: PromptInput,
        command: Option<(CommandView, String)>,
        cancel: &CancellationToken,
    ) -> Result<acp::PromptResponse, Error> {
        if cancel.is_cancelled() {
            return Ok(cancelled());
        }
        self.mode.clone_from(&input.agent);
        let (sessions, id) = (self.sessions, self.session.id.clone());
        let sending = async move {
            match command {
                // The commands in its template may have to be allowed first.
                Some((command, arguments)) => {
                    let input = PromptInput {
                        text: String::new(),
                        ..input
                    };
                    sessions
                        .run_command(&id, &command.name, &arguments, input)
                        .await
                }
                None => sessions.prompt(&id, input).await,
            }
        };
        let mut sending = std::pin::pin!(sending);
        let mut is_over = false;
        // Also after a cancel: a prompt that is half sent could leave a revert half done.
        let sent = loop {
            tokio::select! {
                sent = &mut sending => break sent,
                item = self.events.next() => {
                    is_over |= self.take(item.ok_or_else(closing)?).await?;
                }
            }
        };
        let prompt = match sent {
            Err(_) if cancel.is_cancelled() => return Ok(cancelled()),
            sent => sent.map_err(failed)?,
        };
        if cancel.is_cancelled() {
            // There was no turn yet when the cancel came.
            self.sessions.abort(&self.session.id).await;
        }
        is_over = is_over && self.is_over();
        if is_over {
            // It may have been the end of an earlier turn that was seen.
            self.catch_up().await?;
        }
        while !is_over {
            let item = self.events.next().await.ok_or_else(closing)?;
            is_over = self.take(item).await?;
        }
        match cancel.is_cancelled() {
            true => Ok(cancelled()),
            false => self.result(&prompt).await,
        }
    }

    /// The end of an earlier turn, when the next one has begun, is not the end.
    fn is_over(&self) -> bool {
        self.sessions.status(&self.session.id) == SessionStatus::Idle
    }

    /// True at the end of the turn.
    async fn take(&mut self, item: BusItem) -> Result<bool, Error> {
        let BusItem::Notification(numbered) = item else {
            self.catch_up().await?;
            return Ok(self.is_over());
        };
        match &numbered.notification {
            Notification::Delta(delta) if delta.session_id == self.session.id => {
                if let Some(update) = self.drawing.delta(delta) {
                    self.editor.send(update)?;
                }
                Ok(false)
            }
            Notification::Event(event) => self.event(event).await,
            _ => Ok(false),
        }
    }

    async fn event(&mut self, event: &Event) -> Result<bool, Error> {
        match event {
            Event::SessionCreated { info } => {
                let parent = info.parent_id.as_ref();
                if parent.is_some_and(|parent| self.family.contains(parent)) {
                    self.family.insert(info.id.clone());
                }
            }
            Event::PermissionAsked(request) if self.family.contains(&request.session_id) => {
                self.ask_permission(request)?;
            }
            Event::QuestionAsked(request) if self.family.contains(&request.session_id) => {
                self.ask_question(request)?;
            }
            event if event.session_id() != Some(&self.session.id) => {}
            Event::SessionUpdated { info } if info.title != self.session.title => {
                self.session.title.clone_from(&info.title);
                let update = acp::SessionInfoUpdate::new().title(info.title.clone());
                let update = acp::SessionUpdate::SessionInfoUpdate(update);
                self.editor.send(update)?;
            }
            Event::MessageUpdated { info } => {
                self.drawing.note(info);
                self.follow_mode(info)?;
            }
            Event::MessagePartUpdated(updated) => {
                for update in self.drawing.part(&updated.part) {
                    self.editor.send(update)?;
                }
                if let Part::StepFinish(_) = &updated.part {
                    self.report_use().await?;
                }
            }
            Event::TodoUpdated { todos, .. } => self.editor.send(updates::plan(todos))?,
            Event::SessionIdle { .. } => return Ok(self.is_over()),
            Event::SessionDeleted { .. } => return Ok(true),
            _ => {}
        }
        Ok(false)
    }

    /// A plan that was agreed to goes on with another agent.
    fn follow_mode(&mut self, info: &Message) -> Result<(), Error> {
        let Message::User(prompt) = info else {
            return Ok(());
        };
        if prompt.agent.is_none() || prompt.agent == self.mode {
            return Ok(());
        }
        self.mode.clone_from(&prompt.agent);
        let mode = prompt.agent.clone().unwrap_or_default();
        let update = acp::CurrentModeUpdate::new(mode);
        self.editor
            .send(acp::SessionUpdate::CurrentModeUpdate(update))
    }

    async fn report_use(&self) -> Result<(), Error> {
        // A number beside the prompt is no reason to end the turn.
        let Ok(context) = self.sessions.context_use(&self.session.id).await else {
            return Ok(());
        };
        let update = acp::UsageUpdate::new(context.used, context.limit);
        self.editor.send(acp::SessionUpdate::UsageUpdate(update))
    }

    fn ask_permission(&mut self, request: &lathe_protocol::PermissionRequest) -> Result<(), Error> {
        if !self.asked.insert(request.id.to_string()) {
            return Ok(());
        }
        let asked = requests::permission(&self.editor, &self.drawing, request);
        let (sessions, request) = (self.sessions.clone(), request.clone());
        let connection = self.editor.connection.clone();
        self.editor.connection.spawn(async move {
            requests::answer_permission(&sessions, &connection, asked, &request).await;
            Ok(())
        })
    }

    fn ask_question(&mut self, request: &lathe_protocol::QuestionRequest) -> Result<(), Error> {
        if !self.asked.insert(request.id.to_string()) {
            return Ok(());
        }
        let (sessions, request) = (self.sessions.clone(), request.clone());
        let editor = self.editor.clone();
        self.editor.connection.spawn(async move {
            requests::answer_question(&sessions, &editor, &request).await;
            Ok(())
        })
    }

    /// Sends what events did not say.
    async fn catch_up(&mut self) -> Result<(), Error> {
        let page = self.sessions.messages(&self.session.id, None, CAUGHT_UP);
        for message in self.since_prompt(page.await.map_err(failed)?.messages) {
            self.drawing.note(&message.info);
            for part in &message.parts {
                for update in self.drawing.part(part) {
                    self.editor.send(update)?;
                }
            }
        }
        for request in self.sessions.permissions() {
            if self.family.contains(&request.session_id) {
                self.ask_permission(&request)?;
            }
        }
        for request in self.sessions.questions() {
            if self.family.contains(&request.session_id) {
                self.ask_question(&request)?;
            }
        }
        Ok(())
    }

    /// The messages after the newest prompt of the person.
    fn since_prompt(&self, messages: Vec<MessageWithParts>) -> Vec<MessageWithParts> {
        let newest = messages
            .iter()
            .rposition(|one| one.info.as_user().is_some());
        let first = newest.map_or(0, |newest| newest + 1);
        messages.into_iter().skip(first).collect()
    }

    /// Why the turn ended. A fault is an error of the request, so that the editor shows it.
    async fn result(&self, prompt: &MessageId) -> Result<acp::PromptResponse, Error> {
        let answers = self.sessions.answers_since(&self.session.id, prompt).await;
        let answers = answers.map_err(failed)?;
        let newest = answers.last().and_then(|one| one.info.as_assistant());
        let Some(answer) = newest else {
            return Ok(cancelled());
        };
        let reason = match &answer.error {
            Some(MessageError::Aborted(_)) => acp::StopReason::Cancelled,
            Some(MessageError::OutputLength(_)) => acp::StopReason::MaxTokens,
            Some(error) => return Err(said(Error::internal_error(), error.message())),
            None => match answer.finish.as_ref().map(|finish| finish.as_str()) {
                Some("length") => acp::StopReason::MaxTokens,
                Some("content-filter") => acp::StopReason::Refusal,
                _ => acp::StopReason::EndTurn,
            },
        };
        Ok(acp::PromptResponse::new(reason))
    }
}

fn cancelled() -> acp::PromptResponse {
    acp::PromptResponse::new(acp::StopReason::Cancelled)
}

fn closing() -> Error {
    said(Error::internal_error(), "The program is closing".to_owned())
}
