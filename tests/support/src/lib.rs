//! What tests share: the fake model server, test projects and the window driver.

#[cfg(target_os = "linux")]
pub mod window;
