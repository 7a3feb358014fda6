//! Text from a model, a tool or a file never runs a script, calls the core or fetches anything.

use std::fs;
use std::net::TcpListener;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use lathe_test_support::fake_model::{FakeModel, call, reasoning, text};
use lathe_test_support::window::{Window, WindowError};
use serde_json::{Value, json};

use crate::steps::{open_with, project, send, until_answered};

const PAYLOADS: &str = include_str!("../../src-tauri/crates/render/tests/samples/payloads.txt");

/// Records every dialog and every request that is not the window's own.
const WATCH: &str = "(() => {
  window.caught = [];
  for (const name of ['alert', 'confirm', 'prompt', 'eval', 'open'])
    window[name] = (...words) => { window.caught.push(name + ' ' + words.join(' ')); };
  new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) {
      const own = /^(tauri|ipc|asset|attachment|data|blob):/.test(entry.name)
        || /^https?:\\/\\/(tauri|ipc|asset|attachment)\\.localhost/.test(entry.name);
      if (!own) window.caught.push('request ' + entry.name);
    }
  }).observe({ type: 'resource', buffered: true });
  addEventListener('securitypolicyviolation', (event) =>
    window.caught.push('blocked ' + event.violatedDirective + ' ' + event.blockedURI));
  return true;
})()";

/// Sends mouse and focus events to everything in the timeline that is not a control.
const PROD: &str = "(() => {
  const all = document.querySelectorAll('[data-testid=timeline] .markdown *, [data-testid=timeline] pre *');
  for (const one of all) {
    if (one.closest('a[href], button')) continue;
    for (const kind of ['mouseover', 'mousemove', 'pointerenter', 'focus', 'load', 'error', 'toggle'])
      one.dispatchEvent(new Event(kind, { bubbles: true }));
  }
  return all.length;
})()";

async fn caught(window: &Window) -> Result<Value, WindowError> {
    window.value_of(PROD, Value::Null).await?;
    window.two_frames().await?;
    window.value_of("window.caught", Value::Null).await
}

#[tokio::test]
async fn hostile_text_runs_calls_and_fetches_nothing_wherever_it_appears() -> Result<(), WindowError>
{
    let (model, garden) = (FakeModel::start().await, project()?);
    let lines: Vec<_> = PAYLOADS.lines().filter(|line| !line.is_empty()).collect();
    assert!(lines.len() >= 100, "{} payloads", lines.len());
    fs::write(garden.path().join("bad.html"), PAYLOADS)?;
    let name = "<img src=x onerror=alert(1)>.txt";
    fs::write(garden.path().join(name), "javascript:alert(1)\n")?;
    let bash = |command: &str, description: &str| {
        call(
            "bash",
            json!({ "command": command, "description": description }),
        )
    };
    model.reply([
        reasoning(PAYLOADS),
        text(PAYLOADS),
        call("read", json!({ "filePath": "bad.html" })),
        call("read", json!({ "filePath": name })),
        bash("cat bad.html", lines[10]),
        call("grep", json!({ "pattern": "alert" })),
        call("glob", json!({ "pattern": "<script>alert(1)</script>" })),
        call("<svg onload=alert(1)>", json!({ "a": lines[0] })),
    ]);
    let mut replies = vec![
        call(
            "write",
            json!({ "filePath": "<b onmouseover=alert(1)>.md", "content": PAYLOADS }),
        ),
        call(
            "edit",
            json!({ "filePath": "bad.html", "oldString": lines[0], "newString": lines[1] }),
        ),
    ];
    replies.extend(lines.chunks(20).map(|some| text(some.join("\n\n"))));
    model.reply(replies);
    model.reply([text(lines.join("\n\n"))]);
    let window = open_with(&model, &garden).await?;
    window.value_of(WATCH, Value::Null).await?;
    send(&window, PAYLOADS.lines().next().unwrap_or_default()).await?;
    until_answered(&window).await?;
    assert_eq!(caught(&window).await?, json!([]));

    // Opens every card.
    let closed = "[...document.querySelectorAll('[data-tool] button[aria-expanded=false]')]";
    let open_all = format!("{closed}.map((one) => one.click()).length");
    for _ in 0..4 {
        window.value_of(&open_all, Value::Null).await?;
        window.two_frames().await?;
    }
    assert_eq!(caught(&window).await?, json!([]));
    window.screenshot("hostile").await?;
    window.close().await
}

/// A server that answers every request with an image and counts the requests.
fn picture_host() -> Result<(u16, Arc<AtomicUsize>), WindowError> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let port = listener.local_addr()?.port();
    let visits = Arc::new(AtomicUsize::new(0));
    let counted = visits.clone();
    std::thread::spawn(move || {
        use std::io::{Read, Write};
        for stream in listener.incoming().flatten() {
            counted.fetch_add(1, Ordering::SeqCst);
            let mut stream = stream;
            let mut head = [0; 4096];
            let _ = stream.read(&mut head);
            let answer = format!(
                "HTTP/1.1 200 OK\r\nContent-Type: image/png\r\nContent-Length: {}\r\n\r\n",
                PNG.len()
            );
            let _ = stream.write_all(answer.as_bytes());
            let _ = stream.write_all(PNG);
        }
    });
    Ok((port, visits))
}

/// Two by one pixels.
const PNG: &[u8] = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x02\0\0\0\x01\x08\x02\0\0\0\x7b\x40\xe8\xdd\0\0\0\rIDATx\x9cc\xf8\xcf\0\x04\xff\x01\x07\0\x01\xff\xe2#\x9eY\0\0\0\0IEND\xaeB`\x82";

#[tokio::test]
async fn a_remote_image_shows_its_host_and_is_fetched_only_on_a_click() -> Result<(), WindowError> {
    let (model, garden) = (FakeModel::start().await, project()?);
    let (port, visits) = picture_host()?;
    let address = format!("http://127.0.0.1:{port}/tulip.png");
    model.reply([text(format!(
        "![A tulip]({address})\n\n<img src=\"{address}\"> [a link]({address})\n\n\
         <link rel=prefetch href=\"{address}\"><style>p {{ background: url({address}) }}</style>"
    ))]);
    let window = open_with(&model, &garden).await?;
    send(&window, "Show me a tulip").await?;
    until_answered(&window).await?;
    window.wait_for_text(".remote-image", "127.0.0.1").await?;
    assert_eq!(
        visits.load(Ordering::SeqCst),
        0,
        "the image was fetched without a click"
    );
    window.screenshot("remote-picture").await?;

    window.click(".remote-image").await?;
    window
        .wait_until(
            "the picture",
            "[...document.querySelectorAll('.assistant-message img')].some((one) => one.naturalWidth === 2)",
        )
        .await?;
    assert_eq!(visits.load(Ordering::SeqCst), 1);
    window.close().await
}
