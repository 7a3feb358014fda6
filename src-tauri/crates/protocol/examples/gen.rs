//! Writes the TypeScript bindings, the JSON schemas, the protobuf files and the validators of both
//! languages: `gen ROOT`.
//! Called by `cargo xtask gen`, and by the test that the files in the tree are current.

use std::error::Error;
use std::path::{Path, PathBuf};
use std::{env, fs};

use lathe_protocol::{
    CallOutcome, MessageWithParts, OtherError, UnknownPart, ipc, proto, schema, view,
};
use ts_rs::{Config, TS};

#[path = "generator/validators.rs"]
mod validators;

type Write = fn(&Path) -> Result<(), Box<dyn Error>>;

/// The generated folders. Nothing else is in them.
pub const FOLDERS: [(&str, Write); 5] = [
    ("ui/src/bindings", write_bindings),
    ("ui/src/validators", write_typescript_validators),
    ("src-tauri/crates/protocol/schema", write_schemas),
    ("src-tauri/crates/contract/proto", write_protos),
    (
        "src-tauri/crates/protocol/src/validators/generated",
        write_rust_validators,
    ),
];

fn main() -> Result<(), Box<dyn Error>> {
    let root = env::args().nth(1).map(PathBuf::from);
    let root = root.ok_or("usage: gen ROOT")?;
    for (folder, write) in FOLDERS {
        write(&root.join(folder))?;
    }
    Ok(())
}

pub fn write_bindings(dir: &Path) -> Result<(), Box<dyn Error>> {
    recreate(dir)?;
    let config = Config::default().with_large_int("number").with_out_dir(dir);
    // Types that these refer to are exported with them.
    ipc::AppStart::export_all(&config)?;
    ipc::ProjectOpened::export_all(&config)?;
    ipc::SessionView::export_all(&config)?;
    ipc::MessagePage::export_all(&config)?;
    ipc::PromptInput::export_all(&config)?;
    ipc::UiBatch::export_all(&config)?;
    ipc::ContextUse::export_all(&config)?;
    ipc::UiError::export_all(&config)?;
    ipc::McpResourceView::export_all(&config)?;
    ipc::McpServerInput::export_all(&config)?;
    ipc::McpServerView::export_all(&config)?;
    ipc::ModelList::export_all(&config)?;
    ipc::ConnectionReport::export_all(&config)?;
    ipc::Attached::export_all(&config)?;
    ipc::Draft::export_all(&config)?;
    ipc::DropUpdate::export_all(&config)?;
    ipc::SessionImage::export_all(&config)?;
    ipc::SessionUsage::export_all(&config)?;
    ipc::AgentView::export_all(&config)?;
    ipc::CommandView::export_all(&config)?;
    ipc::Mention::export_all(&config)?;
    ipc::TrustView::export_all(&config)?;
    ipc::ConfigProblem::export_all(&config)?;
    ipc::ImportProgress::export_all(&config)?;
    ipc::ImportReport::export_all(&config)?;
    ipc::ImportSource::export_all(&config)?;
    ipc::SessionDiffView::export_all(&config)?;
    ipc::RevertTarget::export_all(&config)?;
    ipc::RevertPreview::export_all(&config)?;
    ipc::RevertOutcome::export_all(&config)?;
    ipc::RevertOptions::export_all(&config)?;
    ipc::RevertedItem::export_all(&config)?;
    ipc::PendingRevert::export_all(&config)?;
    ipc::ReviewFiles::export_all(&config)?;
    ipc::ReviewFileDiff::export_all(&config)?;
    ipc::ReviewPictures::export_all(&config)?;
    ipc::ReviewSelection::export_all(&config)?;
    ipc::ReviewDone::export_all(&config)?;
    ipc::RevertLinesOptions::export_all(&config)?;
    ipc::RevertLinesPreview::export_all(&config)?;
    ipc::NewComment::export_all(&config)?;
    ipc::DiffComment::export_all(&config)?;
    ipc::SessionStep::export_all(&config)?;
    ipc::StepPlace::export_all(&config)?;
    ipc::TreeEntryView::export_all(&config)?;
    ipc::GitStatus::export_all(&config)?;
    ipc::GitFolder::export_all(&config)?;
    ipc::CommitInput::export_all(&config)?;
    ipc::CommitDone::export_all(&config)?;
    ipc::ComparedWorktree::export_all(&config)?;
    ipc::BringBack::export_all(&config)?;
    ipc::BringBackChoice::export_all(&config)?;
    ipc::BringBackPreview::export_all(&config)?;
    ipc::RemovedWorktree::export_all(&config)?;
    ipc::SessionExport::export_all(&config)?;
    ipc::SharePreview::export_all(&config)?;
    ipc::FindHit::export_all(&config)?;
    ipc::SearchAnswer::export_all(&config)?;
    ipc::DataReport::export_all(&config)?;
    ipc::DataView::export_all(&config)?;
    ipc::TrashedSession::export_all(&config)?;
    ipc::MenuView::export_all(&config)?;
    ipc::ModeView::export_all(&config)?;
    CallOutcome::export_all(&config)?;
    ipc::ToolDetails::export_all(&config)?;
    view::BlockUpdate::export_all(&config)?;
    view::FileDiffView::export_all(&config)?;
    UnknownPart::export_all(&config)?;
    OtherError::export_all(&config)?;
    MessageWithParts::export_all(&config)?;
    write_index(dir)
}

fn write_index(dir: &Path) -> Result<(), Box<dyn Error>> {
    let mut names = Vec::new();
    for entry in fs::read_dir(dir)? {
        let path = entry?.path();
        if path.extension().is_some_and(|extension| extension == "ts") {
            names.extend(
                path.file_stem()
                    .and_then(|stem| stem.to_str())
                    .map(str::to_owned),
            );
        }
    }
    names.sort();
    let lines: String = names
        .iter()
        .map(|name| format!("export type * from \"./{name}\";\n"))
        .collect();
    let header =
        "// This file was generated by `cargo xtask gen`. Do not edit this file manually.\n";
    Ok(fs::write(dir.join("index.ts"), format!("{header}{lines}"))?)
}

pub fn write_schemas(dir: &Path) -> Result<(), Box<dyn Error>> {
    recreate(dir)?;
    for (name, schema) in schema::all() {
        let text = serde_json::to_string_pretty(&schema)? + "\n";
        fs::write(dir.join(format!("{name}.schema.json")), text)?;
    }
    Ok(())
}

pub fn write_protos(dir: &Path) -> Result<(), Box<dyn Error>> {
    recreate(dir)?;
    for (name, text) in proto::files() {
        fs::write(dir.join(name), text)?;
    }
    Ok(())
}

pub fn write_rust_validators(dir: &Path) -> Result<(), Box<dyn Error>> {
    recreate(dir)?;
    validators::write_rust(dir)
}

pub fn write_typescript_validators(dir: &Path) -> Result<(), Box<dyn Error>> {
    recreate(dir)?;
    validators::write_typescript(dir)
}

/// Empties the folder, so that a removed type leaves no file behind.
fn recreate(dir: &Path) -> Result<(), Box<dyn Error>> {
    if dir.exists() {
        fs::remove_dir_all(dir)?;
    }
    Ok(fs::create_dir_all(dir)?)
}
