//! Builds the request of a step: system prompt, history, tools.

use lathe_protocol::FilePart;
use lathe_provider::{ModelMessage, ModelRequest, ToolSpec, UserContent};
use lathe_tools::Registry;

use super::{ResolvedPrompt, Turn};
use lathe_conversation::convert::Target;
use lathe_conversation::pictures::Pictures;
use lathe_conversation::system_prompt::{self, PromptContext};
use lathe_permission::Authority;
use lathe_workspace::agents::Agent;
use lathe_workspace::models::OpenModel;

const LAST_STEP: &str = "This is the last step of this turn: no tools are available any more. \
    Say what was done, what is left, and what you would do next.";

impl Turn {
    pub(super) async fn request(
        &mut self,
        resolved: &ResolvedPrompt,
        model: &OpenModel,
        tools: &Registry,
    ) -> ModelRequest {
        let ResolvedPrompt { user, agent, .. } = resolved;
        let mut request = ModelRequest::new(model.info().wire_id.clone());
        let context = PromptContext {
            instructions: self.core.workspace.instructions(),
            now: self.core.records.now(),
            setup: &self.setup,
            session: &self.session,
            project: &self.project,
        };
        request.system = system_prompt::build(context, agent, user).await;
        let history = &mut self.history;
        request.messages =
            convert_for_model(&self.core.pictures, model, |target| history.convert(target));
        model.prepare(
            &mut request,
            user.variant.as_deref().or(agent.variant.as_deref()),
        );
        request.temperature = agent.temperature;
        request.top_p = agent.top_p;
        if self.is_last_step(agent) {
            let content = vec![UserContent::Text {
                text: LAST_STEP.to_owned(),
            }];
            request.messages.push(ModelMessage::User { content });
        } else if model.info().tools {
            request.tools = tool_specs(tools);
        }
        request
    }

    /// Whether the agent has reached its limit of steps: no tool is offered, and no call runs.
    pub(super) fn is_last_step(&self, agent: &Agent) -> bool {
        agent.steps.is_some_and(|cap| self.steps >= cap)
    }

    /// The tools for this step. Waits for tool servers if the model can use tools.
    pub(super) async fn step_tools(
        &self,
        resolved: &ResolvedPrompt,
        model: &OpenModel,
    ) -> Registry {
        if model.info().tools && !self.is_last_step(&resolved.agent) {
            let mcp = self.core.workspace.mcp();
            mcp.wait_until_started(&self.project.id).await;
        }
        self.step_tools_now(&resolved.agent)
    }

    /// The same without waiting. Tools that every rule denies are left out.
    pub(super) fn step_tools_now(&self, agent: &Agent) -> Registry {
        let authority = Authority::resolve(
            &self.core.permissions,
            &self.setup,
            &self.project,
            &self.session,
            agent,
            &self.ancestors,
        );
        // A task cannot start tasks of its own.
        let is_task = self.session.parent_id.is_some();
        let built_in = self.core.tools.built_in.clone();
        let all = self
            .core
            .workspace
            .mcp()
            .add_tools(&self.project.id, built_in);
        let hidden = |tool: &str| authority.hides_tool(tool) || (is_task && tool == "task");
        all.without(hidden)
    }
}

/// Runs a conversion with what this model accepts.
pub(super) fn convert_for_model<T>(
    pictures: &Pictures,
    model: &OpenModel,
    convert: impl FnOnce(&Target) -> T,
) -> T {
    let limits = model.images();
    let fit = |file: &FilePart, bytes: Vec<u8>| pictures.fit(file, &bytes, limits);
    convert(&Target {
        model: model.info(),
        wire: model.wire(),
        fit: &fit,
    })
}

fn tool_specs(tools: &Registry) -> Vec<ToolSpec> {
    tools
        .with_schemas()
        .map(|(tool, input_schema)| ToolSpec {
            name: tool.name().to_owned(),
            description: tool.prompt().to_owned(),
            input_schema,
        })
        .collect()
}
