//! The review of a scripted agent's session, for the tests of this folder.

use lathe_changes::Changes;
use lathe_protocol::MessageId;
use lathe_protocol::ipc::{
    LineRange, RevertChoice, RevertFile, RevertLinesOptions, ReviewDone, ReviewFile, ReviewScope,
    ReviewSelection,
};
use lathe_protocol::view::{DiffLineKind, FoldReason};
use lathe_test_support::scripted_agent::Agent;

pub const ALL: ReviewScope = ReviewScope::Session;

pub fn no_fold(_: &str, _: Option<&str>, _: Option<&str>, _: usize) -> Option<FoldReason> {
    None
}

pub fn numbered(lines: std::ops::RangeInclusive<usize>) -> String {
    lines.map(|line| format!("line {line}\n")).collect()
}

pub fn turn(message_id: &MessageId) -> ReviewScope {
    ReviewScope::Turn {
        message_id: message_id.clone(),
    }
}

pub fn choosing(path: &str, choice: RevertChoice) -> RevertLinesOptions {
    RevertLinesOptions {
        choices: [(path.to_owned(), choice)].into(),
        keep_kept: false,
    }
}

/// `path change: reason`, for each file.
pub fn told(done: &[RevertFile]) -> Vec<String> {
    let one = |file: &RevertFile| match &file.reason {
        Some(why) => format!("{} {:?}: {why}", file.path, file.change),
        None => format!("{} {:?}", file.path, file.change),
    };
    done.iter().map(one).collect()
}

/// What a person does in the review of an agent's session.
pub(crate) trait Reviewing {
    fn changes(&self) -> Changes;

    async fn files(&self, scope: &ReviewScope) -> Vec<ReviewFile>;

    /// `status path +added -deleted kept`, for each file.
    async fn listed(&self, scope: &ReviewScope) -> Vec<String>;

    /// A selection of one line that was replaced.
    async fn line(&self, path: &str, line: usize) -> ReviewSelection;

    /// A selection of a whole file as it is in a scope.
    async fn whole(&self, scope: &ReviewScope, path: &str) -> ReviewSelection;

    /// The kept lines of a file, by their numbers in the text after.
    async fn kept(&self, scope: &ReviewScope, path: &str) -> Vec<usize>;

    async fn revert(&self, selection: &ReviewSelection) -> ReviewDone;

    async fn revert_in(
        &self,
        scope: &ReviewScope,
        selection: &ReviewSelection,
        options: &RevertLinesOptions,
    ) -> ReviewDone;

    async fn revert_with(
        &self,
        selection: &ReviewSelection,
        options: &RevertLinesOptions,
    ) -> ReviewDone;

    async fn undo(&self) -> ReviewDone;

    async fn redo(&self) -> ReviewDone;

    async fn keep(&self, selection: &ReviewSelection) -> ReviewDone;

    async fn keep_in(&self, scope: &ReviewScope, selection: &ReviewSelection) -> ReviewDone;
}

impl Reviewing for Agent {
    fn changes(&self) -> Changes {
        Changes::new(self.app.sessions.clone())
    }

    async fn files(&self, scope: &ReviewScope) -> Vec<ReviewFile> {
        let id = &self.app.session.id;
        let listed = self.changes().review_files(id, scope, no_fold).await;
        listed.unwrap().files
    }

    async fn listed(&self, scope: &ReviewScope) -> Vec<String> {
        let files = self.files(scope).await.into_iter();
        files
            .map(|file| {
                let edited = if file.edited { " edited" } else { "" };
                format!(
                    "{:?} {} +{} -{} {:?}{edited}",
                    file.status, file.path, file.additions, file.deletions, file.kept
                )
            })
            .collect()
    }

    async fn line(&self, path: &str, line: usize) -> ReviewSelection {
        let files = self.files(&ALL).await;
        let file = files.into_iter().find(|file| file.path == path).unwrap();
        replaced(path, &file.version, &[line])
    }

    async fn whole(&self, scope: &ReviewScope, path: &str) -> ReviewSelection {
        let files = self.files(scope).await;
        let file = files.into_iter().find(|file| file.path == path).unwrap();
        ReviewSelection::File {
            path: file.path,
            version: file.version,
        }
    }

    async fn kept(&self, scope: &ReviewScope, path: &str) -> Vec<usize> {
        let (changes, id) = (&self.changes(), &self.app.session.id);
        let shape = changes.review_file(id, scope, path, false).await;
        let mut kept = Vec::new();
        for hunk in shape.iter().flat_map(|shape| &shape.hunks) {
            let mut line = hunk.new_start;
            for run in &hunk.runs {
                if run.kind == DiffLineKind::Add && run.kept {
                    kept.extend(line..line + run.lines);
                }
                if run.kind != DiffLineKind::Del {
                    line += run.lines;
                }
            }
        }
        kept
    }

    async fn revert(&self, selection: &ReviewSelection) -> ReviewDone {
        self.revert_with(selection, &RevertLinesOptions::default())
            .await
    }

    async fn revert_with(
        &self,
        selection: &ReviewSelection,
        options: &RevertLinesOptions,
    ) -> ReviewDone {
        self.revert_in(&ALL, selection, options).await
    }

    async fn revert_in(
        &self,
        scope: &ReviewScope,
        selection: &ReviewSelection,
        options: &RevertLinesOptions,
    ) -> ReviewDone {
        let (changes, id) = (&self.changes(), &self.app.session.id);
        let done = changes.revert_lines(id, scope, selection, options).await;
        done.unwrap()
    }

    async fn undo(&self) -> ReviewDone {
        let (changes, id) = (&self.changes(), &self.app.session.id);
        changes
            .undo_review(id, &RevertLinesOptions::default())
            .await
            .unwrap()
    }

    async fn redo(&self) -> ReviewDone {
        let (changes, id) = (&self.changes(), &self.app.session.id);
        changes
            .redo_review(id, &RevertLinesOptions::default())
            .await
            .unwrap()
    }

    async fn keep(&self, selection: &ReviewSelection) -> ReviewDone {
        self.keep_in(&ALL, selection).await
    }

    async fn keep_in(&self, scope: &ReviewScope, selection: &ReviewSelection) -> ReviewDone {
        let (changes, id) = (&self.changes(), &self.app.session.id);
        changes.keep_lines(id, scope, selection).await.unwrap()
    }
}

pub fn replaced(path: &str, version: &str, lines: &[usize]) -> ReviewSelection {
    let ranges: Vec<LineRange> = lines
        .iter()
        .map(|line| LineRange {
            from: *line,
            to: *line,
        })
        .collect();
    ReviewSelection::Lines {
        path: path.into(),
        version: version.into(),
        old: ranges.clone(),
        new: ranges,
    }
}
