use image::{Rgb, RgbaImage};

use lathe_protocol::media::sniff_picture;

use super::*;

fn encoded(image: impl Into<DynamicImage>, format: ImageFormat) -> Vec<u8> {
    let mut out = Cursor::new(Vec::new());
    image.into().write_to(&mut out, format).unwrap();
    out.into_inner()
}

/// Red on the left, blue on the right.
fn flag(width: u32, height: u32) -> RgbImage {
    RgbImage::from_fn(width, height, |x, _| {
        if x < width / 2 {
            Rgb([255, 0, 0])
        } else {
            Rgb([0, 0, 255])
        }
    })
}

fn noise(width: u32, height: u32) -> RgbImage {
    let mut state = 1u32;
    RgbImage::from_fn(width, height, |_, _| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        Rgb([(state >> 8) as u8, (state >> 16) as u8, (state >> 24) as u8])
    })
}

/// A JPEG with an orientation in its EXIF metadata.
fn rotated_jpeg(width: u32, height: u32, orientation: u8) -> Vec<u8> {
    let jpeg = encoded(flag(width, height), ImageFormat::Jpeg);
    let mut exif = b"Exif\0\0II*\0\x08\0\0\0\x01\0\x12\x01\x03\0\x01\0\0\0".to_vec();
    exif.extend([orientation, 0, 0, 0, 0, 0, 0, 0]);
    let mut out = jpeg[..2].to_vec();
    out.extend([0xff, 0xe1]);
    out.extend(((exif.len() + 2) as u16).to_be_bytes());
    out.extend(exif);
    out.extend(&jpeg[2..]);
    out
}

#[test]
fn the_dimensions_of_every_format_are_read() {
    for format in [
        ImageFormat::Png,
        ImageFormat::Jpeg,
        ImageFormat::Gif,
        ImageFormat::WebP,
        ImageFormat::Bmp,
    ] {
        assert_eq!(
            dimensions(&encoded(flag(40, 20), format)),
            Ok((40, 20)),
            "{format:?}"
        );
    }
}

#[test]
fn a_rotated_image_is_shown_upright() {
    let jpeg = rotated_jpeg(400, 200, 6);
    assert_eq!(dimensions(&jpeg), Ok((200, 400)));
    let small = thumbnail(&jpeg, 100).unwrap();
    assert_eq!(
        (small.mime, small.width, small.height),
        ("image/jpeg", 50, 100)
    );
    let shown = image::load_from_memory(&small.bytes).unwrap().to_rgb8();
    assert!(shown.get_pixel(25, 10).0[0] > 200, "what was left is up");
    assert!(shown.get_pixel(25, 90).0[2] > 200, "what was right is down");
    let sent = fit_for_model(&jpeg, 1_000, 1_000_000).unwrap();
    assert_eq!((sent.width, sent.height), (200, 400));
}

#[test]
fn a_small_image_is_not_enlarged_and_keeps_its_transparency() {
    let glass = RgbaImage::from_pixel(10, 10, image::Rgba([1, 2, 3, 128]));
    let small = thumbnail(&encoded(glass, ImageFormat::Png), 100).unwrap();
    assert_eq!(
        (small.mime, small.width, small.height),
        ("image/png", 10, 10)
    );
    let shown = image::load_from_memory(&small.bytes).unwrap().to_rgba8();
    assert_eq!(shown.get_pixel(5, 5).0, [1, 2, 3, 128]);
}

#[test]
fn an_image_within_the_limits_is_not_changed() {
    let png = encoded(flag(40, 20), ImageFormat::Png);
    let picture = fit_for_model(&png, 100, 10_000).unwrap();
    assert_eq!(
        picture,
        Picture {
            mime: "image/png",
            bytes: png,
            width: 40,
            height: 20
        }
    );
}

#[test]
fn an_image_over_a_limit_is_made_to_fit() {
    let wide = fit_for_model(&encoded(flag(400, 20), ImageFormat::Png), 100, 10_000).unwrap();
    assert_eq!((wide.mime, wide.width, wide.height), ("image/png", 100, 5));
    let bitmap = fit_for_model(&encoded(flag(40, 20), ImageFormat::Bmp), 100, 10_000).unwrap();
    assert_eq!(bitmap.mime, "image/png");
    let heavy = fit_for_model(&encoded(noise(300, 300), ImageFormat::Png), 300, 20_000).unwrap();
    assert_eq!(heavy.mime, "image/jpeg");
    assert!(heavy.bytes.len() <= 20_000 && heavy.width < 300);
    let hopeless = fit_for_model(&encoded(noise(300, 300), ImageFormat::Png), 300, 10);
    assert_eq!(hopeless, Err(PictureError::DoesNotFit(10)));
}

#[test]
fn a_decompression_bomb_is_refused_by_its_header() {
    let mut gif = encoded(flag(4, 4), ImageFormat::Gif);
    gif[6..10].copy_from_slice(&[0xff; 4]);
    let mut bmp = encoded(flag(4, 4), ImageFormat::Bmp);
    bmp[18..26].copy_from_slice(&[0x60, 0xea, 0, 0, 0x60, 0xea, 0, 0]);
    for bomb in [gif, bmp] {
        for result in [
            thumbnail(&bomb, 100).err(),
            fit_for_model(&bomb, 100, 100).err(),
        ] {
            assert!(
                matches!(result, Some(PictureError::TooManyPixels { .. })),
                "{result:?}"
            );
        }
    }
    assert_eq!(
        dimensions(&vec![0; MAX_BYTES + 1]),
        Err(PictureError::TooManyBytes(MAX_BYTES + 1))
    );
}

#[test]
fn a_file_that_is_not_an_image_is_refused() {
    let svg = b"<svg xmlns='http://www.w3.org/2000/svg' onload='alert(1)'/>";
    assert_eq!(thumbnail(svg, 100), Err(PictureError::Unknown));
    assert_eq!(dimensions(b""), Err(PictureError::Unknown));
    let mut cut = encoded(noise(50, 50), ImageFormat::Png);
    cut.truncate(200);
    assert!(matches!(
        thumbnail(&cut, 100),
        Err(PictureError::Damaged(_))
    ));
}

#[test]
fn decoded_pixels_can_be_encoded_again() {
    let png = encoded(flag(40, 20), ImageFormat::Png);
    let seen = decode_pixels(&png).unwrap();
    assert_eq!((seen.width, seen.height, seen.rgba.len()), (40, 20, 3200));
    let again = encode_png(seen.clone()).unwrap();
    assert_eq!(sniff_picture(&again.bytes), Some("image/png"));
    assert_eq!(decode_pixels(&again.bytes).unwrap(), seen);
    let short = Pixels {
        rgba: vec![0; 7],
        ..seen
    };
    assert!(matches!(encode_png(short), Err(PictureError::Damaged(_))));
}

#[test]
fn the_media_type_is_recognised_from_the_bytes() {
    let known = [
        (ImageFormat::Png, "image/png"),
        (ImageFormat::Jpeg, "image/jpeg"),
        (ImageFormat::Gif, "image/gif"),
        (ImageFormat::WebP, "image/webp"),
        (ImageFormat::Bmp, "image/bmp"),
    ];
    for (format, name) in known {
        assert_eq!(sniff_picture(&encoded(flag(4, 4), format)), Some(name));
    }
    assert_eq!(sniff_picture(b"<svg/>"), None);
}
