//! An AQM without a queue, for ports that compute departures at arrival.

use spillgate_core::{Packet, Rng, Time, Verdict};

use super::{Aqm, Backlog};
use crate::stats::State;

/// An AQM that decides only when a packet arrives, so that a port which computes departures needs
/// no queue to ask it.
///
/// The caller applies the rules of a leaf: the AQM decides before the limit, a mark is set only on
/// a packet that is queued, and the packet in transmission does not count as queued.
#[derive(Clone, Debug)]
pub struct ArrivalAqm(Aqm);

impl ArrivalAqm {
    pub(crate) fn new(aqm: Aqm) -> Self {
        Self(aqm)
    }

    /// The verdict on a packet that arrives at `now` behind `waiting` packets.
    #[inline]
    pub fn arrival(&mut self, now: Time, waiting: u32, packet: &Packet, rng: &mut Rng) -> Verdict {
        // An AQM that needs more is not an `ArrivalAqm`.
        let backlog = Backlog::of(waiting, 0);
        self.0.arrival(now, &backlog, packet, rng)
    }

    /// Whether it has to be told when each packet that it lets in begins to leave.
    pub fn foresees(&self) -> bool {
        self.0.foresees()
    }

    /// The packet that was let in last begins to leave at `start`, now or later.
    #[inline]
    pub fn begins(&mut self, start: Time, packet: &Packet) {
        self.0.begins(start, packet);
    }

    /// The hard limit dropped the packet that was just passed.
    pub fn overflowed(&mut self) {
        self.0.overflowed();
    }

    /// The average queue in packets, if it keeps one.
    #[inline]
    pub fn average(&self) -> Option<f64> {
        self.0.average()
    }

    /// What it goes by at `now`, by the names of time series.
    pub fn state(&self, now: Time) -> State {
        self.0.state(now)
    }

    /// The transmission of the last packet ends at `at`, and nothing is queued behind it: the queue
    /// is idle from then on.
    #[inline]
    pub fn idle_from(&mut self, at: Time) {
        self.0.emptied(at);
    }
}
