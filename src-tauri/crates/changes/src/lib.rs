//! What a person does with the changes of a session: looks at them, keeps and reverts lines,
//! comments, goes back to a step, commits, and brings a worktree back.
//!
//! [`Changes`] works on the sessions of [`Sessions`], whose locks it takes: nothing is edited while
//! a turn runs. It must not know windows, rendering, models or servers, nor how a turn works.

mod brought;
mod comments;
mod commit_message;
mod git;
mod judge;
mod own_worktree;
mod shown;
mod staging;
mod steps;
mod undo;
mod watch;

use std::path::PathBuf;
use std::sync::Arc;

use lathe_records::Records;
use lathe_review::Review;
use lathe_session::Sessions;

pub use comments::refusal;
pub use judge::RestorePlan;
pub use lathe_review::judge::{Becomes, PlannedEdit};
pub use lathe_review::scope::Contents;
use watch::ReviewWatch;

#[derive(Clone)]
pub struct Changes {
    sessions: Sessions,
    records: Records,
    review: Arc<Review>,
    data_dir: PathBuf,
    watching: Arc<ReviewWatch>,
    sending: Arc<tokio::sync::Mutex<()>>,
}

impl Changes {
    pub fn new(sessions: Sessions) -> Self {
        let base = sessions.foundation();
        Changes {
            records: base.records,
            review: base.review,
            data_dir: base.data_dir,
            watching: Arc::default(),
            sending: Arc::default(),
            sessions,
        }
    }
}
