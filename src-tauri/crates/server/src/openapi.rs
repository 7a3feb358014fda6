//! The description of the routes as an OpenAPI document, generated from the table and the types.

use axum::Json;
use schemars::generate::SchemaSettings;
use serde_json::{Map, Value, json};

use crate::reply::Answer;
use crate::routes::{ROUTES, Route};

const COMPONENTS: &str = "#/components/schemas/";

pub async fn document() -> Answer {
    Ok(Json(describe()))
}

fn describe() -> Value {
    let mut generator = SchemaSettings::openapi3().into_generator();
    let mut paths = Map::new();
    for route in ROUTES {
        let body = route.body.map(|schema| schema(&mut generator));
        let methods = paths.entry(route.path).or_insert_with(|| json!({}));
        methods[route.method.to_ascii_lowercase()] = operation(route, body.map(Into::into));
    }
    let mut schemas = generator.take_definitions(true);
    for (name, schema) in lathe_protocol::schema::all() {
        let mut schema: Value = schema.into();
        let definitions = schema.as_object_mut().and_then(|schema| {
            schema.remove("$schema");
            schema.remove("definitions")
        });
        if let Some(Value::Object(definitions)) = definitions {
            for (name, schema) in definitions {
                schemas.entry(name).or_insert(schema);
            }
        }
        schemas.insert(name.to_owned(), schema);
    }
    let mut schemas = Value::Object(schemas);
    move_references(&mut schemas);
    json!({
        "openapi": "3.1.1",
        "info": { "title": "Lathe", "version": env!("CARGO_PKG_VERSION") },
        "security": [{ "basic": [] }],
        "paths": paths,
        "components": {
            "securitySchemes": { "basic": { "type": "http", "scheme": "basic" } },
            "schemas": schemas,
        },
    })
}

fn operation(route: &Route, body: Option<Value>) -> Value {
    let names = route.path.split('/').filter_map(|segment| {
        let name = segment.strip_prefix('{')?.strip_suffix('}')?;
        let schema = json!({ "type": "string" });
        Some(json!({ "name": name, "in": "path", "required": true, "schema": schema }))
    });
    let mut parameters: Vec<_> = names.collect();
    parameters.push(json!({
        "name": "directory",
        "in": "query",
        "schema": { "type": "string" },
    }));
    let error = json!({
        "description": "Why it was not done",
        "content": { "application/json": { "schema": {
            "type": "object",
            "properties": { "name": { "type": "string" }, "data": { "type": "object" } },
        } } },
    });
    let mut operation = json!({
        "summary": route.purpose,
        "operationId": format!("{} {}", route.method.to_ascii_lowercase(), route.path),
        "parameters": parameters,
        "responses": { "200": { "description": route.purpose }, "default": error },
    });
    if let Some(schema) = body {
        operation["requestBody"] =
            json!({ "content": { "application/json": { "schema": schema } } });
    }
    operation
}

/// From where a schema file has its definitions to where this document has them.
fn move_references(value: &mut Value) {
    match value {
        Value::Object(object) => {
            if let Some(Value::String(reference)) = object.get_mut("$ref")
                && let Some(name) = reference.strip_prefix("#/definitions/")
            {
                *reference = format!("{COMPONENTS}{name}");
            }
            object.values_mut().for_each(move_references);
        }
        Value::Array(items) => items.iter_mut().for_each(move_references),
        _ => {}
    }
}
