//! `lathectl serve`: the sessions for other programs, until a signal ends it.

use std::io;
use std::net::IpAddr;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use lathe_server::{DEFAULT_PORT, Limits, Options, Password, Server};
use lathe_session::{Sessions, files, write_private_file};
use serde_json::json;

use crate::args::ServeArgs;
use crate::{Outcome, output, texts};

/// In order of precedence.
const PASSWORD_VARIABLES: [&str; 2] = ["LATHE_SERVER_PASSWORD", "OPENCODE_SERVER_PASSWORD"];
const USER_VARIABLE: &str = "OPENCODE_SERVER_USERNAME";
const LOOPBACK: &str = "127.0.0.1";
/// Where programs of the same person find the address and the password.
const ACCESS_FILE: &str = "server.json";
const MOST_ACCESS: u64 = 64 * 1024;

pub async fn serve(
    sessions: &Sessions,
    data_dir: &Path,
    directory: &Path,
    args: ServeArgs,
) -> Outcome {
    let hostname = args.hostname.clone().unwrap_or_else(|| LOOPBACK.to_owned());
    let user = variable(USER_VARIABLE);
    let own = PASSWORD_VARIABLES.iter().find_map(|name| variable(name));
    let is_own = own.is_some();
    if !is_own && !is_loopback(&hostname) {
        return Err(texts::needs_password(&hostname, PASSWORD_VARIABLES[0]).into());
    }
    let password = match own {
        Some(secret) => Password::new(user, secret)?,
        None => Password::generate(user)?,
    };
    let directory = std::path::absolute(directory)?;
    // Before the address is printed: whoever reads it may end the server at once.
    let ended = until_signal()?;
    let server = bind(sessions, &hostname, &args, &password, &directory).await?;
    let address = format!("http://{}", server.address());
    let access = AccessFile::write(data_dir, &address, &password)?;
    // Clients wait for this line.
    output::line(&format!("opencode server listening on {address}"))?;
    output::flush()?;
    if !is_own {
        let file = access.path.display();
        output::note(&texts::access(password.user(), password.secret(), file));
    }
    server.serve(ended).await;
    sessions.close().await;
    drop(access);
    Ok(ExitCode::SUCCESS)
}

/// On the usual port if it is free and no other is named.
async fn bind(
    sessions: &Sessions,
    hostname: &str,
    args: &ServeArgs,
    password: &Password,
    directory: &Path,
) -> io::Result<Server> {
    let at = |port| {
        let options = Options {
            hostname: hostname.to_owned(),
            port,
            password: password.clone(),
            origins: args.cors.clone(),
            directory: directory.to_owned(),
            limits: Limits::default(),
        };
        Server::bind(sessions.clone(), options)
    };
    match args.port {
        Some(port) => at(port).await,
        None => match at(DEFAULT_PORT).await {
            Err(error) if error.kind() == io::ErrorKind::AddrInUse => at(0).await,
            bound => bound,
        },
    }
}

fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}

fn is_loopback(hostname: &str) -> bool {
    hostname == "localhost" || hostname.parse::<IpAddr>().is_ok_and(|ip| ip.is_loopback())
}

/// Removed when the server ends, unless another one has written its own there since.
struct AccessFile {
    path: PathBuf,
    content: String,
}

impl AccessFile {
    fn write(data_dir: &Path, address: &str, password: &Password) -> io::Result<Self> {
        let path = data_dir.join(ACCESS_FILE);
        let content = json!({
            "url": address,
            "username": password.user(),
            "password": password.secret(),
        });
        let content = content.to_string();
        write_private_file(&path, content.as_bytes())?;
        Ok(AccessFile { path, content })
    }
}

impl Drop for AccessFile {
    fn drop(&mut self) {
        let found = files::read(&self.path, MOST_ACCESS);
        if found.is_ok_and(|found| found == self.content.as_bytes()) {
            // A file that is left names a server that no longer answers.
            let _ = std::fs::remove_file(&self.path);
        }
    }
}

#[cfg(unix)]
pub fn until_signal() -> io::Result<impl Future<Output = ()>> {
    use tokio::signal::unix::{SignalKind, signal};
    let mut interrupt = signal(SignalKind::interrupt())?;
    let mut terminate = signal(SignalKind::terminate())?;
    let mut hang_up = signal(SignalKind::hangup())?;
    Ok(async move {
        tokio::select! {
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {}
            _ = hang_up.recv() => {}
        }
    })
}

#[cfg(not(unix))]
pub fn until_signal() -> io::Result<impl Future<Output = ()>> {
    Ok(async {
        let _ = tokio::signal::ctrl_c().await;
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_of_a_server_leaves_the_access_file_of_another_one() {
        let folder = tempfile::tempdir().unwrap();
        let password = |secret: &str| Password::new(None, secret.into()).unwrap();
        let write =
            |address, secret| AccessFile::write(folder.path(), address, &password(secret)).unwrap();
        let first = write("http://127.0.0.1:4096", "one");
        let second = write("http://127.0.0.1:5000", "two");
        drop(first);
        let left = std::fs::read_to_string(folder.path().join(ACCESS_FILE)).unwrap();
        assert_eq!(left, second.content);
        drop(second);
        assert!(!folder.path().join(ACCESS_FILE).exists());
    }
}
