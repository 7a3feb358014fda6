//! The process table, from `/proc`.

pub struct Entry {
    pub pid: i32,
    pub parent: i32,
    pub group: i32,
    /// Ended, but not yet waited for by its parent.
    pub dead: bool,
}

pub fn entries() -> Vec<Entry> {
    let Ok(listing) = std::fs::read_dir("/proc") else {
        return Vec::new();
    };
    listing
        .flatten()
        .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
        .filter_map(entry)
        .collect()
}

fn entry(pid: i32) -> Option<Entry> {
    let stat = std::fs::read(format!("/proc/{pid}/stat")).ok()?;
    // The second field is the name, which may contain any character, including brackets.
    let end = stat.iter().rposition(|byte| *byte == b')')?;
    let rest = String::from_utf8_lossy(&stat[end + 1..]);
    let mut fields = rest.split_ascii_whitespace();
    let state = fields.next()?;
    let parent = fields.next()?.parse().ok()?;
    let group = fields.next()?.parse().ok()?;
    Some(Entry {
        pid,
        parent,
        group,
        dead: matches!(state, "Z" | "X"),
    })
}

pub fn has_mark(pid: i32, mark: &str) -> bool {
    std::fs::read(format!("/proc/{pid}/environ")).is_ok_and(|environ| {
        environ
            .split(|byte| *byte == 0)
            .any(|v| v == mark.as_bytes())
    })
}
