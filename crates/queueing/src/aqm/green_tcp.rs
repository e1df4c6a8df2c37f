//! GREEN, by TCP's equation.
//!
//! Source: W. Feng, A. Kapadia, S. Thulasidasan, "GREEN: Proactive Queue Management over a
//! Best-Effort Network", GLOBECOM 2002; of the name only it shares with [`super::green`].
//!
//! Idea: a TCP connection that loses a share p of its packets sends c MSS / (RTT sqrt(p)). So that
//! N of them share a link of rate L, p = (N MSS c / (L RTT))^2, at most 1, whatever the queue.
//!
//! Deviations: routers of the paper read a connection's RTT from its packets, here all have `rtt`.
//! N is the number of flows that sent a packet within `window`, the packet in question included;
//! the paper leaves open how it is counted. Cost: O(log N) for each packet, 16 B for each flow
//! twice, one draw.

use std::collections::{BTreeMap, BTreeSet};

use spillgate_core::{Dur, Limit, Packet, Problem, Rate, Size, Time};

use super::chance::{ByChance, Chooser, Chosen};
use super::{Backlog, Draw, LeafFacts};
use crate::evidence::{FactUnit, GoesBy};
use crate::recipe::At;
use crate::stats::State;

spillgate_core::spec! {
    /// Parameters of GREEN by TCP's equation.
    pub struct GreenTcpSpec {
        /// The round-trip time of the connections. Default 100 ms.
        pub rtt: Dur = Dur::from_ms(100),
        /// The length of their packets. Default 1000 B (the authors' ns-2: 8000 bits).
        pub mss: Size = Size(1000),
        /// The constant of the equation: 1.22 if each packet is acknowledged, 0.93 if every other
        /// (Mathis and others 1997). Default 1.31 (the authors' ns-2).
        pub c: f64 = 1.31,
        /// A flow counts for that long after a packet. Default 1 s.
        pub window: Dur = Dur::from_secs(1),
        /// Mark ECN-capable packets instead of dropping them. Default false.
        pub ecn: bool = false,
    }
}

impl GreenTcpSpec {
    /// None: it knows no queue.
    pub(super) fn thresholds(&self, _: Limit, _: Rate) -> Vec<crate::Thresholds> {
        Vec::new()
    }

    pub(super) fn resolve(
        &self,
        at: &mut At<'_>,
        leaf: &LeafFacts,
    ) -> Result<ByChance<GreenTcp>, Problem> {
        for (key, time) in [("rtt", self.rtt), ("window", self.window)] {
            at.check(
                !time.is_zero(),
                key,
                time,
                "a time must be above 0",
                "leave it out for the default",
            )?;
        }
        at.check(
            self.mss.0 > 0,
            "mss",
            self.mss,
            "a packet has at least 1 byte",
            "the usual value is 1000 B",
        )?;
        at.check(
            self.c.is_finite() && self.c > 0.0,
            "c",
            self.c,
            "the constant must be a finite number above 0",
            "the usual value is 1.31",
        )?;
        let in_rtt = leaf.rate.bytes_per_sec() * self.rtt.as_secs_f64();
        let green = GreenTcp {
            each: self.mss.0 as f64 * self.c / in_rtt,
            rtt: self.rtt,
            window: self.window,
        };
        Ok(ByChance::new(green, self.ecn))
    }
}

/// A running GREEN by TCP's equation.
#[derive(Clone, Debug)]
pub(crate) struct GreenTcp {
    /// MSS c / (L RTT).
    each: f64,
    rtt: Dur,
    window: Dur,
}

/// The flows that count.
#[derive(Clone, Debug, Default)]
pub(crate) struct Vars {
    /// When each sent its last packet.
    last: BTreeMap<u32, Time>,
    /// The same by time.
    by_time: BTreeSet<(Time, u32)>,
}

impl Vars {
    /// A packet of `flow`: how many flows have sent since `oldest`.
    fn seen(&mut self, now: Time, oldest: Time, flow: u32) -> u32 {
        if let Some(before) = self.last.insert(flow, now) {
            self.by_time.remove(&(before, flow));
        }
        self.by_time.insert((now, flow));
        while let Some(&(at, flow)) = self.by_time.first().filter(|(at, _)| *at < oldest) {
            self.by_time.remove(&(at, flow));
            self.last.remove(&flow);
        }
        self.last.len() as u32
    }
}

impl GreenTcp {
    /// The probability for so many flows.
    fn probability(&self, flows: u32) -> f64 {
        let root = f64::from(flows) * self.each;
        (root * root).min(1.0)
    }
}

impl Chooser for GreenTcp {
    type Vars = Vars;

    fn vars(&self) -> Vars {
        Vars::default()
    }

    fn state(&self, v: &Vars, _: Time) -> State {
        let flows = v.last.len() as u32;
        vec![
            ("drop_probability", self.probability(flows)),
            ("flows_counted", flows.into()),
        ]
    }

    fn choose<D: Draw>(
        &self,
        v: &mut Vars,
        now: Time,
        _: &Backlog,
        packet: &Packet,
        _: &mut D,
    ) -> Chosen {
        let oldest = Time::from_ps(now.as_ps().saturating_sub(self.window.as_ps()));
        let flows = v.seen(now, oldest, packet.flow);
        Chosen::With(self.probability(flows))
    }

    fn goes_by(&self, v: &Vars) -> GoesBy {
        let flows = v.last.len() as f64;
        GoesBy::plain("flows", "{} with a round-trip time of {} shared the link")
            .and("flows", flows, FactUnit::Flows)
            .and("rtt", self.rtt.as_secs_f64(), FactUnit::Seconds)
    }

    fn decides_by_packets(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{Script, facts};
    use super::*;
    use crate::aqm::Automaton;
    use crate::recipe::test_at;

    /// 1.25 MB/s, as in the vectors of the source's equation.
    fn running(rtt_ms: u64, c: f64) -> ByChance<GreenTcp> {
        let spec = GreenTcpSpec {
            rtt: Dur::from_ms(rtt_ms),
            c,
            ..GreenTcpSpec::default()
        };
        let rate = Rate::from_bps(10_000_000).unwrap();
        let leaf = LeafFacts { rate, ..facts() };
        test_at(|at| spec.resolve(at, &leaf)).unwrap()
    }

    /// (N MSS c / (L RTT))^2 by hand, MSS 1000 B: with RTT 100 ms, N c / 125 squared.
    #[test]
    fn the_probability_is_that_of_the_equation() {
        let reno = 1.5_f64.sqrt();
        for (rtt, flows, c, expected) in [
            (100, 50, reno, 0.24),
            (100, 50, 0.93, 0.138_384),
            (100, 50, 1.31, 0.274_576),
            (100, 10, reno, 0.0096),
            (200, 50, reno, 0.06),
            (100, 100, 1.31, 1.0),
        ] {
            let got = running(rtt, c).chooser.probability(flows);
            assert!((got - expected).abs() < 1e-12, "{rtt} {flows} {c}: {got}");
        }
    }

    /// Flows count for a window after their last packet, and a packet is judged with its own.
    #[test]
    fn flows_count_while_they_send() {
        let mut green = running(100, 1.31);
        let mut v = green.vars();
        let mut judged = |ms, flow| {
            let mut never = Script::new(&[0.999_999]);
            let packet = Packet::new(flow, 0, 1000);
            let now = Time::ZERO + Dur::from_ms(ms);
            green.arrival(&mut v, now, &Backlog::default(), &packet, &mut never);
            v.last.len()
        };
        let counts = [
            (0, 1),
            (0, 2),
            (500, 1),
            (1000, 3),
            (1001, 3),
            (1500, 3),
            (1501, 3),
        ]
        .map(|(ms, flow)| judged(ms, flow));
        // Flow 2 is gone after 1000 ms, flow 1 after 1500 ms.
        assert_eq!(counts, [1, 2, 2, 3, 2, 2, 1]);
    }
}
