//! Images: dimensions, thumbnails, and copies that fit the limits of a model.
//!
//! The limits are checked against the header before decoding, so that a small file cannot claim
//! much memory. SVG is not supported, because it can contain scripts.

use std::io::Cursor;

use image::codecs::jpeg::JpegEncoder;
use image::codecs::png::PngEncoder;
use image::codecs::webp::WebPEncoder;
use image::imageops::FilterType;
use image::metadata::Orientation;
use image::{DynamicImage, ImageDecoder, ImageFormat, ImageReader, Limits, RgbImage};

/// The maximum size of a file and the maximum number of pixels that are decoded.
pub const MAX_BYTES: usize = 50 * 1024 * 1024;
const MAX_PIXELS: u64 = 50_000_000;
const MAX_ALLOCATION: u64 = 512 * 1024 * 1024;
const THUMBNAIL_QUALITY: u8 = 82;
/// An image is not made smaller than this to meet a byte limit.
const MIN_SIDE: u32 = 64;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Picture {
    pub mime: &'static str,
    pub bytes: Vec<u8>,
    pub width: u32,
    pub height: u32,
}

/// A decoded image: four bytes per pixel, row by row from the top.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pixels {
    pub width: u32,
    pub height: u32,
    pub rgba: Vec<u8>,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PictureError {
    #[error("the image has {0} bytes, more than the {MAX_BYTES} that are allowed")]
    TooManyBytes(usize),
    #[error("the image is {width} × {height}, more than {MAX_PIXELS} pixels")]
    TooManyPixels { width: u32, height: u32 },
    #[error("this is not a PNG, JPEG, GIF, WebP or BMP image")]
    Unknown,
    #[error("the image is damaged: {0}")]
    Damaged(String),
    #[error("the image does not fit into {0} bytes")]
    DoesNotFit(usize),
}

/// Width and height after the orientation was applied, read from the header alone.
pub fn dimensions(bytes: &[u8]) -> Result<(u32, u32), PictureError> {
    Ok(Source::open(bytes)?.upright_size())
}

/// A copy that fits into a square of `max_px`. A smaller image is not enlarged.
pub fn thumbnail(bytes: &[u8], max_px: u32) -> Result<Picture, PictureError> {
    let image = shrink(Source::open(bytes)?.decode()?, max_px);
    if has_transparency(&image) {
        encode(&image, Encoding::Png)
    } else {
        encode(&image, Encoding::Jpeg(THUMBNAIL_QUALITY))
    }
}

/// Decodes to RGBA with the orientation applied, for the clipboard.
pub fn decode_pixels(bytes: &[u8]) -> Result<Pixels, PictureError> {
    let image = Source::open(bytes)?.decode()?.into_rgba8();
    Ok(Pixels {
        width: image.width(),
        height: image.height(),
        rgba: image.into_raw(),
    })
}

/// Encodes pixels from the clipboard as a PNG file.
pub fn encode_png(pixels: Pixels) -> Result<Picture, PictureError> {
    let Pixels {
        width,
        height,
        rgba,
    } = pixels;
    if u64::from(width) * u64::from(height) > MAX_PIXELS {
        return Err(PictureError::TooManyPixels { width, height });
    }
    let image = image::RgbaImage::from_raw(width, height, rgba)
        .ok_or_else(|| PictureError::Damaged("it has too few pixels".into()))?;
    encode(&DynamicImage::ImageRgba8(image), Encoding::Png)
}

/// A copy within the limits of a provider: upright, no side longer than `max_px`, at most
/// `max_bytes`. An image that meets the limits is returned unchanged.
pub fn fit_for_model(bytes: &[u8], max_px: u32, max_bytes: usize) -> Result<Picture, PictureError> {
    let source = Source::open(bytes)?;
    let (width, height) = source.upright_size();
    if let Some(mime) = source.model_media_type()
        && source.orientation == Orientation::NoTransforms
        && width.max(height) <= max_px
        && bytes.len() <= max_bytes
    {
        return Ok(Picture {
            mime,
            bytes: bytes.to_vec(),
            width,
            height,
        });
    }
    let lossy = source.format == ImageFormat::Jpeg;
    let mut image = shrink(source.decode()?, max_px);
    loop {
        if let Some(picture) = first_that_fits(&image, lossy, max_bytes)? {
            return Ok(picture);
        }
        let side = image.width().max(image.height()) / 4 * 3;
        if side < MIN_SIDE {
            return Err(PictureError::DoesNotFit(max_bytes));
        }
        image = shrink(image, side);
    }
}

/// An image whose header was read and is within the limits.
struct Source<'b> {
    decoder: Box<dyn ImageDecoder + 'b>,
    format: ImageFormat,
    orientation: Orientation,
}

impl<'b> Source<'b> {
    fn open(bytes: &'b [u8]) -> Result<Self, PictureError> {
        if bytes.len() > MAX_BYTES {
            return Err(PictureError::TooManyBytes(bytes.len()));
        }
        let format = image::guess_format(bytes).map_err(|_| PictureError::Unknown)?;
        if !format.reading_enabled() {
            return Err(PictureError::Unknown);
        }
        let mut limits = Limits::default();
        limits.max_alloc = Some(MAX_ALLOCATION);
        let mut reader = ImageReader::with_format(Cursor::new(bytes), format);
        reader.limits(limits);
        let mut decoder = reader.into_decoder().map_err(damaged)?;
        let (width, height) = decoder.dimensions();
        if u64::from(width) * u64::from(height) > MAX_PIXELS {
            return Err(PictureError::TooManyPixels { width, height });
        }
        // Invalid orientation metadata does not make an image unusable.
        let orientation = decoder.orientation().unwrap_or(Orientation::NoTransforms);
        Ok(Self {
            decoder: Box::new(decoder),
            format,
            orientation,
        })
    }

    fn upright_size(&self) -> (u32, u32) {
        let (width, height) = self.decoder.dimensions();
        match self.orientation {
            Orientation::Rotate90
            | Orientation::Rotate270
            | Orientation::Rotate90FlipH
            | Orientation::Rotate270FlipH => (height, width),
            _ => (width, height),
        }
    }

    /// `None` for formats that models do not accept.
    fn model_media_type(&self) -> Option<&'static str> {
        match self.format {
            ImageFormat::Png => Some("image/png"),
            ImageFormat::Jpeg => Some("image/jpeg"),
            ImageFormat::Gif => Some("image/gif"),
            ImageFormat::WebP => Some("image/webp"),
            _ => None,
        }
    }

    fn decode(self) -> Result<DynamicImage, PictureError> {
        let mut image = DynamicImage::from_decoder(self.decoder).map_err(damaged)?;
        image.apply_orientation(self.orientation);
        Ok(image)
    }
}

fn damaged(error: image::ImageError) -> PictureError {
    PictureError::Damaged(error.to_string())
}

fn shrink(image: DynamicImage, max_px: u32) -> DynamicImage {
    let max_px = max_px.max(1);
    if image.width().max(image.height()) <= max_px {
        return image;
    }
    image.resize(max_px, max_px, FilterType::Triangle)
}

fn has_transparency(image: &DynamicImage) -> bool {
    image.color().has_alpha() && image.to_rgba8().pixels().any(|pixel| pixel.0[3] != u8::MAX)
}

#[derive(Clone, Copy)]
enum Encoding {
    Png,
    WebP,
    Jpeg(u8),
}

/// Tries lossless encodings first, except for an image that was a JPEG already.
fn first_that_fits(
    image: &DynamicImage,
    lossy: bool,
    max_bytes: usize,
) -> Result<Option<Picture>, PictureError> {
    let lossless = [Encoding::Png, Encoding::WebP];
    let jpeg = [90, 80, 65, 50].map(Encoding::Jpeg);
    for encoding in lossless.into_iter().filter(|_| !lossy).chain(jpeg) {
        let picture = encode(image, encoding)?;
        if picture.bytes.len() <= max_bytes {
            return Ok(Some(picture));
        }
    }
    Ok(None)
}

fn encode(image: &DynamicImage, encoding: Encoding) -> Result<Picture, PictureError> {
    let mut bytes = Vec::new();
    let mime = match encoding {
        Encoding::Png => {
            image
                .write_with_encoder(PngEncoder::new(&mut bytes))
                .map_err(damaged)?;
            "image/png"
        }
        Encoding::WebP => {
            let image = DynamicImage::ImageRgba8(image.to_rgba8());
            image
                .write_with_encoder(WebPEncoder::new_lossless(&mut bytes))
                .map_err(damaged)?;
            "image/webp"
        }
        Encoding::Jpeg(quality) => {
            let encoder = JpegEncoder::new_with_quality(&mut bytes, quality);
            on_white(image)
                .write_with_encoder(encoder)
                .map_err(damaged)?;
            "image/jpeg"
        }
    };
    Ok(Picture {
        mime,
        bytes,
        width: image.width(),
        height: image.height(),
    })
}

/// JPEG has no transparency, so transparent pixels are blended with white.
fn on_white(image: &DynamicImage) -> RgbImage {
    if !image.color().has_alpha() {
        return image.to_rgb8();
    }
    let source = image.to_rgba8();
    RgbImage::from_fn(source.width(), source.height(), |x, y| {
        let [red, green, blue, alpha] = source.get_pixel(x, y).0;
        let blend = |value: u8| {
            let alpha = u16::from(alpha);
            ((u16::from(value) * alpha + 255 * (255 - alpha)) / 255) as u8
        };
        image::Rgb([blend(red), blend(green), blend(blue)])
    })
}

/// A small enough picture as an address that a page can show; `None` for anything else.
pub fn data_url(bytes: &[u8]) -> Option<String> {
    const LARGEST: usize = 8 << 20;
    let format = image::guess_format(bytes).ok()?;
    let shown = [
        ImageFormat::Png,
        ImageFormat::Jpeg,
        ImageFormat::Gif,
        ImageFormat::WebP,
    ];
    let fits = shown.contains(&format) && bytes.len() <= LARGEST;
    fits.then(|| lathe_protocol::data_url::encode(format.to_mime_type(), bytes))
}

#[cfg(test)]
mod tests;
