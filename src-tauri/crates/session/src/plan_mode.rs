//! Plan mode: the agent reads and writes a plan, and changes nothing else.
//!
//! The plan is a file of the session. Rules deny changes to every other file, whatever the person
//! has allowed elsewhere; reminders tell the model what it may do now.

use std::path::{Path, PathBuf};

use lathe_protocol::{Action, MessageWithParts, Project, Rule, Ruleset, Session};
use lathe_tools::context::AgentSwitch;
use lathe_tools::paths::slashed;

use crate::convert::window::asks_for_summary;
use lathe_policy::agents::{BUILDER, PLANNER, while_planning};
use lathe_policy::rule;

/// The metadata key of a text part that is a reminder.
pub const REMINDER: &str = "reminder";

const APPROVED: &str = "The plan is approved: carry it out.";
const WANTED: &str = "Plan mode it is: look at what is there and write the plan.";

/// The file of a session's plan, and the folder of all plans.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlanFile {
    pub path: PathBuf,
    /// The path in rules and for the model: relative if it is inside the project.
    pub shown: String,
    folder: PathBuf,
    inside: bool,
}

impl PlanFile {
    /// In the project if that is under version control, so that plans can be committed; else in
    /// our data directory.
    pub fn new(session: &Session, project: &Project, data_dir: &Path) -> Self {
        let worktree = Path::new(&project.worktree);
        let inside = project.vcs.is_some();
        let folder = if inside {
            worktree.join(".opencode").join("plans")
        } else {
            // Rules compare paths without symbolic links.
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

    /// Additional rules for an agent: the planner may only change its plan file.
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

    /// The reminder of the mode that belongs to this prompt, if any.
    pub fn reminder(
        &self,
        history: &[MessageWithParts],
        prompt: &MessageWithParts,
    ) -> Option<String> {
        let agent = agent_name(prompt);
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
            .map(agent_name);
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

/// The text of the user message after the person agreed to change modes.
pub fn switch_text(agent: &str) -> &'static str {
    if agent == PLANNER { WANTED } else { APPROVED }
}

fn agent_name(message: &MessageWithParts) -> &str {
    let user = message.info.as_user();
    user.and_then(|user| user.agent.as_deref())
        .unwrap_or(lathe_workspace::agents::DEFAULT)
}
