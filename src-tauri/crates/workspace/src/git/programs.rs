//! What a repository itself makes git do: its hooks, filters, drivers and signers.
//!
//! Git offers no way to ignore a repository's config. So every setting of it that is not on the
//! list of harmless ones is overridden until the person trusts it, by what the person's own config
//! says or by git's default. The person's own config holds in any case.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use lathe_protocol::ipc::{TrustWant, WantKind};
use lathe_records::{Failed, Result};
use lathe_tools::text::visible;
use sha2::{Digest, Sha256};

use super::harmless::{default_of, is_harmless};
use super::{Git, os_string};
use crate::trust::content_hash;

/// The hooks that what we do with git would run.
const HOOKS: [&str; 10] = [
    "pre-commit",
    "prepare-commit-msg",
    "commit-msg",
    "post-commit",
    "pre-merge-commit",
    "post-merge",
    "post-checkout",
    "post-rewrite",
    "post-index-change",
    "reference-transaction",
];
/// Files beside the hooks that the hash covers.
const MOST_FILES: usize = 200;
const HOOKS_PATH: &str = "core.hookspath";

pub(super) type Settings = Vec<(OsString, OsString)>;

/// What a repository makes git run.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Programs {
    pub wants: Vec<TrustWant>,
    /// Of everything that the wants stand for; the same in every worktree of the repository.
    pub hash: String,
    /// The settings without which nothing of it runs.
    pub(super) off: Settings,
}

/// The config that holds in a folder.
#[derive(Debug, Default)]
struct Config {
    /// The last value of each setting that the repository makes.
    own: BTreeMap<Vec<u8>, Vec<u8>>,
    /// The last value of each setting that the person or the machine makes.
    person: BTreeMap<Vec<u8>, Vec<u8>>,
    /// Git has taken over the settings that we gave it.
    is_guarded: bool,
}

pub(super) async fn read(git: &Git) -> Result<Programs> {
    // Beside each other: a start waits for both.
    let (listed, hooks) = tokio::join!(
        git.run(&["config", "--null", "--show-scope", "--list"]),
        git.line(&["rev-parse", "--git-path", "hooks"]),
    );
    let config = Config::parse(&listed?);
    if !config.is_guarded {
        return Err(Failed::refused("git 2.31 or newer is needed"));
    }
    let hooks = match config.hooks_are_the_persons() {
        true => None,
        // Without a repository there are no hooks.
        false => hooks.ok(),
    };
    let hooks = hooks.map(|hooks| git.folder().join(hooks));
    // Git runs what a setting names from here, wherever it is started.
    let root = match config.needing_trust().next() {
        Some(_) => git.line(&["rev-parse", "--show-toplevel"]).await.ok(),
        None => None,
    };
    let root = root.map(PathBuf::from);
    let folder = git.folder().to_owned();
    let read = move || -> Result<Programs> {
        Ok(Programs {
            off: config.off()?,
            ..config.programs(hooks.as_deref(), &folder, root.as_deref())
        })
    };
    let read = tokio::task::spawn_blocking(read).await;
    read.map_err(|error| Failed::refused(error.to_string()))?
}

impl Config {
    fn parse(listed: &[u8]) -> Config {
        let mut config = Config::default();
        let mut fields = listed.split(|byte| *byte == 0);
        while let (Some(scope), Some(setting)) = (fields.next(), fields.next()) {
            let mut parts = setting.splitn(2, |byte| *byte == b'\n');
            let key = parts.next().unwrap_or_default().to_vec();
            // A setting without a value is one that is true.
            let value = parts.next().unwrap_or(b"true").to_vec();
            match scope {
                b"local" | b"worktree" => drop(config.own.insert(key, value)),
                b"command" => config.is_guarded = true,
                _ => drop(config.person.insert(key, value)),
            }
        }
        config
    }

    /// A relative path leads into the repository.
    fn hooks_are_the_persons(&self) -> bool {
        let named = self.person.get(HOOKS_PATH.as_bytes());
        let outside = |path: &Vec<u8>| {
            path.starts_with(b"~") || Path::new(&*String::from_utf8_lossy(path)).is_absolute()
        };
        !self.own.contains_key(HOOKS_PATH.as_bytes()) && named.is_some_and(outside)
    }

    fn needing_trust(&self) -> impl Iterator<Item = (&Vec<u8>, &Vec<u8>)> {
        let own = self.own.iter();
        own.filter(|(key, _)| !is_harmless(&String::from_utf8_lossy(key)))
    }

    fn off(&self) -> Result<Settings> {
        let mut off = Settings::new();
        for (key, _) in self.needing_trust() {
            let name = String::from_utf8_lossy(key).into_owned();
            if let Some((hook, _)) = name.rsplit_once('.').filter(|_| name.starts_with("hook.")) {
                off.push((format!("{hook}.enabled").into(), "false".into()));
            } else if name != HOOKS_PATH {
                let value = match self.person.get(key) {
                    Some(value) => os_string(value)?,
                    None => default_of(&name).into(),
                };
                off.push((os_string(key)?, value));
            }
        }
        if !self.hooks_are_the_persons() {
            off.push((HOOKS_PATH.into(), "/dev/null".into()));
        }
        Ok(off)
    }

    fn programs(&self, hooks: Option<&Path>, folder: &Path, root: Option<&Path>) -> Programs {
        let mut programs = Programs::default();
        let mut digest = Sha256::new();
        let mut add = |name: &[u8], content: &[u8]| {
            for part in [name, content] {
                digest.update((part.len() as u64).to_le_bytes());
                digest.update(part);
            }
        };
        let mut want = |text: String, file: &str| {
            programs.wants.push(TrustWant {
                kind: WantKind::Git,
                text: visible(&text),
                file: visible(file),
            });
        };
        for (key, value) in self.needing_trust() {
            add(key, value);
            let text = String::from_utf8_lossy;
            want(
                format!("Let git use {} = {}", text(key), text(value)),
                ".git/config",
            );
            for (name, file) in root.map_or_else(Vec::new, |root| named_files(&text(value), root)) {
                add(&name, &content_hash(&file));
            }
        }
        if let Some(hooks) = hooks {
            let named: Vec<PathBuf> = HOOKS.iter().map(|name| hooks.join(name)).collect();
            let mut files: Vec<PathBuf> = named.into_iter().filter(|file| runs(file)).collect();
            for file in &files {
                let name = file.file_name().unwrap_or_default().to_string_lossy();
                let place = file.strip_prefix(folder).unwrap_or(file);
                want(
                    format!("Let git run the hook {name}"),
                    &place.display().to_string(),
                );
            }
            if !files.is_empty() {
                let beside = files_in(hooks);
                files.extend(beside.into_iter().take(MOST_FILES));
            }
            for file in &files {
                let name = file.strip_prefix(hooks).unwrap_or(file);
                add(name.as_os_str().as_encoded_bytes(), &content_hash(file));
            }
        }
        let digest = digest.finalize();
        programs.hash = digest.iter().map(|byte| format!("{byte:02x}")).collect();
        programs
    }
}

/// The files of the checkout among the words of a command, with the words.
fn named_files(command: &str, root: &Path) -> Vec<(Vec<u8>, PathBuf)> {
    const QUOTES: [char; 2] = ['"', '\''];
    const ENDS: &[char] = &[
        '"', '\'', '`', ';', '&', '|', '(', ')', '<', '>', '=', '$', '{', '}',
    ];
    let Ok(root) = root.canonicalize() else {
        return Vec::new();
    };
    let words = command.split(|c: char| c.is_whitespace() || ENDS.contains(&c));
    // A name in quotes may have spaces.
    let words = words.chain(command.split_whitespace());
    let words = words.chain(command.split(QUOTES));
    let files = words.filter_map(|word| {
        let file = root.join(word).canonicalize().ok()?;
        (file.is_file() && file.starts_with(&root)).then(|| (word.as_bytes().to_vec(), file))
    });
    files.collect()
}

/// Git runs a hook if it may be executed.
fn runs(hook: &Path) -> bool {
    let found = fs::metadata(hook);
    #[cfg(unix)]
    let may = |found: &fs::Metadata| {
        use std::os::unix::fs::PermissionsExt;
        found.permissions().mode() & 0o111 != 0
    };
    #[cfg(not(unix))]
    let may = |_: &fs::Metadata| true;
    found.is_ok_and(|found| found.is_file() && may(&found))
}

/// The files of a folder and of the folders directly in it, in order: hooks call each other.
fn files_in(folder: &Path) -> Vec<PathBuf> {
    let list = |folder: &Path| {
        let entries = fs::read_dir(folder).into_iter().flatten().flatten();
        let mut paths: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
        paths.sort();
        paths
    };
    let (folders, mut files): (Vec<PathBuf>, Vec<PathBuf>) =
        list(folder).into_iter().partition(|path| path.is_dir());
    files.extend(folders.iter().flat_map(|inner| list(inner)));
    files.retain(|file| file.is_file() && file.extension().is_none_or(|end| end != "sample"));
    files
}

#[cfg(test)]
mod tests {
    use super::*;

    fn config(settings: &[(&str, &str)]) -> Config {
        let listed: String = settings
            .iter()
            .map(|(scope, setting)| format!("{scope}\0{setting}\0"))
            .collect();
        Config::parse(listed.as_bytes())
    }

    fn off(settings: &[(&str, &str)]) -> Vec<String> {
        let off = config(settings).off().unwrap().into_iter();
        off.map(|(key, value)| format!("{}={}", key.display(), value.display()))
            .collect()
    }

    #[test]
    fn the_persons_own_settings_hold_and_those_of_the_repository_do_not() {
        let settings = [
            ("global", "filter.lfs.clean\ngit-lfs clean -- %f"),
            ("global", "filter.lfs.required\ntrue"),
            ("global", "commit.gpgsign\ntrue"),
            ("global", "core.hookspath\n~/hooks"),
            ("local", "core.bare\nfalse"),
            ("local", "remote.origin.url\ngit@example.org:a"),
            ("local", "filter.lfs.clean\nevil"),
            ("local", "filter.a=b.clean\nevil"),
            ("local", "filter.a=b.required"),
            ("worktree", "gpg.program\nevil"),
            ("local", "lfs.extension.x.clean\nevil"),
            ("local", "hook.x.command\nevil"),
            ("command", "core.fsmonitor\nfalse"),
        ];
        assert_eq!(
            off(&settings),
            [
                "filter.a=b.clean=",
                "filter.a=b.required=false",
                "filter.lfs.clean=git-lfs clean -- %f",
                "gpg.program=gpg",
                "hook.x.enabled=false",
                "lfs.extension.x.clean=",
            ]
        );
        assert!(config(&settings).is_guarded);
    }

    #[test]
    fn hooks_are_off_unless_they_are_the_persons() {
        assert_eq!(off(&[]), ["core.hookspath=/dev/null"]);
        let inside = [("global", "core.hookspath\n.githooks")];
        assert_eq!(off(&inside), ["core.hookspath=/dev/null"]);
        let replaced = [
            ("global", "core.hookspath\n/hooks"),
            ("local", "core.hookspath\n/tmp/evil"),
        ];
        assert_eq!(off(&replaced), ["core.hookspath=/dev/null"]);
        assert_eq!(off(&replaced[..1]), [""; 0]);
    }
}
