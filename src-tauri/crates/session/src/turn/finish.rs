//! Ends a step: successfully, with an error, or stopped. No call stays open.

use std::collections::HashMap;

use lathe_protocol::{
    AssistantMessage, Event, Extra, Finish, Message, MessageError, MessageWithParts, ModelRef,
    Part, StepFinishPart, TokenUsage,
};
use lathe_provider::{FinishReason, ProviderError, Usage};
use lathe_tools::{Effect, Registry};

use super::calls::{self, CallsOutcome};
use super::step::Call;
use super::trees::OpenStep;
use super::{Asking, Next, ResolvedPrompt, Turn, TurnEnd};
use crate::failure::message_error;
use lathe_records::Result;

/// How the model ended a step, and the calls it made.
pub struct StepEnd {
    pub reason: FinishReason,
    pub usage: Usage,
    pub cost: f64,
    pub calls: Vec<Call>,
    /// Nothing follows, also if there were calls.
    pub ends_turn: bool,
}

impl Turn {
    pub(super) async fn finish_step(
        &mut self,
        message: AssistantMessage,
        resolved: &ResolvedPrompt,
        tools: Registry,
        opened: OpenStep,
        mut end: StepEnd,
    ) -> Result<Next> {
        if self.is_last_step(&resolved.agent) && !end.calls.is_empty() {
            let calls = std::mem::take(&mut end.calls);
            calls::refuse_all(&self.core.records, calls).await?;
            if matches!(end.reason, FinishReason::ToolCalls | FinishReason::Unknown) {
                end.reason = FinishReason::Stop;
            }
        }
        self.finish_with(message, resolved, tools, opened, end, HashMap::new())
            .await
    }

    /// `task_models` are the models that the prompt's subtasks name, by call id.
    pub(super) async fn finish_with(
        &mut self,
        mut message: AssistantMessage,
        resolved: &ResolvedPrompt,
        tools: Registry,
        opened: OpenStep,
        end: StepEnd,
        task_models: HashMap<String, ModelRef>,
    ) -> Result<Next> {
        let called = !end.calls.is_empty();
        let may_change = may_change(&tools, &end.calls);
        let before = self.tree_before(opened, may_change).await?;
        let after = if called {
            self.run_calls(resolved, tools, end.calls, task_models, Asking::ByRules)
                .await?
        } else {
            CallsOutcome::Continue
        };
        let tree = self.tree_after(before, may_change).await;
        let finish = match end.ends_turn {
            true => Finish::Stop,
            false => stored_finish(end.reason, called),
        };
        message.tokens = token_usage(end.usage);
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
        let changed = self.put_patch(&message, before).await?;
        let prompt = message.parent_id.clone();
        self.put_finished(message).await?;
        if changed {
            self.update_summary(&prompt);
        }
        let more = finish == Finish::ToolCalls || (finish == Finish::Unknown && called);
        Ok(match after {
            _ if self.cancel.is_cancelled() => Next::End(TurnEnd::Aborted),
            CallsOutcome::Stop => Next::End(TurnEnd::Refused),
            CallsOutcome::Continue if more => Next::Continue,
            CallsOutcome::Continue if finish == Finish::Length => {
                Next::End(TurnEnd::Failed(MessageError::output_length().message()))
            }
            CallsOutcome::Continue => Next::End(TurnEnd::Done),
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

    /// Stores the error with the message and settles calls that were running.
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
        let text = error.message();
        self.core.records.publish(Event::SessionError {
            session_id: Some(self.session.id.clone()),
            error: Some(error),
        });
        Ok(Next::End(TurnEnd::Failed(text)))
    }

    pub(super) async fn abort(&mut self, mut message: AssistantMessage) -> Result<Next> {
        message.error = Some(MessageError::aborted("The turn was stopped"));
        self.end_early(message).await?;
        Ok(Next::End(TurnEnd::Aborted))
    }

    /// Removes a message that will be replaced by another attempt.
    pub(super) async fn discard(&mut self, message: &AssistantMessage) -> Result<()> {
        self.writing = None;
        let records = &self.core.records;
        records.remove_message(&self.session.id, &message.id).await
    }

    async fn end_early(&mut self, message: AssistantMessage) -> Result<()> {
        let records = &self.core.records;
        for part in self.written_parts(&message.id) {
            if let Part::Tool(mut tool) = part
                && tool.abort(records.now())
            {
                records.put_part(Part::Tool(tool)).await?;
            }
        }
        self.put_finished(message).await
    }

    /// Stores the finished message durably and adds it to the history.
    pub(super) async fn put_finished(&mut self, mut message: AssistantMessage) -> Result<()> {
        let records = &self.core.records;
        message.time.completed = Some(records.now().max(message.time.created));
        let info = Message::Assistant(message);
        records.put_message(info.clone()).await?;
        records.store().make_durable(&self.session.id).await?;
        let parts = self.written_parts(info.id());
        self.writing = None;
        self.history.put(MessageWithParts { info, parts });
        Ok(())
    }
}

/// Whether a call can change files. If none can, changes between the snapshots are the person's.
fn may_change(tools: &Registry, calls: &[Call]) -> bool {
    let only_reads = |call: &Call| {
        let tool = tools.find(&call.part.tool);
        tool.is_ok_and(|tool| tool.effect() == Effect::ReadOnly)
    };
    !calls.iter().all(only_reads)
}

/// Corrects the reason: some providers say "stop" although they called tools.
fn stored_finish(reason: FinishReason, called: bool) -> Finish {
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

pub fn token_usage(usage: Usage) -> TokenUsage {
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
