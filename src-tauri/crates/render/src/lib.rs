//! Eyes: source in, something a browser can draw out.
//!
//! Pure and synchronous: no files, no network, no clock but the deadline of a diff. What a
//! model or a program wrote is hostile here. Markup leaves this crate only through
//! [`sanitize`], and text that a browser would hide or reorder leaves it as an escape.
//! Nothing in here knows of tauri, sessions or the store.

pub mod ansi;
pub mod details;
pub mod diff;
pub mod escape;
pub mod highlight;
mod html;
pub mod image_view;
pub mod markdown;
pub mod page;
pub mod paths;
pub mod sanitize;
