//! What feeds a link: a queue discipline and a server.

use std::collections::VecDeque;

use spillgate_core::{DropReason, Drops, Dur, Ecn, Limit, Packet, Rng, Table, Time, Verdict};
use spillgate_measure::Histogram;
use spillgate_queueing::{ArrivalAqm, Discipline};
use spillgate_scenario::plan::LinkPlan;

use crate::gauge::{QueueMeter, Through};
use crate::waiting::Waiting;
use crate::window::Window;

/// The port of a link.
pub(crate) enum Port {
    /// A FIFO that decides at arrival: departures are known then, no service events.
    Fifo(FifoPort),
    /// Any discipline.
    Queued(Box<QueuedPort>),
}

/// A FIFO that computes each packet's service start when it arrives. The packets that wait are
/// those whose service starts later.
///
/// It does what a [`QueuedPort`] with the same FIFO does, packet by packet. Packets arrive in
/// order, but the port may be ahead of the world's clock.
///
/// What goes straight through touches nothing here ([`Straight`](crate::straight::Straight)), what
/// waits lies elsewhere: in a large network none of that is in the cache.
pub(crate) struct FifoPort {
    /// Packets that needed not wait, within the window.
    through: Through,
    /// What is no longer than this, in bytes on the wire, certainly gets through an empty queue,
    /// and nobody wants to know.
    longest: u32,
    /// Number of its line.
    line: u32,
    /// The window has begun.
    counting: bool,
}

/// The packets that wait at a [`FifoPort`]. Those of all ports lie together.
#[repr(C)]
pub(crate) struct Line {
    /// Most bytes and packets that may wait.
    max_bytes: u64,
    max_packets: u32,
    /// The longest packet that the link carries, labels included.
    mtu: u32,
    /// Of those whose service starts before now some may still be there.
    waiting: Waiting,
    bytes: u64,
    aqm: Option<Box<Aqm>>,
    outage: Option<Box<Outage>>,
    /// The last wait, and how often in a row it has been that long; not in the meter yet. Where
    /// one packet waits for another of a pair, all waits are alike.
    wait: Dur,
    alike: u32,
    meter: QueueMeter,
}

/// Failures of the link.
struct Outage {
    /// It has failed.
    down: bool,
    /// When it fails next, [`Time::MAX`] for never.
    next: Time,
    /// [`FifoPort::longest`] while it is up.
    longest: u32,
}

/// A packet is lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Loss {
    /// When, which may lie ahead.
    pub(crate) at: Time,
    pub(crate) reason: DropReason,
}

/// An AQM with the random numbers of its port.
struct Aqm {
    automaton: ArrivalAqm,
    rng: Rng,
}

impl Line {
    /// Forgets the packets whose service has started by `now`.
    #[inline]
    fn advance(&mut self, now: Time) {
        while let Some((start, len)) = self.waiting.pop_started(now) {
            self.bytes -= u64::from(len);
            if self.waiting.len() == 0 {
                self.emptied(start);
            }
        }
    }

    /// Counts a packet that waits until `start`.
    #[inline]
    fn served(&mut self, window: Window, packet: &Packet, start: Time) {
        self.meter.on_left(window, packet, start);
        if !window.contains(start) {
            return;
        }
        self.meter.carried_bytes += u64::from(packet.len);
        let wait = start.since(packet.arrived);
        if wait == self.wait && self.alike < u32::MAX {
            self.alike += 1;
            return;
        }
        count_alike(&mut self.meter.sojourn, self.wait, self.alike);
        (self.wait, self.alike) = (wait, 1);
    }

    /// When what begins to wait for `start` is lost, if it is.
    #[inline]
    fn lost_waiting(&self, start: Time) -> Option<Time> {
        let outage = self.outage.as_ref()?;
        (outage.next < start).then_some(outage.next)
    }

    #[inline]
    fn emptied(&mut self, at: Time) {
        if let Some(aqm) = &mut self.aqm {
            aqm.automaton.emptied(at);
        }
    }

    /// What queue management says to a packet, the limit included. Sets its mark.
    #[inline]
    fn verdict(
        &mut self,
        now: Time,
        packet: &mut Packet,
        window: Window,
    ) -> Result<(), DropReason> {
        let mut marked = false;
        if let Some(Aqm { automaton, rng }) = self.aqm.as_deref_mut() {
            match automaton.arrival(now, self.waiting.len(), packet, rng) {
                Verdict::Pass => {}
                Verdict::Mark => marked = true,
                Verdict::Drop(reason) => return Err(reason),
            }
        }
        let bytes = self.bytes.saturating_add(packet.len.into());
        if self.waiting.len() >= self.max_packets || bytes > self.max_bytes {
            if let Some(aqm) = &mut self.aqm {
                aqm.automaton.overflowed();
            }
            return Err(DropReason::Tail);
        }
        if marked {
            packet.ecn = Ecn::Ce;
            self.meter.marks_ce += u64::from(window.contains(now));
        }
        Ok(())
    }
}

impl FifoPort {
    /// The FIFO of a link with a limit, a time being the bytes that the link sends in it, and
    /// perhaps an AQM with its random numbers or a link that fails; its line is the last of `lines`.
    pub(crate) fn new(
        limit: Limit,
        aqm: Option<(ArrivalAqm, Rng)>,
        plan: &LinkPlan,
        fails: bool,
        meter: QueueMeter,
        lines: &mut Table<Line>,
    ) -> Self {
        let (rate, mtu) = (plan.rate, plan.mtu);
        let (max_packets, max_bytes) = match limit {
            Limit::Packets(n) => (n, u64::MAX),
            Limit::Bytes(n) => (u32::MAX, n),
            Limit::Time(d) => (u32::MAX, rate.bytes_in(d)),
        };
        let longest = match (max_packets, &aqm) {
            (0, _) | (_, Some(_)) => 0,
            _ => u32::try_from(max_bytes).unwrap_or(u32::MAX),
        };
        let longest = longest.min(shorter_on_the_wire(plan));
        let outage = || {
            Box::new(Outage {
                down: false,
                next: Time::MAX,
                longest,
            })
        };
        lines.push(Line {
            mtu,
            max_packets,
            max_bytes,
            waiting: Waiting::default(),
            bytes: 0,
            wait: Dur::ZERO,
            alike: 0,
            aqm: aqm.map(|(automaton, rng)| Box::new(Aqm { automaton, rng })),
            outage: fails.then(outage),
            meter,
        });
        Self {
            through: Through::default(),
            longest,
            counting: false,
            line: lines.len() as u32 - 1,
        }
    }

    fn line<'a>(&self, lines: &'a mut [Line]) -> &'a mut Line {
        &mut lines[self.line as usize]
    }

    /// Forgets the packets whose service has started by `now`.
    pub(crate) fn advance(&self, lines: &mut [Line], now: Time) {
        self.line(lines).advance(now);
    }

    /// Until when packets of `len` bytes on the wire that need not wait have nothing to do with the
    /// queue: an edge of the window, or no time at all.
    pub(crate) fn open_until(&self, len: u32, window: Window) -> Time {
        match (len <= self.longest, self.counting) {
            (false, _) => Time::ZERO,
            (true, false) => window.start(),
            (true, true) => window.end(),
        }
    }

    /// Packets of `len` bytes went through without waiting, within the window: whether it has begun.
    pub(crate) fn count_through(&mut self, packets: u32, len: u32) -> bool {
        if self.counting {
            self.through.count(packets, len);
        }
        self.counting
    }

    /// Whether the window has begun.
    pub(crate) fn is_counting(&self) -> bool {
        self.counting
    }

    /// Whether the window has begun for what comes at `now`, and nobody has said so.
    #[inline]
    pub(crate) fn begins(&self, now: Time, window: Window) -> bool {
        !self.counting && now >= window.start()
    }

    /// Takes a packet that needs `tx` on the link: when its service starts, or when and why it is
    /// lost, which is counted. What gets through is counted too.
    ///
    /// A packet goes through the queue even if it need not wait, as in a discipline: one that
    /// is longer than the limit never gets through. It may leave with a mark.
    #[inline]
    pub(crate) fn offer(
        &mut self,
        free_at: &mut Time,
        lines: &mut [Line],
        now: Time,
        packet: &mut Packet,
        tx: Dur,
        window: Window,
    ) -> Result<Time, Loss> {
        let line = self.line(lines);
        line.advance(now);
        let verdict = if line.outage.as_ref().is_some_and(|o| o.down) {
            Err(DropReason::LinkDown)
        } else if size(packet) > line.mtu {
            Err(DropReason::TooBig)
        } else {
            line.verdict(now, packet, window)
        };
        if let Err(reason) = verdict {
            line.meter.on_lost(window, packet, now, reason);
            return Err(Loss { at: now, reason });
        }
        if *free_at <= now {
            // An edge of the window is near or all are past, or it has an AQM, or it is as long as some
            // that are too big would be: cells are filled up.
            line.emptied(now);
            *free_at = now + tx;
            if window.contains(now) {
                self.through.count(1, packet.len);
            }
            return Ok(now);
        }
        let start = *free_at;
        line.waiting.push(start, packet.len);
        line.bytes += u64::from(packet.len);
        let bytes = line.bytes;
        *free_at = start + tx;
        if window.contains(now) {
            line.meter.on_backlog(line.waiting.len().into(), bytes);
        }
        if let Some(at) = line.lost_waiting(start) {
            let reason = DropReason::LinkDown;
            line.meter.on_lost(window, packet, at, reason);
            return Err(Loss { at, reason });
        }
        line.served(window, packet, start);
        Ok(start)
    }

    /// The link has failed; what that does to packets has been counted before.
    pub(crate) fn fail(&mut self, lines: &mut [Line]) {
        let line = self.line(lines);
        line.waiting = Waiting::default();
        line.bytes = 0;
        if let Some(outage) = &mut line.outage {
            outage.down = true;
        }
        self.longest = 0;
    }

    /// The link is up until `next`.
    pub(crate) fn repair(&mut self, lines: &mut [Line], next: Time) {
        if let Some(outage) = &mut self.line(lines).outage {
            outage.down = false;
            outage.next = next;
            self.longest = outage.longest;
        }
    }

    /// Whether what is to get to the end of the link at `due` is lost on the way: when. Counts it.
    pub(crate) fn lose_on_the_wire(
        &self,
        lines: &mut [Line],
        due: Time,
        window: Window,
    ) -> Option<Loss> {
        let line = self.line(lines);
        let at = line.outage.as_ref()?.next;
        let reason = DropReason::LinkDown;
        (at < due).then(|| {
            line.meter.on_lost_on_the_wire(window, at, reason);
            Loss { at, reason }
        })
    }

    /// The window has begun: what waited until then counts as a peak, also what leaves at that
    /// instant.
    pub(crate) fn begin_counting(&mut self, lines: &mut [Line], window: Window) {
        self.counting = true;
        let line = self.line(lines);
        line.advance(Time::from_ps(window.start().as_ps().saturating_sub(1)));
        line.meter.on_backlog(line.waiting.len().into(), line.bytes);
    }

    /// Packets and bytes that wait, or did when it was last [advanced](Self::advance).
    pub(crate) fn backlog(&self, lines: &[Line]) -> (u32, u64) {
        let line = &lines[self.line as usize];
        (line.waiting.len(), line.bytes)
    }

    /// Its meter, with what went straight through, so many packets of `len` bytes included that it
    /// has not counted.
    pub(crate) fn meter(&self, lines: &[Line], packets: u32, len: u32) -> QueueMeter {
        let line = &lines[self.line as usize];
        let mut through = self.through;
        if packets > 0 {
            through.count(packets, len);
        }
        let mut meter = line.meter.with(through);
        count_alike(&mut meter.sojourn, line.wait, line.alike);
        meter
    }
}

/// Counts waits of one length.
#[inline]
fn count_alike(waits: &mut Histogram, wait: Dur, times: u32) {
    match times {
        0 => {}
        1 => waits.record(wait),
        n => waits.record_many(wait, n.into()),
    }
}

/// Bytes of a packet that count for an MTU.
#[inline]
pub(crate) fn size(packet: &Packet) -> u32 {
    u32::from(packet.l3_len) + u32::from(packet.labels.bytes())
}

/// The length on the wire up to which no packet is too big for a link.
fn shorter_on_the_wire(plan: &LinkPlan) -> u32 {
    match u16::try_from(plan.mtu).ok().and_then(|m| m.checked_add(1)) {
        Some(too_big) => plan.overhead.wire_len(too_big) - 1,
        None => u32::MAX,
    }
}

/// A discipline with a server that takes one packet at a time.
pub(crate) struct QueuedPort {
    /// The longest packet that the link carries, labels included.
    pub(crate) mtu: u32,
    pub(crate) discipline: Discipline,
    pub(crate) rng: Rng,
    pub(crate) free_at: Time,
    /// When the port is to be woken, [`Time::MAX`] for not.
    pub(crate) wake: Time,
    /// The link is down: nothing is queued.
    pub(crate) down: bool,
    /// Of a link that fails: the leaves of the packets in its pipe.
    pub(crate) wire: Option<VecDeque<u16>>,
    /// Slot of its wakes.
    pub(crate) slot: u32,
    /// One for each of its queues.
    pub(crate) queues: Vec<QueueMeter>,
}

impl QueuedPort {
    /// The port of a link that is up; `fails`: not for ever.
    pub(crate) fn new(
        discipline: Discipline,
        mtu: u32,
        rng: Rng,
        fails: bool,
        meter: QueueMeter,
    ) -> Self {
        Self {
            mtu,
            queues: vec![meter; discipline.leaves().len()],
            slot: u32::MAX,
            discipline,
            rng,
            free_at: Time::ZERO,
            wake: Time::MAX,
            down: false,
            wire: fails.then(VecDeque::new),
        }
    }

    /// Shows the packets that wait to `see`; a copy of the port pays for it.
    pub(crate) fn for_each_waiting(&self, now: Time, mut see: impl FnMut(&Packet)) {
        if self.discipline.backlog_packets() == 0 {
            return;
        }
        let (mut discipline, mut rng) = (self.discipline.clone(), self.rng.clone());
        let (mut now, mut drops) = (now, Drops::new());
        while discipline.backlog_packets() > 0 {
            let packet = discipline.dequeue(now, &mut rng, &mut drops);
            let seen = packet.is_some() || !drops.is_empty();
            packet.iter().for_each(&mut see);
            drops.as_slice().iter().for_each(|d| see(&d.packet));
            drops.clear();
            if !seen {
                match discipline.next_wake(now) {
                    Some(later) if later > now => now = later,
                    _ => break,
                }
            }
        }
    }
}
