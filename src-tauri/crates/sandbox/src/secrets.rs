//! Where people keep their secrets, inside of what else is readable.

use std::path::{Path, PathBuf};

/// The same on every system: keys, and the credentials of command-line tools and agents. Settings
/// without which a build does not start are left out, though they may hold a token.
const EVERYWHERE: &[&str] = &[
    ".ssh",
    ".gnupg",
    ".aws",
    ".azure",
    ".kube",
    ".docker",
    ".oci",
    ".config/gcloud",
    ".config/gh",
    ".config/glab-cli",
    ".config/hub",
    ".config/op",
    ".config/doctl",
    ".config/rclone",
    ".config/sops",
    ".config/age",
    ".config/git/credentials",
    ".git-credentials",
    ".netrc",
    ".npmrc",
    ".pypirc",
    ".pgpass",
    ".my.cnf",
    ".vault-token",
    ".terraform.d",
    ".boto",
    ".s3cfg",
    ".cargo/credentials",
    ".cargo/credentials.toml",
    ".gem/credentials",
    ".composer/auth.json",
    ".config/pypoetry/auth.toml",
    ".local/share/uv/credentials",
    ".cache/huggingface/token",
    ".android/adbkey",
    ".m2/settings-security.xml",
    ".m2/settings.xml",
    ".gradle/gradle.properties",
    ".password-store",
    ".hex/hex.config",
    ".ivy2/.credentials",
    ".sbt/.credentials",
    ".julia/servers",
    ".pub-cache/credentials.json",
    ".authinfo",
    ".authinfo.gpg",
    ".config/containers/auth.json",
    ".yarnrc.yml",
    // What was typed
    ".bash_history",
    ".zsh_history",
    ".histfile",
    ".python_history",
    ".node_repl_history",
    ".psql_history",
    ".mysql_history",
    ".sqlite_history",
    ".rediscli_history",
    ".lesshst",
    ".local/share/fish/fish_history",
    // Editors keep tokens of their extensions
    ".config/Code",
    ".config/Code - OSS",
    ".config/VSCodium",
    ".config/Cursor",
    ".config/JetBrains",
    // Other agents
    ".claude",
    ".claude.json",
    ".codex",
    ".gemini",
    ".config/github-copilot",
    ".config/opencode",
    ".local/share/opencode",
    ".local/share/goose",
    ".config/goose",
    ".aider.conf.yml",
    ".continue",
    ".cursor",
    ".config/zed",
    // They put their programs beside their keys
    ".codeium",
    ".windsurf",
    ".antigravity",
    ".lmstudio",
    ".opencode",
    ".qwen",
    ".kiro",
    ".factory",
    ".trae",
    ".copilot",
    ".augment",
    ".amp",
];

/// Keyrings, wallets and browsers' profiles of a Linux desktop.
const LINUX: &[&str] = &[
    ".local/share/keyrings",
    ".local/share/kwalletd",
    ".config/kwalletrc",
    ".pki",
    ".cert",
    ".mozilla",
    ".thunderbird",
    ".config/google-chrome",
    ".config/google-chrome-beta",
    ".config/chromium",
    ".config/BraveSoftware",
    ".config/microsoft-edge",
    ".config/vivaldi",
    ".config/opera",
    ".librewolf",
    ".zen",
    ".var/app",
    "snap",
    ".config/Signal",
    ".config/Slack",
    ".config/discord",
    ".config/1Password",
    ".config/Bitwarden",
    ".config/keepassxc",
    ".electrum",
    ".bitcoin",
    ".ethereum",
];

const MACOS: &[&str] = &[
    "Library/Keychains",
    "Library/Cookies",
    "Library/Mail",
    "Library/Messages",
    "Library/Safari",
    "Library/Application Support/Google/Chrome",
    "Library/Application Support/Chromium",
    "Library/Application Support/Firefox",
    "Library/Application Support/BraveSoftware",
    "Library/Application Support/Microsoft Edge",
    "Library/Application Support/Arc",
    "Library/Application Support/com.apple.TCC",
    "Library/Containers",
    "Library/Group Containers",
];

const WINDOWS: &[&str] = &[
    "AppData/Local/Google/Chrome/User Data",
    "AppData/Local/Microsoft/Edge/User Data",
    "AppData/Local/BraveSoftware",
    "AppData/Roaming/Mozilla",
    "AppData/Roaming/Microsoft/Credentials",
    "AppData/Local/Microsoft/Credentials",
    "AppData/Roaming/Microsoft/Protect",
    "AppData/Roaming/gnupg",
];

/// Outside of any home: what a session's services keep, and files of the administrator.
const LINUX_SYSTEM: &[&str] = &[
    "/run/user",
    "/run/secrets",
    "/etc/shadow",
    "/etc/gshadow",
    "/etc/sudoers",
    "/etc/sudoers.d",
    "/etc/ssl/private",
    "/var/lib/docker",
];

/// Places that a command has no business to read, for a person's home. The caller adds its own
/// data and configuration.
pub(crate) fn default_unreadable(home: &Path) -> Vec<PathBuf> {
    let (own, system) = if cfg!(target_os = "macos") {
        (MACOS, &[][..])
    } else if cfg!(windows) {
        (WINDOWS, &[][..])
    } else {
        (LINUX, LINUX_SYSTEM)
    };
    let in_home = EVERYWHERE.iter().chain(own).map(|name| home.join(name));
    in_home.chain(system.iter().map(PathBuf::from)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_and_other_agents_are_among_the_secrets_of_every_system() {
        let home = Path::new("home");
        let places = default_unreadable(home);
        for name in [".ssh", ".aws", ".gnupg", ".codex"] {
            assert!(places.contains(&home.join(name)), "{name}");
        }
    }

    #[test]
    fn no_place_is_above_a_whole_home() {
        for place in default_unreadable(Path::new("/home/me")) {
            assert!(!Path::new("/home/me").starts_with(&place), "{place:?}");
        }
    }
}
