//! Files that are not known to be on the disk.
//!
//! A debt is paid when its file was synced and has not been written to since; while somebody
//! syncs it, it is still owed, so that nobody else takes it for safe.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use lathe_protocol::SessionId;
use parking_lot::Mutex;

use crate::key::Key;

#[derive(Default)]
pub(super) struct Owed(Mutex<Debts>);

#[derive(Default)]
struct Debts {
    /// How many writes there have been.
    writes: u64,
    /// By the folder of the key.
    open: HashMap<PathBuf, HashMap<Key, Debt>>,
}

struct Debt {
    owner: Option<SessionId>,
    state: State,
}

#[derive(Clone, Copy, PartialEq)]
enum State {
    BeingWritten,
    /// The how manieth write this was.
    Written(u64),
}

/// Debts as they were when somebody began to pay them.
pub(super) struct Claims {
    /// The writes there had been.
    pub(super) at: u64,
    of: Vec<(Key, State)>,
}

impl Owed {
    /// To be called before a file changes, by whoever holds its key's lock.
    pub(super) fn begin(&self, key: &Key, owner: Option<&SessionId>) {
        let mut debts = self.0.lock();
        let folder = debts.open.entry(folder(key).to_owned()).or_default();
        let named = || SessionId::parse(key.session_name()?).ok();
        let before = folder.remove(key).and_then(|debt| debt.owner);
        let debt = Debt {
            owner: owner.cloned().or_else(named).or(before),
            state: State::BeingWritten,
        };
        folder.insert(key.clone(), debt);
    }

    /// The file has changed, or may have.
    pub(super) fn written(&self, key: &Key) {
        let mut debts = self.0.lock();
        debts.writes += 1;
        let state = State::Written(debts.writes);
        let folder = debts.open.get_mut(folder(key));
        if let Some(debt) = folder.and_then(|folder| folder.get_mut(key)) {
            debt.state = state;
        }
    }

    /// What is owed to a session, with what lies beside it.
    pub(super) fn to(&self, session: &SessionId) -> Claims {
        self.claims(|_, debt| debt.concerns(session))
    }

    /// What is owed for one record, with what lies beside it.
    pub(super) fn for_record(&self, record: &Key) -> Claims {
        self.claims(|key, _| key == record)
    }

    /// Syncing a folder makes every name in it safe, whether or not the bytes are: whatever is
    /// owed in a folder is therefore paid together.
    fn claims(&self, is_wanted: impl Fn(&Key, &Debt) -> bool) -> Claims {
        let debts = self.0.lock();
        let is_any_wanted = |folder: &&HashMap<Key, Debt>| {
            let mut debts = folder.iter();
            debts.any(|(key, debt)| is_wanted(key, debt))
        };
        let folders = debts.open.values().filter(is_any_wanted);
        Claims {
            at: debts.writes,
            of: folders
                .flatten()
                .map(|(key, debt)| (key.clone(), debt.state))
                .collect(),
        }
    }

    /// What was written in a folder after so many writes.
    pub(super) fn since(&self, at: u64, folder: &Path) -> Vec<Key> {
        let debts = self.0.lock();
        let is_new = |debt: &Debt| matches!(debt.state, State::Written(write) if write > at);
        let folder = debts.open.get(folder).into_iter().flatten();
        folder
            .filter(|(_, debt)| is_new(debt))
            .map(|(key, _)| key.clone())
            .collect()
    }

    pub(super) fn paid(&self, claims: &Claims) {
        let mut debts = self.0.lock();
        for (key, state) in &claims.of {
            let Some(open) = debts.open.get_mut(folder(key)) else {
                continue;
            };
            let is_same = |debt: &Debt| debt.state == *state;
            if *state != State::BeingWritten && open.get(key).is_some_and(is_same) {
                open.remove(key);
            }
            if open.is_empty() {
                debts.open.remove(folder(key));
            }
        }
    }

    pub(super) fn is_any(&self, session: &SessionId) -> bool {
        let debts = self.0.lock();
        let mut all = debts.open.values().flat_map(HashMap::values);
        all.any(|debt| debt.concerns(session))
    }

    pub(super) fn is_owed(&self, key: &Key) -> bool {
        let debts = self.0.lock();
        let folder = debts.open.get(folder(key));
        folder.is_some_and(|folder| folder.contains_key(key))
    }

    /// For whoever made a session's files safe in another way.
    #[cfg(target_os = "linux")]
    pub(super) fn forget(&self, session: &SessionId) {
        let mut debts = self.0.lock();
        debts.open.retain(|_, folder| {
            folder.retain(|_, debt| debt.owner.as_ref() != Some(session));
            !folder.is_empty()
        });
    }
}

impl Claims {
    pub(super) fn keys(&self) -> impl Iterator<Item = &Key> {
        self.of.iter().map(|(key, _)| key)
    }

    pub(super) fn retain(&mut self, is_wanted: impl Fn(&Key) -> bool) {
        self.of.retain(|(key, _)| is_wanted(key));
    }
}

impl Debt {
    /// What belongs to no session that we know of may belong to any.
    fn concerns(&self, session: &SessionId) -> bool {
        self.owner.as_ref().is_none_or(|owner| owner == session)
    }
}

fn folder(key: &Key) -> &Path {
    Path::new(key.parent())
}
