//! Settings in TOML, line by line, as far as they are written plainly.

use super::is_plain_key;

/// What such a file says that rustup fetches where it is not there: the channel first, then
/// components and targets. None where that is not plain.
pub fn toolchain(text: &str) -> Option<Vec<String>> {
    if is_plain_key(text.trim(), "-.") {
        return Some(vec![text.trim().to_owned()]);
    }
    let (mut channel, mut parts) = (None, Vec::new());
    for (key, value) in toml_settings(text) {
        let mut texts = value.split('"').skip(1).step_by(2).map(str::to_owned);
        match key.as_str() {
            "toolchain.channel" => channel = texts.next(),
            "toolchain.components" | "toolchain.targets" => parts.extend(texts),
            "toolchain.profile" => {}
            _ => return None,
        }
    }
    let words: Vec<String> = std::iter::once(channel?).chain(parts).collect();
    words
        .iter()
        .all(|word| is_plain_key(word, "-._"))
        .then_some(words)
}

/// The settings of a file in TOML, as `section.key` and the value. Lines inside a list belong to
/// the setting before them. What is not written plainly is none of the settings that are listed.
pub(super) fn toml_settings(text: &str) -> impl Iterator<Item = (String, String)> {
    let mut section = String::new();
    let mut list: Option<(String, i32)> = None;
    text.lines().filter_map(move |line| {
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            return None;
        }
        let unclear = Some((line.to_owned(), String::new()));
        if list.is_none()
            && let Some(header) = line.strip_prefix('[')
        {
            // Only its first name is looked at; the others are names of targets and the like.
            let (first, rest) = header.split_once(['.', ']']).unwrap_or((header, ""));
            section = match header[first.len()..].starts_with('.') && !rest.is_empty() {
                true => format!("{first}.x"),
                false => first.to_owned(),
            };
            return (!is_plain_key(first, "-_")).then_some((line.to_owned(), String::new()));
        }
        // Texts over several lines and other signs around a text hide where it ends.
        let Some(open) = brackets(line).filter(|_| !line.contains(['\'', '\\'])) else {
            return unclear;
        };
        if let Some((key, depth)) = list.take() {
            if depth + open > 0 {
                list = Some((key.clone(), depth + open));
            }
            return Some((key, line.to_lowercase()));
        }
        let (key, value) = line.split_once('=').unwrap_or(("", line));
        let key = key.trim().to_lowercase();
        if !is_plain_key(&key, "-_.") {
            return unclear;
        }
        let key = match section.is_empty() {
            true => key,
            false => format!("{section}.{key}"),
        };
        if open > 0 {
            list = Some((key.clone(), open));
        }
        Some((key, value.trim().to_lowercase()))
    })
}

/// How many brackets stay open at the end of a line, outside of texts. None where a text does
/// not end in it.
fn brackets(line: &str) -> Option<i32> {
    let (mut text, mut open) = (false, 0);
    for c in line.chars() {
        match c {
            '"' => text = !text,
            '#' if !text => break,
            '[' if !text => open += 1,
            ']' if !text => open -= 1,
            _ => {}
        }
    }
    (!text && !line.contains("\"\"\"")).then_some(open)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_project_wants_of_a_toolchain_is_read() {
        let read = |text: &str| toolchain(text).map(|words| words.join(" "));
        for (text, words) in [
            ("nightly-2026-01-01\n", Some("nightly-2026-01-01")),
            ("[toolchain]\nchannel = \"1.90\"", Some("1.90")),
            (
                "[toolchain]\nprofile = \"minimal\"\ncomponents = [\n\"clippy\",\n]\nchannel = \"1.90\"",
                Some("1.90 clippy"),
            ),
            ("[toolchain]\npath = \"x\"", None),
            ("[toolchain]\nchannel = \"../x\"", None),
            ("../x", None),
        ] {
            assert_eq!(read(text).as_deref(), words, "{text}");
        }
    }
}
