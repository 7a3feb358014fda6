//! Chunks of `streamGenerateContent` as neutral events.
//!
//! The API has no terminal event: the stream is whole when a finish reason came before the
//! body ended.

use serde_json::{Map, Value, json};

use super::{
    FAMILY, SIGNATURE,
    chunk::{Candidate, Chunk, FunctionCall, Part, RawUsage},
    error::in_stream,
};
use crate::{
    error::{ApiFailure, ProviderError},
    event::{BlockId, FinishReason, Metadata, StreamEvent},
    sse::{Frame, Progress},
    stream::{BlockKind, Blocks, parse, truncated},
};

#[derive(Default)]
pub(super) struct Frames {
    blocks: Blocks,
    usage: RawUsage,
    response: Option<String>,
    calls: usize,
    /// Nothing but thoughts has come since the last call.
    thinking: bool,
    finish: Option<FinishReason>,
}

impl crate::stream::Frames for Frames {
    fn frame(
        &mut self,
        frame: Frame<'_>,
        out: &mut Vec<StreamEvent>,
    ) -> Result<Progress, ProviderError> {
        if frame.data.trim_ascii().is_empty() {
            return Ok(Progress::Open);
        }
        let chunk: Chunk = parse(frame.data)?;
        if chunk.error.is_some_and(|error| !error.is_null()) {
            return Err(in_stream(frame.data)?);
        }
        if let Some(usage) = &chunk.usage_metadata {
            self.usage.update(usage);
        }
        if self.response.is_none() {
            self.response = chunk.response_id;
        }
        let blocked = chunk
            .prompt_feedback
            .and_then(|feedback| feedback.block_reason);
        if blocked.is_some_and(|reason| reason != "BLOCK_REASON_UNSPECIFIED") {
            self.finish = Some(FinishReason::ContentFilter);
        }
        let first = chunk.candidates.into_iter().find(|one| one.index.0 == 0);
        if let Some(candidate) = first {
            self.candidate(candidate, out)?;
        }
        Ok(Progress::Open)
    }

    fn end(&mut self, out: &mut Vec<StreamEvent>) -> Result<(), ProviderError> {
        let reason = match self.finish.ok_or_else(truncated)? {
            FinishReason::Stop if self.calls > 0 => FinishReason::ToolCalls,
            reason => reason,
        };
        self.blocks.close(out);
        out.push(StreamEvent::FinishStep {
            reason,
            usage: self.usage.neutral(),
        });
        Ok(())
    }
}

impl Frames {
    fn candidate(
        &mut self,
        candidate: Candidate,
        out: &mut Vec<StreamEvent>,
    ) -> Result<(), ProviderError> {
        for part in candidate
            .content
            .into_iter()
            .flat_map(|content| content.parts)
        {
            self.part(part, out);
        }
        if let Some(reason) = candidate.finish_reason {
            let reason = finish_reason(&reason, candidate.finish_message)?;
            self.finish = reason.or(self.finish);
        }
        Ok(())
    }

    fn part(&mut self, part: Part, out: &mut Vec<StreamEvent>) {
        let seal = part.thought_signature.filter(|seal| !seal.is_empty());
        if let Some(call) = part.function_call {
            self.blocks.close(out);
            self.thinking = false;
            self.call(call, seal, out);
            return;
        }
        let text = part.text.unwrap_or_default();
        // A signature alone, with nothing said yet, seals the thoughts before it.
        self.thinking = part.thought || (self.thinking && text.is_empty());
        let kind = if self.thinking {
            BlockKind::Reasoning
        } else {
            BlockKind::Text
        };
        self.blocks.delta(kind, text, out);
        if let Some(seal) = seal {
            self.blocks.annotate(kind, google([(SIGNATURE, seal)]), out);
        }
    }

    /// A call comes whole. Without an id of theirs it gets one that no other step has.
    fn call(&mut self, call: FunctionCall, seal: Option<String>, out: &mut Vec<StreamEvent>) {
        let theirs = call.id.filter(|id| !id.is_empty());
        let id = match &theirs {
            Some(id) => BlockId::from(id.as_str()),
            None => {
                let response = self.response.as_deref().unwrap_or("call");
                BlockId::from(format!("{response}-{}", self.calls))
            }
        };
        self.calls += 1;
        let input = match call.args {
            None | Some(Value::Null) => "{}".to_owned(),
            Some(args) => args.to_string(),
        };
        let facts = [
            ("functionCallId", theirs.unwrap_or_default()),
            (SIGNATURE, seal.unwrap_or_default()),
        ];
        out.extend([
            StreamEvent::ToolInputStart {
                id: id.clone(),
                name: call.name.clone(),
            },
            StreamEvent::ToolInputDelta {
                id: id.clone(),
                text: input.clone(),
            },
            StreamEvent::ToolInputEnd { id: id.clone() },
            StreamEvent::ToolCall {
                id,
                name: call.name,
                input,
                metadata: google(facts),
            },
        ]);
    }
}

fn google<const N: usize>(facts: [(&str, String); N]) -> Metadata {
    let facts: Map<String, Value> = facts
        .into_iter()
        .filter(|(_, value)| !value.is_empty())
        .map(|(key, value)| (key.to_owned(), Value::String(value)))
        .collect();
    let mut metadata = Metadata::new();
    if !facts.is_empty() {
        metadata.insert(FAMILY.to_owned(), json!(facts));
    }
    metadata
}

/// A call the model could not write is chance, and the same request may well succeed.
fn finish_reason(
    reason: &str,
    message: Option<String>,
) -> Result<Option<FinishReason>, ProviderError> {
    Ok(Some(match reason {
        "STOP" => FinishReason::Stop,
        "MAX_TOKENS" => FinishReason::Length,
        "SAFETY"
        | "RECITATION"
        | "LANGUAGE"
        | "BLOCKLIST"
        | "PROHIBITED_CONTENT"
        | "SPII"
        | "IMAGE_SAFETY"
        | "IMAGE_PROHIBITED_CONTENT"
        | "IMAGE_RECITATION" => FinishReason::ContentFilter,
        "MALFORMED_FUNCTION_CALL" | "UNEXPECTED_TOOL_CALL" | "MALFORMED_RESPONSE" => {
            let said = message.filter(|text| !text.trim().is_empty());
            let said = said.map_or_else(String::new, |text| format!(": {}", text.trim()));
            let message = format!("The model broke off with {reason}{said}");
            return Err(ProviderError::Api(ApiFailure::refused_in_stream(message)));
        }
        "" | "FINISH_REASON_UNSPECIFIED" => return Ok(None),
        _ => FinishReason::Unknown,
    }))
}
