//! Keeps the search index up to date with the store.
//!
//! Changes made by this process arrive on the bus and are read a moment later. Changes made
//! elsewhere (another process, a crash, a restored session) show in the state that the index
//! stores for each session. Only a search waits for the index.

mod error;
mod read_session;

use std::collections::{HashMap, HashSet};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Weak};
use std::time::Duration;

use lathe_protocol::ipc::{FindHit, SearchAnswer};
use lathe_protocol::{Event, MessageId, Millis, Session, SessionId, SessionStatus};
use parking_lot::Mutex;

use error::Result;
use lathe_records::bus::{BusItem, Notification, Subscription};
use lathe_records::{Failed, Records};

use crate::SearchError;
use crate::index::{Index, IndexState, MessageText};

pub use error::IndexError;

/// How long changes are gathered before they are indexed.
const PAUSE: Duration = Duration::from_secs(2);
/// How long a search assumes that no other process has changed a session.
const FRESH: Millis = Millis(20_000);
/// How long a search waits for a running update.
const PATIENCE: Duration = Duration::from_millis(300);
/// More hits in one session than a person steps through.
const MOST_HITS: usize = 5000;

pub struct LiveIndex {
    records: Records,
    index: Arc<Index>,
    notifications: Mutex<Subscription>,
    changes: Mutex<Changes>,
    /// Sessions that are completely indexed, as long as no notification is missed.
    up_to_date: Mutex<HashSet<SessionId>>,
    /// Held while the store is read for the index.
    update_lock: tokio::sync::Mutex<()>,
    /// An update runs in the background.
    updating: AtomicBool,
    last_update: Mutex<Option<Millis>>,
}

/// Published changes that are not indexed yet.
#[derive(Default)]
struct Changes {
    messages: HashMap<SessionId, HashSet<MessageId>>,
    /// Sessions whose record changed.
    touched: HashSet<SessionId>,
    /// Sessions that appeared with all their messages: created, restored.
    added: HashSet<SessionId>,
    removed: HashSet<SessionId>,
    busy: HashSet<SessionId>,
    /// Notifications were dropped.
    missed: bool,
}

/// An update in the background, however it ends.
struct Updating(Arc<LiveIndex>);

impl Drop for Updating {
    fn drop(&mut self) {
        self.0.updating.store(false, Ordering::Release);
    }
}

impl LiveIndex {
    /// Opens the index; it is empty or outdated until [`LiveIndex::update`] has run.
    pub async fn open(records: Records, path: PathBuf) -> Result<Arc<Self>> {
        let notifications = Mutex::new(records.bus().subscribe());
        let index = blocking(move || Index::open(path)).await?;
        let live = Arc::new(LiveIndex {
            records,
            index: Arc::new(index),
            notifications,
            changes: Mutex::default(),
            up_to_date: Mutex::default(),
            update_lock: tokio::sync::Mutex::default(),
            updating: AtomicBool::new(false),
            last_update: Mutex::default(),
        });
        tokio::spawn(follow(
            Arc::downgrade(&live),
            live.records.bus().subscribe(),
        ));
        Ok(live)
    }

    /// Runs [`LiveIndex::update`] in the background, unless it is running there already.
    pub fn update_in_background(self: &Arc<Self>) {
        if self.updating.swap(true, Ordering::AcqRel) {
            return;
        }
        let updating = Updating(self.clone());
        tokio::spawn(async move {
            if let Err(error) = updating.0.update().await {
                tracing::warn!(%error, "the search index could not be brought up to date");
            }
        });
    }

    /// When this returns, everything that is stored can be found.
    pub async fn update(&self) -> Result<()> {
        self.index_changes().await?;
        let _update = self.update_lock.lock().await;
        match self.update_once().await {
            Err(IndexError::Search(SearchError::Emptied)) => self.update_once().await,
            updated => updated,
        }?;
        *self.last_update.lock() = Some(self.records.now());
        Ok(())
    }

    /// Searches what is indexed so far: a person who is typing does not wait until a long
    /// history has been read.
    pub async fn search(self: &Arc<Self>, query: &str, limit: usize) -> Result<SearchAnswer> {
        let is_caught_up = match tokio::time::timeout(PATIENCE, self.update_lock.lock()).await {
            Ok(_update) => {
                self.index_changes_locked().await?;
                true
            }
            Err(_) => false,
        };
        let now = self.records.now();
        let fresh = self
            .last_update
            .lock()
            .is_some_and(|then| now.0 - then.0 < FRESH.0);
        if !fresh {
            self.update_in_background();
        }
        let query = query.to_owned();
        let hits = match self
            .on_index(move |index| index.search(&query, limit))
            .await
        {
            Err(IndexError::Search(SearchError::Emptied)) => {
                self.update_in_background();
                Vec::new()
            }
            found => found?,
        };
        let indexing = !is_caught_up || self.updating.load(Ordering::Acquire);
        Ok(SearchAnswer { hits, indexing })
    }

    /// The sessions that contain every word, once everything stored is indexed.
    pub async fn sessions_with(&self, query: &str) -> Result<HashSet<SessionId>> {
        self.update().await?;
        let query = query.to_owned();
        self.on_index(move |index| index.sessions_with(&query))
            .await
    }

    /// Every hit in one session, also in messages that were never loaded into a window.
    pub async fn find(&self, session: &Session, text: &str) -> Result<Vec<FindHit>> {
        self.index_changes().await?;
        let _update = self.update_lock.lock().await;
        match self.find_once(session, text).await {
            Err(IndexError::Search(SearchError::Emptied)) => self.find_once(session, text).await,
            found => found,
        }
    }

    async fn find_once(&self, session: &Session, text: &str) -> Result<Vec<FindHit>> {
        self.update_session(session).await?;
        let (id, text) = (session.id.clone(), text.to_owned());
        self.on_index(move |index| index.find(&id, &text, MOST_HITS))
            .await
    }

    /// Empties the index and fills it from the store.
    pub async fn rebuild(&self) -> Result<()> {
        self.on_index(|index| index.clear()).await?;
        self.up_to_date.lock().clear();
        self.update().await
    }

    /// Indexes the changes published since the last call.
    async fn index_changes(&self) -> Result<()> {
        let _update = self.update_lock.lock().await;
        self.index_changes_locked().await
    }

    /// The caller holds `update_lock`.
    async fn index_changes_locked(&self) -> Result<()> {
        self.collect_changes();
        let changes = self.changes.lock().take();
        for id in &changes.removed {
            self.up_to_date.lock().remove(id);
            let id = id.clone();
            self.on_index(move |index| index.remove_session(&id))
                .await?;
        }
        for id in &changes.added {
            if let Some(session) = self.records.store().session(id).await? {
                self.reindex(&session).await?;
            }
        }
        for (session, messages) in &changes.messages {
            self.put_messages(session, messages).await?;
        }
        let touched = changes.touched.iter().chain(changes.messages.keys());
        for id in touched.collect::<HashSet<_>>() {
            // A session that is not up to date is read completely by the next update.
            if self.up_to_date.lock().contains(id) {
                self.set_state(id, changes.busy.contains(id)).await?;
            }
        }
        if changes.missed {
            self.up_to_date.lock().clear();
            self.update_once().await?;
        }
        Ok(())
    }

    /// Reads the bus and notes what must be read from the store.
    fn collect_changes(&self) {
        let mut notifications = self.notifications.lock();
        let mut changes = self.changes.lock();
        while let Some(item) = notifications.try_next() {
            match item {
                BusItem::Missed => changes.missed = true,
                BusItem::Notification(numbered) => {
                    if let Notification::Event(event) = &numbered.notification {
                        changes.add_event(event);
                    }
                }
            }
        }
    }

    async fn put_messages(&self, session: &SessionId, ids: &HashSet<MessageId>) -> Result<()> {
        let (mut stored, mut removed) = (Vec::new(), Vec::new());
        for id in ids {
            match self.records.store().message(session, id).await? {
                Some(message) => stored.push(MessageText::new(&message)),
                None => removed.push(id.clone()),
            }
        }
        self.on_index(move |index| {
            index.remove_messages(&removed)?;
            index.put_messages(&stored)
        })
        .await
    }

    /// Stores that a session is still completely indexed.
    async fn set_state(&self, id: &SessionId, busy: bool) -> Result<()> {
        let Some(session) = self.records.store().session(id).await? else {
            return Ok(());
        };
        let mark = match busy {
            true => IndexState::Changing,
            false => IndexState::Complete(session.time.updated),
        };
        self.on_index(move |index| index.set_session(&session, mark))
            .await
    }

    async fn on_index<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Index) -> crate::Result<T> + Send + 'static,
    ) -> Result<T> {
        let index = self.index.clone();
        let done = blocking(move || work(&index)).await;
        if let Err(IndexError::Search(SearchError::Emptied)) = &done {
            self.up_to_date.lock().clear();
        }
        done
    }
}

impl Changes {
    /// Empties this, except for the set of busy sessions.
    fn take(&mut self) -> Changes {
        let busy = self.busy.clone();
        let taken = std::mem::take(self);
        self.busy = busy;
        taken
    }

    fn add_event(&mut self, event: &Event) {
        match event {
            Event::SessionCreated { info } => {
                self.removed.remove(&info.id);
                self.added.insert(info.id.clone());
            }
            Event::SessionUpdated { info } => {
                self.touched.insert(info.id.clone());
            }
            Event::SessionDeleted { info } => {
                self.added.remove(&info.id);
                self.touched.remove(&info.id);
                self.messages.remove(&info.id);
                self.busy.remove(&info.id);
                self.removed.insert(info.id.clone());
            }
            Event::SessionStatus { session_id, status } => {
                match status {
                    SessionStatus::Idle => self.busy.remove(session_id),
                    _ => self.busy.insert(session_id.clone()),
                };
                self.touched.insert(session_id.clone());
            }
            Event::MessageUpdated { info } => self.add_message(info.session_id(), info.id()),
            Event::MessageRemoved {
                session_id,
                message_id,
            } => self.add_message(session_id, message_id),
            Event::MessagePartUpdated(update) => {
                self.add_message(update.part.session_id(), update.part.message_id())
            }
            Event::MessagePartRemoved {
                session_id,
                message_id,
                ..
            } => self.add_message(session_id, message_id),
            _ => {}
        }
    }

    fn add_message(&mut self, session: &SessionId, message: &MessageId) {
        self.messages
            .entry(session.clone())
            .or_default()
            .insert(message.clone());
    }
}

/// Gathers changes for a moment, then indexes them. Ends when the index is dropped.
async fn follow(live: Weak<LiveIndex>, mut notifications: Subscription) {
    while let Some(first) = notifications.next().await {
        if matches!(&first, BusItem::Notification(one) if !is_indexed(&one.notification)) {
            continue;
        }
        // The start of a turn is stored at once: after a crash its session is read again.
        if !matches!(&first, BusItem::Notification(one) if starts_turn(&one.notification)) {
            tokio::time::sleep(PAUSE).await;
        }
        while notifications.try_next().is_some() {}
        let Some(live) = live.upgrade() else {
            return;
        };
        // A fault of the program costs one update of the index, not all later ones.
        let indexing = tokio::spawn({
            let live = live.clone();
            async move { live.index_changes().await }
        });
        match indexing.await {
            Ok(Ok(())) => {}
            Ok(Err(error)) => tracing::warn!(%error, "a change could not be indexed"),
            Err(error) => {
                tracing::error!(%error, "a change could not be indexed");
                live.changes.lock().missed = true;
            }
        }
    }
}

fn is_indexed(notification: &Notification) -> bool {
    matches!(notification, Notification::Event(event) if !matches!(**event, Event::SessionIdle { .. } | Event::FileEdited { .. } | Event::TodoUpdated { .. } | Event::SessionDiff { .. }))
}

fn starts_turn(notification: &Notification) -> bool {
    matches!(notification, Notification::Event(event) if matches!(&**event, Event::SessionStatus { status, .. } if *status != SessionStatus::Idle))
}

async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> crate::Result<T> + Send + 'static,
) -> Result<T> {
    match tokio::task::spawn_blocking(work).await {
        Ok(done) => Ok(done?),
        Err(error) => Err(Failed::refused(format!("The search was stopped: {error}")).into()),
    }
}

#[cfg(test)]
mod tests;
