//! What holds in a project right now: its config, agents, commands, models and trust.
//!
//! Put together from the files when a prompt comes, and kept until one of them changes.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use lathe_protocol::ipc::{ConfigProblem, TrustState, TrustView};
use lathe_protocol::{ModelRef, Ruleset, UserMessage};
use parking_lot::Mutex;
use serde_json::{Map, Value};

use crate::agents::{Agent, Agents};
use crate::commands::{self, Command};
use crate::config::{
    AgentBlock, CommandBlock, ConfigFile, Definition, Layer, McpServer, Origin, Places, Reading,
    Settings, Sources, Stamp, merge,
};
use crate::instructions::NamedInstructions;
use crate::models::Models;
use crate::trust::{Request, TrustFile};

pub struct Setup {
    pub agents: Agents,
    pub commands: Vec<Command>,
    pub mcp: Vec<McpServer>,
    pub models: Arc<Models>,
    /// The person's rules, and the project's if it is trusted.
    pub rules: Ruleset,
    /// What a project that is not trusted wishes: it can only take away.
    pub wishes: Ruleset,
    /// Edits in this project need no question.
    pub edits: bool,
    pub instructions: Vec<NamedInstructions>,
    pub settings: Settings,
    /// What only the person says, whatever the project.
    pub person: Person,
    pub trust: TrustView,
    pub problems: Vec<ConfigProblem>,
    pub places: Places,
    request: Request,
}

#[derive(Debug, Clone, Default, PartialEq)]
pub struct Person {
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
    known: Mutex<HashMap<Places, (Look, Arc<Setup>)>>,
}

/// What the files looked like when the setup was made.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Look {
    files: Stamp,
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
            known: Mutex::default(),
        }
    }

    pub async fn of(&self, directory: &Path, worktree: &Path) -> Arc<Setup> {
        let places = Places {
            home: self.home.clone(),
            named: self.named.clone(),
            directory: directory.to_owned(),
            worktree: worktree.to_owned(),
        };
        let known = self.known.lock().get(&places).cloned();
        let (trust, models) = (self.trust.clone(), self.models.clone());
        let looked = places.clone();
        let made = tokio::task::spawn_blocking(move || {
            let watched = known
                .as_ref()
                .map(|(_, setup)| setup.request.watched.clone());
            let look = look(&looked, watched.unwrap_or_default(), &trust, &models);
            match known {
                Some((before, setup)) if before == look => Err(setup),
                // The look is from before the reading: a file that changes in between is
                // seen as changed next time, and so is what the new files refer to.
                _ => Ok((look, Arc::new(make(looked, &trust, &models)))),
            }
        });
        match made.await {
            Ok(Err(setup)) => setup,
            Ok(Ok((look, setup))) => {
                self.known.lock().insert(places, (look, setup.clone()));
                setup
            }
            Err(_) => Arc::new(self.bare(places)),
        }
    }

    /// What only the person says, as the files are now.
    pub fn person(&self) -> Person {
        at_start(self.home.clone(), self.named.clone()).1
    }

    /// The config file that the program itself writes.
    pub fn added_file(&self) -> Option<PathBuf> {
        nowhere(self.home.clone(), self.named.clone()).added()
    }

    /// Trusts files by their hash, or nothing any more.
    pub fn set_trust(&self, worktree: &Path, hash: Option<String>) -> std::io::Result<()> {
        self.trust.change(worktree, |entry| entry.hash = hash)
    }

    pub fn set_edits(&self, worktree: &Path, allow: bool) -> std::io::Result<()> {
        self.trust.change(worktree, |entry| entry.edits = allow)
    }

    /// For the case that the files could not be looked at: nothing is allowed by them.
    fn bare(&self, places: Places) -> Setup {
        Draft::new().finish(
            places,
            Request::of(&Sources::default(), &[], Path::new("")),
            &self.models,
        )
    }
}

fn look(places: &Places, watched: Vec<PathBuf>, trust: &TrustFile, models: &Models) -> Look {
    let mut files = places.watched();
    files.push(trust.path().to_owned());
    files.extend(watched);
    Look {
        files: Stamp::of(files),
        servers: models.found(),
    }
}

fn make(places: Places, trust: &TrustFile, models: &Arc<Models>) -> Setup {
    let mut sources = places.read();
    let mut ignored = Vec::new();
    let own = sources
        .files
        .iter()
        .filter(|file| file.origin == Origin::Project);
    let layers: Vec<_> = own
        .map(|file| (file, Layer::read(file, &mut ignored)))
        .collect();
    let request = Request::of(&sources, &layers, &places.worktree);
    let decided = trust.of(&places.worktree);
    let state = request.state(&decided);
    let mut draft = Draft::new();
    draft.edits = decided.edits;
    draft.trust = TrustView {
        state,
        wants: request.wants.clone(),
        hash: request.hash.clone(),
    };
    draft.problems.append(&mut sources.problems);
    let is_trusted = state == TrustState::Trusted;
    for file in &mut sources.files {
        let substituted = match file.origin == Origin::Project && is_trusted {
            true => file.substitute(),
            false => Ok(()),
        };
        draft.problems.extend(substituted.err());
    }
    for origin in [Origin::Person, Origin::Project] {
        if origin == Origin::Project {
            draft.note_known();
        }
        let is_trusted = origin == Origin::Person || is_trusted;
        for file in sources.files.iter().filter(|file| file.origin == origin) {
            draft.layer(file, &places.worktree, is_trusted);
        }
        for agent in sources.agents.iter().filter(|one| one.origin == origin) {
            draft.agent_file(agent, is_trusted);
        }
        for command in sources.commands.iter().filter(|one| one.origin == origin) {
            draft.command_file(command, is_trusted);
        }
        if origin == Origin::Person {
            draft.person = draft.so_far();
        }
    }
    draft.finish(places, request, models)
}

/// A setup in the making.
struct Draft {
    agents: Agents,
    commands: Vec<Command>,
    rules: Ruleset,
    wishes: Ruleset,
    edits: bool,
    instructions: Vec<NamedInstructions>,
    settings: Settings,
    person: Person,
    mcp: Map<String, Value>,
    models: Map<String, Value>,
    trust: TrustView,
    problems: Vec<ConfigProblem>,
    /// Which file said what, by the first keys, the newest last.
    said: Vec<(String, String)>,
    /// The names that are not the project's.
    known_agents: Vec<String>,
    known_commands: Vec<String>,
}

impl Draft {
    fn new() -> Self {
        Draft {
            agents: Agents::built_in(),
            commands: commands::built_in(),
            rules: Ruleset::new(),
            wishes: Ruleset::new(),
            edits: false,
            instructions: Vec::new(),
            settings: Settings::default(),
            person: Person::default(),
            mcp: Map::new(),
            models: Map::new(),
            trust: TrustView {
                state: TrustState::Nothing,
                wants: Vec::new(),
                hash: String::new(),
            },
            problems: Vec::new(),
            said: Vec::new(),
            known_agents: Vec::new(),
            known_commands: Vec::new(),
        }
    }

    /// What is there before the project has its say.
    fn note_known(&mut self) {
        let agents = self.agents.all().iter();
        self.known_agents = agents.map(|agent| agent.name.clone()).collect();
        let commands = self.commands.iter();
        self.known_commands = commands.map(|command| command.name.clone()).collect();
    }

    fn layer(&mut self, file: &ConfigFile, worktree: &Path, is_trusted: bool) {
        let layer = Layer::read(file, &mut self.problems);
        for (name, block) in layer.agents {
            self.agent(&name, block, is_trusted);
        }
        for (name, block) in layer.commands {
            self.command(&name, block, is_trusted);
        }
        if !is_trusted {
            self.wishes.extend(layer.rules);
            return;
        }
        self.rules.extend(layer.rules);
        self.settings.merge(layer.settings);
        let folder = file.instruction_folder(worktree);
        let named = layer
            .instructions
            .into_iter()
            .map(|pattern| NamedInstructions {
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
                self.said.push((path, file.shown.clone()));
                merge(table.entry(name).or_insert(Value::Null), value);
            }
        }
    }

    fn agent_file(&mut self, file: &Definition, is_trusted: bool) {
        let mut reading = Reading::new(&file.file, "", &file.front, &mut self.problems);
        let mut block = AgentBlock::read(&mut reading);
        if !file.body.is_empty() {
            block.prompt = Some(file.body.clone());
        }
        self.agent(&file.name, block, is_trusted);
    }

    fn command_file(&mut self, file: &Definition, is_trusted: bool) {
        let mut reading = Reading::new(&file.file, "", &file.front, &mut self.problems);
        if let Some(block) = CommandBlock::read(&mut reading, Some(&file.body)) {
            self.command(&file.name, block, is_trusted);
        }
    }

    fn agent(&mut self, name: &str, block: AgentBlock, is_trusted: bool) {
        match is_trusted {
            true => self.agents.apply(name, block),
            false => {
                let is_its_own = !self.known_agents.iter().any(|known| known == name);
                self.agents.apply_untrusted(name, block, is_its_own);
            }
        }
    }

    fn command(&mut self, name: &str, block: CommandBlock, is_trusted: bool) {
        let command = match is_trusted {
            true => Command::new(name, block),
            // A name that the person knows keeps its meaning.
            false if self.known_commands.iter().any(|known| known == name) => return,
            false => Command::untrusted(name, block),
        };
        match self.commands.iter_mut().find(|known| known.name == name) {
            Some(known) => *known = command,
            None => self.commands.push(command),
        }
    }

    /// Problems are told once, of the whole.
    fn so_far(&self) -> Person {
        Person {
            mcp: McpServer::all(&self.mcp, |_| String::new(), &mut Vec::new()),
            settings: self.settings.clone(),
        }
    }

    fn finish(mut self, places: Places, request: Request, models: &Arc<Models>) -> Setup {
        let said = std::mem::take(&mut self.said);
        let file_of = |key: &str| {
            let said = said
                .iter()
                .rev()
                .find(|(path, _)| key.starts_with(path.as_str()));
            said.map(|(_, file)| file.clone()).unwrap_or_default()
        };
        let server_file = |name: &str| file_of(&format!("mcp.{name}"));
        let mcp = McpServer::all(&self.mcp, server_file, &mut self.problems);
        let models = models.under(Value::Object(self.models));
        let wrong = models.problems().iter().map(|problem| ConfigProblem {
            file: file_of(&problem.path),
            key: problem.path.clone(),
            message: problem.message.clone(),
        });
        self.problems.extend(wrong);
        self.agents.set_default(self.settings.default_agent.clone());
        Setup {
            agents: self.agents,
            commands: self.commands,
            mcp,
            models,
            rules: self.rules,
            wishes: self.wishes,
            edits: self.edits,
            instructions: self.instructions,
            settings: self.settings,
            person: self.person,
            trust: self.trust,
            problems: self.problems,
            places,
            request,
        }
    }
}

/// What the person's own files say about models and servers, for the start.
pub fn at_start(home: Option<PathBuf>, named: Option<PathBuf>) -> (Value, Person) {
    let places = nowhere(home, named);
    let sources = places.read();
    let mut draft = Draft::new();
    for file in &sources.files {
        draft.layer(file, &places.worktree, true);
    }
    let person = draft.so_far();
    (Value::Object(draft.models), person)
}

/// Outside every project.
fn nowhere(home: Option<PathBuf>, named: Option<PathBuf>) -> Places {
    Places {
        home,
        named,
        directory: PathBuf::new(),
        worktree: PathBuf::new(),
    }
}
