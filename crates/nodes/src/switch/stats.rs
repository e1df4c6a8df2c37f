//! What a switch counts.

use spillgate_core::{DropReason, Dur, Time};

const REASONS: usize = DropReason::ALL.len();

/// The half-open period in which things are counted.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Period {
    pub(crate) start: Time,
    pub(crate) end: Time,
}

impl Period {
    #[inline]
    pub(crate) fn contains(self, t: Time) -> bool {
        self.start <= t && t < self.end
    }

    /// Whether a packet that arrived and is lost then counts as lost: both within the period.
    #[inline]
    pub(crate) fn counts_loss(self, arrived: Time, lost: Time) -> bool {
        self.contains(arrived) && self.contains(lost)
    }

    #[inline]
    pub(crate) fn overlap(self, from: Time, to: Time) -> Dur {
        to.min(self.end).since(from.max(self.start))
    }
}

/// A backlog, with its peak and its integral over the measured period.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Level {
    pub(crate) packets: u32,
    pub(crate) bytes: u64,
    peak_packets: u32,
    peak_bytes: u64,
    /// Until when the integrals count.
    since: Time,
    packet_ps: u128,
    byte_ps: u128,
}

impl Level {
    /// The backlog is another from `now` on.
    #[inline]
    pub(crate) fn set(&mut self, period: Period, now: Time, packets: u32, bytes: u64) {
        self.advance(period, now);
        (self.packets, self.bytes) = (packets, bytes);
        if period.contains(now) {
            self.peak_packets = self.peak_packets.max(packets);
            self.peak_bytes = self.peak_bytes.max(bytes);
        }
    }

    #[inline]
    fn advance(&mut self, period: Period, now: Time) {
        let time = period.overlap(self.since, now).as_ps();
        if time > 0 && self.packets > 0 {
            self.packet_ps += u128::from(time) * u128::from(self.packets);
            self.byte_ps += u128::from(time) * u128::from(self.bytes);
            self.peak_packets = self.peak_packets.max(self.packets);
            self.peak_bytes = self.peak_bytes.max(self.bytes);
        }
        self.since = now;
    }

    /// Averages and peaks until `now`.
    pub(crate) fn backlog(mut self, period: Period, now: Time) -> Backlog {
        self.advance(period, now);
        let time = period.overlap(period.start, now).as_ps() as f64;
        let mean = |sum: u128| {
            if time > 0.0 {
                sum as f64 / time
            } else {
                f64::NAN
            }
        };
        Backlog {
            packets_mean: mean(self.packet_ps),
            bytes_mean: mean(self.byte_ps),
            packets_max: self.peak_packets,
            bytes_max: self.peak_bytes,
        }
    }
}

/// Backlog in the measured period, without packets that cross.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Backlog {
    /// Time average in packets.
    pub packets_mean: f64,
    /// Time average in bytes.
    pub bytes_mean: f64,
    /// The most packets at an instant.
    pub packets_max: u32,
    /// The most bytes at an instant.
    pub bytes_max: u64,
}

/// Counters of packets from one input to one output in the measured period.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Packets that arrived.
    pub offered_packets: u64,
    /// Their bytes.
    pub offered_bytes: u64,
    /// Packets that left their queue to cross the fabric.
    pub carried_packets: u64,
    /// Their bytes.
    pub carried_bytes: u64,
    /// Packets that arrived and were lost, by [`DropReason::index`].
    pub lost: [u64; REASONS],
    /// Packets that an AQM marked with congestion experienced.
    pub marks_ce: u64,
    /// The sum of the times, in picoseconds, that the packets carried had waited in their queue.
    pub waited_ps: u128,
}

impl Counts {
    /// Packets that were lost for any reason.
    pub fn lost_packets(&self) -> u64 {
        self.lost.iter().sum()
    }

    /// Mean time in seconds that the packets carried had waited in their queue; NaN without
    /// packets.
    pub fn waited_mean(&self) -> f64 {
        self.waited_ps as f64 / self.carried_packets as f64 / 1e12
    }

    pub(crate) fn add(&mut self, other: &Self) {
        self.offered_packets += other.offered_packets;
        self.offered_bytes += other.offered_bytes;
        self.carried_packets += other.carried_packets;
        self.carried_bytes += other.carried_bytes;
        self.marks_ce += other.marks_ce;
        self.waited_ps += other.waited_ps;
        for (sum, n) in self.lost.iter_mut().zip(other.lost) {
            *sum += n;
        }
    }
}

/// The use of an output's time by a crossbar.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Slots {
    /// Slots (with packets of any length: picoseconds) of the measured period so far.
    pub all: u64,
    /// Slots (with packets of any length: picoseconds) in which something waited for the output or
    /// crossed to it.
    pub wanted: u64,
    /// Slots (or picoseconds) among these in which nothing crossed to it.
    pub wasted: u64,
}

impl Slots {
    /// The share of wasted slots among those that were wanted; NaN if nothing ever waited.
    pub fn wasted_share(&self) -> f64 {
        self.wasted as f64 / self.wanted as f64
    }

    /// The shares of all slots in which something crossed, in which nothing did although it waited,
    /// and in which nothing waited; NaN before the first slot. They add up to 1.
    pub fn shares(&self) -> [f64; 3] {
        let used = self.wanted - self.wasted;
        let idle = self.all - self.wanted;
        [used, self.wasted, idle].map(|slots| slots as f64 / self.all as f64)
    }
}
