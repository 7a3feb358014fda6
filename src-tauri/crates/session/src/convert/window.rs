//! Which messages the model still sees after compactions.

use lathe_protocol::{Message, MessageWithParts, Part};

/// Where the later programs note the first message that a compaction left verbatim.
pub const TAIL_START: &str = "tail_start_id";
/// A prompt that is asked again after the summary: its first copy is left out.
pub const REPLAYED: &str = "replayed_id";

/// From the newest compaction whose summary is complete: its request, its summary, the
/// messages it left verbatim, and everything after.
pub fn visible(history: &[MessageWithParts]) -> Vec<&MessageWithParts> {
    let Some((cut, summary)) = newest_summary(history) else {
        return history.iter().collect();
    };
    let request = &history[cut];
    let tail = noted(request, TAIL_START)
        .and_then(|id| position(&history[..cut], id))
        .unwrap_or(cut);
    let replayed = noted(request, REPLAYED);
    let head = [request, &history[summary]];
    // An older summary is part of the newer one.
    let kept = history[tail..cut].iter().filter(|message| {
        !is_summary(message)
            && !asks_for_summary(message)
            && replayed != Some(message.info.id().as_str())
    });
    let rest = history[cut + 1..]
        .iter()
        .enumerate()
        .filter(|(index, _)| cut + 1 + index != summary)
        .map(|(_, message)| message);
    head.into_iter().chain(kept).chain(rest).collect()
}

/// Whether nothing older than these messages can be visible.
pub fn is_whole(messages: &[MessageWithParts]) -> bool {
    newest_summary(messages).is_some_and(|(cut, _)| {
        noted(&messages[cut], TAIL_START).is_none_or(|id| position(messages, id).is_some())
    })
}

/// The newest message whose summary stands for everything before it.
pub fn summed_up_at(history: &[MessageWithParts]) -> Option<usize> {
    newest_summary(history).map(|(cut, _)| cut)
}

/// Whether what the model sees begins with a summary.
pub fn is_summed_up(history: &[MessageWithParts]) -> bool {
    newest_summary(history).is_some()
}

pub fn asks_for_summary(message: &MessageWithParts) -> bool {
    let asks = |part: &Part| matches!(part, Part::Compaction(_));
    matches!(message.info, Message::User(_)) && message.parts.iter().any(asks)
}

fn is_summary(message: &MessageWithParts) -> bool {
    let info = message.info.as_assistant();
    info.is_some_and(|info| info.summary == Some(true))
}

/// Positions of the newest user message that asks for a compaction, and of its summary.
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

fn noted<'a>(request: &'a MessageWithParts, key: &str) -> Option<&'a str> {
    request.parts.iter().find_map(|part| match part {
        Part::Compaction(part) => part.extra.0.get(key)?.as_str(),
        _ => None,
    })
}
