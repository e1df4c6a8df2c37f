//! How a warm-up is written: a length of time, or `auto`.

use std::borrow::Cow;
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{Error, IntoDeserializer, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use spillgate_core::Dur;

/// How long packets are not counted.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Warmup {
    /// This length of time.
    For(Dur),
    /// Until a pilot run has settled.
    Auto,
}

impl Serialize for Warmup {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::For(time) => time.serialize(s),
            Self::Auto => s.serialize_str("auto"),
        }
    }
}

impl<'de> Deserialize<'de> for Warmup {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        struct V;
        impl Visitor<'_> for V {
            type Value = Warmup;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a length of time with its unit, or `auto`")
            }
            fn visit_str<E: Error>(self, v: &str) -> Result<Warmup, E> {
                if v == "auto" {
                    return Ok(Warmup::Auto);
                }
                Dur::deserialize(v.into_deserializer()).map(Warmup::For)
            }
            // A bare number lacks its unit: the same message as for text.
            fn visit_u64<E: Error>(self, v: u64) -> Result<Warmup, E> {
                self.visit_str(&v.to_string())
            }
            fn visit_i64<E: Error>(self, v: i64) -> Result<Warmup, E> {
                self.visit_str(&v.to_string())
            }
            fn visit_f64<E: Error>(self, v: f64) -> Result<Warmup, E> {
                self.visit_str(&v.to_string())
            }
        }
        d.deserialize_any(V)
    }
}

impl JsonSchema for Warmup {
    fn schema_name() -> Cow<'static, str> {
        "Warmup".into()
    }

    fn json_schema(g: &mut SchemaGenerator) -> Schema {
        let time = g.subschema_for::<Dur>();
        json_schema!({
            "description": "A length of time, or `auto`: until a pilot run has settled.",
            "anyOf": [time, { "description": "Found by a pilot run.", "const": "auto" }]
        })
    }
}
