//! How [`CcSpec`] is read: a name, or a table with the name as its one key.

use std::borrow::Cow;
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{Deserialize, Deserializer, Error, MapAccess, Visitor};

use super::registry::{CcSpec, NAMES};

impl<'de> Deserialize<'de> for CcSpec {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        d.deserialize_any(V)
    }
}

struct V;

impl<'de> Visitor<'de> for V {
    type Value = CcSpec;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "a congestion control: one of {}, or a table with one of them as its key",
            NAMES.join(", ")
        )
    }

    fn visit_str<E: Error>(self, v: &str) -> Result<CcSpec, E> {
        CcSpec::by_name(v.trim()).ok_or_else(|| E::unknown_variant(v, NAMES))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<CcSpec, A::Error> {
        let Some(key) = map.next_key::<String>()? else {
            return Err(A::Error::custom(format_args!(
                "an empty table; write one of {}",
                NAMES.join(", ")
            )));
        };
        let Some(spec) = CcSpec::read(&key, &mut map)? else {
            return Err(A::Error::unknown_variant(&key, NAMES));
        };
        match map.next_key::<String>()? {
            None => Ok(spec),
            Some(second) => Err(A::Error::custom(format_args!(
                "`{key}` and `{second}` exclude each other: only one key may stand here"
            ))),
        }
    }
}

impl JsonSchema for CcSpec {
    fn schema_name() -> Cow<'static, str> {
        "CcSpec".into()
    }

    fn json_schema(g: &mut SchemaGenerator) -> Schema {
        let mut any = vec![json_schema!({
            "description": "An algorithm with its default parameters.",
            "enum": NAMES
        })];
        for (kind, summary, schema) in Self::schemas(g) {
            any.push(json_schema!({
                "type": "object",
                "description": format!("{summary}."),
                "properties": { kind: schema },
                "required": [kind],
                "additionalProperties": false
            }));
        }
        json_schema!({
            "description": "Congestion control: a name, or a table with the name as its one key.",
            "anyOf": any
        })
    }
}
