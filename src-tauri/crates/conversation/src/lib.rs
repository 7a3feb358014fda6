//! What a model is given of a session: the system prompt, reminders, and the stored messages in the
//! provider-neutral form, less what was summed up or is too large.
//!
//! Messages in, a conversation out. This crate decides and converts, and must not know how a model
//! is called, turns, tools, or where messages are stored.

pub mod compaction;
pub mod convert;
pub mod pictures;
pub mod plan_mode;
pub mod system_prompt;
