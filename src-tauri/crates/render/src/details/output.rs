//! Parses the output of tools: lines of a file, matches, paths, directory trees, answers.

use lathe_protocol::Map;
use lathe_protocol::ipc::{AnsweredQuestion, MatchedFile, MatchedLine, ToolBody, TreeEntry};
use regex::Regex;
use serde_json::Value;

use super::shown_path;
use crate::diff::cut_spans;
use crate::highlight::{self, Highlighter};

/// Numbered lines: `    12\ttext`, or `00012| text` in older versions.
pub(super) fn code(text: &str, path: &str) -> Option<ToolBody> {
    let mut lines = Vec::new();
    let mut first = None;
    for line in text.lines() {
        if let Some((number, content)) = numbered(line) {
            first.get_or_insert(number);
            lines.push(content);
        }
    }
    let first = first?;
    let code: String = lines.iter().map(|line| format!("{line}\n")).collect();
    Some(ToolBody::Code {
        path: path.to_owned(),
        first,
        lines: highlight::lines(&code, path),
    })
}

fn numbered(line: &str) -> Option<(usize, &str)> {
    let (number, content) = match line.split_once('\t') {
        Some(pair) if pair.0.trim().bytes().all(|b| b.is_ascii_digit()) => pair,
        _ => line
            .split_once('|')
            .map(|(number, content)| (number, content.strip_prefix(' ').unwrap_or(content)))?,
    };
    Some((number.trim().parse().ok()?, content))
}

/// Lines of the form `path:`, each followed by its matches, which are indented.
pub(super) fn matches(text: &str, pattern: &str, root: Option<&str>) -> Option<ToolBody> {
    let wanted = Regex::new(pattern).ok();
    let mut files: Vec<MatchedFile> = Vec::new();
    for line in text.lines() {
        match (line.strip_prefix("  "), files.last_mut()) {
            (Some(found), Some(file)) => {
                file.lines
                    .extend(matched(found, &file.path, wanted.as_ref()));
            }
            _ => files.extend(line.strip_suffix(':').map(|path| MatchedFile {
                path: shown_path(path, root),
                lines: Vec::new(),
            })),
        }
    }
    files.retain(|file| !file.lines.is_empty());
    (!files.is_empty()).then_some(ToolBody::Matches { files })
}

fn matched(line: &str, path: &str, wanted: Option<&Regex>) -> Option<MatchedLine> {
    let (number, text) = line.split_once(':')?;
    let number = number.trim().trim_start_matches("Line ").parse().ok()?;
    let text = text.strip_prefix(' ').unwrap_or(text);
    let marks: Vec<_> = wanted
        .map(|wanted| wanted.find_iter(text).map(|found| found.range()).collect())
        .unwrap_or_default();
    // Without the lines before it, the colours of a line are a guess, but mostly a good one.
    let pieces = Highlighter::new(path).line(text);
    Some(MatchedLine {
        number,
        spans: cut_spans(text, &pieces, &marks),
    })
}

pub(super) fn paths(text: &str, root: Option<&str>) -> Option<ToolBody> {
    if text.starts_with("No files found") {
        return None;
    }
    let paths: Vec<String> = text
        .lines()
        .filter(|line| !line.trim().is_empty())
        .map(|line| shown_path(line, root))
        .collect();
    (!paths.is_empty()).then_some(ToolBody::Paths { paths })
}

/// A directory, followed by names that are indented by two spaces per level.
pub(super) fn tree(text: &str, root: Option<&str>) -> Option<ToolBody> {
    let mut lines = text.lines();
    let top = lines.next()?.strip_suffix('/')?;
    let mut above: Vec<&str> = Vec::new();
    let mut entries = Vec::new();
    for line in lines {
        let name = line.trim_start_matches(' ');
        let depth = (line.len() - name.len()) / 2;
        if name.is_empty() || depth == 0 {
            continue;
        }
        let directory = name.ends_with('/');
        let name = name.trim_end_matches('/');
        above.truncate(depth - 1);
        let path = above.iter().chain([&name]).copied().collect::<Vec<_>>();
        entries.push(TreeEntry {
            depth: depth - 1,
            name: name.to_owned(),
            path: path.join("/"),
            directory,
        });
        if directory {
            above.push(name);
        }
    }
    let root = match shown_path(top, root) {
        same if Some(same.as_str()) == root => String::new(),
        below => below,
    };
    (!entries.is_empty()).then_some(ToolBody::Tree { root, entries })
}

/// The questions, each with what the user chose or typed.
pub(super) fn answers(input: &Map, metadata: Option<&Map>) -> Option<ToolBody> {
    let given = metadata?.get("answers")?.as_array()?;
    let questions = input.get("questions")?.as_array()?;
    let pair = |(question, answer): (&Value, Option<&Value>)| AnsweredQuestion {
        question: question["question"].as_str().unwrap_or_default().to_owned(),
        answers: answer
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
            .filter_map(|one| one.as_str().map(str::to_owned))
            .collect(),
    };
    let given = given.iter().map(Some).chain(std::iter::repeat(None));
    let questions = questions.iter().zip(given).map(pair).collect();
    Some(ToolBody::Answers { questions })
}
