//! What happens to packets at a port with known departures.

use spillgate_core::{Averages, DropReason, Dur, Limit, Packet, Rng, Time};
use spillgate_measure::{QueueMeter, Through, Waits, Window};
use spillgate_queueing::ArrivalAqm;
use spillgate_scenario::plan::LinkPlan;

use super::port::{Aqm, FifoPort};
use super::waiting::Waiting;
use crate::precedence::Precedences;

impl FifoPort {
    /// The FIFO of a link with a limit (a limit in time is converted to bytes at the link's rate),
    /// and perhaps an AQM with its random numbers.
    pub(super) fn new(
        limit: Limit,
        aqm: Option<(ArrivalAqm, Rng, Option<Box<Precedences>>)>,
        plan: &LinkPlan,
        meter: QueueMeter,
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
        Self {
            room: Dur::ZERO,
            waits: Waits::default(),
            mtu,
            counting: false,
            latest: Time::ZERO,
            meter,
            waiting: Waiting::new((max_packets, max_bytes), len, rate.tx_time(len)),
            aqm,
            through: Through::default(),
            longest,
        }
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

    /// Whether packets that waited behind others of the same length should be counted now, before
    /// their number overflows.
    pub(super) fn has_many(&self) -> bool {
        self.waits.sum >= Waits::MANY
    }

    /// Counts packets of `len` bytes, each sent in `tx`: `through` of them passed without waiting,
    /// and others waited behind packets of the same length. Returns the number of the latter, and
    /// whether the measured period has begun.
    pub(super) fn count(&mut self, through: u32, len: u32, tx: Dur) -> (u64, bool) {
        let waits = std::mem::take(&mut self.waits);
        if self.counting {
            self.meter.count_waits(waits, tx, len);
            self.through.count(through, len);
        }
        (waits.packets, self.counting)
    }

    /// Whether the measured period has begun by `now`, but counting has not.
    #[inline]
    pub(super) fn is_to_count(&self, now: Time, window: Window) -> bool {
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
        now: Time,
        packet: &mut Packet,
        tx: Dur,
        window: Window,
    ) -> Result<Time, DropReason> {
        let backlog = self.waiting.backlog(now, *free_at);
        let verdict = if packet.size() > self.mtu {
            Err(DropReason::TooBig)
        } else {
            self.verdict(now, backlog, packet, window)
        };
        if let Err(reason) = verdict {
            self.lost(window, packet, now, reason);
            return Err(reason);
        }
        if *free_at <= now {
            // An edge of the measured period is near or all are past, or the queue has an AQM, or
            // the packet may be too big: padding of cells hides the exact length.
            let end = now + tx;
            *free_at = end;
            if let Some(aqm) = self.aqm() {
                aqm.begins(now, packet);
                aqm.automaton.idle_from(end);
            }
            self.begins(window, packet, now);
            if window.encloses(now, end) {
                self.through.count(1, packet.len);
            } else {
                self.meter.on_through(window, packet.len, (now, end));
            }
            return Ok(now);
        }
        let start = *free_at;
        *free_at = start + tx;
        self.waiting.push(start);
        self.meter.on_wait(now, start, packet.len);
        if let Some(aqm) = self.aqm() {
            aqm.last = Some(*free_at);
            aqm.begins(start, packet);
        }
        if self.waiting.is_one_run(now) {
            self.room = self.waiting.room();
        }
        if window.contains(now) {
            let (packets, bytes) = backlog;
            self.meter
                .on_backlog(u64::from(packets) + 1, bytes + u64::from(packet.len));
        }
        self.begins(window, packet, start);
        self.served(window, packet, start, *free_at);
        Ok(start)
    }

    /// The measured period has begun: the backlog until then counts as a peak, including packets
    /// that leave at that instant.
    pub(super) fn begin_counting(&mut self, free_at: Time, window: Window) {
        self.counting = true;
        let before = Time::from_ps(window.start().as_ps().saturating_sub(1));
        let (packets, bytes) = self.waiting.backlog(before, free_at);
        self.meter.on_backlog(packets.into(), bytes);
    }

    /// Packets and bytes that wait at `now`, while the server is busy until `free_at`.
    pub(super) fn backlog(&mut self, now: Time, free_at: Time) -> (u32, u64) {
        self.waiting.backlog(now, free_at)
    }

    /// Packets that waited behind others of the same length and are not counted yet.
    pub(super) fn waited(&self) -> u64 {
        self.waits.packets
    }

    /// Its meter, including packets that are not counted yet: packets of `len` bytes, each sent in
    /// `tx`, `through` of which passed uncontended.
    pub(super) fn measured(&self, through: u32, len: u32, tx: Dur) -> QueueMeter {
        let (mut all, mut waits) = (self.through, Waits::default());
        if self.counting {
            all.count(through, len);
            waits = self.waits;
        }
        let mut meter = self.meter.with(all);
        meter.count_waits(waits, tx, len);
        meter.averages = self.averages();
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
