//! Just enough of the X protocol to press a window's close button.
//!
//! xdotool can only destroy a window, which an app cannot tell from a crash. The polite way
//! is a `WM_DELETE_WINDOW` message, and that is three requests.

use std::io::{Read, Write};
use std::os::unix::net::UnixStream;

use super::WindowError;

const INTERN_ATOM: u8 = 16;
const SEND_EVENT: u8 = 25;
const GET_INPUT_FOCUS: u8 = 43;
const CLIENT_MESSAGE: u8 = 33;

/// Asks a window of a display such as `:5` to close.
pub fn ask_to_close(display: &str, window: u32) -> Result<(), WindowError> {
    let mut server = Connection::open(display)?;
    let protocols = server.atom("WM_PROTOCOLS")?;
    let delete = server.atom("WM_DELETE_WINDOW")?;

    let mut event = vec![CLIENT_MESSAGE, 32, 0, 0];
    for word in [window, protocols, delete, 0, 0, 0, 0] {
        event.extend(word.to_le_bytes());
    }
    let mut request = vec![SEND_EVENT, 0, 11, 0];
    request.extend(window.to_le_bytes());
    // No mask: the event goes to the client that made the window.
    request.extend(0u32.to_le_bytes());
    request.extend(event);
    server.send(&request)?;

    // An answer to anything at all means that the message before it has arrived.
    server.send(&[GET_INPUT_FOCUS, 0, 1, 0])?;
    server.reply()?;
    Ok(())
}

struct Connection(UnixStream);

impl Connection {
    fn open(display: &str) -> Result<Self, WindowError> {
        let number = display.trim_start_matches(':');
        let mut socket = UnixStream::connect(format!("/tmp/.X11-unix/X{number}"))?;
        // Little-endian, version 11.0, no authorisation.
        socket.write_all(&[b'l', 0, 11, 0, 0, 0, 0, 0, 0, 0, 0, 0])?;
        let mut head = [0; 8];
        socket.read_exact(&mut head)?;
        let mut rest = vec![0; usize::from(u16::from_le_bytes([head[6], head[7]])) * 4];
        socket.read_exact(&mut rest)?;
        if head[0] != 1 {
            return Err(WindowError::Native(
                "the display refused the connection".into(),
            ));
        }
        Ok(Self(socket))
    }

    fn atom(&mut self, name: &str) -> Result<u32, WindowError> {
        let padded = name.len().div_ceil(4) * 4;
        let words = u16::try_from(2 + padded / 4).unwrap_or(u16::MAX);
        let length = u16::try_from(name.len()).unwrap_or(u16::MAX);
        let mut request = vec![INTERN_ATOM, 0];
        request.extend(words.to_le_bytes());
        request.extend(length.to_le_bytes());
        request.extend([0, 0]);
        request.extend(name.bytes());
        request.resize(8 + padded, 0);
        self.send(&request)?;
        let reply = self.reply()?;
        Ok(u32::from_le_bytes([
            reply[8], reply[9], reply[10], reply[11],
        ]))
    }

    fn send(&mut self, request: &[u8]) -> Result<(), WindowError> {
        Ok(self.0.write_all(request)?)
    }

    /// The next reply; events that come in between are nothing to us.
    fn reply(&mut self) -> Result<[u8; 32], WindowError> {
        loop {
            let mut packet = [0; 32];
            self.0.read_exact(&mut packet)?;
            match packet[0] {
                0 => {
                    return Err(WindowError::Native(format!(
                        "the display: error {}",
                        packet[1]
                    )));
                }
                1 => return Ok(packet),
                _ => {}
            }
        }
    }
}
