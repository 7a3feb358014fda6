//! What a person is asked: permissions, questions, and whether to go on at a spending limit.
//!
//! Rules and modes decide first (`lathe-policy`); what they leave open waits here for an answer,
//! and what a person allowed for longer is stored here. This crate must not know turns, models,
//! reviews or the handle of sessions.

mod authority;
mod broker;
mod gate;
mod limits;
mod needs;
mod question;

use std::path::PathBuf;
use std::sync::Arc;

use lathe_policy::{Freedom, Layers};
use lathe_protocol::{PermissionMode, Rule, Ruleset, Session};
use lathe_records::Records;
use lathe_tools::Environment;
use lathe_workspace::Workspace;
use lathe_workspace::agents::Agent;
use lathe_workspace::setup::Setup;
use parking_lot::Mutex;

pub use authority::{Ancestor, Authority, ancestors};
pub use broker::{Allowed, Answer, Checkout, Inquiry, PermissionBroker, unless_denied};
pub use gate::{Gate, NOT_COVERED};
pub use limits::{LimitKind, Reached, RunningTurn, SpendingLimits, WaitForPerson};
pub use needs::needs_of;
pub use question::QuestionBroker;

/// The broker, with what the person set for all projects.
pub struct Permissions {
    pub broker: PermissionBroker,
    pub limits: SpendingLimits,
    workspace: Arc<Workspace>,
    environment: Arc<Environment>,
    data_dir: PathBuf,
    /// Rules from the person's settings, over those of every agent.
    settings: Mutex<Ruleset>,
    /// The mode for this run of the program, in the place of each project's own.
    mode: Mutex<Option<PermissionMode>>,
}

impl Permissions {
    pub fn new(
        records: Records,
        workspace: Arc<Workspace>,
        environment: Arc<Environment>,
        data_dir: PathBuf,
    ) -> Self {
        Permissions {
            broker: PermissionBroker::new(records),
            limits: SpendingLimits::new(&data_dir),
            workspace,
            environment,
            data_dir,
            settings: Mutex::default(),
            mode: Mutex::default(),
        }
    }

    pub fn set_rules(&self, rules: Ruleset) {
        self.workspace.mcp().set_rules(rules.clone());
        *self.settings.lock() = rules;
    }

    pub fn override_mode(&self, mode: PermissionMode) {
        *self.mode.lock() = Some(mode);
    }

    /// The mode that holds where the person chose `own` for the project.
    pub fn mode(&self, own: PermissionMode) -> PermissionMode {
        self.mode.lock().unwrap_or(own)
    }

    /// The rules in force for an agent in a session. `plan` are those of plan mode; they count
    /// more than the person's general rules.
    pub fn rules(
        &self,
        setup: &Setup,
        freedom: Freedom,
        agent: &Agent,
        session: &Session,
        plan: &[Rule],
    ) -> Ruleset {
        let layers = Layers {
            freedom,
            agent: &agent.rules,
            settings: &self.settings.lock(),
            config: &setup.rules,
            mode: plan,
            overrides: &agent.overrides,
            session: session.permission.as_deref().unwrap_or_default(),
            restrictions: [&setup.restrictions, &agent.restrictions],
        };
        layers.merge()
    }
}
