//! Which thinking parameters a Claude model accepts, derived from its id.
//!
//! The API changed twice: first a token budget, then "adaptive" with an effort, then adaptive
//! as the default and only way. Parameters of the wrong kind are refused with a 400, so the
//! wire has to know.

/// How thinking is requested from a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Thinking {
    /// Not supported: before 3.7.
    Never,
    /// `enabled` with `budget_tokens`: 3.7 to 4.5, and models of other vendors.
    Budget,
    /// `adaptive` with an effort; off unless requested: 4.6 to 4.8.
    OnRequest,
    /// `adaptive`; on unless disabled.
    ByDefault,
    /// `adaptive`; cannot be disabled.
    Always,
}

/// Family and version of a Claude model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Generation {
    family: String,
    version: (u32, u32),
}

impl Generation {
    /// `None` for a model that is not a Claude.
    pub(super) fn parse(model: &str) -> Option<Self> {
        let model = model.to_ascii_lowercase();
        let (_, rest) = model.split_once("claude-")?;
        let words: Vec<&str> = rest.split(['-', '.', '@', ':', '_']).collect();
        let family = words
            .iter()
            .find(|word| word.starts_with(|first: char| first.is_ascii_alphabetic()))?;
        // A date (20250514) is a number too, but no version.
        let mut numbers = words
            .iter()
            .filter(|word| word.len() <= 2)
            .filter_map(|word| word.parse::<u32>().ok());
        let version = (numbers.next()?, numbers.next().unwrap_or(0));
        Some(Self {
            family: (*family).to_owned(),
            version,
        })
    }

    pub(super) fn thinking(&self) -> Thinking {
        let always_on = self.is_newest_line() || (self.at_least(5, 5) && self.family != "haiku");
        match self.version {
            version if version < (3, 7) => Thinking::Never,
            version if version < (4, 6) => Thinking::Budget,
            version if version < (5, 0) => Thinking::OnRequest,
            _ if always_on => Thinking::Always,
            _ => Thinking::ByDefault,
        }
    }

    /// From 4.7 on, the API refuses temperature and top_p.
    pub(super) fn accepts_sampling(&self) -> bool {
        !self.at_least(4, 7)
    }

    pub(super) fn accepts_forced_tools(&self) -> bool {
        !self.binds_thinking()
    }

    /// The API checks earlier thinking against everything sent before it. Compaction and
    /// pruning change that, so the request must allow it to drop such blocks.
    pub(super) fn binds_thinking(&self) -> bool {
        self.at_least(5, 5) || (self.is_newest_line() && self.at_least(5, 1))
    }

    /// The effort for one of our reasoning variants.
    pub(super) fn effort<'a>(&self, variant: &'a str) -> &'a str {
        match variant {
            "none" | "minimal" => "low",
            "xhigh" if !self.at_least(4, 7) => "high",
            other => other,
        }
    }

    fn at_least(&self, major: u32, minor: u32) -> bool {
        self.version >= (major, minor)
    }

    fn is_newest_line(&self) -> bool {
        matches!(self.family.as_str(), "fable" | "mythos")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_generation_has_its_thinking_parameters() {
        let cases = [
            ("claude-3-5-haiku-20241022", Thinking::Never),
            ("claude-3-7-sonnet-20250219", Thinking::Budget),
            ("claude-opus-4-20250514", Thinking::Budget),
            ("claude-haiku-4-5", Thinking::Budget),
            ("anthropic/claude-opus-4.6", Thinking::OnRequest),
            ("claude-opus-4-8", Thinking::OnRequest),
            ("claude-sonnet-5", Thinking::ByDefault),
            ("claude-haiku-5-5", Thinking::ByDefault),
            ("us.anthropic.claude-opus-5-5-v1:0", Thinking::Always),
            ("claude-fable-5", Thinking::Always),
        ];
        for (id, expected) in cases {
            let generation = Generation::parse(id).unwrap();
            assert_eq!(generation.thinking(), expected, "{id}: {generation:?}");
        }
        assert_eq!(Generation::parse("kimi-k2"), None);
    }

    #[test]
    fn only_the_newest_bind_thinking_to_the_transcript() {
        let binding = |id| Generation::parse(id).unwrap().binds_thinking();
        assert!(binding("claude-sonnet-5-5") && binding("claude-fable-5-1"));
        assert!(!binding("claude-opus-5") && !binding("claude-fable-5"));
    }
}
