//! Starts a server's program like any command: in the person's login environment without
//! secrets, as a process tree that is terminated as a whole.

use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use async_trait::async_trait;
use lathe_mcp::{ChildProcess, Launch, ProcessHandle, Program};
use lathe_tools::Environment;
use lathe_tools::process::{CommandSpec, Run};

pub struct Launcher {
    pub environment: Arc<Environment>,
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
        let spec = CommandSpec {
            program: &self.environment.program(name).await,
            arguments: arguments.iter().map(String::as_str).collect(),
            directory: &directory.unwrap_or_else(std::env::temp_dir),
            variables: &variables,
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

struct ProcessTree(Run);

#[async_trait]
impl ProcessHandle for ProcessTree {
    async fn stop(self: Box<Self>) {
        self.0.end().await;
    }
}
