//! Options that make a harmless-looking program write files or run others.

use super::word::Word;

struct Danger {
    program: &'static str,
    /// Letters of one-dash options, also inside clusters such as `-ro`.
    letters: &'static str,
    /// Long options; the programs take unambiguous beginnings of them too.
    long: &'static [&'static str],
}

const DANGERS: &[Danger] = &[
    Danger {
        program: "find",
        letters: "",
        long: &[
            "-delete",
            "-exec",
            "-execdir",
            "-ok",
            "-okdir",
            "-fprint",
            "-fprint0",
            "-fprintf",
            "-fls",
            "-files0-from",
        ],
    },
    Danger {
        program: "fd",
        letters: "xX",
        long: &["--exec", "--exec-batch"],
    },
    Danger {
        program: "rg",
        letters: "",
        long: &["--pre", "--pre-glob", "--hostname-bin"],
    },
    Danger {
        program: "ag",
        letters: "",
        long: &["--pager"],
    },
    Danger {
        program: "sort",
        letters: "oT",
        long: &[
            "--output",
            "--compress-program",
            "--temporary-directory",
            "--files0-from",
        ],
    },
    Danger {
        program: "tree",
        letters: "oR",
        long: &["--output"],
    },
    Danger {
        program: "wc",
        letters: "",
        long: &["--files0-from"],
    },
    Danger {
        program: "du",
        letters: "",
        long: &["--files0-from"],
    },
    Danger {
        program: "file",
        letters: "mC",
        long: &["--magic-file", "--compile"],
    },
    Danger {
        program: "date",
        letters: "s",
        long: &["--set"],
    },
    Danger {
        program: "diff",
        letters: "",
        long: &["--to-file", "--from-file"],
    },
    Danger {
        program: "bat",
        letters: "",
        long: &["--pager"],
    },
    Danger {
        program: "man",
        letters: "PHC",
        long: &["--pager", "--html", "--config-file"],
    },
    Danger {
        program: "less",
        letters: "oOkt",
        long: &["--log-file", "--lesskey"],
    },
    Danger {
        program: "tar",
        letters: "IFP",
        long: &[
            "--to-command",
            "--checkpoint-action",
            "--use-compress-program",
            "--rsh-command",
            "--info-script",
            "--new-volume-script",
            "--absolute-names",
        ],
    },
    Danger {
        program: "zip",
        letters: "T",
        long: &["--unzip-command"],
    },
    Danger {
        program: "curl",
        letters: "oOKTcDF",
        long: &[
            "--output",
            "--remote-name",
            "--config",
            "--upload-file",
            "--cookie-jar",
            "--dump-header",
            "--form",
            "--trace",
            "--trace-ascii",
            "--output-dir",
            "--netrc-file",
        ],
    },
    Danger {
        program: "wget",
        letters: "OoaPie",
        long: &[
            "--output-document",
            "--post-file",
            "--use-askpass",
            "--execute",
            "--config",
        ],
    },
    Danger {
        program: "rsync",
        letters: "e",
        long: &["--rsh", "--rsync-path"],
    },
    Danger {
        program: "scp",
        letters: "SoF",
        long: &[],
    },
    Danger {
        program: "cargo",
        letters: "Z",
        long: &["--config", "--target-dir", "--artifact-dir", "--out-dir"],
    },
    Danger {
        program: "go",
        letters: "",
        long: &[
            "-exec",
            "-toolexec",
            "-o",
            "-overlay",
            "-modfile",
            "-vettool",
            "-C",
            "-c",
        ],
    },
    Danger {
        program: "npm",
        letters: "C",
        long: &[
            "--prefix",
            "--script-shell",
            "--shell",
            "--node-options",
            "--userconfig",
            "--call",
            "--globalconfig",
            "--git",
            "--editor",
            "--viewer",
            "--location",
            "--global",
        ],
    },
    Danger {
        program: "pnpm",
        letters: "C",
        long: &["--dir", "--script-shell", "--shell-mode"],
    },
    Danger {
        program: "yarn",
        letters: "",
        long: &["--cwd", "--use-yarnrc", "--script-shell"],
    },
    Danger {
        program: "pytest",
        letters: "cpo",
        long: &[
            "--rootdir",
            "--override-ini",
            "--pdbcls",
            "--confcutdir",
            "--basetemp",
        ],
    },
    Danger {
        program: "make",
        letters: "fCIE",
        long: &["--file", "--makefile", "--eval", "--directory"],
    },
    Danger {
        program: "jq",
        letters: "fL",
        long: &["--from-file"],
    },
    Danger {
        program: "gcc",
        letters: "B",
        long: &["-wrapper", "-fplugin"],
    },
    Danger {
        program: "tsc",
        letters: "p",
        long: &["--project", "--outDir", "--outFile", "--build"],
    },
    Danger {
        program: "eslint",
        letters: "co",
        long: &[
            "--config",
            "--rulesdir",
            "--output-file",
            "--resolve-plugins-relative-to",
        ],
    },
];

/// After the subcommand. Before it, git's own options can do nearly anything (`-c`).
const GIT: &[&str] = &[
    "--output",
    "--open-files-in-pager",
    "--ext-diff",
    "--textconv",
    "--upload-pack",
    "--receive-pack",
    "--exec",
    "--config",
    "--template",
    "--output-directory",
    "--paginate",
    "--separate-git-dir",
    "--reference",
    "--editor",
];

pub(super) fn are_dangerous(program: &str, arguments: &[Word]) -> bool {
    match program {
        "git" => git(arguments),
        "sed" | "gsed" => sed(arguments),
        "awk" | "gawk" | "mawk" | "nawk" => awk(arguments),
        // The second file is written.
        "uniq" | "xxd" => positional(arguments).count() > 1,
        _ => {
            let settings = matches!(program, "make" | "gmake")
                && arguments.iter().any(|word| word.value.contains('='));
            let toolchain =
                program == "cargo" && arguments.first().is_some_and(|w| w.value.starts_with('+'));
            settings || toolchain || table(program, arguments)
        }
    }
}

fn table(program: &str, arguments: &[Word]) -> bool {
    let Some(danger) = DANGERS.iter().find(|danger| danger.program == program) else {
        return false;
    };
    let before_end = arguments.iter().take_while(|word| word.value != "--");
    before_end.map(|word| word.value.as_str()).any(|argument| {
        let letters = argument
            .strip_prefix('-')
            .filter(|rest| !rest.starts_with('-'));
        letters.is_some_and(|rest| rest.chars().any(|c| danger.letters.contains(c)))
            || danger.long.iter().any(|option| is_option(argument, option))
    })
}

/// `--output`, `--output=x`, and the beginnings that GNU programs accept for it.
fn is_option(argument: &str, option: &str) -> bool {
    let name = argument.split('=').next().unwrap_or(argument);
    name == option || (name.len() >= 4 && name.starts_with("--") && option.starts_with(name))
}

fn git(arguments: &[Word]) -> bool {
    let own = arguments
        .iter()
        .take_while(|word| word.value.starts_with('-'));
    let harmless = [
        "--no-pager",
        "--version",
        "--help",
        "-P",
        "--no-optional-locks",
    ];
    if own
        .clone()
        .any(|word| !harmless.contains(&word.value.as_str()))
    {
        return true;
    }
    let rest = &arguments[own.count()..];
    let subcommand = rest.first().map_or("", |word| word.value.as_str());
    let letters: &[&str] = match subcommand {
        "grep" => &["-O"],
        "rebase" => &["-x"],
        "archive" | "format-patch" => &["-o"],
        "clone" | "fetch" | "ls-remote" => &["-u", "-c"],
        // The interesting part is in a file or a script of its own.
        "bisect" if rest.get(1).is_some_and(|word| word.value == "run") => return true,
        "filter-branch" | "difftool" | "mergetool" | "config" | "daemon" | "instaweb" => {
            return true;
        }
        "submodule" if rest.get(1).is_some_and(|word| word.value == "foreach") => return true,
        _ => &[],
    };
    rest.iter()
        .skip(1)
        .take_while(|word| word.value != "--")
        .any(|word| {
            GIT.iter().any(|option| is_option(&word.value, option))
                || letters.iter().any(|option| word.value.starts_with(option))
        })
}

fn positional(arguments: &[Word]) -> impl Iterator<Item = &Word> {
    arguments
        .iter()
        .filter(|word| !word.value.starts_with('-') || word.value == "-")
}

/// Only printing some lines and plain substitutions are certain not to write or run.
fn sed(arguments: &[Word]) -> bool {
    let plain_options = [
        "-n", "-E", "-r", "-s", "-u", "-z", "-nE", "-En", "--quiet", "-nr",
    ];
    if arguments
        .iter()
        .any(|w| w.value.starts_with('-') && !plain_options.contains(&w.value.as_str()))
    {
        return true;
    }
    !positional(arguments)
        .next()
        .is_some_and(|script| is_plain_sed(&script.value))
}

fn is_plain_sed(script: &str) -> bool {
    script.split(';').all(|part| {
        let part = part.trim();
        let address = part.trim_end_matches(['p', 'd', 'q']);
        if address
            .chars()
            .all(|c| c.is_ascii_digit() || ",$!".contains(c))
        {
            return true;
        }
        let mut chars = part.chars();
        let (Some('s'), Some(delimiter)) = (chars.next(), chars.next()) else {
            return false;
        };
        let rest: String = chars.collect();
        let pieces: Vec<&str> = rest.split(delimiter).collect();
        !rest.contains('\\')
            && !rest.contains('\n')
            && pieces.len() == 3
            && pieces[2]
                .chars()
                .all(|c| c.is_ascii_digit() || "gpiI".contains(c))
    })
}

fn awk(arguments: &[Word]) -> bool {
    let separators = |value: &str| value.starts_with("-F");
    let options = arguments
        .iter()
        .any(|w| w.value.starts_with('-') && !separators(&w.value));
    let program: String = arguments.iter().map(|word| word.value.as_str()).collect();
    let does_more = [
        "system", "|", ">", "getline", "@", "ENVIRON", "close", "fflush",
    ];
    options || does_more.iter().any(|word| program.contains(word))
}
