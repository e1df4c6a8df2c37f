//! PIE: proportional integral controller enhanced.
//!
//! Source: R. Pan, P. Natarajan, F. Baker, G. White, RFC 8033, 2017; R. Pan et al., "PIE: A
//! lightweight control scheme to address the bufferbloat problem", HPSR 2013.
//!
//! Idea: at every `update` the drop probability moves by the distance of the delay from `target`
//! and by the change of the delay, in smaller steps the smaller the probability is. Arrivals are
//! dropped with that probability. Nothing is dropped in a burst of up to `max_burst` after the
//! queue was short, nor in a queue of two packets.
//!
//! Equations (RFC 8033 §4.2): p ← p + s(p) (alpha (d - target) + beta (d - d_old)), s(p) being
//! 1/2048 below 10⁻⁶, then 1/512, 1/128, 1/32, 1/8, 1/2 up to 0.1 and 1 above, where no step is
//! above 0.02; 0.98 p if the queue was empty twice. Delays are in seconds.
//!
//! Deviations: the delay is the time for which the first packet has been queued at the instant of
//! the update (RFC 8033 §5.2 prefers timestamps to the estimate of a rate; Linux takes the delay of
//! the last packet that left). With `dq_rate_estimator` it is the queue at the update divided by
//! the drain rate, 0 before there is one. Updates are computed when the next packet arrives or
//! leaves. They begin anew with the first packet after the probability is 0 and the queue empty.
//! PIE is always active, as in Linux. With `as: linux` it follows Linux 6.1 (net/sched/sch_pie.c):
//! the delay is that of the packet that left last, 0 if the queue is then empty; the burst
//! allowance is reduced by the time between departures; updates are on the grid of `update`; the
//! probability of an empty queue falls by 1/64; a delay above 250 ms adds 0.02. With `as: ns3` it
//! follows ns-3.37 (`pie-queue-disc.cc`): the delay is Linux's at the last update; the probability
//! falls by 0.02 of it whenever two delays in a row are 0, which they are if the packet that left
//! last left nothing behind, whatever waits now; the first arrival begins a burst, and another may
//! begin after 1.5 s of calm. There the first update comes after `update`, not with the first
//! packet, and lengths count in bytes. Cost: O(1) per packet and update, at most one draw per
//! packet.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use spillgate_core::{DropReason, Dur, Limit, Packet, Rate, Size, Time, Verdict};

use super::base_probability::check_controller;
use super::chance::signal;
use super::clock::Clocked;
use super::drain::{DrainRate, DrainRule};
use super::{Automaton, Backlog, Draw, DropStage, LeafFacts, UpstreamUse};
use crate::evidence::{Cause, DelayOdds};
use crate::recipe::At;
use crate::stats::State;
use spillgate_core::Problem;

/// Implementations of PIE.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum PieVariant {
    /// Linux 6.1: the delay is that of the packet that left last. The clock of Linux rounds
    /// `update` up to ticks: 15 ms to 20 ms at 100 Hz, to 16 ms at 250 Hz.
    Linux,
    /// ns-3.37: the delay is that of the packet that left last; the probability decays while that
    /// is 0, even if packets wait; a burst comes no sooner than 1.5 s of calm after the one before.
    Ns3,
}

spillgate_core::spec! {
    /// Parameters of PIE.
    pub struct PieSpec {
        /// The implementation that is followed. Default: RFC 8033.
        #[serde(rename = "as", skip_serializing_if = "Option::is_none")]
        pub variant: Option<PieVariant> = None,
        /// The target delay. Default 15 ms (RFC 8033 §4.2).
        pub target: Dur = Dur::from_ms(15),
        /// Time between updates of the probability, 1 ms to 10 s. Default 15 ms (RFC 8033 §4.2).
        pub update: Dur = Dur::from_ms(15),
        /// Increase of the probability at each update for a second of delay above `target`. Default
        /// 0.125 (RFC 8033 §4.2).
        pub alpha: f64 = 0.125,
        /// Increase of the probability at each update for a second by which the delay has grown.
        /// Default 1.25 (RFC 8033 §4.2).
        pub beta: f64 = 1.25,
        /// The length of a burst in which nothing is dropped. Default 150 ms (RFC 8033 §4.4).
        pub max_burst: Dur = Dur::from_ms(150),
        /// Mark ECN-capable packets instead of dropping them. Default false (Linux).
        pub ecn: bool = false,
        /// The probability up to which it marks; above, it drops, 0 to 1. Default 0.1 (RFC 8033
        /// §5.1).
        pub ecn_threshold: f64 = 0.1,
        /// Nothing is dropped while at most twice this many bytes are queued. Default 1514 B
        /// (Linux).
        pub mean_packet: Size = Size(1514),
        /// De-randomize drops: none before the probabilities since the last one add up to 0.85, and
        /// one when they reach 8.5 (RFC 8033 §5.4). Default true.
        pub derandomize: bool = true,
        /// Take as delay the queued bytes divided by the rate at which the queue drains, measured
        /// over every 16,384 B that leave while as many are queued, instead of how long packets
        /// wait (RFC 8033 §5.2; Linux `dq_rate_estimator`). Default false (Linux).
        pub dq_rate_estimator: bool = false,
    }
}

impl PieSpec {
    /// None: its thresholds are times.
    pub(super) fn thresholds(&self, _: Limit, _: Rate) -> Vec<crate::Thresholds> {
        Vec::new()
    }

    pub(super) fn resolve(&self, at: &mut At<'_>, _: &LeafFacts) -> Result<Pie, Problem> {
        self.running(at)
    }

    /// Checks the parameters.
    pub(crate) fn running(&self, at: &mut At<'_>) -> Result<Pie, Problem> {
        let gains = [("alpha", self.alpha, "0.125"), ("beta", self.beta, "1.25")];
        check_controller(at, self.target, (self.update, "15 ms"), gains)?;
        at.check(
            (0.0..=1.0).contains(&self.ecn_threshold),
            "ecn_threshold",
            self.ecn_threshold,
            "a probability must be between 0 and 1",
            "the usual value is 0.1",
        )?;
        at.check(
            self.mean_packet.0 > 0,
            "mean_packet",
            self.mean_packet,
            "a packet has at least 1 byte",
            "the usual value is 1514 B",
        )?;
        Ok(Pie {
            spec: self.clone(),
            odds: None,
        })
    }
}

/// A running PIE.
#[derive(Clone, Debug)]
pub(crate) struct Pie {
    spec: PieSpec,
    /// The odds of the last drop or mark.
    odds: Option<DelayOdds>,
}

/// The state of one queue under PIE.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct PieVars {
    probability: f64,
    /// Sum of the probabilities since the last drop.
    sum: f64,
    /// The delay at the last update; with `linux`, `ns3` and time stamps that of the packet that
    /// left last.
    delay: Dur,
    /// With `linux` and `ns3`: the delay at the last update.
    former: Dur,
    /// With `linux` and time stamps: when the last packet left; [`Time::MAX`] if none did since the
    /// burst allowance was reset.
    left: Time,
    /// The rest of the burst allowance.
    burst: Dur,
    /// The next update; [`Time::MAX`] while there is nothing to update.
    next: Time,
    /// With `dq_rate_estimator`: the drain rate.
    drain: DrainRate,
    /// With `ns3`: calm updates in a row since the last burst; [`READY`] if another may begin.
    calm: u32,
}

const _: () = assert!(std::mem::size_of::<PieVars>() <= 88);

const READY: u32 = u32::MAX;
/// The calm that ns-3 wants between bursts.
const CALM: Dur = Dur::from_ms(1500);

/// `time` less `by`, 0 at least.
fn less(time: Dur, by: Dur) -> Dur {
    Dur::from_ps(time.as_ps().saturating_sub(by.as_ps()))
}

impl Pie {
    /// Whether a delay is below half of the target.
    #[inline]
    fn is_short(&self, delay: Dur) -> bool {
        delay.as_ps() < self.spec.target.as_ps() / 2
    }

    fn is_linux(&self) -> bool {
        self.spec.variant == Some(PieVariant::Linux)
    }

    fn is_ns3(&self) -> bool {
        self.spec.variant == Some(PieVariant::Ns3)
    }

    /// Whether the delay is that of the packet that left last.
    fn takes_last(&self) -> bool {
        self.spec.variant.is_some() && !self.spec.dq_rate_estimator
    }

    /// RFC 8033 §4.2: the step of the probability as the delay moves from `old` to `delay`.
    fn step(&self, v: &PieVars, delay: Dur, old: Dur) -> f64 {
        let p = &self.spec;
        let (d, old) = (delay.as_secs_f64(), old.as_secs_f64());
        let mut step = p.alpha * (d - p.target.as_secs_f64()) + p.beta * (d - old);
        step /= match v.probability {
            x if x < 1e-6 => 2048.0,
            x if x < 1e-5 => 512.0,
            x if x < 1e-4 => 128.0,
            x if x < 1e-3 => 32.0,
            x if x < 1e-2 => 8.0,
            x if x < 0.1 => 2.0,
            _ => 1.0,
        };
        if v.probability >= 0.1 {
            step = step.min(0.02);
        }
        step
    }

    /// RFC 8033 §4.2: one update, `delay` being the delay now.
    fn step_to(&self, v: &mut PieVars, delay: Dur) {
        let p = &self.spec;
        v.probability += self.step(v, delay, v.delay);
        if delay.is_zero() && v.delay.is_zero() {
            v.probability *= 0.98;
        }
        v.probability = v.probability.clamp(0.0, 1.0);
        v.burst = less(v.burst, p.update);
        if v.probability == 0.0 {
            v.sum = 0.0;
            if self.is_short(delay) && self.is_short(v.delay) {
                v.burst = p.max_burst;
            }
        }
        v.delay = delay;
    }

    /// One update of Linux. The probability decays if the queue is empty, but not if its first
    /// packet has only just arrived.
    fn step_linux(&self, v: &mut PieVars, is_empty: bool) {
        let mut step = self.step(v, v.delay, v.former);
        if v.delay > Dur::from_ms(250) {
            step += 0.02;
        }
        v.probability = (v.probability + step).clamp(0.0, 1.0);
        if v.delay.is_zero() && v.former.is_zero() && is_empty {
            v.probability -= v.probability / 64.0;
        }
        if v.probability == 0.0 && self.is_short(v.delay) && self.is_short(v.former) {
            let measured = v.drain.bytes_per_sec().is_some();
            if measured || !self.spec.dq_rate_estimator {
                (v.burst, v.sum, v.left) = (self.spec.max_burst, 0.0, Time::MAX);
                v.drain = DrainRate::UNKNOWN;
            }
        }
        v.former = v.delay;
    }

    /// One update of ns-3.
    fn step_ns3(&self, v: &mut PieVars) {
        if v.burst.is_zero() {
            v.probability += self.step(v, v.delay, v.former);
        } else {
            v.probability = 0.0;
        }
        if v.delay.is_zero() && v.former.is_zero() {
            v.probability *= 0.98;
        }
        v.probability = v.probability.clamp(0.0, 1.0);
        v.burst = less(v.burst, self.spec.update);
        let is_calm = v.probability == 0.0 && self.is_short(v.delay) && self.is_short(v.former);
        if is_calm && v.drain.bytes_per_sec().is_some() {
            v.drain = DrainRate::UNKNOWN;
        }
        if v.calm != READY {
            v.calm = match is_calm && v.burst.is_zero() {
                true => v.calm + 1,
                false => v.calm.min(1),
            };
            if u64::from(v.calm) > CALM.as_ps() / self.spec.update.as_ps() + 1 {
                v.calm = READY;
            }
        }
        v.former = v.delay;
    }

    /// The delay at the next update.
    fn delay(&self, v: &PieVars, queue: &Backlog) -> Dur {
        if self.spec.dq_rate_estimator {
            // An update may have forgotten the rate since the call.
            let drain_rate = v.drain.bytes_per_sec();
            let queue = Backlog {
                drain_rate,
                ..*queue
            };
            queue.drains_in().unwrap_or(Dur::ZERO)
        } else if self.takes_last() {
            v.delay
        } else {
            queue
                .head
                .map_or(Dur::ZERO, |arrived| v.next.since(arrived))
        }
    }

    /// Whether the delay is that of a packet which goes on waiting.
    fn delay_grows(&self, queue: &Backlog) -> bool {
        queue.head.is_some() && self.spec.variant.is_none() && !self.spec.dq_rate_estimator
    }
}

impl Clocked for Pie {
    type Vars = PieVars;

    fn period(&self) -> Dur {
        self.spec.update
    }

    #[inline]
    fn next(v: &mut PieVars) -> &mut Time {
        &mut v.next
    }

    fn first(&self, now: Time) -> Time {
        match self.spec.variant {
            None | Some(PieVariant::Ns3) => now + self.spec.update,
            Some(PieVariant::Linux) => self.on_grid(now),
        }
    }

    fn update(&self, v: &mut PieVars, queue: &Backlog) {
        let delay = self.delay(v, queue);
        match self.spec.variant {
            None => self.step_to(v, delay),
            Some(PieVariant::Linux) => {
                v.delay = delay;
                self.step_linux(v, queue.packets == 0);
            }
            Some(PieVariant::Ns3) => {
                v.delay = delay;
                self.step_ns3(v);
            }
        }
    }

    fn rests(&self, v: &PieVars) -> bool {
        let mut new = self.vars();
        new.next = v.next;
        if self.spec.variant.is_none() {
            // The RFC never forgets the drain rate.
            new.drain = v.drain;
        }
        *v == new
    }

    fn skip(&self, v: &mut PieVars, now: Time, queue: &Backlog) {
        if v.probability >= 1.0 && self.delay_grows(queue) {
            // The probability stays at 1: go to the last update at once.
            let skipped = self.whole_periods(v, now);
            v.next += skipped;
            v.burst = less(v.burst, skipped);
        }
    }
}

impl Automaton for Pie {
    type Vars = PieVars;

    const JUDGES_DEPARTURES: bool = true;
    const ASKS_HEAD: bool = true;

    fn vars(&self) -> PieVars {
        PieVars {
            probability: 0.0,
            sum: 0.0,
            delay: Dur::ZERO,
            former: Dur::ZERO,
            left: Time::MAX,
            burst: match self.is_ns3() {
                true => Dur::ZERO,
                false => self.spec.max_burst,
            },
            next: Time::MAX,
            drain: DrainRate::UNKNOWN,
            calm: READY,
        }
    }

    #[inline]
    fn arrival<D: Draw>(
        &mut self,
        v: &mut PieVars,
        now: Time,
        backlog: &Backlog,
        packet: &Packet,
        draw: &mut D,
    ) -> Verdict {
        let p = &self.spec;
        if self.takes_last() && backlog.packets == 0 {
            // It is 0 already, unless the queue was flushed.
            v.delay = Dur::ZERO;
        }
        self.arrives(v, now, backlog);
        let least = 2 * p.mean_packet.0 + u64::from(!self.is_linux());
        let in_burst = !v.burst.is_zero();
        if self.is_ns3() && !in_burst && v.calm == READY {
            // The packet that begins it is judged all the same.
            (v.burst, v.calm) = (p.max_burst, 0);
        }
        let judged = if self.is_ns3() { v.former } else { v.delay };
        let spared =
            in_burst || (self.is_short(judged) && v.probability < 0.2) || backlog.bytes < least;
        if spared {
            return Verdict::Pass;
        }
        if p.derandomize {
            v.sum += v.probability;
            if v.probability == 0.0 && p.variant.is_some() {
                v.sum = 0.0;
            }
            if v.sum < 0.85 {
                return Verdict::Pass;
            }
        }
        let due = p.derandomize && v.sum >= 8.5;
        let drawn = (!due).then(|| draw.draw());
        if drawn.is_some_and(|u| u >= v.probability) {
            return Verdict::Pass;
        }
        self.odds = Some(DelayOdds {
            delay: judged,
            target: p.target,
            probability: v.probability,
            sum: p.derandomize.then_some(v.sum),
            draw: drawn,
        });
        let sum = std::mem::take(&mut v.sum);
        let marks = p.ecn
            && match self.is_ns3() {
                true => v.probability < p.ecn_threshold,
                false => v.probability <= p.ecn_threshold,
            };
        let verdict = signal(marks, packet, DropReason::Early);
        if verdict == Verdict::Mark && (self.is_ns3() || due && self.is_linux()) {
            // Only a drop restarts the sum, and in Linux a random draw.
            v.sum = sum;
        }
        verdict
    }

    /// Drops nothing: makes the updates that found the packet waiting, and measures.
    #[inline]
    fn departure<D: Draw>(
        &mut self,
        v: &mut PieVars,
        _: &mut DropStage,
        now: Time,
        backlog: &Backlog,
        packet: &Packet,
        _: &mut D,
    ) -> Verdict {
        self.advance(v, now, &backlog.with(packet));
        let took = if self.spec.dq_rate_estimator {
            let rule = match self.spec.variant {
                None => DrainRule::Rfc8033,
                Some(PieVariant::Linux) => DrainRule::Linux,
                Some(PieVariant::Ns3) => DrainRule::Ns3,
            };
            v.drain.left(rule, now, packet.len, backlog.bytes)
        } else if self.takes_last() {
            v.delay = match backlog.bytes {
                0 => Dur::ZERO,
                _ => now.since(packet.arrived),
            };
            let last = std::mem::replace(&mut v.left, now);
            (last < Time::MAX).then(|| now.since(last))
        } else {
            None
        };
        if let (Some(took), Some(PieVariant::Linux)) = (took, self.spec.variant) {
            v.burst = less(v.burst, took);
        }
        Verdict::Pass
    }

    fn overflowed(&self, v: &mut PieVars) {
        if self.spec.variant.is_some() {
            v.sum = 0.0;
        }
    }

    fn state(&self, v: &PieVars, _: Time) -> State {
        vec![
            ("drop_probability", v.probability),
            ("pie_delay", v.delay.as_secs_f64()),
            ("pie_burst", v.burst.as_secs_f64()),
        ]
    }

    fn is_new(&self, v: &PieVars) -> bool {
        *v == self.vars()
    }

    fn drain_rate(&self, v: &PieVars) -> Option<f64> {
        v.drain.bytes_per_sec()
    }

    fn upstream_use(&self) -> UpstreamUse {
        match self.spec.dq_rate_estimator {
            true => UpstreamUse::Length,
            false => UpstreamUse::Nothing,
        }
    }

    fn cause(&self, _: &Packet) -> Option<Cause> {
        self.odds.map(Cause::Delay)
    }
}

#[cfg(test)]
#[path = "pie_tests.rs"]
mod tests;
