//! What an import did, and how it is watched and stopped.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Problems that are listed one by one; the rest is counted.
const MOST_PROBLEMS: usize = 200;

/// What an import did so far.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Progress {
    /// Files of the source, and how many of them are done.
    pub files: usize,
    pub done: usize,
    pub sessions: usize,
    pub messages: usize,
}

/// Watches an import and stops it. Clones share the same switch.
#[derive(Clone, Default)]
pub struct Control {
    stop: Arc<AtomicBool>,
    on_progress: Option<Arc<dyn Fn(Progress) + Send + Sync>>,
}

impl Control {
    pub fn new(on_progress: impl Fn(Progress) + Send + Sync + 'static) -> Self {
        Control {
            stop: Arc::default(),
            on_progress: Some(Arc::new(on_progress)),
        }
    }

    /// Sessions that were written stay; the next import continues.
    pub fn stop(&self) {
        self.stop.store(true, Ordering::Relaxed);
    }

    pub fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    pub fn report(&self, progress: Progress) {
        if let Some(report) = &self.on_progress {
            report(progress);
        }
    }
}

impl fmt::Debug for Control {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.debug_struct("Control")
            .field("stop", &self.stop)
            .finish_non_exhaustive()
    }
}

/// Something that could not be read, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    pub what: String,
    pub why: String,
}

/// Records of one type that were not imported for the same reason.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LeftOut {
    pub what: String,
    pub why: &'static str,
    pub count: usize,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Report {
    pub added: usize,
    /// Sessions that were here and got messages that were written since.
    pub grown: usize,
    /// Sessions that were here and stay as they are.
    pub already: usize,
    pub messages: usize,
    pub calls: usize,
    pub pictures: usize,
    pub problems: Vec<Problem>,
    pub more_problems: usize,
    pub stopped: bool,
    left_out: BTreeMap<(String, &'static str), usize>,
}

impl Report {
    pub fn problem(&mut self, what: impl Into<String>, why: impl ToString) {
        if self.problems.len() == MOST_PROBLEMS {
            self.more_problems += 1;
            return;
        }
        self.problems.push(Problem {
            what: what.into(),
            why: why.to_string(),
        });
    }

    pub fn leave_out(&mut self, what: impl Into<String>, why: &'static str) {
        // A type comes from a file and may be anything.
        let what: String = what.into().chars().take(60).collect();
        const MOST_TYPES: usize = 200;
        let key = match (what, why) {
            key if self.left_out.len() < MOST_TYPES || self.left_out.contains_key(&key) => key,
            (_, why) => ("other types".to_owned(), why),
        };
        *self.left_out.entry(key).or_default() += 1;
    }

    pub fn left_out(&self) -> Vec<LeftOut> {
        let entries = self.left_out.iter();
        entries
            .map(|((what, why), count)| LeftOut {
                what: what.clone(),
                why,
                count: *count,
            })
            .collect()
    }

    /// The counts of one file, which is read more than once.
    pub(crate) fn take_left_out(&mut self, other: Report) {
        for (key, count) in other.left_out {
            *self.left_out.entry(key).or_default() += count;
        }
    }
}
