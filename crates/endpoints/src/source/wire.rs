//! How [`PacketSizeSpec`] is read: text for the common cases, a table with one
//! key for the others.

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserialize, Deserializer, Error, MapAccess, Visitor};
use spillgate_core::units::parse_size;
use spillgate_core::{Size, one_key, one_key_schema};

use super::spec::{GenomeSpec, Imix, PacketSizeSpec, SizeRange, VadModel, VadSpec, WeightedSize};

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

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<PacketSizeSpec, A::Error> {
        one_key(map, VALID, |key, map| match key {
            "fixed" => map.next_value().map(PacketSizeSpec::Fixed),
            "table" => map.next_value().map(PacketSizeSpec::Table),
            "imix" => map.next_value().map(PacketSizeSpec::Imix),
            "genome" => map
                .next_value::<TextOr<_>>()
                .map(|g| PacketSizeSpec::Genome(g.0)),
            "uniform" => map.next_value().map(PacketSizeSpec::Uniform),
            "exponential" => map.next_value().map(PacketSizeSpec::Exponential),
            other => Err(A::Error::unknown_variant(other, KINDS)),
        })
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
        let genome = json_schema!({
            "anyOf": [{ "type": "string" }, g.subschema_for::<GenomeSpec>()]
        });
        let range = g.subschema_for::<SizeRange>();
        json_schema!({
            "description": "Sizes of IP packets, 20 to 65535 bytes.",
            "anyOf": [
                { "description": "All alike.", "allOf": [size] },
                { "description": "Short for {imix: simple}.", "const": "imix" },
                one_key_schema("fixed", "All alike.", size.clone()),
                one_key_schema("table", "Drawn from a table with at least one row.", table),
                one_key_schema("imix", "A well-known mix, drawn at random.", imix),
                one_key_schema("genome", "A sequence that repeats (RFC 6985), as text or as a table.", genome),
                one_key_schema("uniform", "Uniform between two sizes, both included.", range),
                one_key_schema("exponential", "Exponential with this mean, rounded and cut to 20..=65535 bytes.", size.clone()),
            ]
        })
    }
}

/// What text alone stands for, where a table says more.
trait FromText: Sized {
    const EXPECTED: &'static str;
    fn from_text(text: &str) -> Result<Self, String>;
}

impl FromText for GenomeSpec {
    const EXPECTED: &'static str = "a genome such as aaafg, or a table with its `sequence`";
    fn from_text(text: &str) -> Result<Self, String> {
        Ok(Self::of(text))
    }
}

impl FromText for VadSpec {
    const EXPECTED: &'static str =
        "a model of speech such as p59, or a table such as {talk: 1 s, pause: 1.5 s}";
    fn from_text(text: &str) -> Result<Self, String> {
        match VadModel::by_name(text.trim()) {
            Some(model) => Ok(Self::of(model)),
            None => Err(format!(
                "`{text}` is not a model of speech; write p59, sriram-whitt, or a table such as \
                 {{talk: 1 s, pause: 1.5 s}}"
            )),
        }
    }
}

/// A value written as text, or as the table that its own deserializer reads.
pub(super) struct TextOr<T>(pub(super) T);

impl<'de, T: FromText + Deserialize<'de>> Deserialize<'de> for TextOr<T> {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        struct Or<T>(PhantomData<T>);
        impl<'de, T: FromText + Deserialize<'de>> Visitor<'de> for Or<T> {
            type Value = TextOr<T>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(T::EXPECTED)
            }
            fn visit_str<E: Error>(self, text: &str) -> Result<TextOr<T>, E> {
                T::from_text(text).map(TextOr).map_err(E::custom)
            }
            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<TextOr<T>, A::Error> {
                T::deserialize(MapAccessDeserializer::new(map)).map(TextOr)
            }
        }
        d.deserialize_any(Or(PhantomData))
    }
}

/// `vad: p59` as well as `vad: {model: p59}`.
pub(super) fn vad<'de, D: Deserializer<'de>>(d: D) -> Result<Option<VadSpec>, D::Error> {
    TextOr::deserialize(d).map(|v| Some(v.0))
}
