//! The meter of a queue, within the measured period.

use spillgate_core::{Averages, DropReason, Dur, Packet, Time};

use crate::table::Metric;
use crate::{Histogram, Levels, Losses, Place, Volume, Window};

/// The meter of one queue of a port. The fields that every packet touches come first.
#[derive(Clone)]
#[repr(C)]
pub struct QueueMeter {
    /// How long packets waited.
    pub sojourn: Histogram,
    /// Packets that came.
    pub offered_packets: u64,
    /// Their bytes.
    pub offered_bytes: u64,
    /// What was sent.
    pub carried: Volume,
    /// Integral of the backlog over the measured period, in packet-picoseconds and
    /// byte-picoseconds.
    waited_packets: Integral,
    waited_bytes: Integral,
    /// Most packets that waited at once.
    pub max_packets: u64,
    /// Most bytes that did.
    pub max_bytes: u64,
    /// Packets that were marked (ECN).
    pub marks_ce: u64,
    /// The averages of its AQM, once they are all known.
    pub averages: Averages,
    /// How long how much has waited, where percentiles of that are measured.
    levels: Option<Box<Levels>>,
    /// Packets that were lost, by reason.
    pub lost: Losses,
}

const _: () = assert!(size_of::<QueueMeter>() <= 184);

/// A 128-bit sum, aligned to 8 bytes to save room.
#[derive(Clone, Copy, Default)]
#[repr(C, packed(8))]
struct Integral(u128);

/// Packed to save room in a port.
#[derive(Clone, Copy, Default)]
#[repr(C, packed(4))]
pub struct Through {
    packets: u64,
    bytes: u64,
    longest: u32,
}

impl Through {
    /// Counts this many packets of `len` bytes.
    #[inline]
    pub fn count(&mut self, packets: u32, len: u32) {
        if packets > 0 {
            self.packets += u64::from(packets);
            self.bytes += u64::from(packets) * u64::from(len);
            self.longest = self.longest.max(len);
        }
    }
}

/// Packets of one length that waited behind packets of that length and are not in their meter yet.
#[derive(Clone, Copy, Default)]
pub struct Waits {
    /// How many.
    pub packets: u64,
    /// The sum of their waits that lie within the measured period.
    pub sum: Dur,
    /// The longest wait.
    pub longest: Dur,
}

impl Waits {
    /// A sum far larger than any run has.
    pub const MANY: Dur = Dur::from_ps(u64::MAX / 2);

    /// The sum with another wait, unless it overflows.
    #[inline(always)]
    pub fn sum_with(&self, wait: Dur) -> Option<Dur> {
        self.sum.as_ps().checked_add(wait.as_ps()).map(Dur::from_ps)
    }
}

impl QueueMeter {
    /// The meter of an empty queue, with a histogram of 2^`bits` buckets an octave; `levels`:
    /// percentiles of its backlog are measured, too.
    pub fn of(window: Window, bits: u8, levels: bool) -> Self {
        let new = || Box::new(Levels::new(bits, window.start(), window.end()));
        Self {
            levels: levels.then(new),
            ..Self::new(bits)
        }
    }

    /// The same without percentiles.
    pub fn new(bits: u8) -> Self {
        Self {
            sojourn: Histogram::new(bits),
            offered_packets: 0,
            offered_bytes: 0,
            carried: Volume::default(),
            waited_packets: Integral::default(),
            waited_bytes: Integral::default(),
            max_packets: 0,
            max_bytes: 0,
            marks_ce: 0,
            averages: Averages::default(),
            levels: None,
            lost: Losses::default(),
        }
    }

    /// A copy that also counts the packets which did not wait.
    pub fn with(&self, through: Through) -> Self {
        let mut all = self.clone();
        if through.packets > 0 {
            all.offered_packets += through.packets;
            all.offered_bytes += through.bytes;
            all.carried += Volume::of(through.bytes);
            all.sojourn.record_many(Dur::ZERO, through.packets);
            // Each was in the queue for an instant, as in a discipline.
            all.on_backlog(1, through.longest.into());
        }
        all
    }

    /// Counts packets of `len` bytes, each sent in `tx`, that arrived and left in the measured
    /// period; the buckets of the histogram count them already.
    pub fn count_waits(&mut self, waits: Waits, tx: Dur, len: u32) {
        if waits.packets == 0 {
            return;
        }
        let (sum, len) = (u128::from(waits.sum.as_ps()), u64::from(len));
        self.offered_packets += waits.packets;
        self.offered_bytes += waits.packets * len;
        self.carried += Volume::of(waits.packets * len);
        self.waited_packets.0 += sum;
        self.waited_bytes.0 += sum * u128::from(len);
        self.sojourn.sum_up(waits.packets, sum, waits.longest);
        // The packet that waited longest met the longest queue: the packets that were to start
        // between its arrival and its start.
        let met = (waits.longest.as_ps() - 1) / tx.as_ps();
        self.on_backlog(met + 1, (met + 1) * len);
    }

    /// A packet left the queue for the server at `now`, which sends it until `end`.
    #[inline]
    pub fn on_served(&mut self, window: Window, packet: &Packet, now: Time, end: Time) {
        if !window.holds(packet.arrived, now, end) {
            self.on_begun(window, packet, now);
            self.carried += window.part(packet.len, now, end);
            return;
        }
        let (wait, len) = (now.since(packet.arrived), u64::from(packet.len));
        let waited = u128::from(wait.as_ps());
        self.offered_packets += 1;
        self.offered_bytes += len;
        self.carried += Volume::of(len);
        self.waited_packets.0 += waited;
        self.waited_bytes.0 += waited * u128::from(len);
        self.sojourn.record(wait);
    }

    /// A packet left the queue for the server at `now`; until when it is sent is told later.
    pub fn on_begun(&mut self, window: Window, packet: &Packet, now: Time) {
        self.on_left(window, packet, now);
        if window.contains(now) {
            self.sojourn.record(now.since(packet.arrived));
        }
    }

    /// A packet of `len` bytes was sent at once at `now`, with transmission until `end`.
    pub fn on_through(&mut self, window: Window, len: u32, (now, end): (Time, Time)) {
        self.carried += window.part(len, now, end);
        if window.contains(now) {
            self.offered_packets += 1;
            self.offered_bytes += u64::from(len);
            self.sojourn.record(Dur::ZERO);
            self.on_backlog(1, len.into());
        }
    }

    /// The transmission of `len` bytes from `start` to `end` was cut off at `cut`.
    pub fn on_cut(&mut self, window: Window, len: u32, (start, end, cut): (Time, Time, Time)) {
        self.carried -= window.part(len, start, end);
        self.carried += window.part_until(len, start, end, cut);
    }

    /// A packet still waits at `now`, the end of the run.
    pub fn on_still_waiting(&mut self, window: Window, packet: &Packet, now: Time) {
        self.on_left(window, packet, now);
    }

    /// A packet was dropped by the queue at `now`.
    #[inline]
    pub fn on_lost(&mut self, window: Window, packet: &Packet, now: Time, why: DropReason) {
        self.on_left(window, packet, now);
        if window.counts_loss(packet.arrived, now) {
            self.lost.count(why);
        } else if why != DropReason::LinkDown {
            self.lost.count_outside();
        }
    }

    /// Packets that the queue itself has dropped since the start of the run: all but those that its
    /// link lost.
    pub fn dropped(&self) -> u64 {
        let by_link = [DropReason::LinkDown, DropReason::LinkLoss].map(|why| self.lost.of(why));
        self.lost.total() + self.lost.outside() - by_link.iter().sum::<u64>()
    }

    /// A packet was lost at `now` after it had left the queue.
    pub fn on_lost_in_flight(
        &mut self,
        window: Window,
        packet: &Packet,
        now: Time,
        why: DropReason,
    ) {
        if window.counts_loss(packet.arrived, now) {
            self.lost.count(why);
        }
    }

    /// Counts offered load and waiting when a packet leaves, by the time of its arrival; packets
    /// that never leave are counted at the end of the run.
    #[inline]
    pub fn on_left(&mut self, window: Window, packet: &Packet, now: Time) {
        if window.contains(packet.arrived) {
            self.offered_packets += 1;
            self.offered_bytes += u64::from(packet.len);
        }
        let waited = u128::from(window.overlap(packet.arrived, now).as_ps());
        self.waited_packets.0 += waited;
        self.waited_bytes.0 += waited * u128::from(packet.len);
    }

    /// So much waits: counts towards the largest backlog.
    #[inline]
    pub fn on_backlog(&mut self, packets: u64, bytes: u64) {
        self.max_packets = self.max_packets.max(packets);
        self.max_bytes = self.max_bytes.max(bytes);
    }

    /// Whether it is told of levels.
    #[inline]
    pub fn asks_levels(&self) -> bool {
        self.levels.is_some()
    }

    /// From `now` on so much waits.
    pub fn on_level(&mut self, now: Time, packets: u64, bytes: u64) {
        if let Some(levels) = &mut self.levels {
            levels.set(now, packets, bytes);
        }
    }

    /// A packet of `len` bytes waits from `now` until `start`, in order.
    #[inline]
    pub fn on_wait(&mut self, now: Time, start: Time, len: u32) {
        if let Some(levels) = &mut self.levels {
            levels.wait(now, start, len);
        }
    }

    /// Percentiles of the backlog over the measured period, in packets and in bytes; NaN where they
    /// are not measured.
    pub fn backlog_percentiles<const N: usize>(
        &self,
        of: [f64; N],
        window: Window,
    ) -> ([f64; N], [f64; N]) {
        let Some(mut levels) = self.levels.clone().filter(|_| !window.is_empty()) else {
            return ([f64::NAN; N], [f64::NAN; N]);
        };
        levels.close();
        // Within a bucket it is not known which level is the largest.
        let bytes = |q| levels.bytes(q).min(self.max_bytes as f64);
        let packets = |q| levels.packets(q).min(self.max_packets as f64);
        (of.map(packets), of.map(bytes))
    }

    /// Puts what came within `window`, and what became of it.
    pub fn measure_arrivals(&self, window: Window, out: &mut Place<'_>) {
        let lost = self.lost.total();
        let offered = self.offered_bytes as f64 * 8.0 / window.len().as_secs_f64();
        out.put(Metric::Offered, offered);
        out.put(Metric::Carried, self.carried.rate(window.len()));
        out.put(Metric::PacketsOffered, self.offered_packets);
        out.put(Metric::PacketsLost, lost);
        out.put(Metric::LossRatio, lost as f64 / self.offered_packets as f64);
    }

    /// Puts how long packets waited within `window`, and how many.
    pub fn measure_waiting(&self, window: Window, out: &mut Place<'_>) {
        let s = &self.sojourn;
        out.put(Metric::SojournMean, s.mean());
        out.put(Metric::SojournP50, s.quantile(0.5));
        out.put(Metric::SojournP95, s.quantile(0.95));
        out.put(Metric::SojournP99, s.quantile(0.99));
        out.put(Metric::SojournP999, s.quantile(0.999));
        out.put(Metric::SojournMax, s.max());
        let (packets, bytes) = self.backlog_means(window);
        let percentiles = self.asks_levels();
        let percentiles = percentiles.then(|| self.backlog_percentiles([0.5, 0.95, 0.99], window));
        out.put(Metric::BacklogPacketsMean, packets);
        if let Some(([p50, p95, p99], _)) = percentiles {
            out.put(Metric::BacklogPacketsP50, p50);
            out.put(Metric::BacklogPacketsP95, p95);
            out.put(Metric::BacklogPacketsP99, p99);
        }
        out.put(Metric::BacklogPacketsMax, self.max_packets);
        out.put(Metric::BacklogBytesMean, bytes);
        if let Some((_, [p50, p95, p99])) = percentiles {
            out.put(Metric::BacklogBytesP50, p50);
            out.put(Metric::BacklogBytesP95, p95);
            out.put(Metric::BacklogBytesP99, p99);
        }
        out.put(Metric::BacklogBytesMax, self.max_bytes);
    }

    /// Time averages of the backlog in packets and bytes over the measured period.
    pub fn backlog_means(&self, window: Window) -> (f64, f64) {
        let t = window.len().as_ps() as f64;
        let (packets, bytes) = (self.waited_packets.0, self.waited_bytes.0);
        (packets as f64 / t, bytes as f64 / t)
    }
}
