//! The worktree of a session: making one, bringing its work back, removing it without loss.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use lathe_protocol::ipc::{
    BringBack, BringBackFile, BringBackPreview, RemovedWorktree, RevertChange, RevertChoice,
    RevertSides, ReviewFile, WorktreeView,
};
use lathe_protocol::{Project, Session, SessionId};
use lathe_records::{Failed, Result};
use lathe_review::judge::{self, Becomes, Edit, PlannedEdit};
use lathe_review::scope::{FoldReasonOf, Source};
use lathe_snapshot::{FileContent, SideRepo};
use lathe_workspace::git::{Git, worktree};

use crate::Changes;
use crate::git::contents_since;
use crate::shown::Opened;

impl Changes {
    /// A new session in a worktree of its own, with the files of the newest commit.
    pub async fn create_in_worktree(
        &self,
        project: &Project,
        name: Option<&str>,
    ) -> Result<Session> {
        let root = PathBuf::from(&project.worktree);
        let git = self.sessions.git(&project.id, &root).await?;
        let session = self.sessions.create(project, None).await?;
        let slug = session
            .slug
            .clone()
            .unwrap_or_else(|| session.id.to_string());
        let name = match name.map(file_name) {
            Some(name) if !name.is_empty() => name,
            _ => slug,
        };
        let folder = match worktree::create(&git, &name, worktree::Start::Files).await {
            Ok(folder) => folder,
            Err(error) => {
                self.sessions.remove(&session.id).await?;
                return Err(error);
            }
        };
        worktree::register(&self.records, &project.id, &folder).await?;
        let directory = folder.display().to_string();
        let moved = move |session: &mut Session| session.directory = directory;
        self.records.update_session(&session.id, moved).await
    }

    /// What the session's worktree has changed against its original.
    pub async fn worktree_files(
        &self,
        id: &SessionId,
        fold: FoldReasonOf,
    ) -> Result<Vec<ReviewFile>> {
        let (git, view, session) = self.own_worktree(id).await?;
        let common = git.common_commit(Path::new(&view.original)).await?;
        let worktree = PathBuf::from(&view.folder);
        let source = Source::Contents(contents_since(&git, Some(&common)).await?);
        let files = self.review.list(id, &worktree, source).await?;
        let opened = Opened {
            session,
            worktree,
            files,
        };
        let record = self.review.record(id).await?;
        self.describe(&opened, None, record, fold).await
    }

    pub async fn preview_bring_back(
        &self,
        id: &SessionId,
        how: BringBack,
    ) -> Result<BringBackPreview> {
        let (git, view, session) = self.own_worktree(id).await?;
        let mut preview = BringBackPreview {
            commits: view.commits,
            problem: self.bring_back_problem(&git, &view, how).await?,
            ..BringBackPreview::default()
        };
        let planned = self.plan_apply(&git, &view, BTreeMap::new()).await?;
        preview.files = planned.iter().filter_map(describe).collect();
        if how == BringBack::Merge && preview.problem.is_none() {
            let original = self
                .sessions
                .git(&session.project_id, Path::new(&view.original))
                .await?;
            let commit = git.line(&["rev-parse", "HEAD"]).await?;
            let conflicts = original.merge_conflicts(&commit).await?;
            for file in &mut preview.files {
                if !conflicts.contains(&file.path) {
                    file.reason = None;
                    file.sides = None;
                    if file.change == RevertChange::Conflict {
                        file.change = RevertChange::Restore;
                    }
                }
            }
        }
        Ok(preview)
    }

    /// Brings the work of the session's worktree to the original.
    pub async fn bring_back(
        &self,
        id: &SessionId,
        how: BringBack,
        choices: BTreeMap<String, RevertChoice>,
    ) -> Result<BringBackPreview> {
        self.ensure_idle(id)?;
        let (git, view, session) = self.own_worktree(id).await?;
        if let Some(problem) = self.bring_back_problem(&git, &view, how).await? {
            return Err(Failed::refused(problem));
        }
        let before = self.preview_bring_back(id, how).await?;
        match how {
            BringBack::Merge => {
                let original = self
                    .sessions
                    .git(&session.project_id, Path::new(&view.original))
                    .await?;
                let commit = git.line(&["rev-parse", "HEAD"]).await?;
                let sides: Vec<(String, bool)> = choices
                    .into_iter()
                    .map(|(path, choice)| (path, choice == RevertChoice::Before))
                    .collect();
                original.merge(&commit, &sides).await?;
                Ok(before)
            }
            BringBack::Apply => {
                let planned = self.plan_apply(&git, &view, choices).await?;
                let files = planned.iter().filter_map(describe).collect();
                let trash = self.data_dir.join("reverted").join(id.as_str());
                let label = id.to_string();
                let apply = move |repo: &SideRepo| judge::apply(repo, &label, planned, &trash);
                let snapshots = &self.review.snapshots;
                snapshots
                    .with_repo(Path::new(&view.original), apply)
                    .await?;
                Ok(BringBackPreview { files, ..before })
            }
        }
    }

    /// Removes the session's worktree. Its branch stays, with everything that was not committed
    /// as a commit on it; the folder itself is put aside with what git ignores.
    pub async fn remove_worktree(&self, id: &SessionId) -> Result<RemovedWorktree> {
        self.ensure_idle(id)?;
        let (git, view, session) = self.own_worktree(id).await?;
        let branch = match &view.branch {
            Some(branch) => branch.clone(),
            None => {
                let branch = format!("lathe/saved-{}", session.slug.as_deref().unwrap_or("work"));
                git.run(&["switch", "--quiet", "-c", &branch]).await?;
                branch
            }
        };
        let saved = git
            .save_all(&format!("Work in progress: {}", session.title))
            .await?;
        let aside = self.data_dir.join("removed-worktrees").join(id.as_str());
        let folder = PathBuf::from(&view.folder);
        put_aside(&folder, &aside).await?;
        let original = self
            .sessions
            .git(&session.project_id, Path::new(&view.original))
            .await?;
        original.run(&["worktree", "prune"]).await?;
        worktree::forget(&self.records, &session.project_id, &folder).await?;
        Ok(RemovedWorktree { branch, saved })
    }

    async fn bring_back_problem(
        &self,
        git: &Git,
        view: &WorktreeView,
        how: BringBack,
    ) -> Result<Option<String>> {
        if how == BringBack::Apply {
            return Ok(None);
        }
        if view.uncommitted > 0 {
            return Ok(Some(format!(
                "{} files of the worktree are not committed. Commit them first, or bring all \
                 changes back without commits",
                view.uncommitted
            )));
        }
        let original = git.at(Path::new(&view.original)).status().await?;
        let open = original.staged + original.unstaged + original.conflicts;
        Ok((open > 0 || original.operation.is_some()).then(|| {
            "The original has changes that are not committed. Commit them or put them aside first"
                .to_owned()
        }))
    }

    /// What the worktree's changes come to in the files of the original.
    async fn plan_apply(
        &self,
        git: &Git,
        view: &WorktreeView,
        choices: BTreeMap<String, RevertChoice>,
    ) -> Result<Vec<PlannedEdit>> {
        let common = git.common_commit(Path::new(&view.original)).await?;
        let changed = contents_since(git, Some(&common)).await?;
        let folder = PathBuf::from(&view.folder);
        let read = move |repo: &SideRepo| {
            let each = changed.into_iter().map(|(path, base)| {
                let now = repo.read_image(&path);
                Edit::new(path, base, now.ok().and_then(|image| image.content))
            });
            Ok(each.collect::<Vec<Edit>>())
        };
        let snapshots = &self.review.snapshots;
        let edits = snapshots.with_repo(&folder, read).await?;
        let plan = move |repo: &SideRepo| {
            let each = edits.iter().map(|edit| {
                let choice = choices.get(&edit.path.to_string()).copied();
                judge::plan_edit(repo, edit, choice)
            });
            each.collect()
        };
        Ok(snapshots.with_repo(Path::new(&view.original), plan).await?)
    }

    async fn own_worktree(&self, id: &SessionId) -> Result<(Git, WorktreeView, Session)> {
        let session = self.sessions.get(id).await?;
        let git = self.git_in(id).await?;
        let view = git.worktree().await?;
        let view = view.ok_or_else(|| {
            Failed::refused("This session does not work in a worktree of its own")
        })?;
        Ok((git, view, session))
    }
}

fn describe(planned: &PlannedEdit) -> Option<BringBackFile> {
    let (additions, deletions) = planned.counts();
    let conflict = match &planned.becomes {
        Becomes::Same => return None,
        Becomes::Content(_) => None,
        Becomes::Conflict(why) => Some(*why),
    };
    let text = |content: Option<&FileContent>| {
        let content = content.filter(|content| content.bytes.len() <= 64 << 10)?;
        String::from_utf8(content.bytes.clone()).ok()
    };
    Some(BringBackFile {
        path: planned.path.to_string(),
        change: planned.change(),
        additions,
        deletions,
        reason: conflict.map(str::to_owned),
        sides: conflict.map(|_| RevertSides {
            before: text(planned.wanted.as_ref()),
            now: text(planned.now.as_ref()),
        }),
    })
}

/// A name that is safe as a folder and as a branch.
fn file_name(name: &str) -> String {
    let safe = |c: char| match c.is_ascii_alphanumeric() {
        true => c.to_ascii_lowercase(),
        false => '-',
    };
    let name: String = name.trim().chars().map(safe).take(60).collect();
    name.trim_matches('-').to_owned()
}

/// Moves a folder, so that nothing in it is lost.
async fn put_aside(folder: &Path, aside: &Path) -> Result<()> {
    let failed = |error: std::io::Error| {
        Failed::refused(format!(
            "Couldn’t move {}, so it stays: {error}",
            folder.display()
        ))
    };
    if let Some(parent) = aside.parent() {
        tokio::fs::create_dir_all(parent).await.map_err(failed)?;
    }
    if tokio::fs::rename(folder, aside).await.is_ok() {
        return Ok(());
    }
    // Another disk, or one of that name is there: beside the folder there is always room.
    let mut name = folder.as_os_str().to_owned();
    name.push(".removed");
    tokio::fs::rename(folder, Path::new(&name))
        .await
        .map_err(failed)
}
