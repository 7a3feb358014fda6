//! The changes of each file by several steps. Reads trees: blocks.

use std::collections::{BTreeMap, BTreeSet};

use lathe_snapshot::{RelPath, Result, SideRepo, TreeId};

use super::StepTrees;
use crate::credit::Doubt;

/// The changes of one file by several steps.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Chain {
    /// The tree before the first change.
    pub start: TreeId,
    /// The tree after the last.
    pub finish: TreeId,
    /// The file was also changed between two of the steps.
    pub broken: bool,
}

/// A change that may not be the agent's.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Doubtful {
    /// The tree before the first change of the file, by the agent or in doubt.
    pub start: TreeId,
    /// The tree after the last change in doubt.
    pub finish: TreeId,
    pub why: Doubt,
}

/// Every file that steps changed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Chains {
    pub files: BTreeMap<RelPath, Chain>,
    pub doubtful: BTreeMap<RelPath, Doubtful>,
    /// Files of steps whose trees are missing, as the steps name them.
    pub unknown: Vec<String>,
}

pub fn chains(repo: &SideRepo, steps: &[StepTrees]) -> Result<Chains> {
    chains_after(repo, Chains::default(), steps)
}

/// The same, continuing from chains that are already known.
pub fn chains_after(repo: &SideRepo, known: Chains, steps: &[StepTrees]) -> Result<Chains> {
    let mut chains = known;
    for step in steps {
        if step.start == step.finish {
            continue;
        }
        if !repo.contains(step.start) || !repo.contains(step.finish) {
            chains.unknown.extend(step.named.iter().cloned());
            continue;
        }
        let named: BTreeSet<&str> = step.named.iter().map(String::as_str).collect();
        for path in repo.changed_files(step.start, step.finish)? {
            let is_named = || {
                let earlier = path.lossy();
                named.contains(path.to_string().as_str()) || named.contains(earlier.as_str())
            };
            if step.is_revert() && !is_named() {
                continue;
            }
            match step.doubt(&path) {
                Some(why) => chains.add_doubt(path, step, why),
                None => chains.add(repo, path, step)?,
            }
        }
    }
    chains.unknown.sort();
    chains.unknown.dedup();
    Ok(chains)
}

impl Chains {
    fn add(&mut self, repo: &SideRepo, path: RelPath, step: &StepTrees) -> Result<()> {
        if let Some(chain) = self.files.get_mut(&path) {
            chain.broken |= !repo.is_same(&path, chain.finish, step.start)?;
            chain.finish = step.finish;
        } else if !step.is_revert() {
            let chain = Chain {
                start: step.start,
                finish: step.finish,
                broken: false,
            };
            self.files.insert(path, chain);
        }
        Ok(())
    }

    fn add_doubt(&mut self, path: RelPath, step: &StepTrees, why: Doubt) {
        let start = self.files.get(&path).map_or(step.start, |one| one.start);
        let known = self.doubtful.entry(path);
        let finish = step.finish;
        let known = known.or_insert(Doubtful { start, finish, why });
        known.why = known.why.max(why);
        known.finish = finish;
    }

    /// From which tree to which each file changed by what the agent did, or may have done.
    pub fn spans(&self) -> BTreeMap<RelPath, (TreeId, TreeId)> {
        let doubtful = self.doubtful.iter();
        let doubtful = doubtful.filter(|(_, one)| one.why != Doubt::ByOthers);
        let mut spans: BTreeMap<RelPath, (TreeId, TreeId)> = doubtful
            .map(|(path, one)| (path.clone(), (one.start, one.finish)))
            .collect();
        let chains = self.files.iter();
        spans.extend(chains.map(|(path, one)| (path.clone(), (one.start, one.finish))));
        spans
    }
}
