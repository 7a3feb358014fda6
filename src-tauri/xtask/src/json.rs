//! Just enough JSON for a benchmark's rows: flat objects of text and numbers.

/// A value in a row.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    Text(String),
    Number(f64),
    /// `null`, `true` and `false` say nothing in a row.
    Word(String),
}

/// The fields of a flat object, in their order. None for anything else.
pub fn object(line: &str) -> Option<Vec<(String, Value)>> {
    let mut scanner = Scanner { rest: line.trim() };
    scanner.take('{')?;
    let mut fields = Vec::new();
    if scanner.take('}').is_some() {
        return scanner.rest.is_empty().then_some(fields);
    }
    loop {
        let name = scanner.text()?;
        scanner.take(':')?;
        fields.push((name, scanner.value()?));
        if scanner.take(',').is_none() {
            scanner.take('}')?;
            return scanner.rest.is_empty().then_some(fields);
        }
    }
}

/// A value as JSON.
pub fn write(value: &Value) -> String {
    match value {
        Value::Text(text) => quoted(text),
        Value::Number(number) if number.is_finite() => number.to_string(),
        Value::Number(_) => "null".into(),
        Value::Word(word) => word.clone(),
    }
}

/// Text as JSON.
pub fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            c if u32::from(c) < 0x20 => out.push_str(&format!("\\u{:04x}", u32::from(c))),
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

struct Scanner<'a> {
    rest: &'a str,
}

impl Scanner<'_> {
    /// The wanted character, with the white space around it.
    fn take(&mut self, wanted: char) -> Option<()> {
        self.rest = self.rest.trim_start().strip_prefix(wanted)?.trim_start();
        Some(())
    }

    fn value(&mut self) -> Option<Value> {
        if self.rest.starts_with('"') {
            return self.text().map(Value::Text);
        }
        let end = self.rest.find([',', '}'])?;
        let word = self.rest[..end].trim();
        self.rest = &self.rest[end..];
        match word {
            "null" | "true" | "false" => Some(Value::Word(word.to_owned())),
            number => number.parse().ok().map(Value::Number),
        }
    }

    fn text(&mut self) -> Option<String> {
        let body = self.rest.strip_prefix('"')?;
        let mut text = String::new();
        let mut chars = body.char_indices();
        while let Some((at, c)) = chars.next() {
            match c {
                '"' => {
                    self.rest = &body[at + 1..];
                    return Some(text);
                }
                '\\' => text.push(match chars.next()?.1 {
                    'n' => '\n',
                    't' => '\t',
                    'u' => {
                        let digits: String = chars.by_ref().take(4).map(|(_, c)| c).collect();
                        char::from_u32(u32::from_str_radix(&digits, 16).ok()?)?
                    }
                    plain => plain,
                }),
                c => text.push(c),
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_is_read_and_written_back() {
        let line = r#" {"name": "tail \"50\" \u00e9", "ours":1.25,"baseline" : 3e2, "bar":null} "#;
        let fields = object(line).unwrap();
        assert_eq!(
            fields[0],
            ("name".into(), Value::Text("tail \"50\" é".into()))
        );
        assert_eq!(fields[2], ("baseline".into(), Value::Number(300.0)));
        assert_eq!(fields[3], ("bar".into(), Value::Word("null".into())));
        assert_eq!(write(&fields[0].1), r#""tail \"50\" é""#);
        assert_eq!(write(&fields[1].1), "1.25");
    }

    #[test]
    fn anything_else_is_no_row() {
        for line in [
            "",
            "plain",
            "{",
            "{}x",
            r#"{"a":[1]}"#,
            r#"{"a":1"#,
            r#"{"a" 1}"#,
        ] {
            assert_eq!(object(line), None, "{line}");
        }
        assert_eq!(object("{}"), Some(vec![]));
    }
}
