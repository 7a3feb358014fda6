//! Summing a session up so that it fits its model again.

use lathe_protocol::{
    AssistantMessage, CompactionPart, Event, Extra, Finish, MessageError, MessageWithParts, Millis,
    ModelRef, Part, UserMessage,
};
use lathe_provider::{ModelMessage, ModelRequest, ProviderError, UserContent};

use super::finish::tokens;
use super::request::for_model;
use super::step::StreamEnd;
use super::{Asked, Next, Turn};
use crate::compaction::{self, GO_ON, REQUEST, SYSTEM};
use crate::convert::{self, window};
use crate::synthetic::Draft;
use lathe_records::Result;
use lathe_workspace::models::OpenModel;

const AGENT: &str = "compaction";
/// What counts as usable where nobody knows the model's limits.
const UNKNOWN_USABLE: u64 = 60_000;
/// How much less is tried when even what is to be summed up is refused for its length.
const SHRINKS: [u64; 3] = [1, 2, 4];

/// What a summary is made of, and what stays beside it.
struct Material {
    head: Vec<MessageWithParts>,
    /// An earlier summary stands at its beginning.
    summed_up: bool,
    budget: u64,
}

impl Turn {
    /// The total that no longer fits, if automatic compaction is on.
    pub(super) fn is_full(&self, model: &ModelRef) -> Option<u64> {
        let total = self.history.last_total()?;
        let limits = self.setup.models.limits(model);
        let state = compaction::context_use(total, &limits, self.compaction());
        state.will_compact.then_some(total)
    }

    fn compaction(&self) -> compaction::Settings {
        compaction::Settings::of(&self.setup.settings)
    }

    pub(super) fn may_make_room(&self) -> bool {
        self.compaction().auto && !self.refused_for_length
    }

    /// Sums up before the model is asked again.
    pub(super) async fn make_room(&mut self, asked: &Asked, total: u64) -> Result<Next> {
        if !self.compactions.begin(total) {
            let message = self.new_message(asked);
            let error = format!(
                "This session is still too long for {} after it was summed up twice ({total} \
                 tokens). Start a new session, choose a model with a larger context, or take out \
                 what is long.",
                asked.model.model_id
            );
            return self.fail_as(message, MessageError::unknown(error)).await;
        }
        self.request_summary(&asked.user, Extra::default()).await
    }

    /// Sums up because the provider would not take the request, and asks again.
    pub(super) async fn make_room_and_replay(
        &mut self,
        asked: &Asked,
        prompt: &MessageWithParts,
    ) -> Result<Next> {
        self.refused_for_length = true;
        let mut extra = Extra::default();
        if !self.history.has_progress(prompt.info.id()) {
            let id = prompt.info.id().as_str();
            extra.0.insert(window::REPLAYED.to_owned(), id.into());
        }
        self.request_summary(&asked.user, extra).await
    }

    async fn request_summary(&mut self, user: &UserMessage, extra: Extra) -> Result<Next> {
        let records = self.core.records.clone();
        let draft = Draft::like(&records, user, self.history.newest_created());
        let request = draft.asking_for_summary(true, extra);
        records.put_whole(&request).await?;
        self.history.put(request.clone());
        // At once: a prompt that is queued meanwhile must not come between.
        match (request.info.as_user(), request.parts.first()) {
            (Some(user), Some(Part::Compaction(part))) => self.compact(user, part).await,
            _ => Ok(Next::GoOn),
        }
    }

    /// Answers a request for a summary.
    pub(super) async fn compact(
        &mut self,
        user: &UserMessage,
        part: &CompactionPart,
    ) -> Result<Next> {
        let agent = self.setup.agents.get(Some(AGENT));
        let model = match agent.model.clone() {
            Some(model) => model,
            None => self.setup.model_for(user, &agent).await,
        };
        let asked = Asked {
            user: user.clone(),
            agent,
            model,
        };
        let Some(material) = self.gather(&asked, part).await? else {
            let message = self.new_message(&asked);
            let error = "The prompt alone is too long for this model";
            return self.fail_as(message, MessageError::unknown(error)).await;
        };
        self.note_compacting(Some(self.core.records.now())).await?;
        let outcome = self.summarise(&asked, material).await;
        self.note_compacting(None).await?;
        if let Some(ended) = outcome? {
            return Ok(ended);
        }
        self.core.records.publish(Event::SessionCompacted {
            session_id: self.session.id.clone(),
        });
        if part.auto && !self.core.running.has_queued(&self.session.id) {
            self.go_on(user, part).await?;
        }
        Ok(Next::GoOn)
    }

    /// Decides what stays word for word and notes it on the request. Nothing to sum up is
    /// `None`.
    async fn gather(&mut self, asked: &Asked, part: &CompactionPart) -> Result<Option<Material>> {
        let messages = self.history.messages();
        let before = messages
            .iter()
            .position(|message| *message.info.id() == asked.user.id)
            .map_or(messages, |at| &messages[..at]);
        let replayed = part
            .extra
            .0
            .get(window::REPLAYED)
            .and_then(|id| id.as_str());
        let mut visible = window::visible(before);
        visible.retain(|message| Some(message.info.id().as_str()) != replayed);
        let summed_up = window::is_summed_up(before);
        let usable = compaction::usable(&self.setup.models.limits(&asked.model));
        let unanswered = before
            .iter()
            .rev()
            .find(|message| message.info.as_user().is_some())
            .map(|message| message.info.id())
            .filter(|id| part.auto && !self.history.has_progress(id));
        let known = usable.unwrap_or(UNKNOWN_USABLE);
        let mut at = compaction::split(&visible, known, unanswered, summed_up);
        let nothing = if summed_up { 2 } else { 0 };
        if at <= nothing {
            // All of it would stay: then all of it is summed up, but for what is being asked.
            let asked = |id| visible.iter().position(|one| one.info.id() == id);
            at = unanswered.and_then(asked).unwrap_or(visible.len());
        }
        if at == 0 {
            return Ok(None);
        }
        let material = Material {
            head: visible[..at]
                .iter()
                .map(|one| compaction::condense(one))
                .collect(),
            summed_up,
            budget: usable.unwrap_or(u64::MAX),
        };
        let tail = visible.get(at).map(|message| message.info.id().to_string());
        if let Some(tail) = tail {
            let mut part = part.clone();
            part.extra
                .0
                .insert(window::TAIL_START.to_owned(), tail.into());
            let part = Part::Compaction(part);
            self.core.records.put_part(part.clone()).await?;
            self.history.put_part(part);
        }
        Ok(Some(material))
    }

    /// `None` when the summary stands.
    async fn summarise(&mut self, asked: &Asked, material: Material) -> Result<Option<Next>> {
        for (attempt, shrink) in SHRINKS.into_iter().enumerate() {
            let mut message = self.new_message(asked);
            message.summary = Some(true);
            self.begin_writing(&message).await?;
            let model = match self.setup.models.open(&asked.model).await {
                Ok(model) => model,
                Err(error) => {
                    let provider = &asked.model.provider_id;
                    return self.fail(message, provider, error).await.map(Some);
                }
            };
            self.put_step_start(&message).await?;
            let budget = material.budget / shrink;
            let head = compaction::fit(material.head.clone(), budget, material.summed_up);
            let request = self.summary_request(asked, &model, &head);
            let (end, _) = self.ask_model(&message, &model, request).await?;
            match end {
                StreamEnd::Finished { usage, .. } => {
                    message.tokens = tokens(usage);
                    message.cost = model.cost(&usage);
                    return self.finish_summary(message).await;
                }
                StreamEnd::Failed(ProviderError::ContextOverflow(_))
                    if attempt + 1 < SHRINKS.len() =>
                {
                    self.discard(&message).await?;
                }
                StreamEnd::Failed(error) => {
                    let provider = &asked.model.provider_id;
                    return self.fail(message, provider, error).await.map(Some);
                }
                StreamEnd::Aborted => return self.abort(message).await.map(Some),
            }
        }
        Ok(None)
    }

    fn summary_request(
        &self,
        asked: &Asked,
        model: &OpenModel,
        head: &[MessageWithParts],
    ) -> ModelRequest {
        let mut request = ModelRequest::new(model.info().wire_id.clone());
        request.system = vec![SYSTEM.trim_end().to_owned()];
        request.system.extend(asked.agent.prompt.clone());
        let head = for_model(&self.core.pictures, model, |target| {
            convert::each_to_model(head, target)
        });
        request.messages = head.into();
        let text = REQUEST.trim_end().to_owned();
        let content = vec![UserContent::Text { text }];
        request.messages.push(ModelMessage::User { content });
        model.prepare(&mut request, None);
        request
    }

    async fn finish_summary(&mut self, mut message: AssistantMessage) -> Result<Option<Next>> {
        if !self
            .written_parts()
            .iter()
            .any(|part| matches!(part, Part::Text(_)))
        {
            let error = MessageError::unknown("The model did not write a summary");
            return self.fail_as(message, error).await.map(Some);
        }
        message.finish = Some(Finish::Stop);
        self.put_step_finish(&message, &Finish::Stop, None).await?;
        self.put_finished(message).await?;
        Ok(None)
    }

    /// What the loop goes on with: the prompt that was refused, or a word of our own.
    async fn go_on(&mut self, user: &UserMessage, part: &CompactionPart) -> Result<()> {
        let records = self.core.records.clone();
        let draft = Draft::like(&records, user, self.history.newest_created());
        let replayed = part
            .extra
            .0
            .get(window::REPLAYED)
            .and_then(|id| id.as_str());
        let mut messages = self.history.messages().iter();
        let replayed = messages.find(|one| Some(one.info.id().as_str()) == replayed);
        let message = match replayed {
            Some(prompt) => draft.repeating(prompt),
            None => draft.saying(GO_ON),
        };
        records.put_whole(&message).await?;
        self.history.put(message);
        Ok(())
    }

    async fn note_compacting(&self, since: Option<Millis>) -> Result<()> {
        let noted = self
            .core
            .records
            .update_session(&self.session.id, move |session| {
                session.time.compacting = since;
            });
        noted.await.map(drop)
    }

    /// Takes old tool output out of the model's sight; it stays for the person.
    pub(super) async fn prune(&mut self) -> Result<()> {
        if !self.compaction().prune {
            return Ok(());
        }
        let records = self.core.records.clone();
        for mut tool in compaction::stale_outputs(self.history.messages()) {
            if tool.compact(records.now()) {
                records.put_part(Part::Tool(tool.clone())).await?;
                self.history.put_part(Part::Tool(tool));
            }
        }
        Ok(())
    }
}
