use std::os::unix::fs::symlink;

use super::*;

struct Project {
    _scratch: tempfile::TempDir,
    root: PathBuf,
}

impl Project {
    fn new(folders: &[&str]) -> Self {
        let scratch = tempfile::tempdir().unwrap();
        let root = fs::canonicalize(scratch.path()).unwrap();
        for folder in folders {
            fs::create_dir_all(root.join(folder)).unwrap();
        }
        Self {
            _scratch: scratch,
            root,
        }
    }

    fn confinement(&self, protected: &[&str]) -> Confinement {
        let mut confinement = Confinement::new(&self.root);
        confinement.protected = protected.iter().map(|path| self.root.join(path)).collect();
        confinement
    }

    fn rules(&self, protected: &[&str]) -> Rules {
        Rules::resolve(&self.confinement(protected)).unwrap()
    }
}

#[test]
fn the_longest_path_decides() {
    let project = Project::new(&[".git", "src"]);
    let mut confinement = project.confinement(&[".git"]);
    fs::write(project.root.join(".git/index"), "").unwrap();
    confinement.grants = vec![Grant::Write(project.root.join(".git/index"))];
    let rules = Rules::resolve(&confinement).unwrap();
    let access = |path: &str| rules.access(&project.root.join(path));
    assert_eq!(access("src/new.rs"), Access::Write);
    assert_eq!(access(".git/hooks/pre-commit"), Access::Read);
    assert_eq!(access(".git/index"), Access::Write);
    assert_eq!(rules.access(Path::new("/usr/bin")), Access::Read);
}

#[test]
fn for_the_same_path_a_grant_counts_first() {
    let project = Project::new(&["keys", ".vscode"]);
    let mut confinement = project.confinement(&[".vscode"]);
    confinement.unreadable = vec![project.root.join("keys")];
    let access = |confinement: &Confinement, path: &str| {
        Rules::resolve(confinement)
            .unwrap()
            .access(&project.root.join(path))
    };
    assert_eq!(access(&confinement, "keys/id"), Access::Hidden);
    confinement.grants = vec![
        Grant::Read(project.root.join("keys")),
        Grant::Write(project.root.join(".vscode")),
    ];
    assert_eq!(access(&confinement, "keys/id"), Access::Read);
    assert_eq!(access(&confinement, ".vscode/tasks.json"), Access::Write);
}

#[test]
fn the_first_missing_part_of_a_protected_path_is_held() {
    let project = Project::new(&[".vscode"]);
    let rules = project.rules(&[".vscode/tasks.json", ".idea/runConfigurations"]);
    let missing = |path: &str| rules.get(&project.root.join(path)).unwrap().missing;
    assert_eq!(missing(".vscode/tasks.json"), Some(Placeholder::Folder));
    assert_eq!(missing(".idea"), Some(Placeholder::Folder));
}

#[test]
fn a_protected_link_fixes_its_folder_and_protects_what_it_leads_to() {
    let project = Project::new(&["shared/hooks", "src"]);
    symlink("shared/hooks", project.root.join(".githooks")).unwrap();
    let rules = project.rules(&[".githooks"]);
    let access = |path: &str| rules.access(&project.root.join(path));
    assert_eq!(access("shared/hooks/pre-commit"), Access::Read);
    assert_eq!(access("new"), Access::Read, "or the link could be replaced");
    assert_eq!(access("src/lib.rs"), Access::Write);
    assert!(rules.fixed.contains(&project.root));
}

#[test]
fn links_in_a_circle_end() {
    let project = Project::new(&[]);
    symlink("b", project.root.join("a")).unwrap();
    symlink("a", project.root.join("b")).unwrap();
    assert!(project.rules(&["a"]).fixed.contains(&project.root));
}

#[test]
fn neither_the_whole_system_nor_a_secret_is_made_writable() {
    let everything = Confinement::new(Path::new("/"));
    let error = Rules::resolve(&everything).unwrap_err();
    assert!(matches!(error, SandboxError::WholeSystem));
    let project = Project::new(&[]);
    let mut confinement = project.confinement(&[]);
    confinement.unreadable = vec![project.root.clone()];
    let error = Rules::resolve(&confinement).unwrap_err();
    assert!(matches!(error, SandboxError::Contradiction(_)));
    confinement.unreadable.clear();
    confinement.grants = vec![Grant::Write(project.root.join("missing"))];
    let error = Rules::resolve(&confinement).unwrap_err();
    assert!(matches!(error, SandboxError::MissingGrant(_)));
}

#[test]
fn a_writable_repository_keeps_hooks_and_configuration() {
    let project = Project::new(&[".git/hooks", ".git/objects"]);
    fs::write(project.root.join(".git/config"), "").unwrap();
    let mut confinement = project.confinement(&[".git"]);
    confinement.git_writable = true;
    let rules = Rules::resolve(&confinement).unwrap();
    let access = |path: &str| rules.access(&project.root.join(".git").join(path));
    assert_eq!(access("index.lock"), Access::Write);
    for path in [
        "hooks/pre-commit",
        "config",
        "commondir",
        "modules/a/config",
    ] {
        assert_eq!(access(path), Access::Read, "{path}");
    }
}

#[test]
fn a_git_file_opens_only_a_repository_that_points_back_at_it() {
    let project = Project::new(&["work", "main/.git/worktrees/work", "main/.git/objects"]);
    let write = |path: &str, text: &str| fs::write(project.root.join(path), text).unwrap();
    write("main/.git/HEAD", "ref: refs/heads/main\n");
    write("main/.git/worktrees/work/commondir", "../..\n");
    write("work/.git", "gitdir: ../main/.git/worktrees/work\n");
    let mut confinement = Confinement::new(&project.root.join("work"));
    confinement.protected = vec![project.root.join("work/.git")];
    confinement.git_writable = true;
    let index = project.root.join("main/.git/worktrees/work/index");
    write("main/.git/worktrees/work/gitdir", "/elsewhere/.git\n");
    let rules = Rules::resolve(&confinement).unwrap();
    assert_eq!(rules.access(&index), Access::Read);
    let back = project.root.join("work/.git");
    write("main/.git/worktrees/work/gitdir", back.to_str().unwrap());
    let rules = Rules::resolve(&confinement).unwrap();
    assert_eq!(rules.access(&index), Access::Write);
    assert_eq!(rules.access(&back), Access::Read);
    assert_eq!(
        rules.access(&index.with_file_name("commondir")),
        Access::Read
    );
    assert_eq!(
        rules.access(&project.root.join("main/.git/hooks/x")),
        Access::Read
    );
    assert_eq!(rules.access(&project.root.join("main/file")), Access::Read);
}
