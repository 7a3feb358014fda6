//! Settings of a project that make a program run others. The caller reads the files.
//!
//! What is listed here is known to be harmless; a file with any other setting counts as one that
//! runs programs.

mod toml;

use super::{Effects, table};
use toml::toml_settings;
pub use toml::toolchain;

/// The hook that git runs when it refreshes what it knows of the files, which `git status`,
/// `git diff` and `git describe` do too.
pub const READING_HOOK: &str = ".git/hooks/post-index-change";

/// Files to look at for a program, relative to a directory and to those above it.
pub fn files(program: &str) -> &'static [&'static str] {
    match program {
        "git" => &[".git/config", ".git/config.worktree", READING_HOOK],
        "cargo" | "rustc" => &[
            ".cargo/config.toml",
            ".cargo/config",
            "rust-toolchain.toml",
            "rust-toolchain",
        ],
        "npm" => &[".npmrc"],
        "pnpm" => &[".npmrc", ".pnpmfile.cjs"],
        "yarn" => &[".yarnrc.yml", ".yarnrc", ".npmrc"],
        _ => &[],
    }
}

/// Whether the text of such a file names programs to run, or may do so.
pub fn names_programs(program: &str, file: &str, text: &str) -> bool {
    let harmless = match (program, file) {
        ("git", READING_HOOK) => false,
        ("git", _) => git_settings(text).all(|(key, value)| is_harmless(&key, &value)),
        ("cargo" | "rustc", file) if file.starts_with("rust-toolchain") => {
            is_plain_key(text.trim(), "-.")
                || toml_settings(text).all(|(key, _)| TOOLCHAIN.contains(&key.as_str()))
        }
        ("cargo" | "rustc", _) => toml_settings(text).all(|(key, value)| {
            // With these, the compiler itself can be made to load a library.
            let loads = key.ends_with("flags") && value.contains("-z");
            is_listed(&key, &CARGO) && !loads && !replaces_subcommand(&key)
        }),
        ("npm" | "pnpm" | "yarn", ".npmrc") => {
            npm_settings(text).all(|(key, value)| {
                // A variable would be sent to whatever host the file names.
                let plain = !key.contains('$') && !value.contains('$');
                plain && (is_registry(&key) || NPM.contains(&key.as_str()))
            })
        }
        ("npm" | "pnpm" | "yarn", _) => false,
        _ => true,
    };
    !harmless
}

/// Some subcommands of cargo are aliases themselves (`rm`), and give way to those of a project.
/// Others run code of the project anyway.
fn replaces_subcommand(key: &str) -> bool {
    let alias = key.strip_prefix("alias.");
    let known = alias.and_then(|name| table::find(&format!("cargo {name}")));
    known.is_some_and(|known| known.effects != Effects::ALL)
}

/// Whether git runs nothing because of this setting, whatever its value.
pub(super) fn is_harmless_setting(key: &str) -> bool {
    is_listed(&key.to_lowercase(), &GIT)
}

/// Settings of git; what is between the first and the last dot may be anything.
const GIT: [&str; 74] = [
    "core.repositoryformatversion",
    "core.filemode",
    "core.bare",
    "core.logallrefupdates",
    "core.ignorecase",
    "core.precomposeunicode",
    "core.symlinks",
    "core.autocrlf",
    "core.eol",
    "core.safecrlf",
    "core.longpaths",
    "core.quotepath",
    "core.abbrev",
    "core.whitespace",
    "core.untrackedcache",
    "core.preloadindex",
    "core.sparsecheckout",
    "core.sparsecheckoutcone",
    "core.commentchar",
    "core.compression",
    "extensions.worktreeconfig",
    "extensions.objectformat",
    "extensions.refstorage",
    "remote.url",
    "remote.fetch",
    "remote.push",
    "remote.pushurl",
    "remote.tagopt",
    "remote.prune",
    "remote.mirror",
    "remote.gh-resolved",
    "remote.pushdefault",
    "branch.remote",
    "branch.merge",
    "branch.rebase",
    "branch.pushremote",
    "branch.description",
    "branch.autosetupmerge",
    "branch.autosetuprebase",
    "branch.vscode-merge-base",
    "branch.gh-merge-base",
    "branch.github-pr-owner-number",
    "branch.sort",
    "user.name",
    "user.email",
    "user.signingkey",
    "user.useconfigonly",
    "submodule.url",
    "submodule.active",
    "submodule.branch",
    "submodule.ignore",
    "submodule.recurse",
    "init.defaultbranch",
    "pull.rebase",
    "pull.ff",
    "push.default",
    "push.autosetupremote",
    "push.followtags",
    "fetch.prune",
    "fetch.prunetags",
    "rerere.enabled",
    "merge.conflictstyle",
    "merge.ff",
    "diff.algorithm",
    "diff.renames",
    "diff.colormoved",
    "diff.mnemonicprefix",
    "commit.gpgsign",
    "commit.verbose",
    "tag.sort",
    "lfs.repositoryformatversion",
    "gc.auto",
    "advice.detachedhead",
    "color.ui",
];

/// Settings of cargo; with a dot at the end, everything below.
const CARGO: [&str; 24] = [
    "alias.",
    "term.",
    "profile.",
    "net.retry",
    "net.git-fetch-with-cli",
    "net.offline",
    "http.timeout",
    "http.multiplexing",
    "http.check-revoke",
    "source.replace-with",
    "source.directory",
    "source.registry",
    "registries.index",
    "registry.default",
    "build.jobs",
    "build.target",
    "build.target-dir",
    "build.rustflags",
    "build.rustdocflags",
    "build.incremental",
    "target.rustflags",
    "future-incompat-report.",
    "cargo-new.",
    "resolver.",
];

/// Settings of a toolchain. It may also be a folder of the project.
const TOOLCHAIN: [&str; 4] = [
    "toolchain.channel",
    "toolchain.components",
    "toolchain.targets",
    "toolchain.profile",
];

/// Settings of npm and of those that read its file.
const NPM: [&str; 29] = [
    "registry",
    "save-exact",
    "save-prefix",
    "engine-strict",
    "legacy-peer-deps",
    "strict-peer-dependencies",
    "strict-peer-deps",
    "auto-install-peers",
    "fund",
    "audit",
    "audit-level",
    "progress",
    "color",
    "loglevel",
    "package-lock",
    "lockfile",
    "ignore-scripts",
    "shamefully-hoist",
    "hoist",
    "hoist-pattern[]",
    "public-hoist-pattern[]",
    "node-linker",
    "link-workspace-packages",
    "prefer-workspace-packages",
    "save-workspace-protocol",
    "shared-workspace-lockfile",
    "update-notifier",
    "resolution-mode",
    "side-effects-cache",
];

fn is_listed(key: &str, list: &[&str]) -> bool {
    // `remote.origin.url` is a `remote.url`.
    let first = key.split('.').next().unwrap_or(key);
    let last = key.rsplit('.').next().unwrap_or(key);
    let short = format!("{first}.{last}");
    let whole = format!("{first}.");
    [key, &short, &whole].iter().any(|one| list.contains(one))
}

fn is_harmless(key: &str, value: &str) -> bool {
    let switch = matches!(
        value,
        "true" | "yes" | "on" | "1" | "false" | "no" | "off" | "0"
    );
    // As a word for yes or no, it is git's own watcher.
    let watches = key == "core.fsmonitor" && switch;
    watches || is_listed(key, &GIT)
}

/// The settings of a file of git's, as `section.key` and the value. Git puts more than one thing in a
/// line and goes on with a value in the next; such a line is none of the settings that are listed.
fn git_settings(text: &str) -> impl Iterator<Item = (String, String)> {
    let mut section = String::new();
    text.lines().filter_map(move |line| {
        let line = line.trim();
        if line.is_empty() || line.starts_with(['#', ';']) {
            return None;
        }
        let unclear = Some((line.to_owned(), String::new()));
        if line.ends_with('\\') {
            return unclear;
        }
        if let Some(header) = line.strip_prefix('[') {
            let Some((name, rest)) = header.split_once(']') else {
                return unclear;
            };
            let (name, part) = name.split_once(char::is_whitespace).unwrap_or((name, ""));
            let part = part.trim();
            let quoted =
                part.is_empty() || part.len() > 1 && part.starts_with('"') && part.ends_with('"');
            let inner = part.trim_matches('"');
            if !quoted || inner.contains(['"', '\\', '[']) || !is_plain_key(name, "-.") {
                return unclear;
            }
            section = name.to_lowercase();
            if !inner.is_empty() {
                section = format!("{section}.{inner}");
            }
            let rest = rest.trim();
            return match rest.is_empty() || rest.starts_with(['#', ';']) {
                true => None,
                false => Some(git_setting(&section, rest)),
            };
        }
        Some(git_setting(&section, line))
    })
}

fn git_setting(section: &str, line: &str) -> (String, String) {
    let (key, value) = line.split_once('=').unwrap_or((line, "true"));
    let key = key.trim().to_lowercase();
    match is_plain_key(&key, "-") {
        true => (format!("{section}.{key}"), value.trim().to_lowercase()),
        false => (line.to_owned(), String::new()),
    }
}

fn is_plain_key(key: &str, signs: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || signs.contains(c);
    !key.is_empty() && key.chars().all(plain)
}

/// The settings of a file with `key = value` in each line.
fn npm_settings(text: &str) -> impl Iterator<Item = (String, String)> {
    let lines = text.lines().map(str::trim);
    let lines = lines.filter(|line| !line.is_empty() && !line.starts_with(['#', ';']));
    lines.map(|line| {
        let (key, value) = line.split_once('=').unwrap_or((line, ""));
        (key.trim().to_lowercase(), value.trim().to_owned())
    })
}

/// Where the packages of a scope are, and what is sent there.
fn is_registry(key: &str) -> bool {
    let scope = key.starts_with('@') && key.ends_with(":registry");
    scope || (key.starts_with("//") && !key.contains("tokenhelper"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_config_of_git_with_programs_in_it_is_recognised() {
        for text in [
            "[core]\n\tfsmonitor = ./evil",
            "[core] fsmonitor=./evil",
            "[diff]\n external = x",
            "[diff \"a\"]\n\ttextconv = ./evil",
            "[filter \"lfs\"]\n\tclean = git-lfs clean",
            "[CORE]\n\tHooksPath = x",
            "[include]\n\tpath = ../evil",
            "[includeIf \"gitdir:x\"]\npath = x",
            "[remote \"o\"]\n\tpromisor = true\n\tuploadpack = ./evil",
            "[core]\n\tworktree = /home/ada",
            "[gpg]\n\tprogram = ./evil",
            "[log]\n\tshowSignature = true",
            "[pretty]\n\tx = %G?",
            "[core]\n\tfilemode = true\n\tsomething = new",
            "[remote \"x\"] [filter \"a.url=b\"] clean = ./evil",
            "[remote \"x] url=y\"] uploadpack = ./evil",
            "[remote \"x\\\"] url=\"]\nuploadpack = ./evil",
            "[core]\n\tabbrev = 7 \\\n[remote \"x\"]\n\turl = y",
        ] {
            assert!(names_programs("git", ".git/config", text), "{text}");
        }
        for text in [
            "[core]\n\trepositoryformatversion = 0\n\tbare = false",
            "[core]\n\tfsmonitor = true",
            "[remote \"origin\"]\n\turl = x\n[branch \"feature/a.b\"]\n\tmerge = y",
            "[user]\n\tname = Ada\n\temail = a@b.c\n# a comment\n[pull]\n\trebase = true",
            "",
        ] {
            assert!(!names_programs("git", ".git/config", text), "{text}");
        }
    }

    #[test]
    fn other_tools_run_nothing_that_is_not_listed() {
        for (program, file, text) in [
            ("cargo", ".cargo/config.toml", "[build]\nrustc = \"./evil\""),
            ("cargo", ".cargo/config.toml", "build.rustc-wrapper = \"x\""),
            ("cargo", ".cargo/config.toml", "build = { rustc = \"x\" }"),
            ("cargo", ".cargo/config.toml", "include = \"x.toml\""),
            ("cargo", ".cargo/config.toml", "[env]\nA = \"b\""),
            ("cargo", ".cargo/config.toml", "[alias]\nrm = \"run\""),
            ("cargo", ".cargo/config.toml", "alias.rm = [\"run\"]"),
            (
                "cargo",
                ".cargo/config.toml",
                "[registries.x]\ncredential-provider = [\"./evil\"]",
            ),
            (
                "cargo",
                "rust-toolchain.toml",
                "[toolchain]\npath = \"./evil\"",
            ),
            (
                "cargo",
                ".cargo/config.toml",
                "[build]\n\"rustc\"=\"./evil\"",
            ),
            (
                "cargo",
                ".cargo/config.toml",
                "\"build\".rustc = \"./evil\"",
            ),
            (
                "cargo",
                ".cargo/config.toml",
                "[alias]\na = \"\"\"\n\"\"\"\n[build]\nrustc = \"x\"",
            ),
            ("cargo", ".cargo/config.toml", "[\"build\"]\nrustc = \"x\""),
            (
                "cargo",
                ".cargo/config.toml",
                "[build]\njobs = 2\nrustc\t= \"x\"",
            ),
            (
                "cargo",
                ".cargo/config.toml",
                "[build]\nrustflags = [\n\"-C\",\n]\nrustc = \"x\"",
            ),
            (
                "cargo",
                ".cargo/config.toml",
                "[build]\nrustflags = [\n\"-Zcodegen-backend=./evil.so\"\n]",
            ),
            (
                "rustc",
                "rust-toolchain.toml",
                "toolchain = { path = \"./evil\" }",
            ),
            (
                "rustc",
                "rust-toolchain.toml",
                "[toolchain]\n\"path\" = \"./evil\"",
            ),
            (
                "rustc",
                "rust-toolchain",
                "[\"toolchain\"]\npath = \"./evil\"",
            ),
            ("rustc", "rust-toolchain", "./evil"),
            ("npm", ".npmrc", "\"script-shell\"=\"./evil\""),
            ("pnpm", ".npmrc", "//example.org/:tokenHelper=./evil"),
            ("npm", ".npmrc", "node-options=--require ./evil"),
            ("npm", ".npmrc", "registry=https://example.org/${HOME}/"),
            ("npm", ".npmrc", "//example.org/:_authToken=${HOME}"),
            ("npm", ".npmrc", "script-shell=./evil"),
            ("yarn", ".yarnrc.yml", "yarnPath: ./evil.cjs"),
        ] {
            assert!(names_programs(program, file, text), "{text}");
        }
        for (program, file, text) in [
            (
                "cargo",
                ".cargo/config.toml",
                "[alias]\nxtask = \"run -p xtask\"\n[target.x86_64-unknown-linux-gnu]\nrustflags = [\n  \"-C\",\n  \"target-cpu=native\",\n]",
            ),
            (
                "cargo",
                "rust-toolchain.toml",
                "[toolchain]\nchannel = \"1.90\"\ncomponents = [\n  \"clippy\",\n]",
            ),
            ("cargo", "rust-toolchain", "nightly-2026-01-01\n"),
            (
                "cargo",
                ".cargo/config.toml",
                "[target.'cfg(target_os = \"linux\")'] # a comment\nrustflags = [\"-C\", \"x\"]\n[profile.dev.package.\"*\"]\nopt-level = 3",
            ),
            (
                "npm",
                ".npmrc",
                "registry=https://example.org\n@a:registry=x\n//example.org/:_authToken=x",
            ),
        ] {
            assert!(!names_programs(program, file, text), "{text}");
        }
    }
}
