//! The commands that the webview may call, one file per topic. A command validates its arguments,
//! calls the core and converts the result.

mod app;
mod attachments;
mod drafts;
mod editor;
mod environment;
mod import;
mod mcp;
mod models;
mod parts;
mod project;
mod requests;
mod review;
mod search;
mod session;
mod settings;
mod share;
mod trust;
mod turn;

pub use attachments::stage;

use tauri::Wry;
use tauri::ipc::Invoke;

pub fn handler() -> impl Fn(Invoke<Wry>) -> bool + Send + Sync + 'static {
    tauri::generate_handler![
        app::start,
        app::watch,
        app::save_settings,
        app::remember,
        app::open_external,
        drafts::drafts,
        drafts::keep_draft,
        editor::open_in_editor,
        parts::tool_details,
        parts::open_attachment,
        project::pick_project,
        search::search,
        search::find_in_session,
        search::open_session_at,
        search::newer_messages,
        settings::approved_rules,
        settings::revoke_rule,
        settings::project_edits,
        settings::data_use,
        settings::clean_data,
        settings::list_trash,
        settings::check_data,
        settings::show_data,
        settings::set_menu,
        session::list_sessions,
        session::create_session,
        session::rename_session,
        session::archive_session,
        session::delete_session,
        session::restore_session,
        session::open_session,
        session::older_messages,
        session::close_session,
        session::fork,
        environment::list_agents,
        environment::list_commands,
        environment::find_mentions,
        trust::trust,
        trust::set_trust,
        trust::set_project_edits,
        share::share_preview,
        share::share_session,
        share::unshare_session,
        share::open_shared,
        share::export_session,
        share::import_session,
        review::session_diff,
        review::file_diff,
        review::preview_revert,
        review::revert,
        review::unrevert,
        review::checkpoint,
        turn::prompt,
        turn::run_command,
        turn::abort,
        turn::retry_now,
        turn::compact,
        turn::context_use,
        turn::edit_queued,
        turn::remove_queued,
        requests::answer_permission,
        requests::answer_question,
        requests::dismiss_question,
        attachments::pick_attachments,
        attachments::paste_clipboard,
        attachments::attach_bytes,
        attachments::load_remote_image,
        attachments::find_attachments,
        attachments::remove_attachment,
        attachments::session_images,
        attachments::session_usage,
        attachments::copy_image,
        attachments::save_attachment,
        mcp::list_mcp,
        mcp::set_mcp_enabled,
        mcp::restart_mcp,
        mcp::accept_mcp,
        mcp::list_mcp_resources,
        mcp::read_mcp,
        mcp::save_mcp,
        mcp::remove_mcp,
        models::list_models,
        models::find_local_models,
        models::set_key,
        models::remove_key,
        models::test_connection,
        import::find_imports,
        import::import_from,
    ]
}
