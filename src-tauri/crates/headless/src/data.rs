//! Commands that list, remove and check stored data.

use std::path::Path;
use std::process::ExitCode;

use lathe_protocol::SessionId;
use lathe_render::escape::visible_line;
use lathe_session::Sessions;

use crate::{Outcome, config, output, texts};

pub async fn sessions(
    sessions: &Sessions,
    directory: &Path,
    json: bool,
    search: Option<&str>,
    all: bool,
) -> Outcome {
    let mut found = if all {
        sessions.list_all().await?
    } else {
        let project = sessions.project_at(directory).await?;
        sessions.list(&project).await?
    };
    if let Some(words) = search {
        let found_in_text = sessions.sessions_with_words(words).await?;
        let titled = lathe_session::title_contains(words);
        found.retain(|session| found_in_text.contains(&session.id) || titled(session));
    }
    if json {
        output::json(&found)?;
    } else {
        for session in found {
            let pending = match session.revert {
                Some(_) => "  (reverted)",
                None => "",
            };
            output::line(&format!(
                "{}  {}{pending}",
                session.id,
                output::one_line(&session.title)
            ))?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

pub async fn remove(sessions: &Sessions, id: &SessionId) -> Outcome {
    sessions.remove(id).await?;
    Ok(ExitCode::SUCCESS)
}

/// Lists the models of the config (the project's too, if it is trusted) and of local servers.
pub async fn models(sessions: &Sessions, directory: &Path, json: bool) -> Outcome {
    let project = sessions.project_at(directory).await?;
    config::note(&sessions.config_problems(&project).await?);
    sessions.models().discover_local_servers().await;
    let catalog = sessions.models_of(&project).await.catalog();
    if json {
        output::json(&catalog.providers())?;
    } else {
        for provider in catalog.providers() {
            for model in &provider.models {
                output::line(&format!("{}/{}", provider.id, model.info.id))?;
            }
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// Fails if files are damaged or stray. Orphans are normal and only listed.
pub async fn check(sessions: &Sessions, repair: bool) -> Outcome {
    let report = sessions.check(repair).await?;
    output::line(&texts::no_problems(report.records))?;
    for damaged in &report.damaged {
        output::line(&format!("damaged: {damaged}"))?;
    }
    for stray in &report.strays {
        let stray = stray.display().to_string();
        output::line(&format!("stray: {}", visible_line(&stray)))?;
    }
    for orphan in &report.orphans {
        output::line(&format!("orphan: {orphan}"))?;
    }
    let clean = report.damaged.is_empty() && report.strays.is_empty();
    if repair && !clean {
        output::line(texts::REPAIRED)?;
    }
    Ok(if clean || repair {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}
