//! How [`CcSpec`] is read: a name, or a table with the name as its one key.

use std::borrow::Cow;
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{Deserialize, Deserializer, Error, MapAccess, Visitor};

use spillgate_core::{one_key, one_key_schema};

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

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<CcSpec, A::Error> {
        let hint = format!("write one of {}", NAMES.join(", "));
        one_key(map, hint, |key, map| {
            CcSpec::read(key, map)?.ok_or_else(|| A::Error::unknown_variant(key, NAMES))
        })
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
            any.push(one_key_schema(kind, &format!("{summary}."), schema));
        }
        json_schema!({
            "description": "Congestion control: a name, or a table with the name as its one key.",
            "anyOf": any
        })
    }
}
