//! Sessions of Claude Code: `projects/<folder>/<session>.jsonl`, subagents in
//! `<session>/subagents/agent-*.jsonl` with a `.meta.json` each, long results of calls in
//! `<session>/tool-results/`.
//!
//! The format is internal and changes: what is known is read, and the rest is counted.

mod convert;
mod results;
mod tree;

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use lathe_protocol::{Extra, ForkedFrom, Millis, SessionId};
use serde_json::Value;

use crate::ids;
use crate::lines::{Jsonl, Line};
use crate::report::{Control, Progress, Report};
use crate::source::entries;
use crate::transcript::{Header, Stop, Transcript, without_writing};
use crate::value::{text, time};
use crate::writer::Writer;
use convert::Around;
use tree::Tree;

/// What a subagent's `.meta.json` may hold.
const MAX_META: u64 = 1024 * 1024;

/// The files of sessions, without those of subagents.
pub fn files(path: &Path) -> Vec<PathBuf> {
    if path.is_file() {
        return vec![path.to_owned()];
    }
    let projects = match path.join("projects") {
        projects if projects.is_dir() => projects,
        // The folder of one project.
        _ if path
            .parent()
            .is_some_and(|above| above.ends_with("projects")) =>
        {
            return sessions_in(path);
        }
        _ => return Vec::new(),
    };
    let folders = entries(&projects).into_iter();
    folders
        .filter(|(_, is_folder)| *is_folder)
        .flat_map(|(folder, _)| sessions_in(&folder))
        .collect()
}

fn sessions_in(folder: &Path) -> Vec<PathBuf> {
    let files = entries(folder).into_iter();
    files
        .filter(|(path, is_folder)| !is_folder && is_jsonl(path) && !is_agent(path))
        .map(|(path, _)| path)
        .collect()
}

fn is_jsonl(path: &Path) -> bool {
    path.extension()
        .is_some_and(|extension| extension == "jsonl")
}

fn is_agent(path: &Path) -> bool {
    stem(path).starts_with("agent-")
}

fn stem(path: &Path) -> String {
    let stem = path.file_stem().unwrap_or_default();
    stem.to_string_lossy().into_owned()
}

pub fn import<W: Writer>(
    path: &Path,
    writer: &mut W,
    control: &Control,
) -> Result<Report, W::Error> {
    let mut report = Report::default();
    let mut files = files(path);
    // A resumed session repeats the records of the one before it, which ends earlier. Folder by
    // folder, see `Seen::beside`.
    files.sort_by_cached_key(|file| {
        let folder = file.parent().map(Path::to_owned);
        (folder, last_time(file), file.clone())
    });
    let mut progress = Progress {
        files: files.len(),
        ..Progress::default()
    };
    let mut seen = Seen::default();
    for file in files {
        let done = import_one(
            &file,
            &mut seen,
            writer,
            &mut report,
            control,
            &mut progress,
        );
        progress.done += 1;
        control.report(progress);
        match done {
            Ok(()) => {}
            Err(Stop::Failed(error)) => return Err(error),
            Err(Stop::Unreadable(why)) => report.problem(file.display().to_string(), why),
            Err(Stop::Stopped) => {
                report.stopped = true;
                return Ok(report);
            }
        }
    }
    Ok(report)
}

/// When the newest record of a file was written.
fn last_time(path: &Path) -> Option<Millis> {
    let is_dated = |record: &Value| time(record, "timestamp").is_some();
    let newest = Jsonl::open(path).ok()?.last(is_dated).ok()??;
    time(&newest, "timestamp")
}

/// What sessions before this one had.
#[derive(Default)]
struct Seen {
    /// The session of each first record.
    firsts: HashMap<String, SessionId>,
    /// Subagents that stand beside the sessions, with the session that each names. Those of the
    /// newest folder only: sessions come folder by folder.
    beside: Option<(PathBuf, Vec<(PathBuf, String)>)>,
}

impl Seen {
    /// The older subagents of a session.
    fn beside(&mut self, path: &Path, session: &str) -> Vec<PathBuf> {
        let folder = path.parent().unwrap_or(path);
        if self
            .beside
            .as_ref()
            .is_none_or(|(known, _)| known != folder)
        {
            let files = entries(folder).into_iter();
            let agents = files
                .filter(|(file, is_folder)| !is_folder && is_jsonl(file) && is_agent(file))
                .filter_map(|(file, _)| Some((session_of(&file)?, file)))
                .map(|(session, file)| (file, session));
            self.beside = Some((folder.to_owned(), agents.collect()));
        }
        let known = self.beside.iter().flat_map(|(_, agents)| agents);
        let own = known.filter(|(_, of)| of == session);
        own.map(|(file, _)| file.clone()).collect()
    }
}

/// A file with its records, and the session that it becomes.
struct Source {
    file: Jsonl,
    tree: Tree,
    scope: String,
    id: SessionId,
    title: Option<String>,
    /// The call that started it.
    call: Option<String>,
}

impl Source {
    fn open(path: &Path, scope: String, found: &mut Report) -> Result<Source, String> {
        let mut file = Jsonl::open(path).map_err(|error| error.to_string())?;
        let tree = Tree::read(&mut file, found).map_err(|error| error.to_string())?;
        let created = tree.created().unwrap_or(Millis(1));
        let id = ids::session(&scope, created).map_err(|error| error.to_string())?;
        Ok(Source {
            file,
            tree,
            scope,
            id,
            title: None,
            call: None,
        })
    }
}

fn import_one<W: Writer>(
    path: &Path,
    seen: &mut Seen,
    writer: &mut W,
    report: &mut Report,
    control: &Control,
    progress: &mut Progress,
) -> Result<(), Stop<W::Error>> {
    let name = stem(path);
    let mut found = Report::default();
    let scope = format!("claude/{name}");
    let mut main = Source::open(path, scope, &mut found).map_err(Stop::Unreadable)?;
    let fork = main.tree.first().and_then(|first| {
        let earlier = seen
            .firsts
            .entry(first.to_owned())
            .or_insert(main.id.clone());
        (*earlier != main.id).then(|| fork_of(earlier, None))
    });
    let mut agents = Vec::new();
    for agent in agent_files(path, seen.beside(path, &name)) {
        match open_agent(&agent, &name, &mut found) {
            Ok(Some(source)) => agents.push(source),
            Ok(None) => {}
            Err(why) => report.problem(agent.display().to_string(), why),
        }
    }
    // Which session has a call, and which child a call started.
    let mut owners = HashMap::new();
    for source in std::iter::once(&main).chain(&agents) {
        for call in source.tree.calls() {
            owners.insert(call.to_owned(), source.id.clone());
        }
    }
    let children: HashMap<String, SessionId> = agents
        .iter()
        .filter_map(|agent| Some((agent.call.clone()?, agent.id.clone())))
        .collect();
    let results = path.with_extension("").join("tool-results");
    let mut sink = Sink {
        writer,
        report,
        control,
        progress,
        around: Around {
            children: &children,
            results: &results,
        },
    };
    let is_new = sink.source(&mut main, &name, None, fork)?;
    for agent in &mut agents {
        let owner = agent.call.as_ref().and_then(|call| owners.get(call));
        let parent = owner.unwrap_or(&main.id).clone();
        sink.source(agent, &name, Some(parent), None)?;
    }
    if is_new {
        report.take_left_out(found);
    }
    Ok(())
}

struct Sink<'a, W: Writer> {
    writer: &'a mut W,
    report: &'a mut Report,
    control: &'a Control,
    progress: &'a mut Progress,
    around: Around<'a>,
}

impl<W: Writer> Sink<'_, W> {
    /// Writes the line that ends last, what was rewound as forks of it, and old subagents whose
    /// records stand between the others. Returns whether there was something new.
    fn source(
        &mut self,
        source: &mut Source,
        name: &str,
        parent: Option<SessionId>,
        fork: Option<ForkedFrom>,
    ) -> Result<bool, Stop<W::Error>> {
        let paths = source.tree.paths();
        let title = source.title.clone().or(source.tree.title());
        let header_of_main = Header {
            id: source.id.clone(),
            scope: source.scope.clone(),
            program: "claude",
            source_id: name.to_owned(),
            mark: source.file.len.to_string(),
            directory: source.tree.directory().to_owned(),
            version: source.tree.version().to_owned(),
            parent,
            fork,
            created: source.tree.created().unwrap_or(Millis(1)),
            title: None,
            archived: false,
        };
        let repeated = source.tree.count_repeated(&paths);
        // Of a file without any session, what is in it must be counted all the same.
        let mut is_new = paths.is_empty();
        if is_new {
            self.report.leave_out("session", "it has no messages");
        }
        let mut ids: Option<HashMap<_, _>> = None;
        for (number, line) in paths.iter().enumerate() {
            let mut header = header_of_main.clone();
            // Rewinds are told apart by their first record, which does not change.
            if number > 0 {
                header.scope = format!("{}/{}", source.scope, source.tree.uuid(line.first));
                let created = source.tree.time(line.first).unwrap_or(header.created);
                header.id = ids::session(&header.scope, created)?;
                header.created = created;
                header.fork = None;
                if line.is_sidechain {
                    header.parent = Some(source.id.clone());
                }
            }
            let main = header_of_main.clone();
            let begun = Transcript::begin(
                header,
                self.writer,
                self.report,
                self.control,
                self.progress,
            )?;
            let Some(mut out) = begun else { continue };
            is_new = true;
            let Source { file, tree, .. } = source;
            if number > 0 && !line.is_sidechain {
                // The main line may have been imported before.
                let ids = ids.get_or_insert_with(|| {
                    let convert = |out: &mut Transcript<_>| {
                        convert::convert(out, file, tree, &paths[0], self.around)
                    };
                    without_writing(main, convert).unwrap_or_default()
                });
                let cut = line.leaves_at.and_then(|node| ids.get(&node).cloned());
                out.set_fork(fork_of(&source.id, cut));
            }
            let written = convert::convert(&mut out, file, tree, line, self.around)?;
            out.end(match line.is_sidechain && number > 0 {
                true => None,
                false => title.clone(),
            })?;
            if number == 0 {
                ids = Some(written);
            }
        }
        for _ in 0..if is_new { repeated } else { 0 } {
            let why = "it repeats another one after a compaction";
            self.report.leave_out("record", why);
        }
        Ok(is_new)
    }
}

fn fork_of(session: &SessionId, message_id: Option<lathe_protocol::MessageId>) -> ForkedFrom {
    ForkedFrom {
        session_id: session.clone(),
        message_id,
        extra: Extra::default(),
    }
}

/// Subagents in the session's own folder, and older ones that stand beside it.
fn agent_files(path: &Path, beside: Vec<PathBuf>) -> Vec<PathBuf> {
    let mut found = beside;
    let mut folders = vec![path.with_extension("").join("subagents")];
    while let Some(folder) = folders.pop() {
        for (file, is_folder) in entries(&folder) {
            if is_folder {
                folders.push(file);
            } else if is_jsonl(&file) && is_agent(&file) {
                found.push(file);
            }
        }
    }
    found.sort();
    found
}

/// The session that the first record of a subagent's file names.
fn session_of(path: &Path) -> Option<String> {
    let mut found = None;
    let mut file = Jsonl::open(path).ok()?;
    let end = file.len;
    let read = file.each(end, |line| {
        if let Line::Record(_, record) = line {
            found = text(&record, "sessionId").map(str::to_owned);
            return false;
        }
        true
    });
    read.ok()?;
    found
}

fn open_agent(path: &Path, session: &str, found: &mut Report) -> Result<Option<Source>, String> {
    let name = stem(path);
    let mut source = Source::open(path, format!("claude/{session}/{name}"), found)?;
    let meta = lathe_files::read(&path.with_extension("meta.json"), MAX_META).ok();
    let meta = meta.and_then(|bytes| serde_json::from_slice::<Value>(&bytes).ok());
    if let Some(meta) = meta {
        source.call = text(&meta, "toolUseId").map(str::to_owned);
        source.title = text(&meta, "description").map(str::to_owned);
    }
    Ok((!source.tree.is_empty()).then_some(source))
}
