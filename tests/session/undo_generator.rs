//! Stories made by chance: a person with an editor, two sessions in one folder, restarts, kills,
//! full disks and clean-ups, between and during turns and reverts. No byte of the person's is
//! lost, no revert claims what it did not do, and an undo is exact.

mod at_once;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::Write;
use std::path::Path;
use std::task::Poll;

use futures::{StreamExt, stream};
use lathe_protocol::ipc::{PromptInput, RevertOptions, RevertTarget};
use lathe_protocol::{MessageId, SessionId};
use lathe_session::Failed;
use lathe_test_support::app::until_idle;
use lathe_test_support::dice::Dice;
use lathe_test_support::fake_model::{Item, call, text};
use lathe_test_support::scripted_agent::Agent;
use serde_json::json;

const FILES: [&str; 4] = ["a.txt", "b.txt", "d/c.txt", "ignored.log"];

type Files = BTreeMap<&'static str, Option<String>>;

/// A turn, with the files as they were before it.
struct Turn {
    session: usize,
    prompt: MessageId,
    before: Files,
    /// The files that the person, or the other session, has written since.
    others: BTreeSet<&'static str>,
}

struct Story {
    agent: Agent,
    sessions: [SessionId; 2],
    dice: Dice,
    /// Files that the person wrote last.
    mine: BTreeMap<&'static str, String>,
    turns: Vec<Turn>,
    log: Vec<String>,
}

fn files(root: &Path) -> Files {
    let read = |name: &&'static str| (*name, fs::read_to_string(root.join(name)).ok());
    FILES.iter().map(read).collect()
}

/// What commands do to ignored files is not kept.
fn covered(file: &'static str) -> &'static str {
    match file {
        "ignored.log" => "a.txt",
        file => file,
    }
}

/// Saves as editors do.
fn save(path: &Path, content: &str, how: usize) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    match how {
        0 => fs::write(path, content).unwrap(),
        1 => {
            let next = path.with_extension("new");
            fs::write(&next, content).unwrap();
            fs::rename(next, path).unwrap();
        }
        _ => {
            let mut open = fs::File::options()
                .create(true)
                .append(true)
                .open(path)
                .unwrap();
            open.set_len(0).unwrap();
            open.write_all(content.as_bytes()).unwrap();
        }
    }
}

impl Story {
    async fn tell(seed: u64, steps: usize) {
        let agent = Agent::start()
            .await
            .file(".gitignore", "*.log\n")
            .file("a.txt", "start\n");
        let app = &agent.app;
        let other = app.sessions.create(&app.project, None).await.unwrap();
        let sessions = [app.session.id.clone(), other.id];
        let mut story = Story {
            agent,
            sessions,
            dice: Dice::new(seed),
            mine: BTreeMap::new(),
            turns: Vec::new(),
            log: vec![format!("seed {seed}")],
        };
        for step in 0..steps {
            story = story.step(step).await;
            story.check();
        }
    }

    fn now(&self) -> Files {
        files(&self.agent.app.path(""))
    }

    async fn step(mut self, step: usize) -> Self {
        let (file, session) = (FILES[self.dice.roll(FILES.len())], self.dice.roll(2));
        match self.dice.roll(16) {
            0 | 1 => {
                let (content, how) = (format!("mine {step}\n"), self.dice.roll(3));
                save(&self.agent.app.path(file), &content, how);
                self.wrote(file, content);
            }
            2 => self.edit(session, file, step).await,
            3 | 4 => self.run(session, file, step).await,
            5 => self.run_while_the_person_saves(session, file, step).await,
            6 | 7 => self.revert(step).await,
            8 => self.agent.app.sessions.clean_up(0).await,
            9 => self = self.killed_while_it_runs(session, file, step).await,
            10 => self = self.killed_while_it_reverts(step).await,
            11 => self.restore(session).await,
            12 => {
                self.person_saves_while_the_model_thinks(session, file, step)
                    .await
            }
            13 => self.both_sessions_run(file, step).await,
            14 => self = self.on_a_full_disk(session, file, step).await,
            _ => {
                self.agent = self.agent.restart().await;
                self.log.push("a restart".into());
            }
        }
        self
    }

    fn wrote(&mut self, file: &'static str, content: String) {
        self.log.push(format!("I write {file}: {content:?}"));
        self.mine.insert(file, content);
        self.turns.iter_mut().for_each(|turn| {
            turn.others.insert(file);
        });
    }

    fn started(&mut self, session: usize, prompt: MessageId, before: Files, file: &'static str) {
        for turn in self.turns.iter_mut().filter(|one| one.session != session) {
            turn.others.insert(file);
        }
        self.turns.push(Turn {
            session,
            prompt,
            before,
            others: BTreeSet::new(),
        });
    }

    async fn prompt(&self, session: usize) -> MessageId {
        let input = PromptInput {
            text: "do it".into(),
            ..PromptInput::default()
        };
        let (sessions, id) = (&self.agent.app.sessions, &self.sessions[session]);
        match sessions.prompt(id, input.clone()).await {
            Err(Failed::NeedsConsent(_)) => {
                sessions.discard_reverted(id).await.unwrap();
                sessions.prompt(id, input).await.unwrap()
            }
            sent => sent.unwrap(),
        }
    }

    async fn edit(&mut self, session: usize, file: &'static str, step: usize) {
        let before = self.now();
        let content = format!("tool {step}\n");
        let model = &self.agent.model;
        model.reply([call("read", json!({ "filePath": file }))]);
        model.reply([call(
            "write",
            json!({ "filePath": file, "content": content }),
        )]);
        model.reply([text("Done.")]);
        let mut events = self.agent.app.sessions.subscribe();
        let prompt = self.prompt(session).await;
        until_idle(&mut events, &self.sessions[session]).await;
        self.log.push(format!("session {session} writes {file}"));
        self.started(session, prompt, before, file);
        if self.now()[file].as_ref() == Some(&content) {
            self.mine.remove(file);
        }
    }

    /// A command that changes this file in some way.
    fn change(&mut self, file: &str, step: usize) -> String {
        match self.dice.roll(5) {
            0 => format!("rm -f {file}"),
            1 => format!("mkdir -p d; echo agent {step} >> {file}"),
            2 => format!("mkdir -p d; echo agent {step} > t; mv t {file}"),
            3 => format!("mkdir -p d; touch {file}; sed -i '1i agent {step}' {file}"),
            _ => format!("mkdir -p d; echo agent {step} > {file}"),
        }
    }

    async fn run(&mut self, session: usize, file: &'static str, step: usize) {
        let file = covered(file);
        let before = self.now();
        let command = self.change(file, step);
        let model = &self.agent.model;
        model.reply([bash(&command)]);
        model.reply([text("Done.")]);
        let mut events = self.agent.app.sessions.subscribe();
        let prompt = self.prompt(session).await;
        until_idle(&mut events, &self.sessions[session]).await;
        self.log.push(format!("session {session} runs {command}"));
        self.started(session, prompt, before, file);
        self.mine.remove(file);
    }

    /// The call ends like that of a killed program, and the person may save before the next start.
    async fn killed_while_it_runs(
        mut self,
        session: usize,
        file: &'static str,
        step: usize,
    ) -> Self {
        self.run(session, file, step).await;
        self.agent.cut_short(&self.sessions[session]).await;
        self.log.push("killed before its end was seen".into());
        self.agent = self.agent.restart().await;
        self.save_by_chance(step);
        self.recover(session).await;
        self
    }

    /// A revert is dropped between two of its steps.
    async fn killed_while_it_reverts(mut self, step: usize) -> Self {
        let there = self.turns_still_there().await;
        if there.is_empty() {
            return self;
        }
        let turn = &self.turns[there[self.dice.roll(there.len())]];
        let reverting = turn.session;
        let target = RevertTarget::Message {
            message_id: turn.prompt.clone(),
            keep_files: false,
        };
        let (sessions, id) = (
            self.agent.app.sessions.clone(),
            self.sessions[reverting].clone(),
        );
        let polls = self.dice.roll(40);
        self.log
            .push(format!("session {reverting} is killed in {target:?}"));
        let at_first = self.now();
        let killed = tokio::task::spawn_blocking(move || {
            let runtime = tokio::runtime::Runtime::new().unwrap();
            runtime.block_on(at_most(polls, sessions.revert(&id, &target)));
            // What has begun to write ends, as a system call does.
            runtime.shutdown_timeout(std::time::Duration::from_secs(60));
        });
        killed.await.unwrap();
        self.agent = self.agent.restart().await;
        self.others_changed(reverting, &at_first);
        self.save_by_chance(step);
        self.recover(reverting).await;
        self
    }

    async fn recover(&mut self, session: usize) {
        let before = self.now();
        let sessions = &self.agent.app.sessions;
        sessions.recover(&self.sessions[session]).await;
        self.others_changed(session, &before);
    }

    /// Something that was removed comes back.
    async fn restore(&mut self, session: usize) {
        let (sessions, id) = (&self.agent.app.sessions, &self.sessions[session]);
        let list = sessions.reverted(id).await.unwrap();
        if list.is_empty() {
            return;
        }
        let item = &list[self.dice.roll(list.len())];
        let before = self.now();
        let options = RevertOptions::default();
        let done = sessions.restore_reverted(id, &item.id, &options).await;
        done.unwrap();
        self.log
            .push(format!("session {session} restores {item:?}"));
        let now = self.now();
        for turn in &mut self.turns {
            let changed = |file: &&'static str| now[*file] != before[*file];
            turn.others.extend(FILES.iter().copied().filter(changed));
        }
    }

    fn save_by_chance(&mut self, step: usize) {
        if self.dice.roll(2) == 0 {
            let file = FILES[self.dice.roll(FILES.len())];
            let (content, how) = (format!("mine after a kill {step}\n"), self.dice.roll(3));
            save(&self.agent.app.path(file), &content, how);
            self.wrote(file, content);
        }
    }

    /// The person's program writes to the file it has opened, wherever that is by now.
    fn append(&mut self, file: &'static str, open: &mut fs::File, step: usize) {
        let words = format!("through a handle {step}\n");
        open.write_all(words.as_bytes()).unwrap();
        let now = self.now()[file].clone().unwrap_or_default();
        if now.ends_with(&words) {
            self.wrote(file, now);
            return;
        }
        let trash = self.agent.app.data_dir().join("reverted");
        assert!(
            is_below(&trash, &words),
            "{words:?} is nowhere: {:#?}",
            self.log
        );
    }

    /// For the other session, a revert is a write like any other.
    fn others_changed(&mut self, session: usize, before: &Files) {
        let now = self.now();
        let changed = |file: &&'static str| now[*file] != before[*file];
        let changed: Vec<&'static str> = FILES.into_iter().filter(changed).collect();
        for turn in self.turns.iter_mut().filter(|one| one.session != session) {
            turn.others.extend(&changed);
        }
    }

    async fn turns_still_there(&self) -> Vec<usize> {
        let sessions = &self.agent.app.sessions;
        let mut there = Vec::new();
        for (at, turn) in self.turns.iter().enumerate() {
            let id = &self.sessions[turn.session];
            let page = sessions.messages(id, None, usize::MAX).await.unwrap();
            if page
                .messages
                .iter()
                .any(|one| *one.info.id() == turn.prompt)
            {
                there.push(at);
            }
        }
        there
    }

    async fn revert(&mut self, step: usize) {
        let there = self.turns_still_there().await;
        if there.is_empty() {
            return;
        }
        let sessions = &self.agent.app.sessions;
        let at_first = self.now();
        let turn = &self.turns[there[self.dice.roll(there.len())]];
        let (reverting, id) = (turn.session, &self.sessions[turn.session]);
        let target = RevertTarget::Message {
            message_id: turn.prompt.clone(),
            keep_files: false,
        };
        self.log.push(format!(
            "step {step}: session {} goes back to {target:?}",
            turn.session
        ));
        let session = sessions.get(id).await.unwrap();
        if session.revert.is_some() {
            let undone = sessions.unrevert(id).await;
            assert!(
                matches!(undone, Ok(_) | Err(Failed::Refused(_))),
                "{undone:?}"
            );
        }
        let handle = FILES[self.dice.roll(FILES.len())];
        let handle = open_to_append(&self.agent.app.path(handle)).map(|open| (handle, open));
        let before = self.now();
        let done = sessions.revert(id, &target).await.unwrap();
        let after = self.now();
        if done.complete {
            for (file, content) in &turn.before {
                let is_agents = !turn.others.contains(file);
                assert!(
                    !is_agents || after[file] == *content,
                    "{file} is {:?} and was {content:?}: {done:#?} {:#?}",
                    after[file],
                    self.log
                );
            }
        }
        if self.dice.roll(2) == 0 {
            let undone = sessions.unrevert(id).await;
            assert!(
                matches!(undone, Ok(_) | Err(Failed::Refused(_))),
                "{undone:?}"
            );
            assert_eq!(self.now(), before, "{:#?}", self.log);
        } else if let Some((file, mut open)) = handle {
            self.append(file, &mut open, step);
        }
        self.others_changed(reverting, &at_first);
    }

    fn check(&self) {
        let now = self.now();
        for (file, wanted) in &self.mine {
            assert_eq!(
                now[file].as_ref(),
                Some(wanted),
                "{file} after {:#?}",
                self.log
            );
        }
    }
}

fn open_to_append(path: &Path) -> Option<fs::File> {
    fs::File::options().append(true).open(path).ok()
}

fn bash(command: &str) -> Item {
    let input = json!({ "command": command, "description": "run" });
    call("bash", input)
}

/// Whether a file below the folder has these words.
fn is_below(folder: &Path, words: &str) -> bool {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries.map(|entry| entry.path()).any(|path| {
        let has = || fs::read_to_string(&path).is_ok_and(|text| text.contains(words));
        (path.is_dir() && is_below(&path, words)) || has()
    })
}

/// Drops the work before it is continued for the n-th time: for what is stored, that is a kill.
async fn at_most<T>(polls: usize, work: impl Future<Output = T>) {
    let mut work = std::pin::pin!(work);
    let mut left = polls;
    std::future::poll_fn(|context| match left.checked_sub(1) {
        None => Poll::Ready(()),
        Some(rest) => {
            left = rest;
            work.as_mut().poll(context).map(drop)
        }
    })
    .await;
}

#[tokio::test]
async fn no_story_loses_a_byte_of_the_person_or_claims_what_it_did_not_do() {
    let (stories, steps) = match std::env::var_os("LATHE_SOAK") {
        Some(_) => (5_000, 10),
        None => (100, 8),
    };
    // To repeat a story, or to go on with other ones.
    let first = std::env::var("LATHE_FIRST_STORY").ok();
    let first: u64 = first.and_then(|first| first.parse().ok()).unwrap_or(1);
    let number = std::env::var("LATHE_STORIES").ok();
    let stories = number
        .and_then(|number| number.parse().ok())
        .unwrap_or(stories);
    // Several in parallel: each mostly waits for the disk and for shells.
    let each = stream::iter(first..first + stories);
    each.for_each_concurrent(4, |seed| Story::tell(seed, steps))
        .await;
}
