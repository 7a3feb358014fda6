//! `cargo xtask gen`: the only writer of the TypeScript bindings, the JSON schemas, the
//! protobuf files and the validators.
//!
//! The generator belongs to the protocol crate, whose tests compare the tree with it.

use crate::{Outcome, tool};

/// Writes the generated files into the tree.
pub fn run() -> Outcome {
    let mut command = tool::cargo();
    command.args([
        "run",
        "--quiet",
        "--package",
        "lathe-protocol",
        "--example",
        "gen",
        "--",
    ]);
    command.arg(tool::root());
    tool::expect_success(&mut command)?;
    println!("The generated files are what the types say.");
    Ok(())
}
