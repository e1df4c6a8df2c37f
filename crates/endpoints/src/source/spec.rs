//! Traffic sources as a user writes them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use spillgate_core::{Dur, Percent, Problem, Rate, Size};

pub use super::codec::Codec;
pub use super::imix::{GenomeSpec, Imix};
pub use super::registry::SourceSpec;
pub use super::size::SizePart;
pub use super::video::{FrameWeights, SizeDistribution, VideoSpec};
pub use super::voip::{Headers, VadModel, VadSpec, VoipSpec};

/// The smallest IP packet in bytes: a bare IPv4 header (RFC 791 §3.1).
pub const MIN_PACKET: u16 = 20;
/// The largest IP packet in bytes: the total length has 16 bits (RFC 791 §3.1).
pub const MAX_PACKET: u16 = 65_535;

/// A constant bit rate source: one packet every `packet / rate`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CbrSpec {
    /// Mean rate.
    pub rate: Rate,
    /// Packet sizes.
    pub packet: PacketSizeSpec,
    /// When the first packet is sent after the flow's start; without it, uniform over one mean gap.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub phase: Option<Dur>,
    /// Each packet is moved from its place in the grid by up to this share of the gap, uniformly
    /// to both sides (0 % to 50 %, so that packets keep their order). Default 0 %.
    #[serde(default)]
    pub jitter: Percent,
}

/// Poisson arrivals: exponential gaps with mean `mean packet size / rate`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PoissonSpec {
    /// Mean rate.
    pub rate: Rate,
    /// Packet sizes.
    pub packet: PacketSizeSpec,
}

/// Slotted Bernoulli arrivals: a packet in each slot of a line with a probability, independently of
/// other slots.
///
/// A slot is what a packet takes on the line. Sources with the same `line`, `packet` and start have
/// the same slots, as the inputs of a switch that works in slots.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BernoulliSpec {
    /// Rate of the line, all of whose slots together have this rate of IP packets.
    pub line: Rate,
    /// Probability that a slot has a packet, above 0 % and up to 100 %. The mean rate is
    /// `line load`.
    pub load: Percent,
    /// Size of all packets, 20 B to 65535 B.
    pub packet: Size,
}

/// Packets that always wait in a virtual output queue of a switch: when one has crossed the fabric,
/// another one takes its place.
///
/// The sender is a neighbor of a switch with virtual output queues. Its packets are at the input of
/// the switch at once, as if over an infinitely fast line, and nowhere before.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BackloggedSpec {
    /// Size of all packets, 20 B to 65535 B.
    pub packet: Size,
}

/// Bursts at `peak` rate with random lengths, then random silences.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OnOffSpec {
    /// Rate during a burst. The mean rate is `peak on / (on + off)`.
    pub peak: Rate,
    /// Packet sizes.
    pub packet: PacketSizeSpec,
    /// Mean length of a burst, above 0 and at least a thousandth of what a packet takes at `peak`.
    pub on: Dur,
    /// Mean length of a silence.
    pub off: Dur,
    /// How the lengths are distributed.
    #[serde(default)]
    pub distribution: PeriodDistribution,
}

/// Poisson arrivals whose rate changes between two values after exponential times (MMPP-2).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MmppSpec {
    /// The high rate.
    pub high: Rate,
    /// The low rate, at most the high one. Default: nothing is sent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub low: Option<Rate>,
    /// Mean time at the high rate, above 0.
    pub high_for: Dur,
    /// Mean time at the low rate, above 0. The mean rate is
    /// `(high high_for + low low_for) / (high_for + low_for)`.
    pub low_for: Dur,
    /// Packet sizes.
    pub packet: PacketSizeSpec,
}

/// Distribution of burst and silence lengths.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum PeriodDistribution {
    /// Exponential.
    #[default]
    Exponential,
    /// Pareto with this shape, above 1 (long-range dependent sums below 2).
    Pareto(f64),
}

/// Sizes of IP packets, 20..=65535 bytes.
///
/// `packet: 1500 B` is short for `packet: {fixed: 1500 B}`, `packet: imix` for
/// `packet: {imix: simple}`, `packet: {genome: aaafg}` for `packet: {genome: {sequence: aaafg}}`.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum PacketSizeSpec {
    /// All alike.
    Fixed(Size),
    /// Drawn from a table.
    Table(Vec<WeightedSize>),
    /// A well-known mix, drawn at random.
    Imix(Imix),
    /// A sequence that repeats (RFC 6985).
    Genome(GenomeSpec),
    /// Uniform between two sizes, both included.
    Uniform(SizeRange),
    /// Exponential with this mean, rounded to whole bytes; what is below 20 B becomes 20 B, what
    /// is above 65535 B becomes 65535 B. Rates are kept with the mean that results.
    Exponential(Size),
}

/// A size and how often it occurs relative to the others.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WeightedSize {
    /// The size.
    pub size: Size,
    /// Its weight, above 0.
    pub weight: f64,
}

/// Two sizes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SizeRange {
    /// Smallest size.
    pub min: Size,
    /// Largest size.
    pub max: Size,
}

impl PacketSizeSpec {
    /// The mean size in bytes; sizes out of range count as the nearest that an IP packet has.
    pub fn mean(&self) -> f64 {
        super::size::Sizes::new(self).1
    }

    /// Their distribution in parts with shares, which add up to 1.
    pub fn parts(&self) -> Vec<(f64, SizePart)> {
        super::size::parts(self)
    }

    /// Checks sizes and weights.
    ///
    /// # Errors
    /// The first value out of range, with its path below the packet sizes.
    pub(super) fn check(&self) -> Result<(), Problem> {
        match self {
            Self::Fixed(s) => check_size("fixed", *s),
            Self::Exponential(s) => check_size("exponential", *s),
            Self::Imix(_) => Ok(()),
            Self::Genome(genome) => genome.packets().map(drop).map_err(|p| p.under("genome")),
            Self::Uniform(r) => {
                check_size("uniform.min", r.min)?;
                check_size("uniform.max", r.max)?;
                if r.min > r.max {
                    return Err(Problem::new(
                        "uniform.min",
                        r.min,
                        format!("the smallest size is above the largest, {}", r.max),
                        "write min and max so that min is not above max",
                    ));
                }
                Ok(())
            }
            Self::Table(rows) => {
                if rows.is_empty() {
                    return Err(Problem::new(
                        "table",
                        "[]",
                        "the table is empty",
                        "write at least one row such as {size: 1500 B, weight: 1}",
                    ));
                }
                for (i, row) in rows.iter().enumerate() {
                    check_size(format!("table[{i}].size"), row.size)?;
                    if !(row.weight.is_finite() && row.weight > 0.0) {
                        return Err(Problem::new(
                            format!("table[{i}].weight"),
                            row.weight,
                            "a weight must be above 0 and finite",
                            "write a number such as 7",
                        ));
                    }
                }
                Ok(())
            }
        }
    }
}

/// The length of a packet of this size, or the nearest that a packet can have.
pub(super) fn size_in_range(s: Size) -> u16 {
    s.0.clamp(MIN_PACKET.into(), MAX_PACKET.into()) as u16
}

pub(super) fn check_size(path: impl Into<String>, s: Size) -> Result<(), Problem> {
    if (u64::from(MIN_PACKET)..=u64::from(MAX_PACKET)).contains(&s.0) {
        return Ok(());
    }
    Err(Problem::new(
        path,
        s,
        format!("an IP packet has {MIN_PACKET} to {MAX_PACKET} bytes"),
        "write a size such as 1500 B",
    ))
}
