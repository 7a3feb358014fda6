//! Separates text from escape sequences, one character at a time.

/// A longer escape sequence is not a valid one, and is abandoned.
const MAX_SEQUENCE_CHARS: usize = 4_096;
const MAX_PARAMETER_CHARS: usize = 128;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Action {
    None,
    Print(char),
    LineFeed,
    Return,
    Backspace,
    Style(Vec<u16>),
    EraseLine(u16),
}

#[derive(Debug, Default)]
pub(super) struct Parser {
    state: State,
}

#[derive(Debug, Default)]
enum State {
    #[default]
    Ground,
    Escape,
    /// After `ESC (`, which is followed by one letter.
    Charset,
    Control(String),
    /// Inside a title, a hyperlink or a device string, until its terminator.
    Payload {
        chars: usize,
        escape: bool,
    },
}

impl Parser {
    pub fn next(&mut self, c: char) -> Action {
        match &mut self.state {
            State::Ground => self.ground(c),
            State::Escape => self.escape(c),
            State::Charset => self.leave(),
            State::Control(parameters) => match c {
                ' '..='?' if parameters.len() < MAX_PARAMETER_CHARS => {
                    parameters.push(c);
                    Action::None
                }
                '@'..='~' => {
                    let parameters = std::mem::take(parameters);
                    self.state = State::Ground;
                    control(&parameters, c)
                }
                _ => self.abandon(c),
            },
            State::Payload { chars, escape } => {
                *chars += 1;
                let over = *chars > MAX_SEQUENCE_CHARS;
                match (c, *escape) {
                    ('\u{7}' | '\u{9c}', _) | ('\\', true) => self.leave(),
                    ('\n', _) => self.abandon(c),
                    _ if over => self.leave(),
                    _ => {
                        *escape = c == '\u{1b}';
                        Action::None
                    }
                }
            }
        }
    }

    fn ground(&mut self, c: char) -> Action {
        match c {
            '\n' | '\u{b}' | '\u{c}' => Action::LineFeed,
            '\r' => Action::Return,
            '\u{8}' => Action::Backspace,
            '\t' => Action::Print(c),
            '\u{1b}' => self.enter(State::Escape),
            '\u{9b}' => self.enter(State::Control(String::new())),
            '\u{90}' | '\u{98}' | '\u{9d}'..='\u{9f}' => self.payload(),
            c if c.is_control() => Action::None,
            c => Action::Print(c),
        }
    }

    fn escape(&mut self, c: char) -> Action {
        match c {
            '[' => self.enter(State::Control(String::new())),
            ']' | 'P' | 'X' | '^' | '_' => self.payload(),
            ' '..='/' => self.enter(State::Charset),
            '0'..='~' => self.leave(),
            c => self.abandon(c),
        }
    }

    fn payload(&mut self) -> Action {
        self.enter(State::Payload {
            chars: 0,
            escape: false,
        })
    }

    fn enter(&mut self, state: State) -> Action {
        self.state = state;
        Action::None
    }

    fn leave(&mut self) -> Action {
        self.enter(State::Ground)
    }

    /// The sequence is invalid: `c` is read as text.
    fn abandon(&mut self, c: char) -> Action {
        self.state = State::Ground;
        self.ground(c)
    }
}

fn control(parameters: &str, end: char) -> Action {
    match end {
        // `ESC [ > … m` and `ESC [ ? … m` do not set a style.
        'm' if parameters
            .bytes()
            .all(|b| b.is_ascii_digit() || b";:".contains(&b)) =>
        {
            Action::Style(style_codes(parameters))
        }
        'K' => Action::EraseLine(parameters.parse().unwrap_or(0)),
        _ => Action::None,
    }
}

fn style_codes(parameters: &str) -> Vec<u16> {
    let number = |text: &str| text.parse().unwrap_or(0);
    parameters
        .split(';')
        .flat_map(|code| {
            let parts: Vec<&str> = code.split(':').collect();
            match parts.as_slice() {
                // `38:2::r:g:b`: the empty field is the colour space.
                [kind, "2", _, red, green, blue] => {
                    vec![number(kind), 2, number(red), number(green), number(blue)]
                }
                // `4:3` is a curly underline, `4:0` none.
                ["4", "0"] => vec![24],
                ["4", _] => vec![4],
                parts => parts.iter().map(|part| number(part)).collect(),
            }
        })
        .collect()
}
