//! The lane's own link, with a port whose departures are known when packets arrive.

use std::mem::offset_of;

use spillgate_core::{Dur, Overhead, Packet, Rate, Time};
use spillgate_measure::{QueueMeter, Window};
use spillgate_queueing::State;

use super::port::FifoPort;
use super::uncontended::Uncontended;
use crate::link::Link;
use crate::link_meter::LinkMeter;
use crate::precedence::Precedences;

/// The lane's state of a link, and the lane's port if it has one.
#[repr(C, align(64))]
pub(super) struct ExpressLink {
    // The first cache line, all that an uncontended packet touches.
    pub(super) uncontended: Uncontended,
    pub(super) onward: Onward,
    // The second cache line.
    /// None if the engine serves packets one by one.
    pub(super) port: Option<Box<FifoPort>>,
    pub(super) rate: Rate,
    pub(super) meter: LinkMeter,
    overhead: Overhead,
    /// The number of uncontended packets when the latest other packet arrived.
    seen: u32,
}

const _: () = assert!(size_of::<ExpressLink>() == 128 && offset_of!(ExpressLink, port) == 64);

/// Facts about a link behind its server.
#[derive(Clone, Copy)]
pub(super) struct Onward {
    pub(super) delay: Dur,
    pub(super) tie: u64,
    /// The way in which a packet can be handled ahead, before it is at the far end.
    pub(super) ahead: Ahead,
    /// The pipe of its packets.
    pub(super) pipe: u32,
    /// As for the engine's link.
    pub(super) special: bool,
    pub(super) staged: bool,
    /// The port has known departures, and all its packets come over one other link.
    pub(super) single_feeder: bool,
    /// The host at its far end acknowledges at once, and receives packets over this link only.
    pub(super) acks_at_once: bool,
}

/// The ways in which a packet on a link can be handled ahead, before it is at the far end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ahead {
    /// Nothing.
    Nothing,
    /// Offer it to this port: every packet on the link goes there.
    Offer(u32),
    /// Receive it: its path ends there, at a host that acknowledges at once.
    Receive,
    /// It depends on the packet's next hop.
    PerPacket,
}

/// What a sample shows of a port.
pub(crate) struct Sample {
    /// Packets and bytes that wait.
    pub(crate) backlog: (u32, u64),
    /// The average queue in packets that its AQM keeps, if it has one.
    pub(crate) average: Option<f64>,
    /// Packets dropped since the start of the run.
    pub(crate) dropped: u64,
    /// What its AQM shows.
    pub(crate) state: State,
    /// Bytes whose transmission has begun, since the start of the run.
    pub(crate) begun: u64,
}

impl ExpressLink {
    /// The lane's link for link `number`, with its own pipe and perhaps a port.
    pub(super) fn new(number: u32, link: &Link, port: Option<FifoPort>) -> Self {
        Self {
            uncontended: Uncontended::closed(link.rate.tx_time(link.overhead.wire_len(0))),
            onward: Onward {
                delay: link.delay,
                tie: link.tie,
                ahead: Ahead::Nothing,
                pipe: number,
                special: link.special,
                staged: link.staged,
                single_feeder: false,
                acks_at_once: false,
            },
            port: port.map(Box::new),
            rate: link.rate,
            meter: LinkMeter::default(),
            overhead: link.overhead,
            seen: 0,
        }
    }

    /// Whether its port has known departures.
    pub(super) fn knows_departures(&self) -> bool {
        self.port.is_some()
    }

    /// When the last packet arrived at its port; no earlier one may follow.
    #[inline]
    pub(super) fn latest(&self) -> Time {
        match &self.port {
            // Packets that passed uncontended arrived when they were sent.
            Some(_) if self.uncontended.passed().0 != self.seen => self.uncontended.last_start(),
            Some(fifo) => fifo.latest,
            None => Time::ZERO,
        }
    }

    /// A packet arrived at `now` that did not pass uncontended.
    #[inline]
    pub(super) fn came(&mut self, now: Time) {
        if let Some(fifo) = &mut self.port {
            fifo.latest = now;
            self.seen = self.uncontended.passed().0;
        }
    }

    /// If a packet has to wait behind others of the same length, and nothing else has to be done:
    /// when its transmission starts and ends.
    #[inline(always)]
    pub(super) fn wait(&mut self, now: Time, l3_len: u16) -> Option<(Time, Time)> {
        let (start, end) = self.uncontended.wait(l3_len)?;
        if now < self.latest() {
            return None;
        }
        self.port.as_mut()?.wait(now, start)?;
        self.came(now);
        self.uncontended.free_at = end;
        Some((start, end))
    }

    /// The general case of a packet that arrives at a port with known departures at `now`.
    /// Afterwards packets of the same length may pass uncontended, or wait together.
    #[inline]
    pub(super) fn turn(&mut self, now: Time, packet: &Packet, window: Window) -> Dur {
        let has_many = self.port.as_ref().is_some_and(|p| p.has_many());
        match self.uncontended.tx_time(packet.l3_len) {
            Some(tx) if !self.onward.staged && !has_many => tx,
            _ => self.tune(now, packet, window),
        }
    }

    /// From now on packets of this length may pass uncontended, or wait together.
    #[inline(never)]
    fn tune(&mut self, now: Time, packet: &Packet, window: Window) -> Dur {
        self.count_passed();
        let (len, tx) = (packet.len, self.rate.tx_time(packet.len));
        self.uncontended.tune(packet.l3_len, tx);
        if let Some(fifo) = &mut self.port {
            fifo.turn(now, self.uncontended.free_at, len, tx);
        }
        self.open(window);
        tx
    }

    /// Counts packets that passed uncontended or waited behind others of the same length.
    fn count_passed(&mut self) {
        let (through, l3_len, tx) = self.uncontended.passed();
        let len = self.overhead.wire_len(l3_len);
        let Some(fifo) = &mut self.port else {
            return;
        };
        if through == 0 && fifo.waited() == 0 {
            return;
        }
        if through != self.seen {
            fifo.latest = self.uncontended.last_start();
        }
        let (waited, counting) = fifo.count(through, len, tx);
        let packets = waited + u64::from(through);
        self.meter.total_bytes += packets * u64::from(len);
        if counting {
            self.meter.busy = self.meter.busy + tx * packets;
        }
        self.uncontended.counted();
        self.seen = 0;
    }

    /// Packets that passed uncontended or waited behind others of the same length and are not
    /// counted yet: their bytes, and the time that the link took to send them.
    pub(super) fn passed(&self) -> (u64, Dur) {
        let (through, l3_len, tx) = self.uncontended.passed();
        let waited = match &self.port {
            Some(fifo) => fifo.waited(),
            None => 0,
        };
        let packets = waited + u64::from(through);
        let len = self.overhead.wire_len(l3_len);
        (packets * u64::from(len), tx * packets)
    }

    /// Lets packets pass uncontended until something else has to be done.
    fn open(&mut self, window: Window) {
        let (_, l3_len, _) = self.uncontended.passed();
        let until = match &self.port {
            Some(fifo) if !self.onward.staged => {
                fifo.open_until(self.overhead.wire_len(l3_len), window)
            }
            _ => Time::ZERO,
        };
        self.uncontended.open_until(until);
    }

    /// Begins counting if `now` is not before the measured period.
    #[inline]
    pub(super) fn begin_counting(&mut self, now: Time, window: Window) {
        let begins = match &self.port {
            Some(fifo) => fifo.is_to_count(now, window),
            None => false,
        };
        if begins {
            self.count_from_now(window);
        }
    }

    #[cold]
    fn count_from_now(&mut self, window: Window) {
        self.count_passed();
        if let Some(fifo) = &mut self.port {
            fifo.begin_counting(self.uncontended.free_at, window);
        }
        self.open(window);
    }

    /// The time in the measured period during which it transmitted.
    pub(super) fn busy(&self) -> Dur {
        match &self.port {
            Some(fifo) if fifo.counting => self.meter.busy + self.passed().1,
            _ => self.meter.busy,
        }
    }

    /// The sample of the lane's port at `now`; forgets packets that have left.
    pub(super) fn sample(&mut self, now: Time) -> Option<Sample> {
        let passed = self.passed().0;
        let fifo = self.port.as_mut()?;
        let backlog = fifo.backlog(now, self.uncontended.free_at);
        let aqm = fifo.aqm.as_ref().map(|a| &a.automaton);
        Some(Sample {
            backlog,
            average: aqm.and_then(|a| a.average()),
            dropped: fifo.meter.dropped(),
            state: aqm.map(|a| a.state(now)).unwrap_or_default(),
            begun: self.meter.total_bytes + passed - backlog.1,
        })
    }

    /// The meter of the lane's queue, which counts packets at arrival.
    pub(super) fn queue(&self) -> Option<QueueMeter> {
        let (through, l3_len, tx) = self.uncontended.passed();
        let len = self.overhead.wire_len(l3_len);
        Some(self.port.as_ref()?.measured(through, len, tx))
    }

    /// The packets of the lane's queue by code point, if it distinguishes them.
    pub(super) fn precedences(&self) -> Option<Option<Box<Precedences>>> {
        Some(self.port.as_ref()?.precedences())
    }
}
