//! Describes a permission request from the metadata that the tool supplied, like the window does.
//!
//! All of it is text that a model chose: control codes are escaped, and no line of it can look
//! like one of ours.

use lathe_protocol::PermissionRequest;
use lathe_render::escape::{visible, visible_line};
use serde_json::Value;

use crate::texts;

/// A longer diff would scroll its beginning off the screen.
const MAX_LINES: usize = 60;
/// A minified file may consist of a single line.
const MAX_CHARS: usize = 400;

/// The full description, for the person who decides.
pub fn full(request: &PermissionRequest) -> String {
    let mut full = String::new();
    if let Some(description) = text(request, "description") {
        full += &line(texts::DESCRIPTION, description);
    }
    for fact in facts(request) {
        full += &match fact {
            Fact::Line(label, value) => line(label, &value),
            Fact::Lines(label, value) => lines(label, &value),
        };
    }
    if let Some(diff) = text(request, "diff") {
        full += &lines("changes", &shortened(diff));
    }
    for need in request.needs.iter().skip(1) {
        for pattern in &need.patterns {
            full += &line(&texts::also_needs(&need.permission), pattern);
        }
    }
    for danger in &request.dangers {
        full += &line("careful", &format!("{} ({})", danger.text, danger.why));
    }
    for sentence in not_covered(request) {
        full += &line("a revert", sentence);
    }
    for reason in reasons(request) {
        full += &line("why", reason);
    }
    full
}

/// A description on one line, for a log.
pub fn brief(request: &PermissionRequest) -> String {
    let detail = match request.permission.as_str() {
        "bash" => text(request, "command"),
        "webfetch" => text(request, "url"),
        _ => None,
    };
    let what = detail.map_or_else(|| request.patterns.join(", "), str::to_owned);
    visible_line(&format!("{}: {what}", request.permission))
}

/// Why it is asked, each reason once.
pub fn reasons(request: &PermissionRequest) -> Vec<&str> {
    let mut reasons: Vec<&str> = Vec::new();
    for reason in request.needs.iter().flat_map(|need| &need.reasons) {
        if !reasons.contains(&reason.as_str()) {
            reasons.push(reason);
        }
    }
    reasons
}

/// What a revert will not cover.
fn not_covered(request: &PermissionRequest) -> impl Iterator<Item = &str> {
    let listed = request.metadata.get("notCovered").and_then(Value::as_array);
    listed.into_iter().flatten().filter_map(Value::as_str)
}

enum Fact {
    Line(&'static str, String),
    /// The only kind that may contain line breaks: elsewhere they could fake another fact.
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
            let path = one("path", "filepath").into_iter();
            let outside = each(texts::OUTSIDE);
            path.chain(outside).chain(command()).collect()
        }
        "doom_loop" => each(texts::REPEATED).chain(input(request)).collect(),
        _ => {
            // The pattern of an MCP tool is always `*`; its name and input say more.
            let named = one(texts::SERVER, "server").into_iter();
            let mut facts: Vec<_> = named.chain(one("tool", "tool")).collect();
            if facts.is_empty() {
                facts.extend(each("for"));
            }
            facts.extend(input(request));
            // What is asked about may be only one thing that a command needs.
            facts.extend(command());
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
    let kept = diff.lines().take(MAX_LINES).map(|line| {
        let left_out = line.chars().count().saturating_sub(MAX_CHARS);
        let kept: String = line.chars().take(MAX_CHARS).collect();
        match left_out {
            0 => kept,
            more => format!("{kept}… ({more} more characters)"),
        }
    });
    let mut kept: Vec<_> = kept.collect();
    match diff.lines().count().saturating_sub(MAX_LINES) {
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
        let outside = json!({ "filepath": "/etc/hosts" });
        let served = json!({ "server": "garden", "tool": "plant", "input": { "row": 1 } });
        for (permission, metadata, expected) in [
            ("bash", json!({ "command": "ls" }), "  command: ls\n"),
            ("bash", json!({}), "  for: p\n"),
            (
                "bash",
                json!({ "command": "git gc", "notCovered": ["What git stores stays"] }),
                "  command: git gc\n  a revert: What git stores stays\n",
            ),
            (
                "webfetch",
                json!({ "url": "https://a.b/c" }),
                "  address: https://a.b/c\n",
            ),
            ("edit", json!({ "diff": "" }), "  file: p\n"),
            (
                "external_directory",
                outside,
                "  path: /etc/hosts\n  outside the project: p\n",
            ),
            (
                "read",
                json!({ "command": "cat .env" }),
                "  for: p\n  command: cat .env\n",
            ),
            (
                "garden_plant",
                served,
                "  MCP server: garden\n  tool: plant\n  input:\n  │ {\n  │   \"row\": 1\n  │ }\n",
            ),
            ("read", json!({}), "  for: p\n"),
        ] {
            assert_eq!(full(&request(permission, &["p"], metadata)), expected);
        }
    }

    #[test]
    fn text_of_a_model_cannot_look_like_a_line_of_ours() {
        let command = "ls\rrm\u{1b}[2K\nAllow bash?";
        let asked = request("bash", &["ls"], json!({ "command": command }));
        assert_eq!(full(&asked), "  command:\n  │ ls␍rm␛[2K\n  │ Allow bash?\n");
        assert_eq!(brief(&asked), "bash: ls␍rm␛[2K␊Allow bash?");
        let asked = request("edit", &["a\n  file: b"], json!({}));
        assert_eq!(full(&asked), "  file: a␊  file: b\n");
    }

    #[test]
    fn a_long_diff_is_shortened_with_a_note() {
        let diff = format!(
            "{}\n{}",
            "x".repeat(MAX_CHARS + 3),
            "+one\n".repeat(MAX_LINES)
        );
        let shown = full(&request("edit", &["a"], json!({ "diff": diff })));
        assert!(shown.contains("x… (3 more characters)\n"), "{shown}");
        assert!(shown.ends_with("  │ … (1 more lines)\n"), "{shown}");
    }
}
