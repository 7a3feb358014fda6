//! Shell dialects.

/// The syntax of a shell's commands, hence whether they can be analysed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ShellDialect {
    Posix,
    PowerShell,
}
