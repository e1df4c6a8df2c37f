//! Policers: the single-rate, two-color policer of a class, and the policer of
//! a priority class (LLQ).
//!
//! Sources: token bucket as in RFC 2697 without an excess bucket; Cisco IOS
//! `police` and `priority` commands. "Under congestion" is not defined by
//! Cisco: here it means that something waits in the discipline.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use spillgate_core::{Dscp, Packet, RateOrPercent, Size, Time};

use super::TokenBucket;

/// A single-rate, two-color token-bucket policer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PoliceSpec {
    /// The committed information rate, or a percentage of the enclosing rate.
    pub rate: RateOrPercent,
    /// The committed burst. Default 1500 B or 250 ms at `rate`, whichever is more (Cisco IOS: CIR/32 bytes).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub burst: Option<Size>,
    /// What happens to a packet within the contract. Default `transmit`.
    #[serde(default)]
    pub conform: PoliceAction,
    /// What happens to a packet beyond it. Default `drop`.
    #[serde(default = "PoliceAction::dropping")]
    pub exceed: PoliceAction,
}

/// What a policer does with a packet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum PoliceAction {
    /// Send it on unchanged.
    #[default]
    Transmit,
    /// Discard it.
    Drop,
    /// Send it on with this DSCP.
    SetDscp(Dscp),
}

impl PoliceAction {
    fn dropping() -> Self {
        Self::Drop
    }
}

/// A running policer of a class.
#[derive(Clone, Debug)]
pub(crate) struct Policer {
    pub(crate) bucket: TokenBucket,
    pub(crate) conform: PoliceAction,
    pub(crate) exceed: PoliceAction,
}

impl Policer {
    #[inline]
    pub(crate) fn admits(&mut self, now: Time, packet: &mut Packet) -> bool {
        let action = if self.bucket.try_take(now, packet.len) {
            self.conform
        } else {
            self.exceed
        };
        match action {
            PoliceAction::Transmit => true,
            PoliceAction::Drop => false,
            PoliceAction::SetDscp(dscp) => {
                packet.dscp = dscp;
                true
            }
        }
    }
}

/// A running policer of a priority class.
#[derive(Clone, Debug)]
pub(crate) struct PriorityPolicer {
    pub(crate) bucket: TokenBucket,
    pub(crate) always: bool,
}

impl PriorityPolicer {
    #[inline]
    pub(crate) fn admits(&mut self, now: Time, len: u32, congested: bool) -> bool {
        if self.always || congested {
            self.bucket.try_take(now, len)
        } else {
            // Not congested: pay what there is, drop nothing.
            self.bucket.take(now, len);
            true
        }
    }
}
