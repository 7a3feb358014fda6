//! What a panic of a turn says in the log.

use std::io;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use lathe_provider::WireKind;
use lathe_test_support::app::{TestApp, until_idle};
use lathe_test_support::fake_model::{FakeModel, text};

const FAULT: &str = "a fault for the log";

/// The lines of this thread's log.
#[derive(Clone, Default)]
struct Lines(Arc<Mutex<Vec<u8>>>);

impl io::Write for Lines {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[tokio::test]
async fn a_panic_of_a_turn_is_in_the_log_with_its_session() {
    let lines = Lines::default();
    let log = lines.clone();
    let subscriber = tracing_subscriber::fmt().with_writer(move || log.clone());
    let _logging = tracing::subscriber::set_default(subscriber.finish());
    let model = FakeModel::start().await;
    let asked = model.reply([text("Let me look.")]);
    let polls = Arc::new(AtomicUsize::new(0));
    let app = TestApp::with_model(&model, WireKind::OpenaiChat).await;
    let app = app.restart_with(move |options| {
        options.before_poll = Some(Arc::new(move |_| {
            // Once the model has been asked, the turn runs.
            if asked.was_asked() && polls.fetch_add(1, Ordering::SeqCst) == 0 {
                panic!("{FAULT}");
            }
        }));
    });
    let app = app.await;
    let mut events = app.sessions.subscribe();
    app.send("go").await;
    until_idle(&mut events, &app.session.id).await;

    let log = String::from_utf8(lines.0.lock().unwrap().clone()).unwrap();
    let errors: Vec<_> = log.lines().filter(|line| line.contains("ERROR")).collect();
    let id = app.session.id.as_str();
    let is_said = |line: &&str| line.contains(FAULT) && line.contains(id);
    assert!(errors.iter().any(is_said), "{errors:?}");
}
