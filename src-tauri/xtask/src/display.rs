//! A virtual display for a machine without one.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};

use crate::Outcome;

/// Whether a window could be opened here.
pub fn present() -> bool {
    let set = |name| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    !cfg!(target_os = "linux") || set("DISPLAY") || set("WAYLAND_DISPLAY")
}

/// An Xvfb of our own. It ends with its last client, and with us.
pub struct VirtualDisplay {
    server: Child,
    /// What `DISPLAY` has to say.
    pub name: String,
}

impl VirtualDisplay {
    /// Starts the server on the first free display number, which it finds itself.
    pub fn start() -> Outcome<Self> {
        let mut server = Command::new("Xvfb")
            .args([
                "-displayfd",
                "1",
                "-screen",
                "0",
                "1440x900x24",
                "-nolisten",
                "tcp",
            ])
            .arg("-terminate")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .map_err(|error| format!("Xvfb could not start: {error}"))?;
        let mut number = String::new();
        if let Some(output) = server.stdout.take() {
            let _ = BufReader::new(output).read_line(&mut number);
        }
        if number.trim().is_empty() {
            let _ = server.kill();
            let _ = server.wait();
            return Err("Xvfb ended before it had a display".into());
        }
        Ok(Self {
            server,
            name: format!(":{}", number.trim()),
        })
    }
}

impl Drop for VirtualDisplay {
    fn drop(&mut self) {
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}
