//! Keeping the search index level with the store.
//!
//! The index is derived: what changes here is heard on the bus and read again a moment later,
//! what changed elsewhere (another program, a crash, a restored session) shows in the marks
//! that the index keeps of each session. Nothing waits for it but a search.

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
use lathe_records::bus::{Heard, Subscription, Told};
use lathe_records::{Failed, Records};

use crate::SearchError;
use crate::index::{Index, MessageWords, SessionMark};

pub use error::IndexError;

/// How long a change may wait before it can be found without being asked for.
const PAUSE: Duration = Duration::from_secs(2);
/// How long we trust that no other program has changed a session.
const TRUST: Millis = Millis(20_000);
/// How long somebody who types waits for the index to be level.
const PATIENCE: Duration = Duration::from_millis(300);
/// More places in one session than anyone walks through.
const MOST_PLACES: usize = 5000;

pub struct LiveIndex {
    records: Records,
    index: Arc<Index>,
    heard: Mutex<Subscription>,
    changes: Mutex<Changes>,
    /// Sessions of which nothing is missing, as long as we hear of every change.
    level: Mutex<HashSet<SessionId>>,
    /// One reader of the store at a time.
    working: tokio::sync::Mutex<()>,
    looking: AtomicBool,
    looked: Mutex<Option<Millis>>,
}

/// What was told and is not indexed yet.
#[derive(Default)]
struct Changes {
    messages: HashMap<SessionId, HashSet<MessageId>>,
    /// Sessions whose record changed.
    touched: HashSet<SessionId>,
    /// Sessions that came whole: created, restored.
    came: HashSet<SessionId>,
    gone: HashSet<SessionId>,
    busy: HashSet<SessionId>,
    /// Something was told that we did not hear.
    missed: bool,
}

impl LiveIndex {
    /// Opens the index; it is empty or behind until [`LiveIndex::look`] has run.
    pub async fn open(records: Records, path: PathBuf) -> Result<Arc<Self>> {
        let heard = Mutex::new(records.bus().subscribe());
        let index = blocking(move || Index::open(path)).await?;
        let indexing = Arc::new(LiveIndex {
            records,
            index: Arc::new(index),
            heard,
            changes: Mutex::default(),
            level: Mutex::default(),
            working: tokio::sync::Mutex::default(),
            looking: AtomicBool::new(false),
            looked: Mutex::default(),
        });
        tokio::spawn(follow(
            Arc::downgrade(&indexing),
            indexing.records.bus().subscribe(),
        ));
        Ok(indexing)
    }

    /// Looks for what changed while nobody listened, in the background.
    pub fn look_soon(self: &Arc<Self>) {
        if self.looking.swap(true, Ordering::AcqRel) {
            return;
        }
        let indexing = self.clone();
        tokio::spawn(async move {
            if let Err(error) = indexing.look().await {
                tracing::warn!(%error, "the search index could not be brought up to date");
            }
            indexing.looking.store(false, Ordering::Release);
        });
    }

    /// When this returns, everything that is stored can be found.
    pub async fn look(&self) -> Result<()> {
        self.catch_up().await?;
        let _working = self.working.lock().await;
        match self.look_once().await {
            Err(IndexError::Search(SearchError::Emptied)) => self.look_once().await,
            looked => looked,
        }?;
        *self.looked.lock() = Some(self.records.now());
        Ok(())
    }

    /// In what is indexed so far: whoever types does not wait for a long history to be read.
    pub async fn search(self: &Arc<Self>, typed: &str, limit: usize) -> Result<SearchAnswer> {
        let is_caught_up = match tokio::time::timeout(PATIENCE, self.working.lock()).await {
            Ok(_working) => {
                self.take_up().await?;
                true
            }
            Err(_) => false,
        };
        let now = self.records.now();
        let fresh = self
            .looked
            .lock()
            .is_some_and(|then| now.0 - then.0 < TRUST.0);
        if !fresh {
            self.look_soon();
        }
        let typed = typed.to_owned();
        let hits = match self
            .on_index(move |index| index.search(&typed, limit))
            .await
        {
            Err(IndexError::Search(SearchError::Emptied)) => {
                self.look_soon();
                Vec::new()
            }
            found => found?,
        };
        let indexing = !is_caught_up || self.looking.load(Ordering::Acquire);
        Ok(SearchAnswer { hits, indexing })
    }

    /// Waits until everything stored is indexed.
    pub async fn sessions_with(&self, typed: &str) -> Result<HashSet<SessionId>> {
        self.look().await?;
        let typed = typed.to_owned();
        self.on_index(move |index| index.sessions_with(&typed))
            .await
    }

    /// Everything of this session counts, also what was never on screen.
    pub async fn find(&self, session: &Session, text: &str) -> Result<Vec<FindHit>> {
        self.catch_up().await?;
        let _working = self.working.lock().await;
        match self.find_once(session, text).await {
            Err(IndexError::Search(SearchError::Emptied)) => self.find_once(session, text).await,
            found => found,
        }
    }

    async fn find_once(&self, session: &Session, text: &str) -> Result<Vec<FindHit>> {
        self.make_level(session).await?;
        let (id, text) = (session.id.clone(), text.to_owned());
        self.on_index(move |index| index.find(&id, &text, MOST_PLACES))
            .await
    }

    pub async fn rebuild(&self) -> Result<()> {
        self.on_index(|index| index.clear()).await?;
        self.level.lock().clear();
        self.look().await
    }

    /// Indexes what was told since the last time.
    async fn catch_up(&self) -> Result<()> {
        let _working = self.working.lock().await;
        self.take_up().await
    }

    /// The caller holds `working`.
    async fn take_up(&self) -> Result<()> {
        self.listen();
        let changes = self.changes.lock().take();
        for id in &changes.gone {
            self.level.lock().remove(id);
            let id = id.clone();
            self.on_index(move |index| index.remove_session(&id))
                .await?;
        }
        for id in &changes.came {
            if let Some(session) = self.records.store().session(id).await? {
                self.read_again(&session).await?;
            }
        }
        for (session, messages) in &changes.messages {
            self.put(session, messages).await?;
        }
        let touched = changes.touched.iter().chain(changes.messages.keys());
        for id in touched.collect::<HashSet<_>>() {
            // One that is not level yet is read whole when its turn comes.
            if self.level.lock().contains(id) {
                self.note(id, changes.busy.contains(id)).await?;
            }
        }
        if changes.missed {
            self.level.lock().clear();
            self.look_once().await?;
        }
        Ok(())
    }

    /// Sorts what the bus says into what must be read again.
    fn listen(&self) {
        let mut heard = self.heard.lock();
        let mut changes = self.changes.lock();
        while let Some(heard) = heard.try_next() {
            match heard {
                Heard::Missed => changes.missed = true,
                Heard::Notice(notice) => {
                    if let Told::Event(event) = &notice.told {
                        changes.take_event(event);
                    }
                }
            }
        }
    }

    async fn put(&self, session: &SessionId, ids: &HashSet<MessageId>) -> Result<()> {
        let (mut there, mut gone) = (Vec::new(), Vec::new());
        for id in ids {
            match self.records.store().message(session, id).await? {
                Some(message) => there.push(MessageWords::of(&message)),
                None => gone.push(id.clone()),
            }
        }
        self.on_index(move |index| {
            index.remove_messages(&gone)?;
            index.put_messages(&there)
        })
        .await
    }

    /// A session that was level stays so.
    async fn note(&self, id: &SessionId, busy: bool) -> Result<()> {
        let Some(session) = self.records.store().session(id).await? else {
            return Ok(());
        };
        let mark = match busy {
            true => SessionMark::Changing,
            false => SessionMark::Known(session.time.updated),
        };
        self.on_index(move |index| index.note_session(&session, mark))
            .await
    }

    async fn on_index<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Index) -> crate::Result<T> + Send + 'static,
    ) -> Result<T> {
        let index = self.index.clone();
        let done = blocking(move || work(&index)).await;
        if let Err(IndexError::Search(SearchError::Emptied)) = &done {
            self.level.lock().clear();
        }
        done
    }
}

impl Changes {
    /// Who is busy is not forgotten with the rest.
    fn take(&mut self) -> Changes {
        let busy = self.busy.clone();
        let taken = std::mem::take(self);
        self.busy = busy;
        taken
    }

    fn take_event(&mut self, event: &Event) {
        match event {
            Event::SessionCreated { info } => {
                self.gone.remove(&info.id);
                self.came.insert(info.id.clone());
            }
            Event::SessionUpdated { info } => {
                self.touched.insert(info.id.clone());
            }
            Event::SessionDeleted { info } => {
                self.came.remove(&info.id);
                self.touched.remove(&info.id);
                self.messages.remove(&info.id);
                self.busy.remove(&info.id);
                self.gone.insert(info.id.clone());
            }
            Event::SessionStatus { session_id, status } => {
                match status {
                    SessionStatus::Idle => self.busy.remove(session_id),
                    _ => self.busy.insert(session_id.clone()),
                };
                self.touched.insert(session_id.clone());
            }
            Event::MessageUpdated { info } => self.message(info.session_id(), info.id()),
            Event::MessageRemoved {
                session_id,
                message_id,
            } => self.message(session_id, message_id),
            Event::MessagePartUpdated(update) => {
                self.message(update.part.session_id(), update.part.message_id())
            }
            Event::MessagePartRemoved {
                session_id,
                message_id,
                ..
            } => self.message(session_id, message_id),
            _ => {}
        }
    }

    fn message(&mut self, session: &SessionId, message: &MessageId) {
        self.messages
            .entry(session.clone())
            .or_default()
            .insert(message.clone());
    }
}

/// Gathers what changes for a moment, then has it indexed. Ends with the program.
async fn follow(indexing: Weak<LiveIndex>, mut heard: Subscription) {
    while let Some(first) = heard.next().await {
        if matches!(&first, Heard::Notice(notice) if !concerns(&notice.told)) {
            continue;
        }
        // A turn that begins is noted at once: after a crash its session is read again.
        if !matches!(&first, Heard::Notice(notice) if begins(&notice.told)) {
            tokio::time::sleep(PAUSE).await;
        }
        while heard.try_next().is_some() {}
        let Some(indexing) = indexing.upgrade() else {
            return;
        };
        if let Err(error) = indexing.catch_up().await {
            tracing::warn!(%error, "a change could not be indexed");
        }
    }
}

fn concerns(told: &Told) -> bool {
    matches!(told, Told::Event(event) if !matches!(**event, Event::SessionIdle { .. } | Event::FileEdited { .. } | Event::TodoUpdated { .. } | Event::SessionDiff { .. }))
}

fn begins(told: &Told) -> bool {
    matches!(told, Told::Event(event) if matches!(&**event, Event::SessionStatus { status, .. } if *status != SessionStatus::Idle))
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
