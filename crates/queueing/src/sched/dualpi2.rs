//! DualPI2: two queues whose AQMs are coupled, for scalable and for classic senders.
//!
//! Source: K. De Schepper, B. Briscoe (ed.), G. White, RFC 9332, 2023, appendix A: A.1 the law, A.2
//! overload; `tc-dualpi2(8)` for Linux 6.18.
//!
//! Idea: packets of scalable senders, with ECT(1) or CE, have a queue L of their own, which is
//! marked as soon as they wait for about a millisecond; all others share the queue C, which PI2
//! holds at `target`. L nearly always goes first. That L does not starve C is left to congestion
//! control: what C's controller finds marks L, too.
//!
//! Equations: p' by [`crate::aqm::Pi`] from the longer of the delays of the first packets of both
//! queues; C drops or marks with p_C = p'². L marks with p_L = max(p'_L, p_CL): p_CL = k p' couples
//! it, and p'_L rises from 0 to 1 as its own delay goes from `threshold` to `threshold` + `range`.
//! From p_CL = 1 on both queues drop with p_C, and what remains of L is marked.
//!
//! Deviations: p' is at most 1. The packet whose mark is decided does not count for `min_packets`.
//! De-randomized decisions add up probabilities of at most 1, and begin anew when there is nothing
//! to update. A limit in packets counts packets. Cost: O(1) per packet and update.

use std::any::Any;
use std::collections::VecDeque;

use spillgate_core::{DropReason, Dropped, Dscp, Dur, Ecn, Packet, Time};

use super::dualpi2_spec::{Decide, Law, MILLION, Scheduler};
use super::flow_queue::FlowQueue;
use crate::aqm::{Base, Draw as _, is_scalable};
use crate::evidence::{Cause, CoupledOdds, QueueLimit};
use crate::guarantee::Load;
use crate::leaf::{Bound, ring_packets};
use crate::share::{Fairness, Meanwhile, Member, Others, PARTS};
use crate::stats::{Cx, State};

/// A packet of the queue L.
#[derive(Clone, Copy, Debug)]
struct Held {
    packet: Packet,
    /// Its wait may mark it, as far as is known when it comes.
    may_mark: bool,
}

/// What becomes of a packet that is to leave.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fate {
    Pass,
    Mark,
    Drop,
}

/// A running DualPI2.
#[derive(Clone, Debug)]
pub(crate) struct DualPi2 {
    law: Law,
    bound: Bound,
    l4s: VecDeque<Held>,
    classic: VecDeque<Packet>,
    bytes: u64,
    base: Base,
    /// Of weighted round robin: C goes first while it is above 0.
    credit: i64,
    /// Sums of probabilities of de-randomized decisions in L and in C.
    sums: [f64; 2],
    /// p_L of the packet of L that left last.
    last: f64,
    /// Why a packet was hit last.
    odds: Option<CoupledOdds>,
}

impl DualPi2 {
    pub(super) fn new(law: Law, bound: Bound) -> Self {
        Self {
            credit: law.first_credit(),
            law,
            bound: bound.in_4_gib(),
            l4s: VecDeque::new(),
            classic: VecDeque::new(),
            bytes: 0,
            base: Base::NEW,
            sums: [0.0; 2],
            last: 0.0,
            odds: None,
        }
    }

    /// Whether the queue L sends next; none if nothing waits.
    #[inline]
    fn l4s_is_next(&self) -> Option<bool> {
        let (l4s, classic) = (self.l4s.front(), self.classic.front());
        let Some((l, c)) = l4s.zip(classic) else {
            return (l4s.is_some() || classic.is_some()).then_some(l4s.is_some());
        };
        Some(match self.law.scheduler {
            Scheduler::RoundRobin(_) => self.credit <= 0,
            Scheduler::Shifted(shift) => c.arrived + shift >= l.packet.arrived,
        })
    }

    /// The change of the credit if a packet leaves while the other queue waits.
    fn charge(&self, from_l4s: bool, len: u32) -> i64 {
        let other_waits = match from_l4s {
            true => !self.classic.is_empty(),
            false => !self.l4s.is_empty(),
        };
        match self.law.scheduler {
            Scheduler::RoundRobin(_) if !other_waits => 0,
            Scheduler::RoundRobin(classic) if from_l4s => classic * i64::from(len),
            Scheduler::RoundRobin(classic) => (classic - MILLION) * i64::from(len),
            Scheduler::Shifted(_) => 0,
        }
    }

    fn advance(&mut self, now: Time) {
        let l4s = self.l4s.front().map(|h| h.packet.arrived);
        let classic = self.classic.front().map(|p| p.arrived);
        let oldest = l4s.into_iter().chain(classic).min();
        if self.law.pi.advance(&mut self.base, now, oldest) {
            self.sums = [0.0; 2];
        }
    }

    /// Whether a packet is hit with a probability; of C by a square with the root `p`.
    fn hits(&mut self, is_l4s: bool, p: f64, odds: CoupledOdds, cx: &mut Cx<'_>) -> bool {
        let (probability, mut drawn) = (odds.probability, None);
        let hit = if probability <= 0.0 {
            false
        } else if probability >= 1.0 {
            true
        } else if self.law.decide == Decide::Recur {
            let sum = &mut self.sums[usize::from(!is_l4s)];
            *sum += probability;
            let hit = *sum > 1.0;
            *sum -= f64::from(u8::from(hit));
            hit
        } else {
            let mut below = || {
                let u = cx.rng.draw();
                drawn = Some(u);
                u < p
            };
            // A square, by two numbers.
            below() && (p == probability || below())
        };
        if hit {
            self.odds = Some(CoupledOdds {
                draw: drawn,
                ..odds
            });
        }
        hit
    }

    /// What becomes of a packet of the queue L that has left it.
    fn judge_l4s(&mut self, held: &Held, cx: &mut Cx<'_>) -> Fate {
        let (law, waited) = (&self.law, cx.now.since(held.packet.arrived));
        let behind = self.l4s.len() as u64;
        let may_mark = match law.is_linux {
            true => held.may_mark,
            false => behind > law.min_packets.into(),
        };
        let native = if may_mark { law.native(waited) } else { 0.0 };
        let is_short = law.is_linux && self.bytes < 2 * u64::from(law.mtu);
        let (overloaded, classic) = (
            law.overloaded(&self.base) && !is_short,
            law.classic(&self.base),
        );
        let coupled = match is_short {
            true => 0.0,
            false => law.coupled(&self.base).min(1.0),
        };
        let odds = CoupledOdds {
            l4s: true,
            waited,
            native,
            probability: native.max(coupled),
            ..self.odds_of(classic)
        };
        if overloaded {
            let drop = CoupledOdds {
                probability: classic,
                ..odds
            };
            if self.hits(true, self.base.p, drop, cx) {
                return Fate::Drop;
            }
        }
        self.last = odds.probability;
        let hit = if overloaded {
            self.odds = Some(CoupledOdds {
                probability: 1.0,
                ..odds
            });
            true
        } else if self.law.is_linux {
            // Linux: the coupled decision is made before the wait is looked at.
            let first = CoupledOdds {
                probability: coupled,
                ..odds
            };
            let own = CoupledOdds {
                probability: native,
                ..odds
            };
            self.hits(true, coupled, first, cx) || self.hits(true, native, own, cx)
        } else {
            self.hits(true, odds.probability, odds, cx)
        };
        if hit { Fate::Mark } else { Fate::Pass }
    }

    /// What becomes of a packet of the queue C that has left it.
    fn judge_classic(&mut self, packet: &Packet, cx: &mut Cx<'_>) -> Fate {
        if self.law.is_linux && self.bytes < 2 * u64::from(self.law.mtu) {
            return Fate::Pass;
        }
        let odds = CoupledOdds {
            waited: cx.now.since(packet.arrived),
            ..self.odds_of(self.law.classic(&self.base))
        };
        if !self.hits(false, self.base.p, odds, cx) {
            Fate::Pass
        } else if packet.ecn.is_capable() && !self.law.overloaded(&self.base) {
            Fate::Mark
        } else {
            Fate::Drop
        }
    }

    /// Odds of the classic queue.
    fn odds_of(&self, probability: f64) -> CoupledOdds {
        CoupledOdds {
            l4s: false,
            delay: self.base.delay,
            target: self.law.pi.target,
            base: self.base.p,
            probability,
            native: 0.0,
            waited: Dur::ZERO,
            draw: None,
        }
    }

    /// Takes the next packet out of its queue, with what becomes of it and of the credit.
    fn take(&mut self, cx: &mut Cx<'_>) -> Option<(Packet, Fate, i64)> {
        let from_l4s = self.l4s_is_next()?;
        if from_l4s {
            let held = self.l4s.pop_front()?;
            self.bytes -= u64::from(held.packet.len);
            let fate = self.judge_l4s(&held, cx);
            Some((held.packet, fate, self.charge(true, held.packet.len)))
        } else {
            let packet = self.classic.pop_front()?;
            self.bytes -= u64::from(packet.len);
            let fate = self.judge_classic(&packet, cx);
            Some((packet, fate, self.charge(false, packet.len)))
        }
    }

    /// Whether there is room for a packet.
    fn admits(&self, len: u32) -> bool {
        let room = match self.law.is_linux {
            true => len,
            false => len.max(self.law.mtu),
        };
        self.bound.admits(self.packets(), self.bytes, room)
    }

    fn forget_turns_if_empty(&mut self) {
        if self.packets() == 0 {
            self.credit = self.law.first_credit();
        }
    }
}

impl FlowQueue for DualPi2 {
    fn name(&self) -> &'static str {
        "dualpi2"
    }

    fn offer(&mut self, packet: &mut Packet, was: Ecn, cx: &mut Cx<'_>) -> Option<i64> {
        if !self.bound.admits(0, 0, packet.len) {
            return None;
        }
        self.advance(cx.now);
        if !self.admits(packet.len) {
            packet.ecn = was;
            cx.refused(*packet, DropReason::Tail);
            return Some(0);
        }
        self.law.pi.begin(&mut self.base, cx.now);
        self.bytes += u64::from(packet.len);
        if is_scalable(packet) {
            let may_mark = self.l4s.len() as u64 >= self.law.min_packets.into();
            let packet = *packet;
            self.l4s.push_back(Held { packet, may_mark });
        } else {
            self.classic.push_back(*packet);
        }
        cx.enqueued(packet, packet.ecn != was);
        Some(1)
    }

    fn pop(&mut self, cx: &mut Cx<'_>) -> Option<Packet> {
        self.advance(cx.now);
        while let Some((mut packet, fate, charge)) = self.take(cx) {
            match fate {
                Fate::Drop => {
                    self.forget_turns_if_empty();
                    cx.evicted(packet, DropReason::Early);
                    continue;
                }
                Fate::Mark => {
                    packet.ecn = Ecn::Ce;
                    cx.marked(&packet);
                }
                Fate::Pass => {}
            }
            self.credit += charge;
            self.forget_turns_if_empty();
            cx.dequeued(&packet);
            return Some(packet);
        }
        None
    }

    fn packets(&self) -> u32 {
        (self.l4s.len() + self.classic.len()) as u32
    }

    fn transmits_until(&mut self, _: Time) {}

    fn head(&self) -> Option<&Packet> {
        match self.l4s_is_next()? {
            true => self.l4s.front().map(|h| &h.packet),
            false => self.classic.front(),
        }
    }

    fn flush(&mut self, reason: DropReason, cx: &mut Cx<'_>) {
        self.advance(cx.now);
        let l4s = self.l4s.drain(..).map(|h| h.packet);
        l4s.chain(self.classic.drain(..))
            .for_each(|packet| cx.evicted(packet, reason));
        self.bytes = 0;
        self.forget_turns_if_empty();
    }

    fn state(&self) -> State {
        vec![
            ("base_probability", self.base.p),
            ("drop_probability", self.law.classic(&self.base)),
            ("l4s_probability", self.last),
            ("pie_delay", self.base.delay.as_secs_f64()),
            ("l4s_packets", self.l4s.len() as f64),
            ("classic_packets", self.classic.len() as f64),
        ]
    }

    fn evidence(&self, lost: &Dropped) -> Cause {
        match lost.reason {
            DropReason::Early => self.odds.map(Cause::Coupled).unwrap_or_default(),
            _ => Cause::Plain,
        }
    }

    fn bound(&self) -> &Bound {
        &self.bound
    }

    fn fairness(&self) -> &dyn Fairness {
        self
    }

    fn judges_departures(&self) -> bool {
        true
    }

    fn memory_bytes(&self, _: usize) -> u64 {
        // Either queue may hold all, and keeps what it has got.
        let each = std::mem::size_of::<Held>() + std::mem::size_of::<Packet>();
        each as u64 * ring_packets(&self.bound)
    }

    fn retune(&mut self, fresh: &dyn FlowQueue) {
        if let Some(fresh) = fresh.as_any().downcast_ref::<Self>() {
            self.law = fresh.law.clone();
            self.bound = fresh.bound;
        }
    }

    fn boxed(&self) -> Box<dyn FlowQueue> {
        Box::new(self.clone())
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

impl Fairness for DualPi2 {
    fn weights(&self, _: Option<Dscp>) -> (u64, u64) {
        (1, 1)
    }

    fn hashed(&self) -> Option<u32> {
        Some(2)
    }

    /// By weighted round robin of the parts c and 1 - c: the credit is above -(1 - c) L when C
    /// has sent, and c L at most when L has, or as at the beginning. While C waits and sends x
    /// bytes, the last packet of L is chosen while the credit is 0 at most, so before it L has sent
    /// ((1 - c) x + the least credit) / c; and the other way round. One more is in transmission.
    ///
    /// By time-shifted FIFO nothing that comes after the shift is sent before, of C.
    fn meanwhile(&self, own: &Member, _: &Others, _: &Load) -> Vec<Meanwhile> {
        let share = match self.law.scheduler {
            Scheduler::Shifted(shift) => return vec![Meanwhile::Later(shift)],
            Scheduler::RoundRobin(classic) => classic,
        };
        let (longest, first) = (u128::from(own.longest), self.law.first_credit());
        let of = |own: i64, first: i64| {
            let (own, other) = (own.unsigned_abs(), (MILLION - own).unsigned_abs());
            let (own, other) = (u128::from(own), u128::from(other));
            let credit = u128::from(first.max(0).unsigned_abs()).max(other * longest);
            Meanwhile::Evenly {
                ahead: 2 * longest + credit.div_ceil(own),
                parts: (other * PARTS).div_ceil(own),
            }
        };
        vec![of(share, -first), of(MILLION - share, first)]
    }

    fn mixes(&self) -> bool {
        true
    }

    fn holds(&self, _: &Member, _: &Others) -> (QueueLimit, QueueLimit) {
        let limit = self.bound.limit();
        (limit, limit)
    }
}

#[cfg(test)]
#[path = "dualpi2_tests.rs"]
mod tests;
