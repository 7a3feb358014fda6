//! What the next API call asks: system prompt, history, tools.

use lathe_protocol::{FilePart, Ruleset};
use lathe_provider::{ModelMessage, ModelRequest, ToolSpec, UserContent};
use lathe_tools::Registry;

use super::{Asked, Turn};
use crate::agents::Agent;
use crate::convert::Target;
use crate::core::Core;
use crate::models::OpenModel;
use crate::permission::hides_tool;
use crate::system::{self, Scene};

const LAST_STEP: &str = "This is the last step of this turn: no tools are available any more. \
    Say what was done, what is left, and what you would do next.";

impl Turn {
    pub(super) async fn request(&mut self, asked: &Asked, model: &OpenModel) -> ModelRequest {
        let Asked { user, agent, .. } = asked;
        let mut request = ModelRequest::new(model.info().wire_id.clone());
        let scene = Scene {
            core: &self.core,
            setup: &self.setup,
            session: &self.session,
            project: &self.project,
        };
        request.system = system::prompt(scene, agent, user).await;
        let core = self.core.clone();
        let history = &mut self.history;
        request.messages = for_model(&core, model, |target| history.tell(target));
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
            self.core.mcp.settled(&self.project.id).await;
            request.tools = specs(&self.tools(agent));
        }
        request
    }

    /// Nothing is offered any more, and nothing runs.
    pub(super) fn is_last_step(&self, agent: &Agent) -> bool {
        agent.steps.is_some_and(|cap| self.steps >= cap)
    }

    pub(super) fn rules(&self, agent: &Agent) -> Ruleset {
        let mode = self.plan.rules(&agent.name);
        self.core.rules_in(mode, &self.setup, agent, &self.session)
    }

    /// What this agent may use here: tools it could never be allowed are not offered.
    pub(super) fn tools(&self, agent: &Agent) -> Registry {
        let rules = self.rules(agent);
        // A task hands out no tasks of its own.
        let is_task = self.session.parent_id.is_some();
        let tools = self.core.tools.clone();
        let all = self.core.mcp.join(&self.project.id, tools);
        all.without(|tool| hides_tool(&rules, tool) || (is_task && tool == "task"))
    }
}

/// Messages as this model takes them.
pub(super) fn for_model<T>(
    core: &Core,
    model: &OpenModel,
    convert: impl FnOnce(&Target) -> T,
) -> T {
    let limits = model.images();
    let fit = |file: &FilePart, bytes: Vec<u8>| core.pictures.fit(file, &bytes, limits);
    convert(&Target {
        model: model.info(),
        wire: model.wire(),
        fit: &fit,
        load: &load_file,
    })
}

fn specs(tools: &Registry) -> Vec<ToolSpec> {
    tools
        .with_schemas()
        .map(|(tool, input_schema)| ToolSpec {
            name: tool.name().to_owned(),
            description: tool.prompt().to_owned(),
            input_schema,
        })
        .collect()
}

/// An attachment that history refers to by its path.
fn load_file(url: &str) -> Option<Vec<u8>> {
    let path = url.strip_prefix("file://")?;
    let path = path.split(['?', '#']).next().unwrap_or(path);
    let path = String::from_utf8(crate::data_url::percent_decode(path)).ok()?;
    std::fs::read(path).ok()
}
