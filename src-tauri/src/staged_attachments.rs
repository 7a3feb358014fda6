//! Attachments of prompts that are not sent yet.
//!
//! Each has a folder in the data directory with its description, and its bytes if it was pasted. A
//! dropped or picked file stays where it is and is read when it is needed. The folders survive a
//! restart, as the drafts do.

use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use lathe_protocol::Count;
use lathe_protocol::ipc::{
    Attached, AttachmentKind, AttachmentView, RefusedAttachment, RefusedWhy,
};
use lathe_render::picture;
use lathe_session::{data_url, files};
use tauri::Url;

/// In an address, the segment before the id of a staged attachment.
pub const STAGED: &str = "staged";
const PREFIX: &str = "att_";
const ABOUT: &str = "about.json";
const CONTENT: &str = "content";
/// Attachments that were not touched for this long are removed.
const MAX_AGE: Duration = Duration::from_secs(30 * 24 * 60 * 60);

const MAX_TEXT: u64 = 10 * 1024 * 1024;
/// The core accepts no larger media in a prompt.
const MAX_MEDIA: u64 = 20 * 1024 * 1024;
/// How many bytes are read to recognise the type.
const HEAD: usize = 8 * 1024;

pub struct StagedAttachments {
    folder: PathBuf,
}

impl StagedAttachments {
    pub fn new(data_dir: &Path) -> Self {
        StagedAttachments {
            folder: data_dir.join("attachments"),
        }
    }

    pub fn stage_paths(&self, paths: &[PathBuf]) -> Attached {
        gather(paths.iter().map(|path| self.stage_path(path)))
    }

    pub fn stage_path(&self, path: &Path) -> Result<AttachmentView, RefusedAttachment> {
        let name = name_of(path);
        let refuse = |why| refused(&name, why, None);
        let path_text = path
            .to_str()
            .ok_or_else(|| refuse(RefusedWhy::Unreadable))?;
        let about = fs::metadata(path).map_err(|_| refuse(RefusedWhy::Unreadable))?;
        let recognised = if about.is_dir() {
            Recognised::directory()
        } else if about.is_file() {
            let mut head = vec![0; HEAD];
            let length = read_head(path, &mut head).map_err(|_| refuse(RefusedWhy::Unreadable))?;
            head.truncate(length);
            recognise(&name, &head, about.len(), || read_file(path))?
        } else {
            // Reading a pipe or a device could block for ever.
            return Err(refuse(RefusedWhy::Unreadable));
        };
        self.store(&name, recognised, Some(path_text), None)
            .map_err(|_| refuse(RefusedWhy::Unreadable))
    }

    /// Stores pasted data, which exists nowhere else.
    pub fn stage_bytes(
        &self,
        name: &str,
        bytes: &[u8],
    ) -> Result<AttachmentView, RefusedAttachment> {
        let head = &bytes[..bytes.len().min(HEAD)];
        let recognised = recognise(name, head, bytes.len() as u64, || Ok(bytes.to_vec()))?;
        self.store(name, recognised, None, Some(bytes))
            .map_err(|_| refused(name, RefusedWhy::Unreadable, None))
    }

    /// None if the id was never assigned, or the attachment was removed.
    pub fn find(&self, id: &str) -> Option<AttachmentView> {
        let about = fs::read(self.place(id)?.join(ABOUT)).ok()?;
        serde_json::from_slice(&about).ok()
    }

    pub fn read(&self, attachment: &AttachmentView) -> io::Result<Vec<u8>> {
        match &attachment.path {
            Some(path) => read_file(Path::new(path)),
            None => {
                let place = self.place(&attachment.id);
                fs::read(place.ok_or(io::ErrorKind::NotFound)?.join(CONTENT))
            }
        }
    }

    /// A `file:` URL, or a data URL if the attachment has no path.
    pub fn url_for_core(&self, attachment: &AttachmentView) -> io::Result<String> {
        match &attachment.path {
            Some(path) => Url::from_file_path(path)
                .map(Into::into)
                .map_err(|()| io::ErrorKind::InvalidInput.into()),
            None => Ok(data_url::encode(&attachment.mime, &self.read(attachment)?)),
        }
    }

    pub fn remove(&self, id: &str) {
        if let Some(place) = self.place(id)
            && let Err(error) = fs::remove_dir_all(place)
        {
            tracing::debug!(%error, "an attachment was already gone");
        }
    }

    /// Removes attachments that no draft has used for a long time.
    pub fn sweep(&self, now: SystemTime) {
        let Ok(entries) = fs::read_dir(&self.folder) else {
            return;
        };
        for entry in entries.flatten() {
            let age = entry
                .metadata()
                .and_then(|about| about.modified())
                .ok()
                .and_then(|changed| now.duration_since(changed).ok());
            if age.is_some_and(|age| age > MAX_AGE) {
                self.remove(&entry.file_name().to_string_lossy());
            }
        }
    }

    fn store(
        &self,
        name: &str,
        recognised: Recognised,
        path: Option<&str>,
        bytes: Option<&[u8]>,
    ) -> io::Result<AttachmentView> {
        fs::create_dir_all(&self.folder)?;
        let place = tempfile::Builder::new()
            .prefix(PREFIX)
            .tempdir_in(&self.folder)?;
        let id = place.path().file_name().unwrap_or_default();
        let id = id.to_string_lossy().into_owned();
        let view = AttachmentView {
            url: url(&id),
            id,
            name: name.to_owned(),
            kind: recognised.kind,
            mime: recognised.mime.to_owned(),
            size: Count(i64::try_from(recognised.size).unwrap_or(i64::MAX)),
            path: path.map(str::to_owned),
            width: recognised.sides.map(|(width, _)| width),
            height: recognised.sides.map(|(_, height)| height),
        };
        if let Some(bytes) = bytes {
            fs::write(place.path().join(CONTENT), bytes)?;
        }
        fs::write(place.path().join(ABOUT), serde_json::to_vec(&view)?)?;
        // Complete: from here on it is not deleted on drop.
        let _ = place.keep();
        Ok(view)
    }

    /// Only an id of our own form: the window must not reach other folders.
    fn place(&self, id: &str) -> Option<PathBuf> {
        let ours = id.strip_prefix(PREFIX)?;
        let plain = !ours.is_empty() && ours.bytes().all(|byte| byte.is_ascii_alphanumeric());
        plain.then(|| self.folder.join(id))
    }
}

/// The address of a staged attachment.
fn url(id: &str) -> String {
    format!("attachment://localhost/{STAGED}/{id}")
}

pub fn gather(all: impl Iterator<Item = Result<AttachmentView, RefusedAttachment>>) -> Attached {
    let mut attached = Attached::default();
    for one in all {
        match one {
            Ok(added) => attached.added.push(added),
            Err(refused) => attached.refused.push(refused),
        }
    }
    attached
}

struct Recognised {
    kind: AttachmentKind,
    mime: &'static str,
    size: u64,
    sides: Option<(u32, u32)>,
}

impl Recognised {
    fn directory() -> Self {
        Recognised {
            kind: AttachmentKind::Directory,
            mime: "application/x-directory",
            size: 0,
            sides: None,
        }
    }
}

/// Recognises the type by content, never by name: a name may be wrong or have no extension.
fn recognise(
    name: &str,
    head: &[u8],
    size: u64,
    whole: impl FnOnce() -> io::Result<Vec<u8>>,
) -> Result<Recognised, RefusedAttachment> {
    let within = |limit: u64| match size > limit {
        true => Err(refused(name, RefusedWhy::TooLarge, Some(limit))),
        false => Ok(()),
    };
    let recognised = |kind, mime, sides| Recognised {
        kind,
        mime,
        size,
        sides,
    };
    if let Some(mime) = lathe_protocol::media::sniff_picture(head) {
        within(MAX_MEDIA)?;
        let bytes = whole().map_err(|_| refused(name, RefusedWhy::Unreadable, None))?;
        let sides = picture::dimensions(&bytes);
        let sides = sides.map_err(|_| refused(name, RefusedWhy::Damaged, None))?;
        return Ok(recognised(AttachmentKind::Image, mime, Some(sides)));
    }
    if head.starts_with(b"%PDF-") {
        within(MAX_MEDIA)?;
        return Ok(recognised(AttachmentKind::Pdf, "application/pdf", None));
    }
    if !is_text(head) {
        return Err(refused(name, RefusedWhy::Type, None));
    }
    within(MAX_TEXT)?;
    // Also source code: the model reads it as text.
    Ok(recognised(AttachmentKind::Text, "text/plain", None))
}

fn is_text(head: &[u8]) -> bool {
    let marked = [&[0xff, 0xfe][..], &[0xfe, 0xff]];
    marked.iter().any(|mark| head.starts_with(mark)) || !head.contains(&0)
}

fn read_head(path: &Path, head: &mut [u8]) -> io::Result<usize> {
    let (mut file, _) = files::open(path)?;
    let mut length = 0;
    while length < head.len() {
        match file.read(&mut head[length..])? {
            0 => break,
            more => length += more,
        }
    }
    Ok(length)
}

/// The file may have been replaced or have grown since it was attached.
fn read_file(path: &Path) -> io::Result<Vec<u8>> {
    Ok(files::read(path, MAX_MEDIA)?)
}

fn name_of(path: &Path) -> String {
    let name = path.file_name().unwrap_or(path.as_os_str());
    name.to_string_lossy().into_owned()
}

fn refused(name: &str, why: RefusedWhy, limit: Option<u64>) -> RefusedAttachment {
    RefusedAttachment {
        name: name.to_owned(),
        why,
        limit: limit.map(|limit| Count(i64::try_from(limit).unwrap_or(i64::MAX))),
    }
}

#[cfg(test)]
mod tests;
