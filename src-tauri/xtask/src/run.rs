//! `cargo xtask run`: from a fresh clone to an open window.

use std::process::{Command, ExitCode};

use crate::display::{self, VirtualDisplay};
use crate::setup::{self, Need};
use crate::{Outcome, tool, ui};

/// What was asked for on the command line.
#[derive(Debug, Default, PartialEq)]
pub struct Options {
    release: bool,
    headless_display: bool,
    gallery: bool,
    app_args: Vec<String>,
}

impl Options {
    /// Our own flags come first; from the first other word on, all goes to the app.
    pub fn parse(args: &[String]) -> Outcome<Self> {
        let mut options = Self::default();
        let mut args = args.iter();
        for arg in args.by_ref() {
            match arg.as_str() {
                "--release" => options.release = true,
                "--headless-display" => options.headless_display = true,
                "--gallery" => options.gallery = true,
                "--" => break,
                flag if flag.starts_with('-') => {
                    return Err(format!(
                        "`run` has no option `{flag}`; see `cargo xtask help`"
                    ));
                }
                word => {
                    options.app_args.push(word.to_owned());
                    break;
                }
            }
        }
        options.app_args.extend(args.cloned());
        if options.gallery && options.release {
            return Err("the gallery is not part of a release; leave `--release` out".into());
        }
        Ok(options)
    }
}

/// Installs, builds, opens, and waits until the window closes.
pub fn run(options: &Options) -> Outcome<ExitCode> {
    let virtual_display = !display::present();
    if virtual_display && !options.headless_display {
        return Err(
            "there is no display to open a window on (DISPLAY and WAYLAND_DISPLAY are \
                    not set); `cargo xtask run --headless-display` starts a virtual one"
                .into(),
        );
    }
    let mut needs = vec![Need::Build, Need::Window, Need::Node];
    if virtual_display {
        needs.push(Need::VirtualDisplay);
    }
    setup::provide(&needs)?;
    ui::install()?;
    ui::build_if_stale()?;

    let mut build = tool::cargo();
    // The question that the tests ask, so that one finds what the other built.
    build.args(["build", "--workspace", "--bin", "lathe"]);
    if options.release {
        build.arg("--release");
    }
    println!("Building the app…");
    tool::expect_success(&mut build)?;
    open(options, virtual_display)
}

fn open(options: &Options, virtual_display: bool) -> Outcome<ExitCode> {
    let app = tool::app(if options.release { "release" } else { "debug" });
    let display = virtual_display.then(VirtualDisplay::start).transpose()?;
    let mut command = match &display {
        // The single-instance check and the desktop's services need a session bus.
        Some(display) => {
            let mut command = Command::new("dbus-run-session");
            command.arg("--").arg(&app).env("DISPLAY", &display.name);
            println!(
                "Opening {} on the virtual display {}",
                app.display(),
                display.name
            );
            command
        }
        None => {
            println!("Opening {}", app.display());
            Command::new(&app)
        }
    };
    if options.gallery {
        command.arg("--gallery");
    }
    let status = command
        .args(&options.app_args)
        .status()
        .map_err(|error| format!("{} could not start: {error}", app.display()))?;
    Ok(status
        .code()
        .and_then(|code| u8::try_from(code).ok())
        .map_or(ExitCode::FAILURE, ExitCode::from))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(args: &[&str]) -> Outcome<Options> {
        Options::parse(&args.iter().map(ToString::to_string).collect::<Vec<_>>())
    }

    #[test]
    fn words_after_our_own_flags_go_to_the_app() {
        let expected = Options {
            release: true,
            headless_display: false,
            gallery: false,
            app_args: vec!["some/folder".into(), "--headless-display".into()],
        };
        assert_eq!(
            parsed(&["--release", "some/folder", "--headless-display"]),
            Ok(expected)
        );
    }

    #[test]
    fn two_dashes_send_a_flag_to_the_app() {
        let expected = Options {
            app_args: vec!["--help".into()],
            ..Options::default()
        };
        assert_eq!(parsed(&["--", "--help"]), Ok(expected));
    }

    #[test]
    fn the_gallery_is_no_part_of_a_release() {
        let expected = Options {
            gallery: true,
            ..Options::default()
        };
        assert_eq!(parsed(&["--gallery"]), Ok(expected));
        assert!(parsed(&["--release", "--gallery"]).is_err());
    }

    #[test]
    fn an_unknown_flag_is_refused() {
        assert!(parsed(&["--relase"]).is_err());
    }
}
