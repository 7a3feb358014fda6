//! Where imported sessions go.

use lathe_protocol::{MessageWithParts, Session, SessionId};

/// The field of a session's record that says where it was imported from.
pub const IMPORTED: &str = "imported";

/// What is here of a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Known {
    New,
    /// It was imported when its source was shorter.
    Grown,
    Same,
    /// It was imported and then continued here. Messages from there would come in between.
    Continued,
}

/// Stores sessions. The messages of one session come in order, between `begin` and `end`. A session
/// that is not ended (the import was stopped, or failed) must not become visible.
pub trait Writer {
    type Error: std::fmt::Display;

    /// `mark` changes whenever the source of the session changes. It is part of the record that
    /// `end` gets.
    fn begin(&mut self, session: &SessionId, mark: &str) -> Result<Known, Self::Error>;
    fn message(&mut self, message: &MessageWithParts) -> Result<(), Self::Error>;
    fn end(&mut self, session: Session) -> Result<(), Self::Error>;
}

/// Writes nothing: for a session that is here already, to learn the ids of its messages.
pub(crate) struct Discard;

impl Writer for Discard {
    type Error = std::convert::Infallible;

    fn begin(&mut self, _: &SessionId, _: &str) -> Result<Known, Self::Error> {
        Ok(Known::New)
    }

    fn message(&mut self, _: &MessageWithParts) -> Result<(), Self::Error> {
        Ok(())
    }

    fn end(&mut self, _: Session) -> Result<(), Self::Error> {
        Ok(())
    }
}
