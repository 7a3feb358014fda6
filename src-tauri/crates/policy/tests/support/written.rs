//! What a command that was allowed changed, against what its words name.

use std::path::{Component, Path, PathBuf};

use lathe_policy::protected;

use crate::traced::Scene;

pub fn program(command: &str) -> String {
    let words: Vec<&str> = command.split(' ').collect();
    words[..words.len().min(2)].join(" ")
}

/// Runs one command and puts the tree back; says what it did that its words do not name.
pub fn run_and_restore(scene: &Scene, command: &str) -> Vec<String> {
    let named = named(scene, command);
    let git = scene
        .analyse(command)
        .commands
        .iter()
        .any(|one| one.text.starts_with("git "));
    let mut found: Vec<String> = scene
        .trace(command)
        .into_iter()
        .filter(|call| is_wrong(scene, call, command, &named, git))
        .collect();
    scene.restore();
    found.dedup();
    found.truncate(3);
    found
}

/// What the words of a command may mean as paths.
fn named(scene: &Scene, command: &str) -> Vec<PathBuf> {
    let analysis = scene.analyse(command);
    let words = analysis
        .patterns
        .iter()
        .flat_map(|text| text.split([' ', '=', '\'']));
    let root = scene.root();
    // `ln a/*` makes links of the names in that folder here.
    let linked = words
        .clone()
        .filter(|word| command.contains("ln") && word.contains('*'));
    let linked = linked.filter_map(|word| word.rsplit_once('/'));
    let linked = linked.flat_map(|(folder, _)| {
        let entries = std::fs::read_dir(root.join(folder)).into_iter().flatten();
        entries.flatten().map(|entry| root.join(entry.file_name()))
    });
    let linked: Vec<PathBuf> = linked.collect();
    words
        .flat_map(|word| {
            let glob = word.find(['*', '?', '[']).map_or(word, |at| &word[..at]);
            let folder = match glob == word {
                true => word,
                false => glob.rsplit_once('/').map_or(".", |(folder, _)| folder),
            };
            // `ln a/b` makes a link of the same name here.
            let last = folder.rsplit('/').next().unwrap_or(folder);
            let here = if command.contains("ln") { last } else { folder };
            [folder, here].map(|name| [root.join(name), root.join("src").join(name)])
        })
        .flatten()
        .map(|path| plain(&path))
        .chain(linked)
        .collect()
}

fn is_wrong(scene: &Scene, call: &str, command: &str, named: &[PathBuf], git: bool) -> bool {
    // What failed did nothing.
    if call.contains(" = -1 E") && !call.contains("EINPROGRESS") {
        return false;
    }
    let name = call.split('(').next().unwrap_or_default();
    let paths = paths(call, scene.root());
    match name {
        "execve" => {
            let program = paths
                .first()
                .is_some_and(|path| path.starts_with(scene.base()));
            program && call.contains(" = 0")
        }
        "connect" => {
            call.contains("AF_INET") || (call.contains("AF_UNIX") && !call.contains("nscd"))
        }
        "open" | "openat" | "creat" => {
            let flags = ["O_WRONLY", "O_RDWR", "O_CREAT", "O_TRUNC", "O_APPEND"];
            let path = &paths[0];
            match flags.iter().any(|flag| call.contains(flag)) {
                true => is_beyond(scene, path, named, git),
                false => scene.is_secret(&path.to_string_lossy(), call),
            }
        }
        // It enters the folders that it makes, one after the other.
        "mkdir" if !call.contains('/') => {
            let made = paths[0].file_name().unwrap_or_default();
            let is_named = named.iter().any(|one| one.file_name() == Some(made));
            !git && !is_named && !command.contains(&*made.to_string_lossy())
        }
        _ => paths.iter().any(|path| is_beyond(scene, path, named, git)),
    }
}

fn is_beyond(scene: &Scene, path: &Path, named: &[PathBuf], git: bool) -> bool {
    const ELSEWHERE: [&str; 4] = ["/dev/null", "/dev/tty", "/dev/stdout", "/dev/stderr"];
    let text = path.to_string_lossy();
    if ELSEWHERE.contains(&&*text)
        || ["/tmp/sort", "/tmp/tac"]
            .iter()
            .any(|t| text.starts_with(t))
    {
        return false;
    }
    let Ok(relative) = path.strip_prefix(scene.root()) else {
        return true;
    };
    let shown = relative.to_string_lossy();
    if git && relative.starts_with(".git") {
        return relative.starts_with(".git/hooks");
    }
    if protected::find(&shown, None).is_some() {
        return true;
    }
    // A backup or an archive has the name and an ending; `sed` and `ln` have a file of their own
    // beside it.
    let begins = |one: &PathBuf| text.starts_with(&*one.to_string_lossy());
    let beside = |one: &PathBuf| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let is_own = name.starts_with("sed") || name.starts_with("Cu") && name.len() == 8;
        is_own && path.parent() == one.parent()
    };
    !git && !named.iter().any(|one| begins(one) || beside(one))
}

/// The paths of a call, absolute and without links in their text.
fn paths(call: &str, root: &Path) -> Vec<PathBuf> {
    let arguments = call.split_once('(').map_or("", |(_, rest)| rest);
    let mut from = root.to_owned();
    let mut paths = Vec::new();
    let mut pieces = arguments.split('"');
    while let Some(between) = pieces.next() {
        // `AT_FDCWD</project>` or `3</project/src>` says where a relative name starts.
        let folder = between
            .rsplit_once('<')
            .and_then(|(_, rest)| rest.split_once('>'));
        if let Some((folder, _)) = folder {
            from = PathBuf::from(folder);
        }
        let Some(name) = pieces.next() else { break };
        paths.push(plain(&from.join(name)));
        if call.starts_with("execve") {
            return paths;
        }
    }
    if call.starts_with("symlink") {
        // What it says is no path that is touched.
        paths.remove(0);
    }
    if paths.is_empty() {
        paths.push(plain(&from));
    }
    paths
}

fn plain(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => {
                plain.pop();
            }
            Component::CurDir => {}
            part => plain.push(part),
        }
    }
    plain
}
