//! All servers there are: the person's own and those of trusted projects.

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use futures::future::join_all;
use parking_lot::Mutex;
use tokio::sync::watch;

use crate::config::ServerConfig;
use crate::launch::Launch;
use crate::memory::Memory;
use crate::server::{Server, State};

/// A server by its name and by whose config names it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ServerKey {
    /// Nothing: the person's own config.
    pub project: Option<String>,
    pub name: String,
}

impl ServerKey {
    pub fn of_user(name: &str) -> Self {
        ServerKey {
            project: None,
            name: name.to_owned(),
        }
    }

    pub fn of_project(project: &str, name: &str) -> Self {
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
    memory: Arc<Memory>,
    news: Arc<watch::Sender<()>>,
    all: Mutex<BTreeMap<ServerKey, Arc<Server>>>,
}

impl Servers {
    /// `memory` is the file in which the person's decisions are kept.
    pub fn new(memory: PathBuf, launch: Arc<dyn Launch>) -> Self {
        Servers {
            launch,
            memory: Arc::new(Memory::new(memory)),
            news: Arc::default(),
            all: Mutex::default(),
        }
    }

    /// Makes the servers of one config (the person's, or a project's) exactly these. Nothing
    /// is started; what is gone or different is ended.
    pub fn configure(
        &self,
        project: Option<&str>,
        wanted: BTreeMap<String, ServerConfig>,
        directory: Option<&Path>,
    ) {
        let mut all = self.all.lock();
        let mut wanted: BTreeMap<ServerKey, ServerConfig> = wanted
            .into_iter()
            .map(|(name, config)| {
                let project = project.map(str::to_owned);
                (ServerKey { project, name }, config)
            })
            .collect();
        all.retain(|key, server| {
            let stays = key.project.as_deref() != project
                || wanted
                    .get(key)
                    .is_some_and(|config| config == server.config());
            if stays {
                wanted.remove(key);
            } else {
                let server = server.clone();
                tokio::spawn(async move { server.stop(State::Off).await });
            }
            stays
        });
        for (key, config) in wanted {
            let directory = directory.map(Path::to_owned);
            let (launch, memory) = (self.launch.clone(), self.memory.clone());
            let news = self.news.clone();
            let server = Server::new(key.clone(), config, directory, launch, memory, news);
            all.insert(key, Arc::new(server));
        }
    }

    /// Told when the state or the tools of any server have changed.
    pub fn news(&self) -> watch::Receiver<()> {
        self.news.subscribe()
    }

    pub fn get(&self, key: &ServerKey) -> Option<Arc<Server>> {
        self.all.lock().get(key).cloned()
    }

    /// The person's first, then those of projects, by name.
    pub fn all(&self) -> Vec<Arc<Server>> {
        self.all.lock().values().cloned().collect()
    }

    /// The person's and the project's own; of one name the project's counts.
    pub fn of(&self, project: &str) -> Vec<Arc<Server>> {
        let mut by_name = BTreeMap::new();
        for (key, server) in self.all.lock().iter() {
            if key.project.as_deref().is_none_or(|own| own == project) {
                by_name.insert(key.name.clone(), server.clone());
            }
        }
        by_name.into_values().collect()
    }

    /// Ends every server.
    pub async fn close(&self) {
        let all = self.all();
        join_all(all.iter().map(|server| server.stop(State::Off))).await;
    }
}
