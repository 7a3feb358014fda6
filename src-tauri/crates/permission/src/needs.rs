//! What a call needs, in the terms that decisions are made in.

use std::path::{Path, PathBuf};

use lathe_policy::decision::Need;
use lathe_policy::names::{EXTERNAL_DIRECTORY, NETWORK, NO_SANDBOX, SANDBOX_WRITE};
use lathe_policy::protected;
use lathe_policy::shell::{Analysis, Surroundings, analyse};
use lathe_protocol::{Action, CommandDanger, Rule};
use lathe_tools::paths::{self, external_directory};
use lathe_tools::{CommandAsk, PermissionAsk, Refusal, Refused, Want};
use lathe_workspace::by_link::ByLink;
use lathe_workspace::confinement::SandboxGrants;
use lathe_workspace::paths::DiskPaths;

/// What a tool asks for. A change of a protected path is asked about every time.
pub fn needs_of(ask: &PermissionAsk, root: &Path, home: Option<&Path>) -> Vec<Need> {
    let mut needs: Vec<Need> = ask.wants.iter().map(|want| need(want, home)).collect();
    protect_by_link(&mut needs, root, home);
    needs
}

/// What is written may be protected by another name.
fn protect_by_link(needs: &mut [Need], root: &Path, home: Option<&Path>) {
    let mut edits = needs.iter_mut().filter(|need| need.permission == "edit");
    let Some(first) = edits.next() else { return };
    let by_link = ByLink::of(root, home);
    for need in [first].into_iter().chain(edits) {
        let known = |path: &&String| !need.protected.iter().any(|one| one.path == **path);
        let others = need.patterns.iter().filter(known);
        let found: Vec<_> = others.filter_map(|path| by_link.protects(path)).collect();
        if !found.is_empty() {
            need.always.clear();
        }
        need.protected.extend(found);
    }
}

fn need(want: &Want, home: Option<&Path>) -> Need {
    let mut need = Need {
        permission: want.permission.clone(),
        patterns: want.patterns.clone(),
        always: want.always.clone(),
        ..Need::default()
    };
    if want.opaque {
        need.opaque = vec!["does more than it says".to_owned()];
    }
    match want.permission.as_str() {
        "edit" => {
            let paths = want.patterns.iter();
            need.protected = paths
                .filter_map(|path| protected::find(path, home))
                .collect();
        }
        EXTERNAL_DIRECTORY => need.outside = want.patterns.first().map(PathBuf::from),
        "webfetch" => need.host = want.patterns.first().cloned(),
        _ => {}
    }
    if want.opaque || !need.protected.is_empty() {
        need.always.clear();
    }
    need
}

/// What a command needs, and what in it deserves a second look.
pub struct CommandNeeds {
    pub needs: Vec<Need>,
    pub dangers: Vec<CommandDanger>,
    /// What a sandbox must be open for, because the command is known to do nothing else there.
    pub grants: SandboxGrants,
}

pub fn needs_of_command(ask: &CommandAsk, paths: &DiskPaths<'_>) -> CommandNeeds {
    let analysis = analyse(
        &ask.command,
        &Surroundings {
            directory: &ask.directory,
            home: paths.home,
            dialect: ask.dialect,
            paths,
        },
    );
    let mut needs = Need::of_command(&analysis);
    needs.extend(ask.wants.iter().map(|want| Need {
        left_to_sandbox: want.permission == EXTERNAL_DIRECTORY,
        ..need(want, paths.home)
    }));
    protect_by_link(&mut needs, paths.root, paths.home);
    // The command itself is what the request is named after.
    needs.sort_by_key(|need| need.permission != "bash");
    let mut grants = SandboxGrants::default();
    if analysis.changes_only_git() {
        // Its hooks and settings stay as they are.
        grants.writable.push(paths.root.join(".git"));
    }
    // What is asked about before the command runs need not be asked about after it.
    let reads = needs.iter().filter(|need| need.permission == "read");
    let reads = reads.flat_map(|need| &need.patterns);
    grants.readable = reads.map(|path| paths.root.join(path)).collect();
    let named = needs.iter().flat_map(|need| &need.protected);
    grants.protected = named.map(|one| paths.root.join(&one.path)).collect();
    CommandNeeds {
        needs,
        dangers: dangers(&analysis),
        grants,
    }
}

fn dangers(analysis: &Analysis) -> Vec<CommandDanger> {
    let dangers = analysis.dangers.iter();
    dangers
        .map(|danger| CommandDanger {
            text: danger.command.clone(),
            why: danger.why.to_owned(),
        })
        .collect()
}

/// What must be allowed so that a command can do what the sandbox refused.
pub fn needs_to_leave_sandbox(
    ask: &CommandAsk,
    refusal: &Refusal,
    root: &Path,
    home: Option<&Path>,
) -> Vec<Need> {
    let whole_command = || Need {
        opaque: vec!["would run without the sandbox".to_owned()],
        ..Need::new(NO_SANDBOX, &ask.command)
    };
    let mut needs: Vec<Need> = Vec::new();
    for refused in &refusal.refused {
        let more = match refused {
            Refused::Network(_) => vec![Need::new(NETWORK, "*").always("*")],
            Refused::SystemCall => vec![whole_command()],
            Refused::Read(path) if path.starts_with(root) => {
                let shown = paths::shown(path, root);
                vec![Need::new("read", &shown).always(shown)]
            }
            Refused::Read(path) => vec![whole_command(), outside(path)],
            Refused::Write(path) => match protection(path, root, home) {
                Some(protected) => vec![Need {
                    protected: vec![protected],
                    ..whole_command()
                }],
                None => match opening(path, root, home) {
                    Some(place) => vec![write_outside(&place), outside(path)],
                    None => vec![whole_command(), outside(path)],
                },
            },
        };
        for need in more {
            if !needs.contains(&need) {
                needs.push(need);
            }
        }
    }
    // The request is named after the one that asks for most.
    needs.sort_by_key(|need| need.permission != NO_SANDBOX);
    needs
}

/// What the sandbox is opened for after a person allowed it. None is no sandbox at all.
pub fn grants(refused: &[Refused], root: &Path, home: Option<&Path>) -> Option<SandboxGrants> {
    let mut grants = SandboxGrants::default();
    for one in refused {
        match one {
            Refused::Write(path) if protection(path, root, home).is_none() => {
                grants.writable.push(opening(path, root, home)?);
            }
            Refused::Read(path) if path.starts_with(root) => grants.readable.push(path.clone()),
            Refused::Network(_) => grants.network = true,
            Refused::Write(_) | Refused::Read(_) | Refused::SystemCall => return None,
        }
    }
    Some(grants)
}

/// What the person allowed before opens the sandbox as far.
pub fn standing_grants(approved: &[Rule]) -> SandboxGrants {
    let mut grants = SandboxGrants::default();
    for rule in approved.iter().filter(|rule| rule.action == Action::Allow) {
        match rule.permission.as_str() {
            NETWORK if rule.pattern == "*" => grants.network = true,
            SANDBOX_WRITE => {
                let pattern = rule.pattern.as_str();
                let place = PathBuf::from(pattern.strip_suffix("/*").unwrap_or(pattern));
                if place.is_absolute() && !place.to_string_lossy().contains(['*', '?']) {
                    grants.writable.push(place);
                }
            }
            _ => {}
        }
    }
    grants
}

fn protection(path: &Path, root: &Path, home: Option<&Path>) -> Option<protected::Protected> {
    let shown = paths::shown(path, root);
    protected::find(&shown, home).or_else(|| ByLink::of(root, home).protects(&shown))
}

/// What is opened so that a command can write a path: a file that is there, and nothing beside it;
/// else the folder that it is to be made in. None where that would be far more than was meant: the
/// home folder, or one that the project or the home folder lies in.
fn opening(path: &Path, root: &Path, home: Option<&Path>) -> Option<PathBuf> {
    if path.is_file() {
        return Some(path.to_owned());
    }
    let folder = folder_of(path);
    let holds = |inner: &Path| inner.starts_with(folder);
    (!holds(root) && !home.is_some_and(holds)).then(|| folder.to_owned())
}

fn write_outside(place: &Path) -> Need {
    let want = match place.is_dir() {
        true => external_directory(place),
        false => external_file(place),
    };
    Need {
        permission: SANDBOX_WRITE.to_owned(),
        patterns: want.patterns,
        always: want.always,
        outside: Some(folder_of(place).to_owned()),
        ..Need::default()
    }
}

fn external_file(file: &Path) -> Want {
    let shown = file.to_string_lossy().into_owned();
    let want = Want::new(SANDBOX_WRITE, &shown);
    // In a rule these would match more than this file.
    match shown.contains(['*', '?']) {
        true => want,
        false => want.always(shown),
    }
}

/// A rule that denies the folder still counts; the other need already asks.
fn outside(path: &Path) -> Need {
    let want = external_directory(folder_of(path));
    Need {
        permission: want.permission,
        patterns: want.patterns,
        outside: Some(folder_of(path).to_owned()),
        only_denies: true,
        ..Need::default()
    }
}

fn folder_of(path: &Path) -> &Path {
    match path.is_dir() {
        true => path,
        false => path.parent().unwrap_or(path),
    }
}
