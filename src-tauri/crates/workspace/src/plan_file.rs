//! Where the plan of a session is, and what that allows.

use std::path::{Path, PathBuf};

use lathe_policy::agents::{PLANNER, while_planning};
use lathe_policy::rule;
use lathe_protocol::{Action, Project, Rule, Ruleset, Session};
use lathe_tools::paths::slashed;

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
}
