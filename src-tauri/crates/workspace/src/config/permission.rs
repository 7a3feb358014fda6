//! Converts the config keys `permission` and `tools` (the older form) to rules.

use lathe_protocol::{Action, Ruleset};
use serde_json::Value;

use super::TableReader;
use lathe_policy::{permission_of, rule};

/// The value is one action for everything, or for each permission an action or a map of
/// patterns. Rules are in the order of the file: the last one that matches wins.
pub fn rules(reader: &mut TableReader<'_>, value: &Value) -> Ruleset {
    let table = match value {
        Value::Object(table) => table,
        word => {
            let action = action(reader, "permission", word);
            return action
                .map(|action| rule("*", "*", action))
                .into_iter()
                .collect();
        }
    };
    let mut rules = Ruleset::new();
    for (name, value) in table {
        let permission = permission_of(name);
        let place = format!("permission.{name}");
        match value {
            Value::Object(patterns) => {
                for (pattern, word) in patterns {
                    let action = action(reader, &format!("{place}.{pattern}"), word);
                    rules.extend(action.map(|action| rule(permission, pattern, action)));
                }
            }
            word => {
                let action = action(reader, &place, word);
                rules.extend(action.map(|action| rule(permission, "*", action)));
            }
        }
    }
    rules
}

/// `"tools": { "write": false }` switches a tool off, `true` on.
pub fn tool_rules(reader: &mut TableReader<'_>, value: &Value) -> Ruleset {
    let Value::Object(table) = value else {
        reader.problem("tools", "expected a table of tools, each true or false");
        return Ruleset::new();
    };
    let mut rules = Ruleset::new();
    for (name, value) in table {
        match value.as_bool() {
            Some(on) => {
                let action = if on { Action::Allow } else { Action::Deny };
                rules.push(rule(permission_of(name), "*", action));
            }
            None => reader.problem(&format!("tools.{name}"), "expected true or false"),
        }
    }
    rules
}

fn action(reader: &mut TableReader<'_>, place: &str, word: &Value) -> Option<Action> {
    match word.as_str() {
        Some("allow") => Some(Action::Allow),
        Some("ask") => Some(Action::Ask),
        Some("deny") => Some(Action::Deny),
        _ => {
            let message = format!("expected \"allow\", \"ask\" or \"deny\", found {word}");
            reader.problem(place, message);
            None
        }
    }
}
