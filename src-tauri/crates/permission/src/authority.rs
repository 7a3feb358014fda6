//! Who makes a call: a session, and the sessions that handed the work on to it.

use std::path::Path;
use std::sync::Arc;

use lathe_policy::decision::{Asker, Mode};
use lathe_policy::{Freedom, hides_tool, is_secret, may_read};
use lathe_protocol::{PermissionMode, Project, Rule, Ruleset, Session, SessionId};
use lathe_records::{Failed, Records, Result};
use lathe_tools::context::MayRead;
use lathe_workspace::agents::Agent;
use lathe_workspace::plan_file::PlanFile;
use lathe_workspace::setup::Setup;

use super::Permissions;
use super::broker::Checkout;

/// Real chains have two links; a damaged store could have a circle.
const LONGEST_CHAIN: usize = 16;

/// A session that handed work on, and the agent that did it.
#[derive(Debug, Clone)]
pub struct Ancestor {
    session: Session,
    agent: Option<String>,
}

impl Ancestor {
    pub fn id(&self) -> &SessionId {
        &self.session.id
    }
}

/// The session that started this one, then the one that started that, up to the first. The agent
/// is the one that `handed_on_by` names for the child, else the one of its newest prompt.
pub async fn ancestors(
    records: &Records,
    session: &Session,
    handed_on_by: impl Fn(&SessionId) -> Option<String>,
) -> Result<Vec<Ancestor>> {
    let mut found: Vec<Ancestor> = Vec::new();
    let mut child = session.clone();
    while let Some(id) = child.parent_id.clone() {
        if found.len() == LONGEST_CHAIN {
            // Without the first of them, nothing would be known of what they may do.
            return Err(Failed::refused(
                "Too many sessions have handed this one on.",
            ));
        }
        let parent = records.session(&id).await?;
        let agent = match handed_on_by(&child.id) {
            Some(agent) => Some(agent),
            None => newest_agent(records, &id).await?,
        };
        found.push(Ancestor {
            session: parent.clone(),
            agent,
        });
        child = parent;
    }
    Ok(found)
}

async fn newest_agent(records: &Records, id: &SessionId) -> Result<Option<String>> {
    let newest = records.newest_user_message(id).await?;
    Ok(newest.and_then(|user| user.agent))
}

/// What a call is decided by, but for what it needs.
#[derive(Debug, Clone)]
pub struct Authority {
    pub checkout: Checkout,
    /// The first session of the chain. What is allowed for a session holds for its tasks, too.
    pub root: SessionId,
    pub mode: Mode,
    askers: Vec<(String, Ruleset)>,
}

impl Authority {
    pub fn resolve(
        permissions: &Permissions,
        setup: &Setup,
        project: &Project,
        session: &Session,
        agent: &Agent,
        ancestors: &[Ancestor],
    ) -> Self {
        let decided = permissions
            .workspace
            .setups()
            .decided(Path::new(&project.worktree));
        let freedom = Freedom {
            edits: decided.edits,
            all: false,
        };
        let rules = |session: &Session, agent: &Agent| {
            let plan = PlanFile::new(session, project, &permissions.data_dir).rules(&agent.name);
            permissions.rules(setup, freedom, agent, session, &plan)
        };
        let mut askers = vec![(agent.name.clone(), rules(session, agent))];
        for ancestor in ancestors {
            let agent = setup.agents.get(ancestor.agent.as_deref());
            askers.push((agent.name.clone(), rules(&ancestor.session, &agent)));
        }
        let first = ancestors
            .last()
            .map_or(session, |ancestor| &ancestor.session);
        let works = || permissions.workspace.sandbox().is_available();
        Authority {
            checkout: Checkout::of(project),
            root: first.id.clone(),
            mode: match permissions.mode(decided.mode) {
                PermissionMode::Auto if works() => Mode::Auto { sandboxed: true },
                PermissionMode::Full => Mode::FullAccess,
                // Without a sandbox there is no Auto: it would not be what was chosen.
                PermissionMode::Ask | PermissionMode::Auto => Mode::Ask,
            },
            askers,
        }
    }

    pub fn askers(&self) -> Vec<Asker<'_>> {
        let askers = self.askers.iter();
        askers.map(|(name, rules)| Asker { name, rules }).collect()
    }

    /// A tool that one of them could never use is not offered.
    pub fn hides_tool(&self, tool: &str) -> bool {
        self.askers.iter().any(|(_, rules)| hides_tool(rules, tool))
    }

    /// Which files a program of which nothing is known may read: those that no rule of theirs names.
    pub fn may_be_read_by_any(&self, approved: &[Rule]) -> MayRead {
        let each: Vec<_> = self
            .askers
            .iter()
            .map(|(_, rules)| is_secret(rules, approved))
            .collect();
        Arc::new(move |path| !each.iter().any(|is_secret| is_secret(path)))
    }

    /// What each of them may read without a question.
    pub fn may_read(&self, approved: &[Rule]) -> impl Fn(&str) -> bool + Send + Sync + 'static {
        let each: Vec<_> = self
            .askers
            .iter()
            .map(|(_, rules)| may_read(rules, approved))
            .collect();
        move |path| each.iter().all(|may_read| may_read(path))
    }
}
