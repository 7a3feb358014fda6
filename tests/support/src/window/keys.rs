//! Converts chords such as `Control+k` to actions of the driver.

use serde_json::{Value, json};

/// The characters that WebDriver uses for keys without one.
const NAMED: [(&str, char); 20] = [
    ("Backspace", '\u{E003}'),
    ("Tab", '\u{E004}'),
    ("Enter", '\u{E007}'),
    ("Shift", '\u{E008}'),
    ("Control", '\u{E009}'),
    ("Alt", '\u{E00A}'),
    ("Escape", '\u{E00C}'),
    ("Space", ' '),
    ("PageUp", '\u{E00E}'),
    ("PageDown", '\u{E00F}'),
    ("End", '\u{E010}'),
    ("Home", '\u{E011}'),
    ("ArrowLeft", '\u{E012}'),
    ("ArrowUp", '\u{E013}'),
    ("ArrowRight", '\u{E014}'),
    ("ArrowDown", '\u{E015}'),
    ("Delete", '\u{E017}'),
    ("F2", '\u{E032}'),
    ("F6", '\u{E036}'),
    ("F10", '\u{E03A}'),
];

/// Presses the keys of a chord in their order and releases them in reverse.
pub fn actions(chord: &str) -> Value {
    let keys: Vec<_> = chord.split('+').map(code).collect();
    let down = keys
        .iter()
        .map(|key| json!({ "type": "keyDown", "value": key }));
    let up = keys
        .iter()
        .rev()
        .map(|key| json!({ "type": "keyUp", "value": key }));
    let all: Vec<_> = down.chain(up).collect();
    json!({ "actions": [{ "type": "key", "id": "keyboard", "actions": all }] })
}

/// Moves the mouse to the middle of an element.
pub fn hover(element: &str) -> Value {
    // The key of an element reference in the WebDriver protocol.
    let origin = json!({ "element-6066-11e4-a52e-4f735466cecf": element });
    let to = json!({ "type": "pointerMove", "duration": 0, "origin": origin, "x": 0, "y": 0 });
    json!({ "actions": [{
        "type": "pointer", "id": "mouse", "parameters": { "pointerType": "mouse" }, "actions": [to],
    }] })
}

fn code(name: &str) -> String {
    let named = NAMED.iter().find(|(known, _)| *known == name);
    named.map_or_else(|| name.to_owned(), |(_, code)| code.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_chord_goes_down_in_order_and_up_in_reverse() {
        let expected = json!({ "actions": [{ "type": "key", "id": "keyboard", "actions": [
            { "type": "keyDown", "value": "\u{E009}" },
            { "type": "keyDown", "value": "k" },
            { "type": "keyUp", "value": "k" },
            { "type": "keyUp", "value": "\u{E009}" },
        ] }] });
        assert_eq!(actions("Control+k"), expected);
    }
}
