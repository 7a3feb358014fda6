//! MCP servers as config files define them.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::{Map, Value};

use super::TableReader;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct McpServer {
    pub name: String,
    pub kind: McpKind,
    pub enabled: bool,
    pub timeout: Option<Duration>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum McpKind {
    /// A program that is started and talked to over stdin and stdout.
    Stdio {
        command: String,
        args: Vec<String>,
        env: BTreeMap<String, String>,
        cwd: Option<PathBuf>,
        /// Whether it runs in the sandbox of its project, without network. Where nothing says so,
        /// a project's own server does, and one of the person's does not.
        sandbox: Option<bool>,
    },
    Http {
        url: String,
        headers: BTreeMap<String, String>,
    },
}

impl McpServer {
    /// Accepts the form of `opencode.json` (`type` local with one list, or remote), and the form
    /// with separate `command` and `args` that other programs use. An entry with only `enabled`
    /// switches a server of another file and defines none.
    pub fn read(name: &str, reader: &mut TableReader<'_>) -> Option<Self> {
        let kind = match reader.value("url") {
            Some(_) => http(reader)?,
            None if reader.value("command").is_some() => stdio(reader)?,
            None => {
                let only_switched =
                    reader.value("enabled").is_some() && reader.value("type").is_none();
                if !only_switched {
                    reader.problem("command", "a server needs a command or a url");
                }
                return None;
            }
        };
        Some(McpServer {
            name: name.to_owned(),
            kind,
            enabled: reader.get("enabled").unwrap_or(true),
            timeout: reader.get("timeout").map(Duration::from_millis),
        })
    }

    /// Reads all entries of the merged `mcp` table.
    pub fn read_all(
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
                    let mut reader = TableReader::new(&file, &path, entry, problems);
                    servers.extend(McpServer::read(name, &mut reader));
                }
                _ => problems.push(lathe_protocol::ipc::ConfigProblem {
                    file,
                    line: None,
                    key: path,
                    message: "expected a table of settings".to_owned(),
                }),
            }
        }
        servers
    }

    /// The project's files among the command and its arguments.
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

fn stdio(reader: &mut TableReader<'_>) -> Option<McpKind> {
    let words: Vec<String> = match reader.value("command")? {
        Value::String(command) => {
            let mut words = vec![command];
            words.extend(reader.get::<Vec<String>>("args").unwrap_or_default());
            words
        }
        _ => reader.get("command")?,
    };
    let mut words = words.into_iter();
    let Some(command) = words.next().filter(|command| !command.trim().is_empty()) else {
        reader.problem("command", "the command is empty");
        return None;
    };
    let env = reader.get("environment").or_else(|| reader.get("env"));
    Some(McpKind::Stdio {
        command,
        args: words.collect(),
        env: env.unwrap_or_default(),
        cwd: reader.get("cwd"),
        sandbox: reader.get("sandbox"),
    })
}

fn http(reader: &mut TableReader<'_>) -> Option<McpKind> {
    let url: String = reader.get("url")?;
    if !url.starts_with("https://") && !url.starts_with("http://") {
        reader.problem(
            "url",
            format!("expected an http or https address, found {url:?}"),
        );
        return None;
    }
    Some(McpKind::Http {
        url,
        headers: reader.get("headers").unwrap_or_default(),
    })
}
