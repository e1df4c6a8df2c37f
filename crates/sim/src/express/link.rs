//! A link whose departures are known when packets arrive.

use spillgate_core::{Dur, Packet, Time};

use super::fifo::Loss;
use super::line::Line;
use crate::gauge::QueueMeter;
use crate::link::Link;
use crate::port::Port;
use crate::window::Window;

impl Link {
    /// When the last packet came to its port: none comes earlier from then on.
    #[inline]
    pub(super) fn latest(&self, lines: &mut [Line]) -> Time {
        match &self.port {
            // What went straight through came when it was sent.
            Port::Fifo(_) if self.straight.passed().0 != self.seen => self.straight.last_start(),
            Port::Fifo(fifo) => fifo.line(lines).latest,
            Port::Queued(_) => Time::ZERO,
        }
    }

    /// A packet has come at `now` that did not go straight through.
    #[inline]
    pub(super) fn came(&mut self, lines: &mut [Line], now: Time) {
        if let Port::Fifo(fifo) = &self.port {
            fifo.line(lines).latest = now;
            self.seen = self.straight.passed().0;
        }
    }

    /// A packet has to wait for others as long, and nothing else is to be said about it: from when to
    /// when it is sent.
    #[inline(always)]
    pub(super) fn wait(
        &mut self,
        lines: &mut [Line],
        now: Time,
        l3_len: u16,
    ) -> Option<(Time, Time)> {
        let (start, end) = self.straight.wait(l3_len)?;
        if now < self.latest(lines) {
            return None;
        }
        let Port::Fifo(fifo) = &self.port else {
            return None;
        };
        fifo.wait(lines, now, start)?;
        self.came(lines, now);
        self.straight.free_at = end;
        Some((start, end))
    }

    /// The same where queue management has something to say: also whether it is lost.
    #[inline]
    pub(super) fn ask(
        &mut self,
        lines: &mut [Line],
        now: Time,
        packet: &mut Packet,
        window: Window,
    ) -> Option<Result<(Time, Time), Loss>> {
        let sent = self.straight.next(packet.l3_len)?;
        if now < self.latest(lines) {
            return None;
        }
        let Port::Fifo(fifo) = &self.port else {
            return None;
        };
        let asked = fifo.ask(lines, now, sent, packet, window)?;
        self.came(lines, now);
        if asked.is_ok() {
            self.straight.free_at = sent.1;
        }
        Some(asked.map(|()| sent))
    }

    /// The same for a packet that arrives at a computed port at `now`: from now on others that are as
    /// long may go straight through, or wait together.
    #[inline]
    pub(super) fn turn(
        &mut self,
        lines: &mut [Line],
        now: Time,
        packet: &Packet,
        window: Window,
    ) -> Dur {
        let Port::Fifo(fifo) = &self.port else {
            return self.tx_time(packet);
        };
        match self.straight.tx_time(packet.l3_len) {
            Some(tx) if !self.onward.labels && !fifo.has_many(lines) => tx,
            _ => self.tune(lines, now, packet, window),
        }
    }

    /// Has packets of this length go straight through, or wait together.
    #[inline(never)]
    fn tune(&mut self, lines: &mut [Line], now: Time, packet: &Packet, window: Window) -> Dur {
        self.count_passed(lines);
        let (len, tx) = (packet.len, self.rate.tx_time(packet.len));
        self.straight.tune(packet.l3_len, tx);
        if let Port::Fifo(fifo) = &self.port {
            fifo.turn(lines, now, self.straight.free_at, len, tx);
        }
        self.open(lines, window);
        tx
    }

    /// Counts what went straight through or waited for others as long.
    fn count_passed(&mut self, lines: &mut [Line]) {
        let (through, l3_len, tx) = self.straight.passed();
        let len = self.overhead.wire_len(l3_len);
        let Port::Fifo(fifo) = &mut self.port else {
            return;
        };
        if through == 0 && fifo.waited(lines) == 0 {
            return;
        }
        if through != self.seen {
            fifo.line(lines).latest = self.straight.last_start();
        }
        let (waited, counting) = fifo.count(lines, through, len, tx);
        let packets = waited + u64::from(through);
        self.meter.total_bytes += packets * u64::from(len);
        if counting {
            self.meter.busy = self.meter.busy + tx * packets;
        }
        self.straight.counted();
        self.seen = 0;
    }

    /// What went straight through or waited for others as long and is not counted yet: bytes, and the
    /// time that the link took to send them.
    pub(super) fn passed(&self, lines: &[Line]) -> (u64, Dur) {
        let (through, l3_len, tx) = self.straight.passed();
        let waited = match &self.port {
            Port::Fifo(fifo) => fifo.waited(lines),
            Port::Queued(_) => 0,
        };
        let packets = waited + u64::from(through);
        let len = self.overhead.wire_len(l3_len);
        (packets * u64::from(len), tx * packets)
    }

    /// Lets packets go straight through as long as that is all there is to it.
    fn open(&mut self, lines: &mut [Line], window: Window) {
        let (_, l3_len, _) = self.straight.passed();
        let until = match &self.port {
            Port::Fifo(fifo) if !self.onward.labels => {
                fifo.open_until(lines, self.overhead.wire_len(l3_len), window)
            }
            _ => Time::ZERO,
        };
        self.straight.open_until(until);
    }

    /// The window has begun, if `now` lies in it or behind it.
    #[inline]
    pub(super) fn begin_counting(&mut self, now: Time, lines: &mut [Line], window: Window) {
        let begins = match &self.port {
            Port::Fifo(fifo) => fifo.begins(now, window),
            Port::Queued(_) => false,
        };
        if begins {
            self.count_from_now(lines, window);
        }
    }

    #[cold]
    fn count_from_now(&mut self, lines: &mut [Line], window: Window) {
        self.count_passed(lines);
        if let Port::Fifo(fifo) = &mut self.port {
            fifo.begin_counting(lines, self.straight.free_at, window);
        }
        self.open(lines, window);
    }

    /// The transmission that was to end at `end` is cut off at `now`.
    pub(super) fn cut_off(&mut self, lines: &mut [Line], now: Time, end: Time, window: Window) {
        self.count_passed(lines);
        self.meter.on_cut(window, now, end);
    }

    /// A link with a computed port has failed at `now`.
    pub(super) fn fail(&mut self, now: Time, lines: &mut [Line], window: Window) {
        // What waited when the window began is lost now.
        self.begin_counting(now, lines, window);
        if let Port::Fifo(fifo) = &mut self.port {
            fifo.fail(lines);
            self.straight.free_at = self.straight.free_at.min(now);
            self.open(lines, window);
        }
    }

    /// A link is up until `next`; its server is free and nothing waits.
    pub(super) fn repair(&mut self, next: Time, lines: &mut [Line], window: Window) {
        match &mut self.port {
            Port::Fifo(fifo) => fifo.repair(lines, next),
            Port::Queued(port) => port.down = false,
        }
        self.open(lines, window);
    }

    /// Time in the window during which it transmitted.
    pub(crate) fn busy(&self, lines: &[Line]) -> Dur {
        match &self.port {
            Port::Fifo(fifo) if fifo.is_counting() => self.meter.busy + self.passed(lines).1,
            _ => self.meter.busy,
        }
    }

    /// Packets and bytes that wait at `now` at a computed port.
    pub(crate) fn backlog(&self, lines: &mut [Line], now: Time) -> (u32, u64) {
        match &self.port {
            Port::Fifo(fifo) => fifo.backlog(lines, now, self.straight.free_at),
            Port::Queued(_) => (0, 0),
        }
    }

    /// The average queue in packets that the AQM of a computed port keeps, if it has one.
    pub(crate) fn average(&self, lines: &mut [Line]) -> Option<f64> {
        match &self.port {
            Port::Fifo(fifo) => fifo.line(lines).aqm()?.automaton.average(),
            Port::Queued(_) => None,
        }
    }

    /// Bytes whose transmission has begun by `now`, since the start of the run.
    pub(crate) fn begun_bytes(&self, lines: &mut [Line], now: Time) -> u64 {
        let planned = self.backlog(lines, now).1;
        self.meter.total_bytes + self.passed(lines).0 - planned
    }

    /// The meter of its queue, which has counted its packets on arrival; none of a served port.
    pub(crate) fn computed_queue(&self, lines: &[Line]) -> Vec<QueueMeter> {
        let Port::Fifo(fifo) = &self.port else {
            return Vec::new();
        };
        let (through, l3_len, tx) = self.straight.passed();
        let len = self.overhead.wire_len(l3_len);
        vec![fifo.meter(lines, through, len, tx)]
    }
}
