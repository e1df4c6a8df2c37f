//! Traffic patterns: the receivers of each sender of a group.

use std::borrow::Cow;
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{Deserializer, Error, MapAccess, Visitor};
use serde::{Deserialize, Serialize};
use spillgate_core::{Percent, one_key, one_key_schema};

/// A traffic pattern, by name. The receivers of sender i are the members of `to` in circular order
/// from member i on, without the sender itself.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum PatternSpec {
    /// Each packet goes to any receiver with the same probability.
    Uniform,
    /// Each sender has one receiver of its own.
    Permutation(PermutationSpec),
    /// Each packet goes to the first receiver of its sender, or else to the second.
    Diagonal(DiagonalSpec),
    /// Each packet goes to a receiver of its sender with half the probability of the receiver
    /// before.
    LogDiagonal,
    /// A share of all packets goes to one node, the others to any receiver with the same
    /// probability.
    Hotspot(HotspotSpec),
    /// Each sender has a flow to each of its receivers.
    AllToAll,
}

/// The receiver of each sender.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct PermutationSpec {
    /// Sender i sends to member i + shift, in circular order. Default: drawn at random from
    /// `runs.seed` and the name of the flows, the same in all runs and variants.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shift: Option<u32>,
}

/// How a sender divides its packets between two receivers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct DiagonalSpec {
    /// Share of the first receiver, above 0 % and below 100 %; the second has the rest. Default two
    /// thirds.
    #[serde(skip_serializing_if = "is_two_thirds")]
    pub share: Percent,
}

/// Whether it is the default, which has no exact percentage.
fn is_two_thirds(share: &Percent) -> bool {
    *share == DiagonalSpec::default().share
}

impl Default for DiagonalSpec {
    fn default() -> Self {
        Self {
            share: Percent(2.0 / 3.0),
        }
    }
}

/// The node that gets a larger share.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HotspotSpec {
    /// Share of the packets that goes to this node, above 0 % and below 100 %, beside its part of
    /// the remainder.
    pub share: Percent,
    /// The node, by its number in the group `to`. Default 0.
    #[serde(default)]
    pub member: u32,
}

/// For patterns without settings.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct NoSettings {}

/// A share with at most one decimal.
fn in_percent(share: Percent) -> String {
    let tenths = (share.0 * 1000.0).round();
    format!("{} %", tenths / 10.0)
}

const NAMES: &[&str] = &[
    "uniform",
    "permutation",
    "diagonal",
    "log-diagonal",
    "hotspot",
    "all-to-all",
];

impl PatternSpec {
    /// As it is written.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Uniform => "uniform",
            Self::Permutation(_) => "permutation",
            Self::Diagonal(_) => "diagonal",
            Self::LogDiagonal => "log-diagonal",
            Self::Hotspot(_) => "hotspot",
            Self::AllToAll => "all-to-all",
        }
    }

    /// The pattern in words; `to`: the receivers.
    pub fn in_words(&self, to: &str) -> String {
        match self {
            Self::Uniform => {
                "uniform: each packet to any receiver with the same probability".to_owned()
            }
            Self::Permutation(PermutationSpec { shift: None }) => {
                "permutation: one receiver for each sender, drawn at random".to_owned()
            }
            Self::Permutation(PermutationSpec { shift: Some(shift) }) => {
                format!("permutation: member i to member i + {shift}, counted in a circle")
            }
            Self::Diagonal(DiagonalSpec { share }) => {
                format!(
                    "diagonal: {} of the packets to the first receiver, the others to the second",
                    in_percent(*share)
                )
            }
            Self::LogDiagonal => {
                "log-diagonal: half as many packets to each receiver as to the one before"
                    .to_owned()
            }
            Self::Hotspot(HotspotSpec { share, member }) => format!(
                "hotspot: {} of the packets to `{to}-{member}`, the others to any receiver with the same probability",
                in_percent(*share)
            ),
            Self::AllToAll => "all-to-all: a flow from each sender to each receiver".to_owned(),
        }
    }

    /// Whether each packet has a receiver of its own, so that the flows of a sender are parts of
    /// one source.
    pub const fn is_by_packet(&self) -> bool {
        match self {
            Self::Uniform | Self::Diagonal(_) | Self::LogDiagonal | Self::Hotspot(_) => true,
            Self::Permutation(_) | Self::AllToAll => false,
        }
    }
}

impl<'de> Deserialize<'de> for PatternSpec {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        d.deserialize_any(V)
    }
}

struct V;

impl<'de> Visitor<'de> for V {
    type Value = PatternSpec;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a pattern of traffic: {}", NAMES.join(", "))
    }

    fn visit_str<E: Error>(self, name: &str) -> Result<PatternSpec, E> {
        Ok(match name.trim() {
            "uniform" => PatternSpec::Uniform,
            "permutation" => PatternSpec::Permutation(PermutationSpec::default()),
            "diagonal" => PatternSpec::Diagonal(DiagonalSpec::default()),
            "log-diagonal" => PatternSpec::LogDiagonal,
            "all-to-all" => PatternSpec::AllToAll,
            "hotspot" => {
                return Err(E::custom(
                    "`hotspot`: a hotspot has a share of the packets; write {hotspot: {share: 20 %}}",
                ));
            }
            other => return Err(E::unknown_variant(other, NAMES)),
        })
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<PatternSpec, A::Error> {
        let hint = format!("write one of {}", NAMES.join(", "));
        one_key(map, hint, |key, map| {
            let mut bare = |pattern| map.next_value::<NoSettings>().map(|_| pattern);
            match key {
                "uniform" => bare(PatternSpec::Uniform),
                "log-diagonal" => bare(PatternSpec::LogDiagonal),
                "all-to-all" => bare(PatternSpec::AllToAll),
                "permutation" => map.next_value().map(PatternSpec::Permutation),
                "diagonal" => map.next_value().map(PatternSpec::Diagonal),
                "hotspot" => map.next_value().map(PatternSpec::Hotspot),
                other => Err(A::Error::unknown_variant(other, NAMES)),
            }
        })
    }
}

impl JsonSchema for PatternSpec {
    fn schema_name() -> Cow<'static, str> {
        "PatternSpec".into()
    }

    fn json_schema(g: &mut SchemaGenerator) -> Schema {
        let bare = |key: &str| {
            let empty = json_schema!({ "type": "object", "additionalProperties": false });
            one_key_schema(key, "Without settings.", empty)
        };
        let permutation = g.subschema_for::<PermutationSpec>();
        let diagonal = g.subschema_for::<DiagonalSpec>();
        let hotspot = g.subschema_for::<HotspotSpec>();
        let named = |name: &str, description: &str| json_schema!({ "const": name, "description": description });
        json_schema!({
            "description": "To whom the members of a group send: the receivers of sender i are the members of `to` from member i \
                on, in a circle, without the sender itself.",
            "anyOf": [
                bare("uniform"),
                bare("log-diagonal"),
                bare("all-to-all"),
                named("uniform", "Each packet goes to any receiver with the same probability."),
                named("permutation", "Each sender has one receiver of its own, drawn at random."),
                named("diagonal", "Two thirds of the packets of a sender go to its first receiver, one third to the second."),
                named("log-diagonal", "Each packet goes to a receiver of its sender with half the probability of the receiver before."),
                named("all-to-all", "Each sender has a flow to each of its receivers."),
                one_key_schema("permutation", "Each sender has one receiver of its own.", permutation),
                one_key_schema("diagonal", "Each packet goes to the first receiver of its sender, or else to the second.", diagonal),
                one_key_schema("hotspot", "A share of all packets goes to one node, the others to any receiver with the same probability.", hotspot),
            ]
        })
    }
}
