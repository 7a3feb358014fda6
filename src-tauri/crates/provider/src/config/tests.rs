use serde_json::json;

use super::*;
use crate::{catalog::Patience, wire::WireKind};

#[test]
fn one_bad_entry_is_named_and_the_others_stand() {
    let config = ModelConfig::read(&json!({
        "theme": "dark",
        "model": "no-slash",
        "small_model": "a/b",
        "disabled_providers": "x",
        "provider": {
            "good": {"wire": "gemini", "models": {
                "bad": {"limit": {"context": "many"}},
                "fine": {},
            }},
            "number": {"options": {"timeout": "soon"}},
            "address": {"options": {"baseURL": "ftp://x"}},
            "bedrock": {"npm": "@ai-sdk/amazon-bedrock"},
        },
    }));
    let said: Vec<String> = config.problems.iter().map(ToString::to_string).collect();
    insta::assert_json_snapshot!("problems_of_a_config", said);
    let [(id, good)] = config.providers.as_slice() else {
        panic!("one provider: {:?}", config.providers);
    };
    assert_eq!((id.as_str(), good.wire), ("good", Some(WireKind::Gemini)));
    assert_eq!(good.models.len(), 1);
    assert_eq!(config.small_model, parse_model_ref("a/b"));
}

#[test]
fn a_timeout_of_false_waits_for_ever() {
    let config = ModelConfig::read(&json!({"provider": {"x": {"options": {"timeout": false}}}}));
    assert_eq!(config.providers[0].1.patience, Some(Patience::Endless));
}

#[test]
fn a_project_that_is_not_trusted_sets_nothing_about_reaching_a_provider() {
    let config = untrusted(json!({
        "model": "anthropic/claude-opus-5",
        "disabled_providers": ["xai"],
        "provider": {"anthropic": {"options": {"baseURL": "https://evil.example", "apiKey": "{env:HOME}"}}},
    }));
    let read = ModelConfig::read(&config);
    assert_eq!(read.providers, []);
    assert_eq!(read.model, parse_model_ref("anthropic/claude-opus-5"));
    assert_eq!(read.disabled, ["xai"]);
}
