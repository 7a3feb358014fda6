//! Only kept lines change what git has staged.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;

use lathe_protocol::ipc::{CommitInput, LineRange, ReviewScope, ReviewSelection};
use lathe_test_support::git::git;
use lathe_test_support::scripted_agent::Agent;

use crate::git::in_repository;
use crate::reviewing::{ALL, Reviewing, no_fold, numbered};

async fn keep_file(agent: &Agent, path: &str) {
    let files = agent.files(&ALL).await;
    let file = files.into_iter().find(|file| file.path == path).unwrap();
    let whole = ReviewSelection::File {
        path: file.path,
        version: file.version,
    };
    agent.keep(&whole).await;
}

async fn stage_and_commit(agent: &Agent) {
    let (changes, id) = (&agent.changes(), &agent.app.session.id);
    changes.stage_kept(id, &ALL).await.unwrap();
    let input = CommitInput {
        message: "Kept".into(),
        amend: false,
    };
    changes.commit(id, &input).await.unwrap();
}

/// What is staged of a file, to the byte but for the last line break.
fn staged(agent: &Agent, path: &str) -> String {
    git(&agent.app.path(""), &["show", &format!(":{path}")]).unwrap()
}

#[tokio::test]
async fn a_new_file_that_was_committed_stays_when_the_agent_edits_it_again() {
    let agent = in_repository().await;
    agent.turn("seq 100 > new.txt").await;
    keep_file(&agent, "new.txt").await;
    stage_and_commit(&agent).await;
    agent.turn("seq 101 105 >> new.txt; echo b > b.txt").await;
    let (changes, id) = (&agent.changes(), &agent.app.session.id);
    let refused = changes.stage_kept(id, &ALL).await.unwrap_err();
    assert_eq!(refused.to_string(), "Keep some changes first");
    keep_file(&agent, "b.txt").await;
    changes.stage_kept(id, &ALL).await.unwrap();
    let root = agent.app.path("");
    let names = git(&root, &["diff", "--cached", "--name-status"]).unwrap();
    assert_eq!(names, "A\tb.txt");

    let files = agent.files(&ALL).await;
    let file = files.iter().find(|file| file.path == "new.txt").unwrap();
    let added = ReviewSelection::Lines {
        path: "new.txt".into(),
        version: file.version.clone(),
        old: vec![],
        new: vec![LineRange { from: 101, to: 105 }],
    };
    agent.keep(&added).await;
    changes.stage_kept(id, &ALL).await.unwrap();
    let all: Vec<String> = (1..=105).map(|line| line.to_string()).collect();
    assert_eq!(staged(&agent, "new.txt"), all.join("\n"));
}

#[tokio::test]
async fn kept_lines_that_were_committed_and_refined_are_staged_again() {
    let agent = in_repository().await;
    agent.turn("sed -i 's/line 5$/five/' a.txt").await;
    keep_file(&agent, "a.txt").await;
    stage_and_commit(&agent).await;
    agent
        .turn("sed -i 's/five$/FIVE/; s/line 25$/twenty-five/' a.txt")
        .await;
    let refined = agent.line("a.txt", 5).await;
    agent.keep(&refined).await;
    let (changes, id) = (&agent.changes(), &agent.app.session.id);
    changes.stage_kept(id, &ALL).await.unwrap();
    let wanted = numbered(1..=30).replace("line 5\n", "FIVE\n");
    assert_eq!(staged(&agent, "a.txt"), wanted.trim_end());
}

#[tokio::test]
async fn what_a_person_staged_of_the_same_lines_is_not_replaced() {
    let agent = in_repository().await;
    agent.turn("sed -i 's/line 5$/five/' a.txt").await;
    keep_file(&agent, "a.txt").await;
    let mine = numbered(1..=30).replace("line 5\n", "mine\n");
    agent.app.write("a.txt", &mine);
    git(&agent.app.path(""), &["add", "a.txt"]).unwrap();
    let (changes, id) = (&agent.changes(), &agent.app.session.id);
    assert!(changes.stage_kept(id, &ALL).await.is_err());
    assert_eq!(staged(&agent, "a.txt"), mine.trim_end());
}

#[tokio::test]
async fn a_name_that_is_not_text_is_staged_as_it_is() {
    let agent = in_repository().await;
    agent.turn("printf 'n\\n' > \"$(printf 'a\\377')\"").await;
    let shown = agent.files(&ALL).await[0].path.clone();
    keep_file(&agent, &shown).await;
    let (changes, id) = (&agent.changes(), &agent.app.session.id);
    let status = changes.stage_kept(id, &ALL).await.unwrap();
    assert_eq!((status.staged, status.untracked), (1, 0));
    assert!(
        agent
            .app
            .path("")
            .join(OsStr::from_bytes(b"a\xff"))
            .exists()
    );
}

#[tokio::test]
async fn a_filter_changes_what_is_staged_and_one_that_is_off_refuses_it() {
    let agent = in_repository().await;
    let root = agent.app.path("");
    git(&root, &["config", "filter.loud.clean", "tr a-z A-Z"]).unwrap();
    git(&root, &["config", "filter.loud.smudge", "tr A-Z a-z"]).unwrap();
    fs::write(root.join(".gitattributes"), "*.secret filter=loud\n").unwrap();
    git(&root, &["add", "."]).unwrap();
    git(&root, &["commit", "-qm", "Attributes"]).unwrap();
    agent.turn("echo hidden > a.secret").await;
    keep_file(&agent, "a.secret").await;
    let (changes, id) = (&agent.changes(), &agent.app.session.id);
    let refused = changes.stage_kept(id, &ALL).await.unwrap_err().to_string();
    assert!(refused.contains("the git filter loud"), "{refused}");
    agent.app.trust().await;
    stage_and_commit(&agent).await;
    assert_eq!(staged(&agent, "a.secret"), "HIDDEN");

    // What was committed is shown, and goes back to the disk, as the person sees it.
    agent.app.write("a.secret", "hidden\nmore\n");
    let open = agent.listed(&ReviewScope::Uncommitted).await;
    assert_eq!(open, ["Modified a.secret +1 -0 None"]);
}

#[tokio::test]
async fn a_huge_file_is_named_but_not_read_to_list_what_is_uncommitted() {
    let agent = in_repository().await;
    let huge = fs::File::create(agent.app.path("disk.img")).unwrap();
    huge.set_len(1 << 36).unwrap();
    agent.app.write("b.txt", "b\n");
    git(&agent.app.path(""), &["init", "-q", "inner"]).unwrap();
    let open = agent.listed(&ReviewScope::Uncommitted).await;
    assert_eq!(open, ["Added b.txt +1 -0 None"]);
    let (changes, id) = (&agent.changes(), &agent.app.session.id);
    let listed = changes.review_files(id, &ReviewScope::Uncommitted, no_fold);
    assert_eq!(
        listed.await.unwrap().not_shown,
        [
            "disk.img is not shown: it is larger than 16 MB",
            "inner/ is not shown: it is a repository of its own"
        ]
    );
}

/// A merge whose conflict in line 5 is settled on the disk, but not in the index.
async fn in_the_middle_of_a_merge() -> Agent {
    let agent = in_repository().await;
    let root = agent.app.path("");
    let commit = |text: String| {
        agent.app.write("a.txt", &text);
        git(&root, &["commit", "-qam", "Change"]).unwrap();
    };
    git(&root, &["branch", "mine"]).unwrap();
    git(&root, &["switch", "-q", "-c", "theirs"]).unwrap();
    commit(
        numbered(1..=30)
            .replace("line 5\n", "theirs\n")
            .replace("line 20\n", "twenty\n"),
    );
    git(&root, &["switch", "-q", "mine"]).unwrap();
    commit(numbered(1..=30).replace("line 5\n", "mine\n"));
    agent
        .turn(
            "git merge theirs; sed -i '/^<<<<<<</d; /^=======/,/^>>>>>>>/d' a.txt; echo n > n.txt",
        )
        .await;
    assert_eq!(
        agent.app.read("a.txt"),
        numbered(1..=30)
            .replace("line 5\n", "mine\n")
            .replace("line 20\n", "twenty\n")
    );
    agent
}

/// The files in conflict, and the commit that is merged.
fn merging(agent: &Agent) -> (String, String) {
    let root = agent.app.path("");
    let conflicts = git(&root, &["ls-files", "--unmerged"]).unwrap();
    (conflicts, git(&root, &["rev-parse", "MERGE_HEAD"]).unwrap())
}

#[tokio::test]
async fn a_file_in_conflict_is_not_staged_from_its_kept_lines() {
    let agent = in_the_middle_of_a_merge().await;
    keep_file(&agent, "n.txt").await;
    let before = merging(&agent);
    let (changes, id) = (&agent.changes(), &agent.app.session.id);
    changes.stage_kept(id, &ALL).await.unwrap();
    assert_eq!(staged(&agent, "n.txt"), "n");

    keep_file(&agent, "a.txt").await;
    let refused = changes.stage_kept(id, &ALL).await.unwrap_err();
    assert_eq!(
        refused.to_string(),
        "a.txt is in conflict. Settle it with git add first"
    );
    assert_eq!(merging(&agent), before);

    git(&agent.app.path(""), &["add", "a.txt"]).unwrap();
    stage_and_commit(&agent).await;
    let root = agent.app.path("");
    let parents = git(&root, &["rev-list", "--parents", "-1", "HEAD"]).unwrap();
    assert_eq!(parents.split(' ').count(), 3, "{parents}");
    let committed = git(&root, &["show", "HEAD:a.txt"]).unwrap();
    assert_eq!(committed, agent.app.read("a.txt").trim_end());
}

#[tokio::test]
async fn what_would_break_off_a_merge_is_refused() {
    let agent = in_the_middle_of_a_merge().await;
    let (changes, id) = (&agent.changes(), &agent.app.session.id);
    let root = agent.app.path("");
    git(&root, &["add", "a.txt"]).unwrap();
    let before = (merging(&agent), agent.app.read("a.txt"));
    let refused = [
        changes.unstage_all(id).await,
        changes.stash(id, "").await,
        changes.unstash(id).await,
    ];
    for refused in refused {
        assert_eq!(
            refused.unwrap_err().to_string(),
            "A merge is half done in git, and this would break it off. End it first"
        );
    }
    assert_eq!((merging(&agent), agent.app.read("a.txt")), before);
    assert_eq!(staged(&agent, "a.txt"), agent.app.read("a.txt").trim_end());
    git(&root, &["commit", "-qm", "Merge"]).unwrap();
    assert_eq!(changes.unstage_all(id).await.unwrap().staged, 0);
}
