//! What the settings pages show and change besides the settings: rules, stored data, the menu bar.

use lathe_protocol::Rule;
use lathe_protocol::ipc::{Damaged, DataKind, DataReport, DataView, MenuView, TrashedSession};
use lathe_session::CheckReport;
use tauri::{AppHandle, State};
use tauri_plugin_opener::OpenerExt;

use super::session::project;
use crate::error::{Answer, OrUi, failed};
use crate::menu;
use crate::state::Shell;

/// The rules that "always" answers have added in a project.
#[tauri::command]
pub async fn approved_rules(shell: State<'_, Shell>, project_id: String) -> Answer<Vec<Rule>> {
    let project = project(&shell, &project_id).await?;
    shell.sessions.approved(&project).await.or_ui()
}

#[tauri::command]
pub async fn revoke_rule(
    shell: State<'_, Shell>,
    project_id: String,
    rule: Rule,
) -> Answer<Vec<Rule>> {
    let project = project(&shell, &project_id).await?;
    shell.sessions.revoke(&project, &rule).await.or_ui()?;
    shell.sessions.approved(&project).await.or_ui()
}

/// Whether the project's files may be changed without asking.
#[tauri::command]
pub async fn project_edits(shell: State<'_, Shell>, project_id: String) -> Answer<bool> {
    let project = project(&shell, &project_id).await?;
    Ok(shell.sessions.project_edits(&project).await)
}

#[tauri::command]
pub async fn data_use(shell: State<'_, Shell>) -> Answer<DataView> {
    shell.sessions.data_use().await.or_ui()
}

#[tauri::command]
pub async fn clean_data(shell: State<'_, Shell>, kind: DataKind) -> Answer<DataView> {
    shell.sessions.delete_data(kind).await.or_ui()?;
    shell.sessions.data_use().await.or_ui()
}

#[tauri::command]
pub async fn list_trash(shell: State<'_, Shell>) -> Answer<Vec<TrashedSession>> {
    shell.sessions.trashed().await.or_ui()
}

#[tauri::command]
pub async fn check_data(shell: State<'_, Shell>, repair: bool) -> Answer<DataReport> {
    shell.sessions.check(repair).await.or_ui().map(report)
}

fn report(report: CheckReport) -> DataReport {
    let damaged = report.damaged.into_iter().map(|one| Damaged {
        key: one.key.to_string(),
        reason: one.reason,
        message_id: None,
    });
    DataReport {
        records: report.records as u64,
        damaged: damaged.collect(),
        orphans: report.orphans.len() as u64,
        strays: report
            .strays
            .iter()
            .map(|path| path.display().to_string())
            .collect(),
    }
}

/// Opens the data folder in the file manager.
#[tauri::command]
pub async fn show_data(app: AppHandle, shell: State<'_, Shell>) -> Answer<()> {
    let folder = shell.data_dir().display().to_string();
    app.opener().open_path(folder, None::<&str>).map_err(failed)
}

/// On the main thread, so that the bar always shows the menus that came last.
#[tauri::command]
pub fn set_menu(app: AppHandle, menus: Vec<MenuView>) -> Answer<()> {
    menu::set(&app, menus).map_err(failed)
}
