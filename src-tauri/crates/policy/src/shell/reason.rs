//! Why a command is not understood, as the end of a sentence that begins with the command.

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, thiserror::Error)]
pub enum Reason {
    #[error("could not be read as a shell command")]
    ParseError,
    #[error("redirects to or from a file")]
    Redirect,
    #[error("uses the output of another command in it")]
    Substitution,
    #[error("contains a here-document")]
    Heredoc,
    #[error("sets variables, which can change what programs do")]
    Assignment,
    #[error("uses variables whose values are not known")]
    Variable,
    #[error("defines a function or an alias")]
    Definition,
    #[error("changes how the shell works, or runs text as commands")]
    ShellBuiltin,
    #[error("runs a program that is given as text")]
    Script,
    #[error("runs another command as another user, or with arguments that are not known")]
    Indirect,
    #[error("can change or delete files")]
    Flag,
    #[error("can start another program")]
    Runs,
    #[error("has an option that is not known to be safe")]
    UnknownOption,
    #[error("has a subcommand that is not known")]
    UnknownSubcommand,
    #[error("has words that are not known to be safe")]
    UnknownWord,
    #[error("is a program that is not known, so it may do anything")]
    UnknownProgram,
    #[error("hides which program it runs")]
    Hidden,
    #[error("has a wildcard that may become an option")]
    Wildcard,
    #[error("can change files that it does not name")]
    DoesMore,
    #[error("reads more files than can be checked")]
    TooMany,
    #[error("contains characters that hide what it does")]
    Deceptive,
    #[error("contains something that is not understood")]
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
