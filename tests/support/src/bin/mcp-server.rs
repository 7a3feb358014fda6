//! The MCP server of the tests over pipes: `mcp-server [DESCRIPTION]`.

use std::io::{BufRead, Write};

use lathe_test_support::mcp_server::McpServer;
use tokio::sync::mpsc;

#[tokio::main]
async fn main() -> std::io::Result<()> {
    let description = std::env::args().nth(1);
    let server = McpServer::new(description.as_deref().unwrap_or("Repeats a text."));
    let (out, mut answers) = mpsc::unbounded_channel::<serde_json::Value>();
    std::thread::spawn(move || {
        let mut stdout = std::io::stdout();
        while let Some(answer) = answers.blocking_recv() {
            // Nobody listens any more: the end of the input ends us.
            let _ = writeln!(stdout, "{answer}").and_then(|()| stdout.flush());
        }
    });
    std::io::stderr().write_all(b"the test server is up\n")?;
    let (say, mut lines) = mpsc::unbounded_channel();
    std::thread::spawn(move || {
        for line in std::io::stdin().lock().lines().map_while(Result::ok) {
            let _ = say.send(line);
        }
    });
    while let Some(line) = lines.recv().await {
        if let Ok(message) = serde_json::from_str(&line) {
            let (server, out) = (server.clone(), out.clone());
            tokio::spawn(async move { server.take(message, &out).await });
        }
    }
    Ok(())
}
