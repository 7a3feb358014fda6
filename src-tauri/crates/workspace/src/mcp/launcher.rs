//! Starts a server's program as every command of the person's is started: in their login
//! environment without secrets, in a tree that is ended as a whole.

use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use async_trait::async_trait;
use lathe_mcp::{ChildProcess, Launch, ProcessHandle, Program};
use lathe_tools::Environment;
use lathe_tools::process::{Order, Run};

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
        let order = Order {
            program: &self.environment.program(name).await,
            arguments: arguments.iter().map(String::as_str).collect(),
            directory: &directory.unwrap_or_else(std::env::temp_dir),
            variables: &variables,
        };
        let (run, pipes) = self.environment.processes().start_piped(&order)?;
        Ok(ChildProcess {
            stdin: Box::new(pipes.input),
            stdout: Box::new(pipes.output),
            stderr: Box::new(pipes.errors),
            handle: Box::new(Tree(run)),
        })
    }
}

struct Tree(Run);

#[async_trait]
impl ProcessHandle for Tree {
    async fn stop(self: Box<Self>) {
        self.0.end().await;
    }
}
