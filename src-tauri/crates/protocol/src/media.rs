//! Which kind of media some bytes are, told by their content because names lie.

/// The MIME type of a picture or PDF, by its first bytes.
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

/// The same, for pictures only.
pub fn sniff_picture(head: &[u8]) -> Option<&'static str> {
    sniff(head).filter(|mime| mime.starts_with("image/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn media_is_told_by_its_first_bytes() {
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
