//! Programs whose words follow rules of their own: `find`, `sed`, `awk`, `test`, `tar` and
//! others that no table can describe.

mod find;
mod ps;
mod sed;
mod tar;

use super::options::{Understanding, Use, UseKind, understand};
use super::word::Word;
use super::{Effects, Reason, config};

type Understood = Result<Understanding, Reason>;

/// None where the tables say it all.
pub(super) fn judge(program: &str, words: &[Word], vouched: usize) -> Option<Understood> {
    let arguments = &words[1..];
    Some(match program {
        "find" => find::judge(arguments),
        "sed" | "gsed" => sed::judge(program, words),
        "awk" | "gawk" | "mawk" | "nawk" => awk(program, words),
        "test" | "[" => test(program, arguments),
        "printf" => printf(arguments),
        "date" => date(program, words),
        "tar" | "gtar" | "bsdtar" => tar::judge(program, words, vouched),
        "cp" | "mv" | "ln" | "install" => copies(program, words, vouched),
        "set" => set(arguments),
        "python" | "python3" | "python2" | "pypy3" => python(program, words, vouched),
        "jq" | "gojq" => jq(program, words),
        "ps" => ps::judge(arguments),
        "strings" => strings(words),
        "printenv" => printenv(words),
        "git" => git(words, vouched),
        _ => return None,
    })
}

pub(super) fn is_special(program: &str) -> bool {
    let words = [Word::plain(program)];
    judge(program, &words, 0).is_some()
}

fn reading(name: &str) -> Understanding {
    Understanding {
        name: name.to_owned(),
        ..Understanding::default()
    }
}

/// `awk` writes and runs only by these; without them it can only print.
const AWK_DOES_MORE: [&str; 13] = [
    "system", "|", ">", "getline", "@", "ENVIRON", "close", "fflush", "ARGV", "ARGC", "SYMTAB",
    "FUNCTAB", "\\\n",
];

fn awk(program: &str, words: &[Word]) -> Understood {
    let read = understand("awk", words, 0, false)?;
    let text: String = read
        .uses
        .iter()
        .map(|one| one.word.value.as_str())
        .collect();
    match AWK_DOES_MORE.iter().any(|word| text.contains(word)) {
        true => Err(Reason::Script),
        false => Ok(Understanding {
            name: program.to_owned(),
            ..read
        }),
    }
}

/// `-v` and `-R` evaluate subscripts, which can run commands.
fn test(program: &str, arguments: &[Word]) -> Understood {
    const OPERATORS: [&str; 31] = [
        "-e", "-f", "-d", "-s", "-r", "-w", "-x", "-L", "-h", "-n", "-z", "-p", "-S", "-b", "-c",
        "-g", "-u", "-k", "-O", "-G", "-N", "-t", "-eq", "-ne", "-lt", "-le", "-gt", "-ge", "-nt",
        "-ot", "-ef",
    ];
    const NUMERIC: [&str; 6] = ["-eq", "-ne", "-lt", "-le", "-gt", "-ge"];
    let mut read = reading(program);
    let last = arguments.len().saturating_sub(1);
    for (at, word) in arguments.iter().enumerate() {
        let value = word.value.as_str();
        if !word.is_known() {
            return Err(match word.unknown {
                Some(_) => Reason::Variable,
                None => Reason::Wildcard,
            });
        }
        let joins = matches!(value, "-a" | "-o" | "!" | "=" | "==" | "!=" | "<" | ">");
        let closes = program == "[" && at == last && value == "]";
        let number = |at: usize| {
            let text = arguments.get(at).map_or("", |word| word.value.as_str());
            let digits = text.strip_prefix('-').unwrap_or(text);
            !digits.is_empty() && digits.chars().all(|c| c.is_ascii_digit())
        };
        // Some shells evaluate what is compared, which can run commands.
        let compares = at > 0 && NUMERIC.contains(&value);
        if compares && !(number(at - 1) && number(at + 1)) {
            return Err(Reason::Unclear);
        }
        if joins || closes || OPERATORS.contains(&value) {
            continue;
        }
        if value.starts_with('-') && value.len() <= 3 {
            return Err(Reason::UnknownOption);
        }
        let file = at > 0 && OPERATORS[..8].contains(&arguments[at - 1].value.as_str());
        read.uses.push(Use {
            kind: match file {
                true => UseKind::List,
                false => UseKind::Text,
            },
            word: word.clone(),
        });
    }
    Ok(read)
}

/// `-v` sets a variable and `%n` does too.
fn printf(arguments: &[Word]) -> Understood {
    let arguments = match arguments.first() {
        Some(first) if first.value == "--" => &arguments[1..],
        _ => arguments,
    };
    let Some(format) = arguments.first() else {
        return Ok(reading("printf"));
    };
    if format.may_be_option() || !format.is_known() {
        return Err(Reason::UnknownOption);
    }
    let mut chars = format.value.chars();
    let mut counts = false;
    while let Some(c) = chars.next() {
        if c == '\\' {
            chars.next();
            continue;
        }
        if c != '%' {
            continue;
        }
        let skipped = |c: &char| "-+ #0'123456789.*hlLqjzt".contains(*c);
        let conversion = chars.find(|c| !skipped(c));
        match conversion {
            Some('(') => {
                let _ = chars.find(|c| *c == ')');
            }
            Some(c) if "diouxXfFeEgGaA".contains(c) => counts = true,
            Some(c) if "csbQ%T".contains(c) => {}
            _ => return Err(Reason::Flag),
        }
    }
    // Some shells evaluate a number, which can run commands.
    let plain = |word: &Word| {
        let simple = |c: char| c.is_ascii_alphanumeric() || "+-.".contains(c);
        word.is_known() && word.value.chars().all(simple)
    };
    if (counts || format.value.contains('*')) && !arguments[1..].iter().all(plain) {
        return Err(Reason::Unclear);
    }
    let mut read = reading("printf");
    for word in &arguments[1..] {
        read.uses.push(Use {
            kind: UseKind::Text,
            word: word.clone(),
        });
    }
    Ok(read)
}

/// `@file` stands for the words in that file.
fn strings(words: &[Word]) -> Understood {
    let read = understand("strings", words, 0, false)?;
    match words.iter().any(|word| word.value.starts_with('@')) {
        true => Err(Reason::UnknownWord),
        false => Ok(read),
    }
}

/// Without a name, it prints them all.
fn printenv(words: &[Word]) -> Understood {
    match words.len() {
        1 => Err(Reason::UnknownWord),
        _ => understand("printenv", words, 0, false),
    }
}

/// A setting that names a program is as good as running it.
fn git(words: &[Word], vouched: usize) -> Understood {
    let mut read = understand("git", words, vouched, false)?;
    let has = |names: [&str; 2]| read.options.iter().any(|one| names.contains(&one.as_str()));
    // Under another name, or among what git shows, nothing would be known of what it holds.
    let shows = match read.name.as_str() {
        "git mv" => Some(UseKind::Remove),
        "git add" if has(["-f", "--force"]) => Some(UseKind::Read),
        _ => None,
    };
    if let Some(shown) = shows {
        let kind = UseKind::Tree { hidden: true };
        let shown = read.uses.iter().filter(|one| one.kind == shown);
        let trees: Vec<Use> = shown.cloned().map(|one| Use { kind, ..one }).collect();
        read.uses.extend(trees);
    }
    // Some subcommands hand their words on without the `--`, so that options follow it after all.
    let mut after = words.iter().skip_while(|word| word.value != "--").skip(1);
    if read.name != "git grep" && after.any(Word::may_be_option) {
        return Err(Reason::UnknownOption);
    }
    let texts = || read.uses.iter().filter(|one| one.kind == UseKind::Text);
    // The person's own settings may have passwords in them.
    let own = ["--local", "--worktree"];
    let shows = read.name.starts_with("git config") && read.effects.only_reads();
    if shows && !read.options.iter().any(|one| own.contains(&one.as_str())) {
        let harmless = |one: &Use| config::is_harmless_setting(&one.word.value);
        if texts().count() == 0 || !texts().all(harmless) {
            return Err(Reason::UnknownWord);
        }
    }
    let key = texts().next();
    let sets = read.name == "git config" && read.effects.writes;
    match key.filter(|_| sets) {
        Some(key) if !config::is_harmless_setting(&key.word.value) => Err(Reason::Runs),
        _ => Ok(read),
    }
}

/// A word without a plus sign would set the clock.
fn date(program: &str, words: &[Word]) -> Understood {
    let read = understand(program, words, 0, false)?;
    let mut operands = read.uses.iter().filter(|one| one.kind == UseKind::Any);
    match operands.all(|one| one.word.value.starts_with('+')) {
        true => Ok(read),
        false => Err(Reason::Flag),
    }
}

/// `-m` hands the rest to a module.
fn python(program: &str, words: &[Word], vouched: usize) -> Understood {
    let at = words.iter().position(|word| word.value == "-m");
    let before = words.iter().take(at.unwrap_or(words.len()));
    let options = before
        .skip(1)
        .all(|word| matches!(word.value.as_str(), "-u" | "-B" | "-O" | "-I" | "-s" | "-q"));
    let Some(at) = at.filter(|_| options) else {
        return understand(program, words, vouched, false);
    };
    let module = words.get(at + 1).filter(|word| word.is_known());
    let module = module.ok_or(Reason::Variable)?.value.as_str();
    const PROGRAMS: [&str; 10] = [
        "pytest", "mypy", "ruff", "black", "isort", "flake8", "pylint", "pip", "coverage", "tox",
    ];
    let table = match PROGRAMS.contains(&module) {
        true => module.to_owned(),
        false => format!("@module {module}"),
    };
    let vouched = vouched.saturating_sub(at + 1);
    let read = understand(&table, &words[at + 1..], vouched, false)?;
    Ok(Understanding {
        name: format!("{program} -m {module}"),
        effects: Effects::ALL,
        ..read
    })
}

/// A filter can show the environment and read other files.
fn jq(program: &str, words: &[Word]) -> Understood {
    let read = understand("jq", words, 0, false)?;
    let texts = read.uses.iter().filter(|one| one.kind == UseKind::Text);
    for text in texts.map(|one| one.word.value.as_str()) {
        let names = text.split(|c: char| !c.is_alphanumeric() && !"_.\"$@".contains(c));
        let does_more = |name: &str| {
            // Between the sign and the name of a variable there may be blanks.
            let name = name.trim_start_matches('$');
            let first = name.split('.').next().unwrap_or(name);
            matches!(
                first,
                "env" | "ENV" | "import" | "include" | "modulemeta" | "input_filename"
            ) || name.starts_with("__")
        };
        if { names }.any(does_more) {
            return Err(Reason::Script);
        }
    }
    Ok(Understanding {
        name: program.to_owned(),
        ..read
    })
}

/// What makes the shell stop at an error, and nothing else.
fn set(arguments: &[Word]) -> Understood {
    let mut named = false;
    for word in arguments {
        let value = word.value.as_str();
        let plain = match std::mem::take(&mut named) {
            true => ["pipefail", "errexit", "nounset"].contains(&value),
            false => {
                named = value.ends_with('o');
                let letters = value.strip_prefix(['-', '+']).unwrap_or_default();
                !letters.is_empty() && letters.chars().all(|c| "euo".contains(c))
            }
        };
        if !plain || !word.is_known() {
            return Err(Reason::ShellBuiltin);
        }
    }
    match arguments.is_empty() || named {
        // It prints all variables.
        true => Err(Reason::ShellBuiltin),
        false => Ok(reading("set")),
    }
}

/// The last word is written, and so is each source's name below it.
fn copies(program: &str, words: &[Word], vouched: usize) -> Understood {
    let mut read = understand(program, words, vouched, false)?;
    let has_target = read
        .uses
        .iter()
        .any(|one| one.kind == UseKind::Write && one.word.is_known());
    let mut operands: Vec<Word> = Vec::new();
    read.uses.retain(|one| {
        let operand = one.kind == UseKind::Any;
        if operand {
            operands.push(one.word.clone());
        }
        !operand
    });
    let written = read.uses.iter().find(|one| one.kind == UseKind::Write);
    let target = match has_target {
        true => written.map(|one| one.word.clone()),
        false => operands.pop(),
    };
    let mut target = target.ok_or(Reason::UnknownWord)?;
    if program == "ln" && operands.is_empty() && !has_target {
        // A link of the same name in this folder.
        operands.push(std::mem::replace(&mut target, Word::plain(".")));
    }
    if !target.is_known() {
        return Err(Reason::Wildcard);
    }
    for source in operands {
        let name = source.value.trim_end_matches('/');
        let name = name.rsplit('/').next().unwrap_or(name);
        // All that is in a folder, hidden names too.
        let everything =
            matches!(name, "." | ".." | "") || (!source.is_known() && name.starts_with('.'));
        if everything {
            return Err(Reason::DoesMore);
        }
        if source.is_known() {
            let below = format!("{}/{name}", target.value.trim_end_matches('/'));
            read.uses.push(Use {
                kind: UseKind::Write,
                word: Word::plain(&below),
            });
        }
        // Under another name, nothing would be known of what it holds.
        let points = read
            .options
            .iter()
            .any(|one| one == "-s" || one == "--symbolic");
        let kind = match program == "ln" && points {
            true => UseKind::List,
            false => UseKind::Tree { hidden: true },
        };
        if program == "mv" {
            read.uses.push(Use {
                kind: UseKind::Remove,
                word: source.clone(),
            });
        }
        read.uses.push(Use { kind, word: source });
    }
    read.uses.push(Use {
        kind: UseKind::Write,
        word: target,
    });
    read.effects = read.effects.and(Effects::parse("w"));
    Ok(read)
}
