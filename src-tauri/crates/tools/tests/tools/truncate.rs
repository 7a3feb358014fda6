use std::time::{Duration, SystemTime, UNIX_EPOCH};

use lathe_tools::{ToolOutput, truncate};
use serde_json::json;

use super::support::Project;

#[tokio::test]
async fn a_long_result_is_truncated_and_saved_with_its_path_for_the_model() {
    let project = Project::new();
    let whole: String = (0..3_000).map(|n| format!("{n}\n")).collect();
    let result = truncate::bound(ToolOutput::new("t", whole.clone()), &project.cx);
    let path = result.metadata["outputPath"].as_str().unwrap().to_owned();
    assert_eq!(std::fs::read_to_string(&path).unwrap(), whole);
    assert!(result.output.contains(&path));
    assert!(result.output.contains("\n1999\n") && !result.output.contains("\n2000\n"));
    assert_eq!(result.metadata["truncated"], true);
    // The model may read the saved full text without asking.
    let read = json!({ "filePath": path, "offset": 2_990 });
    assert!(project.output("read", read).await.contains("\t2999\n"));
    assert_eq!(
        project
            .asked()
            .iter()
            .filter(|ask| ask.0 == "external_directory")
            .count(),
        0
    );
}

#[test]
fn bytes_are_counted_and_characters_are_not_split() {
    let project = Project::new();
    let result = truncate::bound(ToolOutput::new("t", "ü".repeat(40_000)), &project.cx);
    let kept = result.output.split("\n\n(").next().unwrap().to_owned();
    assert_eq!(kept, "ü".repeat(25_600));
}

#[test]
fn a_result_within_the_limits_is_unchanged() {
    let project = Project::new();
    let result = ToolOutput::new("t", "x\n".repeat(2_000));
    assert_eq!(truncate::bound(result.clone(), &project.cx), result);
    assert!(!project.cx.output_dir.exists());
}

#[cfg(unix)]
#[test]
fn only_the_user_can_read_saved_results() {
    use std::os::unix::fs::PermissionsExt;
    let mut project = Project::new();
    project.cx.call.call = "../../evil/\u{0}name".to_owned();
    let result = truncate::bound(ToolOutput::new("t", "x".repeat(60_000)), &project.cx);
    let path = std::path::PathBuf::from(result.metadata["outputPath"].as_str().unwrap());
    let mode = |path: &std::path::Path| path.metadata().unwrap().permissions().mode() & 0o777;
    assert_eq!(path.parent().unwrap(), project.cx.own_output_dir());
    assert_eq!((mode(&path), mode(path.parent().unwrap())), (0o600, 0o700));
}

#[test]
fn outputs_are_swept_after_seven_days() {
    let project = Project::new();
    let dir = project.cx.output_dir.join("ses_a");
    std::fs::create_dir_all(&dir).unwrap();
    let now = SystemTime::now();
    let days = |n: u64| Duration::from_secs(n * 24 * 60 * 60);
    for (name, age) in [("old", days(8)), ("new", days(6))] {
        let file = std::fs::File::create(dir.join(name)).unwrap();
        file.set_modified(now - age).unwrap();
    }
    let now_ms = i64::try_from(now.duration_since(UNIX_EPOCH).unwrap().as_millis()).unwrap();
    assert_eq!(truncate::sweep(&project.cx.output_dir, now_ms), 1);
    assert!(!dir.join("old").exists() && dir.join("new").exists());
    let later = now_ms + i64::try_from(days(2).as_millis()).unwrap();
    assert_eq!(truncate::sweep(&project.cx.output_dir, later), 1);
    assert!(!dir.exists());
    assert_eq!(
        truncate::sweep(&project.cx.output_dir.join("none"), later),
        0
    );
}
