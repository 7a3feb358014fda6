//! Command line arguments. Doc comments below are the help text.

use std::path::PathBuf;

use clap::{ArgAction, Args as ClapArgs, Parser, Subcommand, ValueEnum};
use clap_complete::Shell;
use lathe_protocol::{MessageId, PermissionMode, SessionId};

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
    /// Say on standard error what happens; twice for more.
    ///
    /// `RUST_LOG` chooses in detail. The same goes to `logs/lathectl.log` in the data directory.
    #[arg(short, long, global = true, action = ArgAction::Count)]
    pub verbose: u8,
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
    /// PATH is OpenCode's data directory (the folder that holds `storage/`), its database
    /// (`opencode.db`), a file that `export` made, the folder of Codex (`~/.codex`) or of Claude
    /// Code (`~/.claude`), or one of their session files. Nothing there is changed. Importing again
    /// adds only what is new. Ctrl+C stops it; what was imported by then stays.
    Import {
        /// Without it, the data of the program named by --from in its usual place.
        #[arg(required_unless_present = "from")]
        path: Option<PathBuf>,
        /// Import only sessions of this program. Otherwise it is recognised by its files.
        #[arg(long, value_name = "PROGRAM")]
        from: Option<Agent>,
        /// Print `{added, already, grown, unreadable, left_out, stopped}`.
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
    /// Revert a message and everything after it, with what it did to files.
    ///
    /// A file that was changed since then is left alone and named as a conflict. What cannot be
    /// told to be the agent's is named as shared or unknown. The exit code is 0 only if everything
    /// the agent did is reverted. The messages are hidden until the next prompt; `unrevert` undoes
    /// all of it, and `reverted` lists what was removed after that.
    Revert(RevertArgs),
    /// Undo the last revert.
    Unrevert {
        id: SessionId,
        /// Also files that were changed since the revert.
        #[arg(long)]
        force: bool,
    },
    /// What reverts removed: it can be restored for 30 days.
    Reverted {
        #[command(subcommand)]
        what: Reverted,
    },
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
    /// Let other programs work with the sessions, over HTTP.
    ///
    /// Clients of OpenCode can connect. Every request needs the password: of
    /// `LATHE_SERVER_PASSWORD`, or a new one that is printed at the start and kept in
    /// `server.json` in the data directory while the server runs. The server asks for permissions
    /// as the app does.
    Serve(ServeArgs),
    /// Be the agent of an editor, over the Agent Client Protocol.
    ///
    /// The editor starts this program and speaks with it over standard input and output. The
    /// person is asked for permissions in the editor, as the app would ask.
    Acp,
    /// Let other agents search and read the sessions, as an MCP server over standard input and
    /// output.
    Mcp {
        /// They may also ask the agent. What needs a permission is rejected.
        #[arg(long)]
        allow_ask: bool,
    },
    /// Print a completion script for a shell.
    Completions { shell: Shell },
}

#[derive(Debug, ClapArgs)]
pub struct ServeArgs {
    /// The port; 4096 or a free one if not given.
    #[arg(long, value_name = "N")]
    pub port: Option<u16>,
    /// The address to listen on, if other machines should reach it. It then needs a password of
    /// your own.
    #[arg(long, value_name = "H")]
    pub hostname: Option<String>,
    /// A web page that may call the server, such as `https://example.com`; may be given more than
    /// once.
    #[arg(long, value_name = "ORIGIN")]
    pub cors: Vec<String>,
    /// The server never announces itself in the network; only `off` is possible.
    #[arg(long, value_name = "off", value_parser = ["off"])]
    pub mdns: Option<String>,
}

#[derive(Debug, ClapArgs)]
#[command(group = clap::ArgGroup::new("where").required(true).multiple(true))]
pub struct RevertArgs {
    pub id: SessionId,
    /// The first message to revert; `show` prints the ids.
    #[arg(long, value_name = "MESSAGE", group = "where", conflicts_with = "last")]
    pub to: Option<MessageId>,
    /// The last prompt and its answers.
    #[arg(long, group = "where")]
    pub last: bool,
    /// Only what was done to this file; no message is hidden. With `--to` or `--last`, only what
    /// that turn did.
    #[arg(
        long,
        value_name = "PATH",
        group = "where",
        conflicts_with = "keep_files"
    )]
    pub file: Option<String>,
    /// Only say what would happen.
    #[arg(long)]
    pub preview: bool,
    /// Hide the messages and leave the files.
    #[arg(long)]
    pub keep_files: bool,
    /// Also files that are in conflict, shared or unknown, and hide the messages in any case.
    #[arg(long)]
    pub force: bool,
    /// Leave this file as it is, without a conflict; may be given more than once.
    #[arg(long, value_name = "PATH")]
    pub mine: Vec<String>,
    /// Give this file the content it had before the agent; may be given more than once.
    #[arg(long, value_name = "PATH")]
    pub before: Vec<String>,
    /// Leave this file and write the content it had before the agent beside it.
    #[arg(long, value_name = "PATH")]
    pub both: Vec<String>,
}

#[derive(Debug, Subcommand)]
pub enum Reverted {
    /// List what reverts of a session removed, the newest first.
    List {
        id: SessionId,
        /// Print an array of all that is known of each.
        #[arg(long)]
        json: bool,
    },
    /// Bring back messages and files.
    Restore {
        id: SessionId,
        /// The number that `list` prints first.
        item: String,
        /// Also files that were changed since the revert.
        #[arg(long)]
        force: bool,
    },
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
    /// How much happens without a question, for this run. `auto` runs commands in a sandbox and
    /// edits the project; `full` does everything that no rule denies.
    #[arg(long, value_name = "MODE", value_enum)]
    pub mode: Option<ModeArg>,
    /// Pause and ask once the session has cost this much, in dollars. Without a terminal, the turn
    /// stops at a limit.
    #[arg(long, value_name = "DOLLARS", value_parser = dollars)]
    pub max_cost: Option<f64>,
    /// Pause and ask after so many requests to the model.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub max_steps: Option<u32>,
    /// Pause and ask after so many minutes.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub max_minutes: Option<u32>,
    /// Delete what was reverted, also if it is more than the last turn.
    #[arg(long)]
    pub discard_reverted: bool,
    /// Print every event, one a line.
    #[arg(long)]
    pub json: bool,
    /// What to ask. `@path` and `@agent` in it are understood.
    #[arg(required = true)]
    pub prompt: Vec<String>,
}

/// An amount that can be reached.
fn dollars(text: &str) -> Result<f64, String> {
    let amount = text.trim_start_matches('$').parse::<f64>();
    let amount = amount
        .ok()
        .filter(|amount| amount.is_finite() && *amount > 0.0);
    amount.ok_or_else(|| "not an amount of dollars above zero".to_owned())
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ModeArg {
    Ask,
    Auto,
    Full,
}

impl From<ModeArg> for PermissionMode {
    fn from(mode: ModeArg) -> Self {
        match mode {
            ModeArg::Ask => PermissionMode::Ask,
            ModeArg::Auto => PermissionMode::Auto,
            ModeArg::Full => PermissionMode::Full,
        }
    }
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

/// A program whose sessions can be imported.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Agent {
    Opencode,
    Codex,
    Claude,
}
