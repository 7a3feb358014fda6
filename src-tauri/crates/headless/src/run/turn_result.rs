//! Decides from its newest answer whether a turn has succeeded.

use lathe_protocol::{Finish, MessageWithParts, Part};

use crate::texts;

/// `Ok` only if the answer is complete; otherwise the reason.
pub fn check(newest: Option<&MessageWithParts>) -> Result<(), String> {
    let answer = newest.and_then(|message| Some((message.info.as_assistant()?, &message.parts)));
    let Some((info, parts)) = answer else {
        return Err(texts::UNANSWERED.to_owned());
    };
    if let Some(error) = &info.error {
        return Err(error.message());
    }
    let called = parts.iter().any(|part| matches!(part, Part::Tool(_)));
    let why = match info.finish.as_ref().map(Finish::kind) {
        Some(Finish::Stop) => return Ok(()),
        Some(Finish::Unknown) if !called => return Ok(()),
        // After tool calls a turn continues, unless one of them was rejected.
        Some(Finish::ToolCalls | Finish::Unknown) => texts::DENIED,
        Some(Finish::Length) => texts::TOO_LONG,
        Some(Finish::ContentFilter) => texts::FILTERED,
        Some(Finish::Error | Finish::Other(_)) => texts::BROKEN_OFF,
        None => texts::INCOMPLETE,
    };
    Err(why.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn answer(more: Value, called: bool) -> MessageWithParts {
        let mut info = json!({
            "id": "msg_a", "sessionID": "ses_a", "role": "assistant", "time": { "created": 1 },
            "parentID": "msg_p", "modelID": "m", "providerID": "p", "cost": 0,
            "tokens": { "input": 0, "output": 0, "reasoning": 0, "cache": { "read": 0, "write": 0 } },
        });
        for (key, value) in more.as_object().unwrap() {
            info[key] = value.clone();
        }
        let call = json!({
            "id": "prt_a", "sessionID": "ses_a", "messageID": "msg_a", "type": "tool",
            "callID": "c", "tool": "bash", "state": { "status": "pending", "input": {}, "raw": "" },
        });
        let parts = if called { vec![call] } else { Vec::new() };
        serde_json::from_value(json!({ "info": info, "parts": parts })).unwrap()
    }

    #[test]
    fn only_a_complete_answer_is_a_success() {
        let failed = json!({ "name": "UnknownError", "data": { "message": "no" } });
        for (more, called, well) in [
            (json!({ "finish": "stop" }), false, true),
            (json!({ "finish": "end-turn" }), false, true),
            (json!({ "finish": "unknown" }), false, true),
            (json!({ "finish": "unknown" }), true, false),
            (json!({ "finish": "tool-calls" }), true, false),
            (json!({ "finish": "length" }), false, false),
            (json!({ "finish": "content-filter" }), false, false),
            (json!({ "finish": "error" }), false, false),
            (json!({ "finish": "stop", "error": failed }), false, false),
            (json!({}), false, false),
        ] {
            let judged = check(Some(&answer(more.clone(), called)));
            assert_eq!(judged.is_ok(), well, "{more} {called}: {judged:?}");
        }
        assert!(check(None).is_err());
    }
}
