//! Publishes what other processes do with the same data: `lathectl`, an import, a server.
//!
//! The file system says when a session's record changed and when a process begins to work on one;
//! nothing is read while nothing happens. While another process works on a session, its newest
//! messages are read several times a second. Knows files only through the store.

mod tail;

use std::collections::{HashMap, HashSet};
use std::panic::AssertUnwindSafe;
use std::path::Path;
use std::time::Duration;

use futures::FutureExt;
use lathe_protocol::{Event, Session, SessionId};
use lathe_store::{Store, Trace};
use notify::{RecursiveMode, Watcher};
use tokio::sync::mpsc;

use crate::Records;
use crate::bus::{BusItem, Notification, Subscription};
use tail::Tail;

/// One change makes several notices, and our own changes are published at once.
const GATHER: Duration = Duration::from_millis(50);
/// How often the messages of a session that another process works on are read.
const POLL: Duration = Duration::from_millis(250);
/// The pause after a fault, so that one that repeats itself does not use up the processor.
const AFTER_A_FAULT: Duration = Duration::from_millis(500);

/// Follows other processes until this value is dropped.
pub struct OtherProcesses {
    _watcher: notify::RecommendedWatcher,
    task: tokio::task::JoinHandle<()>,
}

impl OtherProcesses {
    pub fn follow(records: Records) -> Result<Self, notify::Error> {
        let (sender, traces) = mpsc::unbounded_channel();
        let mut watcher =
            notify::recommended_watcher(move |event: notify::Result<notify::Event>| {
                let Ok(event) = event else { return };
                if event.kind.is_access() {
                    return;
                }
                for trace in event.paths.iter().filter_map(|path| Store::trace(path)) {
                    // The receiver is gone only when the program ends.
                    let _ = sender.send(trace);
                }
            })?;
        let (sessions, locks) = records.store().traced_folders();
        // It is made with the first session.
        if let Err(error) = std::fs::create_dir_all(&sessions) {
            return Err(notify::Error::io(error));
        }
        watcher.watch(&sessions, RecursiveMode::Recursive)?;
        watcher.watch(&locks, RecursiveMode::NonRecursive)?;
        let follower = Follower {
            own: records.bus().subscribe(),
            records,
            older: sessions_below(&sessions),
            known: HashMap::new(),
            working: HashMap::new(),
        };
        let task = tokio::spawn(follower.run_on(traces));
        let _watcher = watcher;
        Ok(OtherProcesses { _watcher, task })
    }
}

impl Drop for OtherProcesses {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// The sessions whose records are in the folders of their projects.
fn sessions_below(folder: &Path) -> HashSet<SessionId> {
    let entries = |folder: &Path| std::fs::read_dir(folder).into_iter().flatten().flatten();
    let records = entries(folder).flat_map(|project| entries(&project.path()));
    let traces = records.filter_map(|record| Store::trace(&record.path()));
    let ids = traces.filter_map(|trace| match trace {
        Trace::Record(id) => Some(id),
        Trace::Lock(_) => None,
    });
    ids.collect()
}

struct Follower {
    records: Records,
    /// What this process publishes.
    own: Subscription,
    /// The sessions that were here before this began. They are not read for it.
    older: HashSet<SessionId>,
    /// The sessions as they were last published.
    known: HashMap<SessionId, Session>,
    /// The sessions that other processes work on.
    working: HashMap<SessionId, Tail>,
}

impl Follower {
    /// A fault of the program costs one change of another process, and not all that come after it.
    async fn run_on(mut self, mut traces: mpsc::UnboundedReceiver<Trace>) {
        loop {
            let run = AssertUnwindSafe(self.run(&mut traces));
            if run.catch_unwind().await.is_ok() {
                return;
            }
            tokio::time::sleep(AFTER_A_FAULT).await;
        }
    }

    async fn run(&mut self, traces: &mut mpsc::UnboundedReceiver<Trace>) {
        let mut poll = tokio::time::interval(POLL);
        poll.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        loop {
            tokio::select! {
                first = traces.recv() => {
                    let Some(first) = first else { return };
                    tokio::time::sleep(GATHER).await;
                    let mut all = HashSet::from([first]);
                    while let Ok(more) = traces.try_recv() {
                        all.insert(more);
                    }
                    self.take_own();
                    for trace in all {
                        self.take(trace).await;
                    }
                }
                item = self.own.next() => match item {
                    Some(item) => self.note(item),
                    None => return,
                },
                _ = poll.tick(), if !self.working.is_empty() => self.read_tails().await,
            }
        }
    }

    fn take_own(&mut self) {
        while let Some(item) = self.own.try_next() {
            self.note(item);
        }
    }

    fn note(&mut self, item: BusItem) {
        let BusItem::Notification(numbered) = item else {
            return;
        };
        let Notification::Event(event) = numbered.notification else {
            return;
        };
        match &*event {
            Event::SessionCreated { info } | Event::SessionUpdated { info } => {
                self.known.insert(info.id.clone(), info.clone());
            }
            Event::SessionDeleted { info } => {
                self.older.remove(&info.id);
                self.known.remove(&info.id);
            }
            _ => {}
        }
    }

    async fn take(&mut self, trace: Trace) {
        match trace {
            Trace::Record(id) => self.publish_session(&id).await,
            Trace::Lock(id) => {
                if self.records.store().is_worked_on_elsewhere(&id).await {
                    self.working.entry(id).or_default();
                }
            }
        }
    }

    async fn publish_session(&mut self, id: &SessionId) {
        #[cfg(test)]
        tests::fail_once();
        match self.records.store().session(id).await {
            Ok(Some(info)) => {
                let event = match self.known.insert(id.clone(), info.clone()) {
                    Some(before) if before == info => return,
                    Some(_) => Event::SessionUpdated { info },
                    None if self.older.contains(id) => Event::SessionUpdated { info },
                    None => Event::SessionCreated { info },
                };
                self.records.publish(event);
            }
            Ok(None) => self.publish_removal(id).await,
            Err(error) => tracing::info!(%error, "a session of another process cannot be read"),
        }
    }

    async fn publish_removal(&mut self, id: &SessionId) {
        // It can be restored, which makes it again.
        self.older.remove(id);
        let info = match self.known.remove(id) {
            Some(info) => Some(info),
            None => {
                let trash = self.records.store().trashed().await.unwrap_or_default();
                let found = trash.into_iter().find(|one| one.session.id == *id);
                found.map(|one| one.session)
            }
        };
        if let Some(info) = info {
            self.records.publish(Event::SessionDeleted { info });
        }
    }

    async fn read_tails(&mut self) {
        for id in self.working.keys().cloned().collect::<Vec<_>>() {
            // Asked first: what is written before the end is then read.
            let goes_on = self.records.store().is_worked_on_elsewhere(&id).await;
            if let Some(tail) = self.working.get_mut(&id)
                && (!goes_on || tail.is_due())
                && let Err(error) = tail.publish_changes(&self.records, &id).await
            {
                tracing::info!(%error, "the messages of another process cannot be read");
            }
            if !goes_on {
                self.working.remove(&id);
                self.publish_session(&id).await;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicBool, Ordering};

    use lathe_protocol::{IdSource, Millis, Tick};
    use serde_json::json;

    use super::*;
    use crate::bus::Bus;
    use crate::clock::SystemClock;

    static FAULT: AtomicBool = AtomicBool::new(false);

    /// Called for every change, so that a test can make one fail.
    pub(super) fn fail_once() {
        if FAULT.swap(false, Ordering::SeqCst) {
            panic!("a fault");
        }
    }

    /// Writes a session as another process does.
    fn write(folder: &std::path::Path, id: &SessionId) {
        let session = json!({
            "id": id, "projectID": "global", "directory": "/garden", "title": "Roses",
            "version": "1", "time": { "created": 1, "updated": 1 },
        });
        std::fs::write(folder.join(format!("{id}.json")), session.to_string()).unwrap();
    }

    async fn until_created(events: &mut Subscription, id: &SessionId) {
        loop {
            let Some(BusItem::Notification(notice)) = events.next().await else {
                panic!("fell behind")
            };
            let Notification::Event(event) = notice.notification else {
                continue;
            };
            if matches!(&*event, Event::SessionCreated { info } if info.id == *id) {
                return;
            }
        }
    }

    #[tokio::test]
    async fn other_processes_are_followed_after_a_fault_of_the_program() {
        let data = tempfile::tempdir().unwrap();
        let store = Store::open(data.path(), lathe_store::Options::default()).await;
        let records = Records::new(store.unwrap(), Bus::default(), Arc::new(SystemClock));
        let mut events = records.bus().subscribe();
        let (sessions, _) = records.store().traced_folders();
        let sessions = sessions.join("global");
        std::fs::create_dir_all(&sessions).unwrap();
        let ids = IdSource::new(Tick::default());
        let (lost, found) = (ids.session(Millis(1)), ids.session(Millis(2)));
        let _following = OtherProcesses::follow(records.clone()).unwrap();

        FAULT.store(true, Ordering::SeqCst);
        write(&sessions, &lost);
        while FAULT.load(Ordering::SeqCst) {
            tokio::task::yield_now().await;
        }
        write(&sessions, &found);
        let appeared = until_created(&mut events, &found);
        let appeared = tokio::time::timeout(Duration::from_secs(30), appeared).await;
        appeared.expect("it is not followed any more");
    }
}
