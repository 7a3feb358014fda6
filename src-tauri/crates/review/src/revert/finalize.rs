//! Removes what a pending revert hides.

use lathe_protocol::{Event, MessageId, Session, SessionId};

use super::cut::Cut;
use super::undo_log;
use crate::Review;
use crate::error::Result;

/// Makes a pending revert final by removing what it hides, the newest first: after a crash in
/// between, the rest is still hidden and can be removed again.
pub async fn finalize(review: &Review, session: Session) -> Result<Session> {
    let Some(state) = &session.revert else {
        return Ok(session);
    };
    let id = session.id.clone();
    let records = &review.records;
    let messages = records.messages(&id, None, usize::MAX).await?.messages;
    if let Some(cut) = Cut::find(&messages, state) {
        let whole = cut.message + usize::from(cut.part > 0);
        for message in messages.iter().skip(whole).rev() {
            remove_message(review, &id, message.info.id()).await?;
        }
        if cut.part > 0 {
            let parts = messages[cut.message].parts.iter().skip(cut.part);
            for part in parts.rev() {
                records.remove_part(part).await?;
            }
        }
    }
    let mut entries = undo_log::load(review, &id).await?;
    if let Some(first) = entries.iter().position(|entry| entry.hides) {
        entries.truncate(first);
        undo_log::save(review, &id, entries).await?;
    }
    let done = |session: &mut Session| session.revert = None;
    Ok(records.update_session(&id, done).await?)
}

async fn remove_message(review: &Review, session: &SessionId, id: &MessageId) -> Result<()> {
    review.records.store().remove_message(session, id).await?;
    review.records.publish(Event::MessageRemoved {
        session_id: session.clone(),
        message_id: id.clone(),
    });
    Ok(())
}
