use rust_decimal::Decimal;
use serde_json::json;

use super::*;
use crate::{config::ModelConfig, model::PriceTier};

fn dec(text: &str) -> Decimal {
    text.parse().unwrap()
}

fn model(id: &str) -> Model {
    let wanted = parse_model_ref(id).unwrap();
    Catalog::built_in().find(&wanted).unwrap().1
}

/// All models except the built-in offline one.
fn real_models() -> impl Iterator<Item = &'static ModelInfo> {
    let providers = Catalog::built_in().providers().iter();
    providers
        .filter(|provider| provider.id != "demo")
        .flat_map(|provider| &provider.models)
        .map(|model| &model.info)
}

#[test]
fn every_provider_has_its_models() {
    let counts: Vec<(&str, usize)> = Catalog::built_in()
        .providers()
        .iter()
        .map(|provider| (provider.id.as_str(), provider.models.len()))
        .collect();
    assert_eq!(
        counts,
        [
            ("anthropic", 12),
            ("openai", 27),
            ("google", 12),
            ("deepseek", 7),
            ("xai", 7),
            ("zai", 7),
            ("mistral", 5),
            ("moonshotai", 4),
            ("openrouter", 0),
            ("groq", 0),
            ("ollama", 0),
            ("lmstudio", 0),
            ("llama.cpp", 0),
            ("demo", 1),
        ]
    );
}

#[test]
fn the_totals_of_the_catalog_are_unchanged() {
    let count = |has: fn(&&ModelInfo) -> bool| real_models().filter(has).count();
    assert_eq!(count(|model| model.images), 67);
    assert_eq!(count(|model| model.pdf), 51);
    assert_eq!(count(|model| model.tools), 80);
    assert_eq!(count(|model| model.reasoning), 73);

    let input: u64 = real_models()
        .map(|model| model.limits.input.unwrap_or(model.limits.context))
        .sum();
    let output: u64 = real_models().map(|model| model.limits.output).sum();
    assert_eq!((input, output), (50_595_024, 14_726_816));

    let base = |pick: fn(&PriceTier) -> Decimal| -> Decimal {
        real_models()
            .filter_map(|model| Some(pick(&model.prices.as_ref()?.base)))
            .sum()
    };
    assert_eq!(base(|tier| tier.input), dec("209.88"));
    assert_eq!(base(|tier| tier.output), dec("1221.7"));

    let over: Vec<PriceTier> = real_models()
        .filter_map(|model| model.prices.as_ref()?.over_200k)
        .collect();
    let sum = |pick: fn(&PriceTier) -> Decimal| over.iter().map(pick).sum::<Decimal>();
    assert_eq!(over.len(), 9);
    assert_eq!(sum(|tier| tier.input), dec("27.5"));
    assert_eq!(sum(|tier| tier.output), dec("87"));
    assert_eq!(sum(|tier| tier.cache_read), dec("4.85"));
}

#[test]
fn prices_are_exact_decimals() {
    let prices = model("deepseek/deepseek-chat").info.prices.unwrap();
    assert_eq!(
        prices.base,
        PriceTier {
            input: dec("0.28"),
            output: dec("0.42"),
            cache_read: dec("0.028"),
            // Missing in the file: the price of input.
            cache_write: dec("0.28"),
        }
    );
    let prices = model("google/gemini-2.5-pro").info.prices.unwrap();
    assert_eq!(
        prices.over_200k.map(|tier| (tier.input, tier.output)),
        Some((dec("2.5"), dec("15")))
    );
}

#[test]
fn default_and_small_models_and_variants_exist() {
    for provider in Catalog::built_in().providers() {
        for id in [&provider.default_model, &provider.small_model] {
            let known = id.as_ref().is_none_or(|id| provider.model(id).is_some());
            assert!(known, "{}: {id:?}", provider.id);
        }
        assert!(!provider.base_url.ends_with('/'), "{}", provider.id);
        for model in &provider.models {
            let info = &model.info;
            assert!(info.variants.is_empty() || info.reasoning, "{}", info.id);
            let named = model.variant_options.keys();
            let unknown: Vec<_> = named.filter(|name| !info.variants.contains(name)).collect();
            assert!(unknown.is_empty(), "{}: {unknown:?}", info.id);
        }
    }
    assert_eq!(
        model("openai/gpt-5.2").info.variants,
        ["none", "low", "medium", "high", "xhigh"]
    );
    assert_eq!(
        model("zai/glm-5").variant_options["none"],
        *json!({"thinking": {"type": "disabled"}})
            .as_object()
            .unwrap()
    );
}

#[test]
fn an_unknown_model_suggests_similar_ones_and_some_providers_accept_any() {
    let find = |id: &str| Catalog::built_in().find(&parse_model_ref(id).unwrap());
    assert_eq!(
        find("anthropic/claude-opus-4.5").map(|(_, model)| model.info.id),
        Err(UnknownModel::Model {
            provider: "Anthropic".to_owned(),
            model: "claude-opus-4.5".to_owned(),
            similar: vec!["claude-opus-4-5".to_owned()],
        })
    );
    assert_eq!(
        find("nobody/x").unwrap_err().to_string(),
        "Unknown provider: nobody"
    );
    let (provider, model) = find("openrouter/vendor/model:free").unwrap();
    assert_eq!(
        (provider.id.as_str(), model.info.wire_id.as_str()),
        ("openrouter", "vendor/model:free")
    );
}

fn configured(config: Value) -> Catalog {
    let (catalog, problems) = Catalog::built_in().with_config(&ModelConfig::read(&config));
    assert_eq!(problems, []);
    catalog
}

#[test]
fn config_adds_a_provider_with_all_its_properties() {
    let catalog = configured(json!({"provider": {"mock": {
        "npm": "@ai-sdk/openai-compatible",
        "name": "Mock",
        "options": {
            "baseURL": "http://127.0.0.1:9999/v1/",
            "apiKey": "sk-canary-1234",
            "headers": {"X-Team": "blue"},
            "timeout": 5000,
        },
        "models": {"m": {
            "name": "M", "id": "m-wire",
            "limit": {"context": 200_000, "output": 8000},
            "cost": {"input": 1, "output": 2.5, "cache_read": 0.1, "cache_write": 0,
                     "context_over_200k": {"input": 2, "output": 5}},
            "modalities": {"input": ["text", "pdf"], "output": ["text"]},
            "reasoning": true, "tool_call": false, "interleaved": true,
            "options": {"reasoningEffort": "low"},
            "variants": {"high": {"reasoningEffort": "high"}, "deep": {"budget": 1}},
        }},
    }}}));
    let wanted = parse_model_ref("mock/m").unwrap();
    let (provider, model) = catalog.find(&wanted).unwrap();
    assert_eq!(provider.base_url, "http://127.0.0.1:9999/v1");
    assert_eq!(provider.access.key, ApiKey::new("sk-canary-1234"));
    assert_eq!(
        provider.access.headers,
        [("x-team".to_owned(), Secret("blue".to_owned()))]
    );
    assert_eq!(
        provider.access.timeout,
        Some(ConfiguredTimeout::Millis(5000))
    );
    assert!(provider.is_local && !provider.accepts_any_model);
    insta::assert_json_snapshot!("a_configured_model", model);
    assert_eq!(json!(model.options), json!({"reasoning_effort": "low"}));
    assert_eq!(
        json!(model.variant_options),
        json!({"high": {"reasoning_effort": "high"}, "deep": {"budget": 1}})
    );
    let printed = format!("{provider:?} {}", serde_json::to_string(provider).unwrap());
    assert!(
        !printed.contains("canary") && !printed.contains("blue"),
        "{printed}"
    );
}

#[test]
fn config_overrides_single_properties_of_a_known_model() {
    let catalog = configured(json!({
        "provider": {"openai": {
            "options": {"baseURL": "https://proxy.example/v1"},
            "models": {
                "gpt-5": {"cost": {"input": 0, "output": 0}, "variants": {"minimal": {"disabled": true}}},
                "quick": {"id": "gpt-5", "options": {"serviceTier": "priority"}},
            },
            "blacklist": ["o3"],
        }},
        "small_model": "openai/gpt-5-mini",
        "disabled_providers": ["demo"],
    }));
    let openai = catalog.provider("openai").unwrap();
    assert_eq!(openai.base_url, "https://proxy.example/v1");
    assert_eq!(openai.wire, WireKind::OpenaiResponses);
    let gpt5 = openai.model("gpt-5").unwrap();
    assert_eq!(gpt5.info.variants, ["low", "medium", "high"]);
    assert_eq!(
        gpt5.info.prices.as_ref().unwrap().base,
        PriceTier::default()
    );
    assert_eq!(gpt5.info.limits, model("openai/gpt-5").info.limits);
    let quick = openai.model("quick").unwrap();
    assert_eq!(quick.info.wire_id, "gpt-5");
    assert_eq!(quick.info.limits, gpt5.info.limits);
    assert_eq!(json!(quick.options), json!({"service_tier": "priority"}));
    assert!(openai.model("o3").is_none());
    assert!(catalog.provider("demo").is_none());
    let wanted = parse_model_ref("openai/gpt-5.6").unwrap();
    assert_eq!(catalog.small_model(&wanted).model_id, "gpt-5-mini");
}

#[test]
fn only_enabled_providers_are_offered() {
    let catalog = configured(json!({"enabled_providers": ["google", "demo"]}));
    let ids: Vec<&str> = catalog
        .providers()
        .iter()
        .map(|one| one.id.as_str())
        .collect();
    assert_eq!(ids, ["google", "demo"]);
}

#[test]
fn a_new_provider_without_address_or_api_is_reported_and_left_out() {
    let config = ModelConfig::read(&json!({"provider": {
        "a": {"options": {"baseURL": "http://x/v1"}},
        "b": {"npm": "@ai-sdk/openai-compatible"},
        "c": {"npm": "@ai-sdk/anthropic", "models": {"m": {}}},
    }}));
    let (catalog, problems) = Catalog::built_in().with_config(&config);
    let paths: Vec<&str> = problems.iter().map(|one| one.path.as_str()).collect();
    assert_eq!(paths, ["provider.a", "provider.b"]);
    assert_eq!(
        catalog.provider("c").unwrap().base_url,
        "https://api.anthropic.com/v1"
    );
}

#[test]
fn discovered_models_are_added_to_configured_ones() {
    let mut catalog =
        configured(json!({"provider": {"ollama": {"models": {"mine": {"name": "Mine"}}}}}));
    let mut found = Catalog::built_in().provider("ollama").unwrap().clone();
    found.origin = Origin::Discovered;
    found.models = ["mine", "other"]
        .map(|id| Model::new(ModelInfo::unknown("ollama", id)))
        .to_vec();
    found.default_model = Some("other".to_owned());
    let mut bare = Catalog::built_in().clone();
    bare.add_discovered(vec![found.clone()]);
    catalog.add_discovered(vec![found]);
    let default = |catalog: &Catalog| catalog.provider("ollama").unwrap().default_model.clone();
    assert_eq!(default(&bare).as_deref(), Some("other"));
    assert_eq!(
        default(&catalog).as_deref(),
        Some("mine"),
        "the config wins"
    );
    let ollama = catalog.provider("ollama").unwrap();
    let names: Vec<&str> = ollama
        .models
        .iter()
        .map(|one| one.info.name.as_str())
        .collect();
    assert_eq!(names, ["Mine", "other"]);
}
