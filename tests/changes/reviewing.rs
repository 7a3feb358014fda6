//! The review of a scripted agent's session, for the tests of this folder.

use lathe_changes::Changes;
use lathe_protocol::ipc::{
    LineRange, RevertLinesOptions, ReviewDone, ReviewFile, ReviewScope, ReviewSelection,
};
use lathe_protocol::view::FoldReason;
use lathe_test_support::scripted_agent::Agent;

pub const ALL: ReviewScope = ReviewScope::Session;

pub fn no_fold(_: &str, _: Option<&str>, _: Option<&str>, _: usize) -> Option<FoldReason> {
    None
}

pub fn numbered(lines: std::ops::RangeInclusive<usize>) -> String {
    lines.map(|line| format!("line {line}\n")).collect()
}

/// What a person does in the review of an agent's session.
pub(crate) trait Reviewing {
    fn changes(&self) -> Changes;

    async fn files(&self, scope: &ReviewScope) -> Vec<ReviewFile>;

    /// `status path +added -deleted kept`, for each file.
    async fn listed(&self, scope: &ReviewScope) -> Vec<String>;

    /// A selection of one line that was replaced.
    async fn line(&self, path: &str, line: usize) -> ReviewSelection;

    async fn revert(&self, selection: &ReviewSelection) -> ReviewDone;

    async fn revert_with(
        &self,
        selection: &ReviewSelection,
        options: &RevertLinesOptions,
    ) -> ReviewDone;

    async fn undo(&self) -> ReviewDone;

    async fn redo(&self) -> ReviewDone;

    async fn keep(&self, selection: &ReviewSelection) -> ReviewDone;
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

    async fn revert(&self, selection: &ReviewSelection) -> ReviewDone {
        self.revert_with(selection, &RevertLinesOptions::default())
            .await
    }

    async fn revert_with(
        &self,
        selection: &ReviewSelection,
        options: &RevertLinesOptions,
    ) -> ReviewDone {
        let (changes, id) = (&self.changes(), &self.app.session.id);
        changes
            .revert_lines(id, &ALL, selection, options)
            .await
            .unwrap()
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
        let (changes, id) = (&self.changes(), &self.app.session.id);
        changes.keep_lines(id, &ALL, selection).await.unwrap()
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
