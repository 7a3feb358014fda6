//! Selects the messages that the model sees after compactions.

use lathe_protocol::{Message, MessageWithParts, Part};

/// The stored key of the first message that a compaction left as it is.
pub const TAIL_START: &str = "tail_start_id";
/// The stored key of a prompt that is sent again after the summary; its first copy is left out.
pub const REPLAYED: &str = "replayed_id";

/// From the newest compaction with a complete summary: its request, its summary, the messages
/// that it left as they are, and everything after.
pub fn visible(history: &[MessageWithParts]) -> Vec<&MessageWithParts> {
    let Some((cut, summary)) = newest_summary(history) else {
        return history.iter().collect();
    };
    let request = &history[cut];
    let tail = stored_id(request, TAIL_START)
        .and_then(|id| position(&history[..cut], id))
        .unwrap_or(cut);
    let replayed = stored_id(request, REPLAYED);
    let head = [request, &history[summary]];
    // An older summary is part of the newer one.
    let tail = history[tail..cut].iter().filter(|message| {
        !is_summary(message)
            && !asks_for_summary(message)
            && replayed != Some(message.info.id().as_str())
    });
    let rest = history[cut + 1..]
        .iter()
        .enumerate()
        .filter(|(index, _)| cut + 1 + index != summary)
        .map(|(_, message)| message);
    head.into_iter().chain(tail).chain(rest).collect()
}

/// Whether no message older than these can be visible.
pub fn is_complete(messages: &[MessageWithParts]) -> bool {
    newest_summary(messages).is_some_and(|(cut, _)| {
        stored_id(&messages[cut], TAIL_START).is_none_or(|id| position(messages, id).is_some())
    })
}

/// The position of the newest request whose summary replaces everything before it.
pub fn summary_position(history: &[MessageWithParts]) -> Option<usize> {
    newest_summary(history).map(|(cut, _)| cut)
}

/// Whether the visible messages begin with a summary.
pub fn starts_with_summary(history: &[MessageWithParts]) -> bool {
    newest_summary(history).is_some()
}

pub fn asks_for_summary(message: &MessageWithParts) -> bool {
    let is_request = |part: &Part| matches!(part, Part::Compaction(_));
    matches!(message.info, Message::User(_)) && message.parts.iter().any(is_request)
}

fn is_summary(message: &MessageWithParts) -> bool {
    let info = message.info.as_assistant();
    info.is_some_and(|info| info.summary == Some(true))
}

/// The positions of the newest request for a compaction and of its summary.
fn newest_summary(history: &[MessageWithParts]) -> Option<(usize, usize)> {
    (0..history.len()).rev().find_map(|index| {
        let message = &history[index];
        if !asks_for_summary(message) {
            return None;
        }
        let after = history[index..].iter().position(|answer| {
            answer.info.as_assistant().is_some_and(|answer| {
                answer.summary == Some(true)
                    && answer.finish.is_some()
                    && answer.error.is_none()
                    && answer.parent_id == *message.info.id()
            })
        })?;
        Some((index, index + after))
    })
}

fn position(messages: &[MessageWithParts], id: &str) -> Option<usize> {
    messages
        .iter()
        .position(|message| message.info.id().as_str() == id)
}

fn stored_id<'a>(request: &'a MessageWithParts, key: &str) -> Option<&'a str> {
    request.parts.iter().find_map(|part| match part {
        Part::Compaction(part) => part.extra.0.get(key)?.as_str(),
        _ => None,
    })
}
