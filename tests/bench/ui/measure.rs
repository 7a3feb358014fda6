//! The measurements, in one window where they do not influence each other.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use lathe_provider::WireKind;
use lathe_test_support::fake_model::{FakeModel, pause, text};
use lathe_test_support::window::{Window, WindowError, WindowOptions};
use serde_json::{Value, json};

use crate::data;

/// Letters in order, so that the hex ids of the two sessions differ.
const SMALL: &str = "aa";
const LARGE: &str = "bb";
const CHANGES: &str = "cc";
/// Lines of a diff that is drawn completely, and of one that is not.
const LINES: [usize; 2] = [200, 10_000];
const STARTS: usize = 5;
const OPENS: usize = 7;
const IDLE: Duration = Duration::from_secs(30);
/// A delta every five milliseconds, for ten seconds.
const DELTAS: usize = 2000;
/// Several answers, because other work of the machine disturbs a single one.
const ANSWERS: usize = 3;

pub async fn all() -> Result<(), WindowError> {
    let folder = tempfile::tempdir()?;
    start(folder.path()).await?;

    let (data_dir, project) = (folder.path().join("data"), folder.path().join("project"));
    std::fs::create_dir(&project)?;
    let parts = std::env::var("LATHE_BENCH_PARTS").ok();
    let parts = parts.and_then(|text| text.parse().ok()).unwrap_or(100_000);
    data::session(&data_dir, &project, SMALL, 100);
    data::session(&data_dir, &project, LARGE, parts);
    data::changes(&data_dir, &project, CHANGES, &LINES);
    let model = FakeModel::start().await;
    model.title("Measured");
    for _ in 0..ANSWERS {
        model.reply((0..DELTAS).flat_map(|number| [text(word(number)), pause(5)]));
    }
    let mut options = WindowOptions::open(&project);
    options.data_dir = Some(data_dir);
    options.env = vec![(
        "LATHE_CONFIG".into(),
        config(folder.path(), &model)?.display().to_string(),
    )];
    let window = Window::start(options).await?;
    window.wait_for(".session-row").await?;

    until_level(&window).await?;
    opening(&window, parts).await?;
    differences(&window).await?;
    streaming(&window, parts).await?;
    idle(&window).await?;
    window.close().await
}

/// Waits until the history has been indexed, which happens once and is not measured.
async fn until_level(window: &Window) -> Result<(), WindowError> {
    const LEVEL: &str = "
const done = arguments[arguments.length - 1];
(function ask() {
  window.__TAURI_INTERNALS__.invoke('search', { query: 'question', limit: 1 })
    .then((answer) => answer.indexing ? setTimeout(ask, 200) : done(true), (error) => done(String(error)));
})();";
    window.run(LEVEL, json!([])).await.map(drop)
}

fn word(number: usize) -> String {
    match number % 40 {
        39 => "\n\n".to_owned(),
        20 => "`code` ".to_owned(),
        _ => format!("word{number} "),
    }
}

fn config(folder: &Path, model: &FakeModel) -> Result<PathBuf, WindowError> {
    let wire = WireKind::OpenaiChat;
    let path = folder.join("bench.json");
    let config = json!({
        "provider": { "fake": {
            "wire": wire,
            "options": { "baseURL": model.base_url(wire), "apiKey": "none" },
            // So large that the long session need not be summed up first.
            "models": { "m": { "limit": { "context": 100_000_000, "output": 8_000 } } },
        } },
        "model": "fake/m",
    });
    std::fs::write(&path, config.to_string())?;
    Ok(path)
}

/// The time from the start to a window that accepts a prompt, compared with an empty window.
async fn start(folder: &Path) -> Result<(), WindowError> {
    let Some(bare) = std::env::var_os("LATHE_BARE").map(PathBuf::from) else {
        return Ok(());
    };
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    for _ in 0..STARTS {
        let begun = Instant::now();
        let window = Window::start(WindowOptions::open(folder)).await?;
        window.wait_for("[data-testid=composer]:enabled").await?;
        ours.push(begun.elapsed().as_secs_f64());
        drop(window);
        let options = WindowOptions {
            app: Some(bare.clone()),
            ..WindowOptions::default()
        };
        let begun = Instant::now();
        drop(Window::start(options).await?);
        theirs.push(begun.elapsed().as_secs_f64());
    }
    row(
        "start to a usable window",
        median(ours),
        median(theirs),
        "s",
        "2",
    );
    Ok(())
}

/// The time from the click on a session until its last answer is painted, by the page's clock.
const OPEN: &str = "
const [row, last] = arguments[0], done = arguments[arguments.length - 1];
const begun = performance.now();
document.querySelector(`.session-row[data-session-id^=\"${row}\"] .session-open`).click();
(function look() {
  const shown = document.querySelector(`.timeline-scroll[data-session-id^=\"${row}\"]`);
  const text = shown && [...shown.querySelectorAll('.user-message')].pop()?.textContent;
  if (text?.includes(last)) requestAnimationFrame(() => done(performance.now() - begun));
  else requestAnimationFrame(look);
})();";

async fn opening(window: &Window, parts: usize) -> Result<(), WindowError> {
    let last = |parts: usize| format!("Question {}:", parts.div_ceil(11) - 1);
    let (small, large) = (format!("ses_{SMALL}"), format!("ses_{LARGE}"));
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    let (mut nodes, mut memory) = ([0.0; 2], [0.0; 2]);
    for turn in 0..OPENS {
        let took = window.run(OPEN, json!([[small, last(100)]])).await?;
        let seen = footprint(window).await?;
        if turn > 0 {
            theirs.push(took.as_f64().unwrap_or_default());
        }
        (nodes[1], memory[1]) = seen;
        let took = window.run(OPEN, json!([[large, last(parts)]])).await?;
        let seen = footprint(window).await?;
        // The first one is for the caches of disk and page.
        if turn > 0 {
            ours.push(took.as_f64().unwrap_or_default());
        }
        (nodes[0], memory[0]) = seen;
    }
    row(
        &format!("opening {parts} parts against 100"),
        median(ours),
        median(theirs),
        "ms",
        "1.5",
    );
    row("DOM nodes of the two", nodes[0], nodes[1], "nodes", "2");
    row(
        "memory of the app with each open",
        memory[0],
        memory[1],
        "MB",
        "",
    );
    Ok(())
}

/// The time from the click on a card until the first lines of its diff are painted.
const DIFFERENCE: &str = "
const done = arguments[arguments.length - 1];
const card = document.querySelectorAll('[data-tool=write]')[arguments[0][0]];
const begun = performance.now();
let asked = false;
card.querySelector('.card-head').click();
(function look() {
  // A long diff is shown on demand.
  const folded = card.querySelector('[data-note=folded] button:not([disabled])');
  if (folded && !asked) asked = folded.click() || true;
  if (card.querySelector('.diff')?.textContent.includes('line_5()'))
    requestAnimationFrame(() => done([performance.now() - begun, card.querySelectorAll('*').length]));
  else requestAnimationFrame(look);
})();";

async fn differences(window: &Window) -> Result<(), WindowError> {
    let here = format!("ses_{CHANGES}");
    let there = format!("ses_{SMALL}");
    let (mut took, mut nodes) = ([Vec::new(), Vec::new()], [0.0; 2]);
    for _ in 0..OPENS {
        for at in 0..LINES.len() {
            let last = |number: usize| format!("Question {number}:");
            let away = json!([[there, last(100_usize.div_ceil(11) - 1)]]);
            window.run(OPEN, away).await?;
            window.run(OPEN, json!([[here, last(0)]])).await?;
            let seen = window.run(DIFFERENCE, json!([[at]])).await?;
            took[at].push(seen[0].as_f64().unwrap_or_default());
            nodes[at] = seen[1].as_f64().unwrap_or_default();
        }
    }
    let [small, large] = took.map(median);
    let name = |what: &str| format!("{what} of {} lines against {}", LINES[1], LINES[0]);
    row(&name("a difference"), large, small, "ms", "");
    row(
        &name("DOM nodes of a difference"),
        nodes[1],
        nodes[0],
        "nodes",
        "2",
    );
    Ok(())
}

async fn footprint(window: &Window) -> Result<(f64, f64), WindowError> {
    window.two_frames().await?;
    let nodes = window
        .value_of("document.querySelectorAll('*').length", Value::Null)
        .await?;
    let memory = window.resident_bytes() as f64 / 1e6;
    Ok((nodes.as_f64().unwrap_or_default(), memory))
}

/// Frames from sending to the end of the answer, and how long each addition takes from its
/// arrival to the screen. The driver's own work before and after is not included.
const WATCH: &str = "
window.frames_ = []; window.lags = [];
window.watcher?.disconnect();
const busy = () => document.querySelector('[data-testid=stop]') !== null;
let last;
(function frame(now) {
  if (last !== undefined) window.frames_.push(now - last);
  last = busy() ? now : undefined;
  if (busy() || window.frames_.length === 0) requestAnimationFrame(frame);
})();
window.watcher = new MutationObserver(() => {
  if (!busy()) return;
  const grown = performance.now();
  requestAnimationFrame(() => setTimeout(() => window.lags.push(performance.now() - grown)));
});
window.watcher.observe(document.querySelector('.centre'), { subtree: true, childList: true, characterData: true });
arguments[arguments.length - 1](true);";

/// Frames and lags of an answer.
async fn answer(window: &Window, number: usize) -> Result<(Vec<f64>, Vec<f64>), WindowError> {
    window.run(WATCH, json!([])).await?;
    window.type_text("[data-testid=composer]", "Go on").await?;
    window.press("Enter").await?;
    window.wait_for("[data-testid=stop]").await?;
    let over = "document.querySelector('[data-testid=stop]') === null";
    // Longer than a test would wait: the answer takes ten seconds.
    while window.wait_until("the end", over).await.is_err() {}
    // An answer that was cut is not a measurement.
    let end = word(DELTAS - 2);
    window.wait_for_text("[data-last]", end.trim()).await?;
    window
        .screenshot(&format!("bench-streamed-{number}"))
        .await?;
    let seen = window
        .value_of("[window.frames_, window.lags]", Value::Null)
        .await?;
    let numbers = |value: &Value| -> Vec<f64> {
        let values = value.as_array().into_iter().flatten();
        values.filter_map(Value::as_f64).collect()
    };
    Ok((numbers(&seen[0]), numbers(&seen[1])))
}

/// Measures in the long session, which is the hardest case.
async fn streaming(window: &Window, parts: usize) -> Result<(), WindowError> {
    let last = format!("Question {}:", parts.div_ceil(11) - 1);
    let long = json!([[format!("ses_{LARGE}"), last]]);
    window.run(OPEN, long).await?;
    let (mut frames, mut lags, mut longest) = (Vec::new(), Vec::new(), Vec::new());
    for number in 0..ANSWERS {
        let (took, late) = answer(window, number).await?;
        longest.push(took.iter().copied().fold(0.0, f64::max));
        frames.extend(took);
        lags.extend(late);
    }
    let slow = frames.iter().filter(|frame| **frame > 50.0).count();
    let usual = median(frames.clone());
    row(
        "delta painted after it came, median against a frame",
        median(lags),
        usual,
        "ms",
        "",
    );
    row(
        "frames over 50 ms of all while streaming",
        slow as f64,
        frames.len() as f64,
        "frames",
        "",
    );
    let worst = longest.iter().copied().fold(0.0, f64::max);
    row(
        "longest frame of an answer, median against 100 ms",
        median(longest),
        100.0,
        "ms",
        "1",
    );
    row(
        &format!("longest frame of all {ANSWERS} answers"),
        worst,
        100.0,
        "ms",
        "1",
    );
    Ok(())
}

async fn idle(window: &Window) -> Result<(), WindowError> {
    window.two_frames().await?;
    let before = window.cpu_time();
    tokio::time::sleep(IDLE).await;
    let spent = (window.cpu_time() - before).as_secs_f64();
    row(
        "CPU while idle against 1% of a core",
        spent,
        IDLE.as_secs_f64() / 100.0,
        "s",
        "1",
    );
    Ok(())
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or_default()
}

fn row(name: &str, ours: f64, baseline: f64, unit: &str, bar: &str) {
    let ratio = if baseline == 0.0 {
        0.0
    } else {
        ours / baseline
    };
    println!(
        "{}",
        json!({ "name": name, "ours": ours, "baseline": baseline, "ratio": ratio, "unit": unit, "bar": bar })
    );
}
