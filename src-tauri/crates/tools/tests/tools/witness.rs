//! What a command is seen to write.

use std::collections::BTreeSet;

use lathe_tools::written::CommandWrites;
use serde_json::json;

use super::support::Project;

async fn writes(project: &Project, command: &str) -> CommandWrites {
    let input = json!({ "command": command, "description": "write" });
    project.run("bash", input).await.unwrap();
    let seen = project.host.writes.lock().take();
    seen.expect("the kernel lets us watch")
}

/// The files of the project that were seen, without what is outside.
fn inside(project: &Project, paths: &BTreeSet<std::path::PathBuf>) -> Vec<String> {
    let root = &project.cx.root;
    let inside = paths.iter().filter_map(|path| path.strip_prefix(root).ok());
    inside.map(|path| path.display().to_string()).collect()
}

#[tokio::test]
async fn every_way_of_writing_a_file_is_seen_with_its_real_path() {
    let project = Project::new();
    let command = "mkdir -p d/deep; echo 1 > made; echo 2 >> d/deep/appended; ln -s made link; \
        echo 3 > link; (cd d && echo 4 > ../from-below); echo 5 > gone; rm gone; \
        echo 6 > old; mv old new; cp made copied; ln made hard; chmod 600 copied; \
        sh -c 'echo 7 > by-a-child'; echo 8 | tee piped > /dev/null; truncate -s 1 made";
    let seen = writes(&project, command).await;
    assert_eq!(
        inside(&project, &seen.files),
        [
            "by-a-child",
            "copied",
            "d",
            "d/deep",
            "d/deep/appended",
            "from-below",
            "gone",
            "hard",
            "link",
            "made",
            "old",
            "piped",
        ]
    );
    let renamed = seen.renamed().map(std::path::Path::to_owned).collect();
    assert_eq!(inside(&project, &renamed), ["new", "old"]);
    assert_eq!((seen.mixed.len(), seen.incomplete), (0, false));
}

#[tokio::test]
async fn a_command_that_only_reads_writes_nothing() {
    let project = Project::new();
    std::fs::write(project.cx.root.join("a.txt"), "1\n").unwrap();
    let seen = writes(&project, "cat a.txt; ls -la; grep 1 a.txt; sleep 0.01").await;
    assert_eq!(inside(&project, &seen.files), [""; 0]);
    assert!(!seen.incomplete);
}
