//! Rates from given times on, written or recorded. O(log n) for each change that a packet sees.

use std::fmt;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use spillgate_core::{Dur, Rate, RateOrZero, Rng, Time};
use spillgate_queueing::{Reason, Service};

use super::least::least;
use super::{
    Segment, Server, ServerFacts, ServerReader, ServerRecipe, TraceSpec, finish, integral,
};
use spillgate_core::Problem;

/// Rates from given times on; before the first time the link's own rate.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ScheduleSpec {
    /// The changes, in increasing order of time.
    pub steps: Vec<StepSpec>,
    /// The schedule repeats after this time, from the beginning of the run. Default: the last rate
    /// holds for ever, and must not be 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub repeat: Option<Dur>,
}

/// A change of rate.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StepSpec {
    /// When, from the beginning of the run or of the repetition.
    pub at: Dur,
    /// The rate from then on.
    pub rate: RateOrZero,
}

/// Rates from given times on.
#[derive(Clone, Debug, PartialEq)]
pub struct Steps {
    /// Rising times, the first of them 0, and the rates from then on; none for 0.
    pub steps: Arc<[(Dur, Option<Rate>)]>,
    /// After which it begins again; none: the last rate, which is not 0, holds for ever.
    pub period: Option<Dur>,
    /// It is recorded, not written.
    pub recorded: bool,
}

pub(super) fn schedule(
    spec: &ScheduleSpec,
    rate: Rate,
    reader: &mut dyn ServerReader,
) -> Option<Steps> {
    let mut fine = true;
    let mut refuse = |path: &str, message: String, hint: &str| {
        reader.refuse(Problem::new(path, "", message, hint));
        fine = false;
    };
    let Some(last) = spec.steps.last() else {
        let hint = "write steps such as [{at: 0 s, rate: 12 Mb/s}, {at: 5 s, rate: 3 Mb/s}]";
        refuse("schedule.steps", "a schedule without steps".into(), hint);
        return None;
    };
    for (i, pair) in spec.steps.windows(2).enumerate() {
        if pair[1].at <= pair[0].at {
            let message = format!("{} does not come after {}", pair[1].at, pair[0].at);
            let path = format!("schedule.steps[{}].at", i + 1);
            refuse(
                &path,
                message,
                "write the steps in increasing order of time",
            );
        }
    }
    if let Some(period) = spec.repeat.filter(|p| *p <= last.at) {
        let message = format!("it begins again after {period}, before its last step");
        let hint = format!("write a time above {}", last.at);
        refuse("schedule.repeat", message, &hint);
    }
    let mut steps: Vec<_> = spec.steps.iter().map(|s| (s.at, s.rate.0)).collect();
    if !steps[0].0.is_zero() {
        steps.insert(0, (Dur::ZERO, Some(rate)));
    }
    if spec.repeat.is_none() && last.rate.0.is_none() {
        let path = format!("schedule.steps[{}].rate", spec.steps.len() - 1);
        let hint = "end with a rate, or `repeat` the schedule; what breaks down for good is one of `failures`";
        refuse(&path, "the link would stand still for ever".into(), hint);
    }
    if steps.iter().all(|(_, r)| r.is_none()) {
        let hint = "give one of the steps a rate above 0 b/s";
        refuse("schedule.steps", "the link never sends".into(), hint);
    }
    fine.then(|| Steps {
        steps: steps.into(),
        period: spec.repeat,
        recorded: false,
    })
}

pub(super) fn trace(spec: &TraceSpec, _: Rate, reader: &mut dyn ServerReader) -> Option<Steps> {
    let path = "trace.file";
    let (steps, name) = reader.rates(path, &spec.file)?;
    let [.., (before, _), (last, _)] = &steps[..] else {
        let message = format!("`{name}` has less than two rates");
        let hint = "a trace has at least two lines behind its header";
        reader.refuse(Problem::new(path, "", message, hint));
        return None;
    };
    let period = *last + (*last - *before);
    if steps.iter().all(|(_, r)| r.is_none()) {
        let message = format!("`{name}` has no rate above 0 b/s");
        reader.refuse(Problem::new(path, "", message, "the link would never send"));
        return None;
    }
    spec.check_length(path, period, reader)?;
    Some(Steps {
        steps: steps.into(),
        period: Some(period),
        recorded: true,
    })
}

impl Steps {
    /// The rate at `t`.
    fn at(&self, t: Time) -> Segment {
        let t = t.since(Time::ZERO);
        let base = match self.period {
            Some(p) => Dur::from_ps(t.as_ps() / p.as_ps() * p.as_ps()),
            None => Dur::ZERO,
        };
        let i = self.steps.partition_point(|(at, _)| base + *at <= t);
        let rate = self.steps[i.saturating_sub(1)].1;
        let end = match (self.steps.get(i), self.period) {
            (Some((at, _)), _) => Time::ZERO + base + *at,
            (None, Some(period)) => Time::ZERO + base + period,
            (None, None) => Time::MAX,
        };
        (rate, end)
    }
}

impl Server for Steps {
    fn send(&mut self, start: Time, bytes: u32) -> Time {
        finish(start, bytes, |t| self.at(t))
    }

    fn capacity(&self, from: Time, to: Time) -> f64 {
        integral(from, to, |t| self.at(t))
    }
}

impl ServerRecipe for Steps {
    fn build(&self, _: &dyn Fn(&str) -> Rng) -> Box<dyn Server> {
        Box::new(self.clone())
    }

    fn facts(&self) -> ServerFacts {
        ServerFacts::VARIES
    }

    fn serves(&self) -> Result<Service, Reason> {
        let ends = self.steps.iter().skip(1).map(|(at, _)| *at);
        // Without a period the last rate holds for ever.
        let ends = ends.chain([self.period.unwrap_or(self.steps[self.steps.len() - 1].0)]);
        let stretch = |((from, rate), until): (&(Dur, Option<Rate>), Dur)| {
            let bps = rate.map_or(0, Rate::bps);
            ((until - *from).as_ps(), bps, 0)
        };
        let stretches: Vec<_> = self.steps.iter().zip(ends).map(stretch).collect();
        Ok(Service::of(least(&stretches, self.period.is_some())?))
    }

    fn peak(&self) -> Option<(Rate, Dur)> {
        let fastest = self.steps.iter().filter_map(|(_, rate)| *rate).max();
        fastest.map(|rate| (rate, Dur::ZERO))
    }
}

impl fmt::Display for Steps {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let rates = || self.steps.iter().map(|(_, r)| RateOrZero(*r));
        let most = rates().max_by_key(|r| r.bps()).unwrap_or_default();
        let least = rates().min_by_key(|r| r.bps()).unwrap_or_default();
        let what = if self.recorded { "trace" } else { "schedule" };
        write!(f, "{what} of {} rates, {least} to {most}", self.steps.len())?;
        self.period.map_or(Ok(()), |p| write!(f, ", every {p}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use spillgate_core::curve::Exact;

    fn at(ms: u64) -> Time {
        Time::ZERO + Dur::from_ms(ms)
    }

    fn steps(steps: &[(u64, u64)], period: Option<u64>) -> Steps {
        let step = |(ms, bps): &(u64, u64)| (Dur::from_ms(*ms), Rate::from_bps(*bps));
        Steps {
            steps: steps.iter().map(step).collect(),
            period: period.map(Dur::from_ms),
            recorded: false,
        }
    }

    #[test]
    fn a_packet_feels_each_change_of_rate() {
        // 1,000 bits at 1 Mb/s, 0 and 0.5 Mb/s by turns of 1 ms: 500 of them before the first
        // change.
        let mut s = steps(&[(0, 1_000_000), (1, 0), (2, 500_000)], Some(3));
        let half = at(0) + Dur::from_us(500);
        assert_eq!(s.send(half, 125), at(3));
        // 375 B are two periods: 2 x (1,000 + 500) bits.
        assert_eq!(s.send(at(3), 375), at(9));
        assert!((s.capacity(at(0), at(30)) - 15_000.0).abs() < 1e-6);
        assert!((s.capacity(half, at(2)) - 500.0).abs() < 1e-6);
    }

    #[test]
    fn the_last_rate_holds_for_ever() {
        let mut s = steps(&[(0, 1_000_000), (10, 8_000_000)], None);
        assert_eq!(s.send(at(1_000_000), 1000), at(1_000_001));
    }

    proptest! {
        /// At one rate, a schedule is the constant server to the picosecond.
        #[test]
        fn a_constant_schedule_is_constant(bps in 1_u64..100_000_000_000, len in 1_u32..70_000, ps in 0_u64..1 << 50) {
            let start = Time::from_ps(ps);
            let mut s = steps(&[(0, bps)], None);
            let tx = Rate::from_bps(bps).unwrap().tx_time(len);
            prop_assert_eq!(s.send(start, len), start + tx);
        }

        /// In no time is less sent, and in some as much.
        #[test]
        fn what_is_served_is_the_least(
            rates in prop::collection::vec(0_u64..9_000, 1..6),
            ends in prop_oneof![Just(None), Just(Some(()))],
        ) {
            let mut rates: Vec<(u64, u64)> = (0..).step_by(3).zip(rates).collect();
            let last = rates.len() - 1;
            rates[last].1 += 1_000;
            let n = 3 * rates.len() as u64;
            let period = ends.map(|()| n);
            let s = steps(&rates, period);
            let service = s.serves().unwrap();
            let curve = service.curve();
            let rate = |ms: u64| {
                let ms = period.map_or(ms, |p| ms % p);
                i128::from(rates[(ms as usize / 3).min(last)].1)
            };
            let ps = |ms: u64| i128::from(Dur::from_ms(ms).as_ps());
            let mut least = None;
            for from in 0..n {
                let mut sent = 0;
                for len in 1..4 * n {
                    sent += rate(from + len - 1) * ps(1);
                    let curve = curve.at(Exact::from_integer(ps(len))).unwrap();
                    let room = Exact::from_integer(sent) - curve;
                    prop_assert!(room >= Exact::from_integer(0), "{len} ms from {from}: {room}");
                    least = Some(least.map_or(room, |l: Exact| l.min(room)));
                }
            }
            // Short of rounding by 1/1024 b/s and 1 ps.
            let rounded = Exact::from_integer(ps(4 * n)) / 1024 + 20_000;
            prop_assert!(least.unwrap() <= rounded, "{least:?}");
        }

        /// However the packets are cut, a backlog takes the same work.
        #[test]
        fn work_is_conserved(
            rates in prop::collection::vec(0_u64..50_000_000, 1..6),
            lens in prop::collection::vec(40_u32..1500, 1..40),
        ) {
            let mut rates: Vec<(u64, u64)> = (0..).step_by(3).zip(rates).collect();
            rates[0].1 += 1_000;
            let period = Some(3 * rates.len() as u64);
            let mut by_packet = steps(&rates, period);
            let mut now = at(1);
            for len in &lens {
                now = by_packet.send(now, *len);
            }
            let whole = steps(&rates, period).send(at(1), lens.iter().sum());
            // Each end is rounded down by less than a picosecond of at most 50 Mb/s.
            let ahead = by_packet.capacity(now, whole);
            prop_assert!(now <= whole && ahead <= lens.len() as f64 * 5e-5, "{ahead}");
        }
    }
}
