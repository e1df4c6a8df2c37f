//! The bytes that rates of a link's policies count.

use std::borrow::Cow;
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserializer, Error, IntoDeserializer, MapAccess, Visitor};
use serde::{Deserialize, Serialize, Serializer};
use spillgate_core::Overhead;
use spillgate_queueing::Counting;

/// The overhead that rates of a link's policies count beside the IP packet: one for all rates, or
/// one for policers and one for queues.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PolicyOverhead(pub Counting);

/// The overhead that each part of a policy counts.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PartsSpec {
    /// The overhead for `police` and the policer of `priority`. Default: that of the link.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub police: Option<Overhead>,
    /// The overhead for `shape` and the shares of classes (`bandwidth`). Default: that of the link.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub queue: Option<Overhead>,
}

impl Serialize for PolicyOverhead {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        let Counting { policers, queues } = self.0;
        match policers {
            Some(all) if policers == queues => all.serialize(s),
            _ => PartsSpec {
                police: policers,
                queue: queues,
            }
            .serialize(s),
        }
    }
}

impl<'de> Deserialize<'de> for PolicyOverhead {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        struct V;
        impl<'de> Visitor<'de> for V {
            type Value = PolicyOverhead;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("what is added to a packet, or {police: .., queue: ..}")
            }
            fn visit_str<E: Error>(self, v: &str) -> Result<PolicyOverhead, E> {
                let all = Overhead::deserialize(v.into_deserializer())?;
                Ok(PolicyOverhead(Counting {
                    policers: Some(all),
                    queues: Some(all),
                }))
            }
            // A bare number lacks its unit: the same message as for text.
            fn visit_u64<E: Error>(self, v: u64) -> Result<PolicyOverhead, E> {
                self.visit_str(&v.to_string())
            }
            fn visit_i64<E: Error>(self, v: i64) -> Result<PolicyOverhead, E> {
                self.visit_str(&v.to_string())
            }
            fn visit_f64<E: Error>(self, v: f64) -> Result<PolicyOverhead, E> {
                self.visit_str(&v.to_string())
            }
            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<PolicyOverhead, A::Error> {
                let parts = PartsSpec::deserialize(MapAccessDeserializer::new(map))?;
                Ok(PolicyOverhead(Counting {
                    policers: parts.police,
                    queues: parts.queue,
                }))
            }
        }
        d.deserialize_any(V)
    }
}

impl JsonSchema for PolicyOverhead {
    fn schema_name() -> Cow<'static, str> {
        "PolicyOverhead".into()
    }

    fn json_schema(g: &mut SchemaGenerator) -> Schema {
        let (all, parts) = (
            g.subschema_for::<Overhead>(),
            g.subschema_for::<PartsSpec>(),
        );
        json_schema!({
            "description": "What the rates of a link's policies count beside the IP packet: one overhead for all, or one for policers and one for queues.",
            "anyOf": [all, parts]
        })
    }
}
