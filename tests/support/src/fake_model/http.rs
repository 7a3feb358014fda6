//! Just enough HTTP/1.1, written by hand: tests control exactly which bytes are sent and when
//! the connection ends. One request per connection.

use std::{collections::BTreeMap, io, time::Duration};

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
};

/// The longest request that is accepted.
const REQUEST_CAP: usize = 256 * 1024 * 1024;

pub(super) struct Request {
    pub method: String,
    pub path: String,
    pub headers: BTreeMap<String, String>,
    pub body: Vec<u8>,
}

/// `None` when the client hung up.
pub(super) async fn read(socket: &mut TcpStream) -> io::Result<Option<Request>> {
    let mut bytes = Vec::new();
    let head = loop {
        if let Some(end) = find(&bytes, b"\r\n\r\n") {
            break end;
        }
        if socket.read_buf(&mut bytes).await? == 0 || bytes.len() > REQUEST_CAP {
            return Ok(None);
        }
    };
    let text = String::from_utf8_lossy(&bytes[..head]).into_owned();
    let mut lines = text.split("\r\n");
    let mut first = lines.next().unwrap_or_default().split(' ');
    let method = first.next().unwrap_or_default().to_owned();
    let path = first.next().unwrap_or_default().to_owned();
    let headers: BTreeMap<String, String> = lines
        .filter_map(|line| line.split_once(':'))
        .map(|(name, value)| (name.trim().to_ascii_lowercase(), value.trim().to_owned()))
        .collect();
    let length = headers.get("content-length");
    let length = length.and_then(|length| length.parse().ok()).unwrap_or(0);
    let mut body = bytes.split_off(head + 4);
    while body.len() < length {
        if socket.read_buf(&mut body).await? == 0 || body.len() > REQUEST_CAP {
            return Ok(None);
        }
    }
    Ok(Some(Request {
        method,
        path,
        headers,
        body,
    }))
}

fn find(bytes: &[u8], needle: &[u8]) -> Option<usize> {
    bytes
        .windows(needle.len())
        .position(|window| window == needle)
}

/// A whole response at once.
pub(super) async fn respond(
    socket: &mut TcpStream,
    status: u16,
    headers: &BTreeMap<String, String>,
    body: &[u8],
) -> io::Result<()> {
    let mut head = format!("HTTP/1.1 {status} Fake\r\nconnection: close\r\n");
    if !headers.contains_key("content-type") {
        head.push_str("content-type: application/json\r\n");
    }
    for (name, value) in headers {
        head.push_str(&format!("{name}: {value}\r\n"));
    }
    head.push_str(&format!("content-length: {}\r\n\r\n", body.len()));
    socket.write_all(head.as_bytes()).await?;
    socket.write_all(body).await?;
    socket.shutdown().await
}

/// A body sent piece by piece.
pub(super) struct Body<'a> {
    socket: &'a mut TcpStream,
    chunk: usize,
}

impl<'a> Body<'a> {
    pub(super) async fn start(socket: &'a mut TcpStream, chunk: usize) -> io::Result<Self> {
        let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\
                    connection: close\r\ntransfer-encoding: chunked\r\n\r\n";
        socket.set_nodelay(true)?;
        socket.write_all(head.as_bytes()).await?;
        Ok(Self { socket, chunk })
    }

    pub(super) async fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        let size = if self.chunk == 0 {
            bytes.len()
        } else {
            self.chunk
        };
        for piece in bytes.chunks(size.max(1)) {
            let mut framed = format!("{:x}\r\n", piece.len()).into_bytes();
            framed.extend_from_slice(piece);
            framed.extend_from_slice(b"\r\n");
            self.socket.write_all(&framed).await?;
            self.socket.flush().await?;
        }
        Ok(())
    }

    /// Ends the body as a server does after a complete response.
    pub(super) async fn end(self) -> io::Result<()> {
        self.socket.write_all(b"0\r\n\r\n").await?;
        self.socket.shutdown().await
    }

    /// Waits until the client closes the connection.
    pub(super) async fn stall(self) -> io::Result<()> {
        wait_for_hangup(self.socket).await
    }

    pub(super) fn reset(self) -> io::Result<()> {
        reset(self.socket)
    }
}

pub(super) async fn wait_for_hangup(socket: &mut TcpStream) -> io::Result<()> {
    let mut nothing = [0_u8; 256];
    while socket.read(&mut nothing).await? > 0 {}
    Ok(())
}

/// With a linger time of zero, closing sends a reset.
pub(super) fn reset(socket: &TcpStream) -> io::Result<()> {
    socket.set_zero_linger()
}

/// Gives the client time to read what was written before the reset.
pub(super) async fn settle() {
    tokio::time::sleep(Duration::from_millis(30)).await;
}
