//! Describes what a project's files would do if they were trusted.

use lathe_protocol::ipc::{TrustWant, WantKind};
use lathe_protocol::{Action, Rule};
use lathe_tools::text::visible;
use serde_json::{Map, Value};

use crate::commands::Template;
use crate::config::{
    AgentBlock, CommandBlock, ConfigFile, Definition, Layer, McpKind, McpServer, Origin, Sources,
    TableReader,
};

struct Wants(Vec<TrustWant>);

pub fn collect(sources: &Sources, layers: &[(&ConfigFile, Layer)]) -> Vec<TrustWant> {
    let mut wants = Wants(Vec::new());
    for (file, layer) in layers {
        wants.layer(file, layer);
    }
    let own = |definition: &&Definition| definition.origin == Origin::Project;
    let mut ignored = Vec::new();
    for agent in sources.agents.iter().filter(own) {
        let mut reader = TableReader::new(&agent.file, "", &agent.front_matter, &mut ignored);
        let block = AgentBlock::read(&mut reader);
        wants.agent(&agent.file, &agent.name, &block);
    }
    for command in sources.commands.iter().filter(own) {
        let mut reader = TableReader::new(&command.file, "", &command.front_matter, &mut ignored);
        if let Some(block) = CommandBlock::read(&mut reader, Some(&command.body)) {
            wants.command(&command.file, &command.name, &block);
        }
    }
    wants.0
}

impl Wants {
    fn add(&mut self, kind: WantKind, file: &str, text: impl AsRef<str>) {
        // Control characters could make the text look like something else to the person who decides.
        let (text, file) = (visible(text.as_ref()), visible(file));
        self.0.push(TrustWant { kind, text, file });
    }

    fn layer(&mut self, file: &ConfigFile, layer: &Layer) {
        let name = &file.display_path;
        let mut ignored = Vec::new();
        for server in McpServer::read_all(&layer.mcp, |_| String::new(), &mut ignored) {
            self.add(WantKind::Mcp, name, server_text(&server));
        }
        for (key, value) in &layer.models {
            match (key.as_str(), value) {
                ("provider", Value::Object(providers)) => {
                    for (id, block) in providers {
                        self.add(WantKind::Provider, name, provider_text(id, block));
                    }
                }
                (key, value) => {
                    self.add(WantKind::Model, name, format!("Set {key} to {value}"));
                }
            }
        }
        self.rules(name, "", &layer.rules);
        for (agent, block) in &layer.agents {
            self.agent(name, agent, block);
        }
        for (command, block) in &layer.commands {
            self.command(name, command, block);
        }
        for path in &layer.instructions {
            let text = format!("Show {path} to the model with every prompt");
            self.add(WantKind::Instructions, name, text);
        }
        for variable in file.references("env") {
            let text = format!("Use the value of the variable {variable}");
            self.add(WantKind::Substitution, name, text);
        }
        for path in file.references("file") {
            let text = format!("Use the content of {path}");
            self.add(WantKind::Substitution, name, text);
        }
        for key in layer.settings.names() {
            let value = file.value.get(key).unwrap_or(&Value::Null);
            self.add(WantKind::Setting, name, format!("Set {key} to {value}"));
        }
    }

    fn rules(&mut self, file: &str, whose: &str, rules: &[Rule]) {
        for rule in rules.iter().filter(|rule| rule.action == Action::Allow) {
            let text = format!(
                "Allow {} {}{whose} without a question",
                rule.permission, rule.pattern
            );
            self.add(WantKind::Permission, file, text);
        }
    }

    fn agent(&mut self, file: &str, name: &str, block: &AgentBlock) {
        self.rules(file, &format!(" to the agent {name}"), &block.rules);
        if let Some(model) = &block.model {
            let text = format!(
                "Let the agent {name} use {}/{}",
                model.provider_id, model.model_id
            );
            self.add(WantKind::Model, file, text);
        }
    }

    fn command(&mut self, file: &str, name: &str, block: &CommandBlock) {
        for shell in Template::parse(&block.template).shell() {
            let text = format!("Run \"{shell}\" in the command /{name}");
            self.add(WantKind::Command, file, text);
        }
        if let Some(model) = &block.model {
            let text = format!(
                "Let the command /{name} use {}/{}",
                model.provider_id, model.model_id
            );
            self.add(WantKind::Model, file, text);
        }
    }
}

fn server_text(server: &McpServer) -> String {
    let name = &server.name;
    match &server.kind {
        McpKind::Stdio {
            command,
            args,
            sandbox,
            ..
        } => {
            let words: Vec<_> = std::iter::once(command)
                .chain(args)
                .map(String::as_str)
                .collect();
            let outside = match sandbox {
                Some(false) => " outside the sandbox",
                _ => "",
            };
            let words = words.join(" ");
            format!("Run the MCP server \"{name}\"{outside}: {words}")
        }
        McpKind::Http { url, .. } => format!("Connect to the MCP server \"{name}\" at {url}"),
    }
}

fn provider_text(id: &str, block: &Value) -> String {
    let empty = Map::new();
    let table = block.as_object().unwrap_or(&empty);
    let options = table
        .get("options")
        .and_then(Value::as_object)
        .unwrap_or(&empty);
    let url = options
        .get("baseURL")
        .or_else(|| table.get("api"))
        .and_then(Value::as_str);
    match url {
        Some(url) => format!("Send prompts for \"{id}\", and its key, to {url}"),
        None => format!("Change the provider \"{id}\""),
    }
}
