//! Starts a server's program like any command: in the person's login environment without
//! secrets, as a process tree that is terminated as a whole, and in the sandbox if its config says
//! so.

use std::collections::HashMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use async_trait::async_trait;
use lathe_mcp::{ChildProcess, Launch, ProcessHandle, Program};
use lathe_policy::{Freedom, Layers};
use lathe_protocol::Ruleset;
use lathe_tools::environment::Variables;
use lathe_tools::process::{CommandSpec, Run};
use lathe_tools::{Environment, Walls};
use parking_lot::Mutex;

use crate::confinement::{Sandbox, SandboxGrants};

pub struct Launcher {
    pub environment: Arc<Environment>,
    pub sandbox: Arc<Sandbox>,
    pub rules: Arc<ServerRules>,
}

/// The rules that say which files a confined server may read.
#[derive(Default)]
pub struct ServerRules {
    /// The person's settings, for every project.
    pub settings: Mutex<Ruleset>,
    pub projects: Mutex<HashMap<PathBuf, ProjectRules>>,
}

/// The rules of one project.
#[derive(Default, Clone)]
pub struct ProjectRules {
    pub config: Ruleset,
    /// Of a project that is not trusted. They can only restrict.
    pub restrictions: Ruleset,
}

impl ServerRules {
    fn merge(&self, root: &Path) -> Ruleset {
        let project = self.projects.lock().get(root).cloned().unwrap_or_default();
        let layers = Layers {
            freedom: Freedom::default(),
            agent: &[],
            settings: &self.settings.lock(),
            config: &project.config,
            mode: &[],
            overrides: &[],
            session: &[],
            restrictions: [&project.restrictions, &[]],
        };
        layers.merge()
    }
}

#[async_trait]
impl Launch for Launcher {
    async fn launch(&self, program: &Program) -> io::Result<ChildProcess> {
        let Some((name, arguments)) = program.command.split_first() else {
            return Err(io::Error::other("there is no command"));
        };
        let mut variables = self.environment.variables().await.clone();
        variables.extend(program.environment.clone());
        let home = || self.environment.home().map(PathBuf::from);
        let directory = program.directory.clone().or_else(home);
        let walls = match &program.confined_to {
            Some(root) => Some(self.confine(root, &variables).await?),
            None => None,
        };
        let spec = CommandSpec {
            program: &self.environment.program(name).await,
            arguments: arguments.iter().map(String::as_str).collect(),
            directory: &directory.unwrap_or_else(std::env::temp_dir),
            variables: &variables,
            walls,
            watched_since: None,
        };
        let (run, pipes) = self.environment.processes().start_piped(&spec)?;
        Ok(ChildProcess {
            stdin: Box::new(pipes.input),
            stdout: Box::new(pipes.output),
            stderr: Box::new(pipes.errors),
            handle: Box::new(ProcessTree(run)),
        })
    }
}

impl Launcher {
    async fn confine(&self, root: &Path, variables: &Variables) -> io::Result<Arc<dyn Walls>> {
        // Nobody is asked while a server runs, so it reads what needs no question.
        let is_secret = lathe_policy::is_secret(&self.rules.merge(root), &[]);
        let may_read = Arc::new(move |path: &str| !is_secret(path));
        let confined = self
            .sandbox
            .confine(root, SandboxGrants::default(), may_read, variables)
            .await;
        confined.map_err(|why| {
            io::Error::other(format!(
                "it is to run in a sandbox, and there is none: {why}"
            ))
        })
    }
}

struct ProcessTree(Run);

#[async_trait]
impl ProcessHandle for ProcessTree {
    async fn stop(self: Box<Self>) {
        self.0.end().await;
    }
}

#[cfg(all(test, unix))]
#[path = "launcher_tests.rs"]
mod tests;
