//! `cargo xtask gen`: the only writer of the TypeScript bindings and the JSON schemas.
//!
//! The generator belongs to the protocol crate, whose tests compare the tree with it.

use crate::{Outcome, tool};

/// Writes the generated files into the tree.
pub fn run() -> Outcome {
    let root = tool::root();
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
    command.arg(root.join("ui/src/bindings"));
    command.arg(root.join("src-tauri/crates/protocol/schema"));
    tool::expect_success(&mut command)?;
    println!("The bindings and the schemas are what the types say.");
    Ok(())
}
