//! Signals that end the program. The first one stops the turn and waits for its end; the second
//! one exits at once.

use std::io;
use std::process::ExitCode;

use lathe_session::Sessions;
use tokio::sync::watch;

#[derive(Clone)]
pub struct Stop(watch::Receiver<Option<u8>>);

impl Stop {
    /// Listens in a task of its own, because the main thread may be blocked on its output.
    pub fn listen(sessions: &Sessions) -> io::Result<Self> {
        let mut signals = Signals::new()?;
        let (sender, stop) = watch::channel(None);
        let sessions = sessions.clone();
        tokio::spawn(async move {
            sender.send_replace(Some(signals.next().await));
            let code = tokio::select! {
                code = signals.next() => code,
                () = close_and_wait(&sessions) => return,
            };
            sessions.kill_commands();
            std::process::exit(code.into());
        });
        Ok(Stop(stop))
    }

    /// The exit code, once a signal has come.
    pub fn code(&self) -> Option<ExitCode> {
        self.0.borrow().map(ExitCode::from)
    }

    /// Waits for the first signal.
    pub async fn wait(&mut self) {
        if self.0.wait_for(Option::is_some).await.is_err() {
            // The listening task has ended: no signal will come.
            std::future::pending().await
        }
    }
}

/// Never returns: after closing, the main thread may still be printing the end of the turn.
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

    /// The next signal as the exit code that shells use: 128 plus its number.
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
