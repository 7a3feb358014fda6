//! The tour: one tool after the other. Each step depends on the calls so far.

use serde_json::{Value, json};

use super::script::{Call, History};
use crate::event::StreamEvent;

/// One tool call of the tour, with the text around it.
struct Stop {
    tool: &'static str,
    input: Value,
    thought: &'static str,
    /// The text before the call.
    text: &'static str,
}

pub(super) fn next(history: &History<'_>, retried: bool) -> Vec<StreamEvent> {
    let stops = stops();
    let is_done = |stop: &Stop| history.call_with(stop.tool, &stop.input).is_some();
    let upcoming = stops
        .iter()
        .find(|stop| !is_done(stop) && history.offers(stop.tool));
    if let Some(stop) = upcoming {
        let text = match history.calls.last() {
            None => format!("{WELCOME}\n\n{}", stop.text),
            Some(last) => format!("{}\n\n{}", remark(last), stop.text),
        };
        return history
            .script()
            .think(stop.thought)
            .say(text.trim())
            .call(stop.tool, &stop.input)
            .finish();
    }
    if !retried && !history.calls.is_empty() {
        return history
            .script()
            .think("One thing is left to show: what happens when a provider fails.")
            .fail_overloaded();
    }
    let missing: Vec<&str> = stops
        .iter()
        .filter(|stop| !is_done(stop))
        .map(|stop| stop.tool)
        .collect();
    history.script().say(&summary(history, missing)).finish()
}

fn stops() -> Vec<Stop> {
    vec![
        Stop {
            tool: "read",
            input: json!({ "filePath": "README.md" }),
            thought: "A new project. The README is the place to start.",
            text: "First I read the README. Reading inside the project needs no permission.",
        },
        Stop {
            tool: "grep",
            input: json!({ "pattern": "oolong" }),
            thought: "The README says oolong steeps 3 minutes. Where is that written in code?",
            text: "The README has a table. Let me search where the code knows about oolong.",
        },
        Stop {
            tool: "todowrite",
            input: todos(["in_progress", "pending", "pending"]),
            thought: "tea.sh says 30 minutes, the README 3. That looks like a typo. A short \
                      plan helps to keep track.",
            text: "The script says **30** minutes where the table says 3. I write down a plan.",
        },
        Stop {
            tool: "read",
            input: json!({ "filePath": "tea.sh" }),
            thought: "A file must be read before it is edited, so that nobody's changes are \
                      overwritten.",
            text: "Before I may edit a file I have to read it.",
        },
        Stop {
            tool: "edit",
            input: json!({
                "filePath": "tea.sh",
                "oldString": "oolong) echo 30 ;;",
                "newString": "oolong) echo 3 ;;",
            }),
            thought: "One line to change.",
            text: "Now the edit. Changing files asks you first: you see the exact difference \
                    before you allow it.",
        },
        Stop {
            tool: "bash",
            input: json!({
                "command": "sh tests/run.sh",
                "description": "Runs the tests of the sample project",
            }),
            thought: "The tests compare the script with the table.",
            text: "Let me run the tests. Commands ask too, and show their output as it comes.",
        },
        Stop {
            tool: "question",
            input: json!({ "questions": [{
                "question": "The chart in docs shows the steeping times. Shall I have a look at it?",
                "header": "The chart",
                "options": [
                    { "label": "Yes, show it", "description": "Opens docs/steeping.png here" },
                    { "label": "You choose", "description": "I would show it, too" },
                ],
            }] }),
            thought: "Asking is better than guessing. Let me show what a question looks like.",
            text: "Sometimes I need to know something from you. Then I ask.",
        },
        Stop {
            tool: "read",
            input: json!({ "filePath": "docs/steeping.png" }),
            thought: "An image can be read like any other file.",
            text: "Images can be read, too: a model that sees can look at them.",
        },
        Stop {
            tool: "todowrite",
            input: todos(["completed", "completed", "completed"]),
            thought: "All three things are done; the list should say so.",
            text: "That was the plan. I tick it off.",
        },
    ]
}

fn todos(status: [&str; 3]) -> Value {
    let tasks = [
        "Find out how long oolong steeps",
        "Correct tea.sh",
        "Run the tests",
    ];
    let todos: Vec<Value> = tasks
        .iter()
        .zip(status)
        .enumerate()
        .map(|(at, (task, status))| {
            json!({
                "id": (at + 1).to_string(),
                "content": task,
                "status": status,
                "priority": "medium",
            })
        })
        .collect();
    json!({ "todos": todos })
}

/// A sentence about what the last call really did.
fn remark(call: &Call<'_>) -> String {
    if !call.result.is_error {
        return match call.name {
            "question" => "Thank you for the answer.".to_owned(),
            _ => String::new(),
        };
    }
    let reason = one_line(&call.result.text);
    match call.name {
        "edit" => format!("The edit was not made ({reason}). Nothing has changed; I continue."),
        "question" => "No answer is fine, too.".to_owned(),
        tool => format!("That did not work: `{tool}` says “{reason}”. I continue with the tour."),
    }
}

fn one_line(text: &str) -> String {
    let line = text.lines().find(|line| !line.trim().is_empty());
    let line = line.unwrap_or("no reason given").trim();
    let mut short: String = line.chars().take(160).collect();
    if short.len() < line.len() {
        short.push('…');
    }
    short.trim_end_matches('.').to_owned()
}

const WELCOME: &str = "Welcome! I am the built-in demo model. What I say is scripted, but every \
tool you see really runs, in this project.";

fn summary(history: &History<'_>, missing: Vec<&str>) -> String {
    let failed = history.calls.iter().filter(|call| call.result.is_error);
    let failed: Vec<&str> = failed.map(|call| call.name).collect();
    let mut text = String::new();
    if history.calls.is_empty() {
        text.push_str("I would show you around, but no tool is offered to me here.\n\n");
    } else {
        text.push_str(SUMMARY);
    }
    if !failed.is_empty() {
        let failed = failed.join(", ");
        text.push_str(&format!("Not everything went through: {failed}.\n\n"));
    }
    if !missing.is_empty() && !history.calls.is_empty() {
        let missing = missing.join(", ");
        text.push_str(&format!(
            "Left out, because not offered here: {missing}.\n\n"
        ));
    }
    text.push_str(NEXT);
    text
}

const SUMMARY: &str = "\
That was the tour, and the failure just now was part of it: a provider under load is asked \
again by itself, with a countdown you can cut short.

What you have seen:

1. **Reading and searching**, free inside the project
2. **A plan**, kept with the session
3. **An edit** you could allow or refuse, with its difference
4. **A command** with live output
5. **A question** to you, and **an image** to look at

Around every step a snapshot of the project is kept, and the files it changed are named.

";

const NEXT: &str = "\
Next: connect a real model in *Settings → Providers*, or start Ollama, LM Studio or llama.cpp \
and pick the model it lists. Then open a project of your own.";
