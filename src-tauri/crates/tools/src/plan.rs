//! Enters and leaves plan mode, if the user agrees.

use lathe_protocol::{Question, QuestionOption};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::context::{AgentSwitch, PermissionAsk, ToolContext};
use crate::tool::{Tool, ToolFailure, ToolOutput};

pub struct PlanEnter;
pub struct PlanExit;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NoInput {}

impl Tool for PlanEnter {
    const NAME: &'static str = "plan_enter";
    const PROMPT: &'static str = include_str!("plan_enter.txt");
    type Input = NoInput;

    async fn run(&self, _: Self::Input, cx: &ToolContext) -> Result<ToolOutput, ToolFailure> {
        let offer = Offer {
            tool: Self::NAME,
            question: "The agent would like to plan this before it changes anything. Plan first?",
            header: "Plan first",
            yes: ("Plan first", "Nothing is changed until you agree to a plan"),
            no: ("No, continue", "The agent keeps working as it does now"),
            to: AgentSwitch::Plan,
            declined: "The user does not want a plan first. Continue without one.",
        };
        offer.ask(cx).await
    }
}

impl Tool for PlanExit {
    const NAME: &'static str = "plan_exit";
    const PROMPT: &'static str = include_str!("plan_exit.txt");
    type Input = NoInput;

    async fn run(&self, _: Self::Input, cx: &ToolContext) -> Result<ToolOutput, ToolFailure> {
        let offer = Offer {
            tool: Self::NAME,
            question: "The plan is complete. Carry it out?",
            header: "Plan ready",
            yes: ("Carry it out", "The agent may change files from now on"),
            no: (
                "Keep planning",
                "Nothing is changed; the plan can be improved",
            ),
            to: AgentSwitch::Build,
            declined: "The user wants to stay in plan mode. Ask what the plan lacks, or improve it.",
        };
        offer.ask(cx).await
    }
}

/// The question to the user about a change of mode.
struct Offer {
    tool: &'static str,
    question: &'static str,
    header: &'static str,
    yes: (&'static str, &'static str),
    no: (&'static str, &'static str),
    to: AgentSwitch,
    declined: &'static str,
}

impl Offer {
    async fn ask(self, cx: &ToolContext) -> Result<ToolOutput, ToolFailure> {
        cx.host.ask(PermissionAsk::new(self.tool, "*")).await?;
        let answers = tokio::select! {
            () = cx.cancel.cancelled() => return Err(ToolFailure::aborted()),
            answers = cx.host.question(vec![self.question()]) => answers?,
        };
        let answer = answers.into_iter().flatten().next().unwrap_or_default();
        if answer != self.yes.0 {
            let text = if answer.is_empty() || answer == self.no.0 {
                self.declined.to_owned()
            } else {
                // A custom answer is more informative than our default text.
                format!("{} They said: {answer}", self.declined)
            };
            return Err(ToolFailure::failed(text));
        }
        cx.host.switch_agent(self.to).await?;
        Ok(ToolOutput::new(
            self.yes.0,
            "The user agreed. What to do next follows.",
        ))
    }

    fn question(&self) -> Question {
        let option = |(label, description): (&str, &str)| QuestionOption {
            label: label.to_owned(),
            description: description.to_owned(),
        };
        Question {
            question: self.question.to_owned(),
            header: self.header.to_owned(),
            options: vec![option(self.yes), option(self.no)],
            multiple: None,
            custom: None,
            extra: Default::default(),
        }
    }
}
