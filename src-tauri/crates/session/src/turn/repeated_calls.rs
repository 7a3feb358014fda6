//! Detects that the model makes the same call again and again.

use lathe_protocol::Map;
use serde_json::Value;

const TOO_OFTEN: usize = 3;

/// Counts equal calls in a row, across the steps of a turn.
#[derive(Debug, Default)]
pub struct RepeatedCalls {
    last: Option<(String, Value)>,
    times: usize,
}

impl RepeatedCalls {
    /// Counts a call; true from the third equal call in a row.
    pub fn add(&mut self, tool: &str, input: &Map) -> bool {
        let call = (tool.to_owned(), Value::Object(input.clone()));
        if self.last.as_ref() == Some(&call) {
            self.times += 1;
        } else {
            self.last = Some(call);
            self.times = 1;
        }
        self.times >= TOO_OFTEN
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_third_equal_call_in_a_row_is_noticed() {
        let mut repeated_calls = RepeatedCalls::default();
        let a = Map::from_iter([("x".to_owned(), 1.into())]);
        let b = Map::from_iter([("x".to_owned(), 2.into())]);
        let seen: Vec<_> = [&a, &a, &b, &a, &a, &a, &a]
            .map(|input| repeated_calls.add("read", input))
            .to_vec();
        assert_eq!(seen, [false, false, false, false, false, true, true]);
        assert!(!repeated_calls.add("list", &a));
    }
}
