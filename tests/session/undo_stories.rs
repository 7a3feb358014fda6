//! Stories told to the byte: what an agent's command does to files is reverted with every mode, name
//! and link, and the undo of that brings the agent's version back just as exactly. Then stories of a
//! person who works on the same files: nothing of theirs is lost, whatever is left says so.

#![cfg(target_os = "linux")]

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::Path;

use lathe_protocol::ipc::RevertOptions;
use lathe_test_support::scripted_agent::Agent;

use crate::revert::{describe, revert, to, unrevert};

/// Kind, permissions, content and the names of the same file, for everything in a folder.
fn exact(root: &Path) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    let mut names: BTreeMap<u64, Vec<String>> = BTreeMap::new();
    gather(root, root, &mut found, &mut names);
    for same in names.values().filter(|same| same.len() > 1) {
        for name in same {
            let entry = found.get_mut(name).unwrap();
            entry.push_str(&format!(" is {}", same.join(" and ")));
        }
    }
    found
}

fn gather(
    root: &Path,
    folder: &Path,
    found: &mut BTreeMap<String, String>,
    names: &mut BTreeMap<u64, Vec<String>>,
) {
    let mut entries: Vec<_> = fs::read_dir(folder).unwrap().flatten().collect();
    entries.sort_by_key(fs::DirEntry::file_name);
    for entry in entries {
        let path = entry.path();
        let meta = path.symlink_metadata().unwrap();
        let name = format!("{:?}", path.strip_prefix(root).unwrap());
        let mode = meta.mode() & 0o7777;
        let what = if meta.is_dir() {
            format!("folder {mode:o}")
        } else if meta.is_symlink() {
            format!("link to {:?}", fs::read_link(&path).unwrap())
        } else {
            names.entry(meta.ino()).or_default().push(name.clone());
            let bytes = fs::read(&path).unwrap();
            format!("file {mode:o} {}", bytes.escape_ascii())
        };
        found.insert(name, what);
        if meta.is_dir() {
            gather(root, &path, found, names);
        }
    }
}

/// A project with something of every kind.
async fn project() -> Agent {
    let agent = Agent::start()
        .await
        .file("a.txt", "one\ntwo\nthree\n")
        .file("b.txt", "no line end")
        .file("d/c.txt", "c\r\nwith carriage returns\r\n")
        .file("d/e/f.txt", "deep\n")
        .file("run.sh", "#!/bin/sh\n")
        .file("private", "secret\n")
        .file("linked", "two names\n");
    let at = |name: &str| agent.app.path(name);
    let mode = |name: &str, bits| {
        fs::set_permissions(at(name), fs::Permissions::from_mode(bits)).unwrap();
    };
    fs::write(at("bytes"), [0, 255, 10, 13, 0, 128]).unwrap();
    fs::hard_link(at("linked"), at("linked too")).unwrap();
    symlink("a.txt", at("link")).unwrap();
    symlink("nowhere", at("dangling")).unwrap();
    fs::create_dir(at("void")).unwrap();
    mode("run.sh", 0o755);
    mode("private", 0o600);
    mode("d/e", 0o700);
    agent
}

async fn there_and_back(command: &str) {
    let agent = project().await;
    let root = agent.app.path("");
    let before = exact(&root);
    let turn = agent.turn(command).await;
    let agents = exact(&root);
    assert_ne!(agents, before, "{command} did nothing");

    let done = revert(&agent.app, &to(&turn)).await;
    assert!(done.complete, "{command}: {:#?}", describe(&done.files));
    assert_eq!(exact(&root), before, "{command}");
    let undone = unrevert(&agent.app).await;
    assert_eq!(
        exact(&root),
        agents,
        "{command}: {:#?}",
        describe(&undone.files)
    );
    let again = revert(&agent.app, &to(&turn)).await;
    assert!(again.complete, "{command}: {:#?}", describe(&again.files));
    assert_eq!(exact(&root), before, "{command}");
}

macro_rules! reverted_to_the_byte {
    ($($name:ident: $command:expr;)*) => {
        $(#[tokio::test]
        async fn $name() {
            there_and_back($command).await;
        })*
    };
}

reverted_to_the_byte! {
    a_file_gets_another_name: "mv a.txt z.txt";
    a_name_changes_only_its_case: "mv a.txt A.TXT";
    a_folder_gets_another_name: "mv d other";
    two_files_swap_their_names: "mv a.txt t; mv b.txt a.txt; mv t b.txt";
    a_file_is_moved_over_another_one: "mv a.txt b.txt";
    a_folder_becomes_a_file: "rm -r d; echo file > d";
    a_file_becomes_a_folder: "rm a.txt; mkdir a.txt; echo inner > a.txt/inner";
    a_file_becomes_a_link_and_a_link_a_file: "ln -sf b.txt a.txt; rm link; echo file > link";
    links_point_elsewhere: "ln -sfn d link; ln -sfn somewhere dangling";
    only_permissions_change: "chmod 640 private; chmod 644 run.sh; chmod 4755 a.txt; chmod 755 d/e";
    a_file_can_be_read_by_nobody: "echo more >> private; chmod 000 private";
    a_file_in_a_read_only_folder_changes: "echo x > d/e/f.txt; echo y > d/e/g; chmod 555 d/e";
    a_file_is_emptied_and_another_one_cut: "truncate -s 0 a.txt; truncate -s 3 b.txt";
    a_file_gets_a_hole: "dd if=/dev/zero of=b.txt bs=1 seek=70000 count=1 2>/dev/null";
    bytes_that_are_no_text_change: "printf '\\377\\000\\n' > bytes; head -c 4000 /dev/urandom > noise";
    line_ends_change: "sed -i 's/\\r$//' d/c.txt; printf '\\n' >> b.txt";
    one_name_of_a_file_is_removed: "rm 'linked too'";
    one_name_of_a_file_is_torn_off: "sed -i s/two/torn/ 'linked too'";
    a_file_with_two_names_is_written_through_one: "echo longer than it was before >> linked";
    a_file_gets_a_second_name: "ln a.txt second";
    both_names_of_a_file_are_removed: "rm linked 'linked too'";
    names_are_strange: "touch -- '-rf' ' ' 'a\nb' '\"quoted\"' '*' 'é' 'e\u{301}' 'a\\b'; rm b.txt";
    a_name_is_as_long_as_a_name_can_be: "touch $(printf 'n%.0s' $(seq 255))";
    folders_are_nested_deeply: "p=.; for n in $(seq 60); do p=$p/x; done; mkdir -p $p; echo x > $p/f";
    empty_folders_are_made_and_removed: "rmdir void; mkdir -p new/empty/inside d/e/none";
    everything_is_removed: "rm -r a.txt b.txt bytes d dangling link linked 'linked too' private run.sh void";
    everything_is_packed_and_unpacked_elsewhere: "tar cf /tmp/t.$$ .; mkdir x; tar xf /tmp/t.$$ -C x; rm /tmp/t.$$ -r d";
    a_file_is_written_after_it_was_removed: "exec 3>>a.txt; rm a.txt; echo gone >&3; echo new > a.txt";
    a_file_is_written_through_its_descriptor: "exec 3<>a.txt; echo through > /proc/self/fd/3";
    a_copy_keeps_its_times: "cp -p a.txt d/copy; echo more >> d/copy; touch -d 2001-01-01 d/copy; mv d/copy a.txt";
    a_file_is_written_many_times: "for n in $(seq 300); do echo $n > a.txt; done; echo 1 > a.txt";
}

/// After the agent's command the person works, then the turn is reverted.
async fn after_the_person(
    command: &str,
    person: impl FnOnce(&Path),
) -> (Agent, BTreeMap<String, String>, Vec<String>, bool) {
    let agent = project().await;
    let root = agent.app.path("");
    let turn = agent.turn(command).await;
    person(&root);
    let persons = exact(&root);
    let done = revert(&agent.app, &to(&turn)).await;
    let files = describe(&done.files);
    let after = exact(&root);
    let undone = unrevert(&agent.app).await;
    assert_eq!(exact(&root), persons, "{:#?}", describe(&undone.files));
    let again = revert(&agent.app, &to(&turn)).await;
    assert_eq!(
        (describe(&again.files), exact(&root)),
        (files.clone(), after.clone())
    );
    (agent, after, files, done.complete)
}

const CHANGED: &str = "changed since the agent wrote it";

#[tokio::test]
async fn a_file_of_the_person_in_a_folder_of_the_agent_keeps_the_folder() {
    let (agent, after, files, complete) =
        after_the_person("mkdir new; echo agent > new/its", |root| {
            fs::write(root.join("new/mine"), "mine\n").unwrap();
        })
        .await;
    assert_eq!((files, complete), (vec!["new/its delete".to_owned()], true));
    assert_eq!(agent.app.read("new/mine"), "mine\n");
    assert!(!after.contains_key("\"new/its\""));
}

#[tokio::test]
async fn a_folder_of_the_agent_that_the_person_has_moved_stays_where_it_is() {
    let (agent, _, files, complete) = after_the_person("mkdir new; echo agent > new/its", |root| {
        fs::rename(root.join("new"), root.join("moved")).unwrap();
    })
    .await;
    assert_eq!((files, complete), (Vec::new(), true));
    assert_eq!(agent.app.read("moved/its"), "agent\n");
}

#[tokio::test]
async fn a_file_of_the_agent_to_which_the_person_has_added_stays() {
    let (agent, _, files, complete) = after_the_person("echo agent > new", |root| {
        fs::write(root.join("new"), "agent\nmine\n").unwrap();
    })
    .await;
    assert_eq!((files, complete), (vec![format!("new: {CHANGED}")], false));
    assert_eq!(agent.app.read("new"), "agent\nmine\n");
}

#[tokio::test]
async fn a_file_that_the_person_has_removed_is_not_brought_back_unasked() {
    let (_, after, files, complete) = after_the_person("echo agent > a.txt", |root| {
        fs::remove_file(root.join("a.txt")).unwrap();
    })
    .await;
    assert_eq!(
        (files, complete),
        (vec![format!("a.txt: {CHANGED}")], false)
    );
    assert!(!after.contains_key("\"a.txt\""));
}

#[tokio::test]
async fn a_link_of_the_person_in_place_of_a_file_is_not_followed() {
    let outside = tempfile::tempdir().unwrap();
    let target = outside.path().join("target");
    fs::write(&target, "agent\n").unwrap();
    let to = target.clone();
    let (_, after, files, _) = after_the_person("echo agent > a.txt; echo agent > new", |root| {
        for name in ["a.txt", "new"] {
            fs::remove_file(root.join(name)).unwrap();
            symlink(&to, root.join(name)).unwrap();
        }
    })
    .await;
    let left = [format!("a.txt: {CHANGED}"), format!("new: {CHANGED}")];
    assert_eq!(files, left);
    assert_eq!(after["\"new\""], format!("link to {target:?}"));
    assert_eq!(fs::read_to_string(target).unwrap(), "agent\n");
}

#[tokio::test]
async fn a_folder_of_the_person_in_place_of_a_removed_file_stays() {
    let (agent, _, files, complete) = after_the_person("rm a.txt b.txt", |root| {
        fs::create_dir(root.join("a.txt")).unwrap();
        fs::write(root.join("a.txt/mine"), "mine\n").unwrap();
    })
    .await;
    let left = "a.txt: a folder with other files is in its place".to_owned();
    assert_eq!(
        (files, complete),
        (vec![left, "b.txt create".to_owned()], false)
    );
    assert_eq!(agent.app.read("a.txt/mine"), "mine\n");
    assert_eq!(agent.app.read("b.txt"), "no line end");
}

#[tokio::test]
async fn a_file_of_the_person_in_place_of_a_removed_folder_stays() {
    let (agent, _, files, complete) = after_the_person("rm -r d", |root| {
        fs::write(root.join("d"), "mine\n").unwrap();
    })
    .await;
    let blocked = "a folder on its path is a file or a link now";
    let left = ["d/c.txt", "d/e/f.txt"].map(|path| format!("{path}: {blocked}"));
    assert_eq!((files, complete), (left.to_vec(), false));
    assert_eq!(agent.app.read("d"), "mine\n");
}

#[tokio::test]
async fn permissions_that_the_person_has_changed_stay() {
    let (_, after, files, complete) = after_the_person("echo agent > private", |root| {
        fs::set_permissions(root.join("private"), fs::Permissions::from_mode(0o640)).unwrap();
    })
    .await;
    assert_eq!(
        (files, complete),
        (vec![format!("private: {CHANGED}")], false)
    );
    assert_eq!(after["\"private\""], "file 640 agent\\n");
}

#[tokio::test]
async fn what_the_person_wrote_through_another_name_is_not_overwritten() {
    let (agent, _, files, complete) = after_the_person("echo agent > linked", |root| {
        fs::write(root.join("linked too"), "mine\n").unwrap();
    })
    .await;
    let left = ["linked", "linked too"].map(|path| format!("{path}: {CHANGED}"));
    assert_eq!((files, complete), (left.to_vec(), false));
    assert_eq!(agent.app.read("linked"), "mine\n");
}

#[tokio::test]
async fn a_forced_revert_of_the_persons_version_is_undone_to_the_byte() {
    let agent = project().await;
    let root = agent.app.path("");
    let before = exact(&root);
    let turn = agent
        .turn("echo agent > a.txt; rm b.txt; mkdir new; echo n > new/n")
        .await;
    fs::write(root.join("a.txt"), "mine\n").unwrap();
    fs::write(root.join("b.txt"), "mine too\n").unwrap();
    fs::write(root.join("new/n"), "mine as well\n").unwrap();
    let persons = exact(&root);
    let options = RevertOptions {
        force: true,
        ..RevertOptions::default()
    };
    let (id, target) = (&agent.app.session.id, to(&turn));
    let done = agent.app.sessions.revert_with(id, &target, &options);
    assert!(done.await.unwrap().complete);
    assert_eq!(exact(&root), before);
    unrevert(&agent.app).await;
    assert_eq!(exact(&root), persons);
}
