//! CoDel: controlled delay.
//!
//! Source: K. Nichols, V. Jacobson, A. McGregor, J. Iyengar, RFC 8289, 2018; K. Nichols, V.
//! Jacobson, "Controlling Queue Delay", ACM Queue 10(5), 2012. Marks, their threshold and the
//! 16-bit root are those of Linux (`tc-codel(8)`).
//!
//! Idea: a good queue drains within a round trip, a bad queue stands. The sojourn time of each
//! packet that leaves is compared with `target`. When it has not been below `target` for a whole
//! `interval`, one packet is dropped, the next `interval` / √1 later, then `interval` / √2, and so
//! on, until a packet has waited for less than `target`. The drop rate of TCP then rises linearly
//! in time.
//!
//! A queue that becomes bad again within 16 intervals resumes the count: it starts with the drops
//! that the last period of dropping needed beyond the one before.
//!
//! Deviations: times are picoseconds. A deadline has passed at its very instant (RFC 8289: ≥;
//! Linux: >, as with `as: linux`). A mark advances the next deadline from the last one, as a drop
//! does. Cost: O(1) per packet, one square root per drop.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use spillgate_core::{DropReason, Dur, Packet, Size, Time, Verdict};

use super::{Automaton, Backlog, Draw, DropStage, LeafFacts};
use crate::evidence::{Cause, Waited};
use crate::recipe::At;
use crate::stats::State;
use spillgate_core::Problem;

spillgate_core::spec! {
    /// Parameters of CoDel.
    pub struct CodelSpec {
        /// The implementation that is followed. Default: RFC 8289.
        #[serde(rename = "as", skip_serializing_if = "Option::is_none")]
        pub variant: Option<CodelVariant> = None,
        /// The acceptable standing delay. Default 5 ms, 5 % of `interval` (RFC 8289).
        pub target: Dur = Dur::from_ms(5),
        /// The time for which delays have to stay above `target` before the first packet is
        /// dropped: about the longest usual round-trip time. Default 100 ms (RFC 8289).
        pub interval: Dur = Dur::from_ms(100),
        /// Mark ECN-capable packets instead of dropping them (RFC 3168). Default false (Linux).
        pub ecn: bool = false,
        /// Mark every ECN-capable packet that waited longer, whatever `ecn` says: a shallow
        /// threshold as DCTCP needs it (Linux). Default: none.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub ce_threshold: Option<Dur> = None,
        /// Nothing is dropped while at most this many bytes are queued: the largest packet of the
        /// link (RFC 8289 §5, MAXPACKET). Default 1514 B, that of Ethernet.
        pub max_packet: Size = Size(1514),
        /// How the square root is computed. Default `exact`.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub inverse_sqrt: Option<InverseSqrt> = None,
    }
}

/// Implementations of CoDel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum CodelVariant {
    /// Linux: the 16-bit root (`inverse_sqrt: newton16`), all times in whole ticks of 1.024 us,
    /// rounded down, and the first drop of a period only after its deadline, not at it.
    Linux,
}

/// How CoDel computes 1/√count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum InverseSqrt {
    /// As an exact square root (RFC 8289).
    #[default]
    Exact,
    /// In 16 bits, by one step of Newton's method per drop (Linux, ns-3): the second drop comes
    /// after half an interval, not after 0.71.
    Newton16,
}

impl CodelSpec {
    /// None: its thresholds are times.
    pub(super) fn thresholds(
        &self,
        _: spillgate_core::Limit,
        _: spillgate_core::Rate,
    ) -> Vec<crate::Thresholds> {
        Vec::new()
    }

    /// How the square root is computed: as written, or as in the variant.
    pub fn root(&self) -> InverseSqrt {
        let of_variant = match self.variant {
            Some(CodelVariant::Linux) => InverseSqrt::Newton16,
            None => InverseSqrt::Exact,
        };
        self.inverse_sqrt.unwrap_or(of_variant)
    }

    /// Checks the parameters.
    fn params(&self, at: &mut At<'_>) -> Result<CodelParams, Problem> {
        at.check(
            !self.target.is_zero(),
            "target",
            self.target,
            "every packet would have waited too long",
            "the usual value is 5 ms",
        )?;
        // The longest interval whose product with the 16-bit root fits 64 bits, with room.
        at.check(
            !self.interval.is_zero() && self.interval <= LONGEST,
            "interval",
            self.interval,
            "the interval must be above 0 and at most 100 s",
            "the usual value is 100 ms",
        )?;
        at.check(
            self.target <= self.interval,
            "target",
            self.target,
            &format!("it must not be above the interval of {}", self.interval),
            "RFC 8289 advises 5 % of the interval",
        )?;
        let ticks = self.variant == Some(CodelVariant::Linux);
        let whole = |d: Dur| {
            if ticks {
                Dur::from_ps(d.as_ps() / TICK * TICK)
            } else {
                d
            }
        };
        for (key, time) in [("target", self.target), ("interval", self.interval)] {
            at.check(
                !whole(time).is_zero(),
                key,
                time,
                "it is less than a tick of Linux, 1.024 us",
                "write a longer time or leave `as: linux` out",
            )?;
        }
        Ok(CodelParams {
            target: whole(self.target),
            interval: whole(self.interval),
            ecn: self.ecn,
            ce_threshold: self.ce_threshold.map_or(Dur::MAX, whole),
            max_packet: self.max_packet.0,
            law: self.root(),
            ticks,
        })
    }

    pub(super) fn resolve(&self, at: &mut At<'_>, _: &LeafFacts) -> Result<Codel, Problem> {
        self.running(at)
    }

    /// A new CoDel.
    pub(crate) fn running(&self, at: &mut At<'_>) -> Result<Codel, Problem> {
        Ok(Codel::new(self.params(at)?))
    }
}

/// Picoseconds of Linux's unit of time: 2¹⁰ ns.
const TICK: u64 = 1_024_000;

const LONGEST: Dur = Dur::from_secs(100);

/// Parameters, resolved.
#[derive(Clone, Debug)]
pub(crate) struct CodelParams {
    target: Dur,
    interval: Dur,
    ce_threshold: Dur,
    max_packet: u64,
    ecn: bool,
    law: InverseSqrt,
    /// Times are whole ticks.
    ticks: bool,
}

impl CodelParams {
    /// The time `t` as the clock of this variant shows it.
    #[inline]
    fn clock(&self, t: Time) -> Time {
        match self.ticks {
            true => Time::from_ps(t.as_ps() / TICK * TICK),
            false => t,
        }
    }

    /// When the drop after one at `t` falls due.
    fn control_law(&self, t: Time, vars: &CodelVars) -> Time {
        let unit = if self.ticks { TICK } else { 1 };
        let interval = self.interval.as_ps() / unit;
        let gap = match self.law {
            InverseSqrt::Exact => (interval as f64 / f64::from(vars.count).sqrt() + 0.5) as u64,
            InverseSqrt::Newton16 => (interval * u64::from(vars.root)) >> 16,
        };
        t + Dur::from_ps(gap * unit)
    }
}

/// The state of one queue under CoDel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct CodelVars {
    /// The deadline of `interval` since delays are above `target`; [`Time::MAX`] while they are
    /// not.
    first_above: Time,
    /// The deadline of the next drop, while dropping.
    drop_next: Time,
    /// Drops in the present period of dropping.
    count: u32,
    /// `count` at the beginning of the period.
    last_count: u32,
    /// 2¹⁶/√count, approximately; kept for [`InverseSqrt::Newton16`].
    root: u16,
    dropping: bool,
}

const _: () = assert!(std::mem::size_of::<CodelVars>() <= 32);

impl CodelVars {
    /// The state of a new queue.
    pub(crate) const NEW: Self = Self {
        first_above: Time::MAX,
        drop_next: Time::ZERO,
        count: 0,
        last_count: 0,
        root: u16::MAX,
        dropping: false,
    };

    /// The queue is empty.
    #[inline]
    fn retire(&mut self) {
        self.first_above = Time::MAX;
        self.dropping = false;
    }

    /// RFC 8289's `ok_to_drop`, for a packet with this sojourn time and `backlog` bytes queued
    /// behind it.
    #[inline]
    fn is_bad(&mut self, p: &CodelParams, now: Time, waited: Dur, backlog: u64) -> bool {
        if waited < p.target || backlog <= p.max_packet {
            self.first_above = Time::MAX;
            return false;
        }
        if self.first_above == Time::MAX {
            self.first_above = now + p.interval;
            return false;
        }
        now > self.first_above || (now == self.first_above && !p.ticks)
    }

    /// One more drop, and one step of Newton's method: r <- r (3 - count r²) / 2.
    fn step(&mut self) {
        self.count = self.count.saturating_add(1);
        self.improve_root();
    }

    fn improve_root(&mut self) {
        let root = u64::from(self.root) << 16;
        let square = u64::from(self.count).saturating_mul((root * root) >> 32);
        let root = match (3_u64 << 32).checked_sub(square) {
            Some(value) => (((value >> 2) * root) >> 31) >> 16,
            // The method does not converge from there, as after many drops for lack of room (Linux
            // wraps around), so the root is computed.
            None => (65_536.0 / f64::from(self.count).sqrt()) as u64,
        };
        self.root = root.clamp(1, u64::from(u16::MAX)) as u16;
    }

    /// Begins a period of dropping, after its first drop.
    fn begin(&mut self, p: &CodelParams, now: Time) {
        let grew = self.count.saturating_sub(self.last_count);
        let recent = now.since(self.drop_next).as_ps() < 16 * p.interval.as_ps();
        self.dropping = true;
        if grew > 1 && recent {
            self.count = grew;
            self.improve_root();
        } else {
            self.count = 1;
            self.root = u16::MAX;
        }
        self.last_count = self.count;
        self.drop_next = p.control_law(now, self);
    }
}

/// A running CoDel: parameters, and the evidence of its last decisions.
#[derive(Clone, Debug)]
pub(crate) struct Codel {
    params: CodelParams,
    /// The packets that the last departure dropped or marked: flow, number, evidence.
    decided: Vec<(u32, u32, Waited)>,
}

impl Codel {
    pub(crate) fn new(params: CodelParams) -> Self {
        Self {
            params,
            decided: Vec::new(),
        }
    }

    /// The verdict on a packet that was taken from the head of its queue, with `backlog` bytes
    /// behind it. After a drop the next packet is to be judged with the same `stage`.
    #[inline]
    fn judge(
        &mut self,
        vars: &mut CodelVars,
        stage: &mut DropStage,
        now: Time,
        packet: &Packet,
        backlog: u64,
    ) -> Verdict {
        if *stage == DropStage::First && !self.decided.is_empty() {
            self.decided.clear();
        }
        let p = &self.params;
        let now = p.clock(now);
        let waited = now.since(p.clock(packet.arrived));
        let bad = vars.is_bad(p, now, waited, backlog);
        let acts = match *stage {
            DropStage::First if vars.dropping => {
                vars.dropping = bad;
                bad && now >= vars.drop_next
            }
            DropStage::First => bad,
            DropStage::Dropped => {
                vars.dropping = bad;
                if bad {
                    vars.drop_next = p.control_law(vars.drop_next, vars);
                }
                bad && now >= vars.drop_next
            }
            // RFC 8289 §5: the packet behind the first drop is sent.
            DropStage::Began => {
                vars.begin(p, now);
                false
            }
        };
        if acts {
            return self.act(vars, stage, now, packet, waited);
        }
        if waited > p.ce_threshold && packet.ecn.is_capable() {
            self.note(vars, packet, waited, None);
            return Verdict::Mark;
        }
        Verdict::Pass
    }

    /// Drops or marks a packet whose deadline has passed.
    #[cold]
    fn act(
        &mut self,
        vars: &mut CodelVars,
        stage: &mut DropStage,
        now: Time,
        packet: &Packet,
        waited: Dur,
    ) -> Verdict {
        let marks = self.params.ecn && packet.ecn.is_capable();
        if !vars.dropping {
            let due = vars.first_above;
            if marks {
                vars.begin(&self.params, now);
            } else {
                *stage = DropStage::Began;
            }
            self.note(vars, packet, waited, Some(due));
        } else {
            let due = vars.drop_next;
            vars.step();
            if marks {
                vars.drop_next = self.params.control_law(due, vars);
            } else {
                *stage = DropStage::Dropped;
            }
            self.note(vars, packet, waited, Some(due));
        }
        if marks {
            Verdict::Mark
        } else {
            Verdict::Drop(DropReason::Early)
        }
    }

    fn note(&mut self, vars: &CodelVars, packet: &Packet, waited: Dur, due: Option<Time>) {
        let p = &self.params;
        // The first drop of a period is counted when the next packet is judged.
        let count = if vars.dropping { vars.count } else { 1 };
        let why = Waited {
            waited,
            target: if due.is_some() {
                p.target
            } else {
                p.ce_threshold
            },
            interval: p.interval,
            count: due.map(|_| count),
            due,
        };
        self.decided.push((packet.flow, packet.seq, why));
    }
}

impl Automaton for Codel {
    type Vars = CodelVars;

    const JUDGES_DEPARTURES: bool = true;

    fn vars(&self) -> CodelVars {
        CodelVars::NEW
    }

    fn state(&self, v: &CodelVars, now: Time) -> State {
        let next = match v.dropping {
            true => v.drop_next.since(now).as_secs_f64(),
            false => f64::NAN,
        };
        vec![
            ("codel_dropping", f64::from(u8::from(v.dropping))),
            ("codel_count", v.count.into()),
            ("codel_next", next),
        ]
    }

    #[inline]
    fn arrival<D: Draw>(
        &mut self,
        _: &mut CodelVars,
        _: Time,
        _: &Backlog,
        _: &Packet,
        _: &mut D,
    ) -> Verdict {
        Verdict::Pass
    }

    #[inline]
    fn departure<D: Draw>(
        &mut self,
        vars: &mut CodelVars,
        stage: &mut DropStage,
        now: Time,
        backlog: &Backlog,
        packet: &Packet,
        _: &mut D,
    ) -> Verdict {
        self.judge(vars, stage, now, packet, backlog.bytes)
    }

    /// CoDel stays as aggressive as if it had dropped them itself (Linux).
    fn pushed_out(&self, vars: &mut CodelVars, packets: u32) {
        vars.count = vars.count.saturating_add(packets);
    }

    fn exhausted(&self, vars: &mut CodelVars, now: Time, stage: DropStage) {
        if stage == DropStage::Began {
            vars.begin(&self.params, self.params.clock(now));
        }
        vars.retire();
    }

    #[inline]
    fn retired(&self, vars: &mut CodelVars) {
        vars.retire();
    }

    fn is_new(&self, vars: &CodelVars) -> bool {
        *vars == CodelVars::NEW
    }

    fn cause(&self, packet: &Packet) -> Option<Cause> {
        let mut found = self.decided.iter().rev();
        let of = found.find(|(flow, seq, _)| (*flow, *seq) == (packet.flow, packet.seq))?;
        Some(Cause::Waited(of.2))
    }
}

#[cfg(test)]
#[path = "codel_tests.rs"]
mod tests;
