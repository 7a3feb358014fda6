//! A tool server in the sandbox of its project.

use lathe_tools::EnvironmentSettings;
use tokio::io::AsyncReadExt;

use super::*;
use crate::outside;

#[tokio::test]
async fn a_confined_server_changes_its_project_and_nothing_else() {
    let scratch = outside::test_folder().unwrap();
    let base = scratch.path().canonicalize().unwrap();
    let project = base.join("project");
    std::fs::create_dir(&project).unwrap();
    let variables = [("PATH".to_owned(), "/usr/bin:/bin".to_owned())].into();
    let environment = Environment::fixed(variables, EnvironmentSettings::default());
    let sandbox = Arc::new(Sandbox::new(None, &base.join("data"), None));
    if !sandbox.is_available() {
        return;
    }
    let launcher = Launcher {
        environment: Arc::new(environment),
        sandbox,
        rules: Arc::default(),
    };
    let script = "read -r line; echo $line; echo x > inside; echo x > ../outside || echo refused";
    let mut program = Program {
        command: ["/bin/sh", "-c", script].map(str::to_owned).to_vec(),
        environment: Default::default(),
        directory: Some(project.clone()),
        confined_to: Some(project.clone()),
    };
    let said = async |program: &Program| {
        use tokio::io::AsyncWriteExt;
        let mut child = launcher.launch(program).await.unwrap();
        child.stdin.write_all(b"hello\n").await.unwrap();
        let mut said = String::new();
        child.stdout.read_to_string(&mut said).await.unwrap();
        child.handle.stop().await;
        said
    };
    // Landlock refuses new entries next to protected ones; an existing file can be changed.
    std::fs::write(project.join("inside"), "").unwrap();
    assert_eq!(said(&program).await, "hello\nrefused\n");
    assert_eq!(
        std::fs::read_to_string(project.join("inside")).unwrap(),
        "x\n"
    );
    assert!(!base.join("outside").exists());
    program.confined_to = None;
    assert_eq!(said(&program).await, "hello\n");
    assert!(base.join("outside").exists());
}

#[tokio::test]
async fn a_confined_server_reads_nothing_that_the_rules_of_the_project_or_the_person_deny() {
    let scratch = outside::test_folder().unwrap();
    let base = scratch.path().canonicalize().unwrap();
    let project = base.join("project");
    for name in ["plain", ".env", "secrets/key", "private/key", "drafts/text"] {
        let path = project.join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, format!("{name}\n")).unwrap();
    }
    let variables = [("PATH".to_owned(), "/usr/bin:/bin".to_owned())].into();
    let environment = Environment::fixed(variables, EnvironmentSettings::default());
    let sandbox = Arc::new(Sandbox::new(None, &base.join("data"), None));
    if !sandbox.is_available() {
        return;
    }
    let denied = |pattern: &str| {
        vec![lathe_protocol::Rule {
            permission: "read".to_owned(),
            pattern: pattern.to_owned(),
            action: lathe_protocol::Action::Deny,
        }]
    };
    let rules = ServerRules::default();
    *rules.settings.lock() = denied("private/*");
    let own = ProjectRules {
        config: denied("secrets/*"),
        restrictions: denied("drafts/*"),
    };
    rules.projects.lock().insert(project.clone(), own);
    let launcher = Launcher {
        environment: Arc::new(environment),
        sandbox,
        rules: Arc::new(rules),
    };
    let script = "cat plain .env secrets/key private/key drafts/text";
    let program = Program {
        command: ["/bin/sh", "-c", script].map(str::to_owned).to_vec(),
        environment: Default::default(),
        directory: Some(project.clone()),
        confined_to: Some(project),
    };
    let mut child = launcher.launch(&program).await.unwrap();
    let mut said = String::new();
    child.stdout.read_to_string(&mut said).await.unwrap();
    child.handle.stop().await;
    assert_eq!(said, "plain\n");
}
