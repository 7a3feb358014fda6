//! What the shell itself says: dialogs, notifications, and errors of its commands. In the words of
//! `docs/words.md`; the menu and everything in the window come from the page.

use std::fmt::Display;

#[cfg(target_os = "linux")]
pub const CRASHED_AGAIN: &str = "Lathe crashed again";
#[cfg(target_os = "linux")]
pub const CRASHED_AGAIN_BODY: &str =
    "The window crashed again. Your sessions and drafts are saved, and running turns continue.";
#[cfg(target_os = "linux")]
pub const RELOAD: &str = "Reload window";
pub const CANNOT_START: &str = "Lathe can’t start";

pub const PERMISSION_NEEDED: &str = "Permission needed";
pub const LIMIT_REACHED: &str = "Limit reached";
pub const QUESTION: &str = "Question from the agent";
pub const FINISHED: &str = "Finished";
pub const FAILED: &str = "Failed";

pub const OPEN_FOLDER: &str = "Open folder";
pub const ATTACH_FOLDERS: &str = "Attach folders";
pub const ATTACH_FILES: &str = "Attach files";
pub const SAVE_ATTACHMENT: &str = "Save attachment";
pub const SAVE_PAGE: &str = "Save page";
pub const EXPORT_SESSION: &str = "Export session";
pub const IMPORT_SESSION: &str = "Import session";
/// File names of what has none.
pub const IMAGE: &str = "Image";
pub const PASTED_IMAGE: &str = "Pasted image.png";

pub const NOT_A_TOOL_CALL: &str = "This part isn’t a tool call";
pub const PART_GONE: &str = "This part no longer exists";
pub const ATTACHMENT_GONE: &str = "This attachment no longer exists";
pub const ATTACHMENT_EMPTY: &str = "This attachment is empty";
pub const ATTACHMENT_UNREADABLE: &str = "Couldn’t read this attachment";
pub const NOT_BYTES: &str = "An attachment must be sent as bytes";
pub const NOT_A_PDF: &str = "This attachment isn’t a PDF";
pub const NO_IMAGE: &str = "No image at this address";
pub const KEY_EMPTY: &str = "Enter an API key";
pub const NOT_SHARED: &str = "This session isn’t shared";
pub const NOT_TEXT: &str = "This file isn’t text";
pub const NO_LOG: &str = "No log: its file couldn’t be written";

pub fn connected(models: usize) -> String {
    match models {
        0 => "Connected".to_owned(),
        1 => "Connected, 1 model".to_owned(),
        models => format!("Connected, {models} models"),
    }
}

pub fn unknown_provider(name: &str) -> String {
    format!("Unknown provider: {name}")
}

pub fn no_problem(file: &str) -> String {
    format!("{file} no longer has a problem")
}

pub fn cannot_open(path: impl Display, why: impl Display) -> String {
    format!("Couldn’t open {path}: {why}")
}

pub fn editor_not_started(editor: &str, why: impl Display) -> String {
    format!("Couldn’t start {editor}: {why}. Choose another editor in the settings.")
}

pub fn settings_not_saved(why: impl Display) -> String {
    format!("Couldn’t save the settings: {why}")
}

pub fn sample_not_written(why: impl Display) -> String {
    format!("Couldn’t create the sample project: {why}")
}
