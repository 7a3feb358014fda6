//! The texts in a Rust source file, for a check of their words.

/// Each text between quotes, with those that go over several lines joined. Not those of comments, of
/// tests at the end of the file, and of what is only logged.
pub fn literals(source: &str) -> Vec<String> {
    let source = source.split("\n#[cfg(test)]\nmod ").next();
    let mut rest = source.unwrap_or_default();
    let mut found = Vec::new();
    let mut open = 0;
    // How many brackets were open where a log line began.
    let mut logged = None;
    while let Some(next) = rest.chars().next() {
        if let Some((text, after)) = raw(rest).or_else(|| quoted(rest)) {
            if logged.is_none() {
                found.push(text);
            }
            rest = after;
            continue;
        }
        match next {
            '/' if rest.starts_with("//") => {
                rest = rest.find('\n').map_or("", |end| &rest[end..]);
                continue;
            }
            't' if logged.is_none() && is_log(rest) => logged = Some(open),
            '(' => open += 1,
            ')' => {
                open -= 1;
                logged = logged.filter(|before| *before < open);
            }
            '\'' => {
                rest = after_character(rest);
                continue;
            }
            _ => {}
        }
        rest = &rest[next.len_utf8()..];
    }
    found
}

fn is_log(rest: &str) -> bool {
    let name = rest.strip_prefix("tracing::").unwrap_or_default();
    let name = name.trim_start_matches(|c: char| c.is_ascii_lowercase() || c == '_');
    name.starts_with("!(")
}

/// After a character between quotes, which may be a quote; after the quote alone of a lifetime.
fn after_character(rest: &str) -> &str {
    let inside = &rest[1..];
    if inside.starts_with('\\') {
        let end = inside.char_indices().skip(2).find(|(_, c)| *c == '\'');
        return end.map_or(inside, |(end, _)| &inside[end + 1..]);
    }
    let mut characters = inside.chars();
    characters.next();
    characters.as_str().strip_prefix('\'').unwrap_or(inside)
}

fn raw(rest: &str) -> Option<(String, &str)> {
    let inside = rest.strip_prefix('r')?;
    let hashes = inside.len() - inside.trim_start_matches('#').len();
    let inside = inside[hashes..].strip_prefix('"')?;
    let end = format!("\"{}", "#".repeat(hashes));
    let (text, after) = inside.split_once(&end)?;
    Some((text.to_owned(), after))
}

fn quoted(rest: &str) -> Option<(String, &str)> {
    let mut text = String::new();
    let mut characters = rest.strip_prefix('"')?.chars();
    loop {
        match characters.next()? {
            '"' => return Some((text, characters.as_str())),
            '\\' => match characters.next()? {
                // The next line goes on after its indentation.
                '\n' => characters = characters.as_str().trim_start().chars(),
                'n' | 't' => text.push(' '),
                other => text.push(other),
            },
            other => text.push(other),
        }
    }
}

#[test]
fn texts_are_found_in_one_piece_and_without_comments_tests_and_log_lines() {
    let source = r##"
// "a comment"
fn one<'a>() {
    say("two \
         lines", '"', 'x', '\'');
    tracing::warn!(%error, "a log line ({})", why());
    say(r#"raw "quotes""#);
}

#[cfg(test)]
mod tests {
    say("a test");
}
"##;
    assert_eq!(literals(source), ["two lines", "raw \"quotes\""]);
}
