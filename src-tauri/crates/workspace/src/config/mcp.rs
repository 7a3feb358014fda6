//! The servers that bring tools of their own.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::{Map, Value};

use super::Reading;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct McpServer {
    pub name: String,
    pub kind: McpKind,
    pub enabled: bool,
    pub timeout: Option<Duration>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum McpKind {
    /// A program that is started and spoken to over its pipes.
    Stdio {
        command: String,
        args: Vec<String>,
        env: BTreeMap<String, String>,
        cwd: Option<PathBuf>,
    },
    Http {
        url: String,
        headers: BTreeMap<String, String>,
    },
}

impl McpServer {
    /// As `opencode.json` has it (`type` local with one list, or remote), or with a `command`
    /// and its `args` apart, as others do. An entry that only switches is nobody's server.
    pub fn read(name: &str, reading: &mut Reading<'_>) -> Option<Self> {
        let kind = match reading.value("url") {
            Some(_) => http(reading)?,
            None if reading.value("command").is_some() => stdio(reading)?,
            None => {
                let only_switched =
                    reading.value("enabled").is_some() && reading.value("type").is_none();
                if !only_switched {
                    reading.problem("command", "a server needs a command or a url");
                }
                return None;
            }
        };
        Some(McpServer {
            name: name.to_owned(),
            kind,
            enabled: reading.get("enabled").unwrap_or(true),
            timeout: reading.get("timeout").map(Duration::from_millis),
        })
    }

    /// The entries of a merged `mcp` table.
    pub fn all(
        table: &Map<String, Value>,
        file_of: impl Fn(&str) -> String,
        problems: &mut Vec<lathe_protocol::ipc::ConfigProblem>,
    ) -> Vec<McpServer> {
        let mut servers = Vec::new();
        for (name, entry) in table {
            let file = file_of(name);
            let path = format!("mcp.{name}");
            match entry {
                Value::Object(entry) => {
                    let mut reading = Reading::new(&file, &path, entry, problems);
                    servers.extend(McpServer::read(name, &mut reading));
                }
                _ => problems.push(lathe_protocol::ipc::ConfigProblem {
                    file,
                    key: path,
                    message: "expected a table of settings".to_owned(),
                }),
            }
        }
        servers
    }

    /// Files of the project that the command runs or is given.
    pub fn project_files(&self, root: &Path) -> Vec<PathBuf> {
        let McpKind::Stdio {
            command, args, cwd, ..
        } = &self.kind
        else {
            return Vec::new();
        };
        let from = cwd.as_ref().map_or(root.to_owned(), |cwd| root.join(cwd));
        let words = std::iter::once(command).chain(args);
        let files = words
            .map(|word| from.join(word))
            .filter(|path| path.is_file());
        files.filter(|path| path.starts_with(root)).collect()
    }
}

fn stdio(reading: &mut Reading<'_>) -> Option<McpKind> {
    let words: Vec<String> = match reading.value("command")? {
        Value::String(command) => {
            let mut words = vec![command];
            words.extend(reading.get::<Vec<String>>("args").unwrap_or_default());
            words
        }
        _ => reading.get("command")?,
    };
    let mut words = words.into_iter();
    let Some(command) = words.next().filter(|command| !command.trim().is_empty()) else {
        reading.problem("command", "the command is empty");
        return None;
    };
    let env = reading.get("environment").or_else(|| reading.get("env"));
    Some(McpKind::Stdio {
        command,
        args: words.collect(),
        env: env.unwrap_or_default(),
        cwd: reading.get("cwd"),
    })
}

fn http(reading: &mut Reading<'_>) -> Option<McpKind> {
    let url: String = reading.get("url")?;
    if !url.starts_with("https://") && !url.starts_with("http://") {
        reading.problem(
            "url",
            format!("expected an http or https address, found {url:?}"),
        );
        return None;
    }
    Some(McpKind::Http {
        url,
        headers: reading.get("headers").unwrap_or_default(),
    })
}
