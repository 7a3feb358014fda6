//! Command line arguments. Doc comments below are the help text.

use std::path::PathBuf;

use clap::{Args as ClapArgs, Parser, Subcommand, ValueEnum};
use clap_complete::Shell;
use lathe_protocol::{MessageId, SessionId};

/// Work with Lathe's sessions from a terminal.
#[derive(Debug, Parser)]
#[command(name = "lathectl", version, propagate_version = true)]
pub struct Args {
    /// Where sessions are kept.
    #[arg(long, global = true, env = "LATHE_DATA_DIR", value_name = "DIR")]
    pub data_dir: Option<PathBuf>,
    /// A config file that counts more than the global ones.
    #[arg(long, global = true, env = "LATHE_CONFIG", value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// The project's folder, if not the current one.
    #[arg(long, global = true, value_name = "DIR")]
    pub directory: Option<PathBuf>,
    #[command(subcommand)]
    pub command: Command,
}

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Send a prompt and follow the turn to its end.
    ///
    /// The answer goes to standard output as it comes, everything else to standard error. The
    /// exit code is 0 only if the turn ended well.
    Run(RunArgs),
    /// List sessions, last used first.
    Sessions {
        /// Print an array of all that is known of each.
        #[arg(long)]
        json: bool,
        /// Only those where these words stand, in the title or in what was said.
        #[arg(long, value_name = "WORDS")]
        search: Option<String>,
        /// Of every project, not only of this folder's.
        #[arg(long)]
        all: bool,
    },
    /// Show one session.
    Show {
        id: SessionId,
        #[arg(long = "as", value_enum, default_value_t = Form::Text)]
        form: Form,
    },
    /// Print a session as one JSON document.
    Export { id: SessionId },
    /// Bring over sessions of OpenCode, or one exported session.
    ///
    /// PATH is its data directory (the folder that holds `storage/`), its database
    /// (`opencode.db`), or a file that `export` made. Nothing there is changed. Sessions keep
    /// their ids and times; one that is already here is left as it is.
    Import {
        path: PathBuf,
        /// Print `{added, already, unreadable}`.
        #[arg(long)]
        json: bool,
    },
    /// Copy a session, whole or up to a message, and print the new one's id.
    Fork {
        id: SessionId,
        /// The first message that is not copied.
        #[arg(long, value_name = "MESSAGE")]
        at: Option<MessageId>,
    },
    /// Take back a message and everything after it, with what it did to files.
    ///
    /// A file that was changed since then is left alone, named as a conflict, and the exit
    /// code is not 0. The messages are hidden until the next prompt; `unrevert` brings all of
    /// it back.
    Revert {
        id: SessionId,
        #[arg(long, value_name = "MESSAGE")]
        to: MessageId,
        /// Only say what would happen.
        #[arg(long)]
        preview: bool,
        /// Take back what was said and leave the files.
        #[arg(long)]
        keep_files: bool,
    },
    /// Undo the last revert.
    Unrevert { id: SessionId },
    /// Delete a session; it goes to the trash.
    Rm { id: SessionId },
    /// List the models that can be used.
    Models {
        /// Print what is known of each provider and model.
        #[arg(long)]
        json: bool,
    },
    /// Look for damaged, orphaned and stray files.
    Check {
        /// Move damaged and stray files aside.
        #[arg(long)]
        repair: bool,
    },
    /// Print a completion script for a shell.
    Completions { shell: Shell },
}

#[derive(Debug, ClapArgs)]
pub struct RunArgs {
    /// Go on with this session.
    #[arg(long, value_name = "ID", conflicts_with = "continue_last")]
    pub session: Option<SessionId>,
    /// Go on with the session last used here.
    #[arg(long = "continue")]
    pub continue_last: bool,
    /// Who answers; `build` and `plan` are there from the start.
    #[arg(long, value_name = "A")]
    pub agent: Option<String>,
    /// As provider/model.
    #[arg(long, value_name = "P/M")]
    pub model: Option<String>,
    /// How hard the model should think.
    #[arg(long, value_name = "V")]
    pub variant: Option<String>,
    /// Attach a file or a folder; may be given more than once.
    #[arg(long, value_name = "F")]
    pub file: Vec<PathBuf>,
    /// Allow without asking: a permission (`edit`) or one with a pattern (`bash=git *`).
    /// Without a terminal, what is not allowed is rejected.
    #[arg(long, value_name = "RULE")]
    pub allow: Vec<String>,
    /// Allow everything without asking.
    #[arg(long)]
    pub yes: bool,
    /// Print every event, one a line.
    #[arg(long)]
    pub json: bool,
    /// What to ask. `@path` and `@agent` in it are understood.
    #[arg(required = true)]
    pub prompt: Vec<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Form {
    /// For reading.
    Text,
    /// As `export` prints it.
    Json,
    /// What the model would be asked next, in the vocabulary that all providers share.
    Model,
    /// The same as the JSON body that the provider would get.
    Request,
    /// A page of its own, as sharing makes it: without secrets and the home folder.
    Html,
}
