//! The MCP servers of all projects, and the tools and resources that they offer to a turn.

mod launcher;
mod tool;

use std::collections::{BTreeMap, HashSet};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use futures::future::join_all;
use lathe_mcp::{Answer, Server, ServerConfig, ServerKey, ServerState, Servers, Transport};
use lathe_protocol::ipc::{McpResourceView, McpServerView, McpStatus, McpToolView};
use lathe_protocol::{Project, ProjectId, Ruleset};
use lathe_tools::{Environment, Registry};
use tokio::sync::watch;
use url::Url;

use self::launcher::{Launcher, ProjectRules, ServerRules};
use self::tool::McpTool;
use crate::config::{McpKind, McpServer};
use crate::confinement::Sandbox;
use crate::setup::Setup;
use lathe_records::{Failed, Result};

/// How long the first request of a turn waits for servers that are starting. The tools of
/// slower ones are offered at a later step.
const START_WAIT: Duration = Duration::from_secs(5);
/// Default limit for the start of a server: `npx` may have to download it first.
const DEFAULT_START_TIMEOUT: Duration = Duration::from_secs(30);

pub struct Mcp {
    servers: Servers,
    sandbox: Arc<Sandbox>,
    rules: Arc<ServerRules>,
}

impl Mcp {
    pub fn new(data_dir: &Path, environment: Arc<Environment>, sandbox: Arc<Sandbox>) -> Self {
        let rules = Arc::new(ServerRules::default());
        let launch = Arc::new(Launcher {
            environment,
            sandbox: sandbox.clone(),
            rules: rules.clone(),
        });
        Mcp {
            servers: Servers::new(data_dir.join("mcp.json"), launch),
            sandbox,
            rules,
        }
    }

    /// The rules of the person's settings, for servers that start from now on.
    pub fn set_rules(&self, rules: Ruleset) {
        *self.rules.settings.lock() = rules;
    }

    pub fn configure_person(&self, person: &[McpServer]) {
        self.servers.configure(None, shared(person), None);
    }

    /// The servers that may run for the project are the person's, and the project's own if it is
    /// trusted. A server that is the same in both lists runs once for all projects, unless
    /// it is confined to each.
    pub fn configure(&self, project: &Project, setup: &Setup) {
        let (person, all) = (&setup.person.mcp, &setup.mcp);
        self.configure_person(person);
        let shared = shared(person);
        let root = Path::new(&project.worktree);
        let rules = ProjectRules {
            config: setup.rules.clone(),
            restrictions: setup.restrictions.clone(),
        };
        self.rules.projects.lock().insert(root.to_owned(), rules);
        let works = || self.sandbox.is_available();
        let is_confined = |server: &McpServer, sandbox: Option<bool>| {
            runs_in_sandbox(server, sandbox, person, works)
        };
        let mut own = configs(all, Some(root), is_confined);
        own.retain(|name, config| shared.get(name) != Some(config));
        let id = project.id.as_str();
        self.servers.configure(Some(id), own, Some(root));
    }

    /// Starts the servers of a project in the background.
    pub fn start(&self, project: &ProjectId) {
        for server in self.servers.for_project(project.as_str()) {
            server.start();
        }
    }

    /// Starts the servers of a project and waits until they run, have failed, or take too long.
    pub async fn wait_until_started(&self, project: &ProjectId) {
        self.start(project);
        let servers = self.servers.for_project(project.as_str());
        let all = join_all(servers.iter().map(|server| server.wait_until_started()));
        let _ = tokio::time::timeout(START_WAIT, all).await;
    }

    /// Adds the tools that the servers of a project offer now, after the built-in ones.
    pub fn add_tools(&self, project: &ProjectId, mut registry: Registry) -> Registry {
        let reserved = lathe_policy::names::RESERVED;
        let mut names: HashSet<String> = registry
            .names()
            .chain(reserved)
            .map(str::to_owned)
            .collect();
        for server in self.servers.for_project(project.as_str()) {
            let ServerState::Ready(live) = server.state() else {
                continue;
            };
            for tool in live.tools().iter().filter(|tool| !tool.changed) {
                let taken = |name: &str| names.contains(name);
                let name = lathe_mcp::tool_name(&server.key().name, &tool.name, taken);
                if names.insert(name.clone()) {
                    let (server, tool) = (server.clone(), tool.clone());
                    registry.add(Arc::new(McpTool { name, server, tool }));
                }
            }
        }
        registry
    }

    /// Lists all servers. Also starts them, so that their states can be shown.
    pub fn list(&self) -> Vec<McpServerView> {
        let servers = self.servers.all();
        servers.iter().for_each(|server| server.start());
        servers.iter().map(|server| view(server)).collect()
    }

    /// Notified when the state or the tools of any server have changed.
    pub fn changes(&self) -> watch::Receiver<()> {
        self.servers.changes()
    }

    pub async fn set_enabled(&self, name: &str, on: bool) -> Result<()> {
        for server in self.named(name)? {
            server.set_enabled(on).await;
        }
        Ok(())
    }

    pub async fn restart(&self, name: &str) -> Result<()> {
        for server in self.named(name)? {
            server.restart().await;
        }
        Ok(())
    }

    /// Records that the person has approved the tools as they are now.
    pub fn accept(&self, name: &str) -> Result<()> {
        self.named(name)?
            .iter()
            .for_each(|server| server.accept_tools());
        Ok(())
    }

    /// The resources that can be attached to a prompt in this project.
    pub async fn resources(&self, project: &ProjectId) -> Vec<McpResourceView> {
        let servers = self.servers.for_project(project.as_str());
        let ask = |server: Arc<Server>| async move {
            let name = server.key().name.clone();
            let listed = server.resources().await.unwrap_or_default();
            listed
                .into_iter()
                .map(|resource| McpResourceView {
                    server: name.clone(),
                    uri: resource.uri,
                    name: resource.name,
                    description: resource.description,
                    mime: resource.mime,
                })
                .collect::<Vec<_>>()
        };
        join_all(servers.into_iter().map(ask)).await.concat()
    }

    pub async fn read(&self, project: &ProjectId, server: &str, uri: &str) -> Result<Answer> {
        let own = self
            .servers
            .get(&ServerKey::for_project(project.as_str(), server));
        let found = own.or_else(|| self.servers.get(&ServerKey::for_user(server)));
        let found = found.ok_or_else(|| Failed::missing("MCP server", server))?;
        found.start();
        found.wait_until_started().await;
        let read = found.read(uri).await;
        read.map_err(|error| Failed::refused(error.to_string()))
    }

    pub async fn close(&self) {
        self.servers.close().await;
    }

    fn named(&self, name: &str) -> Result<Vec<Arc<Server>>> {
        let mut servers = self.servers.all();
        servers.retain(|server| server.key().name == name);
        if servers.is_empty() {
            return Err(Failed::missing("MCP server", name));
        }
        Ok(servers)
    }
}

/// What is not in the person's config as it is, is the project's, and is confined where a sandbox
/// works. A project's config that says otherwise is trusted with these words.
fn runs_in_sandbox(
    server: &McpServer,
    wanted: Option<bool>,
    person: &[McpServer],
    works: impl FnOnce() -> bool,
) -> bool {
    wanted.unwrap_or_else(|| !person.contains(server) && works())
}

/// The person's servers that run once for all projects.
fn shared(person: &[McpServer]) -> BTreeMap<String, ServerConfig> {
    let mut servers = configs(person, None, |_, sandbox| sandbox == Some(true));
    servers
        .retain(|_, config| !matches!(config.transport, Transport::Local { confined: true, .. }));
    servers
}

/// `root` is the base of relative working directories. `is_confined` says which programs run in the
/// sandbox, by what their config says of it.
fn configs(
    servers: &[McpServer],
    root: Option<&Path>,
    is_confined: impl Fn(&McpServer, Option<bool>) -> bool,
) -> BTreeMap<String, ServerConfig> {
    let config = |server: &McpServer| {
        let transport = match &server.kind {
            McpKind::Stdio {
                command,
                args,
                env,
                cwd,
                sandbox,
            } => Transport::Local {
                command: std::iter::once(command).chain(args).cloned().collect(),
                environment: env.clone(),
                directory: cwd.as_ref().map(|cwd| match root {
                    Some(root) => root.join(cwd),
                    None => cwd.clone(),
                }),
                confined: is_confined(server, *sandbox),
            },
            McpKind::Http { url, headers } => Transport::Remote {
                // An invalid address was reported when the config was read.
                url: Url::parse(url).ok()?,
                headers: headers.clone(),
            },
        };
        let config = ServerConfig {
            transport,
            enabled: server.enabled,
            start_timeout: server.timeout.unwrap_or(DEFAULT_START_TIMEOUT),
        };
        Some((server.name.clone(), config))
    };
    servers.iter().filter_map(config).collect()
}

fn view(server: &Server) -> McpServerView {
    let (status, tools, error) = match server.state() {
        ServerState::Off => (McpStatus::Off, Vec::new(), None),
        ServerState::Idle | ServerState::Starting => (McpStatus::Starting, Vec::new(), None),
        ServerState::Failed(why) => (McpStatus::Failed, Vec::new(), Some(why)),
        ServerState::Ready(live) => {
            let tools: Vec<McpToolView> = live.tools().iter().map(tool_view).collect();
            let changed = tools.iter().any(|tool| tool.changed);
            let status = if changed {
                McpStatus::Changed
            } else {
                McpStatus::Ready
            };
            (status, tools, None)
        }
    };
    let key = server.key();
    McpServerView {
        name: key.name.clone(),
        project_id: key.project.as_deref().and_then(|id| id.parse().ok()),
        address: address(server.config()),
        status,
        tools,
        error,
        log: server.log(),
    }
}

fn tool_view(tool: &lathe_mcp::Tool) -> McpToolView {
    McpToolView {
        name: tool.name.clone(),
        description: tool.description.clone(),
        changed: tool.changed,
    }
}

/// The command or URL for display, without possible secrets: variables, headers, the password
/// and the query of the URL.
fn address(config: &ServerConfig) -> String {
    match &config.transport {
        Transport::Local { command, .. } => command.join(" "),
        Transport::Remote { url, .. } => {
            let mut shown = url.clone();
            shown.set_query(None);
            let _ = shown.set_password(None);
            shown.to_string()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn server(command: &str, sandbox: Option<bool>) -> McpServer {
        McpServer {
            name: "notes".to_owned(),
            kind: McpKind::Stdio {
                command: command.to_owned(),
                args: Vec::new(),
                env: BTreeMap::new(),
                cwd: None,
                sandbox,
            },
            enabled: true,
            timeout: None,
        }
    }

    #[test]
    fn a_projects_server_is_confined_unless_its_config_says_otherwise() {
        let person = [server("notes", None)];
        for (command, sandbox, works, expected) in [
            ("./notes", None, true, true),
            ("./notes", None, false, false),
            ("./notes", Some(false), true, false),
            // Then it does not start where no sandbox works.
            ("./notes", Some(true), false, true),
            ("notes", None, true, false),
        ] {
            let own = server(command, sandbox);
            let confined = runs_in_sandbox(&own, sandbox, &person, || works);
            assert_eq!(confined, expected, "{own:?}, a sandbox works: {works}");
        }
    }
}
