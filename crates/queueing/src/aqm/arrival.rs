//! An AQM without a queue, for ports that compute when packets leave.

use spillgate_core::{Packet, Rng, Time, Verdict};

use super::{Aqm, Backlog};

/// An AQM that speaks when a packet arrives and never again, so that whoever computes departures
/// needs no queue to ask it.
///
/// The caller keeps the rules of a leaf: the AQM speaks before the limit, a mark is set only on a
/// packet that is kept, and the packet on the wire does not wait.
#[derive(Clone, Debug)]
pub struct ArrivalAqm(Aqm);

impl ArrivalAqm {
    pub(crate) fn new(aqm: Aqm) -> Self {
        Self(aqm)
    }

    /// The verdict on a packet that arrives at `now` behind `waiting` packets.
    #[inline]
    pub fn arrival(&mut self, now: Time, waiting: u32, packet: &Packet, rng: &mut Rng) -> Verdict {
        // One that asks for more is no ArrivalAqm.
        let backlog = Backlog::of(waiting, 0);
        self.0.arrival(now, &backlog, packet, rng)
    }

    /// The packet that was passed last is lost to the limit.
    pub fn overflowed(&mut self) {
        self.0.overflowed();
    }

    /// The average queue in packets, if it keeps one.
    pub fn average(&self) -> Option<f64> {
        self.0.average()
    }

    /// What was taken last is sent until `at`, and nothing waits behind it: the queue is idle from
    /// then on.
    #[inline]
    pub fn idle_from(&mut self, at: Time) {
        self.0.emptied(at);
    }
}
