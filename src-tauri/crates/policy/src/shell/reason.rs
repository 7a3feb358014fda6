//! Why a command is not understood, as the end of a sentence that begins with the command.

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, thiserror::Error)]
pub enum Reason {
    #[error("can't be parsed")]
    ParseError,
    #[error("redirects to or from a file")]
    Redirect,
    #[error("uses command substitution")]
    Substitution,
    #[error("contains a here-document")]
    Heredoc,
    #[error("sets environment variables")]
    Assignment,
    #[error("uses unresolved variables")]
    Variable,
    #[error("defines a function or an alias")]
    Definition,
    #[error("changes shell settings or runs text as commands")]
    ShellBuiltin,
    #[error("runs code given as text")]
    Script,
    #[error("runs another command with unknown arguments, or as another user")]
    Indirect,
    #[error("can change or delete files")]
    Flag,
    #[error("can start another program")]
    Runs,
    #[error("has an unknown option")]
    UnknownOption,
    #[error("has an unknown subcommand")]
    UnknownSubcommand,
    #[error("has unknown arguments")]
    UnknownWord,
    #[error("is an unknown program")]
    UnknownProgram,
    #[error("hides which program it runs")]
    Hidden,
    #[error("has a wildcard that may expand to an option")]
    Wildcard,
    #[error("can change files that it doesn't name")]
    DoesMore,
    #[error("reads too many files to check")]
    TooMany,
    #[error("contains invisible or misleading characters")]
    Deceptive,
    #[error("contains unknown shell syntax")]
    Unclear,
}

impl Reason {
    /// It is about words that a rule may name itself.
    pub(super) fn is_about_words(self) -> bool {
        matches!(
            self,
            Reason::Flag
                | Reason::Runs
                | Reason::UnknownOption
                | Reason::UnknownSubcommand
                | Reason::UnknownWord
                | Reason::UnknownProgram
        )
    }
}
