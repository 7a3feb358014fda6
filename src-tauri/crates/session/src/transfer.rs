//! Exports a session for another machine, without what is only valid here.
//!
//! Attachments are stored with their content. One that only names a file stays a name: the session
//! may have been imported, and the file may be anything on this machine.

use lathe_protocol::ipc::SessionExport;
use lathe_protocol::{FileDiff, MessageWithParts, Session, Todo};

/// `messages` does not include what a pending revert hides.
pub fn export(
    session: Session,
    messages: Vec<MessageWithParts>,
    todos: Vec<Todo>,
    diff: Vec<FileDiff>,
) -> SessionExport {
    SessionExport {
        // Undo records and the share stay on this machine.
        info: Session {
            revert: None,
            share: None,
            ..session
        },
        messages,
        todos: (!todos.is_empty()).then_some(todos),
        diff: (!diff.is_empty()).then_some(diff),
    }
}
