//! Random early detection.
//!
//! Source: S. Floyd, V. Jacobson, "Random Early Detection Gateways for
//! Congestion Avoidance", IEEE/ACM ToN 1(4), 1993; gentle mode and `max_p`
//! 0.1 from Floyd's later notes (1997, 2000); ECN after RFC 3168.
//!
//! Idea: an exponentially weighted average of the queue decides. Below `min_th`
//! every packet passes; between the thresholds a packet is dropped (or marked)
//! with a probability that rises to `max_p`; above, with certainty, or in
//! gentle mode with a probability that rises to 1 at twice `max_th`. A count of
//! packets since the last drop spreads the drops: the gaps are uniform, which
//! makes the long-run rate about twice p_b. With a quadratic curve it is
//! nonlinear RED (K. Zhou, K. L. Yeung, V. O. K. Li, Computer Networks 50, 2006).
//!
//! Deviations: the idle period's exponent is real; a packet refused while the
//! queue is empty restarts the idle period, so that no instant decays twice.
//! Cost: O(1), one draw while p_b applies.

use spillgate_core::{DropReason, Packet, Time, Verdict};

use super::red_spec::{RedMarks, RedRules, RedShape, RedSpec, RedSpread, SizeScaling};
use super::{Automaton, Average, AverageParams, Backlog, Draw, LeafFacts, UpstreamUse};
use crate::evidence::Odds;
use crate::recipe::At;
use spillgate_core::Problem;

impl RedSpec {
    pub(super) fn resolve(&self, at: &mut At<'_>, leaf: &LeafFacts) -> Result<Red, Problem> {
        let rules = self.checked(at, leaf)?;
        Ok(Red {
            params: Params {
                average: AverageParams::new(
                    rules.weight,
                    rules.mean_packet.0,
                    leaf.rate,
                    rules.idle,
                ),
                mean_packet: rules.mean_packet.0,
                max_packet: rules.max_packet.0 as f64,
                rules,
            },
            odds: None,
        })
    }
}

#[derive(Clone, Debug)]
struct Params {
    average: AverageParams,
    rules: RedRules,
    mean_packet: u64,
    max_packet: f64,
}

/// Arrivals since the last mark or drop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Gap {
    /// Packets; -1 while the average is below the lower threshold.
    count: i32,
    /// Their bytes.
    bytes: u32,
}

impl Gap {
    const NONE: Self = Self {
        count: -1,
        bytes: 0,
    };
    const NEW: Self = Self { count: 0, bytes: 0 };
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Vars {
    average: Average,
    gap: Gap,
    /// The random number of this gap, with [`RedSpread::PerGap`].
    random: f64,
}

const _: () = assert!(std::mem::size_of::<Vars>() <= 32);

/// A running RED.
#[derive(Clone, Debug)]
pub(crate) struct Red {
    params: Params,
    /// The odds of the last drop or mark.
    odds: Option<Odds>,
}

impl Params {
    /// p_b at this average; none above the region in which drops are random.
    fn chance(&self, avg: f64) -> Option<f64> {
        let r = &self.rules;
        if avg < r.max_th {
            Some(match r.curve {
                RedShape::Linear => r.max_p * (avg - r.min_th) / (r.max_th - r.min_th),
                RedShape::Quadratic => {
                    let x = (avg - r.min_th) / (r.max_th - r.min_th);
                    r.highest() * x * x
                }
            })
        } else if r.gentle && avg < 2.0 * r.max_th {
            Some(r.highest() + (1.0 - r.highest()) * (avg - r.max_th) / r.max_th)
        } else {
            None
        }
    }

    /// Packets since the last drop, as gaps count them.
    fn count(&self, gap: Gap) -> f64 {
        match self.rules.size_scaling {
            SizeScaling::Ns => (u64::from(gap.bytes) / self.mean_packet) as f64,
            _ => f64::from(gap.count),
        }
    }

    /// p_a: p_b with the gaps spread, `count` being packets since the last drop.
    fn spread(&self, p_b: f64, count: f64) -> f64 {
        // The shortest gap.
        let least = f64::from(u8::from(self.rules.wait));
        let x = count * p_b - least;
        if x < 0.0 {
            0.0
        } else if x < 1.0 {
            (p_b / (1.0 - x)).min(1.0)
        } else {
            1.0
        }
    }

    /// The probability that this packet is dropped, `random` being that of the gap.
    fn probability(&self, p_b: f64, gap: Gap, random: f64) -> f64 {
        match self.rules.spread {
            RedSpread::PerPacket => self.spread(p_b, self.count(gap)),
            RedSpread::PerGap => {
                let end = random + f64::from(u8::from(self.rules.wait));
                f64::from(u8::from(gap.count > 0 && self.count(gap) * p_b >= end))
            }
            RedSpread::None => p_b,
        }
    }

    fn act(&self, packet: &Packet, avg: f64, reason: DropReason) -> Verdict {
        let marks = match self.rules.marks {
            RedMarks::BelowMax => avg < self.rules.max_th,
            // RFC 3168 section 7: between the thresholds mark, above them drop.
            RedMarks::BelowCertain => reason == DropReason::Early,
            RedMarks::Always => true,
        };
        if self.rules.ecn && marks && packet.ecn.is_capable() {
            Verdict::Mark
        } else {
            Verdict::Drop(reason)
        }
    }

    fn odds(&self, average: f64) -> Odds {
        Odds {
            in_bytes: self.rules.in_bytes(),
            ..Odds::certain(average, self.rules.min_th, self.rules.max_th)
        }
    }
}

impl Automaton for Red {
    type Vars = Vars;

    fn vars(&self) -> Vars {
        Vars {
            average: Average::ZERO,
            gap: Gap::NONE,
            random: 0.0,
        }
    }

    #[inline]
    fn arrival<D: Draw>(
        &mut self,
        v: &mut Vars,
        now: Time,
        backlog: &Backlog,
        packet: &Packet,
        draw: &mut D,
    ) -> Verdict {
        let p = &self.params;
        let r = &p.rules;
        let (waiting, length) = match r.in_bytes() {
            false => (backlog.packets.into(), backlog.measure_packets()),
            true => (backlog.bytes, backlog.measure_bytes()),
        };
        let avg = v.average.sample(&p.average, now, length, &backlog.upstream);
        if avg < r.min_th || (r.spare_short_queue && waiting <= 1) {
            v.gap = Gap::NONE;
            return Verdict::Pass;
        }
        let per_gap = r.spread == RedSpread::PerGap;
        let Some(mut p_b) = p.chance(avg) else {
            // Linux and figure 17 of 1993 start as after a short queue, figure 2 as after a drop.
            v.gap = if per_gap { Gap::NONE } else { Gap::NEW };
            self.odds = Some(p.odds(avg));
            return p.act(packet, avg, DropReason::Forced);
        };
        let first = v.gap.count < 0;
        v.gap.count = v.gap.count.saturating_add(1);
        if first && r.first_passes {
            v.gap.count = 1;
        }
        if v.gap.count > 0 {
            v.gap.bytes = v.gap.bytes.saturating_add(packet.len);
        }
        if first && per_gap {
            v.random = draw.draw();
        }
        if first && r.first_passes {
            return Verdict::Pass;
        }
        if r.size_scaling == SizeScaling::Paper {
            p_b *= f64::from(packet.len) / p.max_packet;
        }
        let mut p_a = p.probability(p_b, v.gap, v.random);
        if r.size_scaling == SizeScaling::Ns && p_a < 1.0 {
            p_a = (p_a * f64::from(packet.len) / p.mean_packet as f64).min(1.0);
        }
        let u = match per_gap {
            true => v.random,
            false => draw.draw(),
        };
        let drops = match per_gap {
            true => p_a > 0.0,
            false => u < p_a,
        };
        if !drops {
            return Verdict::Pass;
        }
        if per_gap {
            v.random = draw.draw();
        }
        self.odds = Some(Odds {
            probability: p_a.min(1.0),
            count: (r.spread != RedSpread::None).then_some(v.gap.count.into()),
            draw: Some(u),
            ..p.odds(avg)
        });
        v.gap = Gap::NEW;
        p.act(packet, avg, DropReason::Early)
    }

    fn overflowed(&self, v: &mut Vars) {
        // In Linux the child queue drops without informing its RED.
        if self.params.rules.spread != RedSpread::PerGap {
            v.gap = Gap::NEW;
        }
    }

    fn pushed_out(&self, v: &mut Vars, _: u32) {
        self.overflowed(v);
    }

    fn emptied(&self, v: &mut Vars, at: Time) {
        v.average.idle_since = at;
    }

    fn average(&self, v: &Vars) -> Option<f64> {
        self.decides_by_packets().then_some(v.average.value)
    }

    fn decides_by_packets(&self) -> bool {
        !self.params.rules.in_bytes()
    }

    fn upstream_use(&self) -> UpstreamUse {
        UpstreamUse::Length
    }

    fn odds(&self) -> Option<Odds> {
        self.odds
    }
}

#[cfg(test)]
#[path = "red_tests.rs"]
mod tests;
