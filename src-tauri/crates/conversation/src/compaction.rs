//! Decides when a session is compacted and which of its messages stay as they are.
//!
//! Pure: limits and messages in, decisions out. The session's `turn/summarize_history.rs` carries
//! them out.

mod condense;
mod estimate;
mod prune;
#[cfg(test)]
mod samples;
mod tail;

use lathe_protocol::ipc::ContextUse;
use lathe_provider::Limits;

use lathe_workspace::config;

pub use condense::{condense, fit};
pub use prune::stale_outputs;
pub use tail::split;

/// The system prompt of the model that writes the summary.
pub const SYSTEM: &str = include_str!("compaction/system.txt");
/// The request for a summary, after all messages that it covers.
pub const REQUEST: &str = include_str!("compaction/request.txt");
/// The prompt that the turn continues with after an automatic compaction.
pub const GO_ON: &str = "The session so far was summed up to make room. Go on with what was \
    asked last, from where you were. If nothing is left to do, say what was done.";

/// Reserved for the answer, at most, where the model has an input limit.
const INPUT_RESERVE: u64 = 20_000;
/// Reserved for the answer, at most, where it has not.
const OUTPUT_RESERVE: u64 = 32_000;

/// The config's `compaction` block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Settings {
    pub auto: bool,
    pub prune: bool,
}

impl Settings {
    /// Both are on unless the config says otherwise.
    pub fn new(config: &config::Settings) -> Self {
        let block = config.compaction.unwrap_or_default();
        Settings {
            auto: block.auto.unwrap_or(true),
            prune: block.prune.unwrap_or(true),
        }
    }
}

/// The tokens that a session may have before it is compacted; `None` if the model's context is
/// not known.
pub fn usable(limits: &Limits) -> Option<u64> {
    if limits.context == 0 {
        return None;
    }
    // Local servers often do not say how long an answer may be.
    let output = match limits.output {
        0 => limits.context / 4,
        output => output,
    };
    let usable = match limits.input {
        Some(input) => input.saturating_sub(output.min(INPUT_RESERVE)),
        None => limits.context.saturating_sub(output.min(OUTPUT_RESERVE)),
    };
    // Otherwise a model whose answer may fill its whole context could never be asked anything.
    Some(if usable == 0 {
        limits.context / 2
    } else {
        usable
    })
}

/// How full the context is, for the meter and for the decision.
pub fn context_use(used: u64, limits: &Limits, settings: Settings) -> ContextUse {
    let usable = usable(limits);
    ContextUse {
        used,
        usable: usable.unwrap_or(0),
        limit: limits.context,
        will_compact: settings.auto && usable.is_some_and(|usable| used >= usable),
    }
}

/// Counts automatic compactions in a row, so that a useless one is not repeated for ever.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Streak {
    times: u32,
    last: Option<u64>,
}

impl Streak {
    const MOST: u32 = 2;

    /// Counts a compaction at this total; false for the third in a row that did not reduce the
    /// total.
    pub fn begin(&mut self, total: u64) -> bool {
        let helped = self.last.is_none_or(|last| total < last);
        self.times = if helped { 1 } else { self.times + 1 };
        self.last = Some(total);
        self.times <= Self::MOST
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn limits(context: u64, input: Option<u64>, output: u64) -> Limits {
        Limits {
            context,
            input,
            output,
        }
    }

    #[test]
    fn usable_is_what_the_answer_leaves() {
        let cases = [
            (limits(0, None, 8_000), None),
            (limits(0, Some(100_000), 8_000), None),
            (limits(200_000, None, 8_000), Some(192_000)),
            (limits(200_000, None, 64_000), Some(168_000)),
            (limits(400_000, Some(272_000), 128_000), Some(252_000)),
            (limits(400_000, Some(272_000), 4_000), Some(268_000)),
            (limits(32_000, None, 0), Some(24_000)),
            (limits(8_000, None, 8_000), Some(4_000)),
            (limits(8_000, Some(4_000), 8_000), Some(4_000)),
        ];
        for (limits, expected) in cases {
            assert_eq!(usable(&limits), expected, "{limits:?}");
        }
    }

    #[test]
    fn a_context_is_full_when_the_total_reaches_what_is_usable() {
        let on = Settings {
            auto: true,
            prune: true,
        };
        let off = Settings { auto: false, ..on };
        let model = limits(200_000, None, 8_000);
        let full = |used, limits, settings| context_use(used, &limits, settings).will_compact;
        assert!(!full(191_999, model, on));
        assert!(full(192_000, model, on));
        assert!(!full(192_000, model, off));
        assert!(!full(u64::MAX, limits(0, None, 8_000), on));
    }

    #[test]
    fn config_turns_either_off() {
        let read = |auto, prune| {
            let compaction = Some(config::CompactionBlock { auto, prune });
            let settings = Settings::new(&config::Settings {
                compaction,
                ..config::Settings::default()
            });
            (settings.auto, settings.prune)
        };
        assert_eq!(read(None, None), (true, true));
        assert_eq!(read(Some(false), None), (false, true));
        assert_eq!(read(None, Some(false)), (true, false));
    }

    #[test]
    fn the_third_compaction_in_a_row_that_does_not_help_is_refused() {
        let mut streak = Streak::default();
        let taken: Vec<_> = [100, 100, 90, 95, 80, 80, 80]
            .map(|total| streak.begin(total))
            .to_vec();
        assert_eq!(taken, [true, true, true, true, true, true, false]);
    }
}
