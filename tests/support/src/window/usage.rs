//! What the app and its webview cost: read from the kernel, for the processes of one group.

use std::fs;
use std::time::Duration;

/// What Linux counts in, on every platform that we measure on.
const TICKS_A_SECOND: u64 = 100;

/// Of every process in the group: what is in memory, shared pages by their share.
pub fn resident_bytes(group: u32) -> u64 {
    let of = |pid: &u32| {
        let rollup = fs::read_to_string(format!("/proc/{pid}/smaps_rollup")).unwrap_or_default();
        let line = rollup.lines().find(|line| line.starts_with("Pss:"));
        let kilobytes = line.and_then(|line| line.split_whitespace().nth(1)?.parse::<u64>().ok());
        kilobytes.unwrap_or(0) * 1024
    };
    members(group).iter().map(of).sum()
}

pub fn cpu_time(group: u32) -> Duration {
    let ticks: u64 = members(group)
        .iter()
        .filter_map(|pid| {
            let fields = stat(*pid)?;
            let number = |at: usize| fields.get(at)?.parse::<u64>().ok();
            Some(number(11)? + number(12)?)
        })
        .sum();
    Duration::from_millis(ticks * 1000 / TICKS_A_SECOND)
}

/// The driver counts as little as it does: it is asked nothing meanwhile.
fn members(group: u32) -> Vec<u32> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    entries
        .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
        .filter(|pid| stat(*pid).and_then(|fields| fields.get(2)?.parse().ok()) == Some(group))
        .collect()
}

/// The fields after the name, which may hold anything.
fn stat(pid: u32) -> Option<Vec<String>> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let rest = stat.rsplit_once(')')?.1;
    Some(rest.split_whitespace().map(str::to_owned).collect())
}
