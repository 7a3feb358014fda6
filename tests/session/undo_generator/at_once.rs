//! Steps of a story in which several work at the same time, or the disk has no room.

use lathe_test_support::app::until_idle;
use lathe_test_support::fake_model::{Gate, hold, text};
use lathe_test_support::meeting::Meeting;

use super::{FILES, Story, bash, covered, save};

impl Story {
    /// What the person saves: often the file that the agent changes.
    fn file_of_the_person(&mut self, agents: &'static str) -> &'static str {
        match self.dice.roll(2) {
            0 => agents,
            _ => FILES[self.dice.roll(FILES.len())],
        }
    }

    pub(super) async fn run_while_the_person_saves(
        &mut self,
        session: usize,
        file: &'static str,
        step: usize,
    ) {
        let file = covered(file);
        let before = self.now();
        let saved = self.file_of_the_person(file);
        let (content, how) = (format!("mine {step}\n"), self.dice.roll(3));
        let meeting = Meeting::start();
        let write = self.change(file, step);
        let first = self.dice.roll(2) == 0;
        let command = match first {
            true => meeting.command(&write, "true"),
            false => meeting.command("true", &write),
        };
        let model = &self.agent.model;
        model.reply([bash(&command)]);
        model.reply([text("Done.")]);
        let mut events = self.agent.app.sessions.subscribe();
        let prompt = self.prompt(session).await;
        let (path, text) = (self.agent.app.path(saved), content.clone());
        meeting.meet(move || save(&path, &text, how)).await;
        until_idle(&mut events, &self.sessions[session]).await;
        self.log.push(format!(
            "session {session} runs {write}, first: {first}, meanwhile ({how})"
        ));
        self.mine.remove(file);
        self.started(session, prompt, before, file);
        self.wrote(saved, content);
        if saved == file && !first {
            self.mine.remove(file);
        }
    }

    /// Between a prompt and the call that the model answers with.
    pub(super) async fn person_saves_while_the_model_thinks(
        &mut self,
        session: usize,
        file: &'static str,
        step: usize,
    ) {
        let file = covered(file);
        let before = self.now();
        let saved = self.file_of_the_person(file);
        let (content, how) = (format!("mine {step}\n"), self.dice.roll(3));
        let command = self.change(file, step);
        let (model, gate) = (&self.agent.model, Gate::closed());
        let asked = model.reply([text("Let me think."), hold(&gate), bash(&command)]);
        model.reply([text("Done.")]);
        let mut events = self.agent.app.sessions.subscribe();
        let prompt = self.prompt(session).await;
        asked.asked().await;
        save(&self.agent.app.path(saved), &content, how);
        gate.open();
        until_idle(&mut events, &self.sessions[session]).await;
        self.log
            .push(format!("session {session} thinks, then runs {command}"));
        self.started(session, prompt, before, file);
        self.wrote(saved, content);
        self.mine.remove(file);
    }

    /// Each session's command begins before the other's ends.
    pub(super) async fn both_sessions_run(&mut self, file: &'static str, step: usize) {
        let other = FILES[self.dice.roll(FILES.len())];
        let files = [covered(file), covered(other)];
        let before = self.now();
        let mut prompts = Vec::new();
        let mut meetings = Vec::new();
        let mut events = [0, 1].map(|_| self.agent.app.sessions.subscribe());
        for (session, file) in files.into_iter().enumerate() {
            let (meeting, write) = (Meeting::start(), self.change(file, step));
            let command = match self.dice.roll(2) {
                0 => meeting.command(&write, "true"),
                _ => meeting.command("true", &write),
            };
            self.log.push(format!("session {session} begins {write}"));
            self.agent.model.reply([bash(&command)]);
            prompts.push(self.prompt(session).await);
            meeting.runs().await;
            meetings.push(meeting);
        }
        for (session, meeting) in meetings.iter().enumerate() {
            self.agent.model.reply([text("Done.")]);
            meeting.go().await;
            until_idle(&mut events[session], &self.sessions[session]).await;
        }
        for (session, prompt) in prompts.into_iter().enumerate() {
            self.started(session, prompt, before.clone(), files[session]);
            self.mine.remove(files[session]);
        }
        // The turn of the second session was not there yet when the first one's was noted.
        if let Some(second) = self.turns.last_mut() {
            second.others.insert(files[0]);
        }
    }

    /// No snapshot can be taken any more: what a command does then is not known, and a revert
    /// saves only what it moves.
    pub(super) async fn on_a_full_disk(
        mut self,
        session: usize,
        file: &'static str,
        step: usize,
    ) -> Self {
        self.agent = self
            .agent
            .restart_with(|options| options.keep_free = Some(u64::MAX))
            .await;
        self.log.push("the disk is full".into());
        match self.dice.roll(4) {
            0 => self.edit(session, file, step).await,
            1 => self.run_while_the_person_saves(session, file, step).await,
            2 => {
                self.run(session, file, step).await;
                self.revert(step).await;
            }
            _ => self.revert(step).await,
        }
        self.agent = self.agent.restart().await;
        self.log.push("the disk has room again".into());
        self
    }
}
