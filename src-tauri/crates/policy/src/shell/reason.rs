//! Why a command is not understood.

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, thiserror::Error)]
pub enum Reason {
    #[error("it could not be parsed")]
    ParseError,
    #[error("it redirects to or from a file")]
    Redirect,
    #[error("it substitutes the output of another command")]
    Substitution,
    #[error("it contains a here-document")]
    Heredoc,
    #[error("it sets variables")]
    Assignment,
    #[error("it uses variables whose values are not known here")]
    Variable,
    #[error("it defines a function or an alias")]
    Definition,
    #[error("it changes how the shell works, or has it run text as commands")]
    ShellBuiltin,
    #[error("it runs a program given as text")]
    Script,
    #[error("it runs another command with arguments not known here, or as another user")]
    Indirect,
    #[error("it has an option that writes files or runs other programs")]
    Flag,
    #[error("it has an option that is not known to be harmless")]
    UnknownOption,
    #[error("it has a subcommand that is not known here")]
    UnknownSubcommand,
    #[error("it has more words than are known to be harmless")]
    UnknownWord,
    #[error("nothing is known of its program")]
    UnknownProgram,
    #[error("which program it runs is not known")]
    Hidden,
    #[error("a wildcard in it may become an option")]
    Wildcard,
    #[error("it can change files that it does not name")]
    DoesMore,
    #[error("it reads more files than can be checked")]
    TooMany,
    #[error("it contains characters that hide what it does")]
    Deceptive,
    #[error("it contains something this check does not understand")]
    Unclear,
}

impl Reason {
    /// It is about words that a rule may name itself.
    pub(super) fn is_about_words(self) -> bool {
        matches!(
            self,
            Reason::Flag
                | Reason::UnknownOption
                | Reason::UnknownSubcommand
                | Reason::UnknownWord
                | Reason::UnknownProgram
        )
    }
}
