//! Commands made at random from the tables: options in full, cut short and clustered, quoted,
//! in braces, in wrappers, with substitutions and here-documents. Some are harmless, many are
//! not, and most look alike.

use lathe_policy::shell::{KnownOption, KnownProgram, Meaning, catalog};

/// A small generator of numbers, so that a seed says which commands were made.
pub struct Dice(u64);

impl Dice {
    pub fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    pub fn roll(&mut self, sides: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 >> 11).unwrap_or(0) % sides.max(1)
    }

    pub fn one_in(&mut self, sides: usize) -> bool {
        self.roll(sides) == 0
    }

    pub fn pick<'t, T>(&mut self, from: &'t [T]) -> &'t T {
        &from[self.roll(from.len())]
    }
}

/// Names in the tree the commands run in; `p` is what must never appear.
const PATHS: [&str; 16] = [
    "a.txt",
    "b.txt",
    "src",
    ".",
    "src/main.rs",
    "data.json",
    "'c d.txt'",
    "*.txt",
    "src/*",
    "./*",
    "-",
    "nothing",
    ".env",
    "out/key.txt",
    "*",
    "..",
];
const TEXTS: [&str; 18] = [
    "1", "5", "10,20p", "x", "foo", "'*.rs'", "a", "auto", "never", "-1", "%s", "+%F", "name", ".",
    "1,2", "k1", "HEAD", "p",
];
const REVISIONS: [&str; 10] = [
    "HEAD",
    "HEAD~1",
    "main",
    "HEAD:a.txt",
    "main..HEAD",
    "a.txt",
    "src",
    "--",
    "v1",
    "HEAD:.env",
];
/// What may be hidden in a command.
const EVIL: [&str; 24] = [
    "-o p",
    "-op",
    "--output=p",
    "--output p",
    "--outpu=p",
    "-O./evil",
    "-exec touch p ;",
    "-delete",
    "-fprint p",
    "--pre ./evil",
    "--to-command=./evil",
    "-i",
    "-x ./evil",
    "--exec ./evil",
    "-w p",
    "$(touch p)",
    "`touch p`",
    "<(touch p)",
    "> p",
    "--ext-diff",
    "-c core.pager=./evil",
    "--open-files-in-pager=./evil",
    "-T ./evil",
    "; touch p",
];

pub struct Generator {
    programs: Vec<KnownProgram>,
}

impl Generator {
    /// Of programs that are there, since commands are also run.
    pub fn new(is_there: impl Fn(&str) -> bool) -> Self {
        let programs = catalog()
            .into_iter()
            .filter(|known| is_there(known.name.split(' ').next().unwrap_or_default()))
            .collect();
        Self { programs }
    }

    /// A command line, most often of programs that only read.
    pub fn command(&self, dice: &mut Dice) -> String {
        let mut line = self.simple(dice);
        for _ in 0..dice.roll(3) {
            let next = self.simple(dice);
            line = match dice.roll(8) {
                0 => format!("{line} && {next}"),
                1 => format!("{line}; {next}"),
                2 => format!("{line} || {next}"),
                3 => format!("{line}\n{next}"),
                _ => format!("{line} | {next}"),
            };
        }
        match dice.roll(24) {
            0 => format!("({line})"),
            1 => format!("{{ {line}; }}"),
            2 => format!("if {line}; then echo yes; fi"),
            3 => format!("for f in a.txt src/*.rs; do {line}; cat \"$f\"; done"),
            4 => format!("! {line}"),
            5 => format!("time {line}"),
            6 => format!("sh -c {}", quoted(&line)),
            7 => format!("{line} <<EOF\nfoo $(touch p)\nEOF"),
            8 => format!("{line} # touch p"),
            9 => format!("{line} \\\n  2>&1"),
            10 => format!("cd src && {line}"),
            11 => format!("{line} & touch p"),
            _ => line,
        }
    }

    /// A command line of these programs, each with its options and words.
    pub fn one_of(&self, names: &[&str], dice: &mut Dice) -> String {
        let name = *dice.pick(names);
        let words = match self.programs.iter().find(|known| known.name == name) {
            Some(known) => program_words(known, dice),
            None => find(dice),
        };
        self.dressed(words, dice)
    }

    fn simple(&self, dice: &mut Dice) -> String {
        let words = match dice.roll(8) {
            0 => find(dice),
            1 => other(dice),
            _ => self.by_table(dice),
        };
        self.dressed(words, dice)
    }

    fn dressed(&self, mut words: Vec<String>, dice: &mut Dice) -> String {
        if dice.one_in(5) {
            words.push((*dice.pick(&EVIL)).to_owned());
        }
        let words: Vec<String> = words
            .into_iter()
            .map(|word| respelled(dice, word))
            .collect();
        let mut line = words.join(" ");
        if dice.one_in(8) {
            line = format!("{} {line}", dice.pick(&WRAPPERS));
        }
        match dice.roll(14) {
            0 => format!("{line} 2>/dev/null"),
            1 => format!("{line} 2>&1"),
            2 => format!("{line} >/dev/null"),
            3 => format!("{line} > p"),
            4 => format!("LC_ALL=C {line}"),
            _ => line,
        }
    }

    fn by_table(&self, dice: &mut Dice) -> Vec<String> {
        let harmless: Vec<&KnownProgram> = self
            .programs
            .iter()
            .filter(|known| known.effects.only_reads())
            .collect();
        let known = match dice.one_in(10) {
            true => dice.pick(&self.programs),
            false => dice.pick(&harmless),
        };
        program_words(known, dice)
    }
}

fn program_words(known: &KnownProgram, dice: &mut Dice) -> Vec<String> {
    let mut words = vec![known.name.to_owned()];
    for _ in 0..dice.roll(4) {
        if !known.options.is_empty() {
            let chosen = chosen(dice, &known.options);
            words.push(option(dice, chosen, known));
        }
    }
    if dice.one_in(12) {
        words.push("--".to_owned());
    }
    for meaning in &known.operands {
        for _ in 0..=dice.roll(2) {
            words.push(value(dice, *meaning));
        }
    }
    words
}

fn chosen<'o>(dice: &mut Dice, options: &'o [KnownOption]) -> &'o KnownOption {
    let harmless: Vec<&KnownOption> = options.iter().filter(|one| !one.refused).collect();
    match harmless.is_empty() || dice.one_in(8) {
        true => dice.pick(options),
        false => dice.pick::<&KnownOption>(&harmless),
    }
}

fn option(dice: &mut Dice, option: &KnownOption, known: &KnownProgram) -> String {
    let mut name = option.name.to_owned();
    if name == "-#" {
        return format!("-{}", dice.roll(9));
    }
    if name.starts_with("--") {
        if dice.one_in(6) && name.len() > 5 {
            let end = 4 + dice.roll(name.len() - 4);
            name = name.get(..end).unwrap_or(&name).to_owned();
        }
        return match option.value {
            Some(meaning) if option.glued || dice.one_in(2) => {
                format!("{name}={}", value(dice, meaning))
            }
            Some(meaning) => format!("{name} {}", value(dice, meaning)),
            None => name,
        };
    }
    // Letters in one word.
    for _ in 0..dice.roll(3) {
        let letters: Vec<&KnownOption> = known
            .options
            .iter()
            .filter(|one| one.name.len() == 2 && one.value.is_none() && one.name != "-#")
            .collect();
        if name.len() == 2 && !letters.is_empty() {
            let letter = &dice.pick(&letters).name[1..];
            name = format!("-{letter}{}", &name[1..]);
        }
    }
    match option.value {
        Some(meaning) if option.glued || dice.one_in(2) => {
            format!("{name}{}", value(dice, meaning))
        }
        Some(meaning) => format!("{name} {}", value(dice, meaning)),
        None => name,
    }
}

fn value(dice: &mut Dice, meaning: Meaning) -> String {
    let from: &[&str] = match meaning {
        Meaning::Text => &TEXTS,
        Meaning::Path => &PATHS,
        Meaning::Revision => &REVISIONS,
    };
    (*dice.pick(from)).to_owned()
}

fn find(dice: &mut Dice) -> Vec<String> {
    const TESTS: [&str; 18] = [
        "-name '*.rs'",
        "-type f",
        "-maxdepth 2",
        "-print",
        "-print0",
        "-ls",
        "-empty",
        "! -name x",
        "-newer a.txt",
        "-size +1k",
        "-prune",
        "-exec cat {} +",
        "-exec touch p \\;",
        "-exec grep -l x {} \\;",
        "-delete",
        "-o",
        "-printf %p",
        "-execdir touch p \\;",
    ];
    let mut words = vec!["find".to_owned()];
    words.push((*dice.pick(&[".", "src", "./src", "*", "..", ""])).to_owned());
    for _ in 0..=dice.roll(3) {
        words.push((*dice.pick(&TESTS)).to_owned());
    }
    words
}

/// Programs whose words no table describes.
fn other(dice: &mut Dice) -> Vec<String> {
    const WHOLE: [&str; 34] = [
        "sed -n 1,5p a.txt",
        "sed -n '/x/p' a.txt",
        "sed s/a/b/ a.txt",
        "sed 's/a/b/w p' a.txt",
        "sed -n '1{p;q}' a.txt",
        "sed 1e'touch p' a.txt",
        "sed -n '$=' a.txt",
        "sed -i s/a/b/ a.txt",
        "sed --in-place=x s/a/b/ a.txt",
        "sed -nf evil.sed a.txt",
        "awk '{ print $1 }' a.txt",
        "awk '{ print > \"p\" }' a.txt",
        "awk 'BEGIN { system(\"touch p\") }'",
        "awk -F, '{ n += $2 } END { print n }' a.txt",
        "awk -f evil.awk a.txt",
        "[ -f a.txt ]",
        "test -d src",
        "[ -v 'x[$(touch p)]' ]",
        "test a.txt -nt b.txt",
        "printf '%s\\n' x y",
        "printf %d 5",
        "printf -v x %s y",
        "printf '%n' 'x[$(touch p)]'",
        "date +%F",
        "date -u",
        "tar tf a.tar",
        "tar cf p a.txt",
        "tar xf a.tar",
        "tar tf a.tar --checkpoint-action=exec=./evil --checkpoint=1",
        "jq . data.json",
        "jq -r '.a' data.json",
        "[[ -f a.txt ]]",
        "[[ -v x[$(touch p)] ]]",
        "set -e",
    ];
    vec![(*dice.pick(&WHOLE)).to_owned()]
}

const WRAPPERS: [&str; 12] = [
    "env",
    "env -u X",
    "timeout 5",
    "timeout -s KILL 5",
    "nice -n 5",
    "nice",
    "command",
    "stdbuf -o0",
    "nohup",
    "setsid -w",
    "env A=1",
    "time -p",
];

/// The same word in other words: quoted, escaped, in braces.
pub fn respelled(dice: &mut Dice, word: String) -> String {
    let plain = !word.is_empty()
        && word
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || "-_./=".contains(c));
    if !plain || !dice.one_in(6) {
        return word;
    }
    let at = 1 + dice.roll(word.len());
    let (front, back) = word.split_at(at.min(word.len()));
    match dice.roll(6) {
        0 => format!("'{word}'"),
        1 => format!("\"{word}\""),
        2 => format!("{front}''{back}"),
        3 => format!("\\{word}"),
        4 => format!("{front}{{{back},{back}}}"),
        _ => format!("{front}\"\"{back}"),
    }
}

pub fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}
