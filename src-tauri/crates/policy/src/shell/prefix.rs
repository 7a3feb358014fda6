//! How many words name what a command does: `ls`, `git status`, `npm run build`.

use super::word::Word;

/// The words that "always" would allow, or none where no prefix says enough.
pub(super) fn find(words: &[Word]) -> Option<String> {
    let values: Vec<&str> = words.iter().map(|word| word.value.as_str()).collect();
    let count = length(&values)?.min(values.len());
    let prefix = &values[..count];
    // A rule with these in it would match more, or something else.
    let plain = |value: &&str| {
        !value.is_empty()
            && value
                .chars()
                .all(|c| c.is_ascii_alphanumeric() || "_-./:@+".contains(c))
    };
    let options = prefix
        .iter()
        .skip(1)
        .any(|value| value.starts_with('-') && *value != "-m");
    (prefix.iter().all(plain) && !options).then(|| prefix.join(" "))
}

fn length(values: &[&str]) -> Option<usize> {
    let first = *values.first()?;
    let second = values.get(1).copied().unwrap_or_default();
    Some(match first {
        // What these run is in their arguments.
        "env" | "xargs" | "sudo" | "doas" | "su" | "ssh" | "nohup" | "nice" | "time"
        | "timeout" | "watch" | "command" | "exec" | "eval" | "source" | "." | "find" | "awk"
        | "gawk" | "mawk" | "sed" | "dd" | "chroot" => return None,
        "npm" | "pnpm" | "yarn" | "bun" => match second {
            "run" | "exec" | "x" | "dlx" | "workspace" => 3,
            _ => 2,
        },
        "git" => match second {
            "remote" | "stash" | "submodule" | "worktree" | "config" | "bisect" | "notes" => 3,
            _ => 2,
        },
        "docker" | "podman" => match second {
            "compose" | "container" | "image" | "volume" | "network" | "system" | "buildx" => 3,
            _ => 2,
        },
        "cargo" => match second {
            "xtask" | "run" => 3,
            _ => 2,
        },
        // What they run may be an address.
        "go" | "deno" if matches!(second, "run" | "task") => {
            values.get(2)?;
            3
        }
        "python" | "python3" => {
            if second == "-m" {
                3
            } else {
                2
            }
        }
        "kubectl" | "gh" | "glab" | "aws" | "gcloud" | "az" | "terraform" | "helm" | "poetry"
        | "uv" | "pipenv" | "bundle" | "rails" | "dotnet" | "flutter" | "dart" | "mix" | "nix"
        | "brew" | "apt" | "apt-get" | "dnf" | "pacman" | "systemctl" | "heroku" | "fly" => {
            if matches!(
                first,
                "gh" | "aws" | "gcloud" | "az" | "dotnet" | "uv" | "bundle"
            ) {
                3
            } else {
                2
            }
        }
        "go" | "node" | "deno" | "ruby" | "perl" | "php" | "bash" | "sh" | "zsh" | "make"
        | "just" | "lua" | "Rscript" | "elixir" | "julia" | "npx" | "bunx" | "pnpx" | "uvx"
        | "pip" | "pip3" | "gem" | "composer" | "rustup" | "mvn" | "gradle" | "./gradlew"
        | "cmake" | "ninja" | "bazel" | "zig" | "swift" | "tox" | "nx" | "turbo" | "pre-commit"
        | "rake" | "cabal" | "stack" | "opam" | "dune" => 2,
        _ => 1,
    })
}
