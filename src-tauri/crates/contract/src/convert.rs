//! JSON to protobuf and back, by the names of the fields.
//!
//! A value goes into its field only if it comes back from there as it was. Everything else is in
//! `extra` as JSON text; a plain field that the JSON does not have is named in `absent`, because
//! protobuf cannot tell it from an empty one.

use std::collections::HashMap;
use std::sync::LazyLock;

use lathe_protocol::proto::{ProtoUnion, TOOL_UNIONS, UNIONS};
use prost::Message;
use prost_reflect::{
    DescriptorPool, DynamicMessage, FieldDescriptor, Kind, MapKey, MessageDescriptor,
    ReflectMessage, Value as Field,
};
use serde_json::{Map, Number, Value};

const PACKAGE: &str = "opencode.message";
const STRUCT: &str = "google.protobuf.Struct";
const EXTRA: &str = "extra";
const ABSENT: &str = "absent";
/// Deeper JSON is kept as text: the decoder of protobuf has such a limit, too.
const MAX_DEPTH: usize = 24;
const MAX_EXACT: f64 = 9_007_199_254_740_992.0;

#[derive(Debug, thiserror::Error)]
pub enum ConvertError {
    #[error("there is no message {0}")]
    NoMessage(String),
    #[error("the message can’t be read: {0}")]
    Decode(#[from] prost::DecodeError),
    #[error("{0} is not a JSON object")]
    NoObject(&'static str),
}

static POOL: LazyLock<Option<DescriptorPool>> = LazyLock::new(|| {
    let bytes: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/descriptor.bin"));
    DescriptorPool::decode(bytes).ok()
});

fn descriptor(name: &str) -> Result<MessageDescriptor, ConvertError> {
    let pool = POOL.as_ref();
    let found = pool.and_then(|pool| pool.get_message_by_name(&format!("{PACKAGE}.{name}")));
    found.ok_or_else(|| ConvertError::NoMessage(name.to_owned()))
}

fn union_of(descriptor: &MessageDescriptor) -> Option<&'static ProtoUnion> {
    let mut unions = UNIONS.iter().chain(TOOL_UNIONS);
    unions.find(|union| union.name == descriptor.name())
}

/// A message of the contract, such as `Part`, from its JSON form.
pub fn to_protobuf<M: Message + Default>(name: &str, json: &Value) -> Result<M, ConvertError> {
    let message = encode(&descriptor(name)?, json, 0);
    let message = message.ok_or(ConvertError::NoObject("The value"))?;
    Ok(M::decode(message.encode_to_vec().as_slice())?)
}

/// The JSON form of a message.
pub fn to_json<M: Message>(name: &str, message: &M) -> Result<Value, ConvertError> {
    let bytes = message.encode_to_vec();
    let message = DynamicMessage::decode(descriptor(name)?, bytes.as_slice())?;
    Ok(decode(&message))
}

fn encode(descriptor: &MessageDescriptor, json: &Value, depth: usize) -> Option<DynamicMessage> {
    let object = json.as_object()?;
    let mut message = DynamicMessage::new(descriptor.clone());
    if let Some(union) = union_of(descriptor) {
        let kind = object.get(union.discriminator).and_then(Value::as_str);
        let member = union
            .members
            .iter()
            .find(|(value, _, _)| Some(*value) == kind);
        let member = member.and_then(|(_, _, field)| descriptor.get_field_by_name(field));
        let encoded = member.and_then(|field| {
            let Kind::Message(inner) = field.kind() else {
                return None;
            };
            let inner = encode(&inner, json, depth + 1)?;
            Some((field, inner))
        });
        match encoded {
            Some((field, inner)) => message.set_field(&field, Field::Message(inner)),
            None => set_extra(&mut message, object.clone()),
        }
        return Some(message);
    }
    let mut extra = Map::new();
    for (name, value) in object {
        let field = descriptor.get_field_by_json_name(name);
        let field = field.filter(|field| field.name() != EXTRA && field.name() != ABSENT);
        let set = field.and_then(|field| Some((encode_field(&field, value, depth)?, field)));
        match set {
            Some((encoded, field)) => message.set_field(&field, encoded),
            None => {
                extra.insert(name.clone(), value.clone());
            }
        }
    }
    let missing = descriptor.fields().filter(|field| {
        is_plain(field)
            && (!object.contains_key(field.json_name()) || extra.contains_key(field.json_name()))
    });
    let missing: Vec<_> = missing
        .map(|field| Field::String(field.json_name().to_owned()))
        .collect();
    if !missing.is_empty() {
        message.set_field_by_name(ABSENT, Field::List(missing));
    }
    if !extra.is_empty() {
        set_extra(&mut message, extra);
    }
    Some(message)
}

fn set_extra(message: &mut DynamicMessage, extra: Map<String, Value>) {
    let text = Value::Object(extra).to_string();
    message.set_field_by_name(EXTRA, Field::String(text));
}

/// A field whose absence protobuf does not show.
fn is_plain(field: &FieldDescriptor) -> bool {
    !field.supports_presence() && !field.is_map() && field.name() != ABSENT
}

/// `None` if the field cannot hold exactly this value.
fn encode_field(field: &FieldDescriptor, value: &Value, depth: usize) -> Option<Field> {
    if field.is_map() {
        let Kind::Message(entry) = field.kind() else {
            return None;
        };
        let kind = entry.map_entry_value_field().kind();
        let object = value.as_object().filter(|object| !object.is_empty())?;
        let pairs = object.iter().map(|(name, value)| {
            Some((
                MapKey::String(name.clone()),
                encode_value(&kind, value, depth)?,
            ))
        });
        return pairs.collect::<Option<HashMap<_, _>>>().map(Field::Map);
    }
    if field.is_list() {
        let items = value.as_array()?.iter();
        let items = items.map(|item| encode_value(&field.kind(), item, depth));
        return items.collect::<Option<Vec<_>>>().map(Field::List);
    }
    encode_value(&field.kind(), value, depth)
}

fn encode_value(kind: &Kind, value: &Value, depth: usize) -> Option<Field> {
    match kind {
        Kind::String => value.as_str().map(|text| Field::String(text.to_owned())),
        Kind::Bool => value.as_bool().map(Field::Bool),
        Kind::Double => exact(value).map(Field::F64),
        Kind::Int32 => {
            let number = exact(value).filter(|number| number.fract() == 0.0)?;
            let in_range = (f64::from(i32::MIN)..=f64::from(i32::MAX)).contains(&number);
            in_range.then_some(Field::I32(number as i32))
        }
        Kind::Message(inner) if inner.full_name() == STRUCT => {
            let object = value.as_object()?;
            fits(value, depth).then(|| Field::Message(to_struct(inner, object)))
        }
        Kind::Message(inner) => encode(inner, value, depth + 1).map(Field::Message),
        _ => None,
    }
}

/// The number if a double holds it exactly.
fn exact(value: &Value) -> Option<f64> {
    let number = value.as_f64()?;
    let is_integer = value.is_i64() || value.is_u64();
    // A negative zero would come back without its sign.
    let lost =
        (is_integer && number.abs() > MAX_EXACT) || (number == 0.0 && number.is_sign_negative());
    (!lost).then_some(number)
}

/// Whether a `Struct` holds the value exactly.
fn fits(value: &Value, depth: usize) -> bool {
    depth < MAX_DEPTH
        && match value {
            Value::Number(_) => exact(value).is_some(),
            Value::Array(items) => items.iter().all(|item| fits(item, depth + 1)),
            Value::Object(object) => object.values().all(|item| fits(item, depth + 1)),
            _ => true,
        }
}

fn to_struct(descriptor: &MessageDescriptor, object: &Map<String, Value>) -> DynamicMessage {
    let mut message = DynamicMessage::new(descriptor.clone());
    let Some(fields) = descriptor.get_field_by_name("fields") else {
        return message;
    };
    let Kind::Message(entry) = fields.kind() else {
        return message;
    };
    let Kind::Message(kind) = entry.map_entry_value_field().kind() else {
        return message;
    };
    let pairs = object.iter().map(|(name, value)| {
        let value = Field::Message(to_struct_value(&kind, value));
        (MapKey::String(name.clone()), value)
    });
    let pairs = pairs.collect();
    message.set_field(&fields, Field::Map(pairs));
    message
}

fn to_struct_value(kind: &MessageDescriptor, value: &Value) -> DynamicMessage {
    let mut message = DynamicMessage::new(kind.clone());
    let inner = |name: &str| match kind.get_field_by_name(name).map(|field| field.kind()) {
        Some(Kind::Message(inner)) => Some(inner),
        _ => None,
    };
    match value {
        Value::Null => message.set_field_by_name("null_value", Field::EnumNumber(0)),
        Value::Bool(bool) => message.set_field_by_name("bool_value", Field::Bool(*bool)),
        Value::Number(_) => {
            let number = value.as_f64().unwrap_or_default();
            message.set_field_by_name("number_value", Field::F64(number));
        }
        Value::String(text) => {
            message.set_field_by_name("string_value", Field::String(text.clone()));
        }
        Value::Array(items) => {
            if let Some(list) = inner("list_value") {
                let mut values = DynamicMessage::new(list);
                let items = items.iter();
                let items = items.map(|item| Field::Message(to_struct_value(kind, item)));
                values.set_field_by_name("values", Field::List(items.collect()));
                message.set_field_by_name("list_value", Field::Message(values));
            }
        }
        Value::Object(object) => {
            if let Some(descriptor) = inner("struct_value") {
                let inner = to_struct(&descriptor, object);
                message.set_field_by_name("struct_value", Field::Message(inner));
            }
        }
    }
    message
}

fn decode(message: &DynamicMessage) -> Value {
    let descriptor = message.descriptor();
    if descriptor.full_name() == STRUCT {
        return from_struct(message);
    }
    if union_of(&descriptor).is_some() {
        let member = message
            .fields()
            .find(|(field, _)| field.containing_oneof().is_some() && field.name() != EXTRA);
        return match member {
            Some((_, Field::Message(inner))) => decode(inner),
            _ => Value::Object(extra_of(message)),
        };
    }
    let absent = message.get_field_by_name(ABSENT);
    let absent: Vec<_> = absent
        .iter()
        .filter_map(|list| list.as_list())
        .flatten()
        .filter_map(|name| name.as_str())
        .collect();
    let mut object = Map::new();
    for field in descriptor.fields() {
        let name = field.json_name();
        if matches!(field.name(), EXTRA | ABSENT) || absent.contains(&name) {
            continue;
        }
        if message.has_field(&field) || is_plain(&field) {
            object.insert(name.to_owned(), from_field(&message.get_field(&field)));
        }
    }
    object.extend(extra_of(message));
    Value::Object(object)
}

fn extra_of(message: &DynamicMessage) -> Map<String, Value> {
    let extra = message.get_field_by_name(EXTRA);
    let text = extra.as_ref().and_then(|extra| extra.as_str());
    let parsed = text.and_then(|text| serde_json::from_str(text).ok());
    parsed.unwrap_or_default()
}

fn from_field(field: &Field) -> Value {
    match field {
        Field::String(text) => Value::String(text.clone()),
        Field::Bool(bool) => Value::Bool(*bool),
        Field::F64(number) => from_double(*number),
        Field::I32(number) => Value::from(*number),
        Field::Message(message) => decode(message),
        Field::List(items) => items.iter().map(from_field).collect(),
        Field::Map(pairs) => {
            let mut sorted: Vec<_> = pairs.iter().collect();
            sorted.sort_by_key(|(key, _)| key.as_str().unwrap_or_default().to_owned());
            let pairs = sorted.into_iter().map(|(key, value)| {
                let key = key.as_str().unwrap_or_default().to_owned();
                (key, from_field(value))
            });
            Value::Object(pairs.collect())
        }
        _ => Value::Null,
    }
}

/// Whole numbers without a point, as JSON usually has them.
fn from_double(number: f64) -> Value {
    if number.fract() == 0.0 && number.abs() <= MAX_EXACT {
        return Value::from(number as i64);
    }
    Number::from_f64(number).map_or(Value::Null, Value::Number)
}

fn from_struct(message: &DynamicMessage) -> Value {
    let fields = message.get_field_by_name("fields");
    let pairs = fields.as_ref().and_then(|fields| fields.as_map());
    let mut pairs: Vec<_> = pairs.into_iter().flatten().collect();
    pairs.sort_by_key(|(key, _)| key.as_str().unwrap_or_default().to_owned());
    let pairs = pairs.into_iter().filter_map(|(key, value)| {
        Some((
            key.as_str()?.to_owned(),
            from_struct_value(value.as_message()?),
        ))
    });
    Value::Object(pairs.collect())
}

fn from_struct_value(message: &DynamicMessage) -> Value {
    let Some((field, value)) = message.fields().next() else {
        return Value::Null;
    };
    match (field.name(), value) {
        ("list_value", Field::Message(list)) => {
            let values = list.get_field_by_name("values");
            let values = values.as_ref().and_then(|values| values.as_list());
            let values = values.into_iter().flatten();
            values
                .filter_map(|value| value.as_message())
                .map(from_struct_value)
                .collect()
        }
        ("struct_value", Field::Message(inner)) => from_struct(inner),
        (_, value) => from_field(value),
    }
}
