//! What works on this machine: tried, not assumed.

use std::sync::OnceLock;

use crate::plan::Engine;
use crate::system;

/// What was found out about the engines of this machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Probe {
    /// Strongest first, each with why it cannot be used, if it cannot.
    engines: Vec<(Engine, Option<String>)>,
    /// In words, if nothing works.
    reason: Option<String>,
}

impl Probe {
    /// Runs each engine once, and remembers the answer for the life of the process.
    pub fn this_machine() -> &'static Self {
        static PROBE: OnceLock<Probe> = OnceLock::new();
        PROBE.get_or_init(|| Self::from_engines(system::probe()))
    }

    pub(crate) fn from_engines(engines: Vec<(Engine, Option<String>)>) -> Self {
        let works = engines.iter().any(|(_, failure)| failure.is_none());
        let failures: Vec<&str> = engines
            .iter()
            .filter_map(|(_, failure)| failure.as_deref())
            .collect();
        let reason = match (works, failures.is_empty()) {
            (true, _) => None,
            (false, true) => Some(system::UNAVAILABLE.to_owned()),
            (false, false) => Some(failures.join("; ")),
        };
        Self { engines, reason }
    }

    /// The strongest one that works.
    pub fn engine(&self) -> Option<Engine> {
        self.engines
            .iter()
            .find(|(_, failure)| failure.is_none())
            .map(|(engine, _)| *engine)
    }

    /// Why no engine works, in words. Nothing, if one does.
    pub fn reason(&self) -> Option<&str> {
        self.reason.as_deref()
    }

    /// Why an engine cannot be used, in words.
    pub fn failure(&self, engine: Engine) -> Option<&str> {
        match self.engines.iter().find(|(known, _)| *known == engine) {
            Some((_, failure)) => failure.as_deref(),
            None => Some("this system does not have this kind of sandbox"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_strongest_engine_that_works_is_chosen() {
        let probe = Probe::from_engines(vec![
            (Engine::Bubblewrap, Some("no namespaces".into())),
            (Engine::Landlock, None),
        ]);
        assert_eq!(probe.engine(), Some(Engine::Landlock));
        assert_eq!(probe.reason(), None);
        assert_eq!(probe.failure(Engine::Bubblewrap), Some("no namespaces"));
    }

    #[test]
    fn a_machine_without_any_engine_says_why() {
        let probe = Probe::from_engines(vec![
            (Engine::Bubblewrap, Some("bwrap is not installed".into())),
            (Engine::Landlock, Some("the kernel has no Landlock".into())),
        ]);
        assert_eq!(probe.engine(), None);
        let reason = "bwrap is not installed; the kernel has no Landlock";
        assert_eq!(probe.reason(), Some(reason));
        assert!(Probe::from_engines(Vec::new()).reason().is_some());
    }
}
