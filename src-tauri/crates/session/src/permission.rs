//! Permission requests: rules decide, and where they say "ask", a person does.

mod broker;
mod shell;

use std::sync::atomic::{AtomicBool, Ordering};

use lathe_policy::{Freedom, Layers};
use lathe_protocol::{Rule, Ruleset, Session};
use lathe_records::Records;
use lathe_workspace::agents::Agent;
use lathe_workspace::setup::Setup;
use parking_lot::Mutex;

pub use broker::{Answer, Inquiry, PermissionBroker, unless_denied};
pub use shell::{asks_for_command, disk_paths};

/// The broker, with what the person set for all projects.
pub struct Permissions {
    pub broker: PermissionBroker,
    /// Rules from the person's settings, over those of every agent.
    settings: Mutex<Ruleset>,
    /// Everything is allowed without asking; off by default.
    allow_all: AtomicBool,
}

impl Permissions {
    pub fn new(records: Records) -> Self {
        Permissions {
            broker: PermissionBroker::new(records),
            settings: Mutex::default(),
            allow_all: AtomicBool::new(false),
        }
    }

    pub fn set_rules(&self, rules: Ruleset) {
        *self.settings.lock() = rules;
    }

    pub fn set_allow_all(&self, allow: bool) {
        self.allow_all.store(allow, Ordering::Relaxed);
    }

    /// The rules in force for an agent in a session. `mode` counts more than the person's
    /// general rules.
    pub fn rules(&self, setup: &Setup, agent: &Agent, session: &Session, mode: &[Rule]) -> Ruleset {
        let layers = Layers {
            freedom: Freedom {
                edits: setup.edits,
                all: self.allow_all.load(Ordering::Relaxed),
            },
            agent: &agent.rules,
            settings: &self.settings.lock(),
            config: &setup.rules,
            mode,
            overrides: &agent.overrides,
            session: session.permission.as_deref().unwrap_or_default(),
            restrictions: [&setup.restrictions, &agent.restrictions],
        };
        layers.merge()
    }
}
