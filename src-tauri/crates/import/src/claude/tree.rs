//! The records of one file as a tree: the order follows `parentUuid`, not the file.

use std::collections::{HashMap, HashSet};
use std::io;

use lathe_protocol::Millis;
use serde_json::Value;

use crate::lines::{At, Jsonl, Line};
use crate::report::Report;
use crate::value::{is_true, list, text, time};

/// Titles from the strongest to the weakest: the record's type and the field that has the text.
const TITLES: [(&str, &str); 4] = [
    ("custom-title", "customTitle"),
    ("agent-name", "agentName"),
    ("summary", "summary"),
    ("ai-title", "aiTitle"),
];

/// The place of a summary among the titles.
const SUMMARY: usize = 2;

#[derive(Debug, Clone)]
pub struct Node {
    pub at: At,
    uuid: String,
    /// The parent's id, until all records are read: a record may stand before its parent.
    named: Option<String>,
    parent: Option<usize>,
    time: Option<Millis>,
    is_sidechain: bool,
    /// The id of the API's answer, which spans several lines.
    pub answer: Option<String>,
    /// It has something that a person or the model wrote.
    has_content: bool,
}

/// One line of records from the start to an end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Path {
    pub nodes: Vec<usize>,
    /// The first record that only this line has.
    pub first: usize,
    /// The record of the main line that comes after the last common one.
    pub leaves_at: Option<usize>,
    pub is_sidechain: bool,
}

#[derive(Default)]
pub struct Tree {
    pub nodes: Vec<Node>,
    by_uuid: HashMap<String, usize>,
    answers: HashMap<String, Vec<usize>>,
    results: HashMap<String, At>,
    calls: HashSet<String>,
    compacted: HashSet<String>,
    titles: [Option<String>; 4],
    /// Titles that are for the record with this id, which may be one of another session.
    summaries: Vec<(String, String)>,
    directory: String,
    version: String,
}

impl Tree {
    pub fn read(file: &mut Jsonl, report: &mut Report) -> io::Result<Tree> {
        let mut tree = Tree::default();
        let end = file.len;
        file.each(end, |line| {
            match line {
                Line::Record(at, record) => tree.add(at, &record, report),
                Line::Damaged => report.leave_out("line", "it is damaged"),
                Line::TooLong => report.leave_out("line", "it is too long"),
            }
            true
        })?;
        tree.link();
        tree.take_summaries(report);
        Ok(tree)
    }

    fn add(&mut self, at: At, record: &Value, report: &mut Report) {
        let kind = text(record, "type").unwrap_or_default();
        if let Some(rank) = TITLES.iter().position(|(title, _)| *title == kind) {
            let title = text(record, TITLES[rank].1).or(text(record, "title"));
            match title {
                Some(title) => match text(record, "leafUuid").filter(|_| rank == SUMMARY) {
                    Some(leaf) => self.summaries.push((leaf.to_owned(), title.to_owned())),
                    None => self.titles[rank] = Some(title.to_owned()),
                },
                None => report.leave_out(kind, "it has no text"),
            }
            return;
        }
        let Some(uuid) = text(record, "uuid") else {
            let why = match kind {
                "progress"
                | "queue-operation"
                | "file-history-snapshot"
                | "last-prompt"
                | "mode"
                | "permission-mode"
                | "pr-link"
                | "worktree-state"
                | "bridge-session" => "it is not part of the session",
                _ => "it is not known",
            };
            let kind = match kind {
                "" => "record without a type",
                kind => kind,
            };
            return report.leave_out(kind, why);
        };
        if self.by_uuid.contains_key(uuid) {
            return report.leave_out(kind, "the same record came before");
        }
        let is_sidechain = is_true(record, "isSidechain");
        if self.directory.is_empty() {
            self.directory = text(record, "cwd").unwrap_or_default().to_owned();
        }
        if let Some(version) = text(record, "version") {
            self.version = version.to_owned();
        }
        let message = record.get("message");
        let answer = match kind {
            "assistant" => {
                let id = message.and_then(|message| text(message, "id"));
                Some(id.unwrap_or(uuid).to_owned())
            }
            _ => None,
        };
        let mut has_content = answer.is_some();
        for item in message.map_or(&[][..], |message| list(message, "content")) {
            match text(item, "type").unwrap_or_default() {
                "tool_result" | "web_search_tool_result" => {
                    if let Some(call) = text(item, "tool_use_id") {
                        self.results.entry(call.to_owned()).or_insert(at);
                    }
                }
                "tool_use" | "server_tool_use" => {
                    self.calls.extend(text(item, "id").map(str::to_owned));
                }
                _ => has_content |= kind == "user" && !is_true(record, "isMeta"),
            }
        }
        let written = message.and_then(|message| text(message, "content"));
        has_content |= kind == "user" && written.is_some() && !is_true(record, "isMeta");
        for call in record
            .pointer("/microcompactMetadata/compactedToolIds")
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
        {
            self.compacted.extend(call.as_str().map(str::to_owned));
        }
        let index = self.nodes.len();
        let named = text(record, "parentUuid").or(text(record, "logicalParentUuid"));
        if let Some(answer) = &answer {
            self.answers.entry(answer.clone()).or_default().push(index);
        }
        self.by_uuid.insert(uuid.to_owned(), index);
        self.nodes.push(Node {
            at,
            uuid: uuid.to_owned(),
            named: named.map(str::to_owned),
            parent: None,
            time: time(record, "timestamp"),
            is_sidechain,
            answer,
            has_content,
        });
    }

    /// A parent that is not there was on a damaged line, or is not in this file: the record
    /// follows the one before it, or all that came before would be lost.
    fn link(&mut self) {
        let mut last = [None; 2];
        for index in 0..self.nodes.len() {
            let node = &self.nodes[index];
            let before = &mut last[usize::from(node.is_sidechain)];
            let parent = match &node.named {
                Some(named) => self.by_uuid.get(named).copied().or(*before),
                None => None,
            };
            *before = Some(index);
            self.nodes[index].parent = parent;
            self.nodes[index].named = None;
        }
    }

    /// Older files begin with the summaries of other sessions of the project.
    fn take_summaries(&mut self, report: &mut Report) {
        for (leaf, title) in std::mem::take(&mut self.summaries) {
            match self.by_uuid.contains_key(&leaf) {
                true => self.titles[SUMMARY] = Some(title),
                false => report.leave_out("summary", "it is of another session"),
            }
        }
    }

    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    pub fn first(&self) -> Option<&str> {
        self.nodes.first().map(|node| node.uuid.as_str())
    }

    pub fn created(&self) -> Option<Millis> {
        self.nodes.iter().find_map(|node| node.time)
    }

    pub fn time(&self, node: usize) -> Option<Millis> {
        self.nodes.get(node)?.time
    }

    pub fn uuid(&self, node: usize) -> &str {
        self.nodes.get(node).map_or("", |node| node.uuid.as_str())
    }

    pub fn directory(&self) -> &str {
        &self.directory
    }

    pub fn version(&self) -> &str {
        &self.version
    }

    pub fn title(&self) -> Option<String> {
        self.titles.iter().flatten().next().cloned()
    }

    pub fn calls(&self) -> impl Iterator<Item = &str> {
        self.calls.iter().map(String::as_str)
    }

    pub fn has_call(&self, call: &str) -> bool {
        self.calls.contains(call)
    }

    pub fn result(&self, call: &str) -> Option<At> {
        self.results.get(call).copied()
    }

    pub fn is_compacted(&self, call: &str) -> bool {
        self.compacted.contains(call)
    }

    /// All lines of an answer. Parallel calls look like forks, but belong to it.
    pub fn answer(&self, id: &str) -> &[usize] {
        self.answers.get(id).map_or(&[], Vec::as_slice)
    }

    /// The line that ends last, then the others that have something of their own.
    pub fn paths(&self) -> Vec<Path> {
        let mut covered = vec![false; self.nodes.len()];
        let mut answered: HashSet<&str> = HashSet::new();
        // After a compaction some records are written again, with the time of those that they
        // repeat.
        let mut times = HashSet::new();
        let mut main: Option<HashMap<usize, usize>> = None;
        let mut paths = Vec::new();
        // In a file of a subagent every record is a sidechain.
        let is_agent = self.nodes.iter().all(|node| node.is_sidechain);
        let order = (0..self.nodes.len()).rev();
        let (rest, last): (Vec<_>, Vec<_>) =
            order.partition(|index| self.nodes[*index].is_sidechain && !is_agent);
        for end in last.into_iter().chain(rest) {
            if covered[end] {
                continue;
            }
            let nodes = self.line_to(end);
            let is_new = |index: &&usize| {
                let node = &self.nodes[**index];
                let answer = node.answer.as_deref();
                !covered[**index]
                    && node.has_content
                    && answer.is_none_or(|answer| !answered.contains(answer))
                    && !times.contains(&(node.time, answer.is_some()))
            };
            let first = nodes.iter().find(is_new).copied();
            let is_first_line = main.is_none();
            nodes.iter().for_each(|index| covered[*index] = true);
            let Some(first) = first else { continue };
            for index in &nodes {
                let node = &self.nodes[*index];
                if node.has_content && node.time.is_some() {
                    times.insert((node.time, node.answer.is_some()));
                }
            }
            answered.extend(
                nodes
                    .iter()
                    .filter_map(|index| self.nodes[*index].answer.as_deref()),
            );
            let next_of = main
                .get_or_insert_with(|| nodes.windows(2).map(|pair| (pair[0], pair[1])).collect());
            let common = nodes.iter().rev().find(|index| next_of.contains_key(index));
            let leaves_at = match is_first_line {
                true => None,
                false => common.and_then(|index| next_of.get(index).copied()),
            };
            paths.push(Path {
                first,
                leaves_at,
                is_sidechain: self.nodes[first].is_sidechain,
                nodes,
            });
        }
        paths
    }

    /// How many records with content are on none of the lines: they repeat others.
    pub fn count_repeated(&self, paths: &[Path]) -> usize {
        let on_a_line: HashSet<usize> =
            paths.iter().flat_map(|path| &path.nodes).copied().collect();
        let answers: HashSet<_> = on_a_line
            .iter()
            .map(|node| &self.nodes[*node].answer)
            .collect();
        let nodes = self.nodes.iter().enumerate();
        nodes
            .filter(|(index, node)| {
                node.has_content
                    && !on_a_line.contains(index)
                    && (node.answer.is_none() || !answers.contains(&node.answer))
            })
            .count()
    }

    fn line_to(&self, end: usize) -> Vec<usize> {
        let mut nodes = vec![end];
        let mut seen = HashSet::from([end]);
        let is_sidechain = self.nodes[end].is_sidechain;
        let mut at = end;
        while let Some(parent) = self.nodes[at].parent
            && self.nodes[parent].is_sidechain == is_sidechain
            && seen.insert(parent)
        {
            nodes.push(parent);
            at = parent;
        }
        nodes.reverse();
        nodes
    }
}
