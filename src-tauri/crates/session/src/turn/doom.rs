//! Noticing that the model does the same thing over and over.

use lathe_protocol::Map;
use serde_json::Value;

const TOO_OFTEN: usize = 3;

/// The latest calls of a turn, across its steps.
#[derive(Debug, Default)]
pub struct DoomLoop {
    last: Option<(String, Value)>,
    times: usize,
}

impl DoomLoop {
    /// Counts a call; true from the third equal one in a row on.
    pub fn repeats(&mut self, tool: &str, input: &Map) -> bool {
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
        let mut doom = DoomLoop::default();
        let a = Map::from_iter([("x".to_owned(), 1.into())]);
        let b = Map::from_iter([("x".to_owned(), 2.into())]);
        let seen: Vec<_> = [&a, &a, &b, &a, &a, &a, &a]
            .map(|input| doom.repeats("read", input))
            .to_vec();
        assert_eq!(seen, [false, false, false, false, false, true, true]);
        assert!(!doom.repeats("list", &a));
    }
}
