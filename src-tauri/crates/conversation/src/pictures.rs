//! Pictures within a provider's limits: upright, not too large, not too many bytes.
//!
//! The caller that opens the sessions provides the scaling ([`FitPicture`]). Results are cached,
//! because every step sends the whole history again.

use std::collections::HashMap;
use std::sync::Arc;

use bytes::Bytes;
use lathe_protocol::{FilePart, PartId};
use lathe_provider::catalog::ImageLimits;
use parking_lot::Mutex;

/// Bytes, longest side and most bytes → MIME type and bytes; `None` if it is not a picture.
pub type FitPicture = Arc<dyn Fn(&[u8], u32, usize) -> Option<(String, Vec<u8>)> + Send + Sync>;

#[derive(Debug, Clone, PartialEq)]
pub struct FittedPicture {
    pub mime: String,
    pub bytes: Bytes,
}

/// A few screens of pictures; more are fitted again.
const KEPT: usize = 64;

pub struct Pictures {
    fit: FitPicture,
    fitted: Mutex<HashMap<(PartId, ImageLimits), FittedPicture>>,
}

impl Pictures {
    pub fn new(fit: FitPicture) -> Self {
        Pictures {
            fit,
            fitted: Mutex::default(),
        }
    }

    pub fn fit(&self, file: &FilePart, bytes: &[u8], limits: ImageLimits) -> Option<FittedPicture> {
        let key = (file.id.clone(), limits);
        if let Some(known) = self.fitted.lock().get(&key) {
            return Some(known.clone());
        }
        let (mime, bytes) = (self.fit)(bytes, limits.max_edge, limits.max_bytes)?;
        let fitted = FittedPicture {
            mime,
            bytes: bytes.into(),
        };
        let mut kept = self.fitted.lock();
        if kept.len() >= KEPT {
            kept.clear();
        }
        kept.insert(key, fitted.clone());
        Some(fitted)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;
    use lathe_provider::WireKind;
    use serde_json::json;

    #[test]
    fn a_picture_is_fitted_once_per_limit() {
        let runs = Arc::new(AtomicUsize::new(0));
        let counted = runs.clone();
        let pictures = Pictures::new(Arc::new(move |bytes, edge, _| {
            counted.fetch_add(1, Ordering::Relaxed);
            (!bytes.is_empty()).then(|| ("image/png".to_owned(), edge.to_be_bytes().to_vec()))
        }));
        let file: FilePart = serde_json::from_value(json!({
            "id": "prt_1", "sessionID": "ses_1", "messageID": "msg_1", "mime": "image/png", "url": "",
        }))
        .unwrap();
        let limits = ImageLimits::for_wire(WireKind::Anthropic);
        let first = pictures.fit(&file, b"x", limits);
        assert_eq!(first, pictures.fit(&file, b"x", limits));
        assert_eq!(runs.load(Ordering::Relaxed), 1);
        assert_eq!(
            pictures.fit(
                &file,
                b"",
                ImageLimits {
                    max_edge: 1,
                    ..limits
                }
            ),
            None
        );
    }
}
