//! Replacing files: only the content that was checked is replaced.

use lathe_tools::ContentHash;
use lathe_tools::files::{self, Expected, FileError};
use lathe_tools::paths::Place;

use super::support::Project;

fn place(project: &Project, name: &str) -> Place {
    project.cx.resolve(name).unwrap()
}

fn names(project: &Project, dir: &str) -> Vec<String> {
    let mut names: Vec<String> = std::fs::read_dir(project.path(dir))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

#[test]
fn a_new_file_is_made_with_its_directories() {
    let project = Project::new();
    files::replace(&place(&project, "a/b/c.txt"), b"new", Expected::Absent).unwrap();
    assert_eq!(project.content("a/b/c.txt"), "new");
    assert_eq!(names(&project, "a/b"), ["c.txt"]);
}

#[test]
fn a_file_that_appeared_meanwhile_is_not_overwritten() {
    let project = Project::new().file("a.txt", "someone's");
    let result = files::replace(&place(&project, "a.txt"), b"ours", Expected::Absent);
    assert!(matches!(result, Err(FileError::Changed)));
    assert_eq!(project.content("a.txt"), "someone's");
}

#[test]
fn a_file_that_changed_or_went_meanwhile_is_left_alone() {
    let project = Project::new().file("a.txt", "changed");
    let read = Expected::Content(ContentHash::of(b"as read"));
    let result = files::replace(&place(&project, "a.txt"), b"ours", read);
    assert!(matches!(result, Err(FileError::Changed)));
    assert_eq!(project.content("a.txt"), "changed");
    let result = files::replace(&place(&project, "gone.txt"), b"ours", read);
    assert!(matches!(result, Err(FileError::Changed)));
    assert_eq!(names(&project, "."), ["a.txt"]);
    let result = files::remove(&place(&project, "a.txt"), ContentHash::of(b"as read"));
    assert!(matches!(result, Err(FileError::Changed)));
    files::remove(&place(&project, "a.txt"), ContentHash::of(b"changed")).unwrap();
    assert_eq!(names(&project, "."), Vec::<String>::new());
}

#[cfg(unix)]
#[test]
fn the_mode_survives_and_no_temporary_file_is_left() {
    use std::os::unix::fs::PermissionsExt;
    let project = Project::new().file("run.sh", "old");
    let path = project.path("run.sh");
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o751)).unwrap();
    let expected = Expected::Content(ContentHash::of(b"old"));
    files::replace(&place(&project, "run.sh"), b"new", expected).unwrap();
    assert_eq!(
        path.metadata().unwrap().permissions().mode() & 0o7777,
        0o751
    );
    assert_eq!(project.content("run.sh"), "new");
    assert_eq!(names(&project, "."), ["run.sh"]);
}

#[test]
fn directories_and_oversized_files_are_refused() {
    let project = Project::new().file("dir/a.txt", "12345");
    assert!(matches!(
        files::open(&place(&project, "dir")),
        Err(FileError::Directory)
    ));
    let result = files::replace(&place(&project, "dir"), b"x", Expected::Absent);
    assert!(matches!(result, Err(FileError::Changed)));
    let file = place(&project, "dir/a.txt");
    assert!(matches!(files::read(&file, 4), Err(FileError::TooLarge(4))));
    assert_eq!(files::read(&file, 5).unwrap(), b"12345");
    assert!(matches!(
        files::open(&place(&project, "none")),
        Err(FileError::Missing)
    ));
}
