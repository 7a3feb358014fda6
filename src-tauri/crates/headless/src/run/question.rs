//! Lets the person at the terminal answer an agent's questions.

use lathe_protocol::{Question, QuestionRequest};
use lathe_render::escape::{visible, visible_line};

use crate::{output, texts};

/// One list of answers per question; `None` if no person can be asked or an answer is empty.
pub async fn answer(request: &QuestionRequest) -> Option<Vec<Vec<String>>> {
    if !output::can_ask() {
        return None;
    }
    let mut answers = Vec::new();
    for question in &request.questions {
        answers.push(ask(question).await?);
    }
    Some(answers)
}

async fn ask(question: &Question) -> Option<Vec<String>> {
    let mut text = prompt_text(question);
    loop {
        let typed = output::ask(&text).await.filter(|typed| !typed.is_empty())?;
        match parse(question, &typed) {
            Ok(answer) => return Some(answer),
            Err(why) => text = format!("{}\n> ", visible_line(&why)),
        }
    }
}

fn prompt_text(question: &Question) -> String {
    let options = question.options.iter().zip(1..).map(|(option, number)| {
        let label = visible_line(&option.label);
        match option.description.as_str() {
            "" => format!("  {number}. {label}\n"),
            more => format!("  {number}. {label}: {}\n", visible_line(more)),
        }
    });
    let options: String = options.collect();
    let how = match (takes_several(question), takes_custom(question)) {
        _ if question.options.is_empty() => texts::YOUR_ANSWER,
        (false, false) => texts::NUMBER,
        (false, true) => texts::NUMBER_OR_OWN,
        (true, false) => texts::NUMBERS,
        (true, true) => texts::NUMBERS_OR_OWN,
    };
    let asked = visible(&question.question);
    format!("{asked}\n{options}{how}\n> ")
}

fn takes_several(question: &Question) -> bool {
    question.multiple == Some(true)
}

fn takes_custom(question: &Question) -> bool {
    question.custom != Some(false)
}

/// The labels for the typed text, or why it is not a valid answer.
fn parse(question: &Question, typed: &str) -> Result<Vec<String>, String> {
    if question.options.is_empty() {
        return Ok(vec![typed.to_owned()]);
    }
    // Labels and custom answers may contain commas.
    let names_option =
        |piece: &str| numbers(piece).is_some() || find_label(question, piece).is_some();
    let is_list = find_label(question, typed).is_none() && typed.split(',').any(names_option);
    if !takes_several(question) || !is_list {
        return match numbers(typed) {
            Some(numbers) if numbers.len() > 1 => Err(texts::ONLY_ONE.to_owned()),
            Some(numbers) => numbers.iter().map(|one| option(question, one)).collect(),
            None => label_or_custom(question, typed).map(|words| vec![words]),
        };
    }
    let mut found = Vec::new();
    for piece in typed
        .split(',')
        .map(str::trim)
        .filter(|one| !one.is_empty())
    {
        match numbers(piece) {
            Some(numbers) => {
                for number in numbers {
                    found.push(option(question, number)?);
                }
            }
            None => found.push(label_or_custom(question, piece)?),
        }
    }
    let mut seen = std::collections::HashSet::new();
    found.retain(|label| seen.insert(label.clone()));
    Ok(found)
}

/// The numbers in the text, if it contains nothing else.
fn numbers(text: &str) -> Option<Vec<&str>> {
    let pieces = text.split(|c: char| c == ',' || c.is_whitespace());
    let pieces: Vec<_> = pieces.filter(|piece| !piece.is_empty()).collect();
    let is_number = |piece: &&str| piece.bytes().all(|byte| byte.is_ascii_digit());
    (!pieces.is_empty() && pieces.iter().all(is_number)).then_some(pieces)
}

fn option(question: &Question, number: &str) -> Result<String, String> {
    let at = number.parse::<usize>().ok();
    let at = at.and_then(|at| at.checked_sub(1));
    let numbered = at.and_then(|at| question.options.get(at));
    // A label may be a number itself.
    let label = numbered.map(|one| one.label.clone());
    label
        .or_else(|| find_label(question, number))
        .ok_or_else(|| texts::no_option(number, takes_custom(question)))
}

fn find_label(question: &Question, typed: &str) -> Option<String> {
    let typed = typed.trim().to_lowercase();
    let mut labels = question.options.iter().map(|one| &one.label);
    labels.find(|label| label.to_lowercase() == typed).cloned()
}

fn label_or_custom(question: &Question, typed: &str) -> Result<String, String> {
    if let Some(label) = find_label(question, typed) {
        return Ok(label);
    }
    if !takes_custom(question) {
        return Err(texts::CHOOSE.to_owned());
    }
    let quoted = typed
        .strip_prefix('"')
        .and_then(|rest| rest.strip_suffix('"'));
    let is_number = |inner: &&str| numbers(inner).is_some();
    Ok(quoted.filter(is_number).unwrap_or(typed).to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn question(more: Value) -> Question {
        let option = |label: &str| json!({ "label": label, "description": "" });
        let options = json!([option("Red"), option("8080"), option("Dark, deep blue")]);
        let mut question = json!({ "question": "?", "header": "", "options": options });
        for (key, value) in more.as_object().unwrap() {
            question[key] = value.clone();
        }
        serde_json::from_value(question).unwrap()
    }

    #[test]
    fn numbers_labels_and_custom_answers_are_distinguished() {
        let (one, many) = (json!({}), json!({ "multiple": true }));
        let strict = json!({ "multiple": true, "custom": false });
        for (asked, typed, expected) in [
            (&one, "1", Some(vec!["Red"])),
            (&one, "red", Some(vec!["Red"])),
            (&one, "8080", Some(vec!["8080"])),
            (&one, "0", None),
            (&one, "4", None),
            (&one, "99999999999999999999999", None),
            (&one, "1,2", None),
            (&one, "\"4\"", Some(vec!["4"])),
            (&one, "pink, or 2", Some(vec!["pink, or 2"])),
            (&many, "2 1,2", Some(vec!["8080", "Red"])),
            (&many, "1, 7", None),
            (&many, "1, pink", Some(vec!["Red", "pink"])),
            (&many, "pink, not red", Some(vec!["pink, not red"])),
            (&many, "pink, red", Some(vec!["pink", "Red"])),
            (&many, "dark, deep blue", Some(vec!["Dark, deep blue"])),
            (&many, ",", Some(vec![","])),
            (&strict, "1, pink", None),
            (&strict, "3", Some(vec!["Dark, deep blue"])),
        ] {
            let found = parse(&question(asked.clone()), typed).ok();
            let expected = expected.map(|all| all.into_iter().map(str::to_owned).collect());
            assert_eq!(found, expected, "{typed:?} of {asked}");
        }
    }

    #[test]
    fn without_options_every_text_is_an_answer() {
        let open = question(json!({ "options": [] }));
        assert_eq!(parse(&open, "42"), Ok(vec!["42".to_owned()]));
    }
}
