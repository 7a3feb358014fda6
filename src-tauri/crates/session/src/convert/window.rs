//! Which messages the model still sees after compactions.

use lathe_protocol::{Message, MessageWithParts, Part};

/// Where the later programs note the first message that a compaction left verbatim.
pub const TAIL_START: &str = "tail_start_id";

/// From the newest compaction whose summary is complete: its request, its summary, the
/// messages it left verbatim, and everything after.
pub fn visible(history: &[MessageWithParts]) -> Vec<&MessageWithParts> {
    let Some((cut, summary)) = newest_summary(history) else {
        return history.iter().collect();
    };
    let tail = tail_start(&history[cut])
        .and_then(|id| {
            history[..cut]
                .iter()
                .position(|message| message.info.id().as_str() == id)
        })
        .unwrap_or(cut);
    let head = [&history[cut], &history[summary]];
    let kept = history[tail..cut].iter();
    let rest = history[cut + 1..]
        .iter()
        .enumerate()
        .filter(|(index, _)| cut + 1 + index != summary)
        .map(|(_, message)| message);
    head.into_iter().chain(kept).chain(rest).collect()
}

/// Positions of the newest user message that asks for a compaction, and of its summary.
fn newest_summary(history: &[MessageWithParts]) -> Option<(usize, usize)> {
    (0..history.len()).rev().find_map(|index| {
        let message = &history[index];
        let asks = message.info.as_user().is_some()
            && message
                .parts
                .iter()
                .any(|part| matches!(part, Part::Compaction(_)));
        if !asks {
            return None;
        }
        let summary = history.iter().position(|answer| {
            answer.info.as_assistant().is_some_and(|answer| {
                answer.summary == Some(true)
                    && answer.finish.is_some()
                    && answer.error.is_none()
                    && answer.parent_id == *message.info.id()
            })
        })?;
        Some((index, summary))
    })
}

fn tail_start(message: &MessageWithParts) -> Option<&str> {
    debug_assert!(matches!(message.info, Message::User(_)));
    message.parts.iter().find_map(|part| match part {
        Part::Compaction(part) => part.extra.0.get(TAIL_START)?.as_str(),
        _ => None,
    })
}
