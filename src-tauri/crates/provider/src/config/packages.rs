//! The API behind each npm package of the AI SDK.

use crate::wire::WireKind;

/// `None` for a package whose API or authentication is not supported.
pub(super) fn wire_for(npm: &str) -> Option<WireKind> {
    Some(match without_version(npm) {
        "@ai-sdk/anthropic" => WireKind::Anthropic,
        "@ai-sdk/openai" => WireKind::OpenaiResponses,
        "@ai-sdk/google" => WireKind::Gemini,
        "@ai-sdk/openai-compatible"
        | "@ai-sdk/cerebras"
        | "@ai-sdk/deepinfra"
        | "@ai-sdk/deepseek"
        | "@ai-sdk/fireworks"
        | "@ai-sdk/groq"
        | "@ai-sdk/mistral"
        | "@ai-sdk/moonshotai"
        | "@ai-sdk/perplexity"
        | "@ai-sdk/togetherai"
        | "@ai-sdk/vercel"
        | "@ai-sdk/xai"
        | "@lmstudio/ai-sdk"
        | "@openrouter/ai-sdk-provider"
        | "ai-sdk-ollama"
        | "ollama-ai-provider"
        | "ollama-ai-provider-v2" => WireKind::OpenaiChat,
        _ => return None,
    })
}

/// `@scope/name@1.2` without its version.
fn without_version(npm: &str) -> &str {
    match npm.rfind('@') {
        Some(at) if at > 0 => &npm[..at],
        _ => npm,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_package_names_its_wire_with_or_without_a_version() {
        assert_eq!(
            wire_for("@ai-sdk/anthropic@2.0.1"),
            Some(WireKind::Anthropic)
        );
        assert_eq!(wire_for("ai-sdk-ollama@^3"), Some(WireKind::OpenaiChat));
        assert_eq!(wire_for("@ai-sdk/amazon-bedrock"), None);
    }
}
