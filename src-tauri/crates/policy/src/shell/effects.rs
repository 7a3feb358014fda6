//! What a command does beyond reading.

/// In one set: none of them means that it only reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Hash)]
pub struct Effects {
    /// Changes files.
    pub writes: bool,
    /// Runs code of the project, or other programs.
    pub executes: bool,
    pub network: bool,
}

impl Effects {
    pub const ALL: Effects = Effects {
        writes: true,
        executes: true,
        network: true,
    };

    pub fn only_reads(self) -> bool {
        self == Effects::default()
    }

    /// Does nothing that the other does not.
    pub fn is_within(self, other: Effects) -> bool {
        self.and(other) == other
    }

    #[must_use]
    pub(super) fn and(self, other: Effects) -> Effects {
        Effects {
            writes: self.writes || other.writes,
            executes: self.executes || other.executes,
            network: self.network || other.network,
        }
    }

    /// `w`, `x` and `n`, as the tables write them.
    pub(super) fn parse(letters: &str) -> Effects {
        Effects {
            writes: letters.contains('w'),
            executes: letters.contains('x'),
            network: letters.contains('n'),
        }
    }
}
