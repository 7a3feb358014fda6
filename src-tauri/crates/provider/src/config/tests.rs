use serde_json::json;

use super::*;
use crate::{catalog::ConfiguredTimeout, wire::WireKind};

#[test]
fn an_invalid_entry_is_reported_and_the_others_apply() {
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
    let problems: Vec<String> = config.problems.iter().map(ToString::to_string).collect();
    insta::assert_json_snapshot!("problems_of_a_config", problems);
    let [(id, good)] = config.providers.as_slice() else {
        panic!("one provider: {:?}", config.providers);
    };
    assert_eq!((id.as_str(), good.wire), ("good", Some(WireKind::Gemini)));
    assert_eq!(good.models.len(), 1);
    assert_eq!(config.small_model, parse_model_ref("a/b"));
}

#[test]
fn a_timeout_of_false_never_ends() {
    let config = ModelConfig::read(&json!({"provider": {"x": {"options": {"timeout": false}}}}));
    assert_eq!(
        config.providers[0].1.timeout,
        Some(ConfiguredTimeout::Never)
    );
}
