//! What a shell command must be allowed before it runs.

use std::path::Path;

use lathe_policy::shell::{Surroundings, analyse};
use lathe_tools::paths::external_directory;
use lathe_tools::{CommandAsk, Environment, PermissionAsk};
use lathe_workspace::paths::DiskPaths;
use serde_json::Value;

/// The file system as the analysis of commands sees it.
pub fn disk_paths<'a>(root: &'a Path, environment: &'a Environment) -> DiskPaths<'a> {
    DiskPaths {
        root,
        home: environment.home(),
        may_read: None,
    }
}

/// One request for each folder outside the project, then one for the command itself.
pub fn asks_for_command(ask: &CommandAsk, paths: &DiskPaths<'_>) -> Vec<PermissionAsk> {
    let analysis = analyse(
        &ask.command,
        &Surroundings {
            directory: &ask.directory,
            home: paths.home,
            dialect: ask.dialect,
            paths,
        },
    );
    let command = ask.metadata.get("command").cloned().unwrap_or(Value::Null);
    let outside = analysis.outside.iter();
    let mut asks: Vec<_> = outside
        .map(|folder| external_directory(folder).with("command", command.clone()))
        .collect();
    if !analysis.patterns.is_empty() {
        let reasons: Vec<String> = analysis.reasons.iter().map(ToString::to_string).collect();
        let opaque = analysis.is_opaque();
        let ask = PermissionAsk {
            permission: "bash".to_owned(),
            patterns: analysis.patterns,
            always: analysis.always,
            opaque,
            metadata: ask.metadata.clone(),
        };
        asks.push(ask.with("reasons", reasons));
    }
    asks
}
