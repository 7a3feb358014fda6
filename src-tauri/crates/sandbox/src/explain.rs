//! Tells whether a command failed because of the sandbox, and what it was refused.

use std::path::{Component, Path, PathBuf};

use crate::confinement::Confinement;
use crate::rules::{Access, Rules};

/// What was refused.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Refused {
    Write(PathBuf),
    Read(PathBuf),
    /// The host, if the command named it.
    Network(Option<String>),
    /// A system call that is refused inside: tracing, mounts, namespaces.
    SystemCall,
}

/// A failure that the sandbox caused.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Denial {
    pub refused: Refused,
    /// The line of output that shows it.
    pub line: String,
}

/// What a shell says of a command that died of a refused call.
const KILLED_BY_FILTER: i32 = 128 + 31;

/// What a shell says of a program that is not there: inside, what is hidden is missing.
const NOT_FOUND: i32 = 127;

const FILE_ERRORS: [&str; 11] = [
    "read-only file system",
    "permission denied",
    "operation not permitted",
    "invalid cross-device link",
    "cross-device link",
    "device or resource busy",
    "erofs",
    "eacces",
    "eperm",
    "exdev",
    "errno 13",
];

const NETWORK_ERRORS: [&str; 20] = [
    "could not resolve",
    "couldn't resolve",
    "failed to resolve",
    "unable to resolve",
    "temporary failure in name resolution",
    "temporary failure resolving",
    "name or service not known",
    "nodename nor servname",
    "no address associated with hostname",
    "failed to lookup address",
    "dns error",
    "no such host",
    "getaddrinfo",
    "eai_again",
    "enotfound",
    "enetunreach",
    "network is unreachable",
    "network is down",
    "could not connect to server",
    "failed to connect to",
];

const CALLS: [&str; 7] = [
    "ptrace",
    "unshare",
    "namespace",
    "mount",
    "perf_event_open",
    "bad system call",
    "socket",
];

/// A person reads all of them.
const MOST: usize = 8;

/// All that was refused, the last first; nothing, if the command ended well, or failed as it would
/// have outside.
pub fn explain(
    code: Option<i32>,
    output: &str,
    directory: &Path,
    confinement: &Confinement,
) -> Vec<Denial> {
    if code == Some(0) {
        return Vec::new();
    }
    let Ok(rules) = Rules::resolve(confinement) else {
        return Vec::new();
    };
    let lines = || output.lines().filter(|line| !line.trim().is_empty());
    let denial = |refused, line: &str| Denial {
        refused,
        line: line.trim().to_owned(),
    };
    let mut denials: Vec<Denial> = Vec::new();
    // The last error is mostly the one that ended it.
    for line in lines().rev() {
        let missing = code == Some(NOT_FOUND);
        let found = refused_in(line, directory, confinement, &rules);
        let hidden = || {
            missing
                .then(|| hidden_in(line, directory, &rules))
                .flatten()
        };
        let found = found.or_else(hidden);
        let Some(refused) = found else {
            continue;
        };
        let is_known = |known: &Denial| match (&known.refused, &refused) {
            (Refused::Network(_), Refused::Network(None)) => true,
            (known, refused) => known == refused,
        };
        if !denials.iter().any(is_known) {
            // A host says more than that there is no network.
            if matches!(refused, Refused::Network(Some(_))) {
                denials.retain(|known| known.refused != Refused::Network(None));
            }
            denials.push(denial(refused, line));
        }
        if denials.len() == MOST {
            break;
        }
    }
    if denials.is_empty() && code == Some(KILLED_BY_FILTER) {
        let last = lines().next_back().unwrap_or_default();
        denials.push(denial(Refused::SystemCall, last));
    }
    denials
}

/// What one line of output says that the sandbox refused.
fn refused_in(
    line: &str,
    directory: &Path,
    confinement: &Confinement,
    rules: &Rules,
) -> Option<Refused> {
    let small = line.to_lowercase();
    if FILE_ERRORS.iter().any(|error| small.contains(error)) {
        let found = paths(line, directory);
        let mut refused = found
            .iter()
            .filter_map(|path| refused_path(path, rules, &small));
        if let Some(refused) = refused.next() {
            return Some(refused);
        }
        if CALLS.iter().any(|call| small.contains(call)) {
            let network = small.contains("socket") && !confinement.network();
            return Some(match network {
                true => Refused::Network(None),
                false => Refused::SystemCall,
            });
        }
    }
    let network = NETWORK_ERRORS.iter().any(|error| small.contains(error));
    (network && !confinement.network()).then(|| Refused::Network(host(line)))
}

/// A program that is there outside.
fn hidden_in(line: &str, directory: &Path, rules: &Rules) -> Option<Refused> {
    let is_hidden = |path: &PathBuf| rules.access(path) == Access::Hidden && path.exists();
    let mut found = paths(line, directory).into_iter();
    found.find(is_hidden).map(Refused::Read)
}

/// What the rules keep from a path that the person could reach outside.
fn refused_path(path: &Path, rules: &Rules, message: &str) -> Option<Refused> {
    match rules.access(path) {
        Access::Hidden => Some(Refused::Read(path.to_owned())),
        Access::Read if may_change(path) => Some(Refused::Write(path.to_owned())),
        Access::Write if is_entry_refused(path, rules, message) => {
            Some(Refused::Write(path.to_owned()))
        }
        Access::Read | Access::Write => None,
    }
}

/// Next to a protected path, and above it, it depends on the engine which entries can be created,
/// renamed or removed. What is there can be written to, so another refusal is not ours.
fn is_entry_refused(path: &Path, rules: &Rules, message: &str) -> bool {
    let protects = |folder: &Path| {
        rules
            .below(folder)
            .any(|(_, rule)| rule.access != Access::Write)
    };
    let changes_entry = [
        "remove",
        "rename",
        "move",
        "unlink",
        "busy",
        "cross-device",
        "exdev",
    ]
    .iter()
    .any(|word| message.contains(word));
    let concerned = protects(path) || path.parent().is_some_and(protects);
    concerned && (changes_entry || std::fs::symlink_metadata(path).is_err())
}

/// Whether the person could change a path, or create it.
#[cfg(unix)]
fn may_change(path: &Path) -> bool {
    let exists = |place: &&Path| std::fs::symlink_metadata(place).is_ok();
    match path.ancestors().find(exists) {
        Some(nearest) => system_allows_writing(nearest) && (nearest == path || nearest.is_dir()),
        None => false,
    }
}

#[cfg(target_os = "linux")]
fn system_allows_writing(path: &Path) -> bool {
    rustix::fs::access(path, rustix::fs::Access::WRITE_OK).is_ok()
}

#[cfg(all(unix, not(target_os = "linux")))]
fn system_allows_writing(path: &Path) -> bool {
    std::fs::metadata(path).is_ok_and(|found| !found.permissions().readonly())
}

#[cfg(not(unix))]
fn may_change(_: &Path) -> bool {
    true
}

/// What looks like a path in a message, the most likely first: what is in quotes, then what lies
/// between colons. Programs name themselves at the beginning and the error at the end.
fn paths(line: &str, directory: &Path) -> Vec<PathBuf> {
    let line = line.split_once(" (").map_or(line, |(before, rest)| {
        let names_error = rest.ends_with(')') && is_error(rest);
        if names_error { before } else { line }
    });
    let quoted = line
        .split(['\'', '"', '`', '‘', '’', '“', '”'])
        .skip(1)
        .step_by(2);
    let mut found = Vec::new();
    let mut add = |text: &str| {
        let text = text.trim_matches(['\'', '"', '`', ',', ':', '(', ')', '[', ']']);
        let path = resolve(&directory.join(text));
        let is_name = !text.is_empty() && !text.contains("://") && !is_error(text);
        if is_name && !found.contains(&path) {
            found.push(path);
        }
    };
    quoted.for_each(&mut add);
    let parts: Vec<&str> = line.split(": ").map(str::trim).collect();
    let of_shell = parts.first().is_some_and(|program| program.ends_with("sh"));
    for (index, part) in parts.iter().enumerate().skip(1).rev() {
        // A bare word may be anything, unless the sentence says what it is.
        let before_error = parts.get(index + 1).is_some_and(|next| is_error(next));
        match part.rsplit_once(' ') {
            Some((sentence, last)) if sentence.starts_with("cannot") => add(last),
            _ if of_shell && before_error => add(part),
            _ if part.contains('/') || directory.join(part).exists() => add(part),
            _ => {}
        }
    }
    let words = line.split_whitespace().filter(|word| word.contains('/'));
    words.rev().for_each(add);
    found
}

fn is_error(text: &str) -> bool {
    let small = text.to_lowercase();
    FILE_ERRORS.iter().any(|error| small.contains(error))
}

/// The real path of what exists, with the rest put behind it.
fn resolve(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => drop(plain.pop()),
            Component::CurDir => {}
            other => plain.push(other),
        }
    }
    for place in plain.ancestors() {
        if let (Ok(real), Ok(rest)) = (std::fs::canonicalize(place), plain.strip_prefix(place)) {
            return if rest.as_os_str().is_empty() {
                real
            } else {
                real.join(rest)
            };
        }
    }
    plain
}

/// The host that a message names, if it names one.
fn host(line: &str) -> Option<String> {
    if let Some((_, rest)) = line.split_once("://") {
        let end = rest.find(['/', ' ', ':', '\'', '"', ')']);
        let host = &rest[..end.unwrap_or(rest.len())];
        let host = host.rsplit('@').next().unwrap_or(host);
        return (!host.is_empty()).then(|| host.to_owned());
    }
    line.split(|letter: char| letter.is_whitespace() || "'\"`():,".contains(letter))
        .map(|word| word.trim_end_matches('.'))
        .find(|word| is_host(word))
        .map(str::to_owned)
}

fn is_host(word: &str) -> bool {
    let labels: Vec<&str> = word.split('.').collect();
    let fine = |label: &&str| {
        !label.is_empty() && label.chars().all(|c| c.is_ascii_alphanumeric() || c == '-')
    };
    labels.len() > 1 && labels.iter().all(fine)
}

#[cfg(unix)]
#[cfg(test)]
#[path = "explain_tests.rs"]
mod tests;
