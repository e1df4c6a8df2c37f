//! How [`PacketSizeSpec`] is read: text for the common cases, a table with one
//! key for the others.

use std::borrow::Cow;
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{Deserialize, Deserializer, Error, MapAccess, Visitor};
use spillgate_core::units::parse_size;
use spillgate_core::{Or, Size};

use super::spec::{GenomeSpec, Imix, PacketSizeSpec, SizeRange, VadSpec, WeightedSize};

const KINDS: &[&str] = &["fixed", "table", "imix", "genome", "uniform", "exponential"];
const VALID: &str = "write a size such as 1500 B, imix, or one of {fixed: 1500 B}, \
    {table: [{size: 40 B, weight: 7}, ...]}, {imix: simple}, {genome: 7a4d1g}, \
    {uniform: {min: 64 B, max: 1500 B}}, {exponential: 500 B}";

impl<'de> Deserialize<'de> for PacketSizeSpec {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        d.deserialize_any(V)
    }
}

struct V;

impl<'de> Visitor<'de> for V {
    type Value = PacketSizeSpec;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("packet sizes: a size such as 1500 B, imix, or a table with one of the keys ")?;
        f.write_str(&KINDS.join(", "))
    }

    fn visit_str<E: Error>(self, v: &str) -> Result<PacketSizeSpec, E> {
        if v.trim() == "imix" {
            return Ok(PacketSizeSpec::Imix(Imix::Simple));
        }
        match parse_size(v) {
            Ok(bytes) => Ok(PacketSizeSpec::Fixed(Size(bytes))),
            Err(e) => Err(E::custom(format_args!(
                "`{}`: {}; {VALID}",
                e.found, e.message
            ))),
        }
    }

    // A bare number lacks its unit: the same message as for text.
    fn visit_u64<E: Error>(self, v: u64) -> Result<PacketSizeSpec, E> {
        self.visit_str(&v.to_string())
    }

    fn visit_i64<E: Error>(self, v: i64) -> Result<PacketSizeSpec, E> {
        self.visit_str(&v.to_string())
    }

    fn visit_f64<E: Error>(self, v: f64) -> Result<PacketSizeSpec, E> {
        self.visit_str(&v.to_string())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<PacketSizeSpec, A::Error> {
        let Some(key) = map.next_key::<String>()? else {
            return Err(A::Error::custom(format_args!(
                "`{{}}`: an empty table; {VALID}"
            )));
        };
        let sizes = match &*key {
            "fixed" => map.next_value().map(PacketSizeSpec::Fixed),
            "table" => map.next_value().map(PacketSizeSpec::Table),
            "imix" => map.next_value().map(PacketSizeSpec::Imix),
            "genome" => map.next_value().map(|genome| {
                PacketSizeSpec::Genome(match genome {
                    Or::Short(sequence) => GenomeSpec::of(sequence),
                    Or::Full(spec) => spec,
                })
            }),
            "uniform" => map.next_value().map(PacketSizeSpec::Uniform),
            "exponential" => map.next_value().map(PacketSizeSpec::Exponential),
            other => Err(A::Error::unknown_variant(other, KINDS)),
        }?;
        match map.next_key::<String>()? {
            None => Ok(sizes),
            Some(second) => Err(A::Error::custom(format_args!(
                "`{key}` and `{second}` exclude each other: only one key may stand here"
            ))),
        }
    }
}

impl JsonSchema for PacketSizeSpec {
    fn schema_name() -> Cow<'static, str> {
        "PacketSizeSpec".into()
    }

    fn json_schema(g: &mut SchemaGenerator) -> Schema {
        let size = g.subschema_for::<Size>();
        let table = g.subschema_for::<Vec<WeightedSize>>();
        let imix = g.subschema_for::<Imix>();
        let genome = g.subschema_for::<Or<String, GenomeSpec>>();
        let range = g.subschema_for::<SizeRange>();
        let kind = |key: &str, description: &str, value: Schema| {
            json_schema!({
                "type": "object",
                "description": description,
                "properties": { key: value },
                "required": [key],
                "additionalProperties": false
            })
        };
        json_schema!({
            "description": "Sizes of IP packets, 20 to 65535 bytes.",
            "anyOf": [
                { "description": "All alike.", "allOf": [size] },
                { "description": "Short for {imix: simple}.", "const": "imix" },
                kind("fixed", "All alike.", size.clone()),
                kind("table", "Drawn from a table with at least one row.", table),
                kind("imix", "A well-known mix, drawn at random.", imix),
                kind("genome", "A sequence that repeats (RFC 6985), as text or as a table.", genome),
                kind("uniform", "Uniform between two sizes, both included.", range),
                kind("exponential", "Exponential with this mean, rounded and cut to 20..=65535 bytes.", size.clone()),
            ]
        })
    }
}

/// `vad: p59` as well as `vad: {model: p59}`.
pub(super) fn vad<'de, D: Deserializer<'de>>(d: D) -> Result<Option<VadSpec>, D::Error> {
    Ok(Some(match Or::deserialize(d)? {
        Or::Short(model) => VadSpec::of(model),
        Or::Full(spec) => spec,
    }))
}
