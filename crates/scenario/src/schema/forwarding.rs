//! Nodes that take time to pass packets on.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use spillgate_core::Dur;

/// A router that forwards in software: one processor looks each packet up, whichever link it came
/// over, in the order of their arrival.
///
/// It is about packets that come over a link and leave over another one; what begins or ends at the
/// node is not.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ForwardingSpec {
    /// What a packet takes of the processor, so that 1 / `per_packet` is the forwarding rate
    /// (RFC 2285 section 3.6) at which it is fully busy. Default 0 s: no limit.
    #[serde(default)]
    pub per_packet: Dur,
    /// What a packet takes beside that, without keeping the processor from the next one. Default
    /// 0 s.
    #[serde(default)]
    pub delay: Dur,
    /// Packets from each link that wait for the processor at most, the one that it works on not
    /// counted; what comes to a full queue is lost (`drops_input_queue`). Default 75, as
    /// `hold-queue 75 in` of IOS.
    #[serde(default = "default_input_queue")]
    #[schemars(range(min = 1, max = 1_000_000))]
    pub input_queue: u32,
}

fn default_input_queue() -> u32 {
    75
}
