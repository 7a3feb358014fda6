//! What was spent on each day: one file a day, one line an answer.
//!
//! Lines are appended, so that several processes can write to one file. A line that is cut or
//! damaged counts as nothing.

use std::fs::OpenOptions;
use std::io::Write;
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use jiff::tz::TimeZone;
use lathe_protocol::Millis;
use rust_decimal::Decimal;

/// A day has far fewer answers; a larger file is not one of ours.
const LARGEST: u64 = 16 * 1024 * 1024;

pub struct Ledger {
    folder: PathBuf,
}

impl Ledger {
    pub fn new(data_dir: &Path) -> Self {
        Ledger {
            folder: data_dir.join("spending"),
        }
    }

    /// A cost that cannot be noted must not stop the turn that has already spent it.
    pub fn add(&self, cost: Decimal, now: Millis) {
        if let Err(error) = self.append(cost, now) {
            tracing::warn!(%error, "the cost of an answer was not noted");
        }
    }

    fn append(&self, cost: Decimal, now: Millis) -> std::io::Result<()> {
        lathe_files::create_private_folder(&self.folder)?;
        let mut options = OpenOptions::new();
        options.append(true).create(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let mut file = options.open(self.file(now))?;
        file.write_all(format!("{cost}\n").as_bytes())
    }

    pub fn spent(&self, now: Millis) -> Decimal {
        let text = lathe_files::read(&self.file(now), LARGEST).unwrap_or_default();
        let lines = String::from_utf8_lossy(&text);
        let costs = lines.lines().filter_map(|line| line.parse().ok());
        costs.fold(Decimal::ZERO, Decimal::saturating_add)
    }

    fn file(&self, now: Millis) -> PathBuf {
        self.folder.join(day(now))
    }
}

/// The person's own day, as `2026-11-18`.
pub fn day(now: Millis) -> String {
    let time = Timestamp::from_millisecond(now.0).unwrap_or(Timestamp::UNIX_EPOCH);
    time.to_zoned(TimeZone::system()).date().to_string()
}
