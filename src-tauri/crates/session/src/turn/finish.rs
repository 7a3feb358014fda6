//! How a step ends: well, in an error, or stopped. Nothing stays open.

use std::collections::HashMap;

use lathe_protocol::{
    AssistantMessage, Event, Extra, Finish, Message, MessageError, MessageWithParts, ModelRef,
    Part, StepFinishPart, TokenUsage,
};
use lathe_provider::{FinishReason, ProviderError, Usage};
use lathe_tools::{Effect, Registry};

use super::calls::{self, After};
use super::step::Call;
use super::trees::BegunStep;
use super::{Asked, Ended, Next, Offer, Turn};
use crate::failure::message_error;
use lathe_records::Result;

/// How the model ended a step, and what it asked for.
pub struct StepEnd {
    pub reason: FinishReason,
    pub usage: Usage,
    pub cost: f64,
    pub calls: Vec<Call>,
}

impl Turn {
    pub(super) async fn finish_step(
        &mut self,
        message: AssistantMessage,
        asked: &Asked,
        offer: Offer,
        begun: BegunStep,
        mut end: StepEnd,
    ) -> Result<Next> {
        if self.is_last_step(&asked.agent) && !end.calls.is_empty() {
            let calls = std::mem::take(&mut end.calls);
            calls::refuse_all(&self.core.records, calls).await?;
            if matches!(end.reason, FinishReason::ToolCalls | FinishReason::Unknown) {
                end.reason = FinishReason::Stop;
            }
        }
        self.finish_with(message, asked, offer, begun, end, HashMap::new())
            .await
    }

    /// `task_models` are those that subtasks of the prompt ask for, by call.
    pub(super) async fn finish_with(
        &mut self,
        mut message: AssistantMessage,
        asked: &Asked,
        offer: Offer,
        begun: BegunStep,
        end: StepEnd,
        task_models: HashMap<String, ModelRef>,
    ) -> Result<Next> {
        let called = !end.calls.is_empty();
        let may_change = may_change(&offer.tools, &end.calls);
        let before = self.tree_before(begun, may_change).await?;
        let after = if called {
            self.run_calls(asked, offer, end.calls, before, task_models)
                .await?
        } else {
            After::GoOn
        };
        let tree = self.tree_after(before, may_change).await;
        let finish = finish_of(end.reason, called);
        message.tokens = tokens(end.usage);
        message.cost = end.cost;
        if finish == Finish::Length {
            message.error = Some(MessageError::output_length());
        }
        if self.cancel.is_cancelled() {
            message.error = Some(MessageError::aborted("The turn was stopped"));
        }
        message.finish = Some(finish.clone());
        let snapshot = tree.map(|tree| tree.to_string());
        self.put_step_finish(&message, &finish, snapshot).await?;
        self.note_patch(&message, before, tree).await?;
        let prompt = message.parent_id.clone();
        self.put_finished(message).await?;
        if before != tree {
            self.summarize(&prompt);
        }
        let more = finish == Finish::ToolCalls || (finish == Finish::Unknown && called);
        Ok(match after {
            _ if self.cancel.is_cancelled() => Next::End(Ended::Aborted),
            After::Stop => Next::End(Ended::Refused),
            After::GoOn if more => Next::GoOn,
            After::GoOn if finish == Finish::Length => {
                Next::End(Ended::Failed(MessageError::output_length().message()))
            }
            After::GoOn => Next::End(Ended::Done),
        })
    }

    pub(super) async fn put_step_finish(
        &self,
        message: &AssistantMessage,
        finish: &Finish,
        snapshot: Option<String>,
    ) -> Result<()> {
        let records = &self.core.records;
        let part = Part::StepFinish(StepFinishPart {
            id: records.ids().part(records.now()),
            session_id: self.session.id.clone(),
            message_id: message.id.clone(),
            reason: finish.as_str().to_owned(),
            snapshot,
            cost: message.cost,
            tokens: message.tokens.clone(),
            extra: Extra::default(),
        });
        records.put_part(part).await
    }

    /// The error stands on the message; calls that were under way are settled.
    pub(super) async fn fail(
        &mut self,
        message: AssistantMessage,
        provider: &str,
        error: ProviderError,
    ) -> Result<Next> {
        self.fail_as(message, message_error(provider, error)).await
    }

    pub(super) async fn fail_as(
        &mut self,
        mut message: AssistantMessage,
        error: MessageError,
    ) -> Result<Next> {
        message.error = Some(error.clone());
        message.finish = Some(Finish::Error);
        self.end_early(message).await?;
        let said = error.message();
        self.core.records.publish(Event::SessionError {
            session_id: Some(self.session.id.clone()),
            error: Some(error),
        });
        Ok(Next::End(Ended::Failed(said)))
    }

    pub(super) async fn abort(&mut self, mut message: AssistantMessage) -> Result<Next> {
        message.error = Some(MessageError::aborted("The turn was stopped"));
        self.end_early(message).await?;
        Ok(Next::End(Ended::Aborted))
    }

    /// A message that came to nothing leaves nothing behind.
    pub(super) async fn discard(&self, message: &AssistantMessage) -> Result<()> {
        let records = &self.core.records;
        records.remove_message(&self.session.id, &message.id).await
    }

    async fn end_early(&mut self, message: AssistantMessage) -> Result<()> {
        let records = &self.core.records;
        for part in self.written_parts() {
            if let Part::Tool(mut tool) = part
                && tool.abort(records.now())
            {
                records.put_part(Part::Tool(tool)).await?;
            }
        }
        self.put_finished(message).await
    }

    /// Writes the finished message for good and lets the model see it from now on.
    pub(super) async fn put_finished(&mut self, mut message: AssistantMessage) -> Result<()> {
        let records = &self.core.records;
        message.time.completed = Some(records.now().max(message.time.created));
        let info = Message::Assistant(message);
        records.put_message(info.clone()).await?;
        records.store().make_durable(&self.session.id).await?;
        let parts = self.written_parts();
        self.writing = None;
        self.history.put(MessageWithParts { info, parts });
        Ok(())
    }
}

/// What the person changes while the agent only reads is not the agent's.
fn may_change(tools: &Registry, calls: &[Call]) -> bool {
    let looks = |call: &Call| {
        let tool = tools.find(&call.part.tool);
        tool.is_ok_and(|tool| tool.effect() == Effect::ReadOnly)
    };
    !calls.iter().all(looks)
}

/// Some providers say "stop" though they asked for tools.
fn finish_of(reason: FinishReason, called: bool) -> Finish {
    match reason {
        FinishReason::Stop if called => Finish::ToolCalls,
        FinishReason::Stop => Finish::Stop,
        FinishReason::ToolCalls if called => Finish::ToolCalls,
        FinishReason::ToolCalls => Finish::Stop,
        FinishReason::Length => Finish::Length,
        FinishReason::ContentFilter => Finish::ContentFilter,
        FinishReason::Error => Finish::Error,
        FinishReason::Unknown => Finish::Unknown,
    }
}

pub fn tokens(usage: Usage) -> TokenUsage {
    let count = |tokens: u64| (tokens as i64).into();
    TokenUsage {
        input: count(usage.input),
        output: count(usage.output),
        reasoning: count(usage.reasoning),
        cache: lathe_protocol::CacheTokens {
            read: count(usage.cache_read),
            write: count(usage.cache_write),
            extra: Extra::default(),
        },
        extra: Extra::default(),
    }
}
