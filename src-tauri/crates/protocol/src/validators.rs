//! Checks JSON from outside against our schemas, before it is parsed.
//!
//! The rules are generated from the schemas by `cargo xtask gen`, one module for each; what they
//! are made of is here.

#[allow(clippy::all)]
#[rustfmt::skip]
mod generated;

use std::fmt;

use serde_json::Value;

/// What is wrong with a value.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub struct Invalid {
    /// A JSON pointer; empty for the whole value.
    pub place: String,
    pub why: String,
}

impl fmt::Display for Invalid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.place.is_empty() {
            write!(f, "{}: ", self.place)?;
        }
        f.write_str(&self.why)
    }
}

type Checked = Result<(), Invalid>;
type Check = fn(At<'_>) -> Checked;

/// The names of all schemas that have a validator.
pub fn names() -> impl Iterator<Item = &'static str> {
    generated::CHECKS.iter().map(|(name, _)| *name)
}

/// Checks a value against the schema of this name, such as `part` or `userMessage`.
pub fn validate(schema: &str, value: &Value) -> Result<(), Invalid> {
    let found = generated::CHECKS.iter().find(|(name, _)| *name == schema);
    let at = At {
        value,
        step: Step::Root,
    };
    match found {
        Some((_, check)) => check(at),
        None => at.wrong(format_args!("there is no schema {schema}")),
    }
}

/// A value and where it is.
#[derive(Clone, Copy)]
struct At<'a> {
    value: &'a Value,
    step: Step<'a>,
}

#[derive(Clone, Copy)]
enum Step<'a> {
    Root,
    Name(&'a At<'a>, &'a str),
    Index(&'a At<'a>, usize),
}

impl<'a> At<'a> {
    fn is(self, kinds: &[&str]) -> Checked {
        let kind = match self.value {
            Value::Null => "null",
            Value::Bool(_) => "boolean",
            Value::Number(_) => "number",
            Value::String(_) => "string",
            Value::Array(_) => "array",
            Value::Object(_) => "object",
        };
        match kinds.contains(&kind) {
            true => Ok(()),
            false => self.wrong(format_args!("must be {}", kinds.join(" or "))),
        }
    }

    fn one_of(self, texts: &[&str]) -> Checked {
        match self
            .value
            .as_str()
            .is_some_and(|text| texts.contains(&text))
        {
            true => Ok(()),
            false => self.wrong(format_args!("must be {}", texts.join(" or "))),
        }
    }

    fn requires(self, names: &[&str]) -> Checked {
        let Some(object) = self.value.as_object() else {
            return Ok(());
        };
        match names.iter().find(|name| !object.contains_key(**name)) {
            Some(name) => self.wrong(format_args!("{name} is missing")),
            None => Ok(()),
        }
    }

    fn field(self, name: &str, check: impl Fn(At<'_>) -> Checked) -> Checked {
        match self.value.as_object().and_then(|object| object.get(name)) {
            Some(value) => check(At {
                value,
                step: Step::Name(&self, name),
            }),
            None => Ok(()),
        }
    }

    /// Every value of a map.
    fn values(self, check: impl Fn(At<'_>) -> Checked) -> Checked {
        let mut pairs = self.value.as_object().into_iter().flatten();
        pairs.try_for_each(|(name, value)| {
            check(At {
                value,
                step: Step::Name(&self, name),
            })
        })
    }

    fn items(self, check: impl Fn(At<'_>) -> Checked) -> Checked {
        let items = self.value.as_array().into_iter().flatten();
        items.enumerate().try_for_each(|(index, value)| {
            check(At {
                value,
                step: Step::Index(&self, index),
            })
        })
    }

    fn any(self, checks: &[&dyn Fn(At<'_>) -> Checked]) -> Checked {
        match checks.iter().any(|check| check(self).is_ok()) {
            true => Ok(()),
            false => self.wrong(format_args!("has none of the allowed forms")),
        }
    }

    fn exactly_one(self, checks: &[&dyn Fn(At<'_>) -> Checked]) -> Checked {
        match checks.iter().filter(|check| check(self).is_ok()).count() {
            1 => Ok(()),
            passed => self.wrong(format_args!("has {passed} of the allowed forms")),
        }
    }

    fn wrong(self, why: fmt::Arguments<'_>) -> Checked {
        let mut place = String::new();
        self.write_place(&mut place);
        Err(Invalid {
            place,
            why: why.to_string(),
        })
    }

    fn write_place(self, place: &mut String) {
        let step = match self.step {
            Step::Root => return,
            Step::Name(above, name) => {
                above.write_place(place);
                name.replace('~', "~0").replace('/', "~1")
            }
            Step::Index(above, index) => {
                above.write_place(place);
                index.to_string()
            }
        };
        place.push('/');
        place.push_str(&step);
    }
}
