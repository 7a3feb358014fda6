//! The worktree of a session: making one, bringing its work back, removing it without loss.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use lathe_protocol::ipc::{
    BringBack, BringBackChoice, BringBackFile, BringBackPreview, ComparedWorktree, RemovedWorktree,
    RevertChange, RevertChoice, RevertSides, WorktreeView,
};
use lathe_protocol::{Project, Session, SessionId};
use lathe_records::{Failed, Result};
use lathe_review::ReviewError;
use lathe_review::judge::{self, Becomes, Edit, PlannedEdit};
use lathe_review::scope::{FoldReasonOf, Source};
use lathe_snapshot::{FileContent, SideRepo};
use lathe_workspace::git::Git;
use lathe_workspace::git::worktree::{self, Side};

use crate::Changes;
use crate::git::{contents_since, sentences};
use crate::shown::Opened;

const BOTH_CHANGED: &str = "both sides have changed it";

impl Changes {
    /// A new session in a worktree of its own, with the files of the newest commit.
    pub async fn create_in_worktree(
        &self,
        project: &Project,
        name: Option<&str>,
    ) -> Result<Session> {
        let root = PathBuf::from(&project.worktree);
        let git = self.sessions.git(&root).await?;
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
        self.sessions.share_git_trust(&root, &folder)?;
        let directory = folder.display().to_string();
        let moved = move |session: &mut Session| session.directory = directory;
        self.records.update_session(&session.id, moved).await
    }

    /// What the session's worktree has changed against its original.
    pub async fn worktree_files(
        &self,
        id: &SessionId,
        fold: FoldReasonOf,
    ) -> Result<ComparedWorktree> {
        let (git, view, session) = self.own_worktree(id).await?;
        let common = git.common_commit(Path::new(&view.original)).await?;
        let worktree = PathBuf::from(&view.folder);
        let (before, left_out) = contents_since(&git, Some(&common)).await?;
        let source = Source::Contents(before);
        let files = self.review.list(id, &worktree, source).await?;
        let opened = Opened {
            session,
            worktree,
            files,
            not_shown: sentences(&left_out),
        };
        let record = self.review.record(id).await?;
        Ok(ComparedWorktree {
            files: self.describe(&opened, None, record, fold).await?,
            not_shown: opened.not_shown,
        })
    }

    pub async fn preview_bring_back(
        &self,
        id: &SessionId,
        how: BringBack,
    ) -> Result<BringBackPreview> {
        let (git, view, _) = self.own_worktree(id).await?;
        let mut preview = BringBackPreview {
            commits: view.commits,
            problem: self.bring_back_problem(&view, how).await?,
            ..BringBackPreview::default()
        };
        let (planned, left_out) = self.plan_apply(&git, &view, BTreeMap::new()).await?;
        preview.files = planned.iter().filter_map(describe).collect();
        match how {
            BringBack::Apply => preview.files.extend(left_out),
            BringBack::Merge if preview.problem.is_none() => {
                let original = self.sessions.git(Path::new(&view.original)).await?;
                let commit = git.line(&["rev-parse", "HEAD"]).await?;
                if let Some(conflicts) = original.merge_conflicts(&commit).await? {
                    only_conflicts(&mut preview.files, &conflicts);
                }
            }
            BringBack::Merge => {}
        }
        Ok(preview)
    }

    /// Brings the work of the session's worktree to the original. A file in conflict in the answer
    /// was left as it is there.
    pub async fn bring_back(
        &self,
        id: &SessionId,
        how: BringBack,
        choices: BTreeMap<String, BringBackChoice>,
    ) -> Result<BringBackPreview> {
        let (git, view, _) = self.own_worktree(id).await?;
        let work = self.bring_back_idle(id, how, choices, &git, &view);
        let folders = [Path::new(&view.folder), Path::new(&view.original)];
        self.sessions.while_folders_idle(&folders, work).await
    }

    async fn bring_back_idle(
        &self,
        id: &SessionId,
        how: BringBack,
        choices: BTreeMap<String, BringBackChoice>,
        git: &Git,
        view: &WorktreeView,
    ) -> Result<BringBackPreview> {
        let mut before = self.preview_bring_back(id, how).await?;
        if let Some(problem) = &before.problem {
            return Err(Failed::refused(problem.clone()));
        }
        match how {
            BringBack::Merge => {
                let original = self.sessions.git(Path::new(&view.original)).await?;
                let commit = git.line(&["rev-parse", "HEAD"]).await?;
                let side = |choice| match choice {
                    BringBackChoice::Original => Side::Ours,
                    BringBackChoice::Worktree => Side::Theirs,
                };
                let sides = choices.iter();
                let sides = sides.map(|(path, choice)| (path.clone(), side(*choice)));
                original.merge(&commit, &sides.collect()).await?;
                let is_brought = |file: &BringBackFile| {
                    choices.get(&file.path) != Some(&BringBackChoice::Original)
                };
                before.files.retain(is_brought);
                before.files.iter_mut().for_each(settled);
                Ok(before)
            }
            BringBack::Apply => {
                let (planned, _) = self.plan_apply(git, view, choices).await?;
                if let Some(open) = planned.iter().find(|one| is_conflict(one)) {
                    // Nothing is brought before everything is decided.
                    return Err(Failed::refused(format!(
                        "{} conflicts, and isn’t decided yet. Refresh",
                        open.path
                    )));
                }
                let mut files: Vec<_> = planned.iter().filter_map(describe).collect();
                let original = Path::new(&view.original);
                let applied = self.write_original(id, original, planned).await?;
                for (path, why) in applied.left {
                    let path = path.to_string();
                    for file in files.iter_mut().filter(|file| file.path == path) {
                        file.change = RevertChange::Conflict;
                        file.reason = Some(why.clone());
                    }
                }
                self.remember_brought(id, &view.original, applied.written)
                    .await?;
                Ok(BringBackPreview { files, ..before })
            }
        }
    }

    /// Removes the session's worktree. Its branch stays, with everything that was not committed
    /// as a commit on it; the folder itself is put aside with what git ignores.
    pub async fn remove_worktree(&self, id: &SessionId) -> Result<RemovedWorktree> {
        let (git, view, session) = self.own_worktree(id).await?;
        let folder = PathBuf::from(&view.folder);
        let work = self.remove_idle(&git, &view, &session);
        self.sessions.while_folders_idle(&[&folder], work).await
    }

    async fn remove_idle(
        &self,
        git: &Git,
        view: &WorktreeView,
        session: &Session,
    ) -> Result<RemovedWorktree> {
        if let Some(why) = git.worktree_in_use().await? {
            return Err(Failed::refused(format!("This worktree stays. {why}")));
        }
        let branch = match &view.branch {
            Some(branch) => branch.clone(),
            None => {
                let branch = format!("lathe/saved-{}", session.slug.as_deref().unwrap_or("work"));
                git.run(&["switch", "--quiet", "-c", &branch]).await?;
                branch
            }
        };
        // Settings can be for one branch alone, so they are read again.
        let git = self.sessions.git(Path::new(&view.folder)).await?;
        let saved = git
            .save_all(&format!("Work in progress: {}", session.title))
            .await?;
        let known_as = git.git_dir().await?;
        let aside = self.data_dir.join("removed-worktrees");
        let folder = PathBuf::from(&view.folder);
        put_aside(&folder, &aside.join(session.id.as_str())).await?;
        if let Err(error) = worktree::unregister(&known_as, &folder) {
            // Only git's list still names it.
            tracing::warn!(%error, "a removed worktree is still known to git");
        }
        worktree::forget(&self.records, &session.project_id, &folder).await?;
        self.sessions.forget_git_trust(&folder)?;
        Ok(RemovedWorktree { branch, saved })
    }

    async fn bring_back_problem(
        &self,
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
        let original = self.sessions.git(Path::new(&view.original)).await?;
        let original = original.status().await?;
        let open = original.staged + original.unstaged + original.conflicts;
        Ok((open > 0 || original.operation.is_some()).then(|| {
            "The original has changes that are not committed. Commit them or put them aside first"
                .to_owned()
        }))
    }

    /// What the worktree's changes come to in the files of the original, and what is not brought.
    async fn plan_apply(
        &self,
        git: &Git,
        view: &WorktreeView,
        choices: BTreeMap<String, BringBackChoice>,
    ) -> Result<(Vec<PlannedEdit>, Vec<BringBackFile>)> {
        let common = git.common_commit(Path::new(&view.original)).await?;
        let (changed, left_out) = contents_since(git, Some(&common)).await?;
        let mut left_out: Vec<BringBackFile> = left_out
            .into_iter()
            .map(|(path, why)| not_brought(path, why))
            .collect();
        let folder = PathBuf::from(&view.folder);
        let read = move |repo: &SideRepo| {
            let (mut edits, mut unread) = (Vec::new(), Vec::new());
            for (path, base) in changed {
                match repo.read_image(&path) {
                    Ok(now) => edits.push(Edit::new(path, base, now.content)),
                    // Its files are listed by themselves.
                    Err(_) if repo.path_of(&path).is_dir() => {
                        edits.push(Edit::new(path, base, None))
                    }
                    Err(_) => unread.push(path.to_string()),
                }
            }
            Ok((edits, unread))
        };
        let snapshots = &self.review.snapshots;
        let (edits, unread) = snapshots.with_repo(&folder, read).await?;
        let unread = unread.into_iter();
        left_out.extend(unread.map(|path| not_brought(path, "it can’t be read")));
        let plan = move |repo: &SideRepo| {
            let each = edits.iter().map(|edit| {
                let choice = choices.get(&edit.path.to_string());
                let chosen = choice.map(|choice| match choice {
                    BringBackChoice::Original => RevertChoice::Mine,
                    BringBackChoice::Worktree => RevertChoice::Before,
                });
                let mut planned = judge::plan_edit(repo, edit, chosen)?;
                // What is no file stays, if the person wants it to.
                if is_conflict(&planned) && choice == Some(&BringBackChoice::Original) {
                    planned.becomes = Becomes::Same;
                }
                Ok::<PlannedEdit, ReviewError>(planned)
            });
            each.collect()
        };
        let planned = snapshots.with_repo(Path::new(&view.original), plan).await?;
        Ok((planned, left_out))
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

fn is_conflict(planned: &PlannedEdit) -> bool {
    matches!(planned.becomes, Becomes::Conflict(_))
}

/// It was in conflict, and the person has decided about it.
fn settled(file: &mut BringBackFile) {
    if file.change == RevertChange::Conflict {
        file.change = RevertChange::Restore;
        file.reason = None;
        file.sides = None;
    }
}

fn not_brought(path: String, why: &str) -> BringBackFile {
    BringBackFile {
        path,
        change: RevertChange::Unknown,
        additions: 0,
        deletions: 0,
        reason: Some(why.to_owned()),
        sides: None,
    }
}

/// Git knows better what conflicts: it follows files that were moved.
fn only_conflicts(files: &mut Vec<BringBackFile>, conflicts: &[String]) {
    for file in files.iter_mut() {
        let is_conflict = file.change == RevertChange::Conflict;
        match conflicts.contains(&file.path) {
            true if is_conflict => {}
            true => {
                file.change = RevertChange::Conflict;
                file.reason = Some(BOTH_CHANGED.to_owned());
            }
            false => {
                file.reason = None;
                file.sides = None;
                if is_conflict {
                    file.change = RevertChange::Restore;
                }
            }
        }
    }
    for path in conflicts {
        if !files.iter().any(|file| file.path == *path) {
            files.push(BringBackFile {
                change: RevertChange::Conflict,
                ..not_brought(path.clone(), BOTH_CHANGED)
            });
        }
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
