//! Removes what a pending revert hides, and keeps it in the list "Reverted and removed".

use lathe_protocol::{Event, MessageId, Part, Session, SessionId};

use super::cut::Cut;
use super::{archive, undo_log};
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
    let mut entries = undo_log::load(review, &id).await?;
    let hiding = undo_log::split_off_hiding(&mut entries);
    let cut = Cut::find(&messages, state);
    if cut.is_none() {
        // Another program removed the message: what undoes the revert of its files stays.
        archive::add(review, &id, Vec::new(), Vec::new(), hiding.clone()).await?;
    }
    if let Some(cut) = cut {
        let whole = cut.message + usize::from(cut.part > 0);
        let parts: &[Part] = match (cut.part, messages.get(cut.message)) {
            (0, _) | (_, None) => &[],
            (part, Some(message)) => message.parts.get(part..).unwrap_or_default(),
        };
        let removed = messages.get(whole..).unwrap_or_default();
        archive::add(review, &id, removed.to_vec(), parts.to_vec(), hiding).await?;
        for message in removed.iter().rev() {
            remove_message(review, &id, message.info.id()).await?;
        }
        for part in parts.iter().rev() {
            records.remove_part(part).await?;
        }
    }
    undo_log::save(review, &id, entries).await?;
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
