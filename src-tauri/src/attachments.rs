//! Where attachments wait until their prompt is sent.
//!
//! Each has a folder of its own below the data directory: what it is, and its bytes if it was
//! pasted. A dropped or picked file stays where it lies and is read when it is needed. The
//! folder outlives a restart, as the draft does.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use lathe_protocol::Count;
use lathe_protocol::ipc::{
    Attached, AttachmentKind, AttachmentView, RefusedAttachment, RefusedWhy,
};
use lathe_render::picture;
use lathe_session::data_url;
use tauri::Url;

/// What the window calls an attachment that is not sent yet, before its id.
pub const STAGED: &str = "staged";
const PREFIX: &str = "att_";
const ABOUT: &str = "about.json";
const CONTENT: &str = "content";
/// A draft that nobody came back to for so long is given up.
const KEPT: Duration = Duration::from_secs(30 * 24 * 60 * 60);

const MOST_TEXT: u64 = 10 * 1024 * 1024;
/// What the core takes along with a prompt.
const MOST_MEDIA: u64 = 20 * 1024 * 1024;
/// As much as is looked at to tell text from anything else.
const HEAD: usize = 8 * 1024;

pub struct AttachmentDesk {
    folder: PathBuf,
}

impl AttachmentDesk {
    pub fn new(data_dir: &Path) -> Self {
        AttachmentDesk {
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
        let seen = if about.is_dir() {
            Seen::directory()
        } else if about.is_file() {
            let mut head = vec![0; HEAD];
            let length = read_head(path, &mut head).map_err(|_| refuse(RefusedWhy::Unreadable))?;
            head.truncate(length);
            look(&name, &head, about.len(), || fs::read(path))?
        } else {
            // A pipe or a device would be waited for, perhaps for ever.
            return Err(refuse(RefusedWhy::Unreadable));
        };
        self.keep(&name, seen, Some(path_text), None)
            .map_err(|_| refuse(RefusedWhy::Unreadable))
    }

    /// What was pasted, and lies nowhere else.
    pub fn stage_bytes(
        &self,
        name: &str,
        bytes: &[u8],
    ) -> Result<AttachmentView, RefusedAttachment> {
        let head = &bytes[..bytes.len().min(HEAD)];
        let seen = look(name, head, bytes.len() as u64, || Ok(bytes.to_vec()))?;
        self.keep(name, seen, None, Some(bytes))
            .map_err(|_| refused(name, RefusedWhy::Unreadable, None))
    }

    /// Nothing for an id that was never given, or is gone.
    pub fn find(&self, id: &str) -> Option<AttachmentView> {
        let about = fs::read(self.place(id)?.join(ABOUT)).ok()?;
        serde_json::from_slice(&about).ok()
    }

    pub fn read(&self, attachment: &AttachmentView) -> io::Result<Vec<u8>> {
        match &attachment.path {
            Some(path) => fs::read(path),
            None => {
                let place = self.place(&attachment.id);
                fs::read(place.ok_or(io::ErrorKind::NotFound)?.join(CONTENT))
            }
        }
    }

    /// As the core takes it: by its path, or with its bytes where it has none.
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

    /// Drops what no draft can still want.
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
            if age.is_some_and(|age| age > KEPT) {
                self.remove(&entry.file_name().to_string_lossy());
            }
        }
    }

    fn keep(
        &self,
        name: &str,
        seen: Seen,
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
            kind: seen.kind,
            mime: seen.mime.to_owned(),
            size: Count(i64::try_from(seen.size).unwrap_or(i64::MAX)),
            path: path.map(str::to_owned),
            width: seen.sides.map(|(width, _)| width),
            height: seen.sides.map(|(_, height)| height),
        };
        if let Some(bytes) = bytes {
            fs::write(place.path().join(CONTENT), bytes)?;
        }
        fs::write(place.path().join(ABOUT), serde_json::to_vec(&view)?)?;
        // Written whole: from here on it stays.
        let _ = place.keep();
        Ok(view)
    }

    /// Only a name that we could have given: the window must not reach other folders.
    fn place(&self, id: &str) -> Option<PathBuf> {
        let ours = id.strip_prefix(PREFIX)?;
        let plain = !ours.is_empty() && ours.bytes().all(|byte| byte.is_ascii_alphanumeric());
        plain.then(|| self.folder.join(id))
    }
}

/// What the window knows it by.
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

struct Seen {
    kind: AttachmentKind,
    mime: &'static str,
    size: u64,
    sides: Option<(u32, u32)>,
}

impl Seen {
    fn directory() -> Self {
        Seen {
            kind: AttachmentKind::Directory,
            mime: "application/x-directory",
            size: 0,
            sides: None,
        }
    }
}

/// By what it holds, never by its name: names lie, and many have no ending.
fn look(
    name: &str,
    head: &[u8],
    size: u64,
    whole: impl FnOnce() -> io::Result<Vec<u8>>,
) -> Result<Seen, RefusedAttachment> {
    let within = |limit: u64| match size > limit {
        true => Err(refused(name, RefusedWhy::TooLarge, Some(limit))),
        false => Ok(()),
    };
    let seen = |kind, mime, sides| Seen {
        kind,
        mime,
        size,
        sides,
    };
    if let Some(mime) = lathe_protocol::media::sniff_picture(head) {
        within(MOST_MEDIA)?;
        let bytes = whole().map_err(|_| refused(name, RefusedWhy::Unreadable, None))?;
        let sides = picture::dimensions(&bytes);
        let sides = sides.map_err(|_| refused(name, RefusedWhy::Damaged, None))?;
        return Ok(seen(AttachmentKind::Image, mime, Some(sides)));
    }
    if head.starts_with(b"%PDF-") {
        within(MOST_MEDIA)?;
        return Ok(seen(AttachmentKind::Pdf, "application/pdf", None));
    }
    if !is_text(head) {
        return Err(refused(name, RefusedWhy::Type, None));
    }
    within(MOST_TEXT)?;
    // Whatever language it is in: the model reads it as text.
    Ok(seen(AttachmentKind::Text, "text/plain", None))
}

fn is_text(head: &[u8]) -> bool {
    let marked = [&[0xff, 0xfe][..], &[0xfe, 0xff]];
    marked.iter().any(|mark| head.starts_with(mark)) || !head.contains(&0)
}

fn read_head(path: &Path, head: &mut [u8]) -> io::Result<usize> {
    let mut file = File::open(path)?;
    let mut length = 0;
    while length < head.len() {
        match file.read(&mut head[length..])? {
            0 => break,
            more => length += more,
        }
    }
    Ok(length)
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
