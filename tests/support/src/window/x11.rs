//! What xdotool cannot do to a window: press its close button, drag files onto it, and read the
//! selected text. (xdotool can only destroy a window, which looks like a crash to the app.)

use std::path::PathBuf;
use std::time::{Duration, Instant};

use reqwest::Url;
use x11rb::connection::Connection;
use x11rb::protocol::Event;
use x11rb::protocol::xproto::{
    AtomEnum, ClientMessageEvent, ConnectionExt, CreateWindowAux, EventMask, ImageFormat,
    InputFocus, PropMode, SelectionNotifyEvent, SelectionRequestEvent, Window, WindowClass,
};
use x11rb::rust_connection::RustConnection;
use x11rb::wrapper::ConnectionExt as _;

use super::WindowError;
use super::process::TIMEOUT;

/// How often we check for an event.
const INTERVAL: Duration = Duration::from_millis(5);
/// How long a program may take to say what is selected in it.
const ANSWER: Duration = Duration::from_secs(1);
/// The version of the XDND protocol that all toolkits support.
const XDND: u32 = 5;

x11rb::atom_manager! {
    Atoms: AtomsCookie {
        WM_PROTOCOLS,
        WM_DELETE_WINDOW,
        XdndEnter,
        XdndPosition,
        XdndStatus,
        XdndLeave,
        XdndDrop,
        XdndFinished,
        XdndSelection,
        XdndActionCopy,
        UriList: b"text/uri-list",
        UTF8_STRING,
        LATHE_SELECTION,
    }
}

/// Asks a window on a display such as `:5` to close.
pub fn request_close(display: &str, window: Window) -> Result<(), WindowError> {
    let (server, _) = RustConnection::connect(Some(display)).map_err(native)?;
    let atoms = atoms(&server)?;
    let words = [atoms.WM_DELETE_WINDOW, 0, 0, 0, 0];
    send(&server, window, atoms.WM_PROTOCOLS, words)?;
    // A reply to any request means that the message before it has arrived.
    server.sync().map_err(native)
}

/// The brightness, from 0 to 255, of what is drawn at a place of a window.
pub fn brightness_at(display: &str, window: Window, x: i16, y: i16) -> Result<u8, WindowError> {
    let (server, _) = RustConnection::connect(Some(display)).map_err(native)?;
    let image = server
        .get_image(ImageFormat::Z_PIXMAP, window, x, y, 1, 1, u32::MAX)
        .map_err(native)?;
    let image = image.reply().map_err(native)?.data;
    let colours = image.iter().take(3).map(|&colour| u16::from(colour));
    Ok(u8::try_from(colours.sum::<u16>() / 3).unwrap_or(u8::MAX))
}

/// Takes the keyboard focus from every window.
pub fn unfocus(display: &str) -> Result<(), WindowError> {
    let (server, _) = RustConnection::connect(Some(display)).map_err(native)?;
    server
        .set_input_focus(InputFocus::NONE, x11rb::NONE, x11rb::CURRENT_TIME)
        .map_err(native)?;
    server.sync().map_err(native)
}

/// The text that is selected in the focused field, if a program offers any.
pub fn selected_text(display: &str) -> Result<Option<String>, WindowError> {
    let (server, screen) = RustConnection::connect(Some(display)).map_err(native)?;
    let atoms = atoms(&server)?;
    let asker = hidden_window(&server, screen)?;
    server
        .convert_selection(
            asker,
            AtomEnum::PRIMARY.into(),
            atoms.UTF8_STRING,
            atoms.LATHE_SELECTION,
            x11rb::CURRENT_TIME,
        )
        .map_err(native)?;
    server.flush().map_err(native)?;
    let deadline = Instant::now() + ANSWER;
    while Instant::now() < deadline {
        match server.poll_for_event().map_err(native)? {
            Some(Event::SelectionNotify(answer)) if answer.property == x11rb::NONE => {
                return Ok(None);
            }
            Some(Event::SelectionNotify(answer)) => {
                let text = server
                    .get_property(false, asker, answer.property, AtomEnum::ANY, 0, u32::MAX)
                    .map_err(native)?;
                let text = text.reply().map_err(native)?.value;
                return Ok(Some(String::from_utf8_lossy(&text).into_owned()));
            }
            Some(_) => {}
            None => std::thread::sleep(INTERVAL),
        }
    }
    Ok(None)
}

/// A window that is never shown, for the messages that other programs send us.
fn hidden_window(server: &RustConnection, screen: usize) -> Result<Window, WindowError> {
    let root = server.setup().roots[screen].root;
    let window = server.generate_id().map_err(native)?;
    let class = WindowClass::INPUT_ONLY;
    let looks = CreateWindowAux::new();
    server
        .create_window(0, window, root, 0, 0, 1, 1, 0, class, 0, &looks)
        .map_err(native)?;
    Ok(window)
}

/// Whether a window manager would give this window a frame. Menus and helper windows of the
/// toolkit get none, though they may have the program's name as their title.
pub fn is_managed(display: &str, window: Window) -> Result<bool, WindowError> {
    let (server, _) = RustConnection::connect(Some(display)).map_err(native)?;
    let about = server.get_window_attributes(window).map_err(native)?;
    Ok(!about.reply().map_err(native)?.override_redirect)
}

/// Files that are dragged over a window. Ends with [`Drag::drop_here`] or [`Drag::leave`].
pub struct Drag {
    server: RustConnection,
    atoms: Atoms,
    source: Window,
    target: Window,
    paths: Vec<PathBuf>,
}

impl Drag {
    /// Moves the files over the middle of the window until it has answered.
    pub fn over(display: &str, target: Window, paths: &[PathBuf]) -> Result<Self, WindowError> {
        let (server, screen) = RustConnection::connect(Some(display)).map_err(native)?;
        let root = server.setup().roots[screen].root;
        let atoms = atoms(&server)?;
        let source = hidden_window(&server, screen)?;
        server
            .set_selection_owner(source, atoms.XdndSelection, x11rb::CURRENT_TIME)
            .map_err(native)?;
        let drag = Self {
            server,
            atoms,
            source,
            target,
            paths: paths.to_vec(),
        };
        drag.tell(drag.atoms.XdndEnter, [XDND << 24, drag.atoms.UriList, 0, 0])?;
        // The window requests the list of files during the first moves and answers each move.
        for _ in 0..3 {
            drag.moved(root)?;
            drag.until(drag.atoms.XdndStatus, "an answer to the dragging")?;
        }
        Ok(drag)
    }

    /// Drops the files and waits until the window has taken them.
    pub fn drop_here(self) -> Result<(), WindowError> {
        self.tell(self.atoms.XdndDrop, [0, x11rb::CURRENT_TIME, 0, 0])?;
        self.until(self.atoms.XdndFinished, "the end of the drop")
    }

    /// Moves the mouse out of the window again.
    pub fn leave(self) -> Result<(), WindowError> {
        self.tell(self.atoms.XdndLeave, [0; 4])?;
        self.server.sync().map_err(native)
    }

    fn moved(&self, root: Window) -> Result<(), WindowError> {
        let size = self.server.get_geometry(self.target).map_err(native)?;
        let size = size.reply().map_err(native)?;
        let (x, y) = ((size.width / 2) as i16, (size.height / 2) as i16);
        let place = self.server.translate_coordinates(self.target, root, x, y);
        let place = place.map_err(native)?.reply().map_err(native)?;
        let both = (place.dst_x as u32) << 16 | place.dst_y as u32 & 0xffff;
        let words = [0, both, x11rb::CURRENT_TIME, self.atoms.XdndActionCopy];
        self.tell(self.atoms.XdndPosition, words)
    }

    fn tell(&self, kind: u32, rest: [u32; 4]) -> Result<(), WindowError> {
        let [one, two, three, four] = rest;
        let words = [self.source, one, two, three, four];
        send(&self.server, self.target, kind, words)
    }

    /// Answers the window's requests until a message of this kind arrives.
    fn until(&self, kind: u32, what: &str) -> Result<(), WindowError> {
        let deadline = Instant::now() + TIMEOUT;
        while Instant::now() < deadline {
            match self.server.poll_for_event().map_err(native)? {
                Some(Event::SelectionRequest(request)) => self.hand_over(&request)?,
                Some(Event::ClientMessage(message)) if message.type_ == kind => return Ok(()),
                Some(_) => {}
                None => std::thread::sleep(INTERVAL),
            }
        }
        Err(WindowError::Native(format!("{what} never came")))
    }

    fn hand_over(&self, request: &SelectionRequestEvent) -> Result<(), WindowError> {
        let known = request.target == self.atoms.UriList;
        if known {
            let urls = self
                .paths
                .iter()
                .filter_map(|path| Url::from_file_path(path).ok());
            let lines: String = urls.map(|url| format!("{url}\r\n")).collect();
            self.server
                .change_property8(
                    PropMode::REPLACE,
                    request.requestor,
                    request.property,
                    self.atoms.UriList,
                    lines.as_bytes(),
                )
                .map_err(native)?;
        }
        let answer = SelectionNotifyEvent {
            response_type: x11rb::protocol::xproto::SELECTION_NOTIFY_EVENT,
            sequence: 0,
            time: request.time,
            requestor: request.requestor,
            selection: request.selection,
            target: request.target,
            property: if known {
                request.property
            } else {
                AtomEnum::NONE.into()
            },
        };
        self.server
            .send_event(false, request.requestor, EventMask::NO_EVENT, answer)
            .map_err(native)?;
        self.server.flush().map_err(native)
    }
}

fn atoms(server: &RustConnection) -> Result<Atoms, WindowError> {
    let asked = Atoms::new(server).map_err(native)?;
    asked.reply().map_err(native)
}

/// Without an event mask, the message is sent to the client that created the window.
fn send(
    server: &RustConnection,
    window: Window,
    kind: u32,
    words: [u32; 5],
) -> Result<(), WindowError> {
    let message = ClientMessageEvent::new(32, window, kind, words);
    server
        .send_event(false, window, EventMask::NO_EVENT, message)
        .map_err(native)?;
    server.flush().map_err(native)
}

fn native(error: impl std::fmt::Display) -> WindowError {
    WindowError::Native(format!("the display: {error}"))
}
