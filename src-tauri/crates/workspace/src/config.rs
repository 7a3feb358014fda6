//! What the config files say, typed, with what is wrong in them.
//!
//! Later files win: the person's global ones, the one they named, then the project's, from
//! its root down to where the session works. Each file is read and checked by itself, so
//! that a mistake costs one key and is reported with its place. What a project may say
//! before it is trusted is decided in [`crate::trust`].

mod definition;
mod files;
mod mcp;
mod permission;
mod reading;

use std::path::{Path, PathBuf};

use lathe_protocol::Ruleset;
use lathe_protocol::ipc::ConfigProblem;
use serde::Deserialize;
use serde_json::{Map, Value};

pub use definition::Definition;
pub use files::{ConfigFile, Origin, Places, Sources, Stamp, read_small};
pub use mcp::{McpKind, McpServer};
pub use permission::{rules, tool_rules};
pub use reading::Reading;

/// The keys that say which models there are and which to use.
pub const MODEL_KEYS: [&str; 5] = [
    "provider",
    "model",
    "small_model",
    "disabled_providers",
    "enabled_providers",
];

/// One file, read as far as it could be.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Layer {
    pub rules: Ruleset,
    pub agents: Vec<(String, AgentBlock)>,
    pub commands: Vec<(String, CommandBlock)>,
    pub instructions: Vec<String>,
    /// Merged over all files before it is typed: one file may switch off what another added.
    pub mcp: Map<String, Value>,
    /// The keys named in [`MODEL_KEYS`].
    pub models: Map<String, Value>,
    pub settings: Settings,
}

/// Single values; nothing where the file says nothing.
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

/// Whether sessions may be shared, or the server they are sent to.
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
    /// Hosts that may be fetched though they are on this machine or its network.
    pub allowed_hosts: Vec<String>,
}

/// An agent as a file describes it; what it leaves open stays as it was.
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
    /// Reads every key that is known; others are somebody else's.
    pub fn read(file: &ConfigFile, problems: &mut Vec<ConfigProblem>) -> Self {
        let mut reading = Reading::new(&file.shown, "", &file.value, problems);
        let mut layer = Layer::default();
        if let Some(tools) = file.value.get("tools") {
            layer.rules.extend(tool_rules(&mut reading, tools));
        }
        if let Some(permission) = file.value.get("permission") {
            layer.rules.extend(rules(&mut reading, permission));
        }
        reading.each("agent", |name, mut reading| {
            let block = AgentBlock::read(&mut reading);
            layer.agents.push((name.to_owned(), block));
        });
        reading.each("command", |name, mut reading| {
            if let Some(block) = CommandBlock::read(&mut reading, None) {
                layer.commands.push((name.to_owned(), block));
            }
        });
        layer.instructions = reading.get("instructions").unwrap_or_default();
        layer.mcp = reading.get("mcp").unwrap_or_default();
        for key in MODEL_KEYS {
            if let Some(value) = file.value.get(key) {
                layer.models.insert(key.to_owned(), value.clone());
            }
        }
        layer.settings = Settings::read(&mut reading);
        layer
    }
}

impl Settings {
    fn read(reading: &mut Reading<'_>) -> Self {
        Settings {
            default_agent: reading.get("default_agent"),
            compaction: reading.get("compaction"),
            share: reading.get("share"),
            snapshot: reading.get("snapshot"),
            webfetch: reading.get("webfetch"),
            shell: reading.get("shell"),
        }
    }

    /// What the later file says counts.
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

    /// The keys that are set, for people who decide whether to trust them.
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
    pub fn read(reading: &mut Reading<'_>) -> Self {
        let mut rules_of = Ruleset::new();
        if let Some(tools) = reading.value("tools") {
            rules_of.extend(tool_rules(reading, &tools));
        }
        if let Some(permission) = reading.value("permission") {
            rules_of.extend(rules(reading, &permission));
        }
        AgentBlock {
            description: reading.get("description"),
            mode: reading.get("mode"),
            prompt: reading.get("prompt"),
            model: reading.model("model"),
            variant: reading.get("variant"),
            temperature: reading.get("temperature"),
            top_p: reading.get("top_p"),
            steps: reading.get("steps").or_else(|| reading.get("maxSteps")),
            color: reading.color("color"),
            disable: reading.get("disable"),
            rules: rules_of,
        }
    }
}

impl CommandBlock {
    /// The template is the body of a Markdown file, or a key of its own.
    pub fn read(reading: &mut Reading<'_>, body: Option<&str>) -> Option<Self> {
        let template = match body {
            Some(body) => Some(body.to_owned()),
            None => reading.get("template"),
        };
        let template = template.filter(|template| !template.trim().is_empty());
        if template.is_none() {
            reading.problem("template", "a command needs a text to send");
        }
        Some(CommandBlock {
            template: template?,
            description: reading.get("description"),
            hint: reading.get("argument-hint").or_else(|| reading.get("hint")),
            agent: reading.get("agent"),
            model: reading.model("model"),
            subtask: reading.get("subtask"),
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

/// Where the person's own config lives: the folder that holds `lathe/` and `opencode/`.
pub fn config_home() -> Option<PathBuf> {
    directories::BaseDirs::new().map(|base| base.config_dir().to_owned())
}

/// What `LATHE_CONFIG` names, or the command line.
pub fn named_file(given: Option<&Path>) -> Option<PathBuf> {
    let from_environment = || std::env::var_os("LATHE_CONFIG").map(PathBuf::from);
    given.map(Path::to_owned).or_else(from_environment)
}

/// Why nothing of that file can be used, if so it is. A person who named it meant it, and the
/// rest of the config without it is not what they asked for.
pub fn named_problem(given: Option<&Path>) -> Option<ConfigProblem> {
    let places = Places {
        home: None,
        named: named_file(given),
        directory: PathBuf::new(),
        worktree: PathBuf::new(),
    };
    places.named_problem()
}

#[cfg(test)]
mod tests;
