//! The shell: a window around the session core.
//!
//! The only Rust that knows tauri. Commands validate, call the core and convert; the bridge
//! turns its notices into batches for the webview. Wiring only; no decisions.

mod assets;
mod bridge;
mod clipboard;
mod commands;
mod draft_store;
mod error;
#[cfg(target_os = "linux")]
mod gtk_settings;
mod log;
mod menu;
mod notify;
mod recent;
mod sample;
mod settings;
mod staged_attachments;
mod state;
mod texts;
mod window;

use std::process::ExitCode;

use tauri::{Builder, Manager, RunEvent, Wry};

use crate::state::Shell;

pub fn run() -> ExitCode {
    #[cfg(target_os = "linux")]
    gtk_settings::apply();
    match build() {
        Ok(app) => {
            app.run(|handle, event| {
                if let RunEvent::Exit = event {
                    handle.state::<Shell>().close();
                }
            });
            ExitCode::SUCCESS
        }
        Err(error) => {
            window::show_fatal(&error.to_string());
            ExitCode::FAILURE
        }
    }
}

fn build() -> Result<tauri::App<Wry>, Box<dyn std::error::Error>> {
    let data_dir = lathe_session::default_data_dir()?;
    let log = log::start(&data_dir);
    let mut builder = Builder::default();
    if window::can_find_other_instances() {
        // Before all other plugins: a second start must not touch anything else.
        builder = builder.plugin(tauri_plugin_single_instance::init(window::second_start));
    }
    let app = builder
        .plugin(tauri_plugin_dialog::init())
        .plugin(tauri_plugin_notification::init())
        .plugin(tauri_plugin_opener::init())
        .plugin(tauri_plugin_store::Builder::new().build())
        .plugin(window::remember_size(&data_dir))
        .register_asynchronous_uri_scheme_protocol(assets::SCHEME, assets::serve)
        .invoke_handler(commands::handler())
        .setup(move |app| {
            log::report_faults(app.handle());
            let shell = tauri::async_runtime::block_on(Shell::open(app.handle(), data_dir, log))?;
            app.manage(shell);
            app.manage(menu::MenuBar::default());
            window::open(app.handle())?;
            app.on_menu_event(menu::chosen);
            notify::begin(app.handle());
            Ok(())
        })
        .build(tauri::generate_context!())?;
    Ok(app)
}
