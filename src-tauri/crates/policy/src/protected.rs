//! Paths whose content decides what runs later: git's own files and hooks, the agents' config,
//! editors' tasks, start-up files of shells.
//!
//! A change there is asked about every time. No rule with a wildcard and no "always" covers it,
//! because a rule for `edit *` means the project's files. Names are compared without case:
//! on a file system that has case it costs a question at most.

use std::path::Path;

/// A path that is protected, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Protected {
    /// As rules see it.
    pub path: String,
    pub why: String,
}

const GIT: &str = "git's own files: hooks and settings in it run programs";
const HOOKS: &str = "its files run at every commit or push";
const AGENTS: &str = "settings of an agent: what it may do and what it starts";
const TASKS: &str = "an editor runs what it says";
const CONTAINER: &str = "a development container runs what it says";
const TOOLS: &str = "settings of a tool that can name programs to run";
const SHELL: &str = "a shell or a login runs it";
const KEYS: &str = "keys and settings for other machines";
const START: &str = "what is in it starts with the desktop";

/// Folders, wherever they are, with everything in them.
const FOLDERS: [(&str, &str); 34] = [
    (".git", GIT),
    (".hg", GIT),
    (".svn", GIT),
    (".jj", GIT),
    (".husky", HOOKS),
    (".githooks", HOOKS),
    (".git-hooks", HOOKS),
    (".lefthook", HOOKS),
    (".lathe", AGENTS),
    (".opencode", AGENTS),
    (".claude", AGENTS),
    (".codex", AGENTS),
    (".cursor", AGENTS),
    (".gemini", AGENTS),
    (".windsurf", AGENTS),
    (".continue", AGENTS),
    (".roo", AGENTS),
    (".devcontainer", CONTAINER),
    (".ssh", KEYS),
    (".gnupg", KEYS),
    (".aws", KEYS),
    (".kube", KEYS),
    (".docker", KEYS),
    (".config/autostart", START),
    (".config/systemd", START),
    ("library/launchagents", START),
    ("start menu/programs/startup", START),
    (".idea/runconfigurations", TASKS),
    (".run", TASKS),
    (".bashrc.d", SHELL),
    ("mise/conf.d", SHELL),
    (".config/fish", SHELL),
    (".config/git", GIT),
    (".helix", TASKS),
];

/// Files, wherever they are.
const FILES: [(&str, &str); 81] = [
    (".gitconfig", GIT),
    (".gitmodules", GIT),
    (".pre-commit-config.yaml", HOOKS),
    (".pre-commit-config.yml", HOOKS),
    (".overcommit.yml", HOOKS),
    (".simple-git-hooks.json", HOOKS),
    (".simple-git-hooks.js", HOOKS),
    (".simple-git-hooks.cjs", HOOKS),
    (".huskyrc", HOOKS),
    (".huskyrc.json", HOOKS),
    (".vim/coc-settings.json", TASKS),
    (".lvimrc", TOOLS),
    (".mise/config.toml", SHELL),
    ("mise/config.toml", SHELL),
    (".direnvrc", SHELL),
    (".autoenv.zsh", SHELL),
    ("lathe.json", AGENTS),
    ("lathe.jsonc", AGENTS),
    ("opencode.json", AGENTS),
    ("opencode.jsonc", AGENTS),
    (".mcp.json", AGENTS),
    (".aider.conf.yml", AGENTS),
    ("crush.json", AGENTS),
    (".crush.json", AGENTS),
    (".vscode/tasks.json", TASKS),
    (".vscode/launch.json", TASKS),
    (".vscode/settings.json", TASKS),
    (".vscode/extensions.json", TASKS),
    (".vscode/mcp.json", AGENTS),
    (".idea/workspace.xml", TASKS),
    (".idea/watchertasks.xml", TASKS),
    (".vs/tasks.vs.json", TASKS),
    (".vs/launch.vs.json", TASKS),
    (".zed/tasks.json", TASKS),
    (".zed/settings.json", TASKS),
    (".zed/debug.json", TASKS),
    (".fleet/run.json", TASKS),
    (".devcontainer.json", CONTAINER),
    (".envrc", SHELL),
    (".npmrc", TOOLS),
    (".yarnrc", TOOLS),
    (".yarnrc.yml", TOOLS),
    (".pnpmfile.cjs", TOOLS),
    (".cargo/config", TOOLS),
    (".cargo/config.toml", TOOLS),
    (".curlrc", TOOLS),
    (".wgetrc", TOOLS),
    (".netrc", KEYS),
    (".vimrc", TOOLS),
    (".exrc", TOOLS),
    (".nvimrc", TOOLS),
    (".nvim.lua", TOOLS),
    (".emacs", TOOLS),
    (".dir-locals.el", TOOLS),
    (".gdbinit", TOOLS),
    (".lldbinit", TOOLS),
    (".tmux.conf", TOOLS),
    (".inputrc", SHELL),
    (".bashrc", SHELL),
    (".bash_profile", SHELL),
    (".bash_login", SHELL),
    (".bash_logout", SHELL),
    (".bash_aliases", SHELL),
    (".profile", SHELL),
    (".zshrc", SHELL),
    (".zshenv", SHELL),
    (".zprofile", SHELL),
    (".zlogin", SHELL),
    (".zlogout", SHELL),
    (".kshrc", SHELL),
    (".cshrc", SHELL),
    (".tcshrc", SHELL),
    (".login", SHELL),
    (".xinitrc", SHELL),
    (".xprofile", SHELL),
    (".xsession", SHELL),
    (".xsessionrc", SHELL),
    (".pam_environment", SHELL),
    ("powershell/profile.ps1", SHELL),
    ("windowspowershell/profile.ps1", SHELL),
    ("microsoft.powershell_profile.ps1", SHELL),
];

/// Whether a change of this path must be asked about. It is relative to the project, or absolute;
/// `..` and other spellings of the same are resolved by the text alone.
pub fn find(path: &str, home: Option<&Path>) -> Option<Protected> {
    let names = names(path);
    let why = reason(&names).or_else(|| at_home(path, &names, home))?;
    Some(Protected {
        path: path.to_owned(),
        why: why.to_owned(),
    })
}

/// The same for a folder that is made or replaced as a whole: what is in it then is not named, and
/// may be protected.
pub(crate) fn find_below(path: &str) -> Option<Protected> {
    let names = names(path);
    let last = names.last()?;
    let all = FOLDERS.iter().chain(&FILES);
    let (_, why) = all
        .filter_map(|(place, why)| Some((place.split_once('/')?.0, why)))
        .find(|(first, _)| is_name(last, first))?;
    Some(Protected {
        path: path.to_owned(),
        why: (*why).to_owned(),
    })
}

/// The folder of the project itself, for what deletes or moves it.
pub(crate) fn whole_project(path: &str) -> Protected {
    Protected {
        path: path.to_owned(),
        why: "it is the project itself, with git's own files in it".to_owned(),
    }
}

/// The same for places that only the caller knows, such as `core.hooksPath`.
pub fn is_below(path: &str, folder: &str) -> bool {
    let (path, folder) = (names(path), names(folder));
    path.len() >= folder.len() && path[..folder.len()] == folder[..]
}

fn reason(names: &[String]) -> Option<&'static str> {
    for end in 1..=names.len() {
        let at_end = |wanted: &str| {
            let parts: Vec<&str> = wanted.split('/').collect();
            let Some(start) = end.checked_sub(parts.len()) else {
                return false;
            };
            let found = names[start..end].iter();
            found.zip(parts).all(|(name, wanted)| is_name(name, wanted))
        };
        if let Some((_, why)) = FOLDERS.iter().find(|(folder, _)| at_end(folder)) {
            return Some(why);
        }
        // A repository without a checkout.
        let bare = names[end - 1].len() > 4 && names[end - 1].ends_with(".git");
        if bare && end < names.len() {
            return Some(GIT);
        }
        if end == names.len() {
            if let Some((_, why)) = FILES.iter().find(|(file, _)| at_end(file)) {
                return Some(why);
            }
            if let Some(why) = by_name(&names[end - 1]) {
                return Some(why);
            }
        }
    }
    None
}

/// Files of which a part of the name is free.
fn by_name(name: &str) -> Option<&'static str> {
    // It may have tasks that run when the folder is opened.
    if name.ends_with(".code-workspace") {
        return Some(TASKS);
    }
    let (first, rest) = name.trim_start_matches('.').split_once('.')?;
    let lefthook = matches!(first, "lefthook" | "lefthook-local")
        && matches!(rest, "yml" | "yaml" | "toml" | "json" | "jsonc");
    if lefthook || is_name(name, "lefthook.yml") {
        return Some(HOOKS);
    }
    // Also of an environment: `mise.test.toml`.
    let mise = first == "mise" && (rest == "toml" || rest.ends_with(".toml"));
    mise.then_some(SHELL)
}

/// Directly in the home folder, hidden names are settings of programs.
fn at_home(path: &str, names: &[String], home: Option<&Path>) -> Option<&'static str> {
    let home = self::names(&home?.to_string_lossy());
    let absolute = path.starts_with(['/', '\\', '~']) || path.get(1..2) == Some(":");
    let below = match path.starts_with('~') {
        true => names.get(1..)?,
        false => names.strip_prefix(home.as_slice())?,
    };
    let first = below.first().filter(|_| absolute)?;
    let settings = first.ends_with("rc") || first.ends_with("profile") || first.ends_with("env");
    (first.starts_with('.') && settings && below.len() == 1).then_some(SHELL)
}

/// The names of a path as a file system that is not strict about them sees them.
fn names(path: &str) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for part in path.split(['/', '\\']) {
        match part {
            "" | "." => {}
            ".." => {
                names.pop();
            }
            part => names.push(folded(part)),
        }
    }
    names
}

/// Without case, invisible characters, streams (`x::$DATA`) and trailing dots and blanks.
fn folded(name: &str) -> String {
    let visible = name
        .chars()
        .filter(|c| !lathe_protocol::text::is_deceptive(*c));
    let name: String = visible.flat_map(char::to_lowercase).collect();
    // The first colon of `c:` is no stream.
    let end = name.char_indices().skip(2).find(|(_, c)| *c == ':');
    let name = end.map_or(name.as_str(), |(at, _)| &name[..at]);
    name.trim_end_matches(['.', ' ']).to_owned()
}

/// Also by its short name on Windows: `GIT~1`.
fn is_name(name: &str, wanted: &str) -> bool {
    if name == wanted {
        return true;
    }
    let Some((start, number)) = name.split_once('~') else {
        return false;
    };
    let bare: String = wanted.chars().filter(|c| *c != '.' && *c != ' ').collect();
    let number = number.split('.').next().unwrap_or_default();
    let numbered = !number.is_empty() && number.chars().all(|c| c.is_ascii_digit());
    let kept: String = bare.chars().take(6).collect();
    // Where many names begin alike, two characters and a checksum are left.
    let (own, checksum) = start.split_at_checked(2).unwrap_or(("", start));
    let hashed = checksum.len() == 4 && checksum.chars().all(|c| c.is_ascii_hexdigit());
    numbered && (start == kept || (hashed && bare.starts_with(own)))
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOME: &str = "/home/ada";

    fn is_protected(path: &str) -> bool {
        find(path, Some(Path::new(HOME))).is_some()
    }

    #[test]
    fn what_decides_what_runs_is_protected_in_every_spelling() {
        for path in [
            ".git",
            ".git/config",
            ".git/hooks/pre-commit",
            ".git/HEAD",
            ".git/worktrees/x/gitdir",
            "vendor/lib/.git/hooks/post-checkout",
            "vendor/lib/.git",
            "mirror.git/hooks/update",
            "mirror.git/config",
            ".GIT/config",
            ".Git/hooks/pre-push",
            ".git./config",
            ".git /config",
            ".git::$INDEX_ALLOCATION/config",
            "src/../.git/config",
            "./.git/config",
            ".//.git//config",
            ".git\\config",
            "GIT~1/config",
            "git~1/hooks/x",
            ".g\u{200c}it/config",
            ".lathe/config.json",
            ".opencode/agent/x.md",
            "sub/.opencode/x",
            ".claude/settings.json",
            ".codex/config.toml",
            ".husky/pre-commit",
            ".githooks/pre-push",
            "opencode.json",
            "opencode.jsonc",
            ".mcp.json",
            ".vscode/tasks.json",
            ".vscode/launch.json",
            ".vscode/settings.json",
            ".VSCode/Tasks.json",
            ".idea/runConfigurations/x.xml",
            ".zed/tasks.json",
            ".devcontainer/devcontainer.json",
            ".lefthook.yml",
            "lefthook-local.yml",
            ".lefthook-local.jsonc",
            ".config/lefthook.toml",
            ".config/lefthook-local.json",
            ".idea/watcherTasks.xml",
            ".run/All.run.xml",
            ".vs/tasks.vs.json",
            ".vs/launch.vs.json",
            "Documents/PowerShell/profile.ps1",
            "Microsoft.PowerShell_profile.ps1",
            "/home/ada/.config/powershell/profile.ps1",
            "/home/ada/.bashrc.d/own",
            "mise/config.toml",
            ".config/mise/conf.d/x.toml",
            "mise.test.toml",
            ".mise.test.local.toml",
            ".config/mise.toml",
            ".overcommit.yml",
            ".huskyrc",
            "app.code-workspace",
            ".helix/languages.toml",
            ".vim/coc-settings.json",
            "mise.toml",
            "mise.local.toml",
            ".config/mise/config.toml",
            ".windsurf/mcp_config.json",
            ".aider.conf.yml",
            "crush.json",
            ".envrc",
            "sub/.envrc",
            ".envrc::$DATA",
            ".npmrc",
            ".yarnrc.yml",
            ".cargo/config.toml",
            "crates/x/.cargo/config",
            ".pre-commit-config.yaml",
            "/home/ada/.bashrc",
            "/home/ada/.profile",
            "~/.zshrc",
            "/home/ada/.config/autostart/x.desktop",
            "/home/ada/.config/systemd/user/x.service",
            "/home/ada/.ssh/authorized_keys",
            "/home/ada/.gitconfig",
            "/home/ada/.config/git/config",
            "/home/ada/.somethingrc",
            "/Users/ada/Library/LaunchAgents/x.plist",
            "C:\\Users\\ada\\.ssh\\config",
            ".bashrc",
            "dotfiles/.zshrc",
        ] {
            assert!(is_protected(path), "{path}");
        }
    }

    #[test]
    fn the_projects_own_files_are_not() {
        for path in [
            "src/main.rs",
            ".",
            "",
            ".gitignore",
            ".gitattributes",
            ".github/workflows/ci.yml",
            ".env",
            ".env.local",
            "git/config",
            "src/git.rs",
            "docs/hooks/pre-commit.md",
            ".vscode/README.md",
            ".idea/misc.xml",
            ".cargo/README",
            "a.git",
            "package.json",
            "Makefile",
            "husky/x",
            ".gitlab-ci.yml",
            "profile",
            "config.toml",
            "~x",
            "a~1.txt",
            "/home/ada/notes.txt",
            "/home/ada/work/x.rs",
            "lathe/x",
            "/tmp/x",
            "lefthook.md",
            "mise.rs",
            "run/x",
            "profile.ps1",
        ] {
            assert!(!is_protected(path), "{path}");
        }
    }

    #[test]
    fn a_folder_that_the_caller_names_is_below_itself() {
        assert!(is_below("tools/hooks/pre-commit", "tools/hooks"));
        assert!(is_below("Tools/./hooks/x", "tools/hooks/"));
        assert!(!is_below("tools/hooks2/x", "tools/hooks"));
    }
}
