//! Decodes the chunks of `streamGenerateContent`.
//!
//! The API has no terminal event: the stream is complete if a finish reason arrived before the
//! end of the body.

use serde_json::Value;

use super::{
    FAMILY, SIGNATURE,
    chunk::{Candidate, Chunk, FunctionCall, Part, RawUsage},
    error::in_stream,
};
use crate::{
    decoder::{BlockKind, Blocks, parse, truncated},
    error::{ApiFailure, ProviderError},
    event::{BlockId, FinishReason, StreamEvent, family_metadata},
    sse::{Frame, Progress},
};

#[derive(Default)]
pub(super) struct GeminiDecoder {
    blocks: Blocks,
    usage: RawUsage,
    response: Option<String>,
    calls: usize,
    /// Only thoughts have arrived since the last call.
    thinking: bool,
    finish: Option<FinishReason>,
}

impl crate::decoder::FrameDecoder for GeminiDecoder {
    fn decode_frame(
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
            usage: self.usage.to_usage(),
        });
        Ok(())
    }
}

impl GeminiDecoder {
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
        let signature = part.thought_signature.filter(|text| !text.is_empty());
        if let Some(call) = part.function_call {
            self.blocks.close(out);
            self.thinking = false;
            self.call(call, signature, out);
            return;
        }
        let text = part.text.unwrap_or_default();
        // A signature without text, before any answer text, belongs to the thoughts before it.
        self.thinking = part.thought || (self.thinking && text.is_empty());
        let kind = if self.thinking {
            BlockKind::Reasoning
        } else {
            BlockKind::Text
        };
        self.blocks.delta(kind, text, out);
        if let Some(signature) = signature {
            let metadata = family_metadata(FAMILY, [(SIGNATURE, signature)]);
            self.blocks.annotate(kind, metadata, out);
        }
    }

    /// A call arrives in one piece. One without an id gets an id that is unique over all steps.
    fn call(&mut self, call: FunctionCall, signature: Option<String>, out: &mut Vec<StreamEvent>) {
        let given_id = call.id.filter(|id| !id.is_empty());
        let id = match &given_id {
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
        let entries = [
            ("functionCallId", given_id.unwrap_or_default()),
            (SIGNATURE, signature.unwrap_or_default()),
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
                metadata: family_metadata(FAMILY, entries),
            },
        ]);
    }
}

/// A malformed call is a chance event of sampling, so the error is retryable.
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
            let detail = message.filter(|text| !text.trim().is_empty());
            let detail = detail.map_or_else(String::new, |text| format!(": {}", text.trim()));
            let message = format!("The model broke off with {reason}{detail}");
            return Err(ProviderError::Api(ApiFailure::refused_in_stream(message)));
        }
        "" | "FINISH_REASON_UNSPECIFIED" => return Ok(None),
        _ => FinishReason::Unknown,
    }))
}
