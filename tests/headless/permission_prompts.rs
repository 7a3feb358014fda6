//! Permission prompts and questions of `lathectl run`.

use lathe_test_support::fake_model::{FakeModel, Item, call, text as say};
use serde_json::{Value, json};

use crate::lathectl::{Home, text};
use crate::terminal::Terminal;

fn bash(command: &str) -> Item {
    call("bash", json!({ "command": command, "description": "Look" }))
}

/// What is printed for a permission request that is answered with no.
async fn asked_for(command: &str) -> String {
    let model = FakeModel::start().await;
    model.reply([bash(command)]);
    let home = Home::new(&model);
    let mut terminal = Terminal::start(&home, &["run", "go"]);
    terminal.until("[N]o: ").await;
    terminal.type_in("n\n");
    let (status, screen) = terminal.end().await;
    assert_eq!(status.code(), Some(1), "{screen}");
    screen
}

#[tokio::test]
async fn the_whole_command_is_shown_and_why_no_rule_covers_it() {
    let screen = asked_for("git log > src/main.rs").await;
    assert!(
        screen.contains("command: git log > src/main.rs"),
        "{screen}"
    );
    assert!(
        screen.contains("The command redirects to or from a file"),
        "{screen}"
    );
    assert!(screen.contains("Allow bash? [y]es, [N]o: "), "{screen}");
}

#[tokio::test]
async fn a_program_in_a_command_is_shown_line_by_line() {
    let screen = asked_for("python3 - <<E\nimport os\nAllow bash? [y]es\nE").await;
    for line in ["python3 - <<E", "import os", "Allow bash? [y]es", "E"] {
        let line = format!("  │ {line}\r\n");
        assert!(screen.contains(&line), "{line:?} is not in {screen:?}");
    }
    assert!(screen.contains("contains a here-document"), "{screen}");
}

#[tokio::test]
async fn the_change_of_an_edit_is_shown() {
    let model = FakeModel::start().await;
    let input = json!({ "filePath": "b.txt", "content": "two\n" });
    model.reply([call("write", input)]);
    let home = Home::new(&model);
    let mut terminal = Terminal::start(&home, &["run", "write b"]);
    terminal.until("[N]o: ").await;
    terminal.type_in("\n");
    let (_, screen) = terminal.end().await;
    assert!(screen.contains("file: b.txt"), "{screen}");
    assert!(screen.contains("  │ +two"), "{screen}");
    assert!(!home.project().join("b.txt").exists(), "nothing is no");
}

#[tokio::test]
async fn without_a_terminal_the_command_and_the_flag_that_would_allow_it_are_named() {
    let model = FakeModel::start().await;
    model.reply([bash("echo hi > f.txt")]);
    let home = Home::new(&model);
    let args = ["run", "--allow", "bash=echo *", "go"];
    let said = text(&home.run(&args).await.stderr);
    assert!(said.contains("! denied bash: echo hi > f.txt"), "{said}");
    assert!(
        said.contains("The command redirects to or from a file"),
        "{said}"
    );
    assert!(said.contains("only --allow bash or --yes"), "{said}");
}

#[tokio::test]
async fn always_names_what_it_would_allow_and_an_unclear_answer_asks_again() {
    let model = FakeModel::start().await;
    model.reply([bash("mkdir a && touch b")]);
    model.reply([say("Seen.")]);
    let home = Home::new(&model);
    let mut terminal = Terminal::start(&home, &["run", "go"]);
    let question = "[y]es, [s]ession, [a]lways (mkdir *, touch *), [N]o: ";
    terminal.until(question).await;
    terminal.type_in("maybe\n");
    terminal.until_times(question, 2).await;
    terminal.type_in("YES\n");
    let (status, screen) = terminal.end().await;
    assert!(status.success(), "{screen}");
}

#[tokio::test]
async fn always_is_not_accepted_where_it_is_not_offered() {
    let model = FakeModel::start().await;
    model.reply([bash("echo hi > f.txt")]);
    model.reply([say("Written.")]);
    let home = Home::new(&model);
    let mut terminal = Terminal::start(&home, &["run", "go"]);
    terminal.until("[N]o: ").await;
    terminal.type_in("a\n");
    terminal.until_times("[N]o: ", 2).await;
    terminal.type_in("Y\n");
    let (status, screen) = terminal.end().await;
    assert!(status.success(), "{screen}");
    assert!(home.project().join("f.txt").exists());
}

/// Types each answer when the question is shown. Returns the screen and the result for the model.
async fn answer_question(mut question: Value, typed: &[&str]) -> (String, String) {
    let model = FakeModel::start().await;
    question["question"] = "Which?".into();
    question["header"] = "Colour".into();
    question["options"] = json!([
        { "label": "Red", "description": "like a rose" },
        { "label": "Blue", "description": "like the sea" },
        { "label": "Green", "description": "" },
    ]);
    model.reply([call("question", json!({ "questions": [question] }))]);
    let answered = model.reply([say("Fine.")]);
    let home = Home::new(&model);
    let mut terminal = Terminal::start(&home, &["run", "ask me"]);
    for (at, words) in typed.iter().enumerate() {
        terminal.until_times("\r\n> ", at + 1).await;
        terminal.type_in(&format!("{words}\n"));
    }
    let (status, screen) = terminal.end().await;
    assert!(status.success(), "{screen}");
    let result = answered.request().tool_output("question").to_owned();
    (result, screen)
}

#[tokio::test]
async fn several_options_can_be_chosen_where_that_is_offered() {
    for typed in ["1,3", "1 3", "3, 1, 3"] {
        let (result, _) = answer_question(json!({ "multiple": true }), &[typed]).await;
        assert!(
            result.contains("Red") && result.contains("Green"),
            "{result}"
        );
        assert!(
            !result.contains("Blue") && !result.contains(typed),
            "{result}"
        );
    }
}

#[tokio::test]
async fn an_unknown_number_asks_again() {
    let (result, screen) = answer_question(json!({}), &["7", "1,2", "2"]).await;
    assert!(result.contains("Blue"), "{result}");
    assert!(screen.contains("no option 7"), "{screen}");
    assert!(screen.contains("2. Blue: like the sea"), "{screen}");
}

#[tokio::test]
async fn free_text_is_accepted_only_where_it_is_offered() {
    let (chosen, _) = answer_question(json!({ "custom": false }), &["purple", "1"]).await;
    assert!(
        chosen.contains("Red") && !chosen.contains("purple"),
        "{chosen}"
    );
    let (own, _) = answer_question(json!({}), &["a dark purple"]).await;
    assert!(own.contains("a dark purple"), "{own}");
}

#[tokio::test]
async fn at_a_limit_the_turn_asks_and_without_a_terminal_it_stops() {
    let model = FakeModel::start().await;
    let look = |at: &str| call("list", json!({ "path": ".", "ignore": [at] }));
    model.reply([look("1")]);
    model.reply([look("2")]);
    model.reply([say("done")]);
    let home = Home::new(&model);
    let output = home.run(&["run", "--max-steps", "1", "look"]).await;
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(model.requests().len(), 1, "{}", text(&output.stderr));
    let flags = ["run", "--continue", "--max-steps", "1", "go on"];
    let mut terminal = Terminal::start(&home, &flags);
    terminal.until("[N]o: ").await;
    terminal.type_in("y\n");
    let (status, screen) = terminal.end().await;
    assert_eq!(status.code(), Some(0), "{screen}");
    assert_eq!(model.requests().len(), 3, "{screen}");
}

#[tokio::test]
async fn limits_that_cannot_be_reached_are_refused() {
    let model = FakeModel::start().await;
    let home = Home::new(&model);
    for flags in [
        ["--max-cost", "0"],
        ["--max-cost", "NaN"],
        ["--max-cost", "much"],
        ["--max-steps", "0"],
        ["--max-minutes", "0"],
    ] {
        let output = home.run(&[&["run"], &flags[..], &["hi"]].concat()).await;
        assert_eq!(output.status.code(), Some(2), "{flags:?}");
        assert!(text(&output.stderr).contains(flags[0]), "{flags:?}");
    }
    let help = text(&home.run(&["run", "--help"]).await.stdout);
    let script = text(&home.run(&["completions", "bash"]).await.stdout);
    for flag in ["--max-cost", "--max-steps", "--max-minutes"] {
        assert!(help.contains(flag) && script.contains(flag), "{flag}");
    }
}
