//! The tools of other programs under the names of ours, so that their calls are drawn like ours.
//!
//! Fields that ours do not have stay as they are.

use lathe_protocol::Map;
use serde_json::Value;

/// Their tool and ours. Only tools whose input has the same form.
const TOOLS: [(&str, &str); 17] = [
    ("Bash", "bash"),
    ("Read", "read"),
    ("Edit", "edit"),
    ("Write", "write"),
    ("Grep", "grep"),
    ("Glob", "glob"),
    ("TodoWrite", "todowrite"),
    ("TodoRead", "todoread"),
    ("Task", "task"),
    ("Agent", "task"),
    ("WebFetch", "webfetch"),
    ("shell", "bash"),
    ("shell_command", "bash"),
    ("exec_command", "bash"),
    ("local_shell", "bash"),
    ("container.exec", "bash"),
    ("apply_patch", "apply_patch"),
];
const FIELDS: [(&str, &str); 6] = [
    ("file_path", "filePath"),
    ("old_string", "oldString"),
    ("new_string", "newString"),
    ("replace_all", "replaceAll"),
    ("cmd", "command"),
    ("patch", "patchText"),
];

/// The name and the input as ours. A tool that is not known keeps both.
pub fn rename(tool: &str, input: Map) -> (String, Map) {
    let Some((_, ours)) = TOOLS.iter().find(|(theirs, _)| *theirs == tool) else {
        return (tool.to_owned(), input);
    };
    let renamed = input.into_iter().map(|(name, value)| {
        let field = FIELDS.iter().find(|(theirs, _)| *theirs == name);
        let name = field.map_or(name, |(_, ours)| (*ours).to_owned());
        (name, value)
    });
    let mut input: Map = renamed.collect();
    if *ours == "bash"
        && let Some(Value::Array(words)) = input.get("command")
    {
        let command = joined(words);
        input.insert("command".to_owned(), command.into());
    }
    ((*ours).to_owned(), input)
}

/// A command in words. A shell around the command itself is not shown.
fn joined(words: &[Value]) -> String {
    let words: Vec<&str> = words.iter().filter_map(Value::as_str).collect();
    match words.as_slice() {
        [shell, "-lc" | "-c", command] if shell.ends_with("sh") => (*command).to_owned(),
        words => words.join(" "),
    }
}
