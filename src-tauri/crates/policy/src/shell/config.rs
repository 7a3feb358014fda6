//! Settings of a project that make a program run others. The caller reads the files.

/// Files to look at for a program, relative to a directory and to those above it.
pub fn files(program: &str) -> &'static [&'static str] {
    match program {
        "git" => &[".git/config", ".git/config.worktree"],
        "cargo" | "rustc" => &[
            ".cargo/config.toml",
            ".cargo/config",
            "rust-toolchain.toml",
            "rust-toolchain",
        ],
        "npm" | "pnpm" => &[".npmrc"],
        "yarn" => &[".yarnrc.yml", ".yarnrc", ".npmrc"],
        _ => &[],
    }
}

/// Whether the text of such a file names programs to run.
pub fn names_programs(program: &str, file: &str, text: &str) -> bool {
    match program {
        "git" => git_names_programs(text),
        // A toolchain may be a folder of the project.
        "cargo" | "rustc" if file.starts_with("rust-toolchain") => mentions(text, &["path"]),
        "cargo" | "rustc" => mentions(
            text,
            &["rustc", "wrapper", "runner", "linker", "credential"],
        ),
        "npm" | "pnpm" => mentions(text, &["node-options", "script-shell", "git"]),
        "yarn" => mentions(text, &["yarnpath", "yarn-path", "plugins", "script-shell"]),
        _ => false,
    }
}

fn mentions(text: &str, words: &[&str]) -> bool {
    let text = text.to_lowercase();
    words.iter().any(|word| text.contains(word))
}

fn git_names_programs(text: &str) -> bool {
    const KEYS: [&str; 10] = [
        "fsmonitor",
        "external",
        "textconv",
        "command",
        "clean",
        "smudge",
        "process",
        "hookspath",
        "showsignature",
        "alternaterefscommand",
    ];
    for line in text.lines().map(str::trim) {
        let mut line = line;
        if let Some(header) = line.strip_prefix('[') {
            let (name, rest) = header.split_once(']').unwrap_or((header, ""));
            if name.trim().to_lowercase().starts_with("include") {
                return true;
            }
            line = rest.trim();
        }
        let (key, value) = line.split_once('=').unwrap_or((line, "true"));
        let key = key.trim().to_lowercase();
        let value = value.trim().to_lowercase();
        let off = matches!(value.as_str(), "false" | "no" | "off" | "0" | "");
        let built_in = key == "fsmonitor" && matches!(value.as_str(), "true" | "yes" | "on" | "1");
        if KEYS.contains(&key.as_str()) && !off && !built_in {
            return true;
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::names_programs;

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
        ] {
            assert!(names_programs("git", ".git/config", text), "{text}");
        }
        for text in [
            "[core]\n\trepositoryformatversion = 0\n\tbare = false",
            "[core]\n\tfsmonitor = true",
            "[remote \"origin\"]\n\turl = x\n[branch \"main\"]\n\tmerge = y",
            "",
        ] {
            assert!(!names_programs("git", ".git/config", text), "{text}");
        }
    }
}
