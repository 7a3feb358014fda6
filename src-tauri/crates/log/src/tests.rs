use std::fs;

use super::*;

fn logged(work: impl FnOnce(&Log)) -> String {
    let folder = tempfile::tempdir().unwrap();
    let options = Options {
        folder: folder.path(),
        program: "test",
        on_screen: OnScreen::Quiet,
    };
    let (log, layers) = Log::prepare(&options);
    let subscriber = tracing_subscriber::registry().with(layers);
    tracing::subscriber::with_default(subscriber, || work(&log));
    fs::read_to_string(log.path()).unwrap()
}

#[test]
fn our_notes_and_the_warnings_of_others_are_logged() {
    let text = logged(|_| {
        tracing::info!(target: "lathe_session", "ours");
        tracing::debug!(target: "lathe_session", "details");
        tracing::info!(target: "hyper", "theirs");
        tracing::warn!(target: "hyper", "a warning");
    });
    let ends: Vec<_> = text
        .lines()
        .map(|line| line.rsplit(": ").next().unwrap())
        .collect();
    assert_eq!(ends, ["ours", "a warning"]);
}

#[test]
fn a_secret_is_removed_from_messages_fields_and_spans() {
    let text = logged(|log| {
        log.set_redactor(Arc::new(|line| line.replace("sk-1234", "[redacted]")));
        let span = tracing::info_span!(target: "lathe_session", "turn", key = "sk-1234");
        let _entered = span.enter();
        tracing::warn!(target: "lathe_session", answer = "no sk-1234", "refused sk-1234");
    });
    assert!(!text.contains("sk-1234"), "{text}");
    assert_eq!(text.matches("[redacted]").count(), 4, "{text}");
}

#[test]
fn a_span_that_ends_says_how_long_it_took() {
    let text = logged(|_| {
        tracing::info_span!(target: "lathe_session", "call", tool = "read").in_scope(|| {});
    });
    assert!(
        text.contains("call{tool=\"read\"}") && text.contains("time.busy"),
        "{text}"
    );
}

#[test]
fn a_filter_with_a_mistake_is_the_usual_one() {
    assert_eq!(
        filter("lathe=,,=loud").to_string(),
        filter(USUAL).to_string()
    );
}

fn breaks(why: &'static str) {
    std::panic::panic_any(why)
}

#[test]
fn a_panic_that_its_caller_holds_is_not_reported() {
    let (reported, faults) = std::sync::mpsc::channel();
    let reported = parking_lot::Mutex::new(reported);
    log_panics(move |fault| {
        let _ = reported.lock().send(fault.message.clone());
    });
    assert!(std::panic::catch_unwind(|| hold_panics(|| breaks("held"))).is_err());
    assert!(std::panic::catch_unwind(|| breaks("ours")).is_err());
    assert_eq!(faults.try_iter().collect::<Vec<_>>(), ["ours"]);
}
