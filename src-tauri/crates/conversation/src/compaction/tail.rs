//! Selects the newest messages, which stay as they are beside a summary.

use lathe_protocol::{MessageId, MessageWithParts};

use super::estimate;

const LEAST: u64 = 2_000;
const MOST: u64 = 15_000;

/// The position of the first message that stays: the newest messages up to a quarter of the
/// usable tokens. The `unanswered` prompt always stays. If the first two messages are an earlier
/// summary (`summed_up`), they never stay.
pub fn split(
    visible: &[&MessageWithParts],
    usable: u64,
    unanswered: Option<&MessageId>,
    summed_up: bool,
) -> usize {
    let mut left = (usable / 4).clamp(LEAST, MOST);
    let oldest = if summed_up { 2 } else { 0 };
    let asked = unanswered.and_then(|id| visible.iter().position(|one| one.info.id() == id));
    let mut at = visible.len();
    while at > oldest {
        let cost = estimate::message(visible[at - 1]);
        if cost > left {
            break;
        }
        left -= cost;
        at -= 1;
    }
    asked.map_or(at, |asked| at.min(asked)).max(oldest)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compaction::samples::{assistant, user};

    #[test]
    fn the_newest_messages_stay_up_to_a_quarter_of_what_is_usable() {
        // 1,000 tokens each.
        let messages: Vec<_> = (0..30)
            .map(|n| user(&format!("msg_{n}"), &"x".repeat(4_000)))
            .collect();
        let all: Vec<_> = messages.iter().collect();
        assert_eq!(split(&all, 20_000, None, false), 25, "a quarter");
        assert_eq!(split(&all, 1_000, None, false), 28, "at least 2,000");
        assert_eq!(split(&all, 1_000_000, None, false), 15, "at most 15,000");
        assert_eq!(split(&all[..3], 1_000_000, None, false), 0, "all of it");
        assert_eq!(
            split(&all[..3], 1_000_000, None, true),
            2,
            "never a summary"
        );
    }

    #[test]
    fn an_unanswered_prompt_stays_however_long_it_is() {
        let messages = [
            user("msg_1", "short"),
            assistant("msg_2", "msg_1", "short"),
            user("msg_3", &"x".repeat(100_000)),
        ];
        let all: Vec<_> = messages.iter().collect();
        assert_eq!(split(&all, 8_000, None, false), 3);
        let asked = messages[2].info.id();
        assert_eq!(split(&all, 8_000, Some(asked), false), 2);
    }
}
