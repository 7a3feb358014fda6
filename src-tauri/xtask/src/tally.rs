//! Counting tests: what passed, what failed, and reading that out of what runners print.

use std::fmt;
use std::ops::AddAssign;

/// How many tests passed and failed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Tally {
    pub passed: u32,
    pub failed: u32,
}

impl Tally {
    /// A check that is one test by itself.
    pub fn check(passed: bool) -> Self {
        Self {
            passed: passed.into(),
            failed: (!passed).into(),
        }
    }

    /// A run of nothing is not a success.
    pub fn is_success(self) -> bool {
        self.failed == 0 && self.passed > 0
    }

    /// A runner that ended badly has at least one failure, also where it printed none.
    pub fn given_exit(self, success: bool) -> Self {
        let unseen = !success && self.failed == 0;
        Self {
            failed: self.failed + u32::from(unseen),
            ..self
        }
    }
}

impl AddAssign for Tally {
    fn add_assign(&mut self, other: Self) {
        self.passed += other.passed;
        self.failed += other.failed;
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} passed, {} failed", self.passed, self.failed)
    }
}

/// What a line of `cargo test` says.
#[derive(Debug, PartialEq, Eq)]
pub enum CargoLine<'a> {
    /// A test binary starts; the text names its source.
    Binary(&'a str),
    /// One test passed, or was left out.
    Quiet,
    /// A test binary ended.
    Result(Tally),
    /// Anything else: compiling, failures, what a failed test printed.
    Other,
}

impl<'a> CargoLine<'a> {
    pub fn read(line: &'a str) -> Self {
        // cargo's own words stand right-aligned; what a test prints does not.
        if let Some((name, _)) = line
            .strip_prefix("     Running ")
            .and_then(|r| r.split_once(" ("))
        {
            return Self::Binary(name);
        }
        if let Some(name) = line.strip_prefix("   Doc-tests ") {
            return Self::Binary(name);
        }
        if let Some(counts) = line.strip_prefix("test result: ") {
            return Self::Result(Tally {
                passed: count_before(counts, " passed"),
                failed: count_before(counts, " failed"),
            });
        }
        let ended_well = line.ends_with(" ... ok") || line.contains(" ... ignored");
        if line.starts_with("test ") && ended_well || line.starts_with("running ") {
            return Self::Quiet;
        }
        Self::Other
    }
}

/// The tally of vitest's JSON report. A file that does not even load has no tests to fail.
pub fn of_vitest_report(report: &str) -> Option<Tally> {
    let failed = count_after(report, "\"numFailedTests\":")?;
    let broken_files = count_after(report, "\"numFailedTestSuites\":")?;
    Some(Tally {
        passed: count_after(report, "\"numPassedTests\":")?,
        failed: if failed == 0 { broken_files } else { failed },
    })
}

fn count_before(text: &str, word: &str) -> u32 {
    let Some((before, _)) = text.split_once(word) else {
        return 0;
    };
    before
        .rsplit(' ')
        .next()
        .and_then(|number| number.parse().ok())
        .unwrap_or(0)
}

fn count_after(text: &str, key: &str) -> Option<u32> {
    let (_, rest) = text.split_once(key)?;
    let rest = rest.trim_start();
    let end = rest
        .find(|c: char| !c.is_ascii_digit())
        .unwrap_or(rest.len());
    rest[..end].parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lines_of_cargo_test_are_told_apart() {
        let lines = [
            (
                "     Running unittests src/lib.rs (target/debug/deps/a-1)",
                CargoLine::Binary("unittests src/lib.rs"),
            ),
            ("   Doc-tests lathe_store", CargoLine::Binary("lathe_store")),
            ("running 2 tests", CargoLine::Quiet),
            ("test a::b ... ok", CargoLine::Quiet),
            (
                "test a::slow ... ignored, only when asked",
                CargoLine::Quiet,
            ),
            ("test a::c ... FAILED", CargoLine::Other),
            ("   Compiling lathe-store v0.1.0", CargoLine::Other),
            ("Running late (as ever)", CargoLine::Other),
        ];
        for (line, expected) in lines {
            assert_eq!(CargoLine::read(line), expected, "{line}");
        }
    }

    #[test]
    fn results_are_counted() {
        let line =
            "test result: FAILED. 12 passed; 3 failed; 1 ignored; 0 measured; 2 filtered out";
        assert_eq!(
            CargoLine::read(line),
            CargoLine::Result(Tally {
                passed: 12,
                failed: 3
            })
        );
    }

    #[test]
    fn a_ui_file_that_does_not_load_counts_as_failed() {
        let report = r#"{"numTotalTestSuites":4,"numFailedTestSuites":1,"numFailedTests":0,"numPassedTests": 7}"#;
        assert_eq!(
            of_vitest_report(report),
            Some(Tally {
                passed: 7,
                failed: 1
            })
        );
        assert_eq!(of_vitest_report(""), None);
    }

    #[test]
    fn a_bad_exit_without_a_failure_counts_as_one() {
        let passed = Tally {
            passed: 3,
            failed: 0,
        };
        assert_eq!(
            passed.given_exit(false),
            Tally {
                passed: 3,
                failed: 1
            }
        );
        assert_eq!(passed.given_exit(true), passed);
        let failed = Tally {
            passed: 3,
            failed: 2,
        };
        assert_eq!(failed.given_exit(false), failed);
    }

    #[test]
    fn a_run_of_nothing_is_no_success() {
        assert!(!Tally::default().is_success());
        assert!(Tally::check(true).is_success());
    }
}
