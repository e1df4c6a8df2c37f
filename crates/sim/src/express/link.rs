//! A link whose departures are known when packets arrive.

use spillgate_core::{Dur, Packet, Time};
use spillgate_queueing::Adapted;

use super::fifo_queue::FifoQueue;
use crate::gauge::QueueMeter;
use crate::link::Link;
use crate::port::Port;
use crate::window::Window;

impl Link {
    /// When the last packet came to its port: none comes earlier from then on.
    #[inline]
    pub(super) fn latest(&self, fifos: &mut [FifoQueue]) -> Time {
        match &self.port {
            // What passed uncontended came when it was sent.
            Port::Fifo(_) if self.uncontended.passed().0 != self.seen => {
                self.uncontended.last_start()
            }
            Port::Fifo(fifo) => fifo.queue(fifos).latest,
            Port::Queued(_) => Time::ZERO,
        }
    }

    /// A packet has come at `now` that did not pass uncontended.
    #[inline]
    pub(super) fn came(&mut self, fifos: &mut [FifoQueue], now: Time) {
        if let Port::Fifo(fifo) = &self.port {
            fifo.queue(fifos).latest = now;
            self.seen = self.uncontended.passed().0;
        }
    }

    /// A packet has to wait for others as long, and nothing else is to be said about it: from when
    /// to when it is sent.
    #[inline(always)]
    pub(super) fn wait(
        &mut self,
        fifos: &mut [FifoQueue],
        now: Time,
        l3_len: u16,
    ) -> Option<(Time, Time)> {
        let (start, end) = self.uncontended.wait(l3_len)?;
        if now < self.latest(fifos) {
            return None;
        }
        let Port::Fifo(fifo) = &self.port else {
            return None;
        };
        fifo.wait(fifos, now, start)?;
        self.came(fifos, now);
        self.uncontended.free_at = end;
        Some((start, end))
    }

    /// The same for a packet that arrives at a computed port at `now`: from now on others that are
    /// as long may pass uncontended, or wait together.
    #[inline]
    pub(super) fn turn(
        &mut self,
        fifos: &mut [FifoQueue],
        now: Time,
        packet: &Packet,
        window: Window,
    ) -> Dur {
        let Port::Fifo(fifo) = &self.port else {
            return self.tx_time(packet);
        };
        match self.uncontended.tx_time(packet.l3_len) {
            Some(tx) if !self.onward.labels && !fifo.has_many(fifos) => tx,
            _ => self.tune(fifos, now, packet, window),
        }
    }

    /// Has packets of this length pass uncontended, or wait together.
    #[inline(never)]
    fn tune(&mut self, fifos: &mut [FifoQueue], now: Time, packet: &Packet, window: Window) -> Dur {
        self.count_passed(fifos);
        let (len, tx) = (packet.len, self.rate.tx_time(packet.len));
        self.uncontended.tune(packet.l3_len, tx);
        if let Port::Fifo(fifo) = &self.port {
            fifo.turn(fifos, now, self.uncontended.free_at, len, tx);
        }
        self.open(window);
        tx
    }

    /// Counts what passed uncontended or waited for others as long.
    fn count_passed(&mut self, fifos: &mut [FifoQueue]) {
        let (through, l3_len, tx) = self.uncontended.passed();
        let len = self.overhead.wire_len(l3_len);
        let Port::Fifo(fifo) = &mut self.port else {
            return;
        };
        if through == 0 && fifo.waited(fifos) == 0 {
            return;
        }
        if through != self.seen {
            fifo.queue(fifos).latest = self.uncontended.last_start();
        }
        let (waited, counting) = fifo.count(fifos, through, len, tx);
        let packets = waited + u64::from(through);
        self.meter.total_bytes += packets * u64::from(len);
        if counting {
            self.meter.busy = self.meter.busy + tx * packets;
        }
        self.uncontended.counted();
        self.seen = 0;
    }

    /// What passed uncontended or waited for others as long and is not counted yet: bytes, and
    /// the time that the link took to send them.
    pub(super) fn passed(&self, fifos: &[FifoQueue]) -> (u64, Dur) {
        let (through, l3_len, tx) = self.uncontended.passed();
        let waited = match &self.port {
            Port::Fifo(fifo) => fifo.waited(fifos),
            Port::Queued(_) => 0,
        };
        let packets = waited + u64::from(through);
        let len = self.overhead.wire_len(l3_len);
        (packets * u64::from(len), tx * packets)
    }

    /// Lets packets pass uncontended as long as that is all there is to it.
    fn open(&mut self, window: Window) {
        let (_, l3_len, _) = self.uncontended.passed();
        let until = match &self.port {
            Port::Fifo(fifo) if !self.onward.labels => {
                fifo.open_until(self.overhead.wire_len(l3_len), window)
            }
            _ => Time::ZERO,
        };
        self.uncontended.open_until(until);
    }

    /// The measured period has begun, if `now` lies in it or behind it.
    #[inline]
    pub(super) fn begin_counting(&mut self, now: Time, fifos: &mut [FifoQueue], window: Window) {
        let begins = match &self.port {
            Port::Fifo(fifo) => fifo.begins(now, window),
            Port::Queued(_) => false,
        };
        if begins {
            self.count_from_now(fifos, window);
        }
    }

    #[cold]
    fn count_from_now(&mut self, fifos: &mut [FifoQueue], window: Window) {
        self.count_passed(fifos);
        if let Port::Fifo(fifo) = &mut self.port {
            fifo.begin_counting(fifos, self.uncontended.free_at, window);
        }
        self.open(window);
    }

    /// Time in the measured period during which it transmitted.
    pub(crate) fn busy(&self, fifos: &[FifoQueue]) -> Dur {
        match &self.port {
            Port::Fifo(fifo) if fifo.is_counting() => self.meter.busy + self.passed(fifos).1,
            _ => self.meter.busy,
        }
    }

    /// Packets and bytes that wait at `now` at a computed port.
    pub(crate) fn backlog(&self, fifos: &mut [FifoQueue], now: Time) -> (u32, u64) {
        match &self.port {
            Port::Fifo(fifo) => fifo.backlog(fifos, now, self.uncontended.free_at),
            Port::Queued(_) => (0, 0),
        }
    }

    /// The average queue in packets that the AQM of a computed port keeps, if it has one.
    pub(crate) fn average(&self, fifos: &mut [FifoQueue]) -> Option<f64> {
        match &self.port {
            Port::Fifo(fifo) => fifo.queue(fifos).aqm()?.automaton.average(),
            Port::Queued(_) => None,
        }
    }

    /// Packets that the queue of a computed port has dropped since the start of the run.
    pub(crate) fn dropped(&self, fifos: &mut [FifoQueue]) -> u64 {
        match &self.port {
            Port::Fifo(fifo) => fifo.queue(fifos).meter.dropped(),
            Port::Queued(_) => 0,
        }
    }

    /// What the AQM of a computed port has set by itself, if it has one.
    pub(crate) fn adapted(&self, fifos: &mut [FifoQueue]) -> Adapted {
        match &self.port {
            Port::Fifo(fifo) => fifo.queue(fifos).aqm().map(|a| a.automaton.adapted()),
            Port::Queued(_) => None,
        }
        .unwrap_or_default()
    }

    /// Bytes whose transmission has begun by `now`, since the start of the run.
    pub(crate) fn begun_bytes(&self, fifos: &mut [FifoQueue], now: Time) -> u64 {
        let planned = self.backlog(fifos, now).1;
        self.meter.total_bytes + self.passed(fifos).0 - planned
    }

    /// The meter of its queue, which has counted its packets on arrival; none of a served port.
    pub(crate) fn known_departures_queue(&self, fifos: &[FifoQueue]) -> Vec<QueueMeter> {
        let Port::Fifo(fifo) = &self.port else {
            return Vec::new();
        };
        let (through, l3_len, tx) = self.uncontended.passed();
        let len = self.overhead.wire_len(l3_len);
        vec![fifo.meter(fifos, through, len, tx)]
    }
}
