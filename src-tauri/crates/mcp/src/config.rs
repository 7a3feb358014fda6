//! The configuration of one server.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use url::Url;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerConfig {
    pub transport: Transport,
    pub enabled: bool,
    /// Limit for the whole start: launching, connecting and listing the tools.
    pub start_timeout: Duration,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Transport {
    /// A program that speaks over its standard input and output.
    Local {
        /// The program, then its arguments.
        command: Vec<String>,
        environment: BTreeMap<String, String>,
        /// `None` for the folder of the config that names the server.
        directory: Option<PathBuf>,
        /// Whether it may reach only the project that it belongs to.
        confined: bool,
    },
    /// A server that speaks over streamable HTTP.
    Remote {
        url: Url,
        headers: BTreeMap<String, String>,
    },
}
