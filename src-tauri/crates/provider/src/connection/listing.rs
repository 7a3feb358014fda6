//! Parses lists of models in the formats of different servers.
//!
//! Only the ids are common to all. What some add (prices and limits from OpenRouter, limits from
//! Gemini, a context length from vLLM) is used where present.

use rust_decimal::Decimal;
use serde_json::Value;

use crate::model::{ModelInfo, PriceTier, Prices, common_variants};

/// `None` if the value is not a list of models.
pub(crate) fn parse_model_list(provider: &str, list: &Value) -> Option<Vec<ModelInfo>> {
    let items = list
        .as_array()
        .or_else(|| list.get("data")?.as_array())
        .or_else(|| list.get("models")?.as_array())?;
    let models = items.iter().filter(|item| is_text_model(item));
    Some(
        models
            .filter_map(|item| parse_model(provider, item))
            .collect(),
    )
}

/// False for models known to be for embeddings, speech or images.
pub(crate) fn is_text_model(item: &Value) -> bool {
    let kind = item.get("type").and_then(Value::as_str);
    if matches!(
        kind,
        Some("embedding" | "embeddings" | "image" | "audio" | "rerank")
    ) {
        return false;
    }
    let methods = item
        .get("supportedGenerationMethods")
        .and_then(Value::as_array);
    if methods.is_some_and(|methods| !methods.iter().any(|name| name == "generateContent")) {
        return false;
    }
    const OTHER_USES: [&str; 8] = [
        "embed",
        "whisper",
        "tts",
        "dall-e",
        "moderation",
        "rerank",
        "transcribe",
        "realtime",
    ];
    let id = model_id(item).unwrap_or_default().to_ascii_lowercase();
    !OTHER_USES.iter().any(|name| id.contains(name))
}

fn model_id(item: &Value) -> Option<&str> {
    let id = item.get("id").or_else(|| item.get("name"))?.as_str()?;
    Some(id.strip_prefix("models/").unwrap_or(id)).filter(|id| !id.is_empty())
}

fn parse_model(provider: &str, item: &Value) -> Option<ModelInfo> {
    let mut model = ModelInfo::unknown(provider, model_id(item)?);
    let text = |key: &str| item.get(key).and_then(Value::as_str);
    if let Some(name) = text("display_name")
        .or(text("displayName"))
        .or(text("name"))
    {
        model.name = name.strip_prefix("models/").unwrap_or(name).to_owned();
    }
    let number = |pointer: &str| item.pointer(pointer).and_then(Value::as_u64);
    let context = [
        "/context_length",
        "/context_window",
        "/max_model_len",
        "/inputTokenLimit",
    ]
    .into_iter()
    .find_map(number);
    model.limits.context = context.unwrap_or(0);
    let output = ["/top_provider/max_completion_tokens", "/outputTokenLimit"]
        .into_iter()
        .find_map(number);
    model.limits.output = output.unwrap_or(0);
    if let Some(kinds) = item
        .pointer("/architecture/input_modalities")
        .and_then(Value::as_array)
    {
        model.images = kinds.iter().any(|kind| kind == "image");
        model.pdf = kinds.iter().any(|kind| kind == "file");
    }
    if let Some(known) = item.get("supported_parameters").and_then(Value::as_array) {
        model.tools = known.iter().any(|name| name == "tools");
        model.reasoning = known.iter().any(|name| name == "reasoning");
    }
    if model.reasoning {
        model.variants = common_variants();
    }
    model.prices = prices(item);
    Some(model)
}

/// OpenRouter gives dollars per token, as strings.
fn prices(item: &Value) -> Option<Prices> {
    let pricing = item.get("pricing")?;
    let price = |key: &str| -> Option<Decimal> {
        let dollars: Decimal = pricing.get(key)?.as_str()?.parse().ok()?;
        // -1 for a router model, whose price depends on the model it chooses.
        let per_million = dollars.checked_mul(Decimal::from(1_000_000))?;
        (!per_million.is_sign_negative()).then(|| per_million.normalize())
    };
    let input = price("prompt")?;
    Some(Prices {
        base: PriceTier {
            input,
            output: price("completion")?,
            cache_read: price("input_cache_read").unwrap_or(input),
            cache_write: price("input_cache_write").unwrap_or(input),
        },
        over_200k: None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn ids(list: Value) -> Option<Vec<String>> {
        let models = parse_model_list("p", &list)?;
        Some(models.into_iter().map(|model| model.id).collect())
    }

    #[test]
    fn lists_of_every_format_are_parsed() {
        let openai =
            json!({"object": "list", "data": [{"id": "gpt-5"}, {"id": "text-embedding-3"}, {}]});
        assert_eq!(ids(openai), Some(vec!["gpt-5".to_owned()]));
        let gemini = json!({"models": [
            {"name": "models/gemini-3.8-flash", "supportedGenerationMethods": ["generateContent"]},
            {"name": "models/aqa", "supportedGenerationMethods": ["generateAnswer"]},
        ]});
        assert_eq!(ids(gemini), Some(vec!["gemini-3.8-flash".to_owned()]));
        assert_eq!(ids(json!([{"id": "a"}])), Some(vec!["a".to_owned()]));
        assert_eq!(ids(json!({"error": "no"})), None);
        assert_eq!(ids(json!("hello")), None);
    }

    #[test]
    fn limits_modalities_and_prices_are_parsed() {
        let list = json!({"data": [{
            "id": "vendor/model", "name": "Vendor: Model", "context_length": 131_072,
            "architecture": {"input_modalities": ["text", "image"]},
            "supported_parameters": ["tools", "reasoning"],
            "top_provider": {"max_completion_tokens": 8192},
            "pricing": {"prompt": "0.0000003", "completion": "0.0000025", "input_cache_read": "0.00000003"},
        }]});
        insta::assert_json_snapshot!("a_listed_model", parse_model_list("openrouter", &list));
    }
}
