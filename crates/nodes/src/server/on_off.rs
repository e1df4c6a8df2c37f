//! Two rates that alternate after exponentially distributed times. O(1) for each packet on average.

use std::collections::VecDeque;
use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use spillgate_core::{Dur, Rate, RateOrZero, Rng, Time};
use spillgate_queueing::{Reason, Service};

use super::{Segment, Server, ServerFacts, ServerReader, ServerRecipe, finish, integral};
use spillgate_core::Problem;

/// A server that is slower, or stands still, for random times.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OnOffSpec {
    /// Mean length of a period with the link's `rate`. The state at the beginning has its
    /// stationary probability.
    pub on: Dur,
    /// Mean length of a period with the other rate.
    pub off: Dur,
    /// The other rate. Default 0 b/s.
    #[serde(default)]
    pub off_rate: RateOrZero,
}

/// The link's rate and another one, for exponentially distributed times of these means.
#[derive(Clone, Debug, PartialEq)]
pub struct OnOff {
    /// The link's rate.
    on_rate: Rate,
    /// The other one; none for 0.
    off_rate: Option<Rate>,
    /// Mean time with the link's rate.
    on: Dur,
    /// Mean time with the other.
    off: Dur,
}

pub(super) fn random(spec: &OnOffSpec, rate: Rate, reader: &mut dyn ServerReader) -> Option<OnOff> {
    let mut fine = true;
    for (path, mean) in [("on-off.on", spec.on), ("on-off.off", spec.off)] {
        // Shorter steps would only cost time: this is a tenth of a packet at 1 Gb/s.
        if mean < Dur::from_us(1) {
            let hint = "write a time of at least 1 us, such as 500 ms";
            reader.refuse(Problem::new(path, "", format!("a mean of {mean}"), hint));
            fine = false;
        }
    }
    fine.then_some(OnOff {
        on_rate: rate,
        off_rate: spec.off_rate.0,
        on: spec.on,
        off: spec.off,
    })
}

impl ServerRecipe for OnOff {
    fn build(&self, stream: &dyn Fn(&str) -> Rng) -> Box<dyn Server> {
        Box::new(Alternating::new(self.clone(), stream("rate")))
    }

    fn facts(&self) -> ServerFacts {
        ServerFacts::VARIES
    }

    /// The lower of its rates: periods may be of any length.
    fn serves(&self) -> Result<Service, Reason> {
        let off = self
            .off_rate
            .ok_or("its line may stand still for any time")?;
        Ok(Service::line(off.min(self.on_rate)))
    }

    fn peak(&self) -> Option<(Rate, Dur)> {
        let fastest = self.off_rate.map_or(self.on_rate, |r| r.max(self.on_rate));
        Some((fastest, Dur::ZERO))
    }
}

impl fmt::Display for OnOff {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let off_rate = RateOrZero(self.off_rate);
        write!(
            f,
            "on for {}, {off_rate} for {} on average",
            self.on, self.off
        )
    }
}

/// The process as it goes.
struct Alternating {
    plan: OnOff,
    first: Rng,
    rng: Rng,
    /// The ends of intervals, and whether each is on; intervals that ended before the last
    /// transmission began are discarded.
    known: VecDeque<(Time, bool)>,
}

impl Alternating {
    fn new(plan: OnOff, rng: Rng) -> Self {
        let share = plan.on.as_secs_f64() / (plan.on.as_secs_f64() + plan.off.as_secs_f64());
        let mut new = Self {
            plan,
            first: rng.clone(),
            rng,
            known: VecDeque::new(),
        };
        let is_on = new.rng.chance(share);
        new.extend(Time::ZERO, is_on);
        new
    }

    /// Adds an interval that begins at `from`.
    fn extend(&mut self, from: Time, is_on: bool) {
        let mean = if is_on { self.plan.on } else { self.plan.off };
        let length = Dur::from_secs_f64(self.rng.exponential(mean.as_secs_f64()));
        let end = from + length.max(Dur::from_ps(1));
        self.known.push_back((end, is_on));
    }

    /// Discards intervals that ended by `t`.
    fn forget(&mut self, t: Time) {
        // The last interval is needed to add the next.
        while self.known.len() > 1 && self.known.front().is_some_and(|(end, _)| *end <= t) {
            self.known.pop_front();
        }
    }

    fn at(&mut self, t: Time) -> Segment {
        let mut i = 0;
        loop {
            let (end, is_on) = self.known[i];
            if end > t {
                let rate = match is_on {
                    true => Some(self.plan.on_rate),
                    false => self.plan.off_rate,
                };
                return (rate, end);
            }
            if i + 1 == self.known.len() {
                self.extend(end, !is_on);
            }
            i += 1;
        }
    }
}

impl Server for Alternating {
    fn send(&mut self, start: Time, bytes: u32) -> Time {
        self.forget(start);
        finish(start, bytes, |t| self.at(t))
    }

    fn capacity(&self, from: Time, to: Time) -> f64 {
        let mut fresh = Self::new(self.plan.clone(), self.first.clone());
        integral(from, to, |t| {
            fresh.forget(t);
            fresh.at(t)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_random_process_is_on_for_its_share() {
        let plan = OnOff {
            on_rate: Rate::from_bps(8_000_000).unwrap(),
            off_rate: None,
            on: Dur::from_ms(30),
            off: Dur::from_ms(10),
        };
        let mut s = plan.build(&|purpose| Rng::named(7, 0, "links/l", purpose));
        // 75 % of 8 Mb/s. A cycle of 40 ms has a standard deviation of at most 32 ms in its on
        // time, and 4 standard errors of the mean of 25,000 cycles are 1.1 %.
        let end = Time::ZERO + Dur::from_secs(1000);
        let mean = s.capacity(Time::ZERO, end) / 1000.0;
        assert!((mean / 6e6 - 1.0).abs() < 0.011, "{mean}");
        // Packet by packet it is the same process.
        let (mut now, mut bytes) = (Time::ZERO, 0.0);
        while now < Time::ZERO + Dur::from_secs(10) {
            now = s.send(now, 1000);
            bytes += 1000.0;
        }
        let could = s.capacity(Time::ZERO, now) / 8.0;
        assert!((bytes - could).abs() < 1.0, "{bytes} {could}");
    }
}
