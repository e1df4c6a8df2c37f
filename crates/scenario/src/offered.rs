//! The counters of a router's classes: the numbers of `show policy-map interface`.

use serde::Serialize;
use spillgate_core::Dscp;

use crate::error::Diagnostic;

/// Every policy in an output of `show policy-map interface`.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Offered {
    /// In the order of the output.
    pub policies: Vec<OfferedPolicy>,
    /// Warnings for the user.
    pub warnings: Vec<Diagnostic>,
}

/// One policy on one interface.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct OfferedPolicy {
    /// The interface, of a circuit of ATM with VPI/VCI behind it (`ATM1/0.1 1/32`); empty if the
    /// output does not begin with it.
    pub interface: String,
    /// `input` or `output`.
    pub direction: &'static str,
    /// The policy-map.
    pub policy: String,
    /// Line of its `Service-policy`, from 1.
    pub line: u32,
    /// Bytes of layer 2 that the router's numbers count beside each IP packet; none if they do
    /// not follow from the interface's name.
    pub framing: Option<u16>,
    /// Classes in order; those of a nested policy follow the class that has it.
    pub classes: Vec<OfferedClass>,
}

/// A class with its counters.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct OfferedClass {
    /// The class-map.
    pub name: String,
    /// The classes that contain its policy, from the outermost; empty at the top.
    pub within: Vec<String>,
    /// The policy that its own classes belong to, if it has one.
    pub child: Option<String>,
    /// Line of its `Class-map`, from 1.
    pub line: u32,
    /// Packets since the counters were cleared.
    pub packets: Option<u64>,
    /// Bytes since then.
    pub bytes: Option<u64>,
    /// Over how many seconds the rates are averaged.
    pub interval_s: Option<u64>,
    /// Offered rate in bit/s.
    pub offered_bps: Option<u64>,
    /// Drop rate in bit/s.
    pub drop_bps: Option<u64>,
    /// What it matches, as written.
    pub matches: Vec<String>,
    /// The code points that it matches, in the order of the output; precedences as class selectors.
    pub dscp: Vec<Dscp>,
    /// Packets that wait.
    pub queue_depth: Option<u64>,
    /// Packets dropped since the counters were cleared.
    pub total_drops: Option<u64>,
    /// Of these, packets without a buffer.
    pub no_buffer_drops: Option<u64>,
}

impl OfferedClass {
    /// Mean length of a packet in bytes, as the router counts it.
    pub fn mean_packet(&self) -> Option<f64> {
        match (self.packets, self.bytes) {
            (Some(packets), Some(bytes)) if packets > 0 => Some(bytes as f64 / packets as f64),
            _ => None,
        }
    }
}
