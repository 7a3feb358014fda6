//! Typed config, with the problems found in its files.
//!
//! Later files win: the person's global ones, the explicitly named one, then the project's,
//! from its root down to the session's directory. Each file is checked by itself, so that a
//! mistake affects one key only and is reported with its file and key. What a project may
//! configure before it is trusted is decided in [`crate::setup`].

#[cfg(test)]
mod any_text;
mod checks;
mod definition;
mod files;
mod lines;
mod mcp;
mod permission;
mod table_reader;

use std::path::{Path, PathBuf};

use lathe_protocol::Ruleset;
use lathe_protocol::ipc::ConfigProblem;
use serde::Deserialize;
use serde_json::{Map, Value};

pub use checks::{add_lines, has_program, unknown_keys};
pub use definition::Definition;
pub use files::{ConfigFile, ConfigLocations, FileFingerprints, Origin, Sources, read_small};
pub use mcp::{McpKind, McpServer};
pub use permission::{rules, tool_rules};
pub use table_reader::TableReader;

/// The other keys of a config file.
pub const KEYS: [&str; 13] = [
    "$schema",
    "agent",
    "command",
    "compaction",
    "default_agent",
    "instructions",
    "mcp",
    "permission",
    "share",
    "shell",
    "snapshot",
    "tools",
    "webfetch",
];

/// The config keys about models and providers.
pub const MODEL_KEYS: [&str; 5] = [
    "provider",
    "model",
    "small_model",
    "disabled_providers",
    "enabled_providers",
];

/// The valid settings of one config file.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Layer {
    pub rules: Ruleset,
    pub agents: Vec<(String, AgentBlock)>,
    pub commands: Vec<(String, CommandBlock)>,
    pub instructions: Vec<String>,
    /// Untyped, because entries are merged over all files first: one file may disable a server
    /// that another defines.
    pub mcp: Map<String, Value>,
    /// The keys named in [`MODEL_KEYS`].
    pub models: Map<String, Value>,
    pub settings: Settings,
}

/// Single values. `None` where the file has no value.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Settings {
    pub default_agent: Option<String>,
    pub compaction: Option<CompactionBlock>,
    pub share: Option<ShareSetting>,
    pub snapshot: Option<bool>,
    pub webfetch: Option<WebfetchBlock>,
    pub shell: Option<String>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct CompactionBlock {
    pub auto: Option<bool>,
    pub prune: Option<bool>,
}

/// When sessions are shared, or the server that they are shared to.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(untagged)]
pub enum ShareSetting {
    Mode(ShareMode),
    At { url: String },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ShareMode {
    Manual,
    Auto,
    Disabled,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct WebfetchBlock {
    /// Hosts that may be fetched although they are on this machine or a private network.
    pub allowed_hosts: Vec<String>,
}

/// The settings of an agent in one file. `None` leaves the earlier value.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct AgentBlock {
    pub description: Option<String>,
    pub mode: Option<AgentModeName>,
    pub prompt: Option<String>,
    pub model: Option<lathe_protocol::ModelRef>,
    pub variant: Option<String>,
    pub temperature: Option<f64>,
    pub top_p: Option<f64>,
    pub steps: Option<u32>,
    pub color: Option<String>,
    pub disable: Option<bool>,
    pub rules: Ruleset,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum AgentModeName {
    Primary,
    Subagent,
    All,
}

#[derive(Debug, Clone, Default, PartialEq)]
pub struct CommandBlock {
    pub template: String,
    pub description: Option<String>,
    pub hint: Option<String>,
    pub agent: Option<String>,
    pub model: Option<lathe_protocol::ModelRef>,
    pub subtask: Option<bool>,
}

impl Layer {
    /// Reads all known keys. Unknown keys are ignored: other programs share these files.
    pub fn read(file: &ConfigFile, problems: &mut Vec<ConfigProblem>) -> Self {
        let mut reader = TableReader::new(&file.display_path, "", &file.value, problems);
        let mut layer = Layer::default();
        if let Some(tools) = file.value.get("tools") {
            layer.rules.extend(tool_rules(&mut reader, tools));
        }
        if let Some(permission) = file.value.get("permission") {
            layer.rules.extend(rules(&mut reader, permission));
        }
        reader.each("agent", |name, mut reader| {
            let block = AgentBlock::read(&mut reader);
            layer.agents.push((name.to_owned(), block));
        });
        reader.each("command", |name, mut reader| {
            if let Some(block) = CommandBlock::read(&mut reader, None) {
                layer.commands.push((name.to_owned(), block));
            }
        });
        layer.instructions = reader.get("instructions").unwrap_or_default();
        layer.mcp = reader.get("mcp").unwrap_or_default();
        for key in MODEL_KEYS {
            if let Some(value) = file.value.get(key) {
                layer.models.insert(key.to_owned(), value.clone());
            }
        }
        layer.settings = Settings::read(&mut reader);
        layer
    }
}

impl Settings {
    fn read(reader: &mut TableReader<'_>) -> Self {
        Settings {
            default_agent: reader.get("default_agent"),
            compaction: reader.get("compaction"),
            share: reader.get("share"),
            snapshot: reader.get("snapshot"),
            webfetch: reader.get("webfetch"),
            shell: reader.get("shell"),
        }
    }

    /// Values of the later file win.
    pub fn merge(&mut self, later: Settings) {
        let before = std::mem::take(self);
        *self = Settings {
            default_agent: later.default_agent.or(before.default_agent),
            compaction: match (before.compaction, later.compaction) {
                (Some(before), Some(later)) => Some(CompactionBlock {
                    auto: later.auto.or(before.auto),
                    prune: later.prune.or(before.prune),
                }),
                (before, later) => later.or(before),
            },
            share: later.share.or(before.share),
            snapshot: later.snapshot.or(before.snapshot),
            webfetch: match (before.webfetch, later.webfetch) {
                (Some(mut before), Some(later)) => {
                    before.allowed_hosts.extend(later.allowed_hosts);
                    Some(before)
                }
                (before, later) => later.or(before),
            },
            shell: later.shell.or(before.shell),
        };
    }

    /// The keys that are set, for the question whether to trust a project.
    pub fn names(&self) -> Vec<&'static str> {
        let set = [
            ("default_agent", self.default_agent.is_some()),
            ("compaction", self.compaction.is_some()),
            ("share", self.share.is_some()),
            ("snapshot", self.snapshot.is_some()),
            ("webfetch", self.webfetch.is_some()),
            ("shell", self.shell.is_some()),
        ];
        set.into_iter()
            .filter(|(_, set)| *set)
            .map(|(name, _)| name)
            .collect()
    }
}

impl AgentBlock {
    pub fn read(reader: &mut TableReader<'_>) -> Self {
        let mut rules_of = Ruleset::new();
        if let Some(tools) = reader.value("tools") {
            rules_of.extend(tool_rules(reader, &tools));
        }
        if let Some(permission) = reader.value("permission") {
            rules_of.extend(rules(reader, &permission));
        }
        AgentBlock {
            description: reader.get("description"),
            mode: reader.get("mode"),
            prompt: reader.get("prompt"),
            model: reader.model("model"),
            variant: reader.get("variant"),
            temperature: reader.get("temperature"),
            top_p: reader.get("top_p"),
            steps: reader.get("steps").or_else(|| reader.get("maxSteps")),
            color: reader.color("color"),
            disable: reader.get("disable"),
            rules: rules_of,
        }
    }
}

impl CommandBlock {
    /// The template is the body of a Markdown file, or the key `template`.
    pub fn read(reader: &mut TableReader<'_>, body: Option<&str>) -> Option<Self> {
        let template = match body {
            Some(body) => Some(body.to_owned()),
            None => reader.get("template"),
        };
        let template = template.filter(|template| !template.trim().is_empty());
        if template.is_none() {
            reader.problem("template", "a command needs a text to send");
        }
        Some(CommandBlock {
            template: template?,
            description: reader.get("description"),
            hint: reader.get("argument-hint").or_else(|| reader.get("hint")),
            agent: reader.get("agent"),
            model: reader.model("model"),
            subtask: reader.get("subtask"),
        })
    }
}

/// Objects are merged key by key; everything else is replaced.
pub fn merge(into: &mut Value, from: Value) {
    match (into, from) {
        (Value::Object(into), Value::Object(from)) => {
            for (key, value) in from {
                merge(into.entry(key).or_insert(Value::Null), value);
            }
        }
        (into, from) => *into = from,
    }
}

/// The person's config folder, which holds `lathe/` and `opencode/`.
pub fn config_home() -> Option<PathBuf> {
    directories::BaseDirs::new().map(|base| base.config_dir().to_owned())
}

/// The config file from the command line, or from `LATHE_CONFIG`.
pub fn named_file(given: Option<&Path>) -> Option<PathBuf> {
    let from_environment = || std::env::var_os("LATHE_CONFIG").map(PathBuf::from);
    given.map(Path::to_owned).or_else(from_environment)
}

/// The problem that makes that file unusable, if there is one. It should stop the program:
/// running without a config that was asked for is not what the person wants.
pub fn named_problem(given: Option<&Path>) -> Option<ConfigProblem> {
    ConfigLocations::global(None, named_file(given)).named_problem()
}

#[cfg(test)]
mod tests;
