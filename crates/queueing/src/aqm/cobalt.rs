//! COBALT: CoDel and BLUE side by side, as CAKE has them in each of its queues.
//!
//! Sources: J. Palmei, S. Gupta, P. Imputato, J. Morton, M. P. Tahiliani, S. Avallone, D. Taht,
//! "Design and Evaluation of COBALT Queue Discipline", IEEE LANMAN 2019; the behavior of Linux 6.18
//! (`tc-cake(8)`) and of ns-3.
//!
//! Idea: CoDel hears senders that react, BLUE those that do not. CoDel's count is a state that
//! decays: where delays fall below the target it goes down step by step, at the pace at which it
//! went up, instead of being forgotten or resumed. BLUE's probability rises where the queue
//! overflows and falls where it is found empty; it drops packets that are capable of ECN, too.
//!
//! Deviations: times are picoseconds, so that Linux and ns-3 agree to their nanosecond. A queue is
//! found empty when the transmission of its last packet ends, or when the scheduler of a fair queue
//! asks it for a packet in vain. Cost: O(1) per packet, amortized; one draw while BLUE's
//! probability is above 0.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use spillgate_core::{DropReason, Dur, Limit, Packet, Problem, Rate, Size, Time, Verdict};

use super::blue::check_step;
use super::{Automaton, Backlog, Draw, DropStage, LeafFacts};
use crate::Thresholds;
use crate::evidence::{Cause, ChanceOdds, GoesBy, Waited};
use crate::recipe::At;
use crate::stats::State;

spillgate_core::spec! {
    /// Parameters of COBALT.
    pub struct CobaltSpec {
        /// The implementation whose rules hold where they differ. Default: Linux 6.18, but a new
        /// queue gives an interval before its first signal, as ns-3 does.
        #[serde(rename = "as", skip_serializing_if = "Option::is_none")]
        pub variant: Option<CobaltVariant> = None,
        /// The acceptable standing delay, and the least time between changes of BLUE's probability.
        /// Default 5 ms.
        pub target: Dur = Dur::from_ms(5),
        /// The time from the first packet that has waited longer than `target` to the first signal;
        /// the next ones follow after this by the root of their count. Default 100 ms.
        pub interval: Dur = Dur::from_ms(100),
        /// BLUE's probability rises by this where the queue is full, above 0 and at most 1. Default
        /// 1/256.
        #[schemars(range(min = 0.0, max = 1.0))]
        pub increment: f64 = 1.0 / 256.0,
        /// It falls by this where the queue is found empty, above 0 and at most 1. Default 1/4096.
        #[schemars(range(min = 0.0, max = 1.0))]
        pub decrement: f64 = 1.0 / 4096.0,
        /// The longest packet: one that has waited for at most four transmissions of it is never
        /// too late. Default 1514 B (Linux); `ns3`: no such rule.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub mtu: Option<Size> = None,
        /// A packet that has waited longer raises BLUE's probability as a full queue does. Default:
        /// none; `ns3`: 400 ms.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub blue_threshold: Option<Dur> = None,
        /// Mark ECN-capable packets instead of dropping them, but for BLUE's drops. Default true
        /// (Linux).
        pub ecn: bool = true,
    }
}

/// Implementations of COBALT.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum CobaltVariant {
    /// Linux 6.18: a queue that has never signalled has an inverse root of 0, so that the second
    /// packet over the target is signalled at once.
    Linux,
    /// ns-3: inverse roots from four steps of Newton's method, not from eight; BLUE draws for
    /// packets that CoDel drops, too; the last packet of a queue may be dropped; `blue_threshold`
    /// is 400 ms, and `mtu` counts for nothing.
    Ns3,
}

const LONGEST: Dur = Dur::from_secs(100);

impl CobaltSpec {
    /// None: its thresholds are times.
    pub(super) fn thresholds(&self, _: Limit, _: Rate) -> Vec<Thresholds> {
        Vec::new()
    }

    pub(super) fn resolve(&self, at: &mut At<'_>, leaf: &LeafFacts) -> Result<Cobalt, Problem> {
        at.check(
            !self.target.is_zero() && self.target <= LONGEST,
            "target",
            self.target,
            "the target must be above 0 and at most 100 s",
            "the usual value is 5 ms",
        )?;
        at.check(
            !self.interval.is_zero() && self.interval <= LONGEST,
            "interval",
            self.interval,
            "the interval must be above 0 and at most 100 s",
            "the usual value is 100 ms",
        )?;
        at.check(
            self.target < self.interval,
            "target",
            self.target,
            &format!("it is not below `interval` {}", self.interval),
            "the usual value is 5 % of the interval",
        )?;
        check_step(at, "increment", self.increment, "1/256")?;
        check_step(at, "decrement", self.decrement, "1/4096")?;
        let ns3 = self.variant == Some(CobaltVariant::Ns3);
        if let Some(mtu) = self.mtu {
            let told = "ns-3 has no such rule";
            at.check(!ns3, "mtu", mtu, told, "leave `mtu` or `as` out")?;
            at.packet("mtu", mtu)?;
        }
        let mtu = self.mtu.map_or(1514, |m| m.0);
        Ok(Cobalt::new(CobaltParams {
            target: self.target,
            interval: self.interval,
            mtu_time: match ns3 {
                true => Dur::ZERO,
                false => leaf.rate.tx_time(u32::try_from(mtu).unwrap_or(u32::MAX)),
            },
            increment: in_q32(self.increment),
            decrement: in_q32(self.decrement),
            blue_threshold: match ns3 {
                true => self.blue_threshold.unwrap_or(Dur::from_ms(400)),
                false => self.blue_threshold.unwrap_or(Dur::MAX),
            },
            ecn: self.ecn,
            rules: match self.variant {
                None => CobaltRules::PATIENT,
                Some(CobaltVariant::Linux) => CobaltRules::LINUX,
                Some(CobaltVariant::Ns3) => CobaltRules::NS3,
            },
        }))
    }
}

/// A probability as a fixed-point number below 1, of 32 bits.
fn in_q32(p: f64) -> u32 {
    (p * 4_294_967_296.0) as u32
}

/// A probability from its fixed-point number.
fn from_q32(p: u32) -> f64 {
    f64::from(p) / 4_294_967_296.0
}

/// Where implementations differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct CobaltRules {
    /// The inverse root of a new queue.
    first_root: u32,
    /// Inverse roots of small counts come from four steps of Newton's method.
    four_steps: bool,
    /// BLUE draws for packets that CoDel drops, too.
    always_rolls: bool,
    /// The last packet of a queue may be dropped.
    drops_last: bool,
}

impl CobaltRules {
    /// Linux, but a new queue has an inverse root of 1.
    const PATIENT: Self = Self {
        first_root: u32::MAX,
        ..Self::LINUX
    };
    /// Linux 6.18.
    pub(crate) const LINUX: Self = Self {
        first_root: 0,
        four_steps: false,
        always_rolls: false,
        drops_last: false,
    };
    /// ns-3.
    const NS3: Self = Self {
        first_root: u32::MAX,
        four_steps: true,
        always_rolls: true,
        drops_last: true,
    };
}

/// Parameters, resolved.
#[derive(Clone, Debug)]
pub(crate) struct CobaltParams {
    pub(crate) target: Dur,
    pub(crate) interval: Dur,
    /// Transmission of the longest packet.
    pub(crate) mtu_time: Dur,
    /// Of BLUE, in 2^-32.
    increment: u32,
    decrement: u32,
    blue_threshold: Dur,
    ecn: bool,
    rules: CobaltRules,
}

impl CobaltParams {
    /// Those of a queue of CAKE.
    pub(crate) fn of_cake(target: Dur, interval: Dur, mtu_time: Dur) -> Self {
        Self {
            target,
            interval,
            mtu_time,
            increment: 1 << 24,
            decrement: 1 << 20,
            blue_threshold: Dur::MAX,
            ecn: true,
            rules: CobaltRules::LINUX,
        }
    }

    /// When the signal after one at `t` falls due.
    #[inline]
    fn after(&self, t: Time, root: u32) -> Time {
        let gap = (u128::from(self.interval.as_ps()) * u128::from(root)) >> 32;
        t + Dur::from_ps(gap as u64)
    }
}

/// 2^32 / √count for counts below 16, by this many steps of Newton's method from one to the next.
const fn roots(steps: u32) -> [u32; 16] {
    let mut all = [u32::MAX; 16];
    let (mut count, mut root) = (1, u32::MAX);
    while count < 16 {
        let mut step = 0;
        while step < steps {
            root = newton(root, count as u32);
            step += 1;
        }
        all[count] = root;
        count += 1;
    }
    all
}

/// A step of Newton's method: r <- r (3 - count r²) / 2.
const fn newton(root: u32, count: u32) -> u32 {
    let root = root as u64;
    let square = (root * root) >> 32;
    let rest = (3_u64 << 32).wrapping_sub(count as u64 * square);
    (((rest >> 2) * root) >> 31) as u32
}

static ROOTS: [u32; 16] = roots(8);
static ROOTS_OF_FOUR_STEPS: [u32; 16] = roots(4);

/// The state of one queue under COBALT.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct CobaltVars {
    /// When the next signal falls due.
    drop_next: Time,
    /// When BLUE's probability changed last.
    changed: Time,
    count: u32,
    /// 2^32 / √count, approximately.
    root: u32,
    /// BLUE's probability, in 2^-32.
    p: u32,
    dropping: bool,
}

const _: () = assert!(size_of::<CobaltVars>() <= 32);

/// What becomes of a packet.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Ruling {
    Pass,
    /// CoDel marks it: its signal was due.
    Mark(Time),
    /// CoDel drops it.
    Drop(Time),
    /// BLUE drops it: the number drawn is below the probability.
    Blue {
        probability: f64,
        draw: f64,
    },
}

impl CobaltVars {
    /// The state of a new queue.
    pub(crate) fn new(p: &CobaltParams) -> Self {
        Self {
            drop_next: Time::ZERO,
            changed: Time::ZERO,
            count: 0,
            root: p.rules.first_root,
            p: 0,
            dropping: false,
        }
    }

    /// BLUE's probability, 0 to 1.
    pub(crate) fn probability(&self) -> f64 {
        from_q32(self.p)
    }

    /// Whether there is nothing to decay, so that a queue that is empty may be forgotten.
    #[inline]
    pub(crate) fn rests(&self, now: Time) -> bool {
        self.p == 0 && self.count == 0 && now >= self.drop_next
    }

    fn recount(&mut self, p: &CobaltParams, count: u32) {
        let roots = match p.rules.four_steps {
            true => &ROOTS_OF_FOUR_STEPS,
            false => &ROOTS,
        };
        self.count = count;
        self.root = match roots.get(count as usize) {
            Some(root) => *root,
            None => newton(self.root, count),
        };
        self.drop_next = p.after(self.drop_next, self.root);
    }

    /// BLUE's probability may change.
    fn may_change(&self, p: &CobaltParams, now: Time) -> bool {
        now.since(self.changed) > p.target
    }

    fn raise(&mut self, p: &CobaltParams, now: Time) {
        if self.may_change(p, now) {
            self.p = self.p.saturating_add(p.increment);
            self.changed = now;
        }
    }

    /// A packet had to be dropped for lack of room.
    pub(crate) fn full(&mut self, p: &CobaltParams, now: Time) {
        self.raise(p, now);
        self.dropping = true;
        self.drop_next = now;
        self.count = self.count.max(1);
    }

    /// The queue was asked for a packet, and there was none.
    pub(crate) fn empty(&mut self, p: &CobaltParams, now: Time) {
        if self.p > 0 && self.may_change(p, now) {
            self.p = self.p.saturating_sub(p.decrement);
            self.changed = now;
        }
        self.dropping = false;
        if self.count > 0 && now >= self.drop_next {
            self.recount(p, self.count - 1);
        }
    }

    /// What becomes of a packet that has `waited` and is to leave, while `bulk_flows` queues share
    /// the line (0: that does not count); `is_last`: the queue is empty behind it.
    #[inline]
    pub(crate) fn judge<D: Draw>(
        &mut self,
        p: &CobaltParams,
        now: Time,
        waited: Dur,
        packet: &Packet,
        (bulk_flows, is_last): (u32, bool),
        draw: &mut D,
    ) -> Ruling {
        let mtus = 4.max(2 * u64::from(bulk_flows));
        let over = waited > p.target && waited.as_ps() > p.mtu_time.as_ps().saturating_mul(mtus);
        let is_due = self.count > 0 && now >= self.drop_next;
        let due = self.drop_next;
        if !over && !is_due && self.p == 0 && waited <= p.blue_threshold {
            // Nearly all packets of queues that are short.
            self.dropping = false;
            if self.count == 0 {
                self.drop_next = now + p.interval;
            }
            return Ruling::Pass;
        }
        if over && !self.dropping {
            self.drop_next = p.after(now, self.root);
        }
        self.dropping = over;
        self.count = self.count.max(u32::from(over));
        let mut ruling = Ruling::Pass;
        if is_due && over {
            ruling = match p.ecn && packet.ecn.is_capable() {
                true => Ruling::Mark(due),
                false => Ruling::Drop(due),
            };
            self.recount(p, self.count.saturating_add(1));
        } else if is_due {
            while self.count > 0 && now >= self.drop_next {
                self.recount(p, self.count - 1);
            }
        }
        // Whether it is late by the deadline before it was moved for a new period of dropping.
        let late = match is_due {
            true => now > self.drop_next,
            false => now > due,
        };
        if waited > p.blue_threshold {
            self.raise(p, now);
        }
        let dropped = matches!(ruling, Ruling::Drop(_));
        if self.p > 0 && (!dropped || p.rules.always_rolls) {
            let (u, probability) = (draw.draw(), from_q32(self.p));
            if u < probability && !dropped {
                ruling = Ruling::Blue {
                    probability,
                    draw: u,
                };
            }
        }
        let drops = matches!(ruling, Ruling::Drop(_) | Ruling::Blue { .. });
        if self.count == 0 {
            self.drop_next = now + p.interval;
        } else if late && !drops {
            self.drop_next = now;
        }
        match drops && is_last && !p.rules.drops_last {
            true => Ruling::Pass,
            false => ruling,
        }
    }

    /// Why that was ruled of a packet that had `waited`; none if it passes.
    pub(crate) fn cause(&self, p: &CobaltParams, ruling: Ruling, waited: Dur) -> Option<Cause> {
        match ruling {
            Ruling::Pass => None,
            Ruling::Mark(due) | Ruling::Drop(due) => Some(Cause::Waited(Waited {
                waited,
                target: p.target,
                interval: p.interval,
                count: Some(self.count - 1),
                due: Some(due),
            })),
            Ruling::Blue { probability, draw } => Some(Cause::Chance(ChanceOdds {
                by: GoesBy::plain("overload", "full queues raised BLUE's probability"),
                probability,
                draw: Some(draw),
            })),
        }
    }
}

/// The state of a queue, and when it was found full or empty.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Vars {
    of: CobaltVars,
    /// When the last packet arrived.
    last: Time,
    /// From when on the queue is found empty; [`Time::MAX`] if that was said.
    empty: Time,
}

/// A running COBALT: parameters, and the evidence of its last decisions.
#[derive(Clone, Debug)]
pub(crate) struct Cobalt {
    params: CobaltParams,
    /// The packets that the last departure dropped or marked: flow, number, evidence.
    decided: Vec<(u32, u32, Cause)>,
}

impl Cobalt {
    fn new(params: CobaltParams) -> Self {
        Self {
            params,
            decided: Vec::new(),
        }
    }

    /// The queue was found empty, if that was before now.
    fn catch_up(&self, v: &mut Vars, now: Time) {
        if v.empty <= now {
            v.of.empty(&self.params, v.empty);
        }
        v.empty = Time::MAX;
    }
}

impl Automaton for Cobalt {
    type Vars = Vars;

    const JUDGES_DEPARTURES: bool = true;

    fn vars(&self) -> Vars {
        Vars {
            of: CobaltVars::new(&self.params),
            last: Time::ZERO,
            empty: Time::MAX,
        }
    }

    #[inline]
    fn arrival<D: Draw>(
        &mut self,
        v: &mut Vars,
        now: Time,
        _: &Backlog,
        _: &Packet,
        _: &mut D,
    ) -> Verdict {
        v.last = now;
        if v.empty < Time::MAX {
            self.catch_up(v, now);
        }
        Verdict::Pass
    }

    #[inline]
    fn departure<D: Draw>(
        &mut self,
        v: &mut Vars,
        stage: &mut DropStage,
        now: Time,
        backlog: &Backlog,
        packet: &Packet,
        draw: &mut D,
    ) -> Verdict {
        if *stage == DropStage::First && !self.decided.is_empty() {
            self.decided.clear();
        }
        let waited = now.since(packet.arrived);
        let queue = (0, backlog.packets == 0);
        let ruling = v.of.judge(&self.params, now, waited, packet, queue, draw);
        let Some(cause) = v.of.cause(&self.params, ruling, waited) else {
            return Verdict::Pass;
        };
        self.decided.push((packet.flow, packet.seq, cause));
        match ruling {
            Ruling::Mark(_) => Verdict::Mark,
            _ => {
                *stage = DropStage::Dropped;
                Verdict::Drop(DropReason::Early)
            }
        }
    }

    fn overflowed(&self, v: &mut Vars) {
        v.of.full(&self.params, v.last);
    }

    fn pushed_out(&self, v: &mut Vars, _: u32) {
        v.of.full(&self.params, v.last);
    }

    fn emptied(&self, v: &mut Vars, at: Time) {
        v.empty = at;
    }

    fn exhausted(&self, v: &mut Vars, now: Time, _: DropStage) {
        v.of.empty(&self.params, now);
        v.empty = Time::MAX;
    }

    fn is_new(&self, v: &Vars) -> bool {
        let fresh = CobaltVars::new(&self.params);
        v.of.p == 0 && v.of.count == 0 && v.of.root == fresh.root && v.of.changed == fresh.changed
    }

    fn state(&self, v: &Vars, now: Time) -> State {
        let mut shown = *v;
        self.catch_up(&mut shown, now);
        let of = shown.of;
        let next = match of.dropping {
            true => of.drop_next.since(now).as_secs_f64(),
            false => f64::NAN,
        };
        vec![
            ("codel_dropping", f64::from(u8::from(of.dropping))),
            ("codel_count", of.count.into()),
            ("codel_next", next),
            ("drop_probability", of.probability()),
        ]
    }

    fn cause(&self, packet: &Packet) -> Option<Cause> {
        let mut found = self.decided.iter().rev();
        let of = found.find(|(flow, seq, _)| (*flow, *seq) == (packet.flow, packet.seq))?;
        Some(of.2)
    }
}

#[cfg(test)]
#[path = "cobalt_tests.rs"]
mod tests;
