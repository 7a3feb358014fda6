//! `cargo xtask test`: every test there is, and one line that sums them up.
//!
//! All Rust stages ask cargo for the whole workspace, tests included. The features of shared
//! dependencies follow from that question, so that every stage finds what another one built.

pub mod real_clients;
mod real_model;
mod stages;

use std::process::ExitCode;

use crate::setup::{self, Need};
use crate::tally::Tally;
use crate::{Outcome, ui};

/// A part of the tests that can run by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Part {
    Core,
    Ui,
    EndToEnd,
}

/// What was asked for on the command line.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// None is all of them.
    part: Option<Part>,
    /// Full counts instead of everyday ones.
    soak: bool,
    /// Only the tests against a real model server, which no other run has.
    real_model: bool,
    /// Only clients that others wrote, which no other run has.
    real_clients: bool,
    /// Also servers that others wrote, fetched over the network.
    real_mcp: bool,
    /// Run failed window tests once more, to tell a race from a plain fault. The run stays red.
    retry: bool,
    /// Only the tests whose name contains this.
    filter: Option<String>,
}

impl Options {
    pub fn parse(args: &[String]) -> Outcome<Self> {
        let mut options = Self::default();
        for arg in args {
            match arg.as_str() {
                "--soak" => options.soak = true,
                "--real-model" => options.real_model = true,
                "--real-clients" => options.real_clients = true,
                "--real-mcp" => options.real_mcp = true,
                "--retry" => options.retry = true,
                flag if flag.starts_with('-') => {
                    return Err(format!(
                        "`test` has no option `{flag}`; see `cargo xtask help`"
                    ));
                }
                "core" if options.is_open() => options.part = Some(Part::Core),
                "ui" if options.is_open() => options.part = Some(Part::Ui),
                "e2e" if options.is_open() => options.part = Some(Part::EndToEnd),
                word if options.filter.is_none() => options.filter = Some(word.to_owned()),
                word => return Err(format!("`test` takes one filter; what is `{word}`?")),
            }
        }
        Ok(options)
    }

    /// A run of nothing but what the network has to bring.
    fn is_special(&self) -> bool {
        self.real_model || self.real_clients
    }

    /// A part's name is one only as the first word.
    fn is_open(&self) -> bool {
        self.part.is_none() && self.filter.is_none()
    }

    fn includes(&self, part: Part) -> bool {
        !self.is_special() && self.part.is_none_or(|chosen| chosen == part)
    }

    /// Checks of the whole tree have no names to filter.
    fn with_checks(&self) -> bool {
        self.filter.is_none()
    }

    fn needs(&self) -> Vec<Need> {
        let mut needs = Vec::new();
        if self.is_special() {
            needs.push(Need::Build);
        }
        if self.includes(Part::Core) || self.includes(Part::EndToEnd) {
            needs.push(Need::Build);
        }
        if self.includes(Part::Core) {
            needs.extend([Need::Tracer, Need::Sandbox]);
        }
        if self.includes(Part::Core) && self.with_checks() {
            needs.push(Need::Lints);
        }
        if self.includes(Part::Ui) || self.includes(Part::EndToEnd) {
            needs.push(Need::Node);
        }
        if self.includes(Part::EndToEnd) {
            needs.push(Need::Window);
            if setup::window_can_be_driven() {
                needs.extend([Need::VirtualDisplay, Need::WindowDriver]);
            }
        }
        needs
    }
}

/// Runs what was asked for. The last line is the tally, whatever happens.
pub fn run(options: &Options) -> ExitCode {
    let mut total = Tally::default();
    match prepare(options) {
        Ok(()) => {
            for stage in stages(options) {
                println!("\n── {} ──", stage.title());
                let tally = stage.run(options);
                println!("── {}: {tally}", stage.title());
                total += tally;
            }
        }
        Err(sentence) => {
            println!("{sentence}");
            total += Tally::check(false);
        }
    }
    println!("\n{total}");
    if total.is_success() {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}

/// Everything that the stages find in place.
fn prepare(options: &Options) -> Outcome {
    setup::provide(&options.needs())?;
    if options.includes(Part::Ui) || options.includes(Part::EndToEnd) {
        ui::install()?;
    }
    if options.includes(Part::EndToEnd) && !setup::window_can_be_driven() {
        println!("The tests of the real window run on Linux only; they are left out here.");
    }
    Ok(())
}

/// Quick answers first; the page is built before the shell, which embeds it.
fn stages(options: &Options) -> Vec<stages::Stage> {
    use stages::Stage;
    let mut stages = Vec::new();
    let whole = options.part.is_none();
    if options.real_model {
        return vec![Stage::RealModel];
    }
    if options.real_clients {
        return vec![Stage::RealClients];
    }
    if options.includes(Part::Core) && options.with_checks() {
        stages.push(Stage::Format);
    }
    if options.includes(Part::Ui) {
        if options.with_checks() {
            stages.push(Stage::Types);
        }
        stages.push(Stage::UiTests);
    }
    if options.includes(Part::Ui) && options.with_checks() || options.includes(Part::EndToEnd) {
        stages.push(Stage::Page);
    }
    if options.includes(Part::Core) {
        stages.push(Stage::RustTests { shell: whole });
        if options.with_checks() {
            stages.push(Stage::Lints { shell: whole });
        }
    }
    if options.includes(Part::EndToEnd) && setup::window_can_be_driven() {
        stages.push(Stage::Window);
    }
    stages
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(args: &[&str]) -> Outcome<Options> {
        Options::parse(&args.iter().map(ToString::to_string).collect::<Vec<_>>())
    }

    #[test]
    fn a_part_comes_first_and_a_filter_after_it() {
        let expected = Options {
            part: Some(Part::Core),
            soak: true,
            retry: true,
            filter: Some("ui".into()),
            ..Options::default()
        };
        assert_eq!(parsed(&["core", "--soak", "--retry", "ui"]), Ok(expected));
    }

    #[test]
    fn any_other_first_word_filters_all_parts() {
        let expected = Options {
            filter: Some("abort".into()),
            ..Options::default()
        };
        assert_eq!(parsed(&["abort"]), Ok(expected));
        assert!(parsed(&["abort", "esc"]).is_err());
        assert!(parsed(&["--sok"]).is_err());
    }

    #[test]
    fn the_core_needs_neither_node_nor_the_window() {
        let needs = parsed(&["core"]).unwrap().needs();
        let expected = [Need::Build, Need::Tracer, Need::Sandbox, Need::Lints];
        assert_eq!(needs, expected);
    }
}
