//! The available tools, by name.

use std::sync::{Arc, OnceLock};

use indexmap::IndexMap;
use serde_json::Value;

use crate::context::ToolContext;
use crate::tool::{DynTool, ToolFailure, ToolOutput};

/// Tools in the order in which they are listed to the model.
#[derive(Clone, Default)]
pub struct Registry {
    tools: IndexMap<String, Held>,
}

#[derive(Clone)]
struct Held {
    tool: Arc<dyn DynTool>,
    /// Computed once, because every step of a turn sends the same schemas.
    schema: Arc<OnceLock<Arc<Value>>>,
}

impl Registry {
    /// All built-in tools.
    pub fn builtin() -> Self {
        Self::default()
            .with(crate::bash::Bash)
            .with(crate::read::Read)
            .with(crate::list::List)
            .with(crate::glob::Glob)
            .with(crate::grep::Grep)
            .with(crate::edit::Edit)
            .with(crate::write::Write)
            .with(crate::apply_patch::ApplyPatch)
            .with(crate::webfetch::WebFetch::default())
            .with(crate::task::Task)
            .with(crate::todo::TodoWrite)
            .with(crate::todo::TodoRead)
            .with(crate::question::Ask)
            .with(crate::plan::PlanEnter)
            .with(crate::plan::PlanExit)
    }

    /// Adds a tool; one of the same name is replaced.
    #[must_use]
    pub fn with(mut self, tool: impl DynTool + 'static) -> Self {
        self.add(Arc::new(tool));
        self
    }

    pub fn add(&mut self, tool: Arc<dyn DynTool>) {
        let name = tool.name().to_owned();
        let schema = Arc::default();
        self.tools.insert(name, Held { tool, schema });
    }

    pub fn iter(&self) -> impl Iterator<Item = &Arc<dyn DynTool>> {
        self.tools.values().map(|held| &held.tool)
    }

    /// Every tool with the schema of its input.
    pub fn with_schemas(&self) -> impl Iterator<Item = (&Arc<dyn DynTool>, Arc<Value>)> {
        self.tools.values().map(|Held { tool, schema }| {
            let schema = schema.get_or_init(|| Arc::new(tool.schema()));
            (tool, schema.clone())
        })
    }

    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.tools.keys().map(String::as_str)
    }

    /// The same tools without those for which `hidden` is true.
    #[must_use]
    pub fn without(&self, hidden: impl Fn(&str) -> bool) -> Self {
        let mut tools = self.tools.clone();
        tools.retain(|name, _| !hidden(name));
        Self { tools }
    }

    /// Finds a tool by its exact name, else by its lower-case name. The failure lists the tools.
    pub fn find(&self, name: &str) -> Result<&Arc<dyn DynTool>, ToolFailure> {
        self.tools
            .get(name)
            .or_else(|| self.tools.get(&name.to_lowercase()))
            .map(|held| &held.tool)
            .ok_or_else(|| {
                let names: Vec<&str> = self.names().collect();
                ToolFailure::failed(format!(
                    "There is no tool named \"{name}\". The tools are: {}.",
                    names.join(", ")
                ))
            })
    }

    /// Runs one call.
    pub async fn run(
        &self,
        name: &str,
        input: Value,
        cx: &ToolContext,
    ) -> Result<ToolOutput, ToolFailure> {
        let tool = self.find(name)?;
        if cx.cancel.is_cancelled() {
            return Err(ToolFailure::aborted());
        }
        tool.call(input, cx).await
    }
}
