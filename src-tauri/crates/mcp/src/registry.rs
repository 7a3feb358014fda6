//! The set of all servers: those in the user's own config and those of trusted projects.

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use futures::future::join_all;
use parking_lot::Mutex;
use tokio::sync::watch;

use crate::config::ServerConfig;
use crate::decisions::Decisions;
use crate::launch::Launch;
use crate::server::{Server, ServerState};

/// Identifies a server: its name, and the config that names it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ServerKey {
    /// `None` for the user's own config.
    pub project: Option<String>,
    pub name: String,
}

impl ServerKey {
    pub fn for_user(name: &str) -> Self {
        ServerKey {
            project: None,
            name: name.to_owned(),
        }
    }

    pub fn for_project(project: &str, name: &str) -> Self {
        ServerKey {
            project: Some(project.to_owned()),
            name: name.to_owned(),
        }
    }
}

impl fmt::Display for ServerKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.project {
            Some(project) => write!(f, "{project}/{}", self.name),
            None => f.write_str(&self.name),
        }
    }
}

pub struct Servers {
    launch: Arc<dyn Launch>,
    decisions: Arc<Decisions>,
    changes: Arc<watch::Sender<()>>,
    servers: Mutex<BTreeMap<ServerKey, Arc<Server>>>,
}

impl Servers {
    /// `decisions` is the file that stores the user's decisions.
    pub fn new(decisions: PathBuf, launch: Arc<dyn Launch>) -> Self {
        Servers {
            launch,
            decisions: Arc::new(Decisions::new(decisions)),
            changes: Arc::default(),
            servers: Mutex::default(),
        }
    }

    /// Replaces the servers of one config (the user's, or a project's). Removed and changed
    /// servers are stopped; none is started.
    pub fn configure(
        &self,
        project: Option<&str>,
        wanted: BTreeMap<String, ServerConfig>,
        directory: Option<&Path>,
    ) {
        let mut servers = self.servers.lock();
        let mut wanted: BTreeMap<ServerKey, ServerConfig> = wanted
            .into_iter()
            .map(|(name, config)| {
                let project = project.map(str::to_owned);
                (ServerKey { project, name }, config)
            })
            .collect();
        servers.retain(|key, server| {
            let unchanged = key.project.as_deref() != project
                || wanted
                    .get(key)
                    .is_some_and(|config| config == server.config());
            if unchanged {
                wanted.remove(key);
            } else {
                let server = server.clone();
                tokio::spawn(async move { server.stop(ServerState::Off).await });
            }
            unchanged
        });
        for (key, config) in wanted {
            let directory = directory.map(Path::to_owned);
            let (launch, decisions) = (self.launch.clone(), self.decisions.clone());
            let changes = self.changes.clone();
            let server = Server::new(key.clone(), config, directory, launch, decisions, changes);
            servers.insert(key, Arc::new(server));
        }
    }

    /// Notified when the state or the tools of any server change.
    pub fn changes(&self) -> watch::Receiver<()> {
        self.changes.subscribe()
    }

    pub fn get(&self, key: &ServerKey) -> Option<Arc<Server>> {
        self.servers.lock().get(key).cloned()
    }

    /// The user's servers first, then those of projects, each sorted by name.
    pub fn all(&self) -> Vec<Arc<Server>> {
        self.servers.lock().values().cloned().collect()
    }

    /// The user's servers and those of the project, which replace the user's of the same name.
    pub fn for_project(&self, project: &str) -> Vec<Arc<Server>> {
        let mut by_name = BTreeMap::new();
        for (key, server) in self.servers.lock().iter() {
            if key.project.as_deref().is_none_or(|own| own == project) {
                by_name.insert(key.name.clone(), server.clone());
            }
        }
        by_name.into_values().collect()
    }

    /// Stops every server.
    pub async fn close(&self) {
        let all = self.all();
        join_all(all.iter().map(|server| server.stop(ServerState::Off))).await;
    }
}
