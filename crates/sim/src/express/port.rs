//! A port with known departures: what it holds, and what it counts.

use std::mem::offset_of;

use spillgate_core::{Averages, DropReason, Dur, Ecn, Packet, Rng, Time, Verdict};
use spillgate_measure::{QueueMeter, Through, Waits, Window};
use spillgate_queueing::ArrivalAqm;

use super::waiting::Waiting;
use crate::precedence::Precedences;

/// A FIFO that computes a packet's service start at its arrival (Lindley recursion). A packet waits
/// until its service starts.
///
/// For each packet it does the same as a `Port` with this FIFO. Packets arrive in order, but the
/// port may be ahead of the world's clock. Packets that pass uncontended touch nothing here
/// ([`Uncontended`](super::uncontended::Uncontended)): in a large network it is not in the cache.
#[repr(C, align(64))]
pub(super) struct FifoPort {
    // A packet that waits behind others of the same length touches two cache lines: this one and
    // the histogram.
    /// A packet that waits no longer than this finds room, if it has the length of all waiting
    /// packets; zero if lengths differ.
    pub(super) room: Dur,
    pub(super) waits: Waits,
    /// The longest packet that the link carries, labels included.
    pub(super) mtu: u32,
    /// The measured period has begun.
    pub(super) counting: bool,
    /// When the last packet arrived that did not pass uncontended.
    pub(super) latest: Time,
    pub(super) meter: QueueMeter,
    // The rest.
    pub(super) waiting: Waiting,
    pub(super) aqm: Option<Box<Aqm>>,
    /// Packets that did not wait, within the measured period.
    pub(super) through: Through,
    /// A packet up to this length on the wire always passes an empty queue, and nobody needs to be
    /// asked.
    pub(super) longest: u32,
}

const _: () = assert!(size_of::<FifoPort>() == 320 && offset_of!(FifoPort, meter) + 72 <= 128);

/// An AQM with the random numbers of its port.
pub(super) struct Aqm {
    pub(super) automaton: ArrivalAqm,
    /// Whether it has to be told when packets begin to leave.
    pub(super) foresees: bool,
    pub(super) rng: Rng,
    /// When the transmission of the last waiting packet ends, unless the AQM has been told.
    pub(super) last: Option<Time>,
    /// Its averages within the measured period.
    pub(super) averages: Averages,
    /// Its packets by code point, if it tells them apart.
    pub(super) precedences: Option<Box<Precedences>>,
}

impl FifoPort {
    /// Its AQM.
    #[inline]
    pub(super) fn aqm(&mut self) -> Option<&mut Aqm> {
        self.aqm.as_deref_mut()
    }

    /// The averages of its AQM.
    pub(super) fn averages(&self) -> Averages {
        self.aqm.as_ref().map(|a| a.averages).unwrap_or_default()
    }

    /// Its packets by code point.
    pub(super) fn precedences(&self) -> Option<Box<Precedences>> {
        self.aqm.as_ref()?.precedences.clone()
    }

    /// A packet leaves the queue at `start` for transmission.
    #[inline]
    pub(super) fn begins(&mut self, window: Window, packet: &Packet, start: Time) {
        if let Some(by) = self.aqm().and_then(|a| a.precedences.as_deref_mut()) {
            by.on_begun(window, packet, start);
        }
    }

    /// A packet is dropped at `now`.
    pub(super) fn lost(&mut self, window: Window, packet: &Packet, now: Time, why: DropReason) {
        self.meter.on_lost(window, packet, now, why);
        if let Some(by) = self.aqm().and_then(|a| a.precedences.as_deref_mut()) {
            by.on_lost(window, packet, now);
        }
    }

    /// Takes a packet that has to wait from `now` until `start`, if it has the length of all
    /// waiting packets and nobody has to be asked.
    #[inline(always)]
    pub(super) fn wait(&mut self, now: Time, start: Time) -> Option<()> {
        let wait = start.since(now);
        // A wait of zero takes the general path, too.
        if wait.as_ps().wrapping_sub(1) >= self.room.as_ps() {
            return None;
        }
        let sum = self.waits.sum_with(wait)?;
        self.take(wait, sum);
        self.meter.on_wait(now, start, self.waiting.len());
        Some(())
    }

    /// Counts a packet with its wait; `sum`: the sum of waits including it.
    #[inline(always)]
    fn take(&mut self, wait: Dur, sum: Dur) {
        self.waits.packets += 1;
        if self.counting {
            self.waits.sum = sum;
            if wait > self.waits.longest {
                self.waits.longest = wait;
            }
            self.meter.sojourn.sort_in(wait);
        }
    }

    /// Counts a packet that waits until `start` and is sent until `end`.
    #[inline]
    pub(super) fn served(&mut self, window: Window, packet: &Packet, start: Time, end: Time) {
        self.meter.on_left(window, packet, start);
        if window.contains(start) {
            let wait = start.since(packet.arrived);
            self.meter.sojourn.sum_up(1, wait.as_ps().into(), wait);
            self.meter.sojourn.sort_in(wait);
        }
        self.meter.carried += window.part(packet.len, start, end);
    }

    /// The verdict of the AQM and the limit on a packet behind this backlog. Sets its mark.
    #[inline]
    pub(super) fn verdict(
        &mut self,
        now: Time,
        backlog: (u32, u64),
        packet: &mut Packet,
        window: Window,
    ) -> Result<(), DropReason> {
        let verdict = match self.aqm() {
            Some(aqm) => aqm.arrival(now, backlog.0, packet, window),
            None => Verdict::Pass,
        };
        if !matches!(verdict, Verdict::Drop(_)) && !self.waiting.has_room(backlog, packet.len) {
            if let Some(aqm) = self.aqm() {
                aqm.automaton.overflowed();
            }
            return Err(DropReason::Tail);
        }
        match verdict {
            Verdict::Pass => {}
            Verdict::Mark => {
                packet.ecn = Ecn::Ce;
                self.meter.marks_ce += u64::from(window.contains(now));
            }
            Verdict::Drop(reason) => return Err(reason),
        }
        Ok(())
    }

    /// From `now` on packets have `len` bytes and take `tx` to send.
    pub(super) fn turn(&mut self, now: Time, free_at: Time, len: u32, tx: Dur) {
        if self.waiting.turn(now, free_at, len, tx) {
            self.room = Dur::ZERO;
        }
    }
}

impl Aqm {
    /// The packet that it let in last begins to leave at `start`.
    #[inline]
    pub(super) fn begins(&mut self, start: Time, packet: &Packet) {
        if self.foresees {
            self.automaton.begins(start, packet);
        }
    }

    /// The verdict on a packet that arrives at `now` behind `waiting` packets.
    #[inline]
    pub(super) fn arrival(
        &mut self,
        now: Time,
        waiting: u32,
        packet: &Packet,
        window: Window,
    ) -> Verdict {
        if waiting == 0 {
            if let Some(at) = self.last.take() {
                self.automaton.idle_from(at);
            }
        }
        let automaton = &mut self.automaton;
        let verdict = automaton.arrival(now, waiting, packet, &mut self.rng);
        if let Some(average) = automaton.average().filter(|_| window.contains(now)) {
            self.averages.add(average);
        }
        verdict
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Room for two packets of 10 B, sent in 5 ps each.
    fn queue() -> FifoPort {
        let mut queue = FifoPort {
            room: Dur::ZERO,
            waits: Waits::default(),
            mtu: 1500,
            meter: QueueMeter::new(5),
            waiting: Waiting::new((u32::MAX, 29), 10, Dur::from_ps(5)),
            aqm: None,
            latest: Time::ZERO,
            counting: true,
            through: Through::default(),
            longest: 0,
        };
        queue.room = queue.waiting.room();
        queue
    }

    /// A transmission of 5 ps ends in 1 to 5 ps; afterwards the waiting packets begin, one each
    /// 5 ps.
    #[test]
    fn what_waits_shorter_than_the_room_gets_in() {
        let at = Time::from_ps;
        let wait = |start| queue().wait(at(100), at(start)).is_some();
        assert!(!wait(100), "it need not wait");
        assert!(wait(101) && wait(105), "nothing waits");
        assert!(wait(106) && wait(110), "one waits");
        assert!(!wait(111), "two wait");
    }

    #[test]
    fn what_makes_no_sum_is_for_others() {
        let mut queue = queue();
        queue.waits.sum = Dur::from_ps(u64::MAX - 7);
        assert_eq!(queue.wait(Time::ZERO, Time::from_ps(8)), None);
        assert_eq!(queue.waits.packets, 0);
        assert!(queue.wait(Time::ZERO, Time::from_ps(7)).is_some());
        assert!(queue.waits.sum >= Waits::MANY, "it is to be counted");
    }
}
