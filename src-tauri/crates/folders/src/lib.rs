//! What a connected client does in a folder of a project, outside of turns: it reads and searches
//! files, compares them with git, and opens terminals.
//!
//! [`Folders`] asks for what the agent would have to ask for. It must not know windows, rendering,
//! models or servers, nor how a turn works.

mod files;
mod terminal;

use lathe_session::{Foundation, Sessions};

pub use files::{ChangesFrom, FilePlace};
pub use lathe_tools::grep::LinePlaces;
pub use lathe_tools::process::{Size as TerminalSize, Terminal as TerminalEnd};
pub use terminal::{OpenTerminal, TerminalInput};

/// The handle for a server.
#[derive(Clone)]
pub struct Folders {
    sessions: Sessions,
    base: Foundation,
}

impl Folders {
    pub fn new(sessions: Sessions) -> Self {
        Folders {
            base: sessions.foundation(),
            sessions,
        }
    }
}
