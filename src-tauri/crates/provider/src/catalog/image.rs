//! How large an image each API takes.
//!
//! Only the numbers: scaling and encoding pixels is done elsewhere, before a request is
//! built. Larger images are not always refused, but shrunk on the other side, which costs
//! upload time and gains nothing.

use crate::wire::WireKind;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct ImageLimits {
    /// Longest side in pixels.
    pub max_edge: u32,
    /// Size of the encoded file, before base64.
    pub max_bytes: usize,
    /// Types that go as they are; anything else is re-encoded.
    pub mimes: &'static [&'static str],
}

const MIB: usize = 1024 * 1024;

impl ImageLimits {
    pub const fn of(wire: WireKind) -> Self {
        match wire {
            // 5 MB are counted after base64, which adds a third; beyond 1568 px the API
            // scales down, and in a request with many images beyond 2000 px it refuses.
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
            // Local servers behind this API often read nothing else.
            WireKind::OpenaiChat => Self {
                max_edge: 2048,
                max_bytes: 4 * MIB,
                mimes: &["image/png", "image/jpeg"],
            },
            // A whole request with inline data may have 20 MB.
            WireKind::Gemini => Self {
                max_edge: 3072,
                max_bytes: 6 * MIB,
                mimes: &["image/png", "image/jpeg", "image/webp"],
            },
        }
    }
}
