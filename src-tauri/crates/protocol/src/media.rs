//! Recognises media by their first bytes, because file names can be wrong.

/// The MIME type of an image or a PDF.
pub fn sniff(head: &[u8]) -> Option<&'static str> {
    if head.get(8..12) == Some(b"WEBP") && head.starts_with(b"RIFF") {
        return Some("image/webp");
    }
    const SIGNATURES: [(&[u8], &str); 6] = [
        (b"\x89PNG\r\n\x1a\n", "image/png"),
        (b"\xff\xd8\xff", "image/jpeg"),
        (b"GIF87a", "image/gif"),
        (b"GIF89a", "image/gif"),
        (b"BM", "image/bmp"),
        (b"%PDF-", "application/pdf"),
    ];
    let found = SIGNATURES.iter().find(|(start, _)| head.starts_with(start));
    found.map(|(_, mime)| *mime)
}

/// The MIME type of an image.
pub fn sniff_picture(head: &[u8]) -> Option<&'static str> {
    sniff(head).filter(|mime| mime.starts_with("image/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn media_are_recognised_by_their_first_bytes() {
        let cases: [(&[u8], Option<&str>); 8] = [
            (b"\x89PNG\r\n\x1a\n....", Some("image/png")),
            (b"\xff\xd8\xff\xe0", Some("image/jpeg")),
            (b"GIF89a", Some("image/gif")),
            (b"RIFF\0\0\0\0WEBPVP8 ", Some("image/webp")),
            (b"RIFF\0\0\0\0WAVEfmt ", None),
            (b"%PDF-1.7", Some("application/pdf")),
            (b"\x89PNG", None),
            (b"", None),
        ];
        for (bytes, expected) in cases {
            assert_eq!(sniff(bytes), expected, "{bytes:?}");
        }
        assert_eq!(sniff_picture(b"%PDF-1.7"), None);
    }
}
