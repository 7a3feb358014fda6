//! The handle to all projects and their setups.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use lathe_protocol::{Project, ProjectId, Session};
use lathe_provider::client::ModelClient;
use lathe_provider::keys::Keys;
use lathe_records::{Failed, Records, Result};
use lathe_tools::Environment;
use parking_lot::Mutex;

use crate::confinement::Sandbox;
use crate::instructions::Instructions;
use crate::mcp::Mcp;
use crate::mentions::Finder;
use crate::models::Models;
use crate::project;
use crate::setup::{self, Setup, Setups};
use crate::tool_settings::ToolSettings;

pub struct Workspace {
    records: Records,
    models: Arc<Models>,
    setups: Arc<Setups>,
    instructions: Instructions,
    finder: Finder,
    mcp: Arc<Mcp>,
    tool_settings: ToolSettings,
    sandbox: Arc<Sandbox>,
    /// For each project the checkout that was opened last, where its next session starts.
    opened: Mutex<HashMap<ProjectId, String>>,
}

pub struct WorkspaceOptions {
    pub records: Records,
    pub data_dir: PathBuf,
    /// The folder that holds the person's own `lathe/` and `opencode/`.
    pub config_home: Option<PathBuf>,
    /// A config file that overrides the global ones.
    pub named_config: Option<PathBuf>,
    pub client: ModelClient,
    pub keys: Keys,
    /// The environment for commands and servers.
    pub environment: Arc<Environment>,
}

impl Workspace {
    pub fn new(options: WorkspaceOptions) -> Self {
        let (home, named) = (options.config_home, options.named_config);
        let (value, person) = setup::read_person_config(home.clone(), named.clone());
        let own_home = options.environment.home().map(PathBuf::from);
        let sandbox = Sandbox::new(own_home, &options.data_dir, home.as_deref());
        let sandbox = Arc::new(sandbox);
        let models = Arc::new(Models::new(options.client, options.keys, value));
        let workspace = Workspace {
            records: options.records,
            setups: Arc::new(Setups::new(home, named, &options.data_dir, models.clone())),
            models,
            instructions: Instructions::default(),
            finder: Finder::default(),
            mcp: Arc::new(Mcp::new(
                &options.data_dir,
                options.environment.clone(),
                sandbox.clone(),
            )),
            tool_settings: ToolSettings::new(options.environment),
            sandbox,
            opened: Mutex::default(),
        };
        workspace.tool_settings.configure(&person.settings);
        workspace.mcp.configure_person(&person.mcp);
        workspace
    }

    pub fn models(&self) -> &Arc<Models> {
        &self.models
    }

    pub fn setups(&self) -> &Arc<Setups> {
        &self.setups
    }

    pub fn instructions(&self) -> &Instructions {
        &self.instructions
    }

    pub fn finder(&self) -> &Finder {
        &self.finder
    }

    /// The MCP servers.
    pub fn mcp(&self) -> &Arc<Mcp> {
        &self.mcp
    }

    pub fn tool_settings(&self) -> &ToolSettings {
        &self.tool_settings
    }

    /// What confines commands on this machine.
    pub fn sandbox(&self) -> &Sandbox {
        &self.sandbox
    }

    /// Finds and records the project of a folder, and remembers its checkout as the opened one.
    pub async fn open(&self, folder: &Path) -> Result<Project> {
        self.sandbox.clean_up();
        let project = project::open(&self.records, folder).await?;
        let checkout = project.worktree.clone();
        self.opened.lock().insert(project.id.clone(), checkout);
        Ok(project)
    }

    /// The project of a folder, without recording anything.
    pub async fn find(&self, folder: &Path) -> Result<Project> {
        project::find(&self.records, folder).await
    }

    /// The same for a folder that a program names, and not a person. A home folder, or a place of
    /// settings and keys, must have been opened before.
    pub async fn find_named(&self, folder: &Path) -> Result<Project> {
        project::find_named(&self.records, folder).await
    }

    /// All projects, the last used first, each with the checkout that was opened last.
    pub async fn projects(&self) -> Result<Vec<Project>> {
        let known = self.records.store().projects().await?.items;
        let mut projects: Vec<_> = known
            .into_iter()
            .map(|one| self.with_opened_checkout(one))
            .collect();
        projects.sort_by_key(|project| {
            std::cmp::Reverse(project.time.updated.unwrap_or(project.time.created))
        });
        Ok(projects)
    }

    pub async fn project(&self, id: &ProjectId) -> Result<Project> {
        let project = self.records.store().project(id).await?;
        let project = project.ok_or_else(|| Failed::missing("project", id.as_str()))?;
        Ok(self.with_opened_checkout(project))
    }

    /// A window refers to a project by its id, but means the checkout that it opened.
    fn with_opened_checkout(&self, mut project: Project) -> Project {
        let opened = self.opened.lock().get(&project.id).cloned();
        if let Some(opened) = opened.filter(|folder| Path::new(folder).is_dir()) {
            project.worktree = opened;
        }
        project
    }

    /// The project of a session, with the checkout that contains the session's directory.
    pub async fn project_of(&self, session: &Session) -> Result<Project> {
        let directory = PathBuf::from(&session.directory);
        let known = self.records.store().project(&session.project_id).await?;
        let Some(project) = known else {
            return project::open_named(&self.records, &directory).await;
        };
        let root = project::root_for(&directory, &project);
        Ok(Project {
            worktree: root.display().to_string(),
            ..project
        })
    }

    /// The setup in a session's directory. At the project's root it is also applied to tools and
    /// servers.
    pub async fn setup(&self, session: &Session, project: &Project) -> Arc<Setup> {
        let directory = Path::new(&session.directory);
        let setup = self.setup_in(project, directory).await;
        if directory == Path::new(&project.worktree) {
            self.apply_setup(project, &setup);
        }
        setup
    }

    /// The setup at the root of a project, also applied to tools and servers.
    pub async fn setup_of(&self, project: &Project) -> Arc<Setup> {
        let setup = self.setup_in(project, Path::new(&project.worktree)).await;
        self.apply_setup(project, &setup);
        setup
    }

    /// The setup in a folder of a project, without an effect on tools and servers.
    pub async fn setup_in(&self, project: &Project, directory: &Path) -> Arc<Setup> {
        let worktree = Path::new(&project.worktree);
        self.setups.resolve(directory, worktree).await
    }

    /// Applies changed config to the tool settings and the servers.
    fn apply_setup(&self, project: &Project, setup: &Setup) {
        self.tool_settings.configure(&setup.person.settings);
        self.mcp.configure(project, setup);
    }
}
