//! Asks the user questions with options to choose from.

use lathe_protocol::{Question, QuestionOption};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::context::{PermissionAsk, ToolContext};
use crate::tool::{Tool, ToolFailure, ToolOutput};

const HEADER_LENGTH: usize = 30;

/// What we ask of the model is stricter than what the store reads.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct AskedQuestion {
    /// The whole question.
    question: String,
    /// A very short label, at most 30 characters.
    #[schemars(length(max = 30))]
    header: String,
    /// The answers to choose from.
    options: Vec<AskedOption>,
    /// Whether more than one may be chosen.
    multiple: Option<bool>,
    /// Whether the user may type an answer of their own. True if not given.
    custom: Option<bool>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct AskedOption {
    /// One to five words.
    label: String,
    /// What choosing it means.
    description: String,
}

impl From<AskedQuestion> for Question {
    fn from(asked: AskedQuestion) -> Self {
        let option = |o: AskedOption| QuestionOption {
            label: o.label,
            description: o.description,
        };
        Self {
            question: asked.question,
            header: asked.header,
            options: asked.options.into_iter().map(option).collect(),
            multiple: asked.multiple,
            custom: asked.custom,
            extra: Default::default(),
        }
    }
}

pub struct Ask;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AskInput {
    /// Questions to put at once.
    questions: Vec<AskedQuestion>,
}

impl Tool for Ask {
    const NAME: &'static str = "question";
    const PROMPT: &'static str = include_str!("question.txt");
    type Input = AskInput;

    async fn run(&self, input: Self::Input, cx: &ToolContext) -> Result<ToolOutput, ToolFailure> {
        let questions: Vec<Question> = input.questions.into_iter().map(Question::from).collect();
        check(&questions)?;
        cx.host
            .ask(PermissionAsk::new(Self::NAME, "*").always("*"))
            .await?;
        let answers = tokio::select! {
            () = cx.cancel.cancelled() => return Err(ToolFailure::aborted()),
            answers = cx.host.question(questions.clone()) => answers?,
        };
        let lines: Vec<String> = questions
            .iter()
            .zip(answers.iter())
            .map(|(q, a)| line(q, a))
            .collect();
        let count = questions.len();
        let title = if count == 1 {
            "1 question".to_owned()
        } else {
            format!("{count} questions")
        };
        let text = format!("The user answered:\n{}", lines.join("\n"));
        Ok(ToolOutput::new(title, text)
            .with(
                "questions",
                serde_json::to_value(&questions).unwrap_or_default(),
            )
            .with(
                "answers",
                serde_json::to_value(&answers).unwrap_or_default(),
            ))
    }
}

fn check(questions: &[Question]) -> Result<(), ToolFailure> {
    if questions.is_empty() {
        return Err(ToolFailure::failed(
            "`questions` is empty: ask at least one.",
        ));
    }
    for question in questions {
        if question.header.chars().count() > HEADER_LENGTH {
            return Err(ToolFailure::failed(format!(
                "The header \"{}\" is longer than {HEADER_LENGTH} characters.",
                question.header
            )));
        }
        if question.options.is_empty() && question.custom == Some(false) {
            return Err(ToolFailure::failed(format!(
                "The question \"{}\" has no options and takes no typed answer.",
                question.question
            )));
        }
    }
    Ok(())
}

fn line(question: &Question, answer: &[String]) -> String {
    let answer = if answer.is_empty() {
        "(no answer)".to_owned()
    } else {
        answer.join(", ")
    };
    format!("- {}: {answer}", question.question)
}
