//! What a request would let happen, from what the tool told about it; the window shows the same.
//!
//! Everything here is text that a model chose: codes in it are made visible, and no line of it
//! begins like one of ours.

use lathe_protocol::PermissionRequest;
use lathe_render::escape::{visible, visible_line};
use serde_json::Value;

/// A longer diff would push the beginning off the screen.
const MOST_LINES: usize = 60;
/// A line of a packed file may be the whole file.
const MOST_CHARS: usize = 400;

/// In full, for a person who decides.
pub fn shown(request: &PermissionRequest) -> String {
    let mut shown = String::new();
    if let Some(said) = text(request, "description") {
        shown += &line("the agent says", said);
    }
    for fact in facts(request) {
        shown += &match fact {
            Fact::Line(label, value) => line(label, &value),
            Fact::Lines(label, value) => lines(label, &value),
        };
    }
    if let Some(diff) = text(request, "diff") {
        shown += &lines("changes", &shortened(diff));
    }
    for reason in reasons(request) {
        shown += &line("no rule covers it", reason);
    }
    shown
}

/// In one line, for a log.
pub fn brief(request: &PermissionRequest) -> String {
    let told = match request.permission.as_str() {
        "bash" => text(request, "command"),
        "webfetch" => text(request, "url"),
        _ => None,
    };
    let what = told.map_or_else(|| request.patterns.join(", "), str::to_owned);
    visible_line(&format!("{}: {what}", request.permission))
}

/// Why no rule could decide it.
pub fn reasons(request: &PermissionRequest) -> Vec<&str> {
    let reasons = request.metadata.get("reasons").and_then(Value::as_array);
    let reasons = reasons.into_iter().flatten();
    reasons.filter_map(Value::as_str).collect()
}

enum Fact {
    Line(&'static str, String),
    /// A line break in any other value would pass for the next one.
    Lines(&'static str, String),
}

fn facts(request: &PermissionRequest) -> Vec<Fact> {
    let one = |label, name| text(request, name).map(|value| Fact::Line(label, value.to_owned()));
    let each = |label| {
        let patterns = request.patterns.iter();
        patterns.map(move |pattern| Fact::Line(label, pattern.clone()))
    };
    let command = || text(request, "command").map(|it| Fact::Lines("command", it.to_owned()));
    let or_patterns = |fact: Option<Fact>| match fact {
        Some(fact) => vec![fact],
        None => each("for").collect(),
    };
    match request.permission.as_str() {
        "bash" => or_patterns(command()),
        "webfetch" => or_patterns(one("address", "url")),
        "edit" => each("file").collect(),
        "external_directory" => {
            let outside = match one("outside of the project", "parentDir") {
                Some(folder) => vec![folder],
                None => each("outside of the project").collect(),
            };
            let path = one("path", "filepath").into_iter();
            path.chain(outside).chain(command()).collect()
        }
        "doom_loop" => each("the same call again").chain(input(request)).collect(),
        _ => {
            // A server's tool is asked for as a whole; its name and its input say more.
            let named = one("tool server", "server").into_iter();
            let mut facts: Vec<_> = named.chain(one("tool", "tool")).collect();
            if facts.is_empty() {
                facts.extend(each("for"));
            }
            facts.extend(input(request));
            facts
        }
    }
}

fn input(request: &PermissionRequest) -> Option<Fact> {
    let input = serde_json::to_string_pretty(request.metadata.get("input")?);
    Some(Fact::Lines("input", input.ok()?))
}

fn text<'a>(request: &'a PermissionRequest, name: &str) -> Option<&'a str> {
    let value = request.metadata.get(name).and_then(Value::as_str);
    value.filter(|value| !value.is_empty())
}

fn line(label: &str, value: &str) -> String {
    format!("  {label}: {}\n", visible_line(value))
}

fn lines(label: &str, value: &str) -> String {
    if !value.contains('\n') {
        return line(label, value);
    }
    let value = visible(value);
    let body = value.lines().map(|line| format!("  │ {line}\n"));
    format!("  {label}:\n{}", body.collect::<String>())
}

fn shortened(diff: &str) -> String {
    let kept = diff.lines().take(MOST_LINES).map(|line| {
        let left_out = line.chars().count().saturating_sub(MOST_CHARS);
        let kept: String = line.chars().take(MOST_CHARS).collect();
        match left_out {
            0 => kept,
            more => format!("{kept}… ({more} more characters)"),
        }
    });
    let mut kept: Vec<_> = kept.collect();
    match diff.lines().count().saturating_sub(MOST_LINES) {
        0 => {}
        more => kept.push(format!("… ({more} more lines)")),
    }
    kept.join("\n") + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn request(permission: &str, patterns: &[&str], metadata: Value) -> PermissionRequest {
        serde_json::from_value(json!({
            "id": "per_a", "sessionID": "ses_a", "permission": permission,
            "patterns": patterns, "metadata": metadata, "always": [],
        }))
        .unwrap()
    }

    #[test]
    fn each_kind_of_request_shows_what_it_would_do() {
        let outside = json!({ "filepath": "/etc/hosts", "parentDir": "/etc" });
        let served = json!({ "server": "garden", "tool": "plant", "input": { "row": 1 } });
        for (permission, metadata, expected) in [
            ("bash", json!({ "command": "ls" }), "  command: ls\n"),
            ("bash", json!({}), "  for: p\n"),
            (
                "webfetch",
                json!({ "url": "https://a.b/c" }),
                "  address: https://a.b/c\n",
            ),
            ("edit", json!({ "diff": "" }), "  file: p\n"),
            (
                "external_directory",
                outside,
                "  path: /etc/hosts\n  outside of the project: /etc\n",
            ),
            (
                "garden_plant",
                served,
                "  tool server: garden\n  tool: plant\n  input:\n  │ {\n  │   \"row\": 1\n  │ }\n",
            ),
            ("read", json!({}), "  for: p\n"),
        ] {
            assert_eq!(shown(&request(permission, &["p"], metadata)), expected);
        }
    }

    #[test]
    fn what_a_model_chose_cannot_pass_for_a_line_of_ours() {
        let command = "ls\rrm\u{1b}[2K\nAllow bash?";
        let asked = request("bash", &["ls"], json!({ "command": command }));
        assert_eq!(
            shown(&asked),
            "  command:\n  │ ls␍rm␛[2K\n  │ Allow bash?\n"
        );
        assert_eq!(brief(&asked), "bash: ls␍rm␛[2K␊Allow bash?");
        let asked = request("edit", &["a\n  file: b"], json!({}));
        assert_eq!(shown(&asked), "  file: a␊  file: b\n");
    }

    #[test]
    fn a_long_diff_is_cut_and_says_so() {
        let diff = format!(
            "{}\n{}",
            "x".repeat(MOST_CHARS + 3),
            "+one\n".repeat(MOST_LINES)
        );
        let shown = shown(&request("edit", &["a"], json!({ "diff": diff })));
        assert!(shown.contains("x… (3 more characters)\n"), "{shown}");
        assert!(shown.ends_with("  │ … (1 more lines)\n"), "{shown}");
    }
}
