//! What waits in front of a queue: the virtual output queues of a switch, at an output of it.
//!
//! Source: M. Shrivastav, S. Mukherjee, S. Gonnade, "Congestion Control in Computer Networks Using
//! a Modified RED AQM Algorithm", equation 2: RED averages `nu * q_input + q_output` in place of
//! the output queue alone, `q_input` being the sum of all virtual output queues for that output.
//! Only what AQMs judge by is changed: the limit of the queue holds for the queue.

use spillgate_core::Time;

/// What waits in front of a queue and will join it, weighted; nothing for queues that are not at
/// the output of a switch.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Upstream {
    /// The weight (nu).
    weight: f64,
    /// `weight` times the packets that wait there.
    pub(crate) packets: f64,
    /// `weight` times their bytes.
    pub(crate) bytes: f64,
    /// Since when nothing waits there.
    pub(super) empty_since: Time,
}

impl Default for Upstream {
    fn default() -> Self {
        Self::NONE
    }
}

impl Upstream {
    /// No queue in front.
    pub(crate) const NONE: Self = Self {
        weight: 0.0,
        packets: 0.0,
        bytes: 0.0,
        empty_since: Time::ZERO,
    };

    /// Queues in front, empty, of which a packet counts as `weight` of one.
    pub(crate) fn weighted(weight: f64) -> Self {
        Self {
            weight,
            ..Self::NONE
        }
    }

    /// So many packets and bytes wait there from `now` on.
    pub(crate) fn set(&mut self, now: Time, packets: u32, bytes: u64) {
        if packets == 0 && self.packets > 0.0 {
            self.empty_since = now;
        }
        self.packets = self.weight * f64::from(packets);
        self.bytes = self.weight * bytes as f64;
    }

    /// The weight of a packet there, 0 or more (nu).
    pub fn weight(&self) -> f64 {
        self.weight
    }
}

/// What the AQM of a discipline takes into account of queues in front of it: see
/// [`crate::Discipline::watch_upstream`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum UpstreamUse {
    /// Nothing: there is no AQM, or it judges neither by length nor by rate of arrival.
    #[default]
    Nothing,
    /// It judges by length, which is then that of the queue and of those in front of it.
    Length,
    /// It judges by the rate of arrivals, to which those at the queues in front then belong.
    Rate,
    /// It cannot be told: the discipline has several queues, or several kinds of packets in one,
    /// and which of them waits in front is not known.
    Unknown,
}
