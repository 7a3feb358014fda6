//! Command line arguments. Doc comments below are the help text.

use std::path::PathBuf;

use clap::{ArgAction, Args as ClapArgs, Parser, Subcommand, ValueEnum};
use clap_complete::Shell;
use lathe_protocol::{MessageId, PermissionMode, SessionId};

use crate::texts;

/// Work with Lathe's sessions from a terminal.
#[derive(Debug, Parser)]
#[command(name = "lathectl", version, propagate_version = true)]
pub struct Args {
    /// Where sessions are stored.
    #[arg(long, global = true, env = "LATHE_DATA_DIR", value_name = "DIR")]
    pub data_dir: Option<PathBuf>,
    /// A config file that overrides the global ones.
    #[arg(long, global = true, env = "LATHE_CONFIG", value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// The project's folder, instead of the current one.
    #[arg(long, global = true, value_name = "DIR")]
    pub directory: Option<PathBuf>,
    /// Log to standard error; twice for more.
    ///
    /// `RUST_LOG` sets the details. `logs/lathectl.log` in the data directory has the same log.
    #[arg(short, long, global = true, action = ArgAction::Count)]
    pub verbose: u8,
    #[command(subcommand)]
    pub command: Command,
}

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Send a prompt and wait for the turn to finish.
    ///
    /// The answer is streamed to standard output, everything else to standard error. The exit
    /// code is 0 only if the turn succeeds.
    Run(RunArgs),
    /// List sessions, most recent first.
    Sessions {
        /// Print JSON.
        #[arg(long)]
        json: bool,
        /// Only sessions with these words in the title or the messages.
        #[arg(long, value_name = "WORDS")]
        search: Option<String>,
        /// Sessions of all projects, not only this one.
        #[arg(long)]
        all: bool,
    },
    /// Show one session.
    Show {
        id: SessionId,
        #[arg(long = "as", value_enum, default_value_t = Form::Text)]
        form: Form,
    },
    /// Print a session as JSON.
    Export { id: SessionId },
    /// Import sessions from OpenCode, Codex or Claude Code, or an exported session.
    ///
    /// PATH is OpenCode's data directory (the folder that holds `storage/`), its database
    /// (`opencode.db`), a file that `export` made, the folder of Codex (`~/.codex`) or of Claude
    /// Code (`~/.claude`), or one of their session files. Nothing there is changed. Import again to
    /// add new sessions. Ctrl+C stops; sessions imported so far stay.
    Import {
        /// Defaults to the usual place of the program named by --from.
        #[arg(required_unless_present = "from")]
        path: Option<PathBuf>,
        /// Import only sessions from this program. Detected by default.
        #[arg(long, value_name = "PROGRAM")]
        from: Option<Agent>,
        /// Print `{added, already, grown, unreadable, left_out, stopped}`.
        #[arg(long)]
        json: bool,
    },
    /// Fork a session, and print the id of the fork.
    Fork {
        id: SessionId,
        /// Fork before this message.
        #[arg(long, value_name = "MESSAGE")]
        at: Option<MessageId>,
    },
    /// Revert a message and everything after it, including file changes.
    ///
    /// A file that changed since then is left alone and listed as a conflict. Changes that may not
    /// be the agent's are listed as shared or unknown. The exit code is 0 only if all of the agent's
    /// changes are reverted. The messages are hidden until the next prompt. `unrevert` undoes the
    /// revert; after the next prompt, `reverted` lists what can be restored.
    Revert(RevertArgs),
    /// Undo the last revert.
    Unrevert {
        id: SessionId,
        /// Also restore files that changed since the revert.
        #[arg(long)]
        force: bool,
    },
    /// List or restore reverted messages and files, for 30 days.
    Reverted {
        #[command(subcommand)]
        what: Reverted,
    },
    /// Move a session to the trash.
    Rm { id: SessionId },
    /// List available models.
    Models {
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
    /// Check for damaged, orphaned and stray files.
    Check {
        /// Move damaged and stray files to quarantine.
        #[arg(long)]
        repair: bool,
    },
    /// Start a server for other programs, over HTTP.
    ///
    /// OpenCode clients can connect. Every request needs the password from
    /// `LATHE_SERVER_PASSWORD`, or a new one that is printed at the start and stored in
    /// `server.json` in the data directory while the server runs. Permissions work as in the app.
    Serve(ServeArgs),
    /// Run as an editor's agent, over the Agent Client Protocol.
    ///
    /// The editor starts this command and talks to it over standard input and output. Permissions
    /// are asked in the editor.
    Acp,
    /// Run as an MCP server, so that other agents can search and read sessions.
    Mcp {
        /// Also let them send prompts. Calls that need permission are denied.
        #[arg(long)]
        allow_ask: bool,
    },
    /// Print a shell completion script.
    Completions { shell: Shell },
}

#[derive(Debug, ClapArgs)]
pub struct ServeArgs {
    /// The port. Defaults to 4096 or a free one.
    #[arg(long, value_name = "N")]
    pub port: Option<u16>,
    /// The address to listen on. To allow other machines, set your own password.
    #[arg(long, value_name = "H")]
    pub hostname: Option<String>,
    /// Allow requests from this origin, such as `https://example.com`. Can be repeated.
    #[arg(long, value_name = "ORIGIN")]
    pub cors: Vec<String>,
    /// mDNS discovery. Only `off` is supported.
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
    /// Only revert this file and hide no messages. With `--to` or `--last`, only that turn's
    /// changes.
    #[arg(
        long,
        value_name = "PATH",
        group = "where",
        conflicts_with = "keep_files"
    )]
    pub file: Option<String>,
    /// Preview without changing anything; fails if not everything would be reverted.
    #[arg(long)]
    pub preview: bool,
    /// Hide messages but keep file changes.
    #[arg(long)]
    pub keep_files: bool,
    /// Also revert files listed as conflict, shared or unknown, and always hide the messages.
    #[arg(long)]
    pub force: bool,
    /// Keep this file as it is, without a conflict. Can be repeated.
    #[arg(long, value_name = "PATH")]
    pub mine: Vec<String>,
    /// Restore this file to before the agent. Can be repeated.
    #[arg(long, value_name = "PATH")]
    pub before: Vec<String>,
    /// Keep this file, and save the version before the agent beside it.
    #[arg(long, value_name = "PATH")]
    pub both: Vec<String>,
}

#[derive(Debug, Subcommand)]
pub enum Reverted {
    /// List what can be restored, newest first.
    List {
        id: SessionId,
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
    /// Restore messages and files.
    Restore {
        id: SessionId,
        /// The number from `list`.
        item: String,
        /// Also restore files that changed since the revert.
        #[arg(long)]
        force: bool,
    },
}

#[derive(Debug, ClapArgs)]
pub struct RunArgs {
    /// Continue this session.
    #[arg(long, value_name = "ID", conflicts_with = "continue_last")]
    pub session: Option<SessionId>,
    /// Continue the most recent session here.
    #[arg(long = "continue")]
    pub continue_last: bool,
    /// The agent, such as `build` or `plan`.
    #[arg(long, value_name = "A")]
    pub agent: Option<String>,
    /// The model, as provider/model.
    #[arg(long, value_name = "P/M")]
    pub model: Option<String>,
    /// The reasoning variant of the model.
    #[arg(long, value_name = "V")]
    pub variant: Option<String>,
    /// Attach a file or folder. Can be repeated.
    #[arg(long, value_name = "F")]
    pub file: Vec<PathBuf>,
    /// Allow a permission (`edit`) or a permission with a pattern (`bash=git *`) without asking.
    /// Without a terminal, everything else is denied.
    #[arg(long, value_name = "RULE")]
    pub allow: Vec<String>,
    /// Allow everything without asking.
    #[arg(long)]
    pub yes: bool,
    /// The permission mode for this run. `auto` runs commands in a sandbox and edits the project;
    /// `full` does everything that no rule denies.
    #[arg(long, value_name = "MODE", value_enum)]
    pub mode: Option<ModeArg>,
    /// Pause and ask at this session cost, in dollars. Without a terminal, the turn stops.
    #[arg(long, value_name = "DOLLARS", value_parser = dollars)]
    pub max_cost: Option<f64>,
    /// Pause and ask after this many steps.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub max_steps: Option<u32>,
    /// Pause and ask after this many minutes.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub max_minutes: Option<u32>,
    /// Delete reverted messages, even more than the last turn.
    #[arg(long)]
    pub discard_reverted: bool,
    /// Print every event as a line of JSON.
    #[arg(long)]
    pub json: bool,
    /// The prompt. It can mention `@path` and `@agent`.
    #[arg(required = true)]
    pub prompt: Vec<String>,
}

/// An amount that can be reached.
fn dollars(text: &str) -> Result<f64, String> {
    let amount = text.trim_start_matches('$').parse::<f64>();
    let amount = amount
        .ok()
        .filter(|amount| amount.is_finite() && *amount > 0.0);
    amount.ok_or_else(|| texts::NOT_DOLLARS.to_owned())
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
