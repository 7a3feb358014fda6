//! What of a person's home is hidden: everything with a dot in front but for what builds need.
//!
//! A list of secrets is never complete, so it is only for places inside of what builds need.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use crate::confinement::{Confinement, Grant};
use crate::secrets::default_unreadable;

/// Toolchains, package caches, and settings without which a shell or a build does not start.
const NEEDED: &str = "
    .bash_aliases .bash_login .bash_logout .bash_profile .bashrc .inputrc
    .oh-my-zsh .profile .terminfo .zlogin .zprofile .zshenv .zshrc
    .config .local .cache
    .gitconfig .gitignore .gitignore_global .gitattributes .gitmessage
    .cargo .rustup .ccache .conan .conan2 .vcpkg .emsdk .go .gvm
    .goenv .zvm .clang-format .platformio .arduino15 .espressif
    .npm .node-gyp .nvm .nodenv .node_modules .yarn .yarnrc .pnpm-store
    .bun .deno .volta .fnm .n
    .pyenv .virtualenvs .venv .conda .condarc .pip .rye .matplotlib
    .nltk_data .keras .pylintrc
    .m2 .gradle .ivy2 .sbt .sdkman .jenv .jabba .java .konan .android
    .mill .lein
    .rbenv .rvm .gem .gemrc .bundle .composer .phpenv .cpan .cpanm
    .perl5 .perlbrew .plenv .luarocks
    .stack .cabal .ghcup .ghc .opam .hex .mix .kerl .kiex .elan
    .julia .juliaup .Rprofile .nuget .dotnet .nimble .choosenim .swiftly
    .swiftpm .pub-cache .dart .dart-tool .flutter
    .asdf .asdfrc .tool-versions .nix-profile .nix-defexpr .nix-channels
    .linuxbrew .wasmer .wasmtime .texlive .texmf-var
";

/// The same, in folders that hold the settings and data of every program.
const NEEDED_IN: [(&str, &str); 5] = [
    (
        ".config",
        "ccache clangd fontconfig git go locale.conf mise matplotlib nix nixpkgs npm pdm
         pip pnpm pypoetry rustfmt user-dirs.dirs uv yarn",
    ),
    (
        ".local/share",
        "asdf bash-completion cargo coursier fnm fonts gem hatch man mime mise nix nvm
         pdm pipx pnpm pypoetry rtx rustup swiftpm uv virtualenv virtualenvs",
    ),
    (".local/state", "mise nix"),
    // Browsers keep pages there.
    (
        ".cache",
        "bazel ccache clangd coursier Cypress deno electron electron-builder fontconfig
         go-build golangci-lint hatch huggingface mise ms-playwright mypy nix node
         node-gyp pdm pip pnpm pre-commit prisma puppeteer pypoetry ruff sccache swiftpm
         tectonic torch turbo uv virtualenv vite yarn zig",
    ),
    // On macOS: browsers' profiles, and what chats, editors and other agents keep.
    (
        "Library/Application Support",
        "Coursier cabal clangd fnm go hatch mise org.swift.swiftpm pdm pip pipx pnpm
         pypoetry rtx swiftpm tectonic uv virtualenv",
    ),
];

impl Confinement {
    /// Hides what a command has no business to read in a home and in the system. `programs` are
    /// folders that must stay readable, of programs and toolchains that live elsewhere.
    pub fn hide_secrets(&mut self, home: &Path, programs: &[PathBuf]) {
        let holds_program = |place: &Path| programs.iter().any(|one| one.starts_with(place));
        let writable = self.writable.iter();
        let writable: Vec<PathBuf> = writable.map(|one| real(one)).collect();
        for name in hidden_names(home) {
            let place = home.join(&name);
            let needed = NEEDED.split_whitespace().any(|one| name == one) || holds_program(&place);
            if !needed && !holds_writable(&place, &writable) {
                self.unreadable.push(place);
            }
        }
        for (folder, needed) in NEEDED_IN {
            let folder = home.join(folder);
            if !folder.is_dir() || holds_writable(&folder, &writable) {
                continue;
            }
            let needed = needed.split_whitespace().map(|name| folder.join(name));
            let programs = programs.iter().filter(|one| one.starts_with(&folder));
            let readable = needed.chain(programs.cloned());
            let there = readable.filter(|place| place.exists());
            self.grants.extend(there.map(Grant::Read));
            self.unreadable.push(folder);
        }
        for secret in default_unreadable(home) {
            // Of an agent's folder with programs in it, only those.
            let programs = programs.iter();
            let inside = programs.filter(|one| **one != secret && one.starts_with(&secret));
            let there = inside.filter(|one| one.is_dir());
            self.grants.extend(there.cloned().map(Grant::Read));
            self.unreadable.push(secret);
        }
    }
}

fn real(path: &Path) -> PathBuf {
    fs::canonicalize(path).unwrap_or_else(|_| path.to_owned())
}

/// A link may lead to the project itself, or to a folder around it.
fn holds_writable(place: &Path, writable: &[PathBuf]) -> bool {
    let real = real(place);
    let is_link = real != place;
    writable.iter().any(|writable| {
        *writable == real || is_link && (writable.starts_with(&real) || real.starts_with(writable))
    })
}

/// Of the entries of a home that begin with a dot.
fn hidden_names(home: &Path) -> Vec<OsString> {
    let entries = fs::read_dir(home).into_iter().flatten().flatten();
    let names = entries.map(|entry| entry.file_name());
    names
        .filter(|name| name.as_encoded_bytes().starts_with(b"."))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::{Access, Rules};

    #[test]
    fn of_the_hidden_files_of_a_home_only_what_builds_need_can_be_read() {
        let folder = tempfile::tempdir().unwrap();
        let home = fs::canonicalize(folder.path()).unwrap();
        let hidden = [
            ".ssh/id_ed25519",
            ".bash_history",
            ".zsh_history",
            ".python_history",
            ".psql_history",
            ".local/share/fish/fish_history",
            ".config/Code/User/globalStorage/state.vscdb",
            ".config/Cursor/x",
            ".config/JetBrains/c.kdbx",
            ".config/containers/auth.json",
            ".config/git/credentials",
            ".m2/settings.xml",
            ".gradle/gradle.properties",
            ".yarnrc.yml",
            ".authinfo",
            ".cargo/credentials.toml",
            ".some-new-agent/token",
            ".cache/mozilla/x",
            ".codeium/config.json",
            ".hex/hex.config",
            ".pub-cache/credentials.json",
            "Library/Application Support/Some New Browser/Cookies",
            "Library/Application Support/Claude/x",
        ];
        let readable = [
            ".bashrc",
            ".gitconfig",
            ".config/git/config",
            ".config/go/env",
            ".cargo/registry/x",
            ".local/bin/tool",
            ".local/share/pnpm/x",
            ".cache/pip/x",
            ".tools/bin/tool",
            ".config/own/bin/tool",
            ".codeium/windsurf/bin/tool",
            "Library/Application Support/virtualenv/x",
            "Library/Application Support/JetBrains/Toolbox/scripts/tool",
            "Library/Caches/pip/x",
            "work/project/a.txt",
            "other/.env",
        ];
        for file in hidden.iter().chain(&readable) {
            let file = home.join(file);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(file, "").unwrap();
        }
        let mut confinement = Confinement::new(&home.join("work/project"));
        let programs = [
            ".tools/bin",
            ".config/own/bin",
            ".codeium/windsurf/bin",
            "Library/Application Support/JetBrains/Toolbox/scripts",
            // Nobody has this; it would open all of it.
            ".ssh",
        ];
        let programs = programs.map(|name| home.join(name));
        confinement.hide_secrets(&home, &programs);
        let rules = Rules::resolve(&confinement).unwrap();
        for file in hidden {
            assert_eq!(rules.access(&home.join(file)), Access::Hidden, "{file}");
        }
        for file in readable {
            assert_ne!(rules.access(&home.join(file)), Access::Hidden, "{file}");
        }
    }

    #[cfg(unix)]
    #[test]
    fn a_project_in_a_hidden_folder_or_behind_a_hidden_link_stays_open() {
        let folder = tempfile::tempdir().unwrap();
        let home = fs::canonicalize(folder.path()).unwrap();
        for project in ["dotfiles", ".dotfiles", ".secret/project", ".config"] {
            fs::create_dir_all(home.join(project)).unwrap();
        }
        std::os::unix::fs::symlink("dotfiles", home.join(".vim")).unwrap();
        for project in ["dotfiles", ".dotfiles", ".secret/project", ".config"] {
            let mut confinement = Confinement::new(&home.join(project));
            confinement.hide_secrets(&home, &[]);
            let rules = Rules::resolve(&confinement).unwrap();
            let file = home.join(project).join("a.txt");
            assert_eq!(rules.access(&file), Access::Write, "{project}");
        }
    }
}
