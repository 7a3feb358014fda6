//! Panics go to the log, with where they came from.

use std::backtrace::Backtrace;
use std::panic::{self, PanicHookInfo};

/// A panic, for a window that shows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    pub message: String,
    /// The line of the source that panicked.
    pub place: String,
}

/// Logs every panic of this process from now on, and reports it to `notify`.
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
        notify(&fault);
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
