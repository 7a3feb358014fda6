//! The window in languages with longer words, and from right to left: nothing is cut or outside.

use std::fs;

use lathe_test_support::fake_model::{FakeModel, call, text};
use lathe_test_support::window::{Window, WindowError};
use serde_json::{Value, json};

use crate::steps::{open_as, options, project, send, until_answered};

/// Elements with a text of their own that is cut without a mark, and those that extend beyond the
/// window. What scrolls can be reached, and the end of a long text is marked by three dots.
const CUT: &str = "[...document.querySelectorAll('body *')].filter((one) => {
    const style = getComputedStyle(one);
    const box = one.getBoundingClientRect();
    if (box.width === 0 || box.height === 0 || style.visibility === 'hidden') return false;
    if (one.closest('.visually-hidden')) return false;
    const speaks = [...one.childNodes].some((node) => node.nodeType === 3 && node.nodeValue.trim() !== '');
    const hides = ['hidden', 'clip'].includes(style.overflowX);
    if (speaks && hides && style.textOverflow !== 'ellipsis' && one.scrollWidth > one.clientWidth + 1) return true;
    if (box.right <= innerWidth + 1 && box.left >= -1) return false;
    for (let up = one.parentElement; up && up !== document.body; up = up.parentElement) {
      if (getComputedStyle(up).overflowX !== 'visible') return false;
    }
    return true;
  }).map((one) => `${one.className || one.tagName}: ${one.textContent}`)";

const PAGES: [&str; 8] = [
    "providers",
    "permissions",
    "agents",
    "mcp",
    "appearance",
    "tools",
    "data",
    "shortcuts",
];

async fn look(window: &Window, name: &str) -> Result<(), WindowError> {
    window.screenshot(name).await?;
    let cut = window.value_of(CUT, Value::Null).await?;
    assert_eq!(cut, json!([]), "{name}");
    let wide = "document.scrollingElement.scrollWidth - innerWidth";
    assert_eq!(window.value_of(wide, Value::Null).await?, 0, "{name}");
    Ok(())
}

/// By keys only: no text of the window is known here.
async fn tour(window: &Window, suffix: &str) -> Result<(), WindowError> {
    look(window, &format!("session-{suffix}")).await?;
    window.press("Control+k").await?;
    window.wait_for("[data-testid=palette-field]:focus").await?;
    look(window, &format!("palette-{suffix}")).await?;
    window.press("Escape").await?;
    window.wait_gone("[data-testid=palette-field]").await?;
    window.press("Control+f").await?;
    window.wait_for("[data-testid=find-field]:focus").await?;
    look(window, &format!("find-{suffix}")).await?;
    window.press("Escape").await?;
    window.wait_gone("[data-testid=find-field]").await?;
    window.press("Control+,").await?;
    for page in PAGES {
        let tab = format!("[data-testid=settings-{page}]");
        window.click(&tab).await?;
        window.wait_for(&format!("{tab}[data-selected]")).await?;
        look(window, &format!("settings-{page}-{suffix}")).await?;
    }
    window.press("Escape").await?;
    window.wait_gone("[data-testid=settings]").await
}

#[tokio::test]
async fn nothing_is_cut_in_a_language_with_longer_words_or_from_right_to_left()
-> Result<(), WindowError> {
    for (language, direction) in [("en-XA", "ltr"), ("en-XB", "rtl")] {
        let (model, garden) = (FakeModel::start().await, project()?);
        model.reply([call("read", json!({ "filePath": "beds.txt" }))]);
        model.reply([text("There are twelve beds, all of them **dry**.")]);
        fs::write(garden.path().join("beds.txt"), "north\neast\n")?;
        let data = tempfile::tempdir()?;
        let settings = json!({ "settings": { "language": language } });
        fs::write(data.path().join("settings.json"), settings.to_string())?;
        let mut options = options(&model, &garden, json!("allow"))?;
        options.data_dir = Some(data.path().to_owned());
        let window = open_as(options, &garden).await?;
        let direction = format!("html[dir={direction}][lang={language}]");
        window.wait_for(&direction).await?;
        send(&window, "How many beds are there?").await?;
        until_answered(&window).await?;

        for (width, height) in [(800, 700), (1000, 800), (1440, 900)] {
            window.resize(width, height).await?;
            tour(&window, &format!("{language}-{width}")).await?;
        }
        window.close().await?;
    }
    Ok(())
}
