//! Links with random loss or reordering.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use spillgate_core::{Dur, Percent};

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
