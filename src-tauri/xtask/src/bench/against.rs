//! Whole commands of ours and of an installed OpenCode at the same work.

use std::path::Path;
use std::process::Command;

use super::{Row, gather};
use crate::{Outcome, tool};

pub fn rows(binary: &Path) -> Outcome<Vec<Row>> {
    if !binary.is_file() {
        return Err(format!("there is no program at {}", binary.display()));
    }
    build()?;
    let built = |name: &str| {
        let file = format!("{name}{}", std::env::consts::EXE_SUFFIX);
        tool::target_dir().join("release").join(file)
    };
    let mut command = Command::new(built("side-by-side"));
    command.arg(built("lathectl")).arg(binary);
    let mut rows = Vec::new();
    gather("against", &mut command, &mut rows)?;
    Ok(rows)
}

fn build() -> Outcome {
    let mut command = super::release_build();
    command.args(["--bin", "lathectl", "--bin", "side-by-side"]);
    let status = tool::each_line(&mut command, |line| eprintln!("{line}"))?;
    match status.success() {
        true => Ok(()),
        false => Err("lathectl could not be built".into()),
    }
}
