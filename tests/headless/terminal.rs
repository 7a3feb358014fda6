//! `lathectl run` on a real terminal: prompts, interrupts and output.

use std::fs::File;
use std::io::{Read, Write};
use std::process::{Child, ExitStatus};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use lathe_test_support::fake_model::{FakeModel, call, text as say};
use rustix::process::{Pid, Signal, kill_process};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use serde_json::json;

use crate::lathectl::Home;

/// A program on a pseudo terminal.
pub struct Terminal {
    child: Child,
    keyboard: File,
    screen: Arc<Mutex<String>>,
}

impl Terminal {
    pub fn start(home: &Home, args: &[&str]) -> Self {
        let ours = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
        grantpt(&ours).unwrap();
        unlockpt(&ours).unwrap();
        let name = ptsname(&ours, Vec::new()).unwrap();
        let theirs = File::options()
            .read(true)
            .write(true)
            .open(name.to_str().unwrap())
            .unwrap();
        let end = || theirs.try_clone().unwrap();
        let mut command = home.command(args);
        command.stdin(end()).stdout(end()).stderr(end());
        let child = command.spawn().unwrap();
        let keyboard = File::from(ours);
        let screen = Arc::<Mutex<String>>::default();
        let (mut eyes, seen) = (keyboard.try_clone().unwrap(), screen.clone());
        std::thread::spawn(move || {
            let mut bytes = [0; 4096];
            // The other end is closed: reading is an error then.
            while let Ok(count @ 1..) = eyes.read(&mut bytes) {
                let text = String::from_utf8_lossy(&bytes[..count]).into_owned();
                seen.lock().unwrap().push_str(&text);
            }
        });
        Terminal {
            child,
            keyboard,
            screen,
        }
    }

    pub async fn until(&self, words: &str) {
        self.until_times(words, 1).await;
    }

    pub async fn until_times(&self, words: &str, times: usize) {
        for _ in 0..3000 {
            if self.screen.lock().unwrap().matches(words).count() >= times {
                return;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        panic!("{words:?} was never shown: {}", self.screen.lock().unwrap());
    }

    pub fn type_in(&mut self, words: &str) {
        self.keyboard.write_all(words.as_bytes()).unwrap();
    }

    /// What Ctrl+C does.
    fn interrupt(&self) {
        let process = Pid::from_child(&self.child);
        kill_process(process, Signal::INT).unwrap();
    }

    pub async fn end(mut self) -> (ExitStatus, String) {
        let ended = tokio::task::spawn_blocking(move || {
            let status = self.child.wait().unwrap();
            let seen = self.screen.lock().unwrap().clone();
            (status, seen)
        });
        ended.await.unwrap()
    }
}

fn writes(model: &FakeModel) {
    let input = json!({ "filePath": "b.txt", "content": "two\n" });
    model.reply([call("write", input)]);
}

#[tokio::test]
async fn an_edit_that_is_allowed_at_the_terminal_is_done() {
    let model = FakeModel::start().await;
    writes(&model);
    model.reply([say("Written.")]);
    let home = Home::new(&model);
    let mut terminal = Terminal::start(&home, &["run", "write b"]);
    terminal.until("Allow edit? [y]es").await;
    terminal.type_in("y\n");
    terminal.until("Written.").await;
    let (status, _) = terminal.end().await;
    assert!(status.success());
    let written = std::fs::read_to_string(home.project().join("b.txt")).unwrap();
    assert_eq!(written, "two\n");
}

#[tokio::test]
async fn a_question_is_answered_by_number_at_the_terminal() {
    let model = FakeModel::start().await;
    let options = json!([
        { "label": "Red", "description": "" },
        { "label": "Blue", "description": "" },
    ]);
    let one = json!({ "question": "Which one?", "header": "Colour", "options": options });
    model.reply([call("question", json!({ "questions": [one] }))]);
    let answered = model.reply([say("Blue it is.")]);
    let home = Home::new(&model);
    let mut terminal = Terminal::start(&home, &["run", "ask me"]);
    terminal.until("2. Blue").await;
    terminal.type_in("2\n");
    terminal.until("Blue it is.").await;
    assert!(terminal.end().await.0.success());
    assert!(answered.request().tool_output("question").contains("Blue"));
}

#[tokio::test]
async fn an_interrupt_at_a_question_stops_the_turn() {
    let model = FakeModel::start().await;
    writes(&model);
    let home = Home::new(&model);
    let terminal = Terminal::start(&home, &["run", "write b"]);
    terminal.until("Allow edit?").await;
    terminal.interrupt();
    let (status, _) = terminal.end().await;
    assert_eq!(status.code(), Some(130));
    assert!(!home.project().join("b.txt").exists());
    assert_eq!(model.requests().len(), 1);
}

#[tokio::test]
async fn a_command_covered_by_always_is_not_asked_about_again() {
    let model = FakeModel::start().await;
    let read = |file: &str| call("read", json!({ "filePath": file }));
    model.reply([read("a.env"), read("b.env")]);
    model.reply([say("Read.")]);
    let home = Home::new(&model);
    for file in ["a.env", "b.env"] {
        std::fs::write(home.project().join(file), "A=1\n").unwrap();
    }
    let mut terminal = Terminal::start(&home, &["run", "look"]);
    terminal.until("[N]o: ").await;
    terminal.type_in("a\n");
    terminal.until("Read.").await;
    let (status, screen) = terminal.end().await;
    assert!(status.success(), "{screen}");
    assert_eq!(screen.matches("Allow ").count(), 1, "{screen}");
}

#[tokio::test]
async fn control_characters_are_shown_on_a_terminal_and_unchanged_in_a_pipe() {
    let said = "Don't \u{1b}]52;c;aGk=\u{7}panic\u{202e}";
    let seen = "Don't ␛]52;c;aGk=␇panic\\u{202e}";
    let model = FakeModel::start().await;
    model.reply([say(said)]);
    model.reply([say(said)]);
    let home = Home::new(&model);
    let terminal = Terminal::start(&home, &["run", "hello"]);
    terminal.until(seen).await;
    assert!(terminal.end().await.0.success());
    let [id] = home.sessions().await.try_into().unwrap();
    let terminal = Terminal::start(&home, &["show", &id]);
    terminal.until(seen).await;
    let (_, screen) = terminal.end().await;
    assert!(!screen.contains("\u{1b}]52"), "{screen:?}");
    let piped = home.run(&["run", "hello"]).await;
    assert_eq!(
        String::from_utf8(piped.stdout).unwrap(),
        format!("{said}\n")
    );
}

#[tokio::test]
async fn tool_calls_are_printed_below_the_text_before_them() {
    let model = FakeModel::start().await;
    model.reply([
        say("Let me look."),
        call("read", json!({ "filePath": "a.txt" })),
    ]);
    model.reply([say("It says one.")]);
    let home = Home::new(&model);
    let terminal = Terminal::start(&home, &["run", "what does it say?"]);
    terminal.until("It says one.").await;
    let (_, screen) = terminal.end().await;
    let (said, rest) = screen.split_once("… read").unwrap();
    assert!(said.ends_with("Let me look.\r\n"), "{screen:?}");
    assert!(rest.contains("It says one."), "{screen:?}");
}
