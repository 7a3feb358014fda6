//! A session for other eyes: as one page in a file, or on a server that the person set up.
//!
//! What is shared went through [`lathe_workspace::redact`] first. The secret that takes a share back stays
//! under `session_share/` and goes nowhere else.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use lathe_protocol::SessionId;
use lathe_protocol::ipc::{Redaction, SessionExport};
use lathe_store::Key;
use serde::{Deserialize, Serialize};
use url::Url;

use lathe_records::Records;
use lathe_records::{Failed, Result};
use lathe_workspace::models::Models;
use lathe_workspace::redact::Redactor;

/// Draws a session as one HTML page; the core knows nothing of drawing.
pub type DrawPage = Arc<dyn Fn(&SessionExport) -> String + Send + Sync>;

/// How a share is found again, and taken back.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Record {
    File {
        file: PathBuf,
        url: String,
    },
    Server {
        id: String,
        secret: String,
        url: String,
        endpoint: String,
    },
}

/// What a server answers when it has taken a session.
#[derive(Debug, Deserialize)]
struct Taken {
    id: String,
    url: String,
    #[serde(default)]
    secret: String,
}

impl Record {
    pub fn url(&self) -> &str {
        match self {
            Record::File { url, .. } | Record::Server { url, .. } => url,
        }
    }

    pub async fn load(records: &Records, session: &SessionId) -> Result<Option<Record>> {
        let key = Key::session_share(session)?;
        Ok(records.store().read(&key).await?)
    }

    pub async fn save(&self, records: &Records, session: &SessionId) -> Result<()> {
        let key = Key::session_share(session)?;
        Ok(records.store().write_durable(&key, self).await?)
    }

    pub async fn forget(records: &Records, session: &SessionId) -> Result<()> {
        records
            .store()
            .remove(&Key::session_share(session)?)
            .await?;
        Ok(())
    }
}

/// The session without what must not be shared, and a list of that.
pub async fn cleaned(
    models: &Models,
    export: SessionExport,
) -> Result<(SessionExport, Vec<Redaction>)> {
    let keys = models.secrets().await;
    let home = directories::BaseDirs::new().map(|dirs| dirs.home_dir().to_owned());
    let clean = move || -> serde_json::Result<_> {
        let mut value = serde_json::to_value(&export)?;
        let mut redactor = Redactor::new(home, &keys);
        redactor.clean(&mut value);
        Ok((serde_json::from_value(value)?, redactor.found()))
    };
    let done = tokio::task::spawn_blocking(clean).await;
    let done = done.map_err(|error| Failed::refused(error.to_string()))?;
    done.map_err(|error| Failed::refused(error.to_string()))
}

pub async fn to_file(draw: &DrawPage, export: SessionExport, file: &Path) -> Result<Record> {
    let (draw, path) = (draw.clone(), file.to_owned());
    let written = tokio::task::spawn_blocking(move || {
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder)?;
        }
        std::fs::write(&path, draw(&export))?;
        path.canonicalize()
    });
    let written = written
        .await
        .map_err(|error| Failed::refused(error.to_string()))?;
    let file = written.map_err(|error| {
        Failed::refused(format!("{} could not be written: {error}", file.display()))
    })?;
    let url = Url::from_file_path(&file).map_err(|()| Failed::refused("That place has no name"))?;
    Ok(Record::File {
        file,
        url: url.to_string(),
    })
}

/// `POST` of the session; the answer is `{ id, url, secret }`.
pub async fn to_server(endpoint: &str, export: &SessionExport) -> Result<Record> {
    let endpoint = checked(endpoint)?;
    let answer = client()?.post(endpoint.clone()).json(export).send().await;
    let answer = answer.and_then(reqwest::Response::error_for_status);
    let taken: Taken = answer.map_err(refused)?.json().await.map_err(refused)?;
    let url = checked(&taken.url)?;
    Ok(Record::Server {
        id: taken.id,
        secret: taken.secret,
        url: url.to_string(),
        endpoint: endpoint.to_string(),
    })
}

/// Removes what was shared: the file, or by `DELETE endpoint/id` with the secret.
pub async fn take_back(record: &Record) -> Result<()> {
    match record {
        Record::File { file, .. } => match std::fs::remove_file(file) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                let said = format!("{} could not be removed: {error}", file.display());
                Err(Failed::refused(said))
            }
            _ => Ok(()),
        },
        Record::Server {
            id,
            secret,
            endpoint,
            ..
        } => {
            let mut place = checked(endpoint)?;
            if let Ok(mut path) = place.path_segments_mut() {
                path.pop_if_empty().push(id);
            }
            let body = serde_json::json!({ "secret": secret });
            let answer = client()?.delete(place).json(&body).send().await;
            let answer = answer.map_err(refused)?;
            // Gone is what was wanted.
            if answer.status() == reqwest::StatusCode::NOT_FOUND {
                return Ok(());
            }
            answer.error_for_status().map(drop).map_err(refused)
        }
    }
}

fn checked(address: &str) -> Result<Url> {
    let url = Url::parse(address).ok();
    let web = url.filter(|url| matches!(url.scheme(), "http" | "https"));
    web.ok_or_else(|| Failed::refused("A share's address must begin with http or https"))
}

fn client() -> Result<reqwest::Client> {
    let built = reqwest::Client::builder()
        .timeout(std::time::Duration::from_secs(60))
        .redirect(reqwest::redirect::Policy::none())
        .build();
    built.map_err(refused)
}

/// Without the address: it may hold what must not be seen.
fn refused(error: reqwest::Error) -> Failed {
    let error = error.without_url();
    Failed::refused(format!("The share's server did not do it: {error}"))
}
