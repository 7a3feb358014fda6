//! What ends the calls of a step before they are done.

use std::sync::atomic::{AtomicBool, Ordering};

use lathe_tools::{FailureKind, ToolFailure};
use tokio_util::sync::CancellationToken;

/// A step ends with its turn, or when the person refuses one of its calls without a reason.
pub struct StepStop {
    pub cancel: CancellationToken,
    refused: AtomicBool,
}

impl StepStop {
    /// A plain no ends the step and not yet the turn.
    pub fn of_turn(cancel: &CancellationToken) -> Self {
        StepStop {
            cancel: cancel.child_token(),
            refused: AtomicBool::new(false),
        }
    }

    /// After a plain no, nothing more of this step runs.
    pub fn if_refused<T>(&self, answer: &Result<T, ToolFailure>) {
        if let Err(failure) = answer
            && failure.kind == FailureKind::Rejected
        {
            self.refused.store(true, Ordering::Release);
            self.cancel.cancel();
        }
    }

    /// The person refused a call of this step.
    pub fn is_refused(&self) -> bool {
        self.refused.load(Ordering::Acquire)
    }

    /// What becomes of a call that waited for permission when the step was stopped.
    pub fn failure(&self) -> ToolFailure {
        match self.is_refused() {
            true => ToolFailure::not_run(),
            false => ToolFailure::aborted(),
        }
    }
}
