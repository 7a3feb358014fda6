//! Replaces older history by a summary, so that the session fits its model again.
//!
//! `compaction` decides what is summarized; this asks the model and stores the result.

use lathe_protocol::{
    AssistantMessage, CompactionPart, Event, Extra, Finish, MessageError, MessageWithParts, Millis,
    ModelRef, Part, UserMessage,
};
use lathe_provider::{ModelMessage, ModelRequest, ProviderError, UserContent};

use super::finish::token_usage;
use super::request::convert_for_model;
use super::step::StreamEnd;
use super::{Next, ResolvedPrompt, Turn};
use crate::synthetic::Draft;
use lathe_conversation::compaction::{self, GO_ON, REQUEST, SYSTEM};
use lathe_conversation::convert::{self, window};
use lathe_records::Result;
use lathe_workspace::models::OpenModel;

const AGENT: &str = "compaction";
/// Tokens that count as usable where the model's limits are not known.
const UNKNOWN_USABLE: u64 = 60_000;
/// Divisors of the budget for each attempt, in case the provider refuses the longer request.
const SHRINKS: [u64; 3] = [1, 2, 4];

/// The messages that a summary is made from.
struct SummaryInput {
    head: Vec<MessageWithParts>,
    /// The messages begin with an earlier summary.
    summed_up: bool,
    budget: u64,
}

impl Turn {
    /// The number of tokens, if they no longer fit and automatic compaction is on.
    pub(super) fn full_context(&self, model: &ModelRef) -> Option<u64> {
        let total = self.history.last_total()?;
        let limits = self.setup.models.limits(model);
        let state = compaction::context_use(total, &limits, self.compaction());
        state.will_compact.then_some(total)
    }

    fn compaction(&self) -> compaction::Settings {
        compaction::Settings::new(&self.setup.settings)
    }

    pub(super) fn may_compact_after_refusal(&self) -> bool {
        self.compaction().auto && !self.compacted_after_refusal
    }

    /// Requests a summary because the context is full. Fails after two that did not help.
    pub(super) async fn compact_automatically(
        &mut self,
        resolved: &ResolvedPrompt,
        total: u64,
    ) -> Result<Next> {
        if !self.compactions.begin(total) {
            let message = self.new_message(resolved);
            let error = format!(
                "This session is still too long for {} after it was compacted twice ({total} \
                 tokens). Start a new session, choose a model with a larger context, or take out \
                 what is long.",
                resolved.model.model_id
            );
            return self.fail_as(message, MessageError::unknown(error)).await;
        }
        self.request_summary(&resolved.user, Extra::default()).await
    }

    /// Requests a summary because the provider refused the request as too long, and sends the
    /// prompt again afterwards.
    pub(super) async fn compact_and_replay(
        &mut self,
        resolved: &ResolvedPrompt,
        prompt: &MessageWithParts,
    ) -> Result<Next> {
        self.compacted_after_refusal = true;
        let mut extra = Extra::default();
        if !self.history.has_progress(prompt.info.id()) {
            let id = prompt.info.id().as_str();
            extra.0.insert(window::REPLAYED.to_owned(), id.into());
        }
        self.request_summary(&resolved.user, extra).await
    }

    async fn request_summary(&mut self, user: &UserMessage, extra: Extra) -> Result<Next> {
        let records = self.core.records.clone();
        let draft = Draft::like(&records, user, self.history.newest());
        let request = draft.requesting_summary(true, extra);
        records.put_complete_message(&request).await?;
        self.history.put(request.clone());
        // Answered at once: no queued prompt may come in between.
        match (request.info.as_user(), request.parts.first()) {
            (Some(user), Some(Part::Compaction(part))) => self.compact(user, part).await,
            _ => Ok(Next::Continue),
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
        let resolved = ResolvedPrompt {
            user: user.clone(),
            agent,
            model,
        };
        let Some(input) = self.select_input(&resolved, part).await? else {
            let message = self.new_message(&resolved);
            let error = "The prompt alone is too long for this model";
            return self.fail_as(message, MessageError::unknown(error)).await;
        };
        self.set_compacting(Some(self.core.records.now())).await?;
        let outcome = self.write_summary(&resolved, input).await;
        self.set_compacting(None).await?;
        if let Some(ended) = outcome? {
            return Ok(ended);
        }
        self.core.records.publish(Event::SessionCompacted {
            session_id: self.session.id.clone(),
        });
        if part.auto && !self.core.active.has_queued(&self.session.id) {
            self.continue_after_summary(user, part).await?;
        }
        Ok(Next::Continue)
    }

    /// Decides which messages stay as they are and stores that with the request. `None` if
    /// there is nothing to summarize.
    async fn select_input(
        &mut self,
        resolved: &ResolvedPrompt,
        part: &CompactionPart,
    ) -> Result<Option<SummaryInput>> {
        let messages = self.history.messages();
        let before = messages
            .iter()
            .position(|message| *message.info.id() == resolved.user.id)
            .map_or(messages, |at| &messages[..at]);
        let replayed = part
            .extra
            .0
            .get(window::REPLAYED)
            .and_then(|id| id.as_str());
        let mut visible = window::visible(before);
        visible.retain(|message| Some(message.info.id().as_str()) != replayed);
        let summed_up = window::starts_with_summary(before);
        let usable = compaction::usable(&self.setup.models.limits(&resolved.model));
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
            // Everything would stay. Summarize everything but the unanswered prompt instead.
            let position = |id| visible.iter().position(|one| one.info.id() == id);
            at = unanswered.and_then(position).unwrap_or(visible.len());
        }
        if at == 0 {
            return Ok(None);
        }
        let input = SummaryInput {
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
        Ok(Some(input))
    }

    /// `None` when the summary was written.
    async fn write_summary(
        &mut self,
        resolved: &ResolvedPrompt,
        input: SummaryInput,
    ) -> Result<Option<Next>> {
        for (attempt, shrink) in SHRINKS.into_iter().enumerate() {
            let mut message = self.new_message(resolved);
            message.summary = Some(true);
            self.begin_writing(&message).await?;
            let model = match self.setup.models.open(&resolved.model).await {
                Ok(model) => model,
                Err(error) => {
                    let provider = &resolved.model.provider_id;
                    return self.fail(message, provider, error).await.map(Some);
                }
            };
            self.put_step_start(&message).await?;
            let budget = input.budget / shrink;
            let head = compaction::fit(input.head.clone(), budget, input.summed_up);
            let request = self.summary_request(resolved, &model, &head);
            let (end, _) = self.ask_model(&message, &model, request).await?;
            match end {
                StreamEnd::Finished { usage, .. } => {
                    message.tokens = token_usage(usage);
                    message.cost = model.cost(&usage);
                    self.note_cost(message.cost);
                    return self.finish_summary(message).await;
                }
                StreamEnd::Failed(ProviderError::ContextOverflow(_))
                    if attempt + 1 < SHRINKS.len() =>
                {
                    self.discard(&message).await?;
                }
                StreamEnd::Failed(error) => {
                    let provider = &resolved.model.provider_id;
                    return self.fail(message, provider, error).await.map(Some);
                }
                StreamEnd::Aborted => return self.abort(message).await.map(Some),
            }
        }
        Ok(None)
    }

    fn summary_request(
        &self,
        resolved: &ResolvedPrompt,
        model: &OpenModel,
        head: &[MessageWithParts],
    ) -> ModelRequest {
        let mut request = ModelRequest::new(model.info().wire_id.clone());
        request.system = vec![SYSTEM.trim_end().to_owned()];
        request.system.extend(resolved.agent.prompt.clone());
        let head = convert_for_model(&self.core.pictures, model, |target| {
            convert::convert_messages(head, target)
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
            .written_parts(&message.id)
            .iter()
            .any(|part| matches!(part, Part::Text(_)))
        {
            let error = MessageError::unknown("The model wrote no summary");
            return self.fail_as(message, error).await.map(Some);
        }
        message.finish = Some(Finish::Stop);
        self.put_step_finish(&message, &Finish::Stop, None).await?;
        self.put_finished(message).await?;
        Ok(None)
    }

    /// Stores the prompt that the turn continues with: the refused one, or one of our own.
    async fn continue_after_summary(
        &mut self,
        user: &UserMessage,
        part: &CompactionPart,
    ) -> Result<()> {
        let records = self.core.records.clone();
        let draft = Draft::like(&records, user, self.history.newest());
        let replayed = part
            .extra
            .0
            .get(window::REPLAYED)
            .and_then(|id| id.as_str());
        let mut messages = self.history.messages().iter();
        let replayed = messages.find(|one| Some(one.info.id().as_str()) == replayed);
        let message = match replayed {
            Some(prompt) => draft.copy_of(prompt),
            None => draft.with_text(GO_ON),
        };
        records.put_complete_message(&message).await?;
        self.history.put(message);
        Ok(())
    }

    async fn set_compacting(&self, since: Option<Millis>) -> Result<()> {
        let updated = self
            .core
            .records
            .update_session(&self.session.id, move |session| {
                session.time.compacting = since;
            });
        updated.await.map(drop)
    }

    /// Hides old tool output from the model; it stays in the timeline.
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
