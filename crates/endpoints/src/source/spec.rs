//! Traffic sources as a user writes them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use spillgate_core::{Dur, Percent, Rate, Size};

/// What a flow sends. Rates count IP packets (the network layer), without link overhead.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum SourceSpec {
    /// Constant bit rate.
    Cbr(CbrSpec),
    /// Poisson arrivals.
    Poisson(PoissonSpec),
    /// Constant bit rate during bursts whose lengths and pauses are random.
    OnOff(OnOffSpec),
}

/// A constant bit rate source: one packet every `packet / rate`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CbrSpec {
    /// Mean rate.
    pub rate: Rate,
    /// Packet sizes.
    pub packet: PacketSizeSpec,
    /// When the first packet is sent after the flow's start; without it, uniform over one gap.
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

/// Bursts at `peak` rate with random lengths, then random silences.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OnOffSpec {
    /// Rate during a burst. The mean rate is `peak on / (on + off)`.
    pub peak: Rate,
    /// Packet sizes.
    pub packet: PacketSizeSpec,
    /// Mean length of a burst, above 0.
    pub on: Dur,
    /// Mean length of a silence.
    pub off: Dur,
    /// How the lengths are distributed.
    #[serde(default)]
    pub distribution: PeriodDistribution,
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

/// Sizes of IP packets.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum PacketSizeSpec {
    /// All alike.
    Fixed(Size),
    /// Drawn from a table.
    Table(Vec<WeightedSize>),
    /// A well-known mix.
    Imix(Imix),
    /// Uniform between two sizes, both included.
    Uniform(SizeRange),
    /// Exponential with this mean, cut to 20..=65535 bytes and rounded to whole bytes.
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

/// Internet mixes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Imix {
    /// 7 : 4 : 1 of 40, 576 and 1500 bytes (mean 340.3 B).
    Simple,
}
