//! The thinking parameters of a request, and the other parameters that they rule out.

use serde_json::{Value, json};

use super::{
    generation::{Generation, Thinking},
    request::encode_thinking,
};
use crate::{
    model::ModelInfo,
    request::{Conversation, ModelMessage, ModelRequest},
};

const VERSION: &str = "2023-06-01";
const INTERLEAVED_THINKING: &str = "interleaved-thinking-2025-05-14";
const THINKING_BINDING: &str = "thinking-binding-controls-2026-08-01";
const MIN_BUDGET: u64 = 1_024;

pub(super) struct ThinkingPlan {
    pub thinking: Option<Value>,
    pub effort: Option<String>,
    budget: Option<u64>,
    pub max_tokens: u64,
    pub allows_sampling: bool,
    pub allows_forced_tools: bool,
    binds: bool,
}

impl ThinkingPlan {
    pub(super) fn new(request: &ModelRequest, model: &ModelInfo) -> Self {
        let generation = Generation::parse(&model.wire_id);
        let style = match &generation {
            Some(generation) => generation.thinking(),
            None if model.reasoning => Thinking::Budget,
            None => Thinking::Never,
        };
        let variant = request.reasoning.as_deref();
        let mut plan = Self {
            thinking: None,
            effort: None,
            budget: None,
            max_tokens: 0,
            allows_sampling: generation.as_ref().is_none_or(Generation::accepts_sampling),
            allows_forced_tools: generation
                .as_ref()
                .is_none_or(Generation::accepts_forced_tools),
            binds: generation.as_ref().is_some_and(Generation::binds_thinking),
        };
        let adaptive = match (style, variant) {
            (Thinking::Never, _) => return plan,
            (Thinking::Budget, variant) => {
                if !in_loop_without_thinking(&request.messages) {
                    plan.budget = variant.and_then(budget_for);
                }
                return plan;
            }
            (Thinking::OnRequest, variant) => !matches!(variant, None | Some("none")),
            (Thinking::ByDefault, Some("none")) => {
                plan.thinking = Some(json!({ "type": "disabled" }));
                false
            }
            (Thinking::ByDefault | Thinking::Always, _) => true,
        };
        if adaptive {
            plan.set_adaptive(generation.as_ref(), variant);
        }
        plan
    }

    fn set_adaptive(&mut self, generation: Option<&Generation>, variant: Option<&str>) {
        // Newer models do not show their thinking unless `display` is set.
        let mut thinking = json!({ "type": "adaptive", "display": "summarized" });
        if self.binds {
            thinking["block_binding"] = json!({ "prefix_mismatch_behavior": "drop_block" });
        }
        self.thinking = Some(thinking);
        self.allows_sampling = false;
        self.allows_forced_tools = false;
        self.effort = variant
            .zip(generation)
            .map(|(variant, generation)| generation.effort(variant).to_owned());
    }

    /// Sets `max_tokens`, which counts thinking and answer together and must exceed the budget.
    pub(super) fn set_max_output(&mut self, max_output: u64, limit: u64) {
        self.max_tokens = max_output;
        let Some(budget) = self.budget else { return };
        let ceiling = if limit == 0 { u64::MAX } else { limit };
        self.max_tokens = (max_output.saturating_add(budget)).min(ceiling.max(max_output));
        let budget = budget.min(self.max_tokens.saturating_sub(MIN_BUDGET));
        if budget < MIN_BUDGET {
            self.budget = None;
            return;
        }
        self.thinking = Some(json!({ "type": "enabled", "budget_tokens": budget }));
        self.allows_sampling = false;
        self.allows_forced_tools = false;
    }

    pub(super) fn headers(&self, with_tools: bool) -> Vec<(String, String)> {
        let mut headers = vec![("anthropic-version".to_owned(), VERSION.to_owned())];
        let beta = if self.binds && self.thinking.is_some() {
            Some(THINKING_BINDING)
        } else if self.budget.is_some() && with_tools {
            Some(INTERLEAVED_THINKING)
        } else {
            None
        };
        headers.extend(beta.map(|beta| ("anthropic-beta".to_owned(), beta.to_owned())));
        headers
    }
}

fn budget_for(variant: &str) -> Option<u64> {
    Some(match variant {
        "none" => return None,
        "minimal" => MIN_BUDGET,
        "low" => 4_096,
        "medium" => 10_000,
        "high" => 16_000,
        _ => 31_999,
    })
}

/// In budget mode the API refuses to turn thinking on in the middle of a tool loop.
fn in_loop_without_thinking(messages: &Conversation) -> bool {
    let Some(ModelMessage::Assistant { content }) = messages.iter().next_back() else {
        return false;
    };
    !content.iter().any(|part| encode_thinking(part).is_some())
}
