//! An empty Tauri window, with which the start of the app is compared.

#![allow(clippy::expect_used, reason = "a program for one measurement")]

use tauri::{WebviewUrl, WebviewWindowBuilder};

fn main() {
    let blank = "about:blank".parse().expect("an address");
    tauri::Builder::default()
        .setup(|app| {
            WebviewWindowBuilder::new(app, "bare", WebviewUrl::External(blank))
                .title("Bare")
                .inner_size(1240.0, 820.0)
                .build()?;
            Ok(())
        })
        .run(tauri::generate_context!())
        .expect("a window");
}
