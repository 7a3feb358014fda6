//! Projects, and the models and tools that their turns use.

use std::path::Path;
use std::sync::Arc;

use lathe_protocol::{Project, ProjectId};
use lathe_provider::catalog::Catalog;
use lathe_records::Result;
use lathe_workspace::mcp::Mcp;
use lathe_workspace::models::{DEMO, Models};
use lathe_workspace::tool_settings::ToolOptions;

use super::Sessions;

impl Sessions {
    pub async fn open_project(&self, folder: &Path) -> Result<Project> {
        let project = self.core.workspace.open(folder).await?;
        let (core, opened) = (self.core.clone(), project.clone());
        // In the background: tool servers are slow to start.
        tokio::spawn(async move {
            core.workspace.setup_of(&opened).await;
            core.workspace.mcp().start(&opened.id);
        });
        Ok(project)
    }

    /// The project of a folder, without storing it or starting its tool servers.
    pub async fn project_at(&self, folder: &Path) -> Result<Project> {
        self.core.workspace.find(folder).await
    }

    /// The same for a folder that a program names, and not a person.
    pub async fn named_project_at(&self, folder: &Path) -> Result<Project> {
        self.core.workspace.find_named(folder).await
    }

    /// Last used first, each in the checkout that was opened last.
    pub async fn projects(&self) -> Result<Vec<Project>> {
        self.core.workspace.projects().await
    }

    pub async fn project(&self, id: &ProjectId) -> Result<Project> {
        self.core.workspace.project(id).await
    }

    /// Whether the built-in demo model answers because no model is configured.
    pub async fn uses_demo_model(&self) -> bool {
        self.core.workspace.models().default().await.provider_id == DEMO
    }

    pub fn catalog(&self) -> Arc<Catalog> {
        self.core.workspace.models().catalog()
    }

    /// Keys, connections and local model servers.
    pub fn models(&self) -> &Arc<Models> {
        self.core.workspace.models()
    }

    /// The MCP servers, which offer tools and resources.
    pub fn mcp(&self) -> &Mcp {
        self.core.workspace.mcp()
    }

    /// Sets the window's tool settings, from the next call on.
    pub fn set_tool_options(&self, options: ToolOptions) {
        self.core.workspace.tool_settings().set(options);
    }
}
