//! `ps`: without a dash, an `e` among its letters shows the environment of processes, and so do
//! some columns. Only what is listed here does not.

use super::super::Reason;
use super::super::word::Word;
use super::{Understood, reading};

/// After a dash, followed by nothing.
const FLAGS: &str = "AadefFjlLmMrTwxHyZNc";
/// After a dash, followed by names or numbers.
const WITH_NAMES: &str = "uUpCtGgs";
/// Without a dash.
const LETTERS: &str = "auxwfjlrTvhg";
const COLUMNS: [&str; 40] = [
    "pid", "ppid", "pgid", "sid", "tty", "tt", "user", "uid", "euser", "ruser", "group", "stat",
    "state", "s", "pri", "ni", "nice", "pcpu", "%cpu", "pmem", "%mem", "rss", "rsz", "vsz",
    "vsize", "sz", "etime", "etimes", "time", "cputime", "start", "lstart", "stime", "comm", "cmd",
    "command", "args", "ucomm", "nlwp", "psr",
];
const LONG: [&str; 4] = ["--forest", "--no-headers", "--headers", "--noheaders"];
const LONG_WITH_NAMES: [&str; 6] = [
    "--sort=", "--pid=", "--ppid=", "--user=", "--cols=", "--width=",
];

pub(super) fn judge(arguments: &[Word]) -> Understood {
    let mut words = arguments.iter();
    while let Some(word) = words.next() {
        let value = word.value.as_str();
        let known = word.is_known() && {
            if value.starts_with("--") {
                is_long(value)
            } else if let Some(letters) = value.strip_prefix('-') {
                is_short(letters, &mut words)
            } else {
                let plain = value.chars().all(|c| LETTERS.contains(c));
                plain || value.chars().all(|c| c.is_ascii_digit() || c == ',')
            }
        };
        if !known {
            return Err(Reason::UnknownWord);
        }
    }
    Ok(reading("ps"))
}

fn is_long(value: &str) -> bool {
    let names = |prefix: &&str| value.strip_prefix(prefix).is_some_and(are_names);
    let columns = value.strip_prefix("--format=").is_some_and(are_columns);
    LONG.contains(&value) || columns || LONG_WITH_NAMES.iter().any(names)
}

fn is_short<'w>(letters: &str, words: &mut impl Iterator<Item = &'w Word>) -> bool {
    for (at, letter) in letters.char_indices() {
        if FLAGS.contains(letter) {
            continue;
        }
        let glued = &letters[at + letter.len_utf8()..];
        let next = match glued {
            "" => words.next().filter(|word| word.is_known()),
            _ => None,
        };
        let value = next.map_or(glued, |word| &word.value);
        let known = match letter {
            'o' | 'O' => are_columns(value),
            letter => WITH_NAMES.contains(letter) && are_names(value),
        };
        return known && !value.is_empty();
    }
    !letters.is_empty()
}

fn are_names(text: &str) -> bool {
    let simple = |c: char| c.is_ascii_alphanumeric() || "_,.%/+-".contains(c);
    text.chars().all(simple)
}

fn are_columns(text: &str) -> bool {
    let names = text.split([',', ' ']);
    names
        .map(|name| name.split('=').next().unwrap_or(name).to_lowercase())
        .all(|name| COLUMNS.contains(&name.as_str()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_environment_of_processes_is_not_shown() {
        let reads = |command: &str| {
            let words: Vec<Word> = command.split(' ').skip(1).map(Word::plain).collect();
            judge(&words).is_ok()
        };
        for command in [
            "ps",
            "ps aux",
            "ps -ef",
            "ps -eo pid,ppid,comm",
            "ps -o pid= -p 12",
            "ps -p12",
            "ps axww",
            "ps -u ada --sort=-pcpu",
            "ps --format=pid,args",
        ] {
            assert!(reads(command), "{command}");
        }
        for command in [
            "ps e",
            "ps auxe",
            "ps eww",
            "ps -E",
            "ps -o environ",
            "ps -eo pid,environ",
            "ps aux e",
            "ps --format=environ",
            "ps -p 1 e",
            "ps o environ",
        ] {
            assert!(!reads(command), "{command}");
        }
    }
}
