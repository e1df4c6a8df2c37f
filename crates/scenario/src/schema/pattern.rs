//! Traffic patterns: the receivers of each sender of a group.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use spillgate_core::Percent;

/// A traffic pattern, by name. The receivers of sender i are the members of `to` in circular order
/// from member i on, without the sender itself.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
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

/// A share with at most one decimal.
fn in_percent(share: Percent) -> String {
    let tenths = (share.0 * 1000.0).round();
    format!("{} %", tenths / 10.0)
}

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
