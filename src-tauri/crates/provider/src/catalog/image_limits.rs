//! The largest image that each API accepts.
//!
//! Only the numbers: images are scaled elsewhere, before a request is built. Some providers
//! scale larger images down instead of refusing them, which only costs upload time.

use crate::wire::WireKind;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct ImageLimits {
    /// Longest side in pixels.
    pub max_edge: u32,
    /// Size of the encoded file, before base64.
    pub max_bytes: usize,
    /// Types that are sent unchanged; others are re-encoded.
    pub mimes: &'static [&'static str],
}

const MIB: usize = 1024 * 1024;

impl ImageLimits {
    pub const fn for_wire(wire: WireKind) -> Self {
        match wire {
            // The limit of 5 MB applies after base64, which adds a third. The API scales down
            // beyond 1568 px, and refuses beyond 2000 px in a request with many images.
            WireKind::Anthropic | WireKind::Demo => Self {
                max_edge: 1568,
                max_bytes: 15 * MIB / 4,
                mimes: &["image/png", "image/jpeg", "image/gif", "image/webp"],
            },
            WireKind::OpenaiResponses => Self {
                max_edge: 2048,
                max_bytes: 15 * MIB,
                mimes: &["image/png", "image/jpeg", "image/gif", "image/webp"],
            },
            // Local servers with this API often support no other types.
            WireKind::OpenaiChat => Self {
                max_edge: 2048,
                max_bytes: 4 * MIB,
                mimes: &["image/png", "image/jpeg"],
            },
            // The limit is 20 MB for a whole request with inline data.
            WireKind::Gemini => Self {
                max_edge: 3072,
                max_bytes: 6 * MIB,
                mimes: &["image/png", "image/jpeg", "image/webp"],
            },
        }
    }
}
