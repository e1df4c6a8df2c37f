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
//! makes the long-run rate about twice p_b.
//!
//! Deviations: the idle period's exponent is real; a packet refused while the
//! queue is empty restarts the idle period, so that no instant decays twice.
//! Cost: O(1), one draw while p_b applies.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use spillgate_core::{DropReason, Packet, Size, Time, Verdict};

use super::{Automaton, Average, AverageParams, Backlog, Draw, LeafFacts};
use crate::evidence::Odds;
use crate::recipe::At;
use crate::{BuildError, Thresholds};

/// Parameters of RED.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct RedSpec {
    /// Lower threshold of the average, in packets. Default 5 (Floyd 1997).
    pub min_th: f64,
    /// Upper threshold of the average, in packets. Default 15, three times `min_th` (Floyd 1997).
    pub max_th: f64,
    /// Drop probability at `max_th`. Default 0.1 (Floyd 1997).
    #[schemars(range(min = 0.0, max = 1.0))]
    pub max_p: f64,
    /// Weight of one sample in the average. Default 0.002 (1993).
    #[schemars(range(min = 0.0, max = 1.0))]
    pub weight: f64,
    /// Between `max_th` and twice that the probability rises to 1 instead of jumping (Floyd 2000).
    pub gentle: bool,
    /// Mark ECN-capable packets instead of dropping them early (RFC 3168). Default false.
    pub ecn: bool,
    /// Spread the gaps between drops over 1/p_b .. 2/p_b packets (ns-2, ns-3) instead of
    /// 1 .. 1/p_b (1993): about a third as many drops. Default false.
    pub wait: bool,
    /// Whether a packet's length changes its drop probability. Default `none` (RFC 7141).
    pub size_scaling: SizeScaling,
    /// Length of the typical small packet by which an idle queue's average decays, and
    /// the unit of `size_scaling: ns`. Default 500 B (ns-2).
    pub mean_packet: Size,
    /// The length at which `size_scaling: paper` leaves the probability alone. Default 1500 B.
    pub max_packet: Size,
}

impl Default for RedSpec {
    fn default() -> Self {
        Self {
            min_th: 5.0,
            max_th: 15.0,
            max_p: 0.1,
            weight: 0.002,
            gentle: true,
            ecn: false,
            wait: false,
            size_scaling: SizeScaling::None,
            mean_packet: Size(500),
            max_packet: Size(1500),
        }
    }
}

/// Whether RED's drop probability depends on the packet's length.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum SizeScaling {
    /// It does not.
    #[default]
    None,
    /// p_b is multiplied by length / `max_packet` before the gaps are spread (1993).
    Paper,
    /// p_a is multiplied by length / `mean_packet` after the gaps were spread (ns-2, ns-3).
    Ns,
}

impl RedSpec {
    /// The same for all packets.
    pub(super) fn thresholds(
        &self,
        _: spillgate_core::Limit,
        _: spillgate_core::Rate,
    ) -> Vec<Thresholds> {
        vec![Thresholds {
            dscp: Vec::new(),
            min: self.min_th,
            max: self.max_th,
            in_bytes: false,
            probability: self.max_p,
            written: true,
        }]
    }

    pub(super) fn resolve(&self, at: &mut At<'_>, leaf: &LeafFacts) -> Result<Red, BuildError> {
        at.check(
            self.min_th.is_finite() && self.min_th >= 0.0,
            "min_th",
            self.min_th,
            "a threshold must be a finite number of packets, at least 0",
            "the usual value is 5",
        )?;
        at.check(
            self.max_th.is_finite() && self.max_th > self.min_th,
            "max_th",
            self.max_th,
            &format!("it must be above min_th, which is {}", self.min_th),
            "three times min_th is usual",
        )?;
        at.check(
            (0.0..=1.0).contains(&self.max_p),
            "max_p",
            self.max_p,
            "a probability must be between 0 and 1",
            "the usual value is 0.1",
        )?;
        at.check(
            self.weight > 0.0 && self.weight <= 1.0,
            "weight",
            self.weight,
            "the weight of a sample must be above 0 and at most 1",
            "the usual value is 0.002",
        )?;
        for (key, size) in [
            ("mean_packet", self.mean_packet),
            ("max_packet", self.max_packet),
        ] {
            at.check(
                size.0 > 0,
                key,
                size,
                "a packet has at least 1 byte",
                "write a size such as 500 B",
            )?;
        }
        if let Some(limit) = leaf.max_packets.filter(|l| self.max_th > f64::from(*l)) {
            at.warn(format!(
                "max_th of {} packets is above the queue limit of {limit}: tail drop comes first",
                self.max_th
            ));
        }
        Ok(Red {
            params: Params {
                average: AverageParams::new(self.weight, self.mean_packet.0, leaf.rate),
                min: self.min_th,
                max: self.max_th,
                max_p: self.max_p,
                gentle: self.gentle,
                ecn: self.ecn,
                wait: self.wait,
                scaling: self.size_scaling,
                mean_packet: self.mean_packet.0 as f64,
                max_packet: self.max_packet.0 as f64,
            },
            vars: Vars {
                average: Average::ZERO,
                count: -1,
            },
            odds: None,
        })
    }
}

#[derive(Clone, Debug)]
struct Params {
    average: AverageParams,
    min: f64,
    max: f64,
    max_p: f64,
    gentle: bool,
    ecn: bool,
    wait: bool,
    scaling: SizeScaling,
    mean_packet: f64,
    max_packet: f64,
}

#[derive(Clone, Copy, Debug)]
struct Vars {
    average: Average,
    /// Packets since the last mark or drop; -1 while the average is below `min`.
    count: i64,
}

const _: () = assert!(std::mem::size_of::<Vars>() <= 32);

/// A running RED.
#[derive(Clone, Debug)]
pub(crate) struct Red {
    params: Params,
    vars: Vars,
    /// Those of the last drop or mark.
    odds: Option<Odds>,
}

impl Params {
    /// p_b of the average; none above the region in which chance decides.
    fn chance(&self, avg: f64) -> Option<f64> {
        if avg < self.max {
            Some(self.max_p * (avg - self.min) / (self.max - self.min))
        } else if self.gentle && avg < 2.0 * self.max {
            Some(self.max_p + (1.0 - self.max_p) * (avg - self.max) / self.max)
        } else {
            None
        }
    }

    /// p_a: p_b with the gaps spread, `count` being packets since the last drop.
    fn spread(&self, p_b: f64, count: i64) -> f64 {
        let x = count as f64 * p_b;
        if self.wait {
            if x < 1.0 {
                0.0
            } else if x < 2.0 {
                p_b / (2.0 - x)
            } else {
                1.0
            }
        } else if x < 1.0 {
            p_b / (1.0 - x)
        } else {
            1.0
        }
        .min(1.0)
    }

    fn act(&self, packet: &Packet, reason: DropReason) -> Verdict {
        // RFC 3168 section 7: between the thresholds mark, above them drop.
        if self.ecn && reason == DropReason::Early && packet.ecn.is_capable() {
            Verdict::Mark
        } else {
            Verdict::Drop(reason)
        }
    }
}

impl Automaton for Red {
    #[inline]
    fn arrival<D: Draw>(
        &mut self,
        now: Time,
        backlog: Backlog,
        packet: &Packet,
        draw: &mut D,
    ) -> Verdict {
        let (p, v) = (&self.params, &mut self.vars);
        let avg = v.average.sample(&p.average, now, backlog.packets);
        if avg < p.min {
            v.count = -1;
            return Verdict::Pass;
        }
        let Some(mut p_b) = p.chance(avg) else {
            v.count = 0;
            self.odds = Some(Odds::certain(avg, p.min, p.max));
            return p.act(packet, DropReason::Forced);
        };
        v.count += 1;
        if p.scaling == SizeScaling::Paper {
            p_b *= f64::from(packet.len) / p.max_packet;
        }
        let mut p_a = p.spread(p_b, v.count);
        if p.scaling == SizeScaling::Ns {
            p_a *= f64::from(packet.len) / p.mean_packet;
        }
        let u = draw.draw();
        if u >= p_a {
            return Verdict::Pass;
        }
        self.odds = Some(Odds {
            average: avg,
            min: p.min,
            max: p.max,
            in_bytes: false,
            probability: p_a.min(1.0),
            count: Some(v.count),
            draw: Some(u),
        });
        v.count = 0;
        p.act(packet, DropReason::Early)
    }

    fn overflowed(&mut self) {
        self.vars.count = 0;
    }

    fn emptied(&mut self, now: Time) {
        self.vars.average.idle_since = Some(now);
    }

    fn average(&self) -> Option<f64> {
        Some(self.vars.average.value)
    }

    fn odds(&self) -> Option<Odds> {
        self.odds
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::aqm::Aqm;
    use crate::aqm::tests::{Script, facts};
    use crate::leaf::{Bound, Leaf};
    use crate::recipe::test_at;
    use crate::stats::{Cx, LeafStats, Total};
    use spillgate_core::{Drops, Ecn, Rng};

    fn red(spec: RedSpec) -> Red {
        test_at(|at| spec.resolve(at, &facts())).unwrap()
    }

    fn arrival(red: &mut Red, q: u32, packet: &Packet, script: &mut Script) -> Verdict {
        red.arrival(
            Time::ZERO,
            Backlog {
                packets: q,
                bytes: 0,
            },
            packet,
            script,
        )
    }

    const PACKET: fn() -> Packet = || Packet::new(0, 0, 500);
    const EARLY: Verdict = Verdict::Drop(DropReason::Early);
    const FORCED: Verdict = Verdict::Drop(DropReason::Forced);

    /// Queue, average afterwards, verdict, count afterwards; from the formulas by hand.
    #[test]
    fn scripted_run() {
        let mut red = red(RedSpec {
            weight: 0.25,
            max_p: 0.5,
            gentle: false,
            ..RedSpec::default()
        });
        let mut script = Script::new(&[0.5, 0.3, 0.2, 0.1, 0.9, 0.25, 0.4]);
        let rows = [
            (8, 2.0, Verdict::Pass, -1),
            (8, 3.5, Verdict::Pass, -1),
            (8, 4.625, Verdict::Pass, -1),
            (8, 5.468_75, Verdict::Pass, 0),
            (12, 7.101_562, Verdict::Pass, 1),
            (12, 8.326_172, EARLY, 0),
            (12, 9.244_629, EARLY, 0),
            (20, 11.933_472, Verdict::Pass, 1),
            (20, 13.950_104, EARLY, 0),
            (20, 15.462_578, FORCED, 0),
            (30, 19.096_933, FORCED, 0),
            (40, 24.322_7, FORCED, 0),
            (0, 18.242_025, FORCED, 0),
            (0, 13.681_519, EARLY, 0),
        ];
        for (i, (q, avg, verdict, count)) in rows.into_iter().enumerate() {
            let got = arrival(&mut red, q, &PACKET(), &mut script);
            assert_eq!((got, red.vars.count), (verdict, count), "row {}", i + 1);
            // Half a unit of the last digit written, with room for the halves themselves.
            let error = (red.vars.average.value - avg).abs();
            assert!(error < 6e-7, "row {}: {}", i + 1, red.vars.average.value);
        }
        assert_eq!(script.drawn, 7);
    }

    #[test]
    fn gaps_are_spread() {
        let plain = red(RedSpec::default()).params;
        let at = [
            (0, 0.01),
            (1, 0.010_101),
            (50, 0.02),
            (90, 0.1),
            (99, 1.0),
            (100, 1.0),
            (500, 1.0),
        ];
        for (count, expected) in at {
            let p = plain.spread(0.01, count);
            assert!((p - expected).abs() < 5e-7, "count {count}: {p}");
        }
        let wait = red(RedSpec {
            wait: true,
            ..RedSpec::default()
        })
        .params;
        let at = [
            (0, 0.0),
            (19, 0.0),
            (20, 0.05),
            (30, 0.1),
            (38, 0.5),
            (39, 1.0),
            (80, 1.0),
        ];
        for (count, expected) in at {
            let p = wait.spread(0.05, count);
            // 0.05 is no binary fraction: a few units of the last place, times 20.
            assert!((p - expected).abs() < 1e-12, "count {count}: {p}");
        }
    }

    #[test]
    fn gentle_rises_to_one_at_twice_the_threshold() {
        let p = red(RedSpec::default()).params;
        for (avg, expected) in [(15.0, 0.1), (18.0, 0.28), (22.5, 0.55), (27.0, 0.82)] {
            assert!((p.chance(avg).unwrap() - expected).abs() < 1e-12);
        }
        assert_eq!(p.chance(30.0), None);
        let p = red(RedSpec {
            max_p: 0.02,
            ..RedSpec::default()
        })
        .params;
        assert!((p.chance(22.5).unwrap() - 0.51).abs() < 1e-12);
    }

    #[test]
    fn the_probability_never_falls_with_the_average() {
        for gentle in [false, true] {
            let p = red(RedSpec {
                gentle,
                ..RedSpec::default()
            })
            .params;
            let at = |i: i32| p.chance(f64::from(i) * 0.01).unwrap_or(1.0);
            assert!((500..4000).all(|i| at(i) <= at(i + 1)));
        }
    }

    #[test]
    fn length_scales_before_or_after_the_spreading() {
        let verdicts = |scaling, len, u: f64| {
            let mut red = red(RedSpec {
                weight: 1.0,
                max_p: 0.5,
                size_scaling: scaling,
                ..RedSpec::default()
            });
            let packet = Packet::new(0, 0, len);
            // At an average of 10, p_b = 0.25; the first packet has count 0, so p_a = p_b.
            arrival(&mut red, 10, &packet, &mut Script::new(&[u]))
        };
        // Paper: 0.25 * 300 / 1500 = 0.05. ns: 0.25 * 300 / 500 = 0.15.
        assert_eq!(verdicts(SizeScaling::None, 300, 0.249), EARLY);
        assert_eq!(verdicts(SizeScaling::Ns, 300, 0.151), Verdict::Pass);
        assert_eq!(verdicts(SizeScaling::Ns, 300, 0.149), EARLY);
        assert_eq!(verdicts(SizeScaling::Paper, 300, 0.051), Verdict::Pass);
        assert_eq!(verdicts(SizeScaling::Paper, 300, 0.049), EARLY);
    }

    #[test]
    fn capable_packets_are_marked_between_the_thresholds_only() {
        let mut red = red(RedSpec {
            weight: 1.0,
            ecn: true,
            gentle: false,
            ..RedSpec::default()
        });
        for (ecn, early) in [
            (Ecn::NotEct, EARLY),
            (Ecn::Ect0, Verdict::Mark),
            (Ecn::Ect1, Verdict::Mark),
            (Ecn::Ce, Verdict::Mark),
        ] {
            let packet = Packet { ecn, ..PACKET() };
            let got = arrival(&mut red, 14, &packet, &mut Script::new(&[0.0]));
            assert_eq!(got, early);
            let got = arrival(&mut red, 15, &packet, &mut Script::new(&[]));
            assert_eq!(got, FORCED);
        }
    }

    #[test]
    fn a_forced_drop_starts_a_new_gap() {
        let mut red = red(RedSpec {
            weight: 1.0,
            gentle: false,
            ..RedSpec::default()
        });
        let mut script = Script::new(&[0.9; 4]);
        let counts = [10, 10, 10, 15, 10].map(|q| {
            arrival(&mut red, q, &PACKET(), &mut script);
            red.vars.count
        });
        assert_eq!(counts, [0, 1, 2, 0, 1]);
    }

    #[test]
    fn an_overflow_starts_a_new_gap() {
        let red = red(RedSpec {
            weight: 1.0,
            max_th: 50.0,
            max_p: 0.0,
            ..RedSpec::default()
        });
        let bound = Bound {
            packets: 7,
            ..Bound::NONE
        };
        let mut leaf = Leaf::fifo(bound, Some(Aqm::Red(red)));
        let (mut rng, mut drops) = (Rng::from_key(0), Drops::new());
        let (mut stats, mut total) = ([LeafStats::default()], Total::default());
        let mut cx = Cx {
            now: Time::ZERO,
            rng: &mut rng,
            drops: &mut drops,
            stats: &mut stats,
            total: &mut total,
        };
        // The queue is at the lower threshold from the sixth arrival on.
        let counts: Vec<i64> = (0..8)
            .map(|_| {
                leaf.offer(PACKET(), &mut cx);
                match &leaf.aqm {
                    Some(Aqm::Red(r)) => r.vars.count,
                    _ => -9,
                }
            })
            .collect();
        assert_eq!(counts, [-1, -1, -1, -1, -1, 0, 1, 0]);
        assert_eq!(drops.as_slice()[0].reason, DropReason::Tail);
    }
}
