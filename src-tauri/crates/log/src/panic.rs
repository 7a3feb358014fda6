//! Panics go to the log, with where they came from.

use std::backtrace::Backtrace;
use std::cell::Cell;
use std::panic::{self, PanicHookInfo};

/// A panic, for a window that shows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    pub message: String,
    /// The line of the source that panicked.
    pub place: String,
}

thread_local! {
    static HELD: Cell<bool> = const { Cell::new(false) };
}

/// Runs work of others whose panics the caller catches and answers for, as those of a library that
/// draws a diagram. They are logged as all are, but they are no fault of the program to be shown.
pub fn hold_panics<T>(work: impl FnOnce() -> T) -> T {
    struct Before(bool);
    impl Drop for Before {
        fn drop(&mut self) {
            HELD.set(self.0);
        }
    }
    let _before = Before(HELD.replace(true));
    work()
}

/// Logs every panic of this process from now on, and reports it to `notify` unless it is held.
pub fn log_panics(notify: impl Fn(&Fault) + Send + Sync + 'static) {
    let usual = panic::take_hook();
    panic::set_hook(Box::new(move |info| {
        let fault = fault(info);
        let thread = std::thread::current();
        let thread = thread.name().unwrap_or("unnamed").to_owned();
        let backtrace = Backtrace::force_capture();
        tracing::error!(
            target: "lathe::panic",
            place = fault.place,
            thread,
            "{}\n{backtrace}",
            fault.message
        );
        // A thread that ends has no such value any more.
        if !HELD.try_with(Cell::get).unwrap_or(false) {
            notify(&fault);
        }
        usual(info);
    }));
}

fn fault(info: &PanicHookInfo<'_>) -> Fault {
    let place = info.location().map(ToString::to_string);
    let payload = info.payload();
    let message = payload.downcast_ref::<&str>().copied();
    let message = message.or_else(|| payload.downcast_ref::<String>().map(String::as_str));
    Fault {
        message: message.unwrap_or("no message").to_owned(),
        place: place.unwrap_or_default(),
    }
}
