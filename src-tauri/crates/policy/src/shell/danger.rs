//! Commands that a person should look at twice. This decides nothing: it is for the dialog.

use super::knowledge::joined;
use super::word::Word;

/// A command that is hard or impossible to undo, and what it does in a few words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Danger {
    pub command: String,
    pub why: &'static str,
}

const SHELLS: [&str; 7] = ["sh", "bash", "zsh", "dash", "ksh", "fish", "sudo"];

impl Danger {
    /// What was fetched is run unseen.
    pub(super) fn of_pipeline(patterns: &[String]) -> Option<Danger> {
        let name = |pattern: &String| pattern.split(' ').next().unwrap_or_default().to_owned();
        let fetches = |pattern: &&String| matches!(name(pattern).as_str(), "curl" | "wget");
        let runs = |pattern: &&String| {
            let name = name(pattern);
            let name = name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
            SHELLS.contains(&name) || matches!(name, "python" | "perl" | "ruby" | "node")
        };
        let fetched = patterns.iter().position(|pattern| fetches(&pattern))?;
        let run = patterns[fetched..].iter().find(runs)?;
        Some(Danger {
            command: format!("{} | {run}", patterns[fetched]),
            why: "runs a script from the network",
        })
    }

    pub(super) fn of_device(path: &str) -> Option<Danger> {
        const HARMLESS: [&str; 6] = [
            "/dev/null",
            "/dev/stdout",
            "/dev/stderr",
            "/dev/tty",
            "/dev/zero",
            "/dev/fd",
        ];
        let device = path.starts_with("/dev/") && !HARMLESS.iter().any(|one| path.starts_with(one));
        device.then(|| Danger {
            command: format!("> {path}"),
            why: "writes to a device",
        })
    }
}

pub(super) fn find(name: &str, words: &[Word]) -> Option<Danger> {
    let arguments: Vec<&str> = words[1..].iter().map(|word| word.value.as_str()).collect();
    why(name, &arguments).map(|why| Danger {
        command: joined(words),
        why,
    })
}

fn why(name: &str, arguments: &[&str]) -> Option<&'static str> {
    let long = |option: &str| arguments.contains(&option);
    let letter = |letter: char| {
        let short = |word: &&&str| word.starts_with('-') && !word.starts_with("--");
        arguments
            .iter()
            .filter(short)
            .any(|word| word.contains(letter))
    };
    let starts = |words: &[&str]| {
        let mut operands = arguments.iter().filter(|word| !word.starts_with('-'));
        words.iter().all(|word| operands.next() == Some(word))
    };
    Some(match name {
        "rm" if letter('r') || letter('R') || long("--recursive") => {
            "deletes folders with everything in them"
        }
        "rm" if letter('f') || long("--force") => "deletes files without asking",
        "sudo" | "doas" | "su" | "pkexec" => "runs as another user",
        "chmod" | "chown" | "chgrp" if letter('R') || long("--recursive") => {
            "changes the permissions of everything in a folder"
        }
        "chmod"
            if arguments
                .iter()
                .any(|word| matches!(*word, "777" | "0777" | "a+rwx")) =>
        {
            "lets every user change it"
        }
        "dd" | "shred" | "wipefs" | "fdisk" | "parted" => "overwrites files or disks",
        "mkswap" | "truncate" => "overwrites what is there",
        _ if name.starts_with("mkfs") => "erases a disk",
        "shutdown" | "reboot" | "halt" | "poweroff" => "stops the machine",
        "kill" | "pkill" | "killall" if letter('9') || name != "kill" => "ends processes",
        "crontab" | "at" => "runs commands later",
        "find" if long("-delete") => "deletes what it finds",
        "git" => return git(arguments, &starts, &letter),
        "docker" | "podman" if starts(&["system", "prune"]) || starts(&["volume", "rm"]) => {
            "deletes containers' data"
        }
        "npm" | "yarn" | "pnpm" | "cargo" | "gem" | "twine" if starts(&["publish"]) => {
            "publishes a package"
        }
        "terraform" if starts(&["destroy"]) || starts(&["apply"]) => "changes infrastructure",
        "kubectl" if starts(&["delete"]) => "deletes from a cluster",
        _ => return None,
    })
}

fn git(
    arguments: &[&str],
    starts: &dyn Fn(&[&str]) -> bool,
    letter: &dyn Fn(char) -> bool,
) -> Option<&'static str> {
    let any = |options: &[&str]| {
        arguments
            .iter()
            .any(|word| options.iter().any(|option| word.starts_with(option)))
    };
    Some(if starts(&["push"]) {
        if any(&["--force", "--mirror"]) || letter('f') {
            "overwrites what others have pushed"
        } else if any(&["--delete", "+", ":"]) || letter('d') {
            "deletes or overwrites a remote branch"
        } else {
            return None;
        }
    } else if starts(&["reset"]) && any(&["--hard", "--merge"]) {
        "throws changes away"
    } else if starts(&["clean"]) && !letter('n') {
        "deletes files that are not in git"
    } else if (starts(&["checkout"]) || starts(&["restore"])) && any(&["--", ".", "--force"]) {
        "throws changes away"
    } else if starts(&["branch"]) && letter('D') {
        "deletes a branch that is not merged"
    } else if starts(&["stash", "drop"]) || starts(&["stash", "clear"]) {
        "deletes stashed changes"
    } else if starts(&["filter-branch"]) || starts(&["reflog", "expire"]) {
        "rewrites history"
    } else {
        return None;
    })
}
