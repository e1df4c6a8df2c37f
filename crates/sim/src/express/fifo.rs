//! A FIFO whose departures are known when packets arrive.

use spillgate_core::{DropReason, Dur, Limit, Packet, Rng, Table, Time};
use spillgate_queueing::{ArrivalAqm, Averages};
use spillgate_scenario::plan::LinkPlan;

use super::fifo_queue::{Aqm, FifoQueue};
use super::waiting::Waiting;
use crate::gauge::{QueueMeter, Through, Waits};
use crate::port::size;
use crate::precedence::Precedences;
use crate::window::Window;

/// A FIFO that computes a packet's service start at its arrival (Lindley recursion). A packet waits
/// until its service starts.
///
/// For each packet it does the same as a `Port` with this FIFO. Packets arrive in order, but the
/// port may be ahead of the world's clock.
///
/// Packets that pass uncontended touch nothing here
/// ([`Uncontended`](super::uncontended::Uncontended)), and waiting packets are stored elsewhere: in
/// a large network none of that is in the cache.
pub(super) struct FifoPort {
    /// Packets that did not wait, within the measured period.
    through: Through,
    /// A packet up to this length on the wire always passes an empty queue, and nobody needs to be
    /// asked.
    longest: u32,
    /// The index of its queue.
    queue: u32,
    /// The measured period has begun.
    counting: bool,
}

impl FifoPort {
    /// The FIFO of a link with a limit (a limit in time is converted to bytes at the link's rate),
    /// and perhaps an AQM with its random numbers. Its queue is added to `fifos`.
    pub(super) fn new(
        limit: Limit,
        aqm: Option<(ArrivalAqm, Rng, Option<Box<Precedences>>)>,
        plan: &LinkPlan,
        meter: QueueMeter,
        fifos: &mut Table<FifoQueue>,
    ) -> Self {
        let (rate, mtu) = (plan.rate, plan.mtu);
        let (max_packets, max_bytes) = match limit {
            Limit::Packets(n) => (n, u64::MAX),
            Limit::Bytes(n) => (u32::MAX, n),
            Limit::Time(d) => (u32::MAX, rate.bytes_in(d)),
        };
        let shorter = shorter_on_the_wire(plan);
        let longest = match (max_packets, &aqm) {
            (0, _) | (_, Some(_)) => 0,
            _ => u32::try_from(max_bytes).unwrap_or(u32::MAX).min(shorter),
        };
        let aqm = aqm.map(|(automaton, rng, precedences)| {
            Box::new(Aqm {
                foresees: automaton.foresees(),
                automaton,
                rng,
                last: None,
                averages: Averages::default(),
                precedences,
            })
        });
        let len = plan.overhead.wire_len(0);
        fifos.push(FifoQueue {
            room: Dur::ZERO,
            waits: Waits::default(),
            mtu,
            meter,
            waiting: Waiting::new((max_packets, max_bytes), len, rate.tx_time(len)),
            latest: Time::ZERO,
            aqm,
        });
        Self {
            through: Through::default(),
            longest,
            counting: false,
            queue: fifos.len() as u32 - 1,
        }
    }

    pub(super) fn queue<'a>(&self, fifos: &'a mut [FifoQueue]) -> &'a mut FifoQueue {
        &mut fifos[self.queue as usize]
    }

    /// Until when packets of `len` bytes on the wire involve only the queue: up to an edge of the
    /// measured period, or never.
    pub(super) fn open_until(&self, len: u32, window: Window) -> Time {
        let edge = match self.counting {
            false => window.start(),
            true => window.end(),
        };
        if len > self.longest { Time::ZERO } else { edge }
    }

    /// Takes a packet that has to wait from `now` until `start`, if it has the length of all
    /// waiting packets and nobody has to be asked.
    #[inline(always)]
    pub(super) fn wait(&self, fifos: &mut [FifoQueue], now: Time, start: Time) -> Option<()> {
        self.queue(fifos).wait(now, start, self.counting)
    }

    /// Whether packets that waited behind others of the same length should be counted now, before
    /// their number overflows.
    pub(super) fn has_many(&self, fifos: &mut [FifoQueue]) -> bool {
        self.queue(fifos).waits.sum >= Waits::MANY
    }

    /// From `now` on packets have `len` bytes and take `tx` to send, while the server is busy until
    /// `free_at`; earlier packets have been counted.
    pub(super) fn turn(
        &self,
        fifos: &mut [FifoQueue],
        now: Time,
        free_at: Time,
        len: u32,
        tx: Dur,
    ) {
        self.queue(fifos).turn(now, free_at, len, tx);
    }

    /// Counts packets of `len` bytes, each sent in `tx`: `through` of them passed without waiting,
    /// and others waited behind packets of the same length. Returns the number of the latter, and
    /// whether the measured period has begun.
    pub(super) fn count(
        &mut self,
        fifos: &mut [FifoQueue],
        through: u32,
        len: u32,
        tx: Dur,
    ) -> (u64, bool) {
        let queue = self.queue(fifos);
        let waits = std::mem::take(&mut queue.waits);
        if self.counting {
            queue.meter.count_waits(waits, tx, len);
            self.through.count(through, len);
        }
        (waits.packets, self.counting)
    }

    /// Whether the measured period has begun.
    pub(super) fn is_counting(&self) -> bool {
        self.counting
    }

    /// Whether the measured period has begun by `now`, but counting has not.
    #[inline]
    pub(super) fn begins(&self, now: Time, window: Window) -> bool {
        !self.counting && now >= window.start()
    }

    /// Takes a packet that needs `tx` on the link, and returns when its service starts, or why it
    /// is lost. Both outcomes are counted.
    ///
    /// As in a discipline, a packet passes through the queue even if it need not wait: a packet
    /// longer than the limit is always lost. It may leave with a mark.
    #[inline]
    pub(super) fn offer(
        &mut self,
        free_at: &mut Time,
        fifos: &mut [FifoQueue],
        now: Time,
        packet: &mut Packet,
        tx: Dur,
        window: Window,
    ) -> Result<Time, DropReason> {
        let queue = self.queue(fifos);
        let backlog = queue.waiting.backlog(now, *free_at);
        let verdict = if size(packet) > queue.mtu {
            Err(DropReason::TooBig)
        } else {
            queue.verdict(now, backlog, packet, window)
        };
        if let Err(reason) = verdict {
            queue.lost(window, packet, now, reason);
            return Err(reason);
        }
        if *free_at <= now {
            // An edge of the measured period is near or all are past, or the queue has an AQM, or
            // the packet may be too big: padding of cells hides the exact length.
            let end = now + tx;
            *free_at = end;
            if let Some(aqm) = queue.aqm() {
                aqm.begins(now, packet);
                aqm.automaton.idle_from(end);
            }
            queue.begins(window, packet, now);
            if window.encloses(now, end) {
                self.through.count(1, packet.len);
            } else {
                queue.meter.on_through(window, packet.len, (now, end));
            }
            return Ok(now);
        }
        let start = *free_at;
        *free_at = start + tx;
        queue.waiting.push(start);
        queue.meter.on_wait(now, start, packet.len);
        if let Some(aqm) = queue.aqm() {
            aqm.last = Some(*free_at);
            aqm.begins(start, packet);
        }
        if queue.waiting.is_one_run(now) {
            queue.room = queue.waiting.room();
        }
        if window.contains(now) {
            let (packets, bytes) = backlog;
            queue
                .meter
                .on_backlog(u64::from(packets) + 1, bytes + u64::from(packet.len));
        }
        queue.begins(window, packet, start);
        queue.served(window, packet, start, *free_at);
        Ok(start)
    }

    /// The measured period has begun: the backlog until then counts as a peak, including packets
    /// that leave at that instant.
    pub(super) fn begin_counting(
        &mut self,
        fifos: &mut [FifoQueue],
        free_at: Time,
        window: Window,
    ) {
        self.counting = true;
        let before = Time::from_ps(window.start().as_ps().saturating_sub(1));
        let queue = self.queue(fifos);
        let (packets, bytes) = queue.waiting.backlog(before, free_at);
        queue.meter.on_backlog(packets.into(), bytes);
    }

    /// Packets and bytes that wait at `now`, while the server is busy until `free_at`.
    pub(super) fn backlog(&self, fifos: &mut [FifoQueue], now: Time, free_at: Time) -> (u32, u64) {
        self.queue(fifos).waiting.backlog(now, free_at)
    }

    /// Packets that waited behind others of the same length and are not counted yet.
    pub(super) fn waited(&self, fifos: &[FifoQueue]) -> u64 {
        fifos[self.queue as usize].waits.packets
    }

    /// Its packets by code point, if it distinguishes them.
    pub(super) fn precedences(&self, fifos: &[FifoQueue]) -> Option<Box<Precedences>> {
        fifos[self.queue as usize].precedences()
    }

    /// Its meter, including packets that are not counted yet: packets of `len` bytes, each sent in
    /// `tx`, `through` of which passed uncontended.
    pub(super) fn meter(&self, fifos: &[FifoQueue], through: u32, len: u32, tx: Dur) -> QueueMeter {
        let queue = &fifos[self.queue as usize];
        let (mut all, mut waits) = (self.through, Waits::default());
        if self.counting {
            all.count(through, len);
            waits = queue.waits;
        }
        let mut meter = queue.meter.with(all);
        meter.count_waits(waits, tx, len);
        meter.averages = queue.averages();
        meter
    }
}

/// The length on the wire up to which no packet is too big for a link.
fn shorter_on_the_wire(plan: &LinkPlan) -> u32 {
    match u16::try_from(plan.mtu).ok().and_then(|m| m.checked_add(1)) {
        Some(too_big) => plan.overhead.wire_len(too_big) - 1,
        None => u32::MAX,
    }
}
