//! What an engine may be unable to hold.

use std::fmt;

/// A promise that not every engine can hold on every system.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Promise {
    /// Modes, owners, times and extended attributes of files outside stay as they are.
    Metadata,
    /// Other processes of the person cannot be listed, and their priorities and limits not
    /// changed.
    Processes,
    /// Other processes of the person cannot be signalled.
    Signals,
    /// Unreadable folders do not show the names of their files.
    SecretNames,
    /// Other terminals of the person cannot be written to or read from.
    Terminals,
    /// Nothing that the command started outlives it.
    Survivors,
    /// Named pipes outside cannot be written to.
    NamedPipes,
}

impl fmt::Display for Promise {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Metadata => {
                "the modes and times of your files outside the project can be changed"
            }
            Self::Processes => "your other processes can be listed and slowed down",
            Self::Signals => "your other processes can be signalled",
            Self::SecretNames => "the names of files in secret folders can be listed",
            Self::Terminals => "your other terminals can be written to",
            Self::Survivors => "background processes can outlive the command, still confined",
            Self::NamedPipes => "named pipes outside the project can be written to",
        })
    }
}
