//! Files that git prints without their names in the command.

use super::super::options::{Understanding, UseKind};
use super::super::{Findings, Reason, SearchPattern};

/// Options with which git prints no content of files. Any other may.
const QUIET: &str = "
    -s --no-patch --raw --indent-heuristic --no-indent-heuristic --minimal --patience --histogram
    --diff-algorithm --stat --stat-width --stat-name-width --stat-count --compact-summary --numstat
    --shortstat --dirstat --cumulative --dirstat-by-file --summary -z --name-only --name-status
    --color --no-color --no-renames --rename-empty --no-rename-empty --full-index --abbrev
    --no-abbrev -M --find-renames -C --find-copies --find-copies-harder --diff-filter --exit-code
    --quiet --no-ext-diff --no-textconv --ignore-submodules --relative --no-relative -b -w
    --ignore-space-change --ignore-all-space --ignore-blank-lines --cached --staged --merge-base
    -# -n -i -E -F -P -g -t -q -r --root --always --max-count --skip --since --after --until --before
    --author --committer --grep --all-match --invert-grep --regexp-ignore-case --basic-regexp
    --extended-regexp --fixed-strings --perl-regexp --remove-empty --merges --no-merges
    --min-parents --max-parents --no-min-parents --no-max-parents --first-parent
    --exclude-first-parent-only --not --all --branches --tags --remotes --glob --exclude
    --exclude-hidden --reflog --single-worktree --ignore-missing --boundary --cherry --cherry-mark
    --cherry-pick --left-only --right-only --walk-reflogs --simplify-by-decoration --show-pulls
    --full-history --dense --sparse --simplify-merges --ancestry-path --date-order
    --author-date-order --topo-order --reverse --no-walk --do-walk --pretty --format --abbrev-commit
    --no-abbrev-commit --oneline --encoding --expand-tabs --no-expand-tabs --no-notes
    --relative-date --date --parents --children --left-right --graph --no-graph --count --timestamp
    --follow --no-decorate --decorate --decorate-refs --decorate-refs-exclude --clear-decorations
    --source --mailmap --no-mailmap --use-mailmap --log-size --no-show-signature
    --short --branch --porcelain --long --show-stash --untracked-files --ignored --column --no-column
    --ahead-behind --no-ahead-behind --renames -u
";

/// With one of these, `git diff` and `git show` print no patch, unless another option asks for one.
const INSTEAD_OF_PATCH: [&str; 14] = [
    "-s",
    "--no-patch",
    "--raw",
    "--stat",
    "--compact-summary",
    "--numstat",
    "--shortstat",
    "--dirstat",
    "--dirstat-by-file",
    "--summary",
    "--name-only",
    "--name-status",
    "--quiet",
    "--cumulative",
];

/// Whether it prints the content of files that its words need not name.
fn prints_content(read: &Understanding) -> bool {
    let options = read.options.iter().map(String::as_str);
    let quiet = |option: &str| {
        let is_patch = option == "-u" && read.name != "git status";
        !is_patch && QUIET.split_whitespace().any(|one| one == option)
    };
    let all_quiet = options.clone().all(quiet);
    let no_patch = options.clone().any(|one| INSTEAD_OF_PATCH.contains(&one));
    let words = || read.uses.iter().filter(|one| one.kind == UseKind::Revision);
    // The name of an object may be that of a file's content.
    let names_object = || words().any(|one| is_object(&one.word.value));
    match read.name.as_str() {
        "git grep" | "git range-diff" | "git archive" | "git format-patch" => true,
        "git show" => !only_named(read) && (!all_quiet || !no_patch || names_object()),
        "git diff" => !all_quiet || !no_patch,
        "git log" | "git whatchanged" | "git diff-tree" | "git diff-index" | "git diff-files"
        | "git stash list" | "git stash show" | "git reflog" | "git reflog show" | "git status" => {
            !all_quiet
        }
        "git cat-file" => {
            let mut options = options;
            names_object() && !options.any(|one| matches!(one, "-e" | "-t" | "-s"))
        }
        _ => false,
    }
}

/// It prints files that its words name, such as `HEAD:file`, and nothing else.
fn only_named(read: &Understanding) -> bool {
    let words = read.uses.iter();
    let mut words = words.filter(|one| one.kind == UseKind::Revision).peekable();
    let is_named = |word: &str| match word.split_once(':') {
        Some((revision, path)) => {
            let plain = |c: char| c.is_ascii_alphanumeric() || "_-./~^".contains(c);
            !revision.is_empty() && revision.chars().all(plain) && !path.is_empty()
        }
        None => false,
    };
    words.peek().is_some() && words.all(|one| is_named(&one.word.value))
}

/// By its letters, perhaps with `^{…}` behind it.
fn is_object(word: &str) -> bool {
    let name = word.split(['^', '~']).next().unwrap_or(word);
    let is_hash = name.len() >= 4 && name.chars().all(|c| c.is_ascii_hexdigit());
    is_hash || word.contains("^{blob") || word.contains("^{}") || word.contains("^{object")
}

impl Findings<'_> {
    /// Where content is printed, everything that is tracked may be read, or what a pattern or a
    /// path limits it to.
    pub(super) fn look_at_tracked(&mut self, read: &Understanding) {
        if !prints_content(read) {
            return;
        }
        let excludes = |word: &str| word.starts_with(":!") || word.starts_with(":^");
        let is_pattern = |word: &str| word.contains(['*', '?', '[', '\\']) || word.starts_with(':');
        let words = read.uses.iter();
        let words = words.filter(|one| one.kind == UseKind::Revision);
        let words = words.map(|one| one.word.value.as_str());
        // Without the dashes, git refuses a word that is a revision and a path.
        let chosen: Vec<&str> = match &read.after_dashes {
            Some(paths) => paths.iter().map(String::as_str).collect(),
            None => words
                .filter(|word| is_pattern(word) || self.exists(word))
                .collect(),
        };
        let chosen: Vec<&str> = chosen.into_iter().filter(|word| !excludes(word)).collect();
        // Options can make a pattern match letters of either case.
        let patterns: Option<Vec<SearchPattern>> = chosen
            .iter()
            .map(|word| SearchPattern::parse(word))
            .collect();
        let is_odd =
            |word: &&str| *word == "." || ["..", "./", "//"].iter().any(|odd| word.contains(odd));
        let patterns = patterns.filter(|_| !chosen.iter().any(is_odd));
        let may_be_meant = |path: &str| match &patterns {
            Some(patterns) if !patterns.is_empty() => {
                // A pattern also stands for everything below what it matches.
                let mut above = std::path::Path::new(path).ancestors();
                above.any(|one| {
                    let one = one.to_string_lossy();
                    patterns.iter().any(|pattern| pattern.may_match(&one))
                })
            }
            _ => true,
        };
        for from in self.directories.clone() {
            match self.surroundings.paths.tracked_notable(&from) {
                Some(notable) => {
                    let read = notable.into_iter().filter(|path| may_be_meant(path));
                    self.analysis.reads.extend(read);
                }
                None => self.because(Reason::TooMany),
            }
        }
    }
}
