//! The handle on all projects: which there are, and what holds in each.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use lathe_protocol::{Project, ProjectId, Session};
use lathe_provider::client::ModelClient;
use lathe_provider::keys::Keys;
use lathe_records::{Failed, Records, Result};
use lathe_tools::Environment;
use parking_lot::Mutex;

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
    mcp: Mcp,
    tool_settings: ToolSettings,
    /// The checkout of each project that was opened last: its next session begins there.
    opened: Mutex<HashMap<ProjectId, String>>,
}

pub struct WorkspaceOptions {
    pub records: Records,
    pub data_dir: PathBuf,
    /// The folder that holds the person's own `lathe/` and `opencode/`.
    pub config_home: Option<PathBuf>,
    /// A config file that counts more than the global ones.
    pub named_config: Option<PathBuf>,
    pub client: ModelClient,
    pub keys: Keys,
    /// What commands run in.
    pub environment: Arc<Environment>,
}

impl Workspace {
    pub fn new(options: WorkspaceOptions) -> Self {
        let (home, named) = (options.config_home, options.named_config);
        let (value, person) = setup::at_start(home.clone(), named.clone());
        let models = Arc::new(Models::new(options.client, options.keys, value));
        let workspace = Workspace {
            records: options.records,
            setups: Arc::new(Setups::new(home, named, &options.data_dir, models.clone())),
            models,
            instructions: Instructions::default(),
            finder: Finder::default(),
            mcp: Mcp::new(&options.data_dir, options.environment.clone()),
            tool_settings: ToolSettings::new(options.environment),
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

    /// The servers that offer tools and resources.
    pub fn mcp(&self) -> &Mcp {
        &self.mcp
    }

    pub fn tool_settings(&self) -> &ToolSettings {
        &self.tool_settings
    }

    /// Opens the project of a folder and remembers both.
    pub async fn open(&self, folder: &Path) -> Result<Project> {
        let project = project::open(&self.records, folder).await?;
        let checkout = project.worktree.clone();
        self.opened.lock().insert(project.id.clone(), checkout);
        Ok(project)
    }

    /// The project of a folder. Nothing is remembered of it, and nothing is started.
    pub async fn find(&self, folder: &Path) -> Result<Project> {
        project::find(&self.records, folder).await
    }

    /// Last used first, each in the checkout that was opened last.
    pub async fn projects(&self) -> Result<Vec<Project>> {
        let known = self.records.store().projects().await?.items;
        let mut projects: Vec<_> = known.into_iter().map(|one| self.as_opened(one)).collect();
        projects.sort_by_key(|project| {
            std::cmp::Reverse(project.time.updated.unwrap_or(project.time.created))
        });
        Ok(projects)
    }

    pub async fn project(&self, id: &ProjectId) -> Result<Project> {
        let project = self.records.store().project(id).await?;
        let project = project.ok_or_else(|| Failed::missing("project", id.as_str()))?;
        Ok(self.as_opened(project))
    }

    /// A window names a project by its id and means the folder that it opened.
    fn as_opened(&self, mut project: Project) -> Project {
        let opened = self.opened.lock().get(&project.id).cloned();
        if let Some(opened) = opened.filter(|folder| Path::new(folder).is_dir()) {
            project.worktree = opened;
        }
        project
    }

    /// The project as a session sees it: in the checkout that holds its directory.
    pub async fn project_of(&self, session: &Session) -> Result<Project> {
        let directory = PathBuf::from(&session.directory);
        let known = self.records.store().project(&session.project_id).await?;
        let Some(project) = known else {
            return project::open(&self.records, &directory).await;
        };
        let root = project::root_for(&directory, &project);
        Ok(Project {
            worktree: root.display().to_string(),
            ..project
        })
    }

    /// What holds where a session works, as the files are now.
    pub async fn setup(&self, session: &Session, project: &Project) -> Arc<Setup> {
        let directory = Path::new(&session.directory);
        let setup = self.setup_in(project, directory).await;
        if directory == Path::new(&project.worktree) {
            self.adopt(project, &setup);
        }
        setup
    }

    /// The same at the root of a project.
    pub async fn setup_of(&self, project: &Project) -> Arc<Setup> {
        let setup = self.setup_in(project, Path::new(&project.worktree)).await;
        self.adopt(project, &setup);
        setup
    }

    /// The same in a folder of a project, without an effect on tools and servers.
    pub async fn setup_in(&self, project: &Project, directory: &Path) -> Arc<Setup> {
        let worktree = Path::new(&project.worktree);
        self.setups.of(directory, worktree).await
    }

    /// Tools and servers follow the files.
    fn adopt(&self, project: &Project, setup: &Setup) {
        self.tool_settings.configure(&setup.person.settings);
        self.mcp.configure(project, &setup.person.mcp, &setup.mcp);
    }
}
