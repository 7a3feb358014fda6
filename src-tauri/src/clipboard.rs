//! Pictures, files and long texts on the system's clipboard.
//!
//! The webview's own clipboard is not enough: in WebKitGTK a pasted picture is empty, and no webview
//! gives the path of a copied file. A text that the page does not have would have to be loaded first, and
//! by then a webview no longer lets it copy.

use std::borrow::Cow;
use std::path::PathBuf;

use arboard::{Clipboard, ImageData};
use lathe_render::picture::Pixels;
use parking_lot::Mutex;

/// Opened on first use and never closed: on X11 a copied picture is served by the process that
/// copied it, as long as its connection lives.
#[derive(Default)]
pub struct SystemClipboard {
    open: Mutex<Option<Clipboard>>,
}

/// What can become an attachment. The webview handles the text of a page itself.
#[derive(Debug, PartialEq, Eq)]
pub enum Copied {
    Files(Vec<PathBuf>),
    Picture(Pixels),
    Nothing,
}

impl SystemClipboard {
    pub fn read(&self) -> Result<Copied, arboard::Error> {
        self.with(|clipboard| {
            // A file manager offers a copied picture as both; the file has a name.
            if let Ok(files) = clipboard.get().file_list()
                && !files.is_empty()
            {
                return Ok(Copied::Files(files));
            }
            match clipboard.get_image() {
                Ok(image) => Ok(picture(image)),
                Err(arboard::Error::ContentNotAvailable) => Ok(Copied::Nothing),
                Err(error) => Err(error),
            }
        })
    }

    pub fn set_picture(&self, pixels: Pixels) -> Result<(), arboard::Error> {
        let image = ImageData {
            width: pixels.width as usize,
            height: pixels.height as usize,
            bytes: Cow::Owned(pixels.rgba),
        };
        self.with(|clipboard| clipboard.set_image(image))
    }

    pub fn set_text(&self, text: String) -> Result<(), arboard::Error> {
        self.with(|clipboard| clipboard.set_text(text))
    }

    fn with<T>(
        &self,
        work: impl FnOnce(&mut Clipboard) -> Result<T, arboard::Error>,
    ) -> Result<T, arboard::Error> {
        let mut open = self.open.lock();
        let clipboard = match open.as_mut() {
            Some(clipboard) => clipboard,
            None => open.insert(Clipboard::new()?),
        };
        work(clipboard)
    }
}

fn picture(image: ImageData<'_>) -> Copied {
    let side = |length: usize| u32::try_from(length).unwrap_or(u32::MAX);
    Copied::Picture(Pixels {
        width: side(image.width),
        height: side(image.height),
        rgba: image.bytes.into_owned(),
    })
}
