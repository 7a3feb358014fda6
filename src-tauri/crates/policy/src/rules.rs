//! Rules and what they decide. Pure.

use lathe_protocol::{Action, Rule, Ruleset, wildcard};

/// What a request comes to, once every rule has spoken.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    Allow,
    Ask,
    /// The rule that forbids it, for the model to read.
    Deny(Rule),
}

/// How much the person lets the agent do without a question.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Freedom {
    /// Edits of this project's files.
    pub edits: bool,
    /// Everything.
    pub all: bool,
}

/// Files may be read, but what they keep secret is asked about.
const READING: [(&str, &str, Action); 4] = [
    ("read", "*", Action::Allow),
    ("read", "*.env", Action::Ask),
    ("read", "*.env.*", Action::Ask),
    ("read", "*.env.example", Action::Allow),
];

/// As a pattern of `bash`: every command that is known to read and to do nothing else.
pub const READ_ONLY: &str = "<read-only>";

/// What an agent that only looks may do, after everything was denied it. Its parent must be
/// allowed the same, so that `webfetch` is as its parent has it.
pub fn looking() -> Ruleset {
    let tools = ["grep", "glob", "list", "webfetch"];
    let tools = tools.map(|tool| (tool, "*", Action::Allow));
    let rules = tools.into_iter().chain(READING);
    rules
        .chain([("bash", READ_ONLY, Action::Allow)])
        .map(|(permission, pattern, action)| rule(permission, pattern, action))
        .collect()
}

/// An agent's own rules under the freedom a person gave: all of it means no question.
pub fn freed(rules: &[Rule], freedom: Freedom) -> impl Iterator<Item = Rule> {
    rules.iter().cloned().map(move |mut rule| {
        if freedom.all && rule.action != Action::Deny {
            rule.action = Action::Allow;
        }
        rule
    })
}

/// Whatever is asked for, the rule speaks of it.
pub(crate) fn is_for_all(rule: &Rule) -> bool {
    rule.pattern == "*" || rule.pattern == "**"
}

/// The rules every agent starts from: looking is free, changing asks.
pub fn defaults(freedom: Freedom) -> Ruleset {
    use Action::{Allow, Ask, Deny};
    let mut rules = Vec::from([
        ("*", "*", Ask),
        ("list", "*", Allow),
        ("glob", "*", Allow),
        ("grep", "*", Allow),
        ("todoread", "*", Allow),
        ("todowrite", "*", Allow),
        ("task", "*", Allow),
        ("bash", READ_ONLY, Allow),
    ]);
    rules.extend(READING);
    if freedom.edits {
        rules.push(("edit", "*", Allow));
    }
    if freedom.all {
        rules.push(("*", "*", Allow));
    }
    // What belongs to certain agents stays theirs.
    rules.extend(["question", "plan_enter", "plan_exit"].map(|name| (name, "*", Deny)));
    let rules = rules.into_iter();
    rules
        .map(|(permission, pattern, action)| rule(permission, pattern, action))
        .collect()
}

pub fn rule(permission: &str, pattern: &str, action: Action) -> Rule {
    Rule {
        permission: permission.to_owned(),
        pattern: pattern.to_owned(),
        action,
    }
}

/// The permission a tool's calls ask for.
pub fn permission_of(tool: &str) -> &str {
    match tool {
        "write" | "apply_patch" | "patch" | "multiedit" => "edit",
        other => other,
    }
}

/// Whether what the person allowed beforehand covers all of a request that would be asked.
/// Nothing less than a rule for everything covers an `opaque` one.
pub fn covers(granted: &[Rule], permission: &str, patterns: &[String], opaque: bool) -> bool {
    let is_granted = |pattern: &String| {
        granted.iter().any(|rule| {
            rule.action == Action::Allow
                && wildcard(&rule.permission, permission)
                && wildcard(&expand(&rule.pattern), pattern)
                && (!opaque || rule.pattern == "*")
        })
    };
    patterns.iter().all(is_granted)
}

/// Whether files may be read without a question, for a look at very many: only the rules about
/// reading are kept.
pub fn may_read(
    rules: &[Rule],
    approved: &[Rule],
) -> impl Fn(&str) -> bool + Send + Sync + 'static {
    let reading = |rules: &[Rule]| -> Ruleset {
        let reading = rules
            .iter()
            .filter(|rule| wildcard(&rule.permission, "read"));
        reading.cloned().collect()
    };
    let (rules, approved) = (reading(rules), reading(approved));
    move |path| match last_match(&rules, "read", path).map(|rule| rule.action) {
        Some(Action::Allow) => true,
        Some(Action::Deny) => false,
        Some(Action::Ask) | None => allows(&approved, "read", path),
    }
}

/// Which files a rule asks about or denies by their names, and that are not approved: a program that
/// may do anything must not read them. A rule for every file names none.
pub fn is_secret(
    rules: &[Rule],
    approved: &[Rule],
) -> impl Fn(&str) -> bool + Send + Sync + 'static {
    let reading = |rules: &[Rule]| -> Vec<(String, Action)> {
        let reading = rules
            .iter()
            .filter(|rule| wildcard(&rule.permission, "read"))
            .filter(|rule| rule.action == Action::Allow || !is_for_all(rule));
        reading
            .map(|rule| (expand(&rule.pattern).into_owned(), rule.action))
            .collect()
    };
    let (rules, approved) = (reading(rules), reading(approved));
    move |path| {
        let last = |rules: &[(String, Action)]| {
            let mut matching = rules.iter().rev();
            let found = matching.find(|(pattern, _)| wildcard(pattern, path));
            found.map(|(_, action)| *action)
        };
        match last(&rules) {
            Some(Action::Deny) => true,
            Some(Action::Ask) => last(&approved) != Some(Action::Allow),
            Some(Action::Allow) | None => false,
        }
    }
}

fn allows(approved: &[Rule], permission: &str, pattern: &str) -> bool {
    last_match(approved, permission, pattern).is_some_and(|rule| rule.action == Action::Allow)
}

pub(crate) fn last_match<'a>(
    rules: &'a [Rule],
    permission: &str,
    pattern: &str,
) -> Option<&'a Rule> {
    rules.iter().rev().find(|rule| {
        wildcard(&rule.permission, permission) && wildcard(&expand(&rule.pattern), pattern)
    })
}

/// The model is not shown a tool that it could never use.
pub fn hides_tool(rules: &[Rule], tool: &str) -> bool {
    let permission = permission_of(tool);
    rules
        .iter()
        .rev()
        .find(|rule| wildcard(&rule.permission, permission))
        .is_some_and(|rule| rule.action == Action::Deny && rule.pattern == "*")
}

/// `~` and `$HOME` at the start of a pattern mean the person's home.
pub(crate) fn expand(pattern: &str) -> std::borrow::Cow<'_, str> {
    let rest = pattern
        .strip_prefix("$HOME")
        .or_else(|| pattern.strip_prefix('~'));
    let Some(rest) = rest.filter(|rest| rest.is_empty() || rest.starts_with(['/', '\\'])) else {
        return pattern.into();
    };
    match directories::BaseDirs::new() {
        Some(dirs) => format!("{}{rest}", dirs.home_dir().display()).into(),
        None => pattern.into(),
    }
}

/// `*` is any text, `?` one character; a trailing ` *` also matches the bare command.
pub fn wildcard(pattern: &str, text: &str) -> bool {
    if cfg!(windows) {
        return matches_folded(&fold(pattern), &fold(text));
    }
    matches_folded(pattern, text)
}

fn fold(text: &str) -> String {
    text.replace('\\', "/").to_lowercase()
}

fn matches_folded(pattern: &str, text: &str) -> bool {
    if let Some(bare) = pattern.strip_suffix(" *")
        && wildcard::matches(bare, text)
    {
        return true;
    }
    wildcard::matches(pattern, text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_secret_if_a_rule_names_it_and_nothing_allows_it() {
        let mut rules = defaults(Freedom::default());
        let names = |rules: &[Rule], approved: &[Rule]| -> Vec<&str> {
            let is_secret = super::is_secret(rules, approved);
            let files = [".env", "web/prod.env", ".env.local", ".env.example", "a.rs"];
            files.into_iter().filter(|file| is_secret(file)).collect()
        };
        let usual = [".env", "web/prod.env", ".env.local"];
        assert_eq!(names(&rules, &[]), usual);
        let approved = [rule("read", "web/prod.env", Action::Allow)];
        assert_eq!(names(&rules, &approved), [".env", ".env.local"]);
        rules.push(rule("read", "*", Action::Ask));
        assert_eq!(
            names(&rules, &[]),
            usual,
            "a question about every file names none"
        );
        rules.push(rule("read", "*.rs", Action::Deny));
        let all = [rule("read", "*", Action::Allow)];
        assert_eq!(
            names(&rules, &all),
            ["a.rs"],
            "a yes is no answer to a rule that denies"
        );
        rules.push(rule("read", "*", Action::Allow));
        assert_eq!(names(&rules, &[]), Vec::<&str>::new());
    }

    #[test]
    fn wildcards_match_as_people_expect() {
        let cases = [
            ("*", "", true),
            ("*", "a\nb/c", true),
            ("git status *", "git status", true),
            ("git status *", "git status --short", true),
            ("git status *", "git statusx", false),
            ("git *", "git", true),
            ("git *", "gitk", false),
            ("?.rs", "a.rs", true),
            ("?.rs", "ab.rs", false),
            ("*.env", ".env", true),
            ("*.env", "a/b/.env", true),
            ("*.env", ".env.local", false),
            ("a*b*c", "axxbyyc", true),
            ("a*b*c", "axxbyy", false),
            ("[a]", "a", false),
            ("", "", true),
            ("", "x", false),
        ];
        for (pattern, text, expected) in cases {
            assert_eq!(wildcard(pattern, text), expected, "{pattern:?} on {text:?}");
        }
    }

    #[test]
    fn what_is_granted_beforehand_covers_a_request_only_with_all_its_patterns() {
        let granted = [
            rule("bash", "*", Action::Allow),
            rule("edit", "src/*", Action::Allow),
        ];
        let covers = |permission: &str, patterns: &[&str], opaque: bool| {
            let patterns: Vec<_> = patterns.iter().map(|one| (*one).to_owned()).collect();
            super::covers(&granted, permission, &patterns, opaque)
        };
        assert!(covers("bash", &["git log > x"], true));
        assert!(covers("edit", &["src/a.rs", "src/b.rs"], false));
        assert!(!covers("edit", &["src/a.rs", "b.rs"], false));
        assert!(!covers("edit", &["src/a.rs"], true));
        assert!(!covers("webfetch", &["example.org"], false));
    }

    #[test]
    fn a_tool_is_hidden_only_by_a_deny_of_everything_that_comes_last() {
        let deny = |pattern| rule("edit", pattern, Action::Deny);
        assert!(hides_tool(&[deny("*")], "write"));
        assert!(!hides_tool(
            &[deny("*"), rule("edit", "plan.md", Action::Allow)],
            "edit"
        ));
        assert!(!hides_tool(&[deny("src/*")], "edit"));
        assert!(!hides_tool(&[], "edit"));
        assert!(hides_tool(&defaults(Freedom::default()), "question"));
    }
}
