//! Random inputs for what reads the data of others: some every day, for minutes in a soak run.
//!
//! A soak run also fails for an input that takes over a second, and when the memory grows too much.
//! An input that failed is stored beside the test and tried first from then on. This crate knows
//! nothing of ours.

#![allow(
    clippy::panic,
    clippy::print_stderr,
    reason = "a test that fails panics, and a long one reports what it did"
)]

mod limits;

use std::fmt::Debug;
use std::panic::Location;
use std::time::{Duration, Instant};

use proptest::strategy::Strategy;
use proptest::test_runner::{Config, FileFailurePersistence, TestCaseError, TestRunner};

use limits::{Clock, PeakMemory, Watchdog};

/// The processor time that one input may take. Other programs of the machine do not count.
const LONGEST: Duration = Duration::from_secs(1);
/// The memory that all inputs may take on top of what the program has before.
const MOST_MEMORY: u64 = 256 << 20;
/// The inputs between two looks at the clock.
const BATCH: u32 = 64;

/// Gives a test random inputs: this many every day, and in a soak run as many as there is time for.
/// The test panics if it finds a fault.
#[track_caller]
pub fn fuzz<S: Strategy>(everyday: u32, inputs: S, test: impl Fn(S::Value))
where
    S::Value: Debug,
{
    let place = Location::caller();
    let Some(time) = soak_time() else {
        run(place, everyday, &inputs, |input| {
            test(input);
            Ok(())
        });
        return;
    };
    let (start, memory, watchdog) = (Instant::now(), PeakMemory::start(), Watchdog::start(place));
    let mut count = 0_u64;
    let mut longest = Duration::ZERO;
    while start.elapsed() < time {
        let slowest = std::cell::Cell::new(Duration::ZERO);
        run(place, BATCH, &inputs, |input| {
            watchdog.begin(&input);
            let clock = Clock::start();
            test(input);
            let took = clock.elapsed();
            watchdog.end();
            slowest.set(slowest.get().max(took));
            match took > LONGEST {
                true => Err(TestCaseError::fail(format!("took {took:?}"))),
                false => Ok(()),
            }
        });
        count += u64::from(BATCH);
        longest = longest.max(slowest.get());
        let grown = memory.growth();
        assert!(grown <= MOST_MEMORY, "{place}: {grown} bytes of memory");
    }
    let megabytes = memory.growth() >> 20;
    let seconds = start.elapsed().as_secs();
    eprintln!(
        "{place}: {count} inputs in {seconds} s, the slowest {longest:?}, {megabytes} MB more"
    );
}

fn run<S: Strategy>(
    place: &'static Location<'static>,
    cases: u32,
    inputs: &S,
    test: impl Fn(S::Value) -> Result<(), TestCaseError>,
) where
    S::Value: Debug,
{
    let mut runner = TestRunner::new(Config {
        cases,
        source_file: Some(place.file()),
        failure_persistence: Some(Box::new(FileFailurePersistence::WithSource("seeds"))),
        ..Config::default()
    });
    if let Err(failure) = runner.run(inputs, test) {
        panic!("{place}: {failure}");
    }
}

/// How long a test looks for faults: `LATHE_FUZZ_SECONDS`, or ten minutes with `LATHE_SOAK`.
fn soak_time() -> Option<Duration> {
    let seconds = std::env::var("LATHE_FUZZ_SECONDS").ok();
    match seconds.and_then(|seconds| seconds.parse().ok()) {
        Some(seconds) => Some(Duration::from_secs(seconds)),
        None => std::env::var_os("LATHE_SOAK").map(|_| Duration::from_secs(600)),
    }
}
