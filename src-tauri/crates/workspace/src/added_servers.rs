//! MCP servers that the person sets up in the window.
//!
//! They are stored in a config file of their own: rewriting a hand-written file would lose its
//! comments.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use lathe_protocol::ipc::McpServerInput;
use parking_lot::Mutex;
use serde_json::{Map, Value, json};

use crate::Workspace;
use lathe_files::{ReadError, write_private_file};
use lathe_records::{Failed, Result};

const MAX_BYTES: u64 = 1024 * 1024;

/// Held from reading to writing the file, so that concurrent changes are not lost.
pub(crate) static WRITE_LOCK: Mutex<()> = Mutex::new(());

impl Workspace {
    /// A server for editing. The values of variables and headers are left empty: they may be
    /// secret.
    pub async fn read_mcp(&self, name: &str) -> Result<McpServerInput> {
        let (name, setups) = (name.to_owned(), self.setups().clone());
        let done = tokio::task::spawn_blocking(move || {
            let servers = servers_of(setups.added_file().as_deref())?;
            if let Some(entry) = servers.get(&name) {
                return Ok(without_values(input(entry)));
            }
            let known = setups.read_person().mcp;
            Err(match known.iter().any(|server| server.name == name) {
                true => in_config(&name),
                false => Failed::missing("MCP server", &name),
            })
        });
        done.await
            .unwrap_or_else(|_| Err(Failed::refused("Couldn’t read the servers")))
    }

    /// A variable or header with an empty value keeps its stored value.
    pub async fn save_mcp(&self, name: &str, server: McpServerInput) -> Result<()> {
        check(name, &server)?;
        let name = name.to_owned();
        self.change_servers(move |servers, by_hand| {
            if by_hand.contains(&name) {
                return Err(in_config(&name));
            }
            let before = servers.get(&name).map(input);
            servers.insert(name, entry(with_values_of(server, before)));
            Ok(())
        })
        .await
    }

    pub async fn remove_mcp(&self, name: &str) -> Result<()> {
        let name = name.to_owned();
        self.change_servers(move |servers, by_hand| match servers.remove(&name) {
            Some(_) => Ok(()),
            None if by_hand.contains(&name) => Err(in_config(&name)),
            None => Err(Failed::missing("MCP server", &name)),
        })
        .await
    }

    /// `edit` gets the servers of the file and the names of servers defined in other files.
    async fn change_servers(
        &self,
        edit: impl FnOnce(&mut Map<String, Value>, &[String]) -> Result<()> + Send + 'static,
    ) -> Result<()> {
        let (setups, mcp) = (self.setups().clone(), self.mcp().clone());
        let done = tokio::task::spawn_blocking(move || {
            let _guard = WRITE_LOCK.lock();
            let path = setups.added_file();
            let path = path.ok_or_else(|| Failed::refused("There is no folder for settings"))?;
            let mut file = read(&path)?;
            let servers = file.entry("mcp").or_insert_with(|| json!({}));
            let Value::Object(servers) = servers else {
                return Err(unreadable(&path, "`mcp` is not a table"));
            };
            let known = setups.read_person().mcp.into_iter();
            let by_hand = known.map(|server| server.name);
            let by_hand: Vec<_> = by_hand.filter(|name| !servers.contains_key(name)).collect();
            edit(servers, &by_hand)?;
            write(&path, &Value::Object(file))?;
            // Under the lock: servers are configured in the order in which the file changed.
            mcp.configure_person(&setups.read_person().mcp);
            Ok(())
        });
        done.await
            .unwrap_or_else(|_| Err(Failed::refused("Couldn’t change the servers")))
    }
}

fn check(name: &str, server: &McpServerInput) -> Result<()> {
    let plain = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    if name.is_empty() || !name.chars().all(plain) {
        return Err(Failed::refused(
            "A server's name is made of letters, digits, - and _",
        ));
    }
    match server {
        McpServerInput::Local { command, .. } => match command.first() {
            Some(program) if !program.trim().is_empty() => Ok(()),
            _ => Err(Failed::refused("The command is empty")),
        },
        McpServerInput::Remote { url, .. } => {
            let parsed = url::Url::parse(url).ok();
            let on_the_web = parsed.is_some_and(|url| matches!(url.scheme(), "http" | "https"));
            match on_the_web {
                true => Ok(()),
                false => Err(Failed::refused("The address must be http or https")),
            }
        }
    }
}

/// The inverse of [`entry`].
fn input(entry: &Value) -> McpServerInput {
    let map = |name: &str| serde_json::from_value(entry[name].clone()).unwrap_or_default();
    match entry["url"].as_str() {
        Some(url) => McpServerInput::Remote {
            url: url.to_owned(),
            headers: map("headers"),
        },
        None => McpServerInput::Local {
            command: serde_json::from_value(entry["command"].clone()).unwrap_or_default(),
            environment: map("environment"),
            sandbox: entry["sandbox"].as_bool(),
        },
    }
}

fn values(server: &mut McpServerInput) -> &mut BTreeMap<String, String> {
    match server {
        McpServerInput::Local { environment, .. } => environment,
        McpServerInput::Remote { headers, .. } => headers,
    }
}

fn without_values(mut server: McpServerInput) -> McpServerInput {
    values(&mut server).values_mut().for_each(String::clear);
    server
}

fn with_values_of(mut server: McpServerInput, before: Option<McpServerInput>) -> McpServerInput {
    let Some(mut before) = before else {
        return server;
    };
    let known = values(&mut before);
    for (name, value) in values(&mut server) {
        if value.is_empty()
            && let Some(known) = known.remove(name)
        {
            *value = known;
        }
    }
    server
}

fn servers_of(path: Option<&Path>) -> Result<Map<String, Value>> {
    let mut file = path.map_or_else(|| Ok(Map::new()), read)?;
    match file.remove("mcp") {
        Some(Value::Object(servers)) => Ok(servers),
        _ => Ok(Map::new()),
    }
}

/// In the format of `opencode.json`.
fn entry(server: McpServerInput) -> Value {
    match server {
        McpServerInput::Local {
            command,
            environment,
            sandbox,
        } => {
            let mut entry =
                json!({ "type": "local", "command": command, "environment": environment });
            if let Some(sandbox) = sandbox {
                entry["sandbox"] = sandbox.into();
            }
            entry
        }
        McpServerInput::Remote { url, headers } => {
            json!({ "type": "remote", "url": url, "headers": headers })
        }
    }
}

/// Fails on an unreadable file, so that it is never overwritten.
pub(crate) fn read(path: &Path) -> Result<Map<String, Value>> {
    match lathe_files::read_text(path, MAX_BYTES) {
        Ok(text) => {
            serde_json::from_str(&text).map_err(|error| unreadable(path, &error.to_string()))
        }
        Err(ReadError::Missing) => Ok(Map::new()),
        Err(error) => Err(unreadable(path, &error.to_string())),
    }
}

pub(crate) fn write(path: &Path, file: &Value) -> Result<()> {
    let text = serde_json::to_string_pretty(file).unwrap_or_default();
    let folder = path.parent().map_or(Ok(()), fs::create_dir_all);
    folder
        .and_then(|()| write_private_file(path, text.as_bytes()))
        .map_err(|error| Failed::refused(format!("{} can’t be written: {error}", path.display())))
}

pub(crate) fn unreadable(path: &Path, why: &str) -> Failed {
    Failed::refused(format!("{} can’t be read: {why}", path.display()))
}

fn in_config(name: &str) -> Failed {
    Failed::refused(format!(
        "{name} is set up in a config file; change it there"
    ))
}
