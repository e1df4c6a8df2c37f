//! PI2: PI improved with a square.
//!
//! Source: K. De Schepper, O. Bondarenko, I.-J. Tsang, B. Briscoe, "PI2: A Linearized AQM for both
//! Classic and Scalable TCP", CoNEXT 2016; the gains are those of RFC 9332, appendix A.1.
//!
//! Idea: TCP's rate goes with 1/√p, so a controller of p is too fast at small p and too slow at
//! large ones; PIE scales its steps by a table. PI2 controls the base probability p', in equal
//! steps, and drops with its square. Scalable senders, whose rate goes with 1/p, are marked with
//! k p' where they share the queue.
//!
//! Equations: p' by [`super::base_probability`]; classic packets p = p'², scalable ones
//! min(1, k p').
//!
//! Deviations: one random number is compared with p'², where the paper compares the larger of two
//! with p'. Above `ecn_threshold` packets are dropped with p'² whether they are capable of ECN or
//! not; scalable ones that remain are marked. Cost: O(1) per packet and update, two draws per
//! packet at most.

use spillgate_core::{DropReason, Dur, Ecn, Limit, Packet, Problem, Rate, Time, Verdict};

use super::base_probability::{Base, Pi};
use super::{Automaton, Backlog, Draw, DropStage, LeafFacts};
use crate::evidence::{Cause, DelayOdds};
use crate::recipe::At;
use crate::stats::State;

spillgate_core::spec! {
    /// Parameters of PI2.
    pub struct Pi2Spec {
        /// The target delay. Default 15 ms (RFC 9332; 20 ms in the paper).
        pub target: Dur = Dur::from_ms(15),
        /// Time between updates of the base probability, 1 ms to 10 s. Default 16 ms (RFC 9332; 32
        /// ms in the paper).
        pub update: Dur = Dur::from_ms(16),
        /// Increase of the base probability at each update for a second of delay above `target`.
        /// Default 0.16 (RFC 9332; 0.3125 in the paper).
        pub alpha: f64 = 0.16,
        /// Increase of the base probability at each update for a second by which the delay has
        /// grown. Default 3.2 (RFC 9332; 3.125 in the paper).
        pub beta: f64 = 3.2,
        /// Mark ECN-capable packets instead of dropping them. Default true (RFC 9332).
        pub ecn: bool = true,
        /// The probability up to which it marks; above, it drops, 0 to 1. Default 0.25 (RFC 9332).
        #[schemars(range(min = 0.0, max = 1.0))]
        pub ecn_threshold: f64 = 0.25,
        /// Packets of scalable senders, those with ECT(1) or CE, are marked with this times the
        /// base probability instead of its square; 2 in the paper. Default: all packets are
        /// treated alike.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub coupling: Option<f64> = None,
    }
}

impl Pi2Spec {
    /// None: its target is a time.
    pub(super) fn thresholds(&self, _: Limit, _: Rate) -> Vec<crate::Thresholds> {
        Vec::new()
    }

    pub(super) fn resolve(&self, at: &mut At<'_>, _: &LeafFacts) -> Result<Pi2, Problem> {
        let pi = Pi {
            target: self.target,
            update: self.update,
            alpha: self.alpha,
            beta: self.beta,
            most: 1.0,
            on_grid: false,
        };
        pi.check(at)?;
        at.check(
            (0.0..=1.0).contains(&self.ecn_threshold),
            "ecn_threshold",
            self.ecn_threshold,
            "a probability must be between 0 and 1",
            "the usual value is 0.25",
        )?;
        if let Some(k) = self.coupling {
            check_coupling(at, k)?;
            at.check(
                self.ecn,
                "coupling",
                k,
                "nothing is marked without `ecn`",
                "keep `ecn: true`, or drop `coupling`",
            )?;
        }
        Ok(Pi2 {
            pi,
            ecn: self.ecn,
            ecn_threshold: self.ecn_threshold,
            coupling: self.coupling,
            odds: None,
        })
    }
}

/// The coupling factor k.
pub(crate) fn check_coupling(at: &At<'_>, k: f64) -> Result<(), Problem> {
    at.check(
        k.is_finite() && k > 0.0,
        "coupling",
        k,
        "a coupling factor must be a finite number above 0",
        "the usual value is 2",
    )
}

/// Whether a packet is of a scalable sender (RFC 9331 §5.1).
#[inline]
pub(crate) fn is_scalable(packet: &Packet) -> bool {
    matches!(packet.ecn, Ecn::Ect1 | Ecn::Ce)
}

/// A running PI2.
#[derive(Clone, Debug)]
pub(crate) struct Pi2 {
    pi: Pi,
    ecn: bool,
    ecn_threshold: f64,
    coupling: Option<f64>,
    /// The odds of the last drop or mark.
    odds: Option<DelayOdds>,
}

impl Pi2 {
    /// Whether a packet is hit with a probability.
    fn hits<D: Draw>(&mut self, v: &Base, probability: f64, draw: &mut D) -> bool {
        let drawn = (probability > 0.0 && probability < 1.0).then(|| draw.draw());
        let hit = drawn.map_or(probability >= 1.0, |u| u < probability);
        if hit {
            self.odds = Some(DelayOdds {
                delay: v.delay,
                target: self.pi.target,
                probability,
                sum: None,
                draw: drawn,
            });
        }
        hit
    }
}

impl Automaton for Pi2 {
    type Vars = Base;

    const JUDGES_DEPARTURES: bool = true;
    const ASKS_HEAD: bool = true;

    fn vars(&self) -> Base {
        Base::NEW
    }

    #[inline]
    fn arrival<D: Draw>(
        &mut self,
        v: &mut Base,
        now: Time,
        backlog: &Backlog,
        packet: &Packet,
        draw: &mut D,
    ) -> Verdict {
        self.pi.advance(v, now, backlog.head);
        self.pi.begin(v, now);
        let classic = v.p * v.p;
        let marks = self.ecn && packet.ecn.is_capable();
        let overloaded = classic > self.ecn_threshold;
        let coupling = self.coupling.filter(|_| is_scalable(packet));
        if (coupling.is_none() || overloaded) && self.hits(v, classic, draw) {
            return match marks && !overloaded {
                true => Verdict::Mark,
                false => Verdict::Drop(DropReason::Early),
            };
        }
        match coupling {
            Some(k) if self.hits(v, (k * v.p).min(1.0), draw) => Verdict::Mark,
            _ => Verdict::Pass,
        }
    }

    /// Drops nothing: makes the updates that found the packet waiting.
    #[inline]
    fn departure<D: Draw>(
        &mut self,
        v: &mut Base,
        _: &mut DropStage,
        now: Time,
        _: &Backlog,
        packet: &Packet,
        _: &mut D,
    ) -> Verdict {
        self.pi.advance(v, now, Some(packet.arrived));
        Verdict::Pass
    }

    fn state(&self, v: &Base, _: Time) -> State {
        vec![
            ("base_probability", v.p),
            ("drop_probability", v.p * v.p),
            ("pie_delay", v.delay.as_secs_f64()),
        ]
    }

    fn is_new(&self, v: &Base) -> bool {
        *v == Base::NEW
    }

    fn cause(&self, _: &Packet) -> Option<Cause> {
        self.odds.map(Cause::Delay)
    }
}

#[cfg(test)]
#[path = "pi2_tests.rs"]
mod tests;
