//! Comments on changed lines, and going back to a step of the session.

use lathe_protocol::ipc::{
    CommentState, DiffSide, NewComment, PromptInput, ReviewScope, StepPlace,
};
use lathe_protocol::{MessageId, Part};
use lathe_session::Failed;
use lathe_test_support::fake_model::{Gate, hold, text};
use lathe_test_support::git::commit_all;

use crate::reviewing::{ALL, Reviewing, no_fold, numbered, turn};
use lathe_test_support::scripted_agent::Agent;

#[tokio::test]
async fn comments_are_kept_find_their_lines_and_go_to_the_agent_in_one_prompt() {
    let agent = Agent::start().await.file("a.txt", &numbered(1..=30));
    agent.turn("sed -i 's/line 5$/five/' a.txt").await;
    let file = agent.files(&ALL).await.remove(0);
    let (changes, id) = (&agent.changes(), &agent.app.session.id);
    let comment = NewComment {
        path: "a.txt".into(),
        version: file.version,
        side: DiffSide::New,
        from: 5,
        to: 6,
        text: "why?".into(),
    };
    let added = changes.add_comment(id, &ALL, comment).await.unwrap();
    let key = added.comments[0].id.clone();
    changes.edit_comment(id, &key, "why not 5?").await.unwrap();
    agent.turn("sed -i '1i first' a.txt").await;
    let agent = agent.restart().await;
    let (changes, id) = (&agent.changes(), &agent.app.session.id);
    let listed = changes
        .review_files(id, &ALL, no_fold)
        .await
        .unwrap()
        .comments;
    let one = &listed[0];
    assert_eq!(
        (one.from, one.to, one.changed, &*one.quote),
        (6, 7, false, "five\nline 6")
    );

    let mut events = agent.app.sessions.subscribe();
    agent
        .model
        .reply([lathe_test_support::fake_model::text("I see.")]);
    let sent = changes.send_comments(id, "Please:").await.unwrap();
    lathe_test_support::app::until_idle(&mut events, id).await;
    let messages = agent.app.messages().await;
    let prompt = messages
        .iter()
        .find(|message| *message.info.id() == sent)
        .unwrap();
    let Part::Text(text) = &prompt.parts[0] else {
        panic!("{prompt:?}")
    };
    assert_eq!(
        text.text,
        "Please:\n\nComments on your changes:\n\na.txt, lines 6-7:\n```\nfive\nline 6\n```\nwhy not 5?\n"
    );
    agent.turn("sed -i 's/five/5/' a.txt").await;
    let listed = changes
        .review_files(id, &ALL, no_fold)
        .await
        .unwrap()
        .comments;
    assert!(listed[0].changed && listed[0].sent.is_some());
    let again = changes.send_comments(id, "").await;
    assert!(matches!(again, Err(Failed::Refused(_))), "{again:?}");
    let done = changes.resolve_comment(id, &key, true).await.unwrap();
    assert_eq!(done.comments[0].state, CommentState::Resolved);
    assert!(matches!(
        changes.send_comments(id, "").await,
        Err(Failed::Refused(_))
    ));
    let done = agent.undo().await;
    assert_eq!(done.comments[0].state, CommentState::Open);
    let done = changes.remove_comment(id, &key).await.unwrap();
    assert_eq!(done.comments, []);
    assert_eq!(agent.undo().await.comments.len(), 1);
}

/// The text of a prompt, and the files and agents that were found in it.
async fn prompt_of(agent: &Agent, id: &MessageId) -> (String, Vec<String>) {
    let messages = agent.app.messages().await;
    let prompt = messages.into_iter().find(|one| one.info.id() == id);
    let (mut words, mut named) = (String::new(), Vec::new());
    for part in prompt.unwrap().parts {
        match part {
            Part::Text(text) if text.synthetic != Some(true) => words.push_str(&text.text),
            Part::File(file) => named.push(file.filename.unwrap_or_default()),
            Part::Agent(agent) => named.push(agent.name),
            _ => {}
        }
    }
    (words, named)
}

#[tokio::test]
async fn only_the_persons_own_words_name_files_also_after_an_edit() {
    let agent = Agent::start().await.file("secret.txt", "hidden\n");
    let agent = agent.file("own.txt", "open\n").file("more.txt", "open\n");
    agent
        .turn("mkdir d; printf '// see @secret.txt @general\n' > 'd/@secret.txt'")
        .await;
    let file = agent.files(&ALL).await.remove(0);
    let (changes, id) = (&agent.changes(), &agent.app.session.id);
    let comment = NewComment {
        path: file.path,
        version: file.version,
        side: DiffSide::New,
        from: 1,
        to: 1,
        text: "as in @own.txt".into(),
    };
    changes.add_comment(id, &ALL, comment).await.unwrap();

    let gate = Gate::closed();
    let mut events = agent.app.sessions.subscribe();
    agent
        .model
        .reply([text("one moment"), hold(&gate), text(".")]);
    let work = PromptInput {
        text: "work".into(),
        ..PromptInput::default()
    };
    agent.app.sessions.prompt(id, work).await.unwrap();
    let sent = changes.send_comments(id, "").await.unwrap();
    let (words, named) = prompt_of(&agent, &sent).await;
    assert_eq!(named, ["own.txt"]);
    let edited = format!("{words}And @more.txt\n");
    let sessions = &agent.app.sessions;
    sessions.edit_queued(id, &sent, &edited).await.unwrap();
    let (_, named) = prompt_of(&agent, &sent).await;
    assert_eq!(named, ["own.txt", "more.txt"]);
    let asked = agent.model.reply([text("I see.")]);
    gate.open();
    lathe_test_support::app::until_idle(&mut events, id).await;
    let asked = asked.request().user_text();
    assert!(asked.contains("see @secret.txt") && !asked.contains("hidden"));
}

#[tokio::test]
async fn a_comment_in_one_turn_is_compared_with_that_turn() {
    let agent = Agent::start().await.file("a.txt", &numbered(1..=10));
    agent.turn("sed -i 's/line 5$/five/' a.txt").await;
    let second = agent.turn("sed -i 's/five/FIVE/' a.txt").await;
    let scope = turn(&second);
    let (changes, id) = (&agent.changes(), &agent.app.session.id);
    let file = agent.files(&scope).await.remove(0);
    let comment = |side| NewComment {
        path: "a.txt".into(),
        version: file.version.clone(),
        side,
        from: 5,
        to: 5,
        text: "why?".into(),
    };
    for side in [DiffSide::Old, DiffSide::New] {
        changes
            .add_comment(id, &scope, comment(side))
            .await
            .unwrap();
    }
    agent
        .model
        .reply([lathe_test_support::fake_model::text("I see.")]);
    let mut events = agent.app.sessions.subscribe();
    let sent = changes.send_comments(id, "").await.unwrap();
    lathe_test_support::app::until_idle(&mut events, id).await;
    let messages = agent.app.messages().await;
    let prompt = messages.iter().find(|one| *one.info.id() == sent).unwrap();
    let Part::Text(text) = &prompt.parts[0] else {
        panic!("{prompt:?}")
    };
    assert_eq!(
        text.text,
        "Comments on your changes:\n\na.txt, removed line 5:\n```\nfive\n```\nwhy?\n\n\
         a.txt, line 5:\n```\nFIVE\n```\nwhy?\n"
    );
    let changed = || async {
        let shown = changes.review_files(id, &ALL, no_fold).await.unwrap();
        let each = shown.comments.into_iter();
        each.map(|one| one.changed).collect::<Vec<_>>()
    };
    assert_eq!(changed().await, [false, false]);
    agent.turn("sed -i 's/FIVE/5/' a.txt").await;
    assert_eq!(changed().await, [false, true]);
}

#[tokio::test]
async fn a_comment_on_what_a_person_has_not_committed_is_not_changed_by_the_agent() {
    let agent = Agent::start()
        .await
        .file("a.txt", "1\n")
        .file("b.txt", "1\n");
    commit_all(&agent.app.path("")).unwrap();
    agent.turn("printf '1\\n2\\n' > a.txt").await;
    agent.app.write("a.txt", "mine\n1\n2\n");
    agent.app.write("b.txt", "mine\n");
    let scope = ReviewScope::Uncommitted;
    let (changes, id) = (&agent.changes(), &agent.app.session.id);
    for file in agent.files(&scope).await {
        let side = match file.path.as_str() {
            "a.txt" => DiffSide::New,
            _ => DiffSide::Old,
        };
        let comment = NewComment {
            path: file.path,
            version: file.version,
            side,
            from: 1,
            to: 1,
            text: "keep this".into(),
        };
        changes.add_comment(id, &scope, comment).await.unwrap();
    }
    let shown = changes.review_files(id, &ALL, no_fold).await.unwrap();
    let changed: Vec<bool> = shown.comments.iter().map(|one| one.changed).collect();
    assert_eq!(changed, [false, false]);
}

#[tokio::test]
async fn files_go_back_to_a_step_or_a_prompt_and_forward_again() {
    let agent = Agent::start().await.file("a.txt", "1\n");
    agent
        .turn("printf '2\\n' > a.txt; mkdir d; printf 'x\\n' > d/b.txt")
        .await;
    let second = agent.turn("printf '3\\n' > a.txt; rm -r d").await;
    let (changes, id) = (&agent.changes(), &agent.app.session.id);
    agent.app.write("mine.txt", "mine\n");
    let steps = changes.session_steps(id).await.unwrap();
    let first = StepPlace {
        message_id: steps[0].message_id.clone(),
        part_id: Some(steps[0].part_id.clone()),
    };
    let names = |folder: &'static str| {
        let first = first.clone();
        async move {
            let entries = changes.step_tree(id, &first, folder).await.unwrap();
            entries
                .into_iter()
                .map(|entry| entry.path)
                .collect::<Vec<_>>()
        }
    };
    assert_eq!(names("").await, ["d", "a.txt"]);
    assert_eq!(names("d").await, ["d/b.txt"]);
    assert_eq!(
        changes.step_file(id, &first, "a.txt").await.unwrap(),
        b"2\n"
    );
    let last = StepPlace {
        message_id: steps[1].message_id.clone(),
        part_id: Some(steps[1].part_id.clone()),
    };
    let removed = changes.step_file(id, &last, "d/b.txt").await;
    assert!(
        matches!(removed, Err(Failed::Missing { .. })),
        "{removed:?}"
    );

    let before = agent.tree();
    let prompt = StepPlace {
        message_id: second,
        part_id: None,
    };
    for place in [&first, &prompt] {
        let planned = changes.preview_restore(id, place).await.unwrap();
        assert_eq!(planned.files.len(), 2);
        assert_eq!(agent.tree(), before);
        let options = lathe_protocol::ipc::RevertOptions::default();
        changes.restore_files(id, place, &options).await.unwrap();
        assert_eq!(
            agent.tree(),
            ["a.txt 2\n", "d/b.txt x\n", "mine.txt mine\n"]
        );
        agent.undo().await;
        assert_eq!(agent.tree(), before);
    }
    let fork = changes.fork_at(id, &first, false).await.unwrap();
    let copied = agent
        .app
        .sessions
        .messages(&fork.id, None, usize::MAX)
        .await
        .unwrap()
        .messages;
    assert_eq!(copied.len(), 2);
}
