//! Our server beside `opencode serve` in the same run: `tests/bench/door.mjs`.

use std::process::Command;

use super::{Row, gather};
use crate::test::real_clients;
use crate::{Outcome, tool};

pub const SUITE: &str = "door";

pub fn rows() -> Outcome<Vec<Row>> {
    let opencode = real_clients::newest_opencode()?;
    let mut build = super::release_build();
    build.args(["--bin", "lathectl", "--bin", "fake-model"]);
    let status = tool::each_line(&mut build, |line| eprintln!("{line}"))?;
    if !status.success() {
        return Err("the server could not be built".into());
    }
    let built = |name: &str| {
        let file = format!("{name}{}", std::env::consts::EXE_SUFFIX);
        tool::target_dir().join("release").join(file)
    };
    let mut command = Command::new("node");
    command
        .arg(tool::root().join("tests/bench/door.mjs"))
        .arg(built("lathectl"))
        .arg(built("fake-model"))
        .arg(opencode);
    let mut rows = Vec::new();
    gather(SUITE, &mut command, &mut rows)?;
    Ok(rows)
}
