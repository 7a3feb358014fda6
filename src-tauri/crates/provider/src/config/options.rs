//! Translates the options of a model from the AI SDK's names to fields of the body.
//!
//! An option with any other name is taken as a field of the body and passed on unchanged.

use serde_json::{Map, Value};

use crate::wire::WireKind;

/// The SDK's name and the path in the body.
type Mapping = (&'static str, &'static [&'static str]);

const ANTHROPIC: &[Mapping] = &[("effort", &["output_config", "effort"])];

const OPENAI_CHAT: &[Mapping] = &[
    ("reasoningEffort", &["reasoning_effort"]),
    ("textVerbosity", &["verbosity"]),
    ("parallelToolCalls", &["parallel_tool_calls"]),
    ("promptCacheKey", &["prompt_cache_key"]),
    ("serviceTier", &["service_tier"]),
];

const OPENAI_RESPONSES: &[Mapping] = &[
    ("reasoningEffort", &["reasoning", "effort"]),
    ("reasoningSummary", &["reasoning", "summary"]),
    ("textVerbosity", &["text", "verbosity"]),
    ("parallelToolCalls", &["parallel_tool_calls"]),
    ("promptCacheKey", &["prompt_cache_key"]),
    ("serviceTier", &["service_tier"]),
    ("safetyIdentifier", &["safety_identifier"]),
];

const GEMINI: &[Mapping] = &[
    ("thinkingConfig", &["generationConfig", "thinkingConfig"]),
    (
        "responseModalities",
        &["generationConfig", "responseModalities"],
    ),
    ("mediaResolution", &["generationConfig", "mediaResolution"]),
];

/// The options as fields of the body.
pub(crate) fn to_body(wire: WireKind, options: &Map<String, Value>) -> Map<String, Value> {
    let mappings = match wire {
        WireKind::Anthropic => ANTHROPIC,
        WireKind::OpenaiChat => OPENAI_CHAT,
        WireKind::OpenaiResponses => OPENAI_RESPONSES,
        WireKind::Gemini => GEMINI,
        WireKind::Demo => &[],
    };
    let mut body = Map::new();
    for (name, value) in options {
        let mapping = mappings.iter().find(|(from, _)| from == name);
        let field = match mapping {
            Some((_, path)) => nest(path, value.clone()),
            None => Map::from_iter([(name.clone(), value.clone())]),
        };
        merge(&mut body, &field);
    }
    if wire == WireKind::Anthropic {
        rename_budget(&mut body);
    }
    body
}

fn nest(path: &[&str], value: Value) -> Map<String, Value> {
    let Some((first, rest)) = path.split_first() else {
        return Map::new();
    };
    let inner = if rest.is_empty() {
        value
    } else {
        Value::Object(nest(rest, value))
    };
    Map::from_iter([((*first).to_owned(), inner)])
}

fn rename_budget(body: &mut Map<String, Value>) {
    let Some(thinking) = body.get_mut("thinking").and_then(Value::as_object_mut) else {
        return;
    };
    if let Some(budget) = thinking.shift_remove("budgetTokens") {
        thinking.insert("budget_tokens".to_owned(), budget);
    }
}

/// Merges `over` into `base`: objects key by key; other values are replaced.
pub(crate) fn merge(base: &mut Map<String, Value>, over: &Map<String, Value>) {
    for (key, value) in over {
        match (base.get_mut(key), value) {
            (Some(Value::Object(base)), Value::Object(over)) => merge(base, over),
            _ => {
                base.insert(key.clone(), value.clone());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn body(wire: WireKind, options: Value) -> Value {
        Value::Object(to_body(wire, options.as_object().unwrap()))
    }

    #[test]
    fn sdk_names_are_translated_for_each_wire() {
        let openai = json!({"reasoningEffort": "high", "reasoningSummary": "auto", "store": false});
        assert_eq!(
            body(WireKind::OpenaiResponses, openai),
            json!({"reasoning": {"effort": "high", "summary": "auto"}, "store": false})
        );
        assert_eq!(
            body(
                WireKind::OpenaiChat,
                json!({"reasoningEffort": "low", "seed": 1})
            ),
            json!({"reasoning_effort": "low", "seed": 1})
        );
        assert_eq!(
            body(
                WireKind::Anthropic,
                json!({"thinking": {"type": "enabled", "budgetTokens": 16000}})
            ),
            json!({"thinking": {"type": "enabled", "budget_tokens": 16000}})
        );
        assert_eq!(
            body(
                WireKind::Gemini,
                json!({"thinkingConfig": {"thinkingLevel": "high"}})
            ),
            json!({"generationConfig": {"thinkingConfig": {"thinkingLevel": "high"}}})
        );
    }
}
