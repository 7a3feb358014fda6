//! A server whose start fails in an unexpected way.

use std::collections::BTreeMap;
use std::io;
use std::time::Duration;

use async_trait::async_trait;

use super::*;
use crate::config::Transport;
use crate::launch::{ChildProcess, Program};

struct Faulty;

#[async_trait]
impl Launch for Faulty {
    async fn launch(&self, _program: &Program) -> io::Result<ChildProcess> {
        panic!("a fault of the program")
    }
}

#[tokio::test]
async fn a_fault_in_the_start_of_a_server_does_not_leave_it_starting() {
    let folder = tempfile::tempdir().unwrap();
    let config = ServerConfig {
        transport: Transport::Local {
            command: vec!["server".to_owned()],
            environment: BTreeMap::new(),
            directory: None,
            confined: false,
        },
        enabled: true,
        start_timeout: Duration::from_secs(60),
    };
    let server = Arc::new(Server::new(
        ServerKey::for_user("s"),
        config,
        None,
        Arc::new(Faulty),
        Arc::new(Decisions::new(folder.path().join("mcp.json"))),
        Arc::default(),
    ));
    server.start();
    let waiting = tokio::time::timeout(Duration::from_secs(20), server.wait_until_started());
    let state = waiting.await.expect("the server stays starting");
    assert!(matches!(state, ServerState::Failed(why) if why == FAULT));
}
