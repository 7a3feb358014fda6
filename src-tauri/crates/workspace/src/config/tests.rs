use lathe_protocol::Action;
use serde_json::json;

use super::*;
use lathe_policy::rule;

fn locations(root: &Path) -> ConfigLocations {
    ConfigLocations {
        home: Some(root.join("home")),
        named: Some(root.join("named.json")),
        directory: root.join("project/sub"),
        worktree: root.join("project"),
    }
}

fn write(root: &Path, name: &str, text: &str) {
    let path = root.join(name);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, text).unwrap();
}

#[test]
fn files_are_found_from_the_persons_config_down_to_the_session_directory() {
    let root = tempfile::tempdir().unwrap();
    let root = root.path().canonicalize().unwrap();
    let names = [
        "home/opencode/opencode.json",
        "home/lathe/lathe.jsonc",
        "named.json",
        "project/opencode.json",
        "project/.opencode/opencode.json",
        "project/.lathe/lathe.json",
        "project/sub/lathe.json",
    ];
    for name in names.iter().rev() {
        write(&root, name, "{ /* mine */ \"a\": 1, }");
    }
    write(&root, "project/other/lathe.json", "{}");
    let sources = locations(&root).read();
    let found: Vec<_> = sources
        .files
        .iter()
        .map(|file| file.path.strip_prefix(&root).unwrap().display().to_string())
        .collect();
    assert_eq!(found, names);
    let shown: Vec<_> = sources.files[5..]
        .iter()
        .map(|file| file.display_path.as_str())
        .collect();
    assert_eq!(shown, [".lathe/lathe.json", "sub/lathe.json"]);
}

#[test]
fn a_wrong_value_is_reported_with_its_key_and_affects_nothing_else() {
    let root = tempfile::tempdir().unwrap();
    write(
        root.path(),
        "project/lathe.json",
        r#"{
            "permission": { "bash": { "git *": "allow", "rm *": "never" }, "edit": 7, "read": "deny" },
            "agent": { "a": { "temperature": "hot", "steps": 3, "model": "x", "color": "red" }, "b": 1 },
            "command": { "c": {} },
            "snapshot": "yes",
            "share": "auto",
            "somebody_elses": { "key": [] }
        }"#,
    );
    write(root.path(), "project/opencode.json", "{ \"model\": }");
    let sources = locations(root.path()).read();
    let mut problems = sources.problems.clone();
    let layer = Layer::read(&sources.files[0], &mut problems);
    assert_eq!(
        layer.rules,
        [
            rule("bash", "git *", Action::Allow),
            rule("read", "*", Action::Deny)
        ]
    );
    assert_eq!(
        (layer.agents[0].1.steps, layer.settings.snapshot),
        (Some(3), None)
    );
    assert_eq!(
        layer.settings.share,
        Some(ShareSetting::Mode(ShareMode::Auto))
    );
    let keys: Vec<_> = problems
        .iter()
        .map(|problem| {
            (
                problem.file.rsplit('/').next().unwrap_or_default(),
                problem.key.as_str(),
            )
        })
        .collect();
    assert_eq!(
        keys,
        [
            ("named.json", ""),
            ("opencode.json", ""),
            ("lathe.json", "permission.bash.rm *"),
            ("lathe.json", "permission.edit"),
            ("lathe.json", "agent.a.model"),
            ("lathe.json", "agent.a.temperature"),
            ("lathe.json", "agent.a.color"),
            ("lathe.json", "agent.b"),
            ("lathe.json", "command.c.template"),
            ("lathe.json", "snapshot"),
        ]
    );
}

#[test]
fn servers_are_read_in_both_spellings() {
    let table = json!({
        "a": { "type": "local", "command": ["npx", "-y", "x"], "environment": { "K": "v" }, "timeout": 500 },
        "b": { "command": "run", "args": ["1"], "enabled": false, "cwd": "tools", "sandbox": true },
        "c": { "type": "remote", "url": "https://example.org", "headers": { "h": "v" } },
        "d": { "type": "remote", "url": "ftp://example.org" },
        "e": { "enabled": false },
    });
    let mut problems = Vec::new();
    let servers = McpServer::read_all(
        table.as_object().unwrap(),
        |_| "lathe.json".into(),
        &mut problems,
    );
    let stdio =
        |command: &str, args: &[&str], env: &[(&str, &str)], cwd: Option<&str>| McpKind::Stdio {
            command: command.into(),
            args: args.iter().map(|arg| (*arg).to_owned()).collect(),
            env: env
                .iter()
                .map(|(k, v)| ((*k).to_owned(), (*v).to_owned()))
                .collect(),
            cwd: cwd.map(Into::into),
            sandbox: cwd.map(|_| true),
        };
    let server = |name: &str, kind, enabled, timeout: Option<u64>| McpServer {
        name: name.into(),
        kind,
        enabled,
        timeout: timeout.map(std::time::Duration::from_millis),
    };
    let http = McpKind::Http {
        url: "https://example.org".into(),
        headers: [("h".to_owned(), "v".to_owned())].into(),
    };
    assert_eq!(
        servers,
        [
            server(
                "a",
                stdio("npx", &["-y", "x"], &[("K", "v")], None),
                true,
                Some(500)
            ),
            server("b", stdio("run", &["1"], &[], Some("tools")), false, None),
            server("c", http, true, None),
        ]
    );
    let keys: Vec<_> = problems
        .iter()
        .map(|problem| problem.key.as_str())
        .collect();
    assert_eq!(keys, ["mcp.d.url"]);
}

#[test]
fn a_markdown_file_has_settings_and_a_text() {
    let parse = |text: &str| Definition::parse("a".into(), "a.md".into(), Origin::Person, text);
    let read =
        parse("---\ndescription: Looks\ntools:\n  write: false\n---\n\nYou look.\n").unwrap();
    assert_eq!(
        (Value::Object(read.front_matter), read.body.as_str()),
        (
            json!({ "description": "Looks", "tools": { "write": false } }),
            "You look."
        )
    );
    assert_eq!(parse("Just text").unwrap().body, "Just text");
    assert_eq!(parse("---\nnot closed").unwrap().body, "---\nnot closed");
    assert!(parse("---\na: [1\n---\nx").is_err());
    assert!(parse("---\n- 1\n---\nx").is_err());
}

#[cfg(unix)]
#[test]
fn a_project_file_that_links_out_of_the_project_is_not_read() {
    let root = tempfile::tempdir().unwrap();
    let root = root.path().canonicalize().unwrap();
    write(&root, "named.json", "{}");
    write(&root, "secret.json", "{ \"model\": \"a/b\" }");
    write(&root, "project/sub/x", "");
    std::os::unix::fs::symlink(root.join("secret.json"), root.join("project/lathe.json")).unwrap();
    let sources = locations(&root).read();
    assert_eq!(sources.files.len(), 1);
    assert_eq!(
        sources.problems[0].message,
        "it is a link that leads out of the project"
    );
}
