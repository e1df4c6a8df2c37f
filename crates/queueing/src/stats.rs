//! Counters of a leaf.

use spillgate_core::{Acknowledgment, Averages, DropReason, Drops, Packet, Rng, Time};

const REASONS: usize = DropReason::ALL.len();

/// Counters of one leaf since the start of the run.
///
/// At any time, in packets and in bytes: offered = enqueued + dropped before
/// they were queued; enqueued = dequeued + dropped while queued + backlog.
// The first cache line is what each packet counts.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[repr(C, align(64))]
pub struct LeafStats {
    /// Packets that were classified into the leaf.
    pub offered_packets: u64,
    /// Their bytes.
    pub offered_bytes: u64,
    /// Packets that were queued.
    pub enqueued_packets: u64,
    /// Their bytes.
    pub enqueued_bytes: u64,
    /// Queued packets.
    backlog_packets: u64,
    /// Their bytes.
    backlog_bytes: u64,
    /// The largest number of queued packets since [`crate::Discipline::reset_peaks`].
    pub peak_packets: u64,
    /// The largest number of queued bytes since [`crate::Discipline::reset_peaks`].
    pub peak_bytes: u64,
    /// Packets that were dropped, by [`DropReason::index`].
    pub drops_packets: [u64; REASONS],
    /// Their bytes.
    pub drops_bytes: [u64; REASONS],
    /// Of the dropped packets, those that had been queued (pushed out).
    pub dropped_queued_packets: u64,
    /// Their bytes.
    pub dropped_queued_bytes: u64,
    /// Packets that an AQM marked with congestion experienced, when it queued them or let them go.
    pub marks_ce: u64,
    /// The AQM's averages of the queue, in packets or in the bytes that it counts, as of each
    /// packet that came to it, since [`crate::Discipline::reset_peaks`]; none if it keeps no
    /// average.
    pub averages: Averages,
}

impl LeafStats {
    /// Dropped packets for any reason.
    pub fn dropped_packets(&self) -> u64 {
        self.drops_packets.iter().sum()
    }

    /// Queued packets.
    #[inline]
    pub fn backlog_packets(&self) -> u64 {
        self.backlog_packets
    }

    /// Queued bytes.
    #[inline]
    pub fn backlog_bytes(&self) -> u64 {
        self.backlog_bytes
    }

    /// Queued packets and bytes.
    #[inline]
    pub fn backlog(&self) -> (u32, u64) {
        (self.backlog_packets as u32, self.backlog_bytes)
    }

    /// Packets that left.
    pub fn dequeued_packets(&self) -> u64 {
        self.enqueued_packets - self.dropped_queued_packets - self.backlog_packets
    }

    /// Their bytes.
    pub fn dequeued_bytes(&self) -> u64 {
        self.enqueued_bytes - self.dropped_queued_bytes - self.backlog_bytes
    }

    /// Resets the peaks to the present backlog, and forgets the averages.
    pub(crate) fn reset_peaks(&mut self) {
        self.averages = Averages::default();
        self.peak_packets = self.backlog_packets();
        self.peak_bytes = self.backlog_bytes();
    }

    /// Bytes of the packets dropped for any reason.
    pub fn dropped_bytes(&self) -> u64 {
        self.drops_bytes.iter().sum()
    }

    /// Whether the two conservation laws hold for a leaf with this backlog.
    pub fn conserves(&self, backlog_packets: u32, backlog_bytes: u64) -> bool {
        let before = self.dropped_packets() - self.dropped_queued_packets;
        let before_bytes = self.dropped_bytes() - self.dropped_queued_bytes;
        self.offered_packets == self.enqueued_packets + before
            && self.offered_bytes == self.enqueued_bytes + before_bytes
            && self.backlog_packets == u64::from(backlog_packets)
            && self.backlog_bytes == backlog_bytes
    }
}

/// Values by the names of their time series.
pub type State = Vec<(&'static str, f64)>;

/// The state of one leaf at an instant, beside its backlog.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LeafGauges {
    /// When the packet that leaves next arrived, if nothing drops it; none if nothing is queued or
    /// the scheduler does not tell.
    pub head: Option<Time>,
    /// The average queue of RED or WRED in packets, as of the last arrival.
    pub average_queue: Option<f64>,
    /// The average queue of one whose thresholds are in bytes, as of the last arrival.
    pub average_bytes: Option<f64>,
    /// The probability that RED's curve gives this average, before drops are spread; none where it
    /// depends on the packet (WRED, RIO), and for AQMs that keep a probability: see `state`.
    pub probability: Option<f64>,
    /// What its AQM and its fair queue go by, as of the last packet.
    pub state: State,
}

/// The backlog of the whole discipline, and the leaf of the packet that came last.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Total {
    pub(crate) offered_to: u16,
    pub(crate) packets: u32,
    pub(crate) bytes: u64,
}

/// The context of one call of the discipline beside the queues: the instant, the random stream, the
/// sink of drops, and the counters.
pub(crate) struct Cx<'a> {
    pub(crate) now: Time,
    pub(crate) rng: &'a mut Rng,
    pub(crate) drops: &'a mut Drops,
    pub(crate) stats: &'a mut [LeafStats],
    pub(crate) total: &'a mut Total,
    /// What the packet that arrives acknowledges, where its driver told.
    pub(crate) ack: Option<&'a Acknowledgment>,
}

/// The counters and the sink of drops, without the random stream.
pub(crate) struct Books<'a> {
    drops: &'a mut Drops,
    stats: &'a mut [LeafStats],
    total: &'a mut Total,
}

impl Books<'_> {
    /// Drops a packet that was queued.
    pub(crate) fn evicted(&mut self, packet: Packet, reason: DropReason) {
        let s = &mut self.stats[usize::from(packet.leaf)];
        s.dropped_queued_packets += 1;
        s.dropped_queued_bytes += u64::from(packet.len);
        s.backlog_packets -= 1;
        s.backlog_bytes -= u64::from(packet.len);
        self.total.packets -= 1;
        self.total.bytes -= u64::from(packet.len);
        self.refused(packet, reason);
    }

    /// Drops a packet that was not queued.
    #[inline]
    fn refused(&mut self, packet: Packet, reason: DropReason) {
        let s = &mut self.stats[usize::from(packet.leaf)];
        s.drops_packets[reason.index()] += 1;
        s.drops_bytes[reason.index()] += u64::from(packet.len);
        self.drops.push(packet, reason);
    }
}

impl Cx<'_> {
    /// The random stream, and the rest.
    #[inline]
    pub(crate) fn split(&mut self) -> (&mut Rng, Books<'_>) {
        let books = Books {
            drops: self.drops,
            stats: self.stats,
            total: self.total,
        };
        (self.rng, books)
    }

    /// The packets and bytes that a leaf holds.
    #[inline]
    pub(crate) fn backlog(&self, leaf: u16) -> (u32, u64) {
        self.stats[usize::from(leaf)].backlog()
    }

    #[inline]
    pub(crate) fn offered(&mut self, packet: &Packet) {
        self.total.offered_to = packet.leaf;
        let s = &mut self.stats[usize::from(packet.leaf)];
        s.offered_packets += 1;
        s.offered_bytes += u64::from(packet.len);
    }

    /// The AQM's average when it has judged an arriving packet.
    #[inline]
    pub(crate) fn averaged(&mut self, packet: &Packet, average: f64) {
        self.stats[usize::from(packet.leaf)].averages.add(average);
    }

    /// Drops a packet that was not queued.
    #[inline]
    pub(crate) fn refused(&mut self, packet: Packet, reason: DropReason) {
        self.split().1.refused(packet, reason);
    }

    /// Drops a packet that was queued.
    #[inline]
    pub(crate) fn evicted(&mut self, packet: Packet, reason: DropReason) {
        self.split().1.evicted(packet, reason);
    }

    #[inline]
    pub(crate) fn enqueued(&mut self, packet: &Packet, marked: bool) {
        let s = &mut self.stats[usize::from(packet.leaf)];
        s.enqueued_packets += 1;
        s.enqueued_bytes += u64::from(packet.len);
        s.marks_ce += u64::from(marked);
        s.backlog_packets += 1;
        s.backlog_bytes += u64::from(packet.len);
        s.peak_packets = s.peak_packets.max(s.backlog_packets);
        s.peak_bytes = s.peak_bytes.max(s.backlog_bytes);
        self.total.packets += 1;
        self.total.bytes += u64::from(packet.len);
    }

    /// Counts a mark on a packet that is about to leave.
    #[inline]
    pub(crate) fn marked(&mut self, packet: &Packet) {
        self.stats[usize::from(packet.leaf)].marks_ce += 1;
    }

    #[inline]
    pub(crate) fn dequeued(&mut self, packet: &Packet) {
        let s = &mut self.stats[usize::from(packet.leaf)];
        s.backlog_packets -= 1;
        s.backlog_bytes -= u64::from(packet.len);
        self.total.packets -= 1;
        self.total.bytes -= u64::from(packet.len);
    }
}

/// What a call needs beside the queues, for tests of a part.
#[cfg(test)]
pub(crate) struct Desk {
    rng: Rng,
    pub(crate) drops: Drops,
    stats: [LeafStats; 5],
    total: Total,
}

#[cfg(test)]
impl Desk {
    pub(crate) fn new() -> Self {
        Self {
            rng: Rng::from_key(0),
            drops: Drops::new(),
            stats: [LeafStats::default(); 5],
            total: Total::default(),
        }
    }

    pub(crate) fn at(&mut self, now: Time) -> Cx<'_> {
        Cx {
            now,
            rng: &mut self.rng,
            drops: &mut self.drops,
            stats: &mut self.stats,
            total: &mut self.total,
            ack: None,
        }
    }

    /// Flows and numbers of the packets that were dropped since the last call.
    pub(crate) fn dropped(&mut self) -> Vec<(u32, u32)> {
        let found = self.drops.as_slice().iter();
        let found = found.map(|d| (d.packet.flow, d.packet.seq)).collect();
        self.drops.clear();
        found
    }
}
