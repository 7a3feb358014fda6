//! Reads the history of a request and builds the events of a step.

use serde_json::Value;

use crate::{
    error::{ApiFailure, ProviderError},
    event::{BlockId, FinishReason, Metadata, StreamEvent, Usage},
    request::{AssistantContent, ModelMessage, ModelRequest, ToolOutcome, UserContent},
};

/// What the demo model uses of a request.
pub(super) struct History<'a> {
    pub request: &'a ModelRequest,
    /// The user's last prompt.
    pub prompt: String,
    pub files: usize,
    /// Tool calls since the last prompt.
    pub calls: Vec<Call<'a>>,
    /// The number of all tool calls so far, used to number the next one.
    total_calls: usize,
}

pub(super) struct Call<'a> {
    pub name: &'a str,
    pub input: &'a Value,
    pub result: &'a ToolOutcome,
}

impl<'a> History<'a> {
    pub(super) fn new(request: &'a ModelRequest) -> Self {
        let mut history = Self {
            request,
            prompt: String::new(),
            files: 0,
            calls: Vec::new(),
            total_calls: 0,
        };
        for message in request.messages.iter() {
            match message {
                ModelMessage::User { content } => history.add_user(content),
                ModelMessage::Assistant { content } => history.add_assistant(content),
            }
        }
        history
    }

    fn add_user(&mut self, content: &[UserContent]) {
        let texts = content.iter().filter_map(|content| match content {
            UserContent::Text { text } => Some(text.trim()),
            UserContent::File(_) => None,
        });
        let prompt = texts.collect::<Vec<_>>().join("\n\n");
        let files = content.len() - content.iter().filter(|c| is_text(c)).count();
        // A prompt in the middle of the tour does not end it.
        let during_tour = self.wants_tour() && !self.calls.is_empty() && !asks_for_tour(&prompt);
        if during_tour || prompt.is_empty() && files == 0 {
            return;
        }
        self.prompt = prompt;
        self.files = files;
        self.calls.clear();
    }

    fn add_assistant(&mut self, content: &'a [AssistantContent]) {
        for part in content {
            if let AssistantContent::ToolCall {
                name,
                input,
                result,
                ..
            } = part
            {
                self.total_calls += 1;
                self.calls.push(Call {
                    name,
                    input,
                    result,
                });
            }
        }
    }

    pub(super) fn wants_tour(&self) -> bool {
        asks_for_tour(&self.prompt)
    }

    pub(super) fn offers(&self, tool: &str) -> bool {
        self.request.tools.iter().any(|spec| spec.name == tool)
    }

    pub(super) fn call_with(&self, name: &str, input: &Value) -> Option<&Call<'a>> {
        self.calls
            .iter()
            .find(|call| call.name == name && call.input == input)
    }

    pub(super) fn system_says(&self, word: &str) -> bool {
        let mut system = self.request.system.iter();
        system.any(|text| text.to_lowercase().contains(word))
    }

    /// An empty step in reply to this history.
    pub(super) fn script(&self) -> Script {
        Script {
            events: vec![StreamEvent::Start, StreamEvent::StartStep],
            blocks: 0,
            calls: self.total_calls,
            output_bytes: 0,
            input_tokens: approximate_tokens(self.request),
            has_call: false,
        }
    }
}

fn is_text(content: &UserContent) -> bool {
    matches!(content, UserContent::Text { .. })
}

fn asks_for_tour(text: &str) -> bool {
    let text = text.to_lowercase();
    let mut words = text.split(|c: char| !c.is_alphanumeric());
    words.any(|word| word == "tour") || text.contains("show me around")
}

/// Assumes four characters per token.
fn approximate_tokens(request: &ModelRequest) -> u64 {
    let system: usize = request.system.iter().map(String::len).sum();
    let messages = serde_json::to_string(&request.messages).map_or(0, |text| text.len());
    (system + messages).div_ceil(4) as u64
}

/// Builds the events of one step.
pub(super) struct Script {
    events: Vec<StreamEvent>,
    blocks: usize,
    calls: usize,
    output_bytes: usize,
    input_tokens: u64,
    has_call: bool,
}

impl Script {
    pub(super) fn think(mut self, text: &str) -> Self {
        let id = self.next_block();
        self.events.push(StreamEvent::ReasoningStart {
            id: id.clone(),
            metadata: Metadata::new(),
        });
        for word in words(text) {
            self.output_bytes += word.len();
            self.events.push(StreamEvent::ReasoningDelta {
                id: id.clone(),
                text: word.to_owned(),
            });
        }
        self.events.push(StreamEvent::ReasoningEnd {
            id,
            metadata: Metadata::new(),
        });
        self
    }

    pub(super) fn say(mut self, text: &str) -> Self {
        let id = self.next_block();
        self.events.push(StreamEvent::TextStart {
            id: id.clone(),
            metadata: Metadata::new(),
        });
        for word in words(text) {
            self.output_bytes += word.len();
            self.events.push(StreamEvent::TextDelta {
                id: id.clone(),
                text: word.to_owned(),
            });
        }
        self.events.push(StreamEvent::TextEnd {
            id,
            metadata: Metadata::new(),
        });
        self
    }

    pub(super) fn call(mut self, name: &str, input: &Value) -> Self {
        let id = BlockId::from(format!("demo-{}", self.calls));
        let input = input.to_string();
        self.calls += 1;
        self.has_call = true;
        self.output_bytes += input.len();
        self.events.push(StreamEvent::ToolInputStart {
            id: id.clone(),
            name: name.to_owned(),
        });
        for piece in pieces(&input) {
            self.events.push(StreamEvent::ToolInputDelta {
                id: id.clone(),
                text: piece,
            });
        }
        self.events
            .push(StreamEvent::ToolInputEnd { id: id.clone() });
        self.events.push(StreamEvent::ToolCall {
            id,
            name: name.to_owned(),
            input,
            metadata: Metadata::new(),
        });
        self
    }

    pub(super) fn finish(mut self) -> Vec<StreamEvent> {
        let reason = if self.has_call {
            FinishReason::ToolCalls
        } else {
            FinishReason::Stop
        };
        let usage = Usage {
            input: self.input_tokens,
            output: self.output_bytes.div_ceil(4) as u64,
            ..Usage::default()
        };
        self.events.push(StreamEvent::FinishStep { reason, usage });
        self.events.push(StreamEvent::Finish);
        self.events
    }

    /// Ends with the error of an overloaded provider.
    pub(super) fn fail_overloaded(mut self) -> Vec<StreamEvent> {
        let message = "Overloaded (a failure played on purpose, to show a retry)";
        let wait = [("retry-after-ms".to_owned(), "1500".to_owned())];
        let failure = ApiFailure::refused(529, message).with_headers(wait.into());
        self.events.push(StreamEvent::Error {
            error: ProviderError::Api(failure),
        });
        self.events
    }

    fn next_block(&mut self) -> BlockId {
        let id = BlockId::from(format!("block-{}", self.blocks));
        self.blocks += 1;
        id
    }
}

/// Words, each with the space that follows it.
fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split_inclusive([' ', '\n'])
}

/// Small pieces, like the arguments from a real model.
fn pieces(text: &str) -> Vec<String> {
    let chars: Vec<char> = text.chars().collect();
    chars
        .chunks(24)
        .map(|piece| piece.iter().collect())
        .collect()
}
