//! Memory and processor time of the app and its webview, from the kernel's tables.

use std::fs;
use std::time::Duration;

/// The kernel's unit of processor time.
const TICKS_A_SECOND: u64 = 100;

/// The memory of all processes of the group; shared pages count by their share.
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

/// The processes that run the page.
pub fn page_processes(group: u32) -> Vec<u32> {
    let runs_page = |pid: &u32| {
        let name = fs::read_to_string(format!("/proc/{pid}/comm")).unwrap_or_default();
        let is_alive = stat(*pid).is_some_and(|fields| fields[0] != "Z");
        // The kernel cuts names off after 15 characters.
        name.trim_end() == "WebKitWebProces" && is_alive
    };
    members(group).into_iter().filter(runs_page).collect()
}

/// The processes of the group. The driver is one of them and idle while we measure.
fn members(group: u32) -> Vec<u32> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    entries
        .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
        .filter(|pid| stat(*pid).and_then(|fields| fields.get(2)?.parse().ok()) == Some(group))
        .collect()
}

/// The fields after the process's name, which may contain any character.
fn stat(pid: u32) -> Option<Vec<String>> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let rest = stat.rsplit_once(')')?.1;
    Some(rest.split_whitespace().map(str::to_owned).collect())
}
