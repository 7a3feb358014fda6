//! Programs that run the command in their arguments.

use super::Reason;
use super::word::Word;

/// Where the inner command begins, and what the wrapper itself adds.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Wrapped {
    /// The first word of the inner command; the number of words where there is none.
    pub start: usize,
    /// Variables that are set for it; `-` where some are taken away, on which it may rely.
    pub assignments: Vec<String>,
    /// A directory it runs in.
    pub enters: Option<Word>,
    /// A command as text.
    pub script: Option<String>,
    /// The command gets more words than are written.
    pub appends: bool,
    /// A text in its words that becomes something else.
    pub replaces: Option<String>,
}

struct Wrapper {
    names: &'static [&'static str],
    /// Options without a value.
    flags: &'static [&'static str],
    /// Options with one, in the next word or the same.
    values: &'static [&'static str],
    /// Words of its own before the command.
    positional: usize,
}

/// They run what follows as the same user, with the arguments that are written there.
const TRANSPARENT: &[Wrapper] = &[
    Wrapper {
        names: &["timeout", "gtimeout"],
        flags: &[
            "-v",
            "--verbose",
            "--foreground",
            "--preserve-status",
            "-f",
            "-p",
        ],
        values: &["-s", "--signal", "-k", "--kill-after"],
        positional: 1,
    },
    Wrapper {
        names: &["nice", "gnice"],
        flags: &["-#"],
        values: &["-n", "--adjustment"],
        positional: 0,
    },
    Wrapper {
        names: &["ionice"],
        flags: &["-t", "--ignore"],
        values: &["-c", "--class", "-n", "--classdata"],
        positional: 0,
    },
    Wrapper {
        names: &[
            "nohup",
            "noglob",
            "nocorrect",
            "unbuffer",
            "chronic",
            "builtin",
        ],
        flags: &[],
        values: &[],
        positional: 0,
    },
    Wrapper {
        names: &["setsid"],
        flags: &["-w", "--wait", "-c", "--ctty", "-f", "--fork"],
        values: &[],
        positional: 0,
    },
    Wrapper {
        names: &["stdbuf", "gstdbuf"],
        flags: &[],
        values: &["-i", "--input", "-o", "--output", "-e", "--error"],
        positional: 0,
    },
    Wrapper {
        names: &["time", "gtime"],
        flags: &["-p", "--portability", "-v", "--verbose"],
        values: &["-f", "--format"],
        positional: 0,
    },
    Wrapper {
        names: &["command"],
        flags: &["-p"],
        values: &[],
        positional: 0,
    },
    Wrapper {
        names: &["caffeinate"],
        flags: &["-d", "-i", "-m", "-s", "-u"],
        values: &["-t"],
        positional: 0,
    },
];

/// They run what follows with other arguments, elsewhere or as someone else.
const INDIRECT: &[Wrapper] = &[
    Wrapper {
        names: &["xargs", "gxargs"],
        flags: &[
            "-0",
            "--null",
            "-r",
            "--no-run-if-empty",
            "-t",
            "--verbose",
            "-p",
            "--interactive",
            "-x",
            "--exit",
            "-o",
            "--open-tty",
        ],
        values: &[
            "-a",
            "--arg-file",
            "-d",
            "--delimiter",
            "-E",
            "-I",
            "-J",
            "-L",
            "--max-lines",
            "-n",
            "--max-args",
            "-P",
            "--max-procs",
            "-s",
            "--max-chars",
        ],
        positional: 0,
    },
    Wrapper {
        names: &["sudo", "doas"],
        flags: &[
            "-n",
            "-E",
            "-H",
            "-S",
            "-k",
            "-b",
            "-A",
            "-P",
            "--non-interactive",
        ],
        values: &[
            "-u", "-g", "-C", "-h", "-p", "-D", "-R", "-T", "--user", "--group",
        ],
        positional: 0,
    },
    Wrapper {
        names: &["busybox", "toybox"],
        flags: &[],
        values: &[],
        positional: 0,
    },
    Wrapper {
        names: &["exec"],
        flags: &["-c", "-l"],
        values: &["-a"],
        positional: 0,
    },
];

/// How they find their command is not looked at: it may begin at any word.
const ANYWHERE: [&str; 44] = [
    "parallel",
    "su",
    "pkexec",
    "runuser",
    "chroot",
    "ssh",
    "watch",
    "strace",
    "ltrace",
    "gdb",
    "lldb",
    "flock",
    "entr",
    "script",
    "unshare",
    "nsenter",
    "expect",
    "screen",
    "tmux",
    "at",
    "batch",
    "systemd-run",
    "firejail",
    "bwrap",
    "proot",
    "fakeroot",
    "wine",
    "rlwrap",
    "socat",
    "xvfb-run",
    "dbus-run-session",
    "perf",
    "valgrind",
    "hyperfine",
    "rr",
    "numactl",
    "taskset",
    "chrt",
    "cpulimit",
    "prlimit",
    "setarch",
    "linux64",
    "setpriv",
    "gosu",
];

#[derive(Debug, PartialEq, Eq)]
pub(super) enum Wrapping {
    No,
    Transparent(Wrapped),
    /// It runs the command, but not only with what is written.
    Indirect(Wrapped),
    /// It runs a command, where that begins is not known.
    Anywhere,
}

pub(super) fn unwrap(name: &str, words: &[Word]) -> Wrapping {
    if name == "env" || name == "genv" {
        return match environment(words) {
            Ok(wrapped) => Wrapping::Transparent(wrapped),
            Err(_) => Wrapping::Anywhere,
        };
    }
    let find = |wrappers: &'static [Wrapper]| wrappers.iter().find(|one| one.names.contains(&name));
    if let Some(wrapper) = find(TRANSPARENT) {
        return match wrapper.read(words) {
            Ok(wrapped) => Wrapping::Transparent(wrapped),
            Err(_) => Wrapping::Anywhere,
        };
    }
    if let Some(wrapper) = find(INDIRECT) {
        return match wrapper.read(words) {
            Ok(wrapped) if name.ends_with("xargs") => Wrapping::Indirect(fed(wrapped, words)),
            Ok(wrapped) => Wrapping::Indirect(wrapped),
            Err(_) => Wrapping::Anywhere,
        };
    }
    match ANYWHERE.contains(&name) {
        true => Wrapping::Anywhere,
        false => Wrapping::No,
    }
}

/// `xargs` puts what it reads behind the command, or in the place of a text.
fn fed(wrapped: Wrapped, words: &[Word]) -> Wrapped {
    let own = &words[1..wrapped.start];
    let replaces = own.iter().enumerate().find_map(|(at, word)| {
        let letters = word.value.strip_prefix('-')?;
        let glued = letters.trim_start_matches(['0', 'r', 't', 'p', 'x', 'o']);
        match glued.strip_prefix(['I', 'J'])? {
            "" => own.get(at + 1).map(|next| next.value.clone()),
            glued => Some(glued.to_owned()),
        }
    });
    Wrapped {
        appends: replaces.is_none(),
        replaces,
        ..wrapped
    }
}

impl Wrapper {
    fn read(&self, words: &[Word]) -> Result<Wrapped, Reason> {
        let mut at = 1;
        let mut positional = self.positional;
        while let Some(word) = words.get(at) {
            if !word.may_be_option() {
                if positional == 0 {
                    break;
                }
                positional -= 1;
                at += 1;
                continue;
            }
            if !word.is_known() {
                return Err(Reason::Wildcard);
            }
            at += 1;
            if word.value == "--" {
                at += positional;
                break;
            }
            at += self.option(&word.value)?;
        }
        Ok(Wrapped {
            start: at.min(words.len()),
            ..Wrapped::default()
        })
    }

    /// How many words more an option takes.
    fn option(&self, option: &str) -> Result<usize, Reason> {
        let number = option[1..].chars().all(|c| c.is_ascii_digit());
        if self.flags.contains(&option) || (number && self.flags.contains(&"-#")) {
            return Ok(0);
        }
        if self.values.contains(&option) {
            return Ok(1);
        }
        let long = option.split_once('=').map(|(name, _)| name);
        if long.is_some_and(|name| name.starts_with("--") && self.values.contains(&name)) {
            return Ok(0);
        }
        // `-n5`, and clusters of flags such as `-0r`.
        if option.starts_with("--") {
            return Err(Reason::UnknownOption);
        }
        for (at, letter) in option.char_indices().skip(1) {
            let name = format!("-{letter}");
            let last = at + letter.len_utf8() == option.len();
            if self.values.contains(&name.as_str()) {
                return Ok(usize::from(last));
            }
            if !self.flags.contains(&name.as_str()) {
                return Err(Reason::UnknownOption);
            }
        }
        Ok(0)
    }
}

fn environment(words: &[Word]) -> Result<Wrapped, Reason> {
    const FLAGS: [&str; 8] = [
        "-",
        "-i",
        "--ignore-environment",
        "-v",
        "--debug",
        "-0",
        "--null",
        "-iv",
    ];
    let mut wrapped = Wrapped::default();
    let mut at = 1;
    while let Some(word) = words.get(at) {
        let value = word.value.as_str();
        if !word.is_known() && word.may_be_option() {
            return Err(Reason::Variable);
        }
        if FLAGS.contains(&value) {
            if !matches!(value, "-v" | "--debug" | "-0" | "--null") {
                wrapped.assignments.push("-".to_owned());
            }
            at += 1;
            continue;
        }
        if value == "--" {
            at += 1;
            continue;
        }
        let next = words.get(at + 1).cloned();
        let (name, glued) = match value.split_once('=') {
            Some((name, glued)) if name.starts_with("--") => (name, Some(glued.to_owned())),
            _ if value.starts_with('-') && !value.starts_with("--") && value.len() > 2 => {
                (&value[..2], Some(value[2..].to_owned()))
            }
            _ => (value, None),
        };
        match name {
            "-u" | "--unset" => {
                wrapped.assignments.push("-".to_owned());
                at += 1 + usize::from(glued.is_none());
            }
            "-C" | "--chdir" => {
                wrapped.enters = match &glued {
                    Some(directory) => Some(Word::plain(directory)),
                    None => next,
                };
                at += 1 + usize::from(glued.is_none());
            }
            "-S" | "--split-string" => {
                let rest: Vec<&str> = words[at + 1..].iter().map(|w| w.value.as_str()).collect();
                let text = glued.unwrap_or_default();
                wrapped.script = Some(format!("{text} {}", rest.join(" ")));
                wrapped.start = words.len();
                return Ok(wrapped);
            }
            _ if value.starts_with('-') => return Err(Reason::UnknownOption),
            _ if value.contains('=') => {
                wrapped.assignments.push(value.to_owned());
                at += 1;
            }
            _ => break,
        }
    }
    wrapped.start = at.min(words.len());
    Ok(wrapped)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn start(command: &str) -> Option<String> {
        let words: Vec<Word> = command.split(' ').map(Word::plain).collect();
        match unwrap(&words[0].value, &words) {
            Wrapping::Transparent(wrapped) | Wrapping::Indirect(wrapped) => {
                words.get(wrapped.start).map(|word| word.value.clone())
            }
            Wrapping::Anywhere | Wrapping::No => None,
        }
    }

    #[test]
    fn the_inner_command_is_found_behind_the_options() {
        for command in [
            "env rm x",
            "env -i rm x",
            "env -u X rm x",
            "env -uX rm",
            "env A=1 B=2 rm",
            "env --unset=X rm",
            "env -C src rm",
            "env -- rm",
            "env - rm",
            "timeout 5 rm",
            "timeout -s KILL 5 rm",
            "timeout --signal=KILL 5 rm",
            "timeout -k 5 10 rm",
            "timeout -sKILL 5 rm",
            "timeout -- 5 rm",
            "nice rm",
            "nice -n 5 rm",
            "nice -n5 rm",
            "nice -10 rm",
            "nice --adjustment=5 rm",
            "ionice -c 3 rm",
            "ionice -c3 -n7 rm",
            "nohup rm",
            "setsid rm",
            "setsid -w rm",
            "stdbuf -o0 rm",
            "stdbuf -oL -eL rm",
            "stdbuf --output=L rm",
            "command rm",
            "command -p rm",
            "time -p rm",
            "xargs rm",
            "xargs -0 rm",
            "xargs -0r -n 1 rm",
            "xargs -n1 -I {} rm",
            "xargs -P 4 -I{} rm",
            "sudo rm",
            "sudo -u bob rm",
            "sudo -n rm",
            "doas rm",
            "busybox rm",
            "exec rm",
            "exec -a x rm",
            "xargs --max-args=1 rm",
        ] {
            assert_eq!(start(command).as_deref(), Some("rm"), "{command}");
        }
        for command in [
            "timeout --x 5 rm",
            "env -Z rm",
            "nice -x rm",
            "ls rm",
            "watch rm",
        ] {
            assert_eq!(start(command), None, "{command}");
        }
    }
}
