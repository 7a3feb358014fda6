//! The window as a whole: its start, its settings, its links.

use lathe_protocol::ipc::{AppStart, MenuRole, Recent, Settings, UiBatch};
use lathe_protocol::{ProjectId, SessionId};
use tauri::ipc::Channel;
use tauri::{AppHandle, State};
use tauri_plugin_opener::OpenerExt;

use crate::error::{Answer, OrUi, failed};
use crate::state::Shell;
use crate::texts;
use crate::window;

#[tauri::command]
pub async fn start(shell: State<'_, Shell>) -> Answer<AppStart> {
    let mut recent = shell.recent.get();
    let mut settings = shell.settings.settings();
    let wanted = shell.wanted.lock().take();
    if let Some(folder) = wanted {
        // Who starts with a folder needs no welcome.
        settings.welcomed = true;
        let project = shell.sessions.open_project(&folder).await.or_ui()?;
        if recent.project_id.as_ref() != Some(&project.id) {
            recent = Recent {
                project_id: Some(project.id),
                session_id: None,
            };
        }
    }
    let projects = shell.first_projects().await.or_ui()?;
    let damaged = shell.settings.take_damaged();
    Ok(AppStart {
        projects,
        recent,
        settings,
        damaged_settings: damaged.map(|path| path.display().to_string()),
        version: env!("CARGO_PKG_VERSION").to_owned(),
    })
}

#[tauri::command]
pub async fn watch(shell: State<'_, Shell>, channel: Channel<UiBatch>) -> Answer<()> {
    shell.bridge.clone().feed(channel);
    Ok(())
}

#[tauri::command]
pub async fn save_settings(
    app: AppHandle,
    shell: State<'_, Shell>,
    settings: Settings,
) -> Answer<()> {
    let stored = shell.settings.set_settings(&settings);
    // They hold for this run all the same.
    shell.apply(&settings);
    window::apply(&app, &settings).map_err(failed)?;
    stored.map_err(|error| failed(texts::settings_not_saved(error)))
}

#[tauri::command]
pub async fn remember(
    shell: State<'_, Shell>,
    project_id: Option<ProjectId>,
    session_id: Option<SessionId>,
) -> Answer<()> {
    shell.recent.set(&Recent {
        project_id,
        session_id,
    });
    Ok(())
}

/// What the system does with the window: closes it, or makes it full screen.
#[tauri::command]
pub async fn window_action(app: AppHandle, role: MenuRole) -> Answer<()> {
    window::act(&app, role).map(drop).map_err(failed)
}

/// How many sessions wait for the person.
#[tauri::command]
pub async fn set_badge(app: AppHandle, count: u32) -> Answer<()> {
    window::set_badge(&app, count).map_err(failed)
}

/// Opens a link from a model's text outside of the program. Only web and mail addresses.
#[tauri::command]
pub async fn open_external(app: AppHandle, url: String) -> Answer<()> {
    let lower = url.trim().to_ascii_lowercase();
    let allowed = ["http://", "https://", "mailto:"];
    if !allowed.iter().any(|scheme| lower.starts_with(scheme)) {
        return Err(failed(format!("{url} is not a web or mail address")));
    }
    app.opener()
        .open_url(url.trim(), None::<&str>)
        .map_err(failed)
}
