//! Plan mode: the agent looks and writes a plan, and changes nothing else.
//!
//! The plan is a file of the session. Rules keep every other file safe, whatever the person
//! has allowed elsewhere; reminders tell the model what it may do now.

use std::path::{Path, PathBuf};

use lathe_protocol::{Action, MessageWithParts, Project, Rule, Ruleset, Session};
use lathe_tools::context::AgentSwitch;
use lathe_tools::paths::slashed;

use crate::convert::window::asks_for_summary;
use lathe_policy::agents::{BUILDER, PLANNER, while_planning};
use lathe_policy::rule;

/// Marks the text part that holds a reminder.
pub const REMINDER: &str = "reminder";

const APPROVED: &str = "The plan is approved: carry it out.";
const WANTED: &str = "Plan mode it is: look at what is there and write the plan.";

/// Where a session's plan lies, and where all plans of such projects lie.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlanFile {
    pub path: PathBuf,
    /// As rules and the model name it: relative to the project where it lies in it.
    pub shown: String,
    folder: PathBuf,
    inside: bool,
}

impl PlanFile {
    /// In the project where it has a history, so that plans can be kept with it; else in our
    /// own data.
    pub fn of(session: &Session, project: &Project, data_dir: &Path) -> Self {
        let worktree = Path::new(&project.worktree);
        let inside = project.vcs.is_some();
        let folder = if inside {
            worktree.join(".opencode").join("plans")
        } else {
            // Rules see paths without links in them.
            let data = data_dir.canonicalize();
            data.unwrap_or_else(|_| data_dir.to_owned()).join("plans")
        };
        let slug = session.slug.as_deref().unwrap_or(session.id.as_str());
        let path = folder.join(format!("{}-{slug}.md", session.time.created));
        let shown = path
            .strip_prefix(worktree)
            .map_or_else(|_| slashed(&path), slashed);
        PlanFile {
            path,
            shown,
            folder,
            inside,
        }
    }

    /// What comes on top of an agent's rules: for the planner, that its file is the only one
    /// it may change.
    pub fn rules(&self, agent: &str) -> Ruleset {
        let mut rules: Vec<Rule> = Vec::new();
        if !self.inside {
            let folder = format!("{}/*", slashed(&self.folder));
            rules.push(rule("external_directory", &folder, Action::Allow));
        }
        if agent == PLANNER {
            rules.extend(while_planning(&self.shown));
        }
        rules
    }

    /// What the model must be told with this prompt about the mode it is in.
    pub fn reminder(
        &self,
        history: &[MessageWithParts],
        prompt: &MessageWithParts,
    ) -> Option<String> {
        let agent = agent_of(prompt);
        let before = history
            .iter()
            .rev()
            .skip_while(|message| message.info.id() != prompt.info.id())
            .skip(1)
            .filter(|message| message.info.as_user().is_some());
        let mut before = before.peekable();
        let summed_up = before
            .peek()
            .is_some_and(|message| asks_for_summary(message));
        let earlier = before
            .find(|message| !asks_for_summary(message))
            .map(agent_of);
        let exists = self.path.exists();
        if agent == PLANNER {
            let entering = summed_up || earlier != Some(PLANNER);
            return Some(if entering {
                self.on_entering(exists)
            } else {
                self.still_planning()
            });
        }
        (earlier == Some(PLANNER)).then(|| self.on_leaving(exists))
    }

    fn on_entering(&self, exists: bool) -> String {
        let file = if exists {
            format!(
                "A plan is there already: {}. Read it and go on from it.",
                self.shown
            )
        } else {
            format!("Write the plan to {} with the write tool.", self.shown)
        };
        format!(
            "<system-reminder>\nPlan mode is on. You may look at everything, but change nothing: no \
             edits, no commands that change files, settings or history. The one exception is the \
             plan file.\n{file}\nFind out what the task touches, ask the user with the question \
             tool where their wish can be read in more than one way, and keep the plan short: \
             what will change and where, in which order, and how it will be checked. When it is \
             complete, call plan_exit; do not ask for approval in any other way.\n</system-reminder>"
        )
    }

    fn still_planning(&self) -> String {
        format!(
            "<system-reminder>\nPlan mode is still on: change nothing but the plan file, {}.\n\
             </system-reminder>",
            self.shown
        )
    }

    fn on_leaving(&self, exists: bool) -> String {
        let file = if exists {
            format!(
                "\nThere is a plan: {}. Read it if you have not, and carry it out.",
                self.shown
            )
        } else {
            String::new()
        };
        format!(
            "<system-reminder>\nPlan mode is over: you may change files and run commands again.\
             {file}\n</system-reminder>"
        )
    }
}

pub fn agent_for(switch: AgentSwitch) -> &'static str {
    match switch {
        AgentSwitch::Plan => PLANNER,
        AgentSwitch::Build => BUILDER,
    }
}

/// What is said in the person's place when they agreed to change modes.
pub fn said_on_switch(agent: &str) -> &'static str {
    if agent == PLANNER { WANTED } else { APPROVED }
}

fn agent_of(message: &MessageWithParts) -> &str {
    let user = message.info.as_user();
    user.and_then(|user| user.agent.as_deref())
        .unwrap_or(lathe_workspace::agents::DEFAULT)
}
