//! What the person allowed beyond one call: for a session, or for good in a project.

use std::collections::HashMap;
use std::path::Path;

use lathe_protocol::{Project, ProjectId, Rule, Ruleset, SessionId};
use lathe_records::Result;
use lathe_store::Key;
use parking_lot::Mutex;
use serde::{Deserialize, Serialize};

use super::PermissionBroker;

/// Held in memory only: they end with the program.
#[derive(Default)]
pub struct SessionGrants(Mutex<HashMap<SessionId, Ruleset>>);

impl SessionGrants {
    pub fn add(&self, session: &SessionId, rules: Ruleset) {
        let mut all = self.0.lock();
        add_missing(all.entry(session.clone()).or_default(), rules);
    }

    pub fn of(&self, session: &SessionId) -> Ruleset {
        self.0.lock().get(session).cloned().unwrap_or_default()
    }
}

/// A folder with the files of a project. What is allowed in one says nothing about another: a
/// stranger's fork has the same first commit, and so the same project.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Checkout {
    project: ProjectId,
    folder: String,
}

impl Checkout {
    pub fn folder(&self) -> &Path {
        Path::new(&self.folder)
    }

    pub fn of(project: &Project) -> Self {
        let folder = Path::new(&project.worktree);
        let real = folder.canonicalize();
        Checkout {
            project: project.id.clone(),
            folder: real.as_deref().unwrap_or(folder).display().to_string(),
        }
    }
}

/// A rule as it is stored. Rules without a folder were not given on this machine, or by an
/// older version: they count nowhere.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct StoredRule {
    #[serde(flatten)]
    rule: Rule,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    directory: Option<String>,
}

impl PermissionBroker {
    /// What the person answered with "always" in a checkout.
    pub async fn approved(&self, checkout: &Checkout) -> Result<Ruleset> {
        let key = Key::permission(&checkout.project)?;
        let stored: Option<Vec<StoredRule>> = self.records.store().read(&key).await?;
        let own = stored.unwrap_or_default().into_iter();
        let own = own.filter(|one| one.directory.as_deref() == Some(&checkout.folder));
        Ok(own.map(|one| one.rule).collect())
    }

    pub(super) async fn approve(&self, checkout: &Checkout, new: Ruleset) -> Result<()> {
        let folder = checkout.folder.clone();
        let edit = move |rules: &mut Vec<StoredRule>| {
            let directory = || Some(folder.clone());
            let new = new.into_iter().map(|rule| StoredRule {
                rule,
                directory: directory(),
            });
            add_missing(rules, new);
        };
        self.change_approved(checkout, edit).await
    }

    /// Removes one "always".
    pub async fn revoke(&self, checkout: &Checkout, revoked: &Rule) -> Result<()> {
        let revoked = StoredRule {
            rule: revoked.clone(),
            directory: Some(checkout.folder.clone()),
        };
        let edit = move |rules: &mut Vec<StoredRule>| rules.retain(|rule| *rule != revoked);
        self.change_approved(checkout, edit).await
    }

    /// Atomic: an answer in another window or process must not be lost.
    async fn change_approved(
        &self,
        checkout: &Checkout,
        edit: impl FnOnce(&mut Vec<StoredRule>) + Send + 'static,
    ) -> Result<()> {
        let key = Key::permission(&checkout.project)?;
        let changed = self.records.store().update_or_default(&key, edit);
        Ok(changed.await.map(drop)?)
    }
}

fn add_missing<T: PartialEq>(all: &mut Vec<T>, new: impl IntoIterator<Item = T>) {
    for one in new {
        if !all.contains(&one) {
            all.push(one);
        }
    }
}
