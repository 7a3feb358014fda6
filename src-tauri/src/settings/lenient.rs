//! Reads a stored value field by field, so that one that is not understood does not take the others
//! with it.

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

/// The value, with the default for what is not understood, and the JSON that was understood.
pub fn read_leniently<T: Default + Serialize + DeserializeOwned>(stored: &Value) -> (T, Value) {
    let read = |value: &Value| serde_json::from_value::<T>(value.clone()).ok();
    let default = serde_json::to_value(T::default()).unwrap_or_default();
    let understood = keep(stored, &default, &|value| read(value).is_some());
    (read(&understood).unwrap_or_default(), understood)
}

/// As much of `stored` as is accepted; `default` in the place of the rest.
fn keep(stored: &Value, default: &Value, accepts: &dyn Fn(&Value) -> bool) -> Value {
    if accepts(stored) {
        return stored.clone();
    }
    match (stored, default) {
        (Value::Object(fields), Value::Object(defaults)) => {
            // What is not there gets its own default when it is read.
            let nothing = Value::Object(Map::new());
            let mut kept = match accepts(&nothing) {
                true => nothing,
                false => default.clone(),
            };
            for (name, field) in fields {
                let with = |value: &Value| {
                    let mut with = kept.clone();
                    with[name.as_str()] = value.clone();
                    with
                };
                let usual = defaults.get(name).unwrap_or(&Value::Null);
                let value = keep(field, usual, &|value| accepts(&with(value)));
                let with = with(&value);
                if accepts(&with) {
                    kept = with;
                }
            }
            kept
        }
        (Value::Array(items), Value::Array(_)) => {
            let mut kept = Vec::new();
            for item in items {
                kept.push(item.clone());
                if !accepts(&Value::Array(kept.clone())) {
                    kept.pop();
                }
            }
            Value::Array(kept)
        }
        _ => default.clone(),
    }
}
