//! A look at the bare text: characters that show a reader something else than the shell sees.

use lathe_protocol::text;

pub(super) fn is_deceptive(command: &str) -> bool {
    let hides = |c: char| text::is_deceptive(c) && !matches!(c, '\n' | '\t');
    command
        .chars()
        .any(|c| hides(c) || (c.is_whitespace() && !c.is_ascii()))
}
