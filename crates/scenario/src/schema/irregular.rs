//! Links with a varying rate, random loss, or reordering.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use spillgate_core::{Dur, Percent, RateOrZero};

/// How the rate of a link's server varies. A change affects the packet in transmission at once.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum RateProcessSpec {
    /// Rates from given times on.
    Schedule(ScheduleSpec),
    /// Rates from a table: comma-separated values with the columns `time` and `rate`, such as
    /// `0.5 s, 12 Mb/s`, with increasing times. The last rate holds as long as the one before it.
    Trace(TraceSpec),
    /// Delivery opportunities in the format of Mahimahi: each line is a time in whole milliseconds
    /// at which 1,500 bytes can leave; times do not decrease. The unused part of an opportunity is
    /// lost if no packet waits. The last line is the length of the trace.
    Mahimahi(TraceSpec),
    /// Random: the link's rate and another rate alternate, for exponentially distributed times.
    OnOff(OnOffSpec),
}

/// Rates from given times on; before the first time the link's own rate.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ScheduleSpec {
    /// The changes, in increasing order of time.
    pub steps: Vec<StepSpec>,
    /// The schedule repeats after this time, from the beginning of the run. Default: the last rate
    /// holds for ever, and must not be 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub repeat: Option<Dur>,
}

/// A change of rate.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StepSpec {
    /// When, from the beginning of the run or of the repetition.
    pub at: Dur,
    /// The rate from then on.
    pub rate: RateOrZero,
}

/// A recorded trace.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TraceSpec {
    /// The file, relative to the scenario file.
    pub file: String,
    /// Whether the trace may repeat. Default: no; it must then cover the warm-up and the measured
    /// period. After these it repeats in any case.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub repeat: bool,
}

/// A server that is slower, or stands still, for random times.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OnOffSpec {
    /// Mean length of a period with the link's `rate`. The state at the beginning has its
    /// stationary probability.
    pub on: Dur,
    /// Mean length of a period with the other rate.
    pub off: Dur,
    /// The other rate. Default 0 b/s.
    #[serde(default)]
    pub off_rate: RateOrZero,
}

/// Random loss.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum LossSpec {
    /// Each packet with this probability, independently of the others.
    Bernoulli(Percent),
    /// In bursts: by a state that changes from packet to packet.
    GilbertElliott(GilbertElliottSpec),
}

/// The model of Gilbert (1960) and Elliott (1963): a good and a bad state. With each packet the
/// state may change, then the packet is lost with the probability of the state.
///
/// A share of `to_bad / (to_bad + to_good)` of the packets finds the bad state, for `1 / to_good`
/// packets at a time on average.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GilbertElliottSpec {
    /// Probability of a change from the good to the bad state, above 0.
    pub to_bad: Percent,
    /// Probability of a change from the bad to the good state, above 0.
    pub to_good: Percent,
    /// Probability of a loss in the good state. Default 0 %.
    #[serde(default)]
    pub good: Percent,
    /// Probability of a loss in the bad state. Default 100 %.
    #[serde(default = "always")]
    pub bad: Percent,
}

fn always() -> Percent {
    Percent(1.0)
}

/// Random reordering.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ReorderSpec {
    /// The share of packets that are late, independently of the others.
    pub share: Percent,
    /// Their additional delay beside the propagation delay.
    pub by: Dur,
}
