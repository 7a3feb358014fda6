//! Sessions of Codex: `sessions/YYYY/MM/DD/rollout-*.jsonl`, `archived_sessions/`, and names in
//! `session_index.jsonl`.
//!
//! Each file becomes a session. One that begins in the middle of another (a fork, or what was
//! written after a revert) names its base; it becomes a fork with a copy of what it is based on.

mod convert;
mod index;
mod items;

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use lathe_protocol::{Extra, ForkedFrom, Millis, SessionId};
use serde_json::Value;

use crate::ids;
use crate::lines::{self, Jsonl, Line};
use crate::report::{Control, Progress, Report};
use crate::source::entries;
use crate::transcript::{Header, Stop, Transcript, without_writing};
use crate::value::{number, text, time};
use crate::writer::Writer;
use index::Index;

/// More bases than this are a circle or a mistake.
const MOST_BASES: usize = 64;

/// The start of a file.
#[derive(Debug, Clone)]
struct Rollout {
    path: PathBuf,
    thread: String,
    /// The thread's id, or the part of the file's name after it.
    rollout: String,
    created: Millis,
    directory: String,
    version: String,
    provider: String,
    parent: Option<String>,
    forked_from: Option<String>,
    base: Option<Base>,
    archived: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Base {
    thread: String,
    end_ordinal: Option<u64>,
    end_offset: Option<u64>,
}

/// The rollout files at a path.
pub fn files(path: &Path) -> Vec<PathBuf> {
    if path.is_file() {
        return vec![path.to_owned()];
    }
    let mut found = Vec::new();
    let mut folders = vec![path.join("archived_sessions"), path.join("sessions")];
    while let Some(folder) = folders.pop() {
        for (path, is_folder) in entries(&folder) {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            let is_rollout = name.starts_with("rollout-")
                && (name.ends_with(".jsonl") || name.ends_with(".jsonl.zst"));
            if is_folder {
                folders.push(path);
            } else if is_rollout {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

pub fn import<W: Writer>(
    path: &Path,
    writer: &mut W,
    control: &Control,
) -> Result<Report, W::Error> {
    let mut report = Report::default();
    let mut rollouts = Vec::new();
    for file in files(path) {
        match read_start(&file) {
            Ok(Some(rollout)) => rollouts.push(rollout),
            Ok(None) => report.problem(file.display().to_string(), "it has no header"),
            Err(error) => report.problem(file.display().to_string(), error),
        }
    }
    let mut progress = Progress {
        files: rollouts.len(),
        ..Progress::default()
    };
    let mut codex = Codex {
        names: read_names(path, &mut report),
        rollouts,
    };
    // A file is written only after its base and its parent, so that what it names is here.
    codex.rollouts.sort_by_key(|rollout| rollout.created);
    for at in 0..codex.rollouts.len() {
        let done = codex.import_one(at, writer, &mut report, control, &mut progress);
        progress.done += 1;
        control.report(progress);
        match done {
            Ok(()) => {}
            Err(Stop::Failed(error)) => return Err(error),
            Err(Stop::Unreadable(why)) => {
                report.problem(codex.rollouts[at].path.display().to_string(), why);
            }
            Err(Stop::Stopped) => {
                report.stopped = true;
                return Ok(report);
            }
        }
    }
    Ok(report)
}

struct Codex {
    names: HashMap<String, String>,
    rollouts: Vec<Rollout>,
}

impl Codex {
    fn import_one<W: Writer>(
        &self,
        at: usize,
        writer: &mut W,
        report: &mut Report,
        control: &Control,
        progress: &mut Progress,
    ) -> Result<(), Stop<W::Error>> {
        let rollout = &self.rollouts[at];
        let chain = self.chain(rollout);
        let mut sources = Vec::new();
        for link in &chain {
            sources.push((Jsonl::open(&link.rollout.path)?, link));
        }
        let len = sources.last().map_or(0, |(source, _)| source.len);
        let mut found = Report::default();
        let mut index = Index::default();
        for (segment, (source, link)) in sources.iter_mut().enumerate() {
            index.add(
                segment,
                source,
                link.end_ordinal,
                link.end_offset,
                &mut found,
            )?;
        }
        if chain.len() == 1
            && let Some(base) = &rollout.base
        {
            let why = format!(
                "the file of {} that it is based on is not there",
                base.thread
            );
            report.problem(format!("start of {}", rollout.thread), why);
        }
        let mut files: Vec<Jsonl> = sources.into_iter().map(|(source, _)| source).collect();
        let header = Header {
            id: rollout.session_id()?,
            scope: rollout.scope(),
            program: "codex",
            source_id: rollout.thread.clone(),
            mark: format!("{len}"),
            directory: rollout.directory.clone(),
            version: rollout.version.clone(),
            parent: self.session_of(rollout.parent.as_deref())?,
            fork: self.fork_of(rollout, &chain)?,
            created: rollout.created,
            title: None,
            archived: rollout.archived,
        };
        let title = self.names.get(&rollout.thread).cloned();
        let main = header.clone();
        let keys: Vec<String> = chain.iter().map(|link| link.rollout.scope()).collect();
        let mut cuts = None;
        let transcript = Transcript::begin(header, writer, report, control, progress)?;
        let is_new = transcript.is_some();
        if let Some(mut transcript) = transcript {
            cuts = Some(convert::convert(
                &mut transcript,
                &mut files,
                &index,
                &keys,
                None,
                &rollout.provider,
            )?);
            transcript.end(title.clone())?;
        }
        for number in 0..index.branches().len() {
            let scope = format!("{}/taken back {number}", main.scope);
            let header = Header {
                id: ids::session(&scope, main.created)?,
                scope,
                // What was taken back does not change any more.
                mark: format!("taken back {number}"),
                ..main.clone()
            };
            let Some(mut transcript) =
                Transcript::begin(header, writer, report, control, progress)?
            else {
                continue;
            };
            // The main line may have been imported before.
            let cuts = cuts.get_or_insert_with(|| {
                let convert = |out: &mut Transcript<_>| {
                    let provider = &rollout.provider;
                    convert::convert(out, &mut files, &index, &keys, None, provider)
                };
                without_writing(main.clone(), convert).unwrap_or_default()
            });
            transcript.set_fork(ForkedFrom {
                session_id: main.id.clone(),
                message_id: cuts.get(number).cloned().flatten(),
                extra: Extra::default(),
            });
            convert::convert(
                &mut transcript,
                &mut files,
                &index,
                &keys,
                Some(number),
                &rollout.provider,
            )?;
            transcript.end(title.clone())?;
        }
        if is_new {
            report.take_left_out(found);
        }
        Ok(())
    }

    /// The files that a rollout consists of, the oldest first.
    fn chain<'a>(&'a self, rollout: &'a Rollout) -> Vec<LinkOf<'a>> {
        let mut chain = vec![LinkOf {
            rollout,
            end_ordinal: None,
            end_offset: None,
        }];
        let mut newest = rollout;
        while let Some(base) = &newest.base
            && chain.len() < MOST_BASES
            && let Some(found) = self.find_base(newest, base)
            && !chain.iter().any(|link| link.rollout.path == found.path)
        {
            chain.insert(
                0,
                LinkOf {
                    rollout: found,
                    end_ordinal: base.end_ordinal,
                    end_offset: base.end_offset,
                },
            );
            newest = found;
        }
        chain
    }

    /// A thread that was reverted has several files. The base names the thread or one of its
    /// files; the cut must be within it.
    fn find_base(&self, of: &Rollout, base: &Base) -> Option<&Rollout> {
        let others = || {
            self.rollouts
                .iter()
                .filter(|other| other.path != of.path && other.created <= of.created)
        };
        let by_rollout = others().find(|other| other.rollout == base.thread);
        by_rollout.or_else(|| others().find(|other| other.thread == base.thread))
    }

    fn session_of(&self, thread: Option<&str>) -> Result<Option<SessionId>, lathe_protocol::BadId> {
        let found = thread.and_then(|thread| {
            self.rollouts
                .iter()
                .find(|rollout| rollout.thread == thread)
        });
        found.map(Rollout::session_id).transpose()
    }

    fn fork_of(
        &self,
        rollout: &Rollout,
        chain: &[LinkOf],
    ) -> Result<Option<ForkedFrom>, lathe_protocol::BadId> {
        let base = match chain {
            [.., base, _] => Some(base.rollout.session_id()?),
            _ => self.session_of(rollout.forked_from.as_deref())?,
        };
        Ok(base.map(|session_id| ForkedFrom {
            session_id,
            message_id: None,
            extra: Extra::default(),
        }))
    }
}

struct LinkOf<'a> {
    rollout: &'a Rollout,
    end_ordinal: Option<u64>,
    end_offset: Option<u64>,
}

impl Rollout {
    fn scope(&self) -> String {
        format!("codex/{}/{}", self.thread, self.rollout)
    }

    fn session_id(&self) -> Result<SessionId, lathe_protocol::BadId> {
        ids::session(&self.scope(), self.created)
    }
}

/// Reads only the first record.
fn read_start(path: &Path) -> std::io::Result<Option<Rollout>> {
    let mut header = None;
    lines::read_start(path, |line| match line {
        Line::Record(_, record) => {
            header = parse_start(path, &record);
            // Damaged lines before the header are counted when the file is read.
            header.is_none() && record.get("type").is_none()
        }
        _ => true,
    })?;
    Ok(header)
}

fn parse_start(path: &Path, record: &Value) -> Option<Rollout> {
    let meta = match text(record, "type") {
        Some("session_meta") => record.get("payload")?,
        // Files of mid-2025 have a bare header.
        None => record,
        Some(_) => return None,
    };
    let thread = text(meta, "id")?.to_owned();
    let name = path.file_name()?.to_string_lossy();
    let name = name.trim_end_matches(".zst").trim_end_matches(".jsonl");
    let rollout = name
        .split_once(&thread)
        .and_then(|(_, rest)| rest.strip_prefix('_'));
    let spawn = meta.pointer("/source/subagent/thread_spawn/parent_thread_id");
    let parent = text(meta, "parent_thread_id").or(spawn.and_then(Value::as_str));
    let base = meta.get("history_base").filter(|base| base.is_object());
    Some(Rollout {
        path: path.to_owned(),
        rollout: rollout.unwrap_or(&thread).to_owned(),
        created: time(meta, "timestamp")
            .or(time(record, "timestamp"))
            .unwrap_or(Millis(1)),
        directory: text(meta, "cwd").unwrap_or_default().to_owned(),
        version: text(meta, "cli_version").unwrap_or_default().to_owned(),
        provider: text(meta, "model_provider").unwrap_or("openai").to_owned(),
        parent: parent.map(str::to_owned),
        forked_from: text(meta, "forked_from_id").map(str::to_owned),
        base: base.and_then(|base| {
            Some(Base {
                thread: text(base, "thread_id")?.to_owned(),
                end_ordinal: base.get("end_ordinal_exclusive").and_then(Value::as_u64),
                end_offset: Some(number(base, "end_byte_offset") as u64).filter(|end| *end > 0),
            })
        }),
        archived: path
            .parent()
            .is_some_and(|folder| folder.ends_with("archived_sessions")),
        thread,
    })
}

/// The names of threads; the last entry wins.
fn read_names(path: &Path, report: &mut Report) -> HashMap<String, String> {
    let mut names = HashMap::new();
    let Ok(mut source) = Jsonl::open(&path.join("session_index.jsonl")) else {
        return names;
    };
    let end = source.len;
    let read = source.each(end, |line| {
        match line {
            Line::Record(_, record) => {
                let name = text(&record, "thread_name").or(text(&record, "name"));
                if let (Some(id), Some(name)) = (text(&record, "id"), name) {
                    names.insert(id.to_owned(), name.to_owned());
                }
            }
            Line::Damaged | Line::TooLong => report.leave_out("name of a session", "damaged line"),
        }
        true
    });
    if let Err(error) = read {
        report.problem("session_index.jsonl", error);
    }
    names
}
