//! One turn from a terminal.

use std::collections::HashMap;
use std::path::Path;
use std::process::ExitCode;

use lathe_protocol::ipc::PromptInput;
use lathe_protocol::{
    Action, Event, MessagePartUpdated, Part, PartId, PermissionRequest, QuestionRequest, Rule,
    Session, SessionId, ToolState,
};
use lathe_session::bus::{Delta, Heard, Told};
use lathe_session::{Answer, Sessions, parse_model_ref};

use crate::args::RunArgs;
use crate::{Outcome, output};

pub async fn run(sessions: &Sessions, directory: &Path, args: RunArgs) -> Outcome {
    let model = match &args.model {
        None => None,
        Some(text) => {
            let parsed = parse_model_ref(text);
            Some(parsed.ok_or_else(|| format!("{text:?} is not of the form provider/model"))?)
        }
    };
    let session = choose(sessions, directory, &args).await?;
    sessions.set_rules(rules(&args));
    let mut events = sessions.subscribe();
    let input = PromptInput {
        text: args.prompt.join(" "),
        agent: args.agent,
        model,
        variant: args.variant,
        ..PromptInput::default()
    };
    sessions.prompt(&session.id, input).await?;
    let mut follower = Follower {
        sessions,
        id: &session.id,
        json: args.json,
        open: HashMap::new(),
        open_line: None,
    };
    loop {
        match events.next().await {
            None | Some(Heard::Missed) => {
                return Err("the turn went too fast to be followed; see `lathectl show`".into());
            }
            Some(Heard::Notice(notice)) => {
                if follower.take(notice.told).await? {
                    break;
                }
            }
        }
    }
    verdict(sessions, &session.id).await
}

async fn choose(sessions: &Sessions, directory: &Path, args: &RunArgs) -> Outcome<Session> {
    if let Some(id) = &args.session {
        return Ok(sessions.get(id).await?);
    }
    let project = sessions.open_project(directory).await?;
    if args.continue_last {
        let last = sessions
            .list(&project)
            .await?
            .into_iter()
            .find(|one| one.parent_id.is_none());
        return last.ok_or_else(|| "there is no session here to go on with".into());
    }
    let directory = directory.canonicalize()?;
    Ok(sessions
        .create_in(&project, &directory.display().to_string(), None)
        .await?)
}

fn rules(args: &RunArgs) -> Vec<Rule> {
    let mut rules: Vec<_> = args
        .allow
        .iter()
        .map(|text| {
            let (permission, pattern) = text.split_once('=').unwrap_or((text, "*"));
            allow(permission, pattern)
        })
        .collect();
    if args.yes {
        rules.push(allow("*", "*"));
    }
    rules
}

fn allow(permission: &str, pattern: &str) -> Rule {
    Rule {
        permission: permission.into(),
        pattern: pattern.into(),
        action: Action::Allow,
    }
}

/// Well only if the newest answer came to its own end.
async fn verdict(sessions: &Sessions, id: &SessionId) -> Outcome {
    let page = sessions.messages(id, None, 1).await?;
    let last = page
        .messages
        .last()
        .and_then(|message| message.info.as_assistant());
    Ok(match last {
        Some(answer) if answer.error.is_none() && answer.finish.is_some() => ExitCode::SUCCESS,
        _ => ExitCode::FAILURE,
    })
}

struct Follower<'a> {
    sessions: &'a Sessions,
    id: &'a SessionId,
    json: bool,
    /// Parts as they were last told, for the deltas that follow.
    open: HashMap<PartId, Part>,
    /// The text part whose line is not ended yet.
    open_line: Option<PartId>,
}

impl Follower<'_> {
    /// True when the turn is over.
    async fn take(&mut self, told: Told) -> Outcome<bool> {
        match told {
            Told::Delta(delta) if delta.session_id == *self.id => self.delta(&delta)?,
            Told::Delta(_) => {}
            Told::Event(event) if event.session_id().is_none_or(|id| id == self.id) => {
                if let Event::MessagePartUpdated(updated) = &*event {
                    self.open
                        .insert(updated.part.id().clone(), updated.part.clone());
                }
                if self.json {
                    output::json_line(&*event)?;
                } else {
                    self.event(&event)?;
                }
                self.answer(&event).await?;
                return Ok(matches!(*event, Event::SessionIdle { .. }));
            }
            Told::Event(_) => {}
        }
        Ok(false)
    }

    /// The part may have ended by now; what we saw of it is enough.
    fn delta(&mut self, delta: &Delta) -> Outcome<()> {
        let Some(part) = self.open.get_mut(&delta.part_id) else {
            return Ok(());
        };
        let is_text = match part {
            Part::Text(part) => {
                part.text.push_str(&delta.text);
                true
            }
            Part::Reasoning(part) => {
                part.text.push_str(&delta.text);
                false
            }
            _ => false,
        };
        if self.json {
            let (part, delta) = (part.clone(), Some(delta.text.clone()));
            let event = Event::MessagePartUpdated(MessagePartUpdated { part, delta });
            output::json_line(&event)?;
        } else if is_text {
            self.open_line = Some(delta.part_id.clone());
            output::text(&delta.text)?;
        }
        Ok(())
    }

    fn event(&mut self, event: &Event) -> Outcome<()> {
        match event {
            Event::MessagePartUpdated(updated) => match &updated.part {
                Part::Text(text) if self.open_line.as_ref() == Some(&text.id) => self.end_line()?,
                Part::Tool(tool) if tool.state().is_settled() => {
                    self.end_line()?;
                    output::note(&tool_line(&tool.tool, tool.state()));
                }
                Part::Retry(retry) => {
                    let why = retry.error.0.message();
                    output::note(&format!("! try {} failed: {why}", retry.attempt));
                }
                _ => {}
            },
            Event::SessionError {
                error: Some(error), ..
            } => {
                self.end_line()?;
                output::note(&format!("lathectl: {}", error.message()));
            }
            Event::SessionIdle { .. } => self.end_line()?,
            _ => {}
        }
        Ok(())
    }

    fn end_line(&mut self) -> Outcome<()> {
        if self.open_line.take().is_some() {
            output::line("")?;
        }
        Ok(())
    }

    async fn answer(&self, event: &Event) -> Outcome<()> {
        match event {
            Event::PermissionAsked(request) => {
                self.sessions
                    .answer_permission(&request.id, permission(request))
                    .await?;
            }
            Event::QuestionAsked(request) => match answers(request) {
                Some(answers) => self.sessions.answer_question(&request.id, answers)?,
                None => self.sessions.dismiss_question(&request.id)?,
            },
            _ => {}
        }
        Ok(())
    }
}

fn tool_line(tool: &str, state: &ToolState) -> String {
    match state {
        ToolState::Completed(done) => format!("· {tool} {}", visible(&done.title)),
        ToolState::Error(failed) => format!("× {tool} {}", visible(&failed.error)),
        other => format!("· {tool} {}", other.name()),
    }
}

/// A title from a model may hold anything; a terminal acts on some of it.
fn visible(text: &str) -> String {
    text.lines()
        .next()
        .unwrap_or_default()
        .escape_debug()
        .to_string()
}

fn permission(request: &PermissionRequest) -> Answer {
    let what = format!("{}: {}", request.permission, request.patterns.join(", "));
    let what = visible(&what);
    if !output::has_person() {
        output::note(&format!("! rejected {what} (use --allow or --yes)"));
        return Answer::Reject { message: None };
    }
    match output::ask(&format!("Allow {what}? [y]es, [a]lways, [N]o: ")).as_deref() {
        Some("y" | "yes") => Answer::Once,
        Some("a" | "always") if !request.always.is_empty() => Answer::Always,
        _ => Answer::Reject { message: None },
    }
}

fn answers(request: &QuestionRequest) -> Option<Vec<Vec<String>>> {
    if !output::has_person() {
        return None;
    }
    let ask_one = |question: &lathe_protocol::Question| {
        let options = question.options.iter().enumerate();
        let lines: Vec<_> = options
            .map(|(index, option)| format!("  {}. {}", index + 1, visible(&option.label)))
            .collect();
        let text = format!("{}\n{}\n> ", visible(&question.question), lines.join("\n"));
        let typed = output::ask(&text).filter(|typed| !typed.is_empty())?;
        let chosen = typed
            .parse::<usize>()
            .ok()
            .and_then(|at| question.options.get(at.checked_sub(1)?));
        Some(vec![
            chosen.map_or(typed.clone(), |option| option.label.clone()),
        ])
    };
    request.questions.iter().map(ask_one).collect()
}
