//! The setup of a project: its config, agents, commands, models and trust.
//!
//! Built from the files when a prompt comes, and cached until one of them changes.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use lathe_protocol::ipc::{ConfigProblem, TrustState, TrustView};
use lathe_protocol::{ModelRef, PermissionMode, Ruleset, UserMessage};
use parking_lot::Mutex;
use serde_json::{Map, Value};

use crate::agents::{Agent, Agents};
use crate::commands::{self, Command};
use crate::config::{
    self, AgentBlock, CommandBlock, ConfigFile, ConfigLocations, Definition, FileFingerprints,
    Layer, McpServer, Origin, Settings, Sources, TableReader, merge,
};
use crate::instructions::InstructionPattern;
use crate::models::Models;
use crate::trust::{TrustEntry, TrustFile, TrustRequest};

pub struct Setup {
    pub agents: Agents,
    pub commands: Vec<Command>,
    pub mcp: Vec<McpServer>,
    pub models: Arc<Models>,
    /// The person's rules, and the project's if it is trusted.
    pub rules: Ruleset,
    /// Rules of a project that is not trusted. They can only restrict.
    pub restrictions: Ruleset,
    pub instructions: Vec<InstructionPattern>,
    pub settings: Settings,
    /// The person's own config, without the project's.
    pub person: PersonConfig,
    pub trust: TrustView,
    pub problems: Vec<ConfigProblem>,
    pub locations: ConfigLocations,
    request: TrustRequest,
}

#[derive(Debug, Clone, Default, PartialEq)]
pub struct PersonConfig {
    pub mcp: Vec<McpServer>,
    pub settings: Settings,
}

impl Setup {
    /// The message's own choice, else the agent's, else the default.
    pub async fn model_for(&self, user: &UserMessage, agent: &Agent) -> ModelRef {
        match user.model.clone().or_else(|| agent.model.clone()) {
            Some(model) => model,
            None => self.models.default().await,
        }
    }

    pub fn command(&self, name: &str) -> Option<&Command> {
        self.commands.iter().find(|command| command.name == name)
    }
}

/// The setups of all projects.
pub struct Setups {
    home: Option<PathBuf>,
    named: Option<PathBuf>,
    trust: Arc<TrustFile>,
    models: Arc<Models>,
    cache: Mutex<HashMap<ConfigLocations, (Fingerprint, Arc<Setup>)>>,
}

/// State of the inputs of a setup. If it differs, the setup is out of date.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Fingerprint {
    files: FileFingerprints,
    servers: usize,
}

impl Setups {
    pub fn new(
        home: Option<PathBuf>,
        named: Option<PathBuf>,
        data_dir: &Path,
        models: Arc<Models>,
    ) -> Self {
        Setups {
            home,
            named,
            trust: Arc::new(TrustFile::new(data_dir)),
            models,
            cache: Mutex::default(),
        }
    }

    /// The setup for work in `directory`, built again if one of its files has changed.
    pub async fn resolve(&self, directory: &Path, worktree: &Path) -> Arc<Setup> {
        let locations = ConfigLocations {
            home: self.home.clone(),
            named: self.named.clone(),
            directory: directory.to_owned(),
            worktree: worktree.to_owned(),
        };
        let known = self.cache.lock().get(&locations).cloned();
        let (trust, models) = (self.trust.clone(), self.models.clone());
        let read_from = locations.clone();
        let built = tokio::task::spawn_blocking(move || {
            let watched = known
                .as_ref()
                .map(|(_, setup)| setup.request.watched.clone());
            let current = fingerprint(&read_from, watched.unwrap_or_default(), &trust, &models);
            match known {
                Some((before, setup)) if before == current => Err(setup),
                // The fingerprint is older than the setup, so a file that changes in between
                // is noticed next time. So are files that the new config refers to.
                _ => Ok((current, Arc::new(build(read_from, &trust, &models)))),
            }
        });
        match built.await {
            Ok(Err(setup)) => setup,
            Ok(Ok((fingerprint, setup))) => {
                self.cache
                    .lock()
                    .insert(locations, (fingerprint, setup.clone()));
                setup
            }
            Err(_) => Arc::new(self.without_config(locations)),
        }
    }

    /// Reads the person's own config.
    pub fn read_person(&self) -> PersonConfig {
        read_person_config(self.home.clone(), self.named.clone()).1
    }

    /// The config file that the program itself writes.
    pub fn added_file(&self) -> Option<PathBuf> {
        ConfigLocations::global(self.home.clone(), self.named.clone()).added()
    }

    /// Trusts the files with this hash; `None` withdraws the trust.
    pub fn set_trust(&self, worktree: &Path, hash: Option<String>) -> std::io::Result<()> {
        self.trust.change(worktree, |entry| entry.hash = hash)
    }

    /// Trusts what the repository makes git run in this checkout, if it has this hash.
    pub fn set_git_trust(&self, checkout: &Path, hash: Option<String>) -> std::io::Result<()> {
        self.trust.change(checkout, |entry| entry.git = hash)
    }

    /// What the person decided about a project, as it is now and not when its setup was resolved.
    pub fn decided(&self, worktree: &Path) -> TrustEntry {
        self.trust.get(worktree)
    }

    pub fn set_edits(&self, worktree: &Path, allow: bool) -> std::io::Result<()> {
        self.trust.change(worktree, |entry| entry.edits = allow)
    }

    pub fn set_mode(&self, worktree: &Path, mode: PermissionMode) -> std::io::Result<()> {
        self.trust.change(worktree, |entry| entry.mode = mode)
    }

    /// The setup when reading the files has panicked: built-in values only.
    fn without_config(&self, locations: ConfigLocations) -> Setup {
        SetupBuilder::new().finish(
            locations,
            TrustRequest::collect(&Sources::default(), &[], Path::new("")),
            &self.models,
        )
    }
}

fn fingerprint(
    locations: &ConfigLocations,
    watched: Vec<PathBuf>,
    trust: &TrustFile,
    models: &Models,
) -> Fingerprint {
    let mut files = locations.watched();
    files.push(trust.path().to_owned());
    files.extend(watched);
    Fingerprint {
        files: FileFingerprints::read(files),
        servers: models.discovered_count(),
    }
}

fn build(locations: ConfigLocations, trust: &TrustFile, models: &Arc<Models>) -> Setup {
    let mut sources = locations.read();
    let mut ignored = Vec::new();
    let own = sources
        .files
        .iter()
        .filter(|file| file.origin == Origin::Project);
    let layers: Vec<_> = own
        .map(|file| (file, Layer::read(file, &mut ignored)))
        .collect();
    let request = TrustRequest::collect(&sources, &layers, &locations.worktree);
    let decided = trust.get(&locations.worktree);
    let state = request.state(&decided);
    let mut builder = SetupBuilder::new();
    builder.trust = TrustView {
        state,
        wants: request.wants.clone(),
        hash: request.hash.clone(),
    };
    builder.problems.append(&mut sources.problems);
    let is_trusted = state == TrustState::Trusted;
    for file in &mut sources.files {
        let substituted = match file.origin == Origin::Project && is_trusted {
            true => file.substitute(),
            false => Ok(()),
        };
        builder.problems.extend(substituted.err());
    }
    for origin in [Origin::Person, Origin::Project] {
        if origin == Origin::Project {
            builder.remember_known_names();
        }
        let is_trusted = origin == Origin::Person || is_trusted;
        for file in sources.files.iter().filter(|file| file.origin == origin) {
            builder.layer(file, &locations.worktree, is_trusted);
        }
        for agent in sources.agents.iter().filter(|one| one.origin == origin) {
            builder.agent_file(agent, is_trusted);
        }
        for command in sources.commands.iter().filter(|one| one.origin == origin) {
            builder.command_file(command, is_trusted);
        }
        if origin == Origin::Person {
            builder.person = builder.person_config();
        }
    }
    builder.finish(locations, request, models)
}

/// Collects the layers of a setup.
struct SetupBuilder {
    agents: Agents,
    commands: Vec<Command>,
    rules: Ruleset,
    restrictions: Ruleset,
    instructions: Vec<InstructionPattern>,
    settings: Settings,
    person: PersonConfig,
    mcp: Map<String, Value>,
    models: Map<String, Value>,
    trust: TrustView,
    problems: Vec<ConfigProblem>,
    /// Which file set a key, for messages: the first parts of the key, and the file. Later files
    /// come last.
    key_files: Vec<(String, String)>,
    /// The texts of all files, to find lines in them.
    texts: HashMap<String, String>,
    /// The agents that commands name: file, key and agent.
    needed_agents: Vec<(String, String, String)>,
    /// The names defined before the project's own files were read.
    known_agents: Vec<String>,
    known_commands: Vec<String>,
}

impl SetupBuilder {
    fn new() -> Self {
        SetupBuilder {
            agents: Agents::built_in(),
            commands: commands::built_in(),
            rules: Ruleset::new(),
            restrictions: Ruleset::new(),
            instructions: Vec::new(),
            settings: Settings::default(),
            person: PersonConfig::default(),
            mcp: Map::new(),
            models: Map::new(),
            trust: TrustView {
                state: TrustState::Nothing,
                wants: Vec::new(),
                hash: String::new(),
            },
            problems: Vec::new(),
            key_files: Vec::new(),
            texts: HashMap::new(),
            needed_agents: Vec::new(),
            known_agents: Vec::new(),
            known_commands: Vec::new(),
        }
    }

    /// Must run before the project's files are read.
    fn remember_known_names(&mut self) {
        let agents = self.agents.all().iter();
        self.known_agents = agents.map(|agent| agent.name.clone()).collect();
        let commands = self.commands.iter();
        self.known_commands = commands.map(|command| command.name.clone()).collect();
    }

    fn layer(&mut self, file: &ConfigFile, worktree: &Path, is_trusted: bool) {
        self.texts
            .insert(file.display_path.clone(), file.text.clone());
        self.problems.extend(config::unknown_keys(file));
        let layer = Layer::read(file, &mut self.problems);
        for name in layer.settings.names() {
            self.key_files
                .push((name.to_owned(), file.display_path.clone()));
        }
        for (name, block) in &layer.commands {
            let key = format!("command.{name}.agent");
            self.needs_agent(&file.display_path, key, block);
        }
        for (name, block) in layer.agents {
            self.agent(&name, block, is_trusted);
        }
        for (name, block) in layer.commands {
            self.command(&name, block, is_trusted);
        }
        if !is_trusted {
            self.restrictions.extend(layer.rules);
            return;
        }
        self.rules.extend(layer.rules);
        self.settings.merge(layer.settings);
        let folder = file.instruction_folder(worktree);
        let named = layer
            .instructions
            .into_iter()
            .map(|pattern| InstructionPattern {
                folder: folder.to_owned(),
                pattern,
            });
        self.instructions.extend(named);
        for (table, from, key) in [
            (&mut self.mcp, layer.mcp, "mcp"),
            (&mut self.models, layer.models, ""),
        ] {
            for (name, value) in from {
                let path = [key, &name].join(".").trim_start_matches('.').to_owned();
                self.key_files.push((path, file.display_path.clone()));
                merge(table.entry(name).or_insert(Value::Null), value);
            }
        }
    }

    fn agent_file(&mut self, file: &Definition, is_trusted: bool) {
        let mut reader = TableReader::new(&file.file, "", &file.front_matter, &mut self.problems);
        let mut block = AgentBlock::read(&mut reader);
        self.texts.insert(file.file.clone(), file.head.clone());
        if !file.body.is_empty() {
            block.prompt = Some(file.body.clone());
        }
        self.agent(&file.name, block, is_trusted);
    }

    fn command_file(&mut self, file: &Definition, is_trusted: bool) {
        let mut reader = TableReader::new(&file.file, "", &file.front_matter, &mut self.problems);
        self.texts.insert(file.file.clone(), file.head.clone());
        if let Some(block) = CommandBlock::read(&mut reader, Some(&file.body)) {
            self.needs_agent(&file.file, "agent".to_owned(), &block);
            self.command(&file.name, block, is_trusted);
        }
    }

    fn needs_agent(&mut self, file: &str, key: String, command: &CommandBlock) {
        if let Some(agent) = command.agent.clone() {
            self.needed_agents.push((file.to_owned(), key, agent));
        }
    }

    /// The problems that only show when everything is read.
    fn check_names(&mut self, file_of: impl Fn(&str) -> String) {
        let mut needed = std::mem::take(&mut self.needed_agents);
        if let Some(agent) = self.settings.default_agent.clone() {
            let key = "default_agent".to_owned();
            needed.push((file_of(&key), key, agent));
        }
        let mut add = |file: String, key: String, message: String| {
            let line = None;
            self.problems.push(ConfigProblem {
                file,
                line,
                key,
                message,
            });
        };
        for (file, key, agent) in needed {
            if self.agents.find(&agent).is_none() {
                add(file, key, format!("there is no agent named {agent:?}"));
            }
        }
        if let Some(shell) = self.settings.shell.as_deref()
            && !config::has_program(shell)
        {
            let message = format!("there is no program {shell:?}");
            add(file_of("shell"), "shell".to_owned(), message);
        }
    }

    fn agent(&mut self, name: &str, block: AgentBlock, is_trusted: bool) {
        match is_trusted {
            true => self.agents.apply(name, block),
            false => {
                let is_own = !self.known_agents.iter().any(|known| known == name);
                self.agents.apply_untrusted(name, block, is_own);
            }
        }
    }

    fn command(&mut self, name: &str, block: CommandBlock, is_trusted: bool) {
        let command = match is_trusted {
            true => Command::new(name, block),
            // An untrusted project must not change what a known command does.
            false if self.known_commands.iter().any(|known| known == name) => return,
            false => Command::untrusted(name, block),
        };
        match self.commands.iter_mut().find(|known| known.name == name) {
            Some(known) => *known = command,
            None => self.commands.push(command),
        }
    }

    /// Problems are ignored here: `finish` reports them for the merged config.
    fn person_config(&self) -> PersonConfig {
        PersonConfig {
            mcp: McpServer::read_all(&self.mcp, |_| String::new(), &mut Vec::new()),
            settings: self.settings.clone(),
        }
    }

    fn finish(
        mut self,
        locations: ConfigLocations,
        request: TrustRequest,
        models: &Arc<Models>,
    ) -> Setup {
        let key_files = std::mem::take(&mut self.key_files);
        let file_of = |key: &str| {
            let key_files = key_files
                .iter()
                .rev()
                .find(|(path, _)| key.starts_with(path.as_str()));
            key_files.map(|(_, file)| file.clone()).unwrap_or_default()
        };
        let server_file = |name: &str| file_of(&format!("mcp.{name}"));
        let mcp = McpServer::read_all(&self.mcp, server_file, &mut self.problems);
        let own_models = std::mem::take(&mut self.models);
        let models = models.with_config(Value::Object(own_models));
        let wrong = models.problems().iter().map(|problem| ConfigProblem {
            file: file_of(&problem.path),
            line: None,
            key: problem.path.clone(),
            message: problem.message.clone(),
        });
        self.problems.extend(wrong);
        self.check_names(file_of);
        config::add_lines(&mut self.problems, &self.texts);
        self.agents.set_default(self.settings.default_agent.clone());
        Setup {
            agents: self.agents,
            commands: self.commands,
            mcp,
            models,
            rules: self.rules,
            restrictions: self.restrictions,
            instructions: self.instructions,
            settings: self.settings,
            person: self.person,
            trust: self.trust,
            problems: self.problems,
            locations,
            request,
        }
    }
}

/// Reads the person's model config and their other settings, for the start of the program.
pub fn read_person_config(home: Option<PathBuf>, named: Option<PathBuf>) -> (Value, PersonConfig) {
    let locations = ConfigLocations::global(home, named);
    let sources = locations.read();
    let mut builder = SetupBuilder::new();
    for file in &sources.files {
        builder.layer(file, &locations.worktree, true);
    }
    let person = builder.person_config();
    (Value::Object(builder.models), person)
}
