//! Small JSON types that all records share.

use std::fmt;

use schemars::JsonSchema;
use serde::de::{self, Deserializer, Visitor};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use ts_rs::TS;

pub type Map = serde_json::Map<String, Value>;

// Unknown fields of a record: they are read with it and written back. (Not a doc comment,
// because it would become the description of every schema that flattens this type.)
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct Extra(pub Map);

impl Extra {
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// Reads `null` as the default value. Other programs write `null` for a missing value, and
/// JavaScript writes it for NaN.
pub(crate) fn null_is_default<'de, D, T>(deserializer: D) -> Result<T, D::Error>
where
    D: Deserializer<'de>,
    T: Default + Deserialize<'de>,
{
    Ok(Option::deserialize(deserializer)?.unwrap_or_default())
}

/// Reads `3`, `3.0` and `3e0` alike, because other programs write integers as floats. `null`
/// reads as zero: JavaScript writes it for NaN.
fn deserialize_integer<'de, D: Deserializer<'de>>(deserializer: D) -> Result<i64, D::Error> {
    struct Integer;
    impl Visitor<'_> for Integer {
        type Value = i64;
        fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
            f.write_str("a number")
        }
        fn visit_i64<E: de::Error>(self, v: i64) -> Result<i64, E> {
            Ok(v)
        }
        fn visit_u64<E: de::Error>(self, v: u64) -> Result<i64, E> {
            i64::try_from(v).map_err(|_| E::custom("number out of range"))
        }
        fn visit_f64<E: de::Error>(self, v: f64) -> Result<i64, E> {
            // Beyond 2^63 `as` would clamp silently, and a rewrite would change the value.
            if v.abs() < 9.2e18 {
                Ok(v.round() as i64)
            } else {
                Err(E::custom("number out of range"))
            }
        }
        fn visit_unit<E: de::Error>(self) -> Result<i64, E> {
            Ok(0)
        }
        fn visit_none<E: de::Error>(self) -> Result<i64, E> {
            Ok(0)
        }
    }
    deserializer.deserialize_any(Integer)
}

macro_rules! integer {
    ($(#[$doc:meta])* $Name:ident) => {
        $(#[$doc])*
        #[derive(
            Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, JsonSchema, TS,
        )]
        #[serde(transparent)]
        #[schemars(transparent)]
        pub struct $Name(#[schemars(with = "f64")] pub i64);

        impl<'de> Deserialize<'de> for $Name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                deserialize_integer(deserializer).map($Name)
            }
        }

        impl From<i64> for $Name {
            fn from(value: i64) -> Self {
                $Name(value)
            }
        }

        impl fmt::Display for $Name {
            fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
                self.0.fmt(f)
            }
        }
    };
}

integer! {
    /// Milliseconds since the Unix epoch.
    Millis
}
integer! {
    /// A count of tokens, lines, files or attempts.
    Count
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_integer_is_read_from_an_int_a_float_or_null() {
        let read = |text: &str| {
            serde_json::from_str::<Count>(text)
                .map(|count| count.0)
                .ok()
        };
        assert_eq!(
            [
                read("3"),
                read("3.0"),
                read("3e2"),
                read("null"),
                read("-1"),
                read("1e300"),
                read("\"3\"")
            ],
            [Some(3), Some(3), Some(300), Some(0), Some(-1), None, None],
        );
        assert_eq!(
            serde_json::to_string(&Millis(1_767_806_134_140)).unwrap(),
            "1767806134140"
        );
    }
}
