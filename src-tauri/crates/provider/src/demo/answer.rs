//! The demo model's answers outside the tour.

use super::script::History;
use crate::event::StreamEvent;

/// Requests that the app makes by itself: titles and summaries.
pub(super) fn background_task(history: &History<'_>) -> Option<Vec<StreamEvent>> {
    if !history.request.tools.is_empty() {
        return None;
    }
    let text = if history.system_says("title") {
        title(history)
    } else if history.system_says("summar") {
        format!(
            "So far, with the demo model: the user last said “{}”.",
            quote(&history.prompt, 300)
        )
    } else {
        return None;
    };
    Some(history.script().say(&text).finish())
}

fn title(history: &History<'_>) -> String {
    if history.wants_tour() {
        return "A tour of Lathe".to_owned();
    }
    let short: Vec<&str> = history.prompt.split_whitespace().take(6).collect();
    quote(&short.join(" "), 50)
}

pub(super) fn free_prompt(history: &History<'_>) -> Vec<StreamEvent> {
    let mut script = history.script();
    if history.calls.is_empty() {
        script = script.think(
            "This is a free prompt. I am a script, not a language model, so I should say so \
             plainly and point to what helps.",
        );
    }
    script.say(&reply(history)).finish()
}

fn reply(history: &History<'_>) -> String {
    let opening = opening(history);
    let files = match history.files {
        0 => String::new(),
        1 => "\n\nYour file arrived too; a real model would look at it.".to_owned(),
        count => format!("\n\nYour {count} files arrived too; a real model would look at them."),
    };
    format!("{opening}{files}\n\n{ABOUT}")
}

fn opening(history: &History<'_>) -> String {
    let prompt = history.prompt.trim();
    let lower = prompt.to_lowercase();
    let first = lower.split(|c: char| !c.is_alphanumeric()).next();
    if prompt.is_empty() {
        return "There was nothing to read in your prompt.".to_owned();
    }
    if matches!(first, Some("hi" | "hello" | "hey" | "hallo")) && prompt.len() < 40 {
        return "Hello! Nice to meet you.".to_owned();
    }
    let kind = if prompt.ends_with('?') {
        "You asked"
    } else {
        "You wrote"
    };
    format!(
        "{kind}:\n\n> {}\n\nA good prompt for a real model. I cannot work on it, though.",
        quote(prompt, 200).replace('\n', "\n> ")
    )
}

const ABOUT: &str = "\
I am the **demo model**: built into Lathe, offline, and scripted. I cannot think, but \
everything I do in the tour is really done by the tools, in your sample project.

To work with a real model, pick one of these:

- **With a key**: open *Settings → Providers*, choose a provider and paste its key. It is kept \
in your system's keyring.
- **On your own machine**: start Ollama, LM Studio or a llama.cpp server. Lathe finds it \
by itself.
- **From the environment**: set the provider's usual variable, for example \
`ANTHROPIC_API_KEY` or `OPENAI_API_KEY`, and start Lathe again.

Then choose the model below the prompt. Or write `tour`, and I will show you around.";

/// The beginning of a text, cut between words where possible.
fn quote(text: &str, limit: usize) -> String {
    let text = text.trim();
    if text.chars().count() <= limit {
        return text.to_owned();
    }
    let cut: String = text.chars().take(limit).collect();
    let whole = cut.rsplit_once(' ').map_or(cut.as_str(), |(head, _)| head);
    format!("{whole}…")
}
