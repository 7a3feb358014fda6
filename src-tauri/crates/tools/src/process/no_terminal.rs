//! Where there are no pseudo-terminals that we know how to use.

use std::io;

use super::CommandSpec;
use super::system::Leader;

/// In characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Size {
    pub rows: u16,
    pub columns: u16,
}

/// There is none.
pub enum Terminal {}

impl Terminal {
    pub async fn read(&self, _: &mut [u8]) -> io::Result<usize> {
        match *self {}
    }

    pub async fn write_all(&self, _: &[u8]) -> io::Result<()> {
        match *self {}
    }

    pub fn resize(&self, _: Size) -> io::Result<()> {
        match *self {}
    }
}

pub(super) fn start(_: &CommandSpec, _: u64, _: Size) -> io::Result<(Leader, Terminal)> {
    let message = "there are no terminals on this system";
    Err(io::Error::new(io::ErrorKind::Unsupported, message))
}
