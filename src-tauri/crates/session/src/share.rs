//! Shares a session as a page in a file, or on a server that the person configured.
//!
//! What is shared went through [`lathe_workspace::redact`] first. The secret that deletes a share stays
//! under `session_share/`.

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

/// Renders a session as one HTML page; this crate does not know rendering.
pub type DrawPage = Arc<dyn Fn(&SessionExport) -> String + Send + Sync>;

/// What is needed to find and delete a share. The field names are stored.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum ShareRecord {
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

/// The server's answer to an upload.
#[derive(Debug, Deserialize)]
struct UploadAnswer {
    id: String,
    url: String,
    #[serde(default)]
    secret: String,
}

impl ShareRecord {
    pub fn url(&self) -> &str {
        match self {
            ShareRecord::File { url, .. } | ShareRecord::Server { url, .. } => url,
        }
    }

    pub async fn load(records: &Records, session: &SessionId) -> Result<Option<ShareRecord>> {
        let key = Key::session_share(session)?;
        Ok(records.store().read(&key).await?)
    }

    pub async fn save(&self, records: &Records, session: &SessionId) -> Result<()> {
        let key = Key::session_share(session)?;
        Ok(records.store().write_durable(&key, self).await?)
    }

    pub async fn delete(records: &Records, session: &SessionId) -> Result<()> {
        records
            .store()
            .remove(&Key::session_share(session)?)
            .await?;
        Ok(())
    }
}

/// The session without what must not be shared, and a list of what was removed.
pub async fn redact(
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

pub async fn to_file(draw: &DrawPage, export: SessionExport, file: &Path) -> Result<ShareRecord> {
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
        Failed::refused(format!("{} couldn’t be written: {error}", file.display()))
    })?;
    let url = Url::from_file_path(&file).map_err(|()| Failed::refused("That place has no name"))?;
    Ok(ShareRecord::File {
        file,
        url: url.to_string(),
    })
}

/// `POST` of the session; the answer is `{ id, url, secret }`.
pub async fn to_server(endpoint: &str, export: &SessionExport) -> Result<ShareRecord> {
    let endpoint = parse_web_url(endpoint)?;
    let answer = client()?.post(endpoint.clone()).json(export).send().await;
    let answer = answer.and_then(reqwest::Response::error_for_status);
    let uploaded: UploadAnswer = answer.map_err(refused)?.json().await.map_err(refused)?;
    let url = parse_web_url(&uploaded.url)?;
    Ok(ShareRecord::Server {
        id: uploaded.id,
        secret: uploaded.secret,
        url: url.to_string(),
        endpoint: endpoint.to_string(),
    })
}

/// Deletes the shared file, or sends `DELETE endpoint/id` with the secret.
pub async fn delete(record: &ShareRecord) -> Result<()> {
    match record {
        ShareRecord::File { file, .. } => match std::fs::remove_file(file) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                let message = format!("{} couldn’t be removed: {error}", file.display());
                Err(Failed::refused(message))
            }
            _ => Ok(()),
        },
        ShareRecord::Server {
            id,
            secret,
            endpoint,
            ..
        } => {
            let mut url = parse_web_url(endpoint)?;
            if let Ok(mut path) = url.path_segments_mut() {
                path.pop_if_empty().push(id);
            }
            let body = serde_json::json!({ "secret": secret });
            let answer = client()?.delete(url).json(&body).send().await;
            let answer = answer.map_err(refused)?;
            // Already deleted.
            if answer.status() == reqwest::StatusCode::NOT_FOUND {
                return Ok(());
            }
            answer.error_for_status().map(drop).map_err(refused)
        }
    }
}

fn parse_web_url(address: &str) -> Result<Url> {
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

/// Without the URL, which may contain secrets.
fn refused(error: reqwest::Error) -> Failed {
    let error = error.without_url();
    Failed::refused(format!("The share server failed: {error}"))
}
