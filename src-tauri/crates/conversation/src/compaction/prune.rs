//! Selects old tool output that is hidden from the model.

use lathe_protocol::{MessageWithParts, Part, ToolPart, ToolState};

use super::estimate;

/// The newest turns, whose output is never cleared.
const PROTECTED_TURNS: usize = 2;
/// Tokens of output before those turns that are not cleared either.
const PROTECTED_OUTPUT: u64 = 40_000;
/// Less than this is not worth losing the provider's cache for.
const LEAST_GAIN: u64 = 20_000;

/// The calls whose output is to be cleared, or none if it would gain too little.
pub fn stale_outputs(history: &[MessageWithParts]) -> Vec<ToolPart> {
    let mut turns = 0;
    let (mut seen, mut gain) = (0, 0);
    let mut stale = Vec::new();
    'messages: for message in history.iter().rev() {
        if message.info.as_user().is_some() {
            turns += 1;
        }
        if turns < PROTECTED_TURNS {
            continue;
        }
        if let Some(info) = message.info.as_assistant()
            && info.summary == Some(true)
        {
            break;
        }
        for part in message.parts.iter().rev() {
            let Part::Tool(tool) = part else { continue };
            let ToolState::Completed(done) = tool.state() else {
                continue;
            };
            if done.time.compacted.is_some() {
                // Everything before this was cleared earlier.
                break 'messages;
            }
            let cost = estimate::output(tool);
            seen += cost;
            if seen > PROTECTED_OUTPUT {
                gain += cost;
                stale.push(tool.clone());
            }
        }
    }
    if gain > LEAST_GAIN { stale } else { Vec::new() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compaction::samples::{called, user};
    use lathe_protocol::Millis;

    /// Turns of one call each, with so many tokens of output.
    fn session(outputs: &[usize]) -> Vec<MessageWithParts> {
        let mut history = Vec::new();
        for (n, tokens) in outputs.iter().enumerate() {
            let (asked, answered) = (format!("msg_{n}a"), format!("msg_{n}b"));
            history.push(user(&asked, "go"));
            let mut message = called(&answered, &asked, "read", "");
            let Some(Part::Tool(tool)) = message.parts.first_mut() else {
                panic!("no call")
            };
            *tool = crate::compaction::samples::output(&answered, &"x".repeat(tokens * 4));
            history.push(message);
        }
        history
    }

    fn cleared(history: &[MessageWithParts]) -> Vec<String> {
        let stale = stale_outputs(history);
        stale
            .iter()
            .map(|tool| tool.message_id.to_string())
            .collect()
    }

    #[test]
    fn two_turns_and_the_newest_output_before_them_stay() {
        // From the newest: two turns and 40,000 tokens stay, the rest is cleared.
        let history = session(&[15_000, 15_000, 20_000, 20_000, 90_000, 90_000]);
        assert_eq!(cleared(&history), ["msg_1b", "msg_0b"]);
    }

    #[test]
    fn nothing_goes_for_a_small_gain() {
        assert_eq!(
            cleared(&session(&[20_000, 20_000, 20_000, 1, 1])),
            Vec::<String>::new()
        );
        assert_eq!(
            cleared(&session(&[20_001, 20_000, 20_000, 1, 1])),
            ["msg_0b"]
        );
    }

    #[test]
    fn what_was_cleared_before_is_where_the_looking_ends() {
        let mut history = session(&[90_000, 30_000, 90_000, 1, 1]);
        let Some(Part::Tool(tool)) = history[3].parts.first_mut() else {
            panic!("no call")
        };
        tool.compact(Millis(9));
        assert_eq!(cleared(&history), ["msg_2b"]);
    }
}
