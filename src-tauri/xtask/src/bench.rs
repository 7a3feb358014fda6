//! `cargo xtask bench`: run the suites and lay their rows side by side.
//!
//! A suite is a bench target that prints one flat JSON object per row on its output:
//! `{"name", "ours", "baseline", "ratio"}` and, where they apply, `"unit"` and `"bar"`. The
//! comparison with an installed OpenCode has `"theirs"` in the place of `"baseline"`.

mod against;
mod door;

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::json::{self, Value};
use crate::setup::{self, Need};
use crate::{Outcome, tool, ui};

/// A suite: its name, and the bench target that measures it.
const SUITES: [(&str, &str); 13] = [
    ("guard", "decide"),
    ("guard", "sandbox"),
    ("loop", "turns"),
    ("mentions", "mentions"),
    ("models", "decode"),
    ("models", "deltas"),
    ("render", "render"),
    ("review", "review"),
    ("snapshot", "reverts"),
    ("snapshot", "snapshot"),
    ("store", "store"),
    ("tools", "tools"),
    ("ui", "ui"),
];

/// The columns of the table, after the suite. A row has a baseline or the other's figure.
const COLUMNS: [&str; 6] = ["name", "ours", "baseline", "unit", "ratio", "bar"];

/// What was asked for on the command line.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Options {
    suite: Option<String>,
    json: Option<PathBuf>,
    /// An OpenCode binary to compare whole commands with.
    against: Option<PathBuf>,
}

impl Options {
    pub fn parse(args: &[String]) -> Outcome<Self> {
        let mut options = Self::default();
        let mut args = args.iter();
        while let Some(arg) = args.next() {
            match arg.as_str() {
                "--json" => {
                    let file = args.next().ok_or("`--json` wants a file to write")?;
                    options.json = Some(file.into());
                }
                "--against" => {
                    let binary = args.next().ok_or("`--against` wants an OpenCode binary")?;
                    options.against = Some(binary.into());
                }
                name if options.suite.is_none()
                    && (name == door::SUITE || SUITES.iter().any(|(suite, ..)| *suite == name)) =>
                {
                    options.suite = Some(name.to_owned());
                }
                other => {
                    return Err(format!(
                        "there is no suite `{other}`; there are: {}",
                        suite_names()
                    ));
                }
            }
        }
        Ok(options)
    }

    fn includes(&self, suite: &str) -> bool {
        self.suite.as_deref().is_none_or(|chosen| chosen == suite)
    }
}

/// The suites there are, for people.
pub fn suite_names() -> String {
    let mut names = SUITES.map(|(name, ..)| name).to_vec();
    names.dedup();
    names.push(door::SUITE);
    names.sort_unstable();
    names.join(", ")
}

/// A measured row, with the suite it belongs to.
#[derive(Debug, PartialEq)]
struct Row {
    suite: &'static str,
    fields: Vec<(String, Value)>,
}

/// Measures, prints the table, writes the files.
pub fn run(options: &Options) -> Outcome {
    let rows = match &options.against {
        Some(binary) => against::rows(binary)?,
        // Never among all of them: it fetches another program.
        None if options.suite.as_deref() == Some(door::SUITE) => door::rows()?,
        None => suite_rows(options)?,
    };
    let table = table(&rows);
    print!("{table}");
    let folder = tool::target_dir().join("bench");
    let name = if options.against.is_some() {
        "against"
    } else {
        "bench"
    };
    write(&folder.join(format!("{name}.md")), &table)?;
    write(&folder.join(format!("{name}.json")), &file(&rows))?;
    match &options.json {
        Some(path) => write(path, &file(&rows)),
        None => Ok(()),
    }
}

fn write(path: &Path, text: &str) -> Outcome {
    let wrap = |error| format!("{} could not be written: {error}", path.display());
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder).map_err(wrap)?;
    }
    std::fs::write(path, text).map_err(wrap)
}

fn suite_rows(options: &Options) -> Outcome<Vec<Row>> {
    let mut rows = Vec::new();
    if options.includes("tools") {
        setup::provide(&[Need::Build, Need::Ripgrep])?;
    }
    if options.includes("guard") {
        setup::provide(&[Need::Build, Need::Sandbox])?;
    }
    if options.includes("ui") {
        setup::provide(&[
            Need::Build,
            Need::Node,
            Need::Window,
            Need::VirtualDisplay,
            Need::WindowDriver,
        ])?;
    }
    build_fake_model()?;
    for (suite, target) in SUITES {
        if options.includes(suite) {
            eprintln!("Measuring {suite}…");
            measure(suite, target, &mut rows)?;
        }
    }
    Ok(rows)
}

/// Builds with what the suites are built with, down to the features of shared dependencies:
/// those follow from the whole workspace and from whether a target of tests is among what is
/// asked for.
fn release_build() -> Command {
    let mut command = tool::cargo();
    command.args(["build", "--profile", "bench", "--workspace"]);
    command.args(["--bench", "decode"]);
    command
}

/// Suites that talk to a model talk to this one, which must not share their process.
fn build_fake_model() -> Outcome {
    let mut command = release_build();
    command.args(["--bin", "fake-model"]);
    let status = tool::each_line(&mut command, |line| eprintln!("{line}"))?;
    match status.success() {
        true => Ok(()),
        false => Err("the fake model server could not be built".into()),
    }
}

/// The window is measured as people have it, and against one with nothing in it.
fn build_window() -> Outcome {
    ui::install()?;
    ui::build_if_stale()?;
    for what in [["--bin", "lathe"], ["--example", "bare"]] {
        tool::expect_success(release_build().args(what))?;
    }
    Ok(())
}

/// Asked for in the whole workspace, so that every suite finds what another one built.
fn measure(suite: &'static str, target: &str, rows: &mut Vec<Row>) -> Outcome {
    let mut command = tool::cargo();
    command.args(["bench", "--workspace", "--bench", target]);
    gather(suite, &mut command, rows)
}

/// Takes the rows that a command prints; everything else it says goes on to the terminal.
fn gather(suite: &'static str, command: &mut Command, rows: &mut Vec<Row>) -> Outcome {
    if suite == "ui" {
        build_window()?;
        command.env("LATHE_APP", tool::app("release"));
        command.env("LATHE_BARE", tool::example("release", "bare"));
    }
    let before = rows.len();
    let status = tool::each_line(command, |line| match json::object(line) {
        Some(fields) => rows.push(Row { suite, fields }),
        None => eprintln!("{line}"),
    })?;
    if !status.success() {
        return Err(format!("the suite {suite} failed ({status})"));
    }
    if rows.len() == before {
        return Err(format!("the suite {suite} measured nothing"));
    }
    Ok(())
}

/// The rows as a Markdown table.
fn table(rows: &[Row]) -> String {
    let cell = |row: &Row, column: &str| {
        let named = |name: &str| name == column || column == "baseline" && name == "theirs";
        let value = row.fields.iter().find(|(name, _)| named(name));
        value.map_or(String::new(), |(_, value)| shown(value))
    };
    let mut text = format!("| suite | {} |\n", COLUMNS.join(" | "));
    text.push_str("| --- | --- | ---: | ---: | --- | ---: | --- |\n");
    for row in rows {
        let cells = COLUMNS.map(|column| cell(row, column));
        text.push_str(&format!("| {} | {} |\n", row.suite, cells.join(" | ")));
    }
    text
}

/// Three significant digits: more would pretend to a precision that a benchmark lacks.
fn shown(value: &Value) -> String {
    match value {
        Value::Text(text) => text.replace('|', "\\|"),
        Value::Number(number) if number.fract() == 0.0 => number.to_string(),
        Value::Number(number) => {
            let digits = (2.0 - number.abs().log10().floor()).clamp(0.0, 9.0);
            // Clamped above, so that the cast is exact.
            #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
            let digits = digits as usize;
            format!("{number:.digits$}")
        }
        Value::Word(_) => String::new(),
    }
}

/// The rows as a JSON file, every field kept.
fn file(rows: &[Row]) -> String {
    let line = |row: &Row| {
        let suite = format!("\"suite\": {}", json::quoted(row.suite));
        let fields = row
            .fields
            .iter()
            .map(|(name, value)| format!(", {}: {}", json::quoted(name), json::write(value)));
        format!("    {{ {suite}{} }}", fields.collect::<String>())
    };
    let lines: Vec<_> = rows.iter().map(line).collect();
    format!("{{\n  \"rows\": [\n{}\n  ]\n}}\n", lines.join(",\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows() -> Vec<Row> {
        let line = r#"{"name":"tail","ours":1.23456,"baseline":250,"ratio":0.004938,"extra":1}"#;
        vec![Row {
            suite: "store",
            fields: json::object(line).unwrap(),
        }]
    }

    #[test]
    fn the_table_shows_the_known_columns() {
        let expected = "\
| suite | name | ours | baseline | unit | ratio | bar |
| --- | --- | ---: | ---: | --- | ---: | --- |
| store | tail | 1.23 | 250 |  | 0.00494 |  |
";
        assert_eq!(table(&rows()), expected);
    }

    #[test]
    fn the_file_keeps_every_field() {
        let expected = r#"{
  "rows": [
    { "suite": "store", "name": "tail", "ours": 1.23456, "baseline": 250, "ratio": 0.004938, "extra": 1 }
  ]
}
"#;
        assert_eq!(file(&rows()), expected);
    }

    #[test]
    fn an_unknown_suite_is_refused_by_name() {
        let error = Options::parse(&["stroe".into()]).unwrap_err();
        assert!(
            error.contains("stroe") && error.contains("store"),
            "{error}"
        );
    }
}
