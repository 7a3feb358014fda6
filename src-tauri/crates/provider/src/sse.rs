//! Parses server-sent events from chunks that may be cut anywhere.
//!
//! Works on bytes, not text, so that a cut inside a UTF-8 character or between `\r` and `\n`
//! makes no difference. One extension: a bare line that starts with `{` is an event, because
//! some servers report errors that way.

use memchr::memchr2;

/// Limit for one event. Real events are far smaller, even with an image inside; a larger one
/// means a broken or hostile server.
const EVENT_CAP: usize = 64 * 1024 * 1024;

const BYTE_ORDER_MARK: &[u8] = "\u{feff}".as_bytes();

/// One event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Frame<'a> {
    /// Empty if the server sent none.
    pub name: &'a str,
    pub data: &'a [u8],
    /// The body ended inside this event, so the data may be incomplete.
    pub cut: bool,
}

/// Whether the receiver wants more events.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Progress {
    Open,
    Done,
}

/// An event exceeded the limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("The model's server sent a single event of more than {} MB", EVENT_CAP >> 20)]
pub struct TooLong;

#[derive(Debug, Default)]
pub struct SseParser {
    /// The unfinished line of earlier chunks.
    line: Vec<u8>,
    event: Event,
    /// The last byte was `\r`, so a following `\n` belongs to the same line end.
    after_cr: bool,
    past_first_line: bool,
}

/// The event whose lines are being collected.
#[derive(Debug, Default)]
struct Event {
    name: String,
    data: Vec<u8>,
    has_data: bool,
}

impl SseParser {
    /// Passes every event that `bytes` completes to `sink`, until it returns `Done`.
    pub fn feed(
        &mut self,
        mut bytes: &[u8],
        mut sink: impl FnMut(Frame<'_>) -> Progress,
    ) -> Result<(), TooLong> {
        while !bytes.is_empty() {
            if std::mem::take(&mut self.after_cr)
                && let Some(rest) = bytes.strip_prefix(b"\n")
            {
                bytes = rest;
                continue;
            }
            let Some(end) = memchr2(b'\n', b'\r', bytes) else {
                if self.line.len() + bytes.len() > EVENT_CAP {
                    return Err(TooLong);
                }
                self.line.extend_from_slice(bytes);
                return Ok(());
            };
            self.after_cr = bytes[end] == b'\r';
            let progress = self.close_line(&bytes[..end], &mut sink)?;
            bytes = &bytes[end + 1..];
            if progress == Progress::Done {
                return Ok(());
            }
        }
        Ok(())
    }

    /// The body has ended: an incomplete event is passed on, marked as cut.
    pub fn end(&mut self, mut sink: impl FnMut(Frame<'_>) -> Progress) -> Result<(), TooLong> {
        if !self.line.is_empty() && self.close_line(b"", &mut sink)? == Progress::Done {
            return Ok(());
        }
        self.event.dispatch(true, &mut sink);
        Ok(())
    }

    /// `tail` completes the line that earlier chunks began.
    fn close_line(
        &mut self,
        tail: &[u8],
        sink: &mut impl FnMut(Frame<'_>) -> Progress,
    ) -> Result<Progress, TooLong> {
        let first = !std::mem::replace(&mut self.past_first_line, true);
        if self.line.is_empty() {
            return self.event.add_line(tail, first, sink);
        }
        self.line.extend_from_slice(tail);
        let progress = self.event.add_line(&self.line, first, sink);
        self.line.clear();
        progress
    }
}

impl Event {
    fn add_line(
        &mut self,
        line: &[u8],
        first: bool,
        sink: &mut impl FnMut(Frame<'_>) -> Progress,
    ) -> Result<Progress, TooLong> {
        let line = if first {
            line.strip_prefix(BYTE_ORDER_MARK).unwrap_or(line)
        } else {
            line
        };
        if line.is_empty() {
            return Ok(self.dispatch(false, sink));
        }
        if let Some(value) = field(line, b"data") {
            if self.data.len() + value.len() > EVENT_CAP {
                return Err(TooLong);
            }
            if self.has_data {
                self.data.push(b'\n');
            }
            self.has_data = true;
            self.data.extend_from_slice(value);
        } else if let Some(value) = field(line, b"event") {
            self.name.clear();
            self.name.push_str(&String::from_utf8_lossy(value));
        } else if line.starts_with(b"{") && !self.has_data {
            return Ok(sink(Frame {
                name: "",
                data: line,
                cut: false,
            }));
        }
        Ok(Progress::Open)
    }

    fn dispatch(&mut self, cut: bool, sink: &mut impl FnMut(Frame<'_>) -> Progress) -> Progress {
        let progress = if self.has_data {
            sink(Frame {
                name: &self.name,
                data: &self.data,
                cut,
            })
        } else {
            Progress::Open
        };
        self.name.clear();
        self.data.clear();
        self.has_data = false;
        progress
    }
}

/// The value of a `name: value` line, without one space after the colon.
fn field<'a>(line: &'a [u8], name: &[u8]) -> Option<&'a [u8]> {
    let rest = line.strip_prefix(name)?;
    match rest.split_first() {
        None => Some(rest),
        Some((b':', value)) => Some(value.strip_prefix(b" ").unwrap_or(value)),
        Some(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(chunks: &[&[u8]]) -> Vec<(String, String, bool)> {
        let mut parser = SseParser::default();
        let mut seen = Vec::new();
        let mut sink = |frame: Frame<'_>| {
            let data = String::from_utf8(frame.data.to_vec()).unwrap();
            seen.push((frame.name.to_owned(), data, frame.cut));
            Progress::Open
        };
        for chunk in chunks {
            parser.feed(chunk, &mut sink).unwrap();
        }
        parser.end(&mut sink).unwrap();
        seen
    }

    fn frame(name: &str, data: &str, cut: bool) -> (String, String, bool) {
        (name.to_owned(), data.to_owned(), cut)
    }

    #[test]
    fn every_split_of_a_stream_gives_the_same_events() {
        let stream = "\u{feff}: hello\r\nevent: a\r\ndata: {\"x\":\"é✓\"}\r\n\r\n\
                      data:one\rdata: two\r\r\ndata\n\nid: 7\nretry: 1\nevent:b\ndata:  3\n\n"
            .as_bytes();
        let expected = vec![
            frame("a", "{\"x\":\"é✓\"}", false),
            frame("", "one\ntwo", false),
            frame("", "", false),
            frame("b", " 3", false),
        ];
        for first in 0..=stream.len() {
            for second in first..=stream.len() {
                let chunks = [&stream[..first], &stream[first..second], &stream[second..]];
                assert_eq!(parse(&chunks), expected, "cut at {first} and {second}");
            }
        }
    }

    #[test]
    fn an_event_without_its_blank_line_is_marked_as_cut() {
        assert_eq!(
            parse(&[b"data: a\n\nevent: x\ndata: b"]),
            vec![frame("", "a", false), frame("x", "b", true)]
        );
    }

    #[test]
    fn a_bare_json_line_is_an_event() {
        assert_eq!(
            parse(&[b"{\"error\":", b"\"no\"}\n"]),
            vec![frame("", "{\"error\":\"no\"}", false)]
        );
    }

    #[test]
    fn a_line_of_one_megabyte_is_accepted_and_an_endless_line_is_refused() {
        let long = [b"data: ", "x".repeat(1 << 20).as_bytes(), b"\n\n"].concat();
        assert_eq!(parse(&[&long])[0].1.len(), 1 << 20);

        let mut parser = SseParser::default();
        let chunk = vec![b'x'; 1 << 20];
        let refused = (0..80).find_map(|_| parser.feed(&chunk, |_| Progress::Open).err());
        assert_eq!(refused, Some(TooLong));
    }
}
