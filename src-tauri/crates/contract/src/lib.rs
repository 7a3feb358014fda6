//! The contract with other programs: messages as protobuf, and the service that sends them.
//!
//! The `.proto` files are generated from the table in `lathe_protocol::proto`; the types here are
//! generated from those files. [`to_protobuf`] and [`to_json`] convert without loss. This crate
//! must not know sessions, servers or how anything is stored.

mod convert;

pub use convert::{ConvertError, to_json, to_protobuf};

/// The types and the service, as `tonic` generates them.
#[allow(clippy::all, missing_docs)]
pub mod message {
    include!(concat!(env!("OUT_DIR"), "/opencode.message.rs"));
}
