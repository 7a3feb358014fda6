//! What a report about a fault needs to say of the core. Never prompts, answers, file contents or
//! secrets.

use std::fmt::Write;
use std::sync::Arc;

use lathe_store::Health;
use lathe_workspace::redact::text_redactor;

use super::Sessions;

/// Removes secrets and the name of the home folder from a text.
pub type RedactText = Arc<dyn Fn(&str) -> String + Send + Sync>;

impl Sessions {
    /// Removes the keys that are known now, and what looks like one.
    pub async fn text_redactor(&self) -> RedactText {
        let home = directories::BaseDirs::new().map(|dirs| dirs.home_dir().to_owned());
        Arc::new(text_redactor(home, &self.models().secrets().await))
    }

    /// A description of the core and of the config of every project, one fact a line.
    pub async fn diagnostics(&self) -> String {
        let mut text = String::new();
        let mut line = |name: &str, value: &str| {
            // Writing to a string cannot fail.
            let _ = writeln!(text, "{name}: {value}");
        };
        let health = match &*self.health().borrow() {
            Health::Good => "can write".to_owned(),
            Health::Failing(error) => error.to_string(),
        };
        line("Data", &self.core.data_dir.display().to_string());
        line("Store", &health);
        line(
            "Sessions at work",
            &self.core.active.ids().len().to_string(),
        );
        let projects = match self.projects().await {
            Ok(projects) => projects,
            Err(error) => {
                line("Projects", &error.to_string());
                Vec::new()
            }
        };
        line("Projects", &projects.len().to_string());
        let mut seen = Vec::new();
        for project in &projects {
            let problems = self.config_problems(project).await.unwrap_or_default();
            for problem in problems {
                // A problem of the person's own config is one of every project.
                if !seen.contains(&problem) {
                    line("Config", &problem.to_string());
                    seen.push(problem);
                }
            }
        }
        let redact = self.text_redactor().await;
        redact(&text)
    }
}
