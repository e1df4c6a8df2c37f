//! What is measured at a queue and at a link, within the window.

use spillgate_core::{DropReason, Dur, Packet, Time};
use spillgate_measure::{Histogram, Losses};

use crate::window::Window;

/// One queue of a port.
///
/// What a packet touches comes first.
#[derive(Clone)]
#[repr(C)]
pub(crate) struct QueueMeter {
    pub(crate) sojourn: Histogram,
    pub(crate) offered_bytes: u64,
    pub(crate) carried_bytes: u64,
    /// Integral of the backlog over the window, in packet-picoseconds and byte-picoseconds.
    waited_packets: u128,
    waited_bytes: u128,
    pub(crate) max_packets: u64,
    pub(crate) max_bytes: u64,
    pub(crate) marks_ce: u64,
    pub(crate) lost: Losses,
}

const _: () = assert!(size_of::<QueueMeter>() <= 160);

/// Packets that arrived at an empty queue and a free server in the window.
///
/// Packed so that it leaves room for the rest of a port.
#[derive(Clone, Copy, Default)]
#[repr(C, packed(4))]
pub(crate) struct Through {
    packets: u64,
    bytes: u64,
    longest: u32,
}

impl Through {
    /// Counts so many packets of `len` bytes.
    #[inline]
    pub(crate) fn count(&mut self, packets: u32, len: u32) {
        self.packets += u64::from(packets);
        self.bytes += u64::from(packets) * u64::from(len);
        self.longest = self.longest.max(len);
    }
}

impl QueueMeter {
    pub(crate) fn new(bits: u8) -> Self {
        Self {
            sojourn: Histogram::new(bits),
            offered_bytes: 0,
            carried_bytes: 0,
            waited_packets: 0,
            waited_bytes: 0,
            max_packets: 0,
            max_bytes: 0,
            marks_ce: 0,
            lost: Losses::default(),
        }
    }

    /// With what went straight through counted in like everything else.
    pub(crate) fn with(&self, through: Through) -> Self {
        let mut all = self.clone();
        if through.packets > 0 {
            all.offered_bytes += through.bytes;
            all.carried_bytes += through.bytes;
            all.sojourn.record_many(Dur::ZERO, through.packets);
            // It was in the queue too, as in a discipline.
            all.on_backlog(1, through.longest.into());
        }
        all
    }

    /// A packet left the queue for the server at `now`.
    #[inline]
    pub(crate) fn on_served(&mut self, window: Window, packet: &Packet, now: Time) {
        self.on_left(window, packet, now);
        if window.contains(now) {
            self.sojourn.record(now.since(packet.arrived));
            self.carried_bytes += u64::from(packet.len);
        }
    }

    /// A packet still waits at `now`, the end of the run.
    pub(crate) fn on_still_waiting(&mut self, window: Window, packet: &Packet, now: Time) {
        self.on_left(window, packet, now);
    }

    /// A packet was dropped by the queue at `now`.
    #[inline]
    pub(crate) fn on_lost(&mut self, window: Window, packet: &Packet, now: Time, why: DropReason) {
        self.on_left(window, packet, now);
        if window.contains(now) {
            self.lost.count(why);
        }
    }

    /// A packet was lost at `now` after it had left the queue, which has counted it as carried.
    pub(crate) fn on_lost_on_the_wire(&mut self, window: Window, now: Time, why: DropReason) {
        if window.contains(now) {
            self.lost.count(why);
        }
    }

    /// Offered load and waiting are counted when a packet leaves, by when it arrived; what
    /// never leaves is counted at the end of the run.
    #[inline]
    pub(crate) fn on_left(&mut self, window: Window, packet: &Packet, now: Time) {
        if window.contains(packet.arrived) {
            self.offered_bytes += u64::from(packet.len);
        }
        let waited = u128::from(window.overlap(packet.arrived, now).as_ps());
        self.waited_packets += waited;
        self.waited_bytes += waited * u128::from(packet.len);
    }

    #[inline]
    pub(crate) fn on_backlog(&mut self, packets: u64, bytes: u64) {
        self.max_packets = self.max_packets.max(packets);
        self.max_bytes = self.max_bytes.max(bytes);
    }

    /// Time averages of the backlog in packets and bytes over the window.
    pub(crate) fn backlog_means(&self, window: Window) -> (f64, f64) {
        let t = window.len().as_ps() as f64;
        (self.waited_packets as f64 / t, self.waited_bytes as f64 / t)
    }
}

/// One link.
#[derive(Default)]
pub(crate) struct LinkMeter {
    /// Time in the window during which the link transmitted.
    pub(crate) busy: Dur,
    /// Bytes whose transmission began or has been planned, since the start of the run.
    pub(crate) total_bytes: u64,
}

impl LinkMeter {
    #[inline]
    pub(crate) fn on_transmit(&mut self, window: Window, start: Time, end: Time, len: u32) {
        self.busy = self.busy.saturating_add(window.overlap(start, end));
        self.total_bytes += u64::from(len);
    }

    /// The transmission that was to end at `end` was cut off at `now`.
    pub(crate) fn on_cut(&mut self, window: Window, now: Time, end: Time) {
        self.busy = self.busy - window.overlap(now, end);
    }
}
