//! What the page of the window may run and reach.

use serde_json::Value;

use super::tree::read;

#[test]
fn the_page_may_run_only_its_own_scripts_and_reach_no_host() {
    let config: Value = serde_json::from_str(&read("tauri.conf.json")).unwrap();
    let policy = &config["app"]["security"]["csp"];
    let directives: Vec<(String, String)> = match policy {
        Value::String(text) => text
            .split(';')
            .filter_map(|directive| directive.trim().split_once(' '))
            .map(|(name, sources)| (name.to_owned(), sources.to_owned()))
            .collect(),
        Value::Object(map) => map
            .iter()
            .map(|(name, sources)| {
                (
                    name.clone(),
                    sources.to_string().replace(['"', '[', ']', ','], " "),
                )
            })
            .collect(),
        other => panic!("there is no content security policy: {other}"),
    };
    assert!(
        directives.iter().any(|(name, _)| name == "default-src"),
        "no default-src"
    );
    for (name, sources) in directives {
        for source in sources.split_whitespace() {
            // Tauri's own channel and schemes have such names; they never leave the process.
            let remote = source.contains("//") && !source.ends_with(".localhost");
            assert!(
                !remote && source != "*" && source != "https:",
                "{name} reaches {source}"
            );
            let loose = ["'unsafe-inline'", "'unsafe-eval'"].contains(&source);
            assert!(
                !loose || name.starts_with("style-src"),
                "{name} allows {source}"
            );
        }
    }
}

#[test]
fn the_page_itself_has_no_inline_script_or_style() {
    let page = read("ui/index.html").to_lowercase();
    assert!(
        !page.contains("<style") && !page.contains(" style="),
        "an inline style"
    );
    assert!(
        !page.contains(" onload=") && !page.contains(" onclick="),
        "an inline handler"
    );
    for tag in page.split("<script").skip(1) {
        let (attributes, rest) = tag.split_once('>').unwrap();
        assert!(attributes.contains("src="), "an inline script");
        assert!(
            rest.trim_start().starts_with("</script>"),
            "a script with a body"
        );
    }
}
