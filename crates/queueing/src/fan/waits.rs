//! The results of admission control for each flow, and its state at an instant.

use spillgate_core::Time;

/// The result of admission control at one link for one flow.
///
/// The waiting time is `admitted` minus `offered`, 0 if the first packet was admitted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wait {
    /// The flow, as [`spillgate_core::Packet::flow`].
    pub flow: u32,
    /// When its first packet reached the admission control.
    pub offered: Time,
    /// When its first packet was admitted; none if none was.
    pub admitted: Option<Time>,
    /// Packets refused before that.
    pub refused: u64,
    /// Packets refused in all.
    pub refused_total: u64,
    /// How often it was put on the protected flow list here; zero for a flow that was already on a
    /// shared list.
    pub admissions: u32,
    /// How often the mechanism of this link removed it.
    pub removals: u32,
    /// How often it was removed after a time-out without packets.
    pub timeouts: u32,
}

/// The admission control of a link at an instant.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AdmissionState {
    /// The fair rate as of the last tick, in b/s.
    pub fair_rate: f64,
    /// The priority load as of the last tick: a share of the link, above 1 in bursts.
    pub priority_load: f64,
    /// Whether new flows are refused.
    pub congested: bool,
    /// Flows on the protected flow list; of a shared list those that last used this link.
    pub listed: u32,
    /// Flows that are blocked (RBAEF).
    pub blocked: u32,
    /// How often the mechanism has acted: flushes of EFM, and removals of at least one flow by RAEF
    /// and RBAEF.
    pub flushes: u64,
}
