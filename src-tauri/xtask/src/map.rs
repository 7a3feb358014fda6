//! `cargo xtask map`: how large each crate is and which crates it depends on.
//!
//! Reads the tree as text. It needs no build, so it also works on another checkout, of an older
//! version for example.

mod layers;
mod manifest;
mod measure;
mod picture;
mod report;
mod rust_source;

use std::fs;
use std::path::{Path, PathBuf};

use crate::{Outcome, tool};
use manifest::Package;
use measure::Measured;

/// Where the picture is stored, from the root of the repository.
const PICTURE: &str = "docs/rooms.svg";

/// What was asked for on the command line.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// The checkout to read; None is the one this program was built from.
    tree: Option<PathBuf>,
    /// Whether to write the picture of the layers, too.
    picture: bool,
}

impl Options {
    pub fn parse(args: &[String]) -> Outcome<Self> {
        let mut options = Self::default();
        let mut args = args.iter();
        while let Some(arg) = args.next() {
            match arg.as_str() {
                "--picture" => options.picture = true,
                "--tree" => {
                    let path = args.next().ok_or("`--tree` needs the path of a checkout")?;
                    options.tree = Some(path.into());
                }
                other => {
                    return Err(format!(
                        "`map` has no option `{other}`; see `cargo xtask help`"
                    ));
                }
            }
        }
        Ok(options)
    }
}

/// Prints the map of a tree and, if asked, writes its picture.
pub fn run(options: &Options) -> Outcome {
    let tree = options.tree.clone().unwrap_or_else(tool::root);
    let packages = manifest::packages(&tree)?;
    let measured: Vec<(Package, Measured)> = packages
        .into_iter()
        .map(|package| {
            let measured = measure::measure(&tree, &package)?;
            Ok((package, measured))
        })
        .collect::<Outcome<_>>()?;
    print!("{}", report::text(&measured));
    if options.picture {
        let file = tree.join(PICTURE);
        fs::write(&file, rooms(&tree)?)
            .map_err(|error| format!("{} could not be written: {error}", file.display()))?;
        println!("\nThe picture is in {PICTURE}.");
    }
    Ok(())
}

/// The picture of a tree's layers.
fn rooms(tree: &Path) -> Outcome<String> {
    Ok(picture::draw(&layers::of_product(&manifest::packages(
        tree,
    )?)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(args: &[&str]) -> Outcome<Options> {
        Options::parse(&args.iter().map(ToString::to_string).collect::<Vec<_>>())
    }

    #[test]
    fn options_are_read_and_a_missing_path_is_an_error() {
        let expected = Options {
            tree: Some("/old".into()),
            picture: true,
        };
        assert_eq!(parsed(&["--tree", "/old", "--picture"]), Ok(expected));
        assert_eq!(parsed(&[]), Ok(Options::default()));
        assert!(parsed(&["--tree"]).is_err());
        assert!(parsed(&["--pictures"]).is_err());
    }

    #[test]
    fn the_picture_in_the_tree_shows_the_crates_as_they_are() {
        let stored = fs::read_to_string(tool::root().join(PICTURE)).unwrap_or_default();
        let current = rooms(&tool::root()).unwrap();
        assert!(
            stored.replace("\r\n", "\n") == current,
            "{PICTURE} is out of date: run `cargo xtask map --picture`"
        );
    }
}
