// On Windows a release build must not open a console beside its window.
#![cfg_attr(not(debug_assertions), windows_subsystem = "windows")]

fn main() -> std::process::ExitCode {
    lathe_shell::run()
}
