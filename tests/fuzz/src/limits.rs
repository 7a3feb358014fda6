//! What a test takes: time, memory, and whether it comes to its end.

use std::fmt::Debug;
use std::fs;
use std::panic::Location;
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::time::{Duration, Instant};

/// An input that is read for so long is never read to its end.
const HANGS: Duration = Duration::from_secs(60);

/// Measures the processor time of this thread, or plain time on systems that do not count it.
pub struct Clock {
    processor: Option<Duration>,
    wall: Instant,
}

impl Clock {
    pub fn start() -> Self {
        Self {
            processor: processor_time(),
            wall: Instant::now(),
        }
    }

    pub fn elapsed(&self) -> Duration {
        match (self.processor, processor_time()) {
            (Some(before), Some(now)) => now.saturating_sub(before),
            _ => self.wall.elapsed(),
        }
    }
}

fn processor_time() -> Option<Duration> {
    let stat = fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    let nanoseconds = stat.split(' ').next()?.parse().ok()?;
    Some(Duration::from_nanos(nanoseconds))
}

/// The most memory that the program takes from now on. Zero on systems that do not say.
pub struct PeakMemory {
    before: u64,
}

impl PeakMemory {
    pub fn start() -> Self {
        // Makes the kernel forget the peak so far. Without it the growth is too small, never too big.
        let _ = fs::write("/proc/self/clear_refs", "5");
        Self { before: peak() }
    }

    pub fn growth(&self) -> u64 {
        peak().saturating_sub(self.before)
    }
}

fn peak() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kilobytes = line.and_then(|line| line.split_whitespace().next()?.parse::<u64>().ok());
    kilobytes.unwrap_or(0) * 1024
}

/// Ends the program when an input is never read to its end: no test can do that itself.
pub struct Watchdog {
    inputs: Sender<Option<String>>,
}

impl Watchdog {
    pub fn start(place: &'static Location<'static>) -> Self {
        let (inputs, begun) = mpsc::channel::<Option<String>>();
        std::thread::spawn(move || {
            let mut current: Option<String> = None;
            loop {
                match (begun.recv_timeout(HANGS), &current) {
                    (Ok(next), _) => current = next,
                    (Err(RecvTimeoutError::Timeout), None) => {}
                    (Err(RecvTimeoutError::Timeout), Some(input)) => {
                        eprintln!("{place}: never done with {input}");
                        std::process::abort();
                    }
                    (Err(RecvTimeoutError::Disconnected), _) => return,
                }
            }
        });
        Self { inputs }
    }

    pub fn begin(&self, input: &impl Debug) {
        // The other side lives as long as this one.
        let _ = self.inputs.send(Some(format!("{input:?}")));
    }

    pub fn end(&self) {
        let _ = self.inputs.send(None);
    }
}
