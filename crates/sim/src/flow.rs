//! What a flow's packets carry and where they go.

use spillgate_core::{Dscp, Ecn, Time};

/// A flow. Those of the plan come first, then one for the acknowledgments of each connection.
pub(crate) struct Flow {
    pub(crate) origin: Origin,
    /// Its meter; [`NO_METER`] for acknowledgments.
    pub(crate) meter: u32,
    /// Where its path begins.
    pub(crate) begin: u32,
    pub(crate) hash: u32,
    pub(crate) seq: u32,
    pub(crate) dscp: Dscp,
    pub(crate) ecn: Ecn,
    /// When its end of a connection will be woken, [`Time::MAX`] for not.
    pub(crate) wake: Time,
}

/// Nobody measures this flow.
pub(crate) const NO_METER: u32 = u32::MAX;

/// Where a flow's packets come from, by number.
#[derive(Clone, Copy)]
pub(crate) enum Origin {
    /// A source that does not listen to the network.
    Open(u32),
    /// The sender of a connection.
    Data(u32),
    /// The receiver of a connection.
    Acknowledgments(u32),
}
