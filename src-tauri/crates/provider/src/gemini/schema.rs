//! Reduces JSON Schema to the subset that Gemini accepts.
//!
//! Its `parameters` are a subset of OpenAPI 3.0: no references, no `const`, no lists of types,
//! and an unknown keyword is an error. What cannot be expressed is dropped, because arguments
//! are checked against the full schema before a tool runs anyway.

use serde_json::{Map, Value, json};

/// Keywords that are copied unchanged.
const COPIED: [&str; 13] = [
    "title",
    "description",
    "default",
    "minimum",
    "maximum",
    "minLength",
    "maxLength",
    "pattern",
    "minItems",
    "maxItems",
    "minProperties",
    "maxProperties",
    "nullable",
];

/// Ends recursive references.
const MAX_DEPTH: usize = 12;

/// `None` for a tool without parameters: the API refuses an object without properties.
pub(super) fn parameters(schema: &Value) -> Option<Value> {
    let cleaned = Cleaner { root: schema }.clean(schema, 0);
    let properties = cleaned.get("properties").and_then(Value::as_object);
    properties
        .is_some_and(|properties| !properties.is_empty())
        .then_some(cleaned)
}

struct Cleaner<'a> {
    root: &'a Value,
}

impl Cleaner<'_> {
    fn clean(&self, schema: &Value, depth: usize) -> Value {
        let Some(schema) = schema.as_object() else {
            // `true` and `false` are valid schemas; the subset has no equivalent.
            return json!({ "type": "string" });
        };
        if depth > MAX_DEPTH {
            return json!({ "type": "object" });
        }
        let schema = self.flatten(schema, depth);
        let mut cleaned = Map::new();
        for key in COPIED {
            if let Some(value) = schema.get(key) {
                cleaned.insert(key.to_owned(), value.clone());
            }
        }
        self.set_type(&schema, &mut cleaned);
        self.set_choices(&schema, &mut cleaned, depth);
        set_enum(&schema, &mut cleaned);
        set_format(&schema, &mut cleaned);
        self.set_children(&schema, &mut cleaned, depth);
        Value::Object(cleaned)
    }

    /// Resolves references and merges `allOf`; the schema's own keywords win.
    fn flatten(&self, schema: &Map<String, Value>, depth: usize) -> Map<String, Value> {
        let mut flat = Map::new();
        let mut bases = Vec::new();
        if let Some(target) = schema.get("$ref").and_then(Value::as_str) {
            bases.extend(self.resolve(target));
        }
        if let Some(Value::Array(all)) = schema.get("allOf") {
            bases.extend(all);
        }
        for base in bases.into_iter().filter_map(Value::as_object) {
            if depth <= MAX_DEPTH {
                merge_schema(&mut flat, self.flatten(base, depth + 1));
            }
        }
        let mut own = schema.clone();
        own.shift_remove("$ref");
        own.shift_remove("allOf");
        merge_schema(&mut flat, own);
        flat
    }

    fn resolve(&self, target: &str) -> Option<&Value> {
        self.root.pointer(target.strip_prefix('#')?)
    }

    fn set_type(&self, schema: &Map<String, Value>, cleaned: &mut Map<String, Value>) {
        let names: Vec<&str> = match schema.get("type") {
            Some(Value::String(name)) => vec![name],
            Some(Value::Array(names)) => names.iter().filter_map(Value::as_str).collect(),
            _ => Vec::new(),
        };
        if names.contains(&"null") {
            cleaned.insert("nullable".into(), json!(true));
        }
        let named = names.into_iter().find(|name| *name != "null");
        let guessed = || match schema {
            schema if schema.contains_key("properties") => Some("object"),
            schema if schema.contains_key("items") => Some("array"),
            schema if schema.contains_key("enum") || schema.contains_key("const") => Some("string"),
            schema if choices(schema).is_some() => None,
            _ => Some("string"),
        };
        if let Some(name) = named.or_else(guessed) {
            cleaned.insert("type".into(), json!(name));
        }
    }

    /// `oneOf` and `anyOf`; a `null` choice becomes the `nullable` flag.
    fn set_choices(
        &self,
        schema: &Map<String, Value>,
        cleaned: &mut Map<String, Value>,
        depth: usize,
    ) {
        let Some(choices) = choices(schema) else {
            return;
        };
        let (null, real): (Vec<&Value>, Vec<&Value>) = choices
            .iter()
            .partition(|choice| choice.get("type").is_some_and(|name| name == "null"));
        if !null.is_empty() {
            cleaned.insert("nullable".into(), json!(true));
        }
        let mut real: Vec<Value> = real
            .into_iter()
            .map(|choice| self.clean(choice, depth + 1))
            .collect();
        if real.len() > 1 {
            cleaned.insert("anyOf".into(), Value::Array(real));
        } else if let Some(Value::Object(only)) = real.pop() {
            for (key, value) in only {
                cleaned.entry(key).or_insert(value);
            }
        }
    }

    fn set_children(
        &self,
        schema: &Map<String, Value>,
        cleaned: &mut Map<String, Value>,
        depth: usize,
    ) {
        if let Some(Value::Object(properties)) = schema.get("properties") {
            let properties: Map<String, Value> = properties
                .iter()
                .map(|(name, property)| (name.clone(), self.clean(property, depth + 1)))
                .collect();
            if let Some(Value::Array(required)) = schema.get("required") {
                let known = |name: &&Value| {
                    name.as_str()
                        .is_some_and(|name| properties.contains_key(name))
                };
                let required: Vec<Value> = required.iter().filter(known).cloned().collect();
                if !required.is_empty() {
                    cleaned.insert("required".into(), Value::Array(required));
                }
            }
            cleaned.insert("properties".into(), Value::Object(properties));
        }
        if cleaned.get("type").is_some_and(|name| name == "array") {
            let items = schema.get("items").unwrap_or(&Value::Null);
            cleaned.insert("items".into(), self.clean(items, depth + 1));
        }
    }
}

fn merge_schema(flat: &mut Map<String, Value>, own: Map<String, Value>) {
    for (key, value) in own {
        match (flat.get_mut(&key), value) {
            (Some(Value::Object(base)), Value::Object(own)) if key == "properties" => {
                base.extend(own);
            }
            (Some(Value::Array(base)), Value::Array(own)) if key == "required" => base.extend(own),
            (_, value) => {
                flat.insert(key, value);
            }
        }
    }
}

fn choices(schema: &Map<String, Value>) -> Option<&Vec<Value>> {
    let choices = schema.get("anyOf").or_else(|| schema.get("oneOf"))?;
    choices.as_array().filter(|choices| !choices.is_empty())
}

/// Only strings can be enumerated.
fn set_enum(schema: &Map<String, Value>, cleaned: &mut Map<String, Value>) {
    let listed = match (schema.get("const"), schema.get("enum")) {
        (Some(only), _) => vec![only.clone()],
        (None, Some(Value::Array(listed))) => listed.clone(),
        (None, _) => return,
    };
    let texts: Vec<Value> = listed.into_iter().filter(Value::is_string).collect();
    let is_text = cleaned.get("type").is_some_and(|name| name == "string");
    if is_text && !texts.is_empty() {
        cleaned.insert("enum".into(), Value::Array(texts));
    }
}

fn set_format(schema: &Map<String, Value>, cleaned: &mut Map<String, Value>) {
    const KNOWN: [&str; 5] = ["date-time", "int32", "int64", "float", "double"];
    let format = schema.get("format").and_then(Value::as_str);
    if let Some(format) = format.filter(|format| KNOWN.contains(format)) {
        cleaned.insert("format".into(), json!(format));
    }
}
