//! The gallery: every part and every tool card, in the light and the dark theme.

use lathe_test_support::window::{Window, WindowError, WindowOptions};
use serde_json::json;

const ROOMS: &str = "[...document.querySelectorAll('[data-room]')].map((room) => room.id)";
const SHOW: &str = "(document.getElementById(given).scrollIntoView(), true)";

#[tokio::test]
async fn every_card_is_there_in_every_state() -> Result<(), WindowError> {
    let options = WindowOptions {
        args: vec!["--gallery".into()],
        size: Some((1400, 980)),
        ..WindowOptions::default()
    };
    let window = Window::start(options).await?;
    window.wait_for("[data-testid=gallery]").await?;
    window
        .wait_until(
            "cards that have loaded",
            "document.querySelectorAll('.tool .card-body .diff-line').length > 4",
        )
        .await?;

    for state in ["pending", "running", "completed", "error"] {
        let tools = window
            .value_of(
                "new Set([...document.querySelectorAll(given)].map((one) => one.dataset.tool)).size",
                json!(format!("[data-look=dark] .tool[data-status={state}]")),
            )
            .await?;
        // Thirteen tools, and one unknown tool.
        assert_eq!(tools, 14, "{state}");
    }
    let types = window
        .value_of(
            "new Set([...document.querySelectorAll(given)].map((one) => one.dataset.part)).size",
            json!("[data-look=light] [data-part]"),
        )
        .await?;
    assert_eq!(types, 13, "the twelve types, and one of an unknown type");

    let grounds = "['light', 'dark'].map((look) => \
                   getComputedStyle(document.querySelector(`[data-look=${look}]`)).backgroundColor)";
    let grounds = window.value_of(grounds, json!(null)).await?;
    assert_ne!(grounds[0], grounds[1], "both looks are there at once");

    let rooms = window.value_of(ROOMS, json!(null)).await?;
    for room in rooms.as_array().into_iter().flatten() {
        window.value_of(SHOW, room.clone()).await?;
        let name = room.as_str().unwrap_or_default();
        window.screenshot(&format!("gallery-{name}")).await?;
    }
    window.close().await
}
