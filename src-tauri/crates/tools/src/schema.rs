//! Generates the JSON schema of a typed input for the model, and parses the model's input into the
//! type.

use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use crate::tool::ToolFailure;

/// A plain JSON schema without references, `null` alternatives and generator metadata, because
/// several providers accept only this subset.
pub fn for_model<T: JsonSchema>() -> Value {
    let settings = SchemaSettings::draft07().with(|s| {
        s.inline_subschemas = true;
        s.meta_schema = None;
    });
    let mut schema = settings
        .into_generator()
        .into_root_schema_for::<T>()
        .to_value();
    plain(&mut schema, true);
    if let Value::Object(object) = &mut schema {
        object
            .entry("properties")
            .or_insert_with(|| Value::Object(Map::new()));
    }
    schema
}

pub fn parse<T: DeserializeOwned>(tool: &str, input: Value) -> Result<T, ToolFailure> {
    serde_path_to_error::deserialize(&input).map_err(|error| {
        let path = error.path().to_string();
        let place = if path == "." {
            "the arguments".to_owned()
        } else {
            format!("`{path}`")
        };
        ToolFailure::failed(format!(
            "The {tool} tool was called with arguments that do not fit its schema: {place}: {}. \
             Call it again with arguments that fit.",
            error.inner()
        ))
    })
}

fn plain(value: &mut Value, is_schema: bool) {
    match value {
        Value::Object(object) => {
            if is_schema {
                plain_node(object);
            }
            for (key, child) in object.iter_mut() {
                // Below "properties" the keys are property names, not schema keywords.
                plain(child, !(is_schema && key == "properties"));
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|item| plain(item, true)),
        _ => {}
    }
}

fn plain_node(node: &mut Map<String, Value>) {
    for word in ["$schema", "title", "format"] {
        if node.get(word).is_some_and(Value::is_string) {
            node.remove(word);
        }
    }
    if node.get("default").is_some_and(Value::is_null) {
        node.remove("default");
    }
    if let Some(Value::Array(types)) = node.get_mut("type") {
        types.retain(|t| t != "null");
        if let [only] = types.as_slice() {
            let only = only.clone();
            node.insert("type".to_owned(), only);
        }
    }
    if let Some(Value::Array(choices)) = node.get_mut("enum") {
        choices.retain(|choice| !choice.is_null());
    }
    merge_optional(node);
    one_of_constants(node);
}

/// `anyOf: [X, null]` is how an optional object is written; the model needs only X.
fn merge_optional(node: &mut Map<String, Value>) {
    let Some(Value::Array(choices)) = node.get_mut("anyOf") else {
        return;
    };
    choices.retain(|choice| choice.get("type") != Some(&Value::from("null")));
    if let [Value::Object(only)] = choices.as_slice() {
        let only = only.clone();
        node.remove("anyOf");
        for (key, value) in only {
            node.entry(key).or_insert(value);
        }
        plain_node(node);
    }
}

/// Documented enum variants are generated as `oneOf` constants; converts them to a plain `enum`.
fn one_of_constants(node: &mut Map<String, Value>) {
    let Some(Value::Array(choices)) = node.get("oneOf") else {
        return;
    };
    let constants: Option<Vec<Value>> = choices
        .iter()
        .map(|choice| match (choice.get("const"), choice.get("enum")) {
            (Some(constant), _) => Some(vec![constant.clone()]),
            (None, Some(Value::Array(constants))) => Some(constants.clone()),
            _ => None,
        })
        .collect::<Option<Vec<_>>>()
        .map(|groups| groups.concat());
    if let Some(constants) = constants {
        node.remove("oneOf");
        node.insert("type".to_owned(), Value::from("string"));
        node.insert("enum".to_owned(), Value::Array(constants));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde::Deserialize;
    use serde_json::json;

    #[derive(Debug, PartialEq, Deserialize, JsonSchema)]
    #[serde(rename_all = "camelCase", deny_unknown_fields)]
    struct Input {
        /// Where.
        file_path: String,
        limit: Option<u32>,
        #[serde(default)]
        choices: Vec<Choice>,
        nested: Option<Choice>,
        format: Option<Kind>,
        title: Option<String>,
    }

    #[derive(Debug, PartialEq, Deserialize, JsonSchema)]
    #[serde(deny_unknown_fields)]
    struct Choice {
        label: String,
    }

    #[derive(Debug, PartialEq, Deserialize, JsonSchema)]
    #[serde(rename_all = "lowercase")]
    enum Kind {
        /// With a doc comment.
        Markdown,
        Text,
    }

    #[test]
    fn the_schema_is_plain_enough_for_every_provider() {
        let choice = json!({
            "type": "object",
            "properties": { "label": { "type": "string" } },
            "additionalProperties": false,
            "required": ["label"],
        });
        assert_eq!(
            for_model::<Input>(),
            json!({
                "type": "object",
                "properties": {
                    "filePath": { "description": "Where.", "type": "string" },
                    "limit": { "type": "integer", "minimum": 0 },
                    "choices": { "type": "array", "items": choice },
                    "nested": choice,
                    "format": { "type": "string", "enum": ["text", "markdown"] },
                    "title": { "type": "string" },
                },
                "additionalProperties": false,
                "required": ["filePath"],
            })
        );
    }

    #[test]
    fn a_wrong_field_is_named_by_its_path() {
        let input = json!({ "filePath": "a", "choices": [{ "label": "x" }, { "label": 3 }] });
        let failure = parse::<Input>("demo", input).unwrap_err();
        assert_eq!(
            failure.text,
            "The demo tool was called with arguments that do not fit its schema: \
             `choices[1].label`: invalid type: integer `3`, expected a string. \
             Call it again with arguments that fit."
        );
    }

    #[test]
    fn a_missing_and_an_unknown_field_are_quoted() {
        let missing = parse::<Input>("demo", json!({})).unwrap_err();
        assert!(
            missing.text.contains("missing field `filePath`"),
            "{}",
            missing.text
        );
        let unknown = parse::<Input>("demo", json!({ "filePath": "a", "path": "b" })).unwrap_err();
        assert!(
            unknown.text.contains("unknown field `path`"),
            "{}",
            unknown.text
        );
    }
}
