//! What `git log --format` and `git for-each-ref --format` may print: everything but checks of
//! signatures, for which git starts another program.

/// Fields of references, before a colon.
const FIELDS: [&str; 45] = [
    "refname",
    "objecttype",
    "objectsize",
    "objectname",
    "deltabase",
    "upstream",
    "push",
    "HEAD",
    "symref",
    "worktreepath",
    "ahead-behind",
    "tree",
    "parent",
    "numparent",
    "object",
    "type",
    "tag",
    "author",
    "authorname",
    "authoremail",
    "authordate",
    "committer",
    "committername",
    "committeremail",
    "committerdate",
    "tagger",
    "taggername",
    "taggeremail",
    "taggerdate",
    "creator",
    "creatordate",
    "subject",
    "body",
    "contents",
    "trailers",
    "color",
    "align",
    "if",
    "then",
    "else",
    "end",
    "version",
    "objectmode",
    "path",
    "describe",
];

/// Placeholders of a commit that are one letter or begin with it.
const LETTERS: &str = "HhTtPpacdDSesfbBNgCmnxw<>%|";

/// Names of formats that git brings along.
const NAMED: [&str; 9] = [
    "oneline",
    "short",
    "medium",
    "full",
    "fuller",
    "reference",
    "email",
    "mboxrd",
    "raw",
];

/// Of `--sort`: a field, perhaps backwards.
pub(super) fn is_field(text: &str) -> bool {
    let name = text.trim_start_matches(['-', '*']);
    let name = name.strip_prefix("version:").unwrap_or(name);
    let name = name.strip_prefix("v:").unwrap_or(name);
    FIELDS.contains(&name.split(':').next().unwrap_or(name))
}

/// Of `--format` and `--pretty`.
pub(super) fn is_plain(text: &str) -> bool {
    let user = text.strip_prefix("format:");
    let user = user.or_else(|| text.strip_prefix("tformat:"));
    if user.is_none() && !text.contains('%') {
        return NAMED.contains(&text);
    }
    let mut chars = user.unwrap_or(text).chars().peekable();
    while let Some(c) = chars.next() {
        if c != '%' {
            continue;
        }
        let next = match chars.next() {
            // Adds or removes a blank or a line break before what follows.
            Some('+' | '-' | ' ') => chars.next(),
            next => next,
        };
        match next {
            Some('(') => {
                let name: String = chars.by_ref().take_while(|c| *c != ')').collect();
                if !is_field(&name) && !name.starts_with("decorate") {
                    return false;
                }
            }
            // Two hexadecimal digits are a byte in formats of references.
            Some(c) if LETTERS.contains(c) || c.is_ascii_hexdigit() => {}
            _ => return false,
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use super::{is_field, is_plain};

    #[test]
    fn a_format_that_checks_signatures_is_not_plain() {
        for text in [
            "%h %s",
            "format:%H%x09%an <%ae>%n%b",
            "tformat:%C(auto)%h %d %s",
            "oneline",
            "fuller",
            "%(refname:short) %(committerdate:relative)",
            "%(if)%(HEAD)%(then)* %(end)%(objectname)",
            "%<(20)%an%>(10)%ar",
            "%(trailers:key=Fixes)",
            "%(decorate:prefix=)",
        ] {
            assert!(is_plain(text), "{text}");
        }
        for text in [
            "%G?",
            "%h %GS",
            "format:%+GG",
            "%(signature)",
            "%(signature:grade)",
            "%(*signature)",
            "mine",
            "%",
            "%(unknown)",
        ] {
            assert!(!is_plain(text), "{text}");
        }
        assert!(is_field("-committerdate") && is_field("v:refname"));
        assert!(!is_field("signature:grade") && !is_field("-*signature"));
    }
}
