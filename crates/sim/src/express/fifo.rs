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

/// A FIFO that computes each packet's service start when it arrives. The packets that wait are
/// those whose service starts later.
///
/// It does what a `Port` with the same FIFO does, packet by packet. Packets arrive in
/// order, but the port may be ahead of the world's clock.
///
/// What passes uncontended touches nothing here
/// ([`Uncontended`](super::uncontended::Uncontended)), what waits lies elsewhere: in a large
/// network none of that is in the cache.
pub(super) struct FifoPort {
    /// Packets that needed not wait, within the measured period.
    through: Through,
    /// What is no longer than this, in bytes on the wire, certainly gets through an empty queue,
    /// and nobody wants to know.
    longest: u32,
    /// Number of its line.
    queue: u32,
    /// The measured period has begun.
    counting: bool,
}

impl FifoPort {
    /// The FIFO of a link with a limit, a time being the bytes that the link sends in it, and
    /// perhaps an AQM with its random numbers. Its queue is added to `fifos`.
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

    /// Until when packets of `len` bytes on the wire have nothing to do with more than the queue:
    /// an edge of the measured period, or no time at all.
    pub(super) fn open_until(&self, len: u32, window: Window) -> Time {
        let edge = match self.counting {
            false => window.start(),
            true => window.end(),
        };
        if len > self.longest { Time::ZERO } else { edge }
    }

    /// Takes a packet that has to wait from `now` until `start`, if it is as long as all that wait
    /// and nobody has to be asked.
    #[inline(always)]
    pub(super) fn wait(&self, fifos: &mut [FifoQueue], now: Time, start: Time) -> Option<()> {
        self.queue(fifos).wait(now, start, self.counting)
    }

    /// Whether what has waited behind others as long should be counted before more does.
    pub(super) fn has_many(&self, fifos: &mut [FifoQueue]) -> bool {
        self.queue(fifos).waits.sum >= Waits::MANY
    }

    /// What comes from `now` on is `len` bytes long and takes `tx` to send, while the server is
    /// busy until `free_at`; what came before has been counted.
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

    /// Counts packets of `len` bytes, each sent in `tx`: so many that went through without waiting,
    /// and those that waited behind others as long, of which it says how many; and whether the
    /// measured period has begun.
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

    /// Whether the measured period has begun for what comes at `now`, and nobody has said so.
    #[inline]
    pub(super) fn begins(&self, now: Time, window: Window) -> bool {
        !self.counting && now >= window.start()
    }

    /// Takes a packet that needs `tx` on the link: when its service starts, or why it is lost, which
    /// is counted. What gets through is counted too.
    ///
    /// A packet goes through the queue even if it need not wait, as in a discipline: one that
    /// is longer than the limit never gets through. It may leave with a mark.
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
            // An edge of the measured period is near or all are past, or it has an AQM, or it is as
            // long as some that are too big would be: cells are filled up.
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

    /// The measured period has begun: what waited until then counts as a peak, also what leaves at
    /// that instant.
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

    /// Packets that waited behind others as long and are not counted yet.
    pub(super) fn waited(&self, fifos: &[FifoQueue]) -> u64 {
        fifos[self.queue as usize].waits.packets
    }

    /// Its packets by code point, if it tells them apart.
    pub(super) fn precedences(&self, fifos: &[FifoQueue]) -> Option<Box<Precedences>> {
        fifos[self.queue as usize].precedences()
    }

    /// Its meter, with what it has not counted included: packets of `len` bytes, each sent in `tx`,
    /// of which so many passed uncontended.
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
