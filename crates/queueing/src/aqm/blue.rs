//! BLUE.
//!
//! Source: W. Feng, D. D. Kandlur, D. Saha, K. G. Shin, "BLUE: A New Class of Active Queue
//! Management Algorithms", University of Michigan CSE-TR-387-99, 1999; "The BLUE Active Queue
//! Management Algorithms", IEEE/ACM ToN 10(4), 2002.
//!
//! Idea: events, not lengths, say whether the probability is right. A loss says that it is too low,
//! an idle link that it is too high; after each change it stays for `freeze`, in which it shows its
//! effect.
//!
//! Deviations: the paper repeats nothing while a link stays idle; `idle_repeat` lowers the
//! probability once more after every further `freeze`. An idle link changes nothing at 0, and then
//! the next loss is heard at once. As in the paper one timer is for both
//! directions; the authors' ns-2 code has two. Cost: O(1), one draw while the probability is above
//! 0.

use spillgate_core::{Dur, Limit, Packet, Problem, Rate, Time};

use super::chance::{ByChance, Chooser, Chosen};
use super::{Backlog, Draw, LeafFacts};
use crate::Thresholds;
use crate::evidence::GoesBy;
use crate::recipe::At;
use crate::stats::State;

spillgate_core::spec! {
    /// Parameters of BLUE.
    pub struct BlueSpec {
        /// The probability rises by this at a loss (d1), above 0 and at most 1. Default 0.02.
        #[schemars(range(min = 0.0, max = 1.0))]
        pub increment: f64 = 0.02,
        /// It falls by this where the link is idle (d2), above 0 and at most 1. Default 0.002: a
        /// tenth of `increment`, as the paper has it.
        #[schemars(range(min = 0.0, max = 1.0))]
        pub decrement: f64 = 0.002,
        /// The least time between changes of the probability. Default 100 ms.
        pub freeze: Dur = Dur::from_ms(100),
        /// An arrival that finds more than so many packets counts as a loss (L). Default: losses
        /// are those of the full queue.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub threshold: Option<u32> = None,
        /// Whether the probability falls again after each further `freeze` while the link stays
        /// idle. Default true.
        pub idle_repeat: bool = true,
        /// Mark ECN-capable packets instead of dropping them. Default false.
        pub ecn: bool = false,
    }
}

impl BlueSpec {
    /// None on an average.
    pub(super) fn thresholds(&self, _: Limit, _: Rate) -> Vec<Thresholds> {
        Vec::new()
    }

    pub(super) fn resolve(
        &self,
        at: &mut At<'_>,
        leaf: &LeafFacts,
    ) -> Result<ByChance<Blue>, Problem> {
        check_step(at, "increment", self.increment, "0.02")?;
        check_step(at, "decrement", self.decrement, "0.002")?;
        at.check(
            !self.freeze.is_zero(),
            "freeze",
            self.freeze,
            "an idle link would take the probability to 0 at once",
            "the usual value is 100 ms",
        )?;
        if self.decrement > self.increment {
            at.warn(format_args!(
                "`decrement` {} is above `increment` {}: BLUE forgets losses faster than it learns of them (Feng and others 1999 \
                 want `increment` much larger)",
                self.decrement, self.increment
            ));
        }
        if let Some(l) = self.threshold {
            let least = leaf.max_packets.unwrap_or(u32::MAX);
            at.check(
                l < least,
                "threshold",
                l,
                "the queue never holds more packets than that",
                "write less than the limit of the queue",
            )?;
        }
        Ok(ByChance::new(Blue(self.clone()), self.ecn))
    }
}

/// Checks a step of a probability; `usual` is its usual value.
pub(super) fn check_step(at: &At<'_>, key: &str, step: f64, usual: &str) -> Result<(), Problem> {
    at.check(
        step > 0.0 && step <= 1.0,
        key,
        step,
        "a step of the probability is above 0 and at most 1",
        &format!("the usual value is {usual}"),
    )
}

/// The law of BLUE.
#[derive(Clone, Debug)]
pub(crate) struct Blue(BlueSpec);

/// The state of one queue.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Vars {
    probability: f64,
    /// From when on the probability may change again.
    free: Time,
    /// When the link became idle; [`Time::MAX`] while it is not.
    idle: Time,
    /// When the last packet arrived.
    last: Time,
}

const _: () = assert!(size_of::<Vars>() <= 32);

impl Blue {
    /// A loss.
    fn lost(&self, v: &mut Vars, now: Time) {
        if v.free <= now {
            v.probability = (v.probability + self.0.increment).min(1.0);
            v.free = now + self.0.freeze;
        }
    }

    /// The link has been idle since `v.idle`, until `now`. At 0 nothing changes, and nothing is
    /// frozen.
    fn rested(&self, v: &mut Vars, now: Time) {
        let (freeze, step) = (self.0.freeze.as_ps(), self.0.decrement);
        let first = match self.0.idle_repeat {
            true => v.idle.max(v.free),
            // The beginning of this idle time is said once.
            false => std::mem::replace(&mut v.idle, Time::MAX),
        };
        if v.probability == 0.0 || first < v.free || first > now {
            return;
        }
        let times = match self.0.idle_repeat {
            true => now.since(first).as_ps() / freeze + 1,
            false => 1,
        };
        let all = (v.probability / step).ceil() as u64;
        let times = times.min(all);
        v.probability = match times == all {
            true => 0.0,
            false => (v.probability - times as f64 * step).max(0.0),
        };
        v.free = first + Dur::from_ps(times * freeze);
    }
}

impl Chooser for Blue {
    type Vars = Vars;

    fn vars(&self) -> Vars {
        Vars {
            probability: 0.0,
            free: Time::ZERO,
            idle: Time::MAX,
            last: Time::ZERO,
        }
    }

    #[inline]
    fn choose<D: Draw>(
        &self,
        v: &mut Vars,
        now: Time,
        backlog: &Backlog,
        _: &Packet,
        _: &mut D,
    ) -> Chosen {
        v.last = now;
        if backlog.packets == 0 && v.idle <= now {
            self.rested(v, now);
        }
        if self.0.threshold.is_some_and(|l| backlog.packets > l) {
            self.lost(v, now);
        }
        Chosen::With(v.probability)
    }

    fn goes_by(&self, _: &Vars) -> GoesBy {
        GoesBy::plain("events", "losses and idle times moved the probability")
    }

    fn let_in(&self, v: &mut Vars, now: Time, _: &Packet) {
        if v.idle > now {
            // It waits for the end of the last transmission, so that the link goes on.
            v.idle = Time::MAX;
        }
    }

    fn overflowed(&self, v: &mut Vars) {
        self.lost(v, v.last);
    }

    /// Whoever is dropped: a full queue is a loss.
    fn pushed_out(&self, v: &mut Vars) {
        self.lost(v, v.last);
    }

    fn emptied(&self, v: &mut Vars, at: Time) {
        v.idle = at;
    }

    fn state(&self, v: &Vars, now: Time) -> State {
        let mut shown = *v;
        if v.idle <= now {
            self.rested(&mut shown, now);
        }
        vec![("drop_probability", shown.probability)]
    }

    fn decides_by_packets(&self) -> bool {
        true
    }
}

#[cfg(test)]
#[path = "blue_tests.rs"]
mod tests;
