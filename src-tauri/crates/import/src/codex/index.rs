//! The first pass over the files of one rollout: where its records are, which of them were taken
//! back, and which results and events belong to which call.

use std::collections::HashMap;
use std::io;

use serde_json::Value;

use super::items;
use crate::lines::{At, Jsonl, Line};
use crate::report::Report;
use crate::value::{kind, number, text};

/// A record of one of the files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place {
    pub segment: usize,
    pub at: At,
}

#[derive(Debug, Clone, Copy)]
struct Entry {
    place: Place,
    begins_turn: bool,
}

#[derive(Default)]
pub struct Index {
    live: Vec<Entry>,
    main: Vec<Place>,
    /// Each with what comes before it.
    branches: Vec<Vec<Place>>,
    /// Where the branches leave the main line.
    cuts: Vec<usize>,
    results: HashMap<String, Place>,
    events: HashMap<String, Vec<Place>>,
}

impl Index {
    pub fn add(
        &mut self,
        segment: usize,
        source: &mut Jsonl,
        end_ordinal: Option<u64>,
        end_offset: Option<u64>,
        report: &mut Report,
    ) -> io::Result<()> {
        let end = end_offset.unwrap_or(source.len).min(source.len);
        source.each(end, |line| {
            match line {
                Line::Record(at, record) => {
                    let ordinal = record.get("ordinal").and_then(Value::as_u64);
                    let is_after = end_ordinal
                        .zip(ordinal)
                        .is_some_and(|(end, ordinal)| ordinal >= end);
                    if is_after {
                        return false;
                    }
                    self.add_record(Place { segment, at }, &record);
                }
                Line::Damaged => report.leave_out("line", "it is damaged"),
                Line::TooLong => report.leave_out("line", "it is too long"),
            }
            true
        })?;
        self.main = self.live.iter().map(|entry| entry.place).collect();
        Ok(())
    }

    fn add_record(&mut self, place: Place, record: &Value) {
        let (kind, payload) = split(record);
        if kind == "event_msg" {
            match text(payload, "type") {
                Some("thread_rolled_back") => return self.take_back(payload),
                Some("exec_command_end" | "patch_apply_end" | "mcp_tool_call_end") => {
                    self.add_event(text(payload, "call_id"), place);
                }
                Some("item_completed") => {
                    let item = payload.get("item");
                    self.add_event(item.and_then(|item| text(item, "id")), place);
                }
                _ => {}
            }
        }
        if kind == "response_item"
            && items::is_output(payload)
            && let Some(call) = text(payload, "call_id")
        {
            // A copied base may hold the same call again; the first result is its own.
            self.results.entry(call.to_owned()).or_insert(place);
        }
        let begins_turn = kind == "response_item" && items::is_prompt(payload);
        self.live.push(Entry { place, begins_turn });
    }

    fn add_event(&mut self, call: Option<&str>, place: Place) {
        if let Some(call) = call {
            self.events.entry(call.to_owned()).or_default().push(place);
        }
    }

    /// Moves the last turns to a branch.
    fn take_back(&mut self, payload: &Value) {
        let turns = number(payload, "num_turns") as usize;
        let starts = self.live.iter().enumerate().rev();
        let mut starts = starts.filter(|(_, entry)| entry.begins_turn);
        let Some((cut, _)) = turns.checked_sub(1).and_then(|skip| {
            let oldest = starts.clone().next_back();
            starts.nth(skip).or(oldest)
        }) else {
            return;
        };
        let branch = self.live.iter().map(|entry| entry.place).collect();
        self.branches.push(branch);
        self.cuts.push(cut);
        self.live.truncate(cut);
    }

    pub fn main(&self) -> &[Place] {
        &self.main
    }

    pub fn branches(&self) -> &[Vec<Place>] {
        &self.branches
    }

    /// How many records the main line and each branch have in common.
    pub fn cuts(&self) -> &[usize] {
        &self.cuts
    }

    pub fn result(&self, call: &str) -> Option<Place> {
        self.results.get(call).copied()
    }

    pub fn events(&self, call: &str) -> &[Place] {
        self.events.get(call).map_or(&[], Vec::as_slice)
    }
}

/// The type and the payload. Files of mid-2025 have bare items.
pub fn split(record: &Value) -> (&str, &Value) {
    match (record.get("payload"), record.get("type")) {
        (Some(payload), Some(_)) => (kind(record), payload),
        (None, Some(_)) if items::is_item(record) => ("response_item", record),
        _ => (kind(record), record),
    }
}
