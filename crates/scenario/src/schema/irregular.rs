//! Links whose rate varies, that lose packets, or on which packets overtake each other.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use spillgate_core::{Dur, Percent, RateOrZero};

/// How the rate of a link's server goes. A packet in transmission feels each change at once.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum RateProcessSpec {
    /// Rates from given times on.
    Schedule(ScheduleSpec),
    /// Rates from a table: comma-separated values with the columns `time` and `rate`, such as
    /// `0.5 s, 12 Mb/s`, of rising times. The last rate holds as long as the one before it.
    Trace(TraceSpec),
    /// Delivery opportunities in the format of Mahimahi: each line is a time in whole milliseconds
    /// at which 1,500 bytes can leave, of times that do not fall. What an opportunity leaves over
    /// is lost when nothing waits. The last line is the length of the trace.
    Mahimahi(TraceSpec),
    /// At random: the link's rate, and another one, for times that are exponentially distributed.
    OnOff(OnOffSpec),
}

/// Rates from given times on; before the first of them the link's own.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ScheduleSpec {
    /// The changes, by rising times.
    pub steps: Vec<StepSpec>,
    /// After this time, from the beginning of the run, it begins again. Default: the last rate
    /// holds for ever, and is not 0.
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
    /// Whether it may begin again at its end. Default: no, it has to last for the warm-up and the
    /// measured period; what comes after these repeats it in any case.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub repeat: bool,
}

/// A server that is slower, or stands still, for random times.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OnOffSpec {
    /// How long it has the link's `rate` at a time, on average. It begins so or otherwise as likely
    /// as it is to be so at any time.
    pub on: Dur,
    /// How long it has the other rate at a time, on average.
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
    /// How much longer than the propagation delay these are on their way.
    pub by: Dur,
}
