//! Windows paths that name something else than they seem to.
//!
//! Works on text only, so that it is tested on every system.

/// Refuses paths that Windows would silently map to another file: devices, streams, drive-relative
/// paths, names whose trailing dots and spaces are dropped.
pub fn check(given: &str) -> Result<(), &'static str> {
    let path = given.replace('/', "\\");
    if path.starts_with(r"\\.\") || path.to_ascii_lowercase().starts_with(r"\\?\globalroot") {
        return Err("it names a device");
    }
    let path = strip_verbatim(&path);
    let path = match path.as_bytes() {
        [drive, b':', b'\\', ..] if drive.is_ascii_alphabetic() => &path[3..],
        [drive, b':'] if drive.is_ascii_alphabetic() => "",
        [drive, b':', ..] if drive.is_ascii_alphabetic() => {
            return Err("it is relative to another drive's directory; give a full path");
        }
        _ => path,
    };
    path.split('\\').try_for_each(check_name)
}

fn strip_verbatim(path: &str) -> &str {
    path.strip_prefix(r"\\?\UNC\")
        .or_else(|| path.strip_prefix(r"\\?\"))
        .unwrap_or(path)
}

fn check_name(name: &str) -> Result<(), &'static str> {
    if name.is_empty() || name == "." || name == ".." {
        return Ok(());
    }
    if name.contains(':') {
        return Err("it names a stream inside a file");
    }
    if name.contains(['<', '>', '"', '|', '?', '*']) || name.chars().any(|c| c < ' ') {
        return Err("it has a character that Windows does not take in names");
    }
    if is_device(name) {
        return Err("it names a device");
    }
    if name.ends_with(['.', ' ']) {
        return Err("it ends in a dot or a blank, which Windows drops");
    }
    Ok(())
}

/// `NUL`, and also `nul.txt` and `Com1 .log`: the extension does not matter.
fn is_device(name: &str) -> bool {
    let stem = name
        .split('.')
        .next()
        .unwrap_or(name)
        .trim_end()
        .to_ascii_uppercase();
    if matches!(
        stem.as_str(),
        "CON" | "PRN" | "AUX" | "NUL" | "CONIN$" | "CONOUT$"
    ) {
        return true;
    }
    let number = stem
        .strip_prefix("COM")
        .or_else(|| stem.strip_prefix("LPT"));
    number.is_some_and(|n| {
        let mut chars = n.chars();
        matches!(
            (chars.next(), chars.next()),
            (Some('0'..='9' | '¹' | '²' | '³'), None)
        )
    })
}

#[cfg(test)]
mod tests {
    use super::check;

    #[test]
    fn ordinary_paths_pass() {
        for path in [
            r"src\main.rs",
            "src/main.rs",
            r"..\other\x.txt",
            r"C:\Users\me\a b.txt",
            r"\\?\C:\very\long",
            r"\\server\share\file",
            r"\\?\UNC\server\share\file",
            "C:",
            "console.log",
            "com10.txt",
            "nullable.rs",
            ".env",
        ] {
            assert_eq!(check(path), Ok(()), "{path}");
        }
    }

    #[test]
    fn spellings_that_name_something_else_are_refused() {
        for path in [
            r"\\.\PhysicalDrive0",
            r"\\.\pipe\x",
            r"\\?\GLOBALROOT\Device\x",
            "C:secret.txt",
            "nul",
            "NUL.txt",
            r"src\Aux.rs",
            "com1",
            "LPT9.log",
            "COM¹",
            "conout$",
            "a.txt:hidden",
            r"C:\a.txt::$DATA",
            "secret.env.",
            "dir. /x",
            "name ",
            "what?.txt",
            "tab\tname",
        ] {
            assert!(check(path).is_err(), "{path}");
        }
    }
}
