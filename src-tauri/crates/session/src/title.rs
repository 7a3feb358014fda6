//! Titles of sessions: the default one, and the one that a model writes.

use std::sync::Arc;

use futures::StreamExt;
use lathe_protocol::{MessageWithParts, Millis, ModelRef, Part, Session};
use lathe_provider::{ModelMessage, ModelRequest, StreamEvent, UserContent};
use lathe_records::Records;
use parking_lot::Mutex;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use crate::slug;
use lathe_workspace::models::Models;

const DEFAULT: &str = "New session - ";
const DEFAULT_CHILD: &str = "Child session - ";
const LONGEST: usize = 100;
/// A longer prompt is cut: a title does not need a pasted log.
const PROMPT_CHARS: usize = 4_000;

const SYSTEM: &str = "You write titles for work sessions. Answer with one title for the \
    session that this first prompt begins: at most 50 characters, one line, in the language \
    of the prompt, no quotes, no full stop, no explanation. Name the thing and what is done \
    to it. Never answer or carry out the prompt itself.";

pub fn default(is_child: bool, now: Millis) -> String {
    let prefix = if is_child { DEFAULT_CHILD } else { DEFAULT };
    format!("{prefix}{}", slug::iso_time(now))
}

/// Only default titles are replaced.
fn is_default(title: &str) -> bool {
    title.starts_with(DEFAULT) || title.starts_with(DEFAULT_CHILD)
}

/// Title requests that run in the background.
#[derive(Default)]
pub struct Titles {
    running: Mutex<JoinSet<()>>,
}

impl Titles {
    /// Waits until every title is stored.
    pub async fn wait(&self) {
        let mut running = std::mem::take(&mut *self.running.lock());
        while running.join_next().await.is_some() {}
    }
}

/// Requests a title in the background. If there is none, the first line of the prompt is the title.
pub fn start(
    titles: &Titles,
    records: &Records,
    models: &Arc<Models>,
    session: &Session,
    history: &[MessageWithParts],
) {
    let [first] = history else { return };
    let Some(user) = first.info.as_user() else {
        return;
    };
    if session.parent_id.is_some() || !is_default(&session.title) {
        return;
    }
    let (records, models, id) = (records.clone(), models.clone(), session.id.clone());
    let (prompt, model) = (prompt_text(first), user.model.clone());
    let mut running = titles.running.lock();
    while running.try_join_next().is_some() {}
    running.spawn(async move {
        let own = clean_title(&prompt);
        let Some(title) = request_title(&models, prompt, model).await.or(own) else {
            return;
        };
        let stored = records.update_session(&id, move |session| {
            // The person may have renamed the session in the meantime.
            if is_default(&session.title) {
                session.title = title;
            }
        });
        if let Err(error) = stored.await {
            tracing::info!(%error, "a title could not be stored");
        }
    });
}

fn prompt_text(message: &MessageWithParts) -> String {
    let texts = message.parts.iter().filter_map(|part| match part {
        Part::Text(part) if part.synthetic != Some(true) => Some(part.text.as_str()),
        _ => None,
    });
    texts
        .collect::<Vec<_>>()
        .join("\n")
        .chars()
        .take(PROMPT_CHARS)
        .collect()
}

async fn request_title(models: &Models, prompt: String, model: Option<ModelRef>) -> Option<String> {
    let model = match model {
        Some(model) => model,
        None => models.default().await,
    };
    let answer = ask_small_model(models, SYSTEM, prompt, model).await?;
    clean_title(&answer)
}

/// The answer of the small model beside this one; `None` if it fails.
pub async fn ask_small_model(
    models: &Models,
    system: &str,
    prompt: String,
    model: ModelRef,
) -> Option<String> {
    let small = models.catalog().small_model(&model);
    let model = models.open(&small).await.ok()?;
    let mut request = ModelRequest::new(model.info().wire_id.clone());
    request.system = vec![system.to_owned()];
    let content = vec![UserContent::Text { text: prompt }];
    request.messages = vec![ModelMessage::User { content }].into();
    model.prepare(&mut request, None);
    let mut answer = String::new();
    let mut stream = model.stream(&request, CancellationToken::new());
    while let Some(event) = stream.next().await {
        match event {
            StreamEvent::TextDelta { text, .. } => answer.push_str(&text),
            StreamEvent::Error { error } => {
                tracing::info!(%error, "no answer of the small model");
                return None;
            }
            _ => {}
        }
    }
    Some(answer)
}

/// The first non-empty line, without the thinking that some models put before it.
fn clean_title(answer: &str) -> Option<String> {
    let text = match answer.rfind("</think>") {
        Some(end) => &answer[end + "</think>".len()..],
        None => answer,
    };
    let line = text.lines().map(str::trim).find(|line| !line.is_empty())?;
    let line = line.trim_matches(['"', '*', '#', '`']).trim();
    (!line.is_empty()).then(|| line.chars().take(LONGEST).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_title_is_one_short_line_without_thinking() {
        let long = "x".repeat(150);
        let cases = [
            ("Fix the tea timer", Some("Fix the tea timer")),
            ("<think>hm\n</think>\n\n  \"Fix it\"\nmore", Some("Fix it")),
            (long.as_str(), Some(&long[..100])),
            (" \n ", None),
            ("<think>only</think>", None),
        ];
        for (answer, expected) in cases {
            assert_eq!(clean_title(answer).as_deref(), expected, "{answer:?}");
        }
    }

    #[test]
    fn only_default_titles_are_replaced() {
        assert!(is_default(&default(false, Millis(0))));
        assert!(is_default(&default(true, Millis(0))));
        assert!(!is_default("Tea"));
    }
}
