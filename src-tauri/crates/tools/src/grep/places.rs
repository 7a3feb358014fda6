//! Where a pattern matches in the files of a project, for a client that shows the places.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use grep::matcher::Matcher;
use grep::searcher::{Searcher, Sink, SinkMatch};
use tokio_util::sync::CancellationToken;

use super::Finder;
use crate::context::MayRead;
use crate::files;
use crate::hard_links::LinkedSecrets;
use crate::paths;
use crate::search::{self, Newest};
use crate::tool::ToolFailure;

/// Longer lines are left out: they are generated, and no person reads them.
const MAX_LINE: usize = 64 * 1024;

/// A line with at least one match.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LinePlaces {
    pub path: PathBuf,
    /// Counted from 1.
    pub number: u64,
    /// Of the line's first byte in the file.
    pub offset: u64,
    /// With its line ending.
    pub line: String,
    /// Start and end of each match, in bytes of the line.
    pub matches: Vec<(usize, usize)>,
}

/// The matching lines of the files below a folder, those of the newest files first. A file that
/// may not be read is not searched. Blocks.
pub fn find_places(
    folder: &Path,
    root: &Path,
    pattern: &str,
    may_read: MayRead,
    limit: usize,
    cancel: &CancellationToken,
) -> Result<Vec<LinePlaces>, ToolFailure> {
    let finder = Arc::new(Finder::new(pattern, limit)?);
    let secrets = LinkedSecrets::new(root.to_owned(), may_read.clone());
    let newest = Newest::new(limit.max(1));
    search::for_each_file(folder, cancel, || {
        let mut searcher = finder.searcher();
        let (finder, newest, may_read, secrets) = (&finder, &newest, &may_read, &secrets);
        move |entry| {
            let path = entry.path();
            let Ok((file, meta)) = files::open_path(path) else {
                return;
            };
            if !may_read(&paths::shown(path, root)) || secrets.name_of(&meta).is_some() {
                return;
            }
            let modified = meta.modified().unwrap_or(SystemTime::UNIX_EPOCH);
            if !newest.wants(modified) {
                return;
            }
            let mut places = Places {
                finder,
                path,
                limit,
                found: Vec::new(),
            };
            let searched = searcher.search_file(&finder.matcher, &file, &mut places);
            if searched.is_ok() && !places.found.is_empty() {
                newest.offer(modified, path, places.found);
            }
        }
    });
    let found = newest.into_sorted().into_iter();
    Ok(found.flat_map(|(_, lines)| lines).take(limit).collect())
}

struct Places<'a> {
    finder: &'a Finder,
    path: &'a Path,
    limit: usize,
    found: Vec<LinePlaces>,
}

impl Sink for Places<'_> {
    type Error = std::io::Error;

    fn matched(&mut self, _: &Searcher, matched: &SinkMatch<'_>) -> Result<bool, Self::Error> {
        let mut offset = matched.absolute_byte_offset();
        let first = matched.line_number().unwrap_or(0);
        for (index, line) in matched.lines().enumerate() {
            let at = offset;
            offset += line.len() as u64;
            if self.found.len() == self.limit {
                return Ok(false);
            }
            let mut matches = Vec::new();
            let ended = self.finder.matcher.find_iter(line, |found| {
                matches.push((found.start(), found.end()));
                true
            });
            if ended.is_err() || line.len() > MAX_LINE {
                continue;
            }
            self.found.push(LinePlaces {
                path: self.path.to_owned(),
                number: first + index as u64,
                offset: at,
                line: String::from_utf8_lossy(line).into_owned(),
                matches,
            });
        }
        Ok(true)
    }
}
