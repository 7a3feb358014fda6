//! Signals that ask the program to end. The first one stops the turn, and its end is waited
//! for; the second one ends everything at once.

use std::io;
use std::process::ExitCode;

use lathe_session::Sessions;
use tokio::sync::watch;

#[derive(Clone)]
pub struct Stop(watch::Receiver<Option<u8>>);

impl Stop {
    /// Listens from now on, beside everything else: whoever prints may be waiting for a reader.
    pub fn listen(sessions: &Sessions) -> io::Result<Self> {
        let mut signals = Signals::new()?;
        let (told, stop) = watch::channel(None);
        let sessions = sessions.clone();
        tokio::spawn(async move {
            told.send_replace(Some(signals.next().await));
            let code = tokio::select! {
                code = signals.next() => code,
                () = close_and_wait(&sessions) => return,
            };
            sessions.kill_commands();
            std::process::exit(code.into());
        });
        Ok(Stop(stop))
    }

    /// What the program ends with, once it was asked to.
    pub fn code(&self) -> Option<ExitCode> {
        self.0.borrow().map(ExitCode::from)
    }

    /// Returns when the program is asked to end.
    pub async fn asked(&mut self) {
        if self.0.wait_for(Option::is_some).await.is_err() {
            // Nobody listens any more.
            std::future::pending().await
        }
    }
}

/// The turn is over then, but its end may not have been printed.
async fn close_and_wait(sessions: &Sessions) {
    sessions.close().await;
    std::future::pending().await
}

#[cfg(unix)]
struct Signals {
    interrupt: tokio::signal::unix::Signal,
    terminate: tokio::signal::unix::Signal,
    hang_up: tokio::signal::unix::Signal,
    quit: tokio::signal::unix::Signal,
}

#[cfg(unix)]
impl Signals {
    fn new() -> io::Result<Self> {
        use tokio::signal::unix::{SignalKind, signal};
        Ok(Signals {
            interrupt: signal(SignalKind::interrupt())?,
            terminate: signal(SignalKind::terminate())?,
            hang_up: signal(SignalKind::hangup())?,
            quit: signal(SignalKind::quit())?,
        })
    }

    /// The next one, as the exit code that shells know it by: 128 and its number.
    async fn next(&mut self) -> u8 {
        tokio::select! {
            _ = self.interrupt.recv() => 130,
            _ = self.terminate.recv() => 143,
            _ = self.hang_up.recv() => 129,
            _ = self.quit.recv() => 131,
        }
    }
}

#[cfg(windows)]
struct Signals(tokio::signal::windows::CtrlC);

#[cfg(windows)]
impl Signals {
    fn new() -> io::Result<Self> {
        Ok(Signals(tokio::signal::windows::ctrl_c()?))
    }

    async fn next(&mut self) -> u8 {
        self.0.recv().await;
        130
    }
}
