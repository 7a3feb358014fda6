//! A fake model in a process of its own, and what ours has used so far.

use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use serde_json::Value;

pub struct Server {
    process: Child,
    pub url: String,
}

impl Server {
    /// Answers as the script says.
    pub fn start(folder: &Path, script: &Value) -> Self {
        let file = folder.join("script.json");
        std::fs::write(&file, script.to_string()).expect("a script");
        let mut process = Command::new(fake_model())
            .arg(&file)
            .stdout(Stdio::piped())
            .spawn()
            .expect("the fake model");
        let mut said = BufReader::new(process.stdout.take().expect("its output"));
        let mut line = String::new();
        while !line.contains("http://") {
            line.clear();
            let read = said.read_line(&mut line).expect("a line");
            assert!(read > 0, "the fake model did not start");
        }
        let at = line.find("http://").unwrap_or(0);
        let url = line[at..].split_whitespace().next().unwrap_or_default();
        let url = url.trim_end_matches('/').to_owned();
        // Nobody reads on, and a full pipe would stop it.
        std::thread::spawn(move || std::io::copy(&mut said.by_ref(), &mut std::io::sink()));
        Server { process, url }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // It may be gone already.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Built beside us; `cargo xtask bench` sees to it.
fn fake_model() -> PathBuf {
    let bench = std::env::current_exe().expect("our own path");
    let profile = bench.ancestors().nth(2).expect("the profile's folder");
    profile.join(format!("fake-model{}", std::env::consts::EXE_SUFFIX))
}

/// User and system time of this process, in milliseconds.
pub fn cpu() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let fields: Vec<_> = stat
        .rsplit(')')
        .next()
        .unwrap_or_default()
        .split_whitespace()
        .collect();
    let ticks = |at: usize| fields.get(at).and_then(|text| text.parse::<f64>().ok());
    (ticks(11).unwrap_or(0.0) + ticks(12).unwrap_or(0.0)) * 10.0
}
