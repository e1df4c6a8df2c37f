//! The average queue of RED and of what descends from it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use spillgate_core::{Problem, Rate, Size, Time};

use super::LeafFacts;
use super::upstream::Upstream;
use crate::recipe::At;

/// The exponentially weighted average queue of RED and WRED with its idle decay.
///
/// An arrival that finds the queue busy is one sample: packets are queued, or the last one is still
/// in transmission. An arrival that finds it idle first lets the average decay as if m = idle time
/// / s small packets had found it empty, m being real: (1-w)^m, in closed form. With
/// [`RedIdle::None`] every arrival is one sample.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Average {
    pub(super) value: f64,
    /// When the queue becomes idle if nothing is queued, which may lie in the future: the end of
    /// the last packet's transmission. [`Time::MAX`] if it never was busy, or if unknown.
    pub(super) idle_since: Time,
}

/// What the average of a RED does while its queue is idle.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum RedIdle {
    /// It decays as if small packets had found the queue empty (1993).
    #[default]
    Decay,
    /// Nothing: it changes at arrivals only, of which one that finds an idle queue is a sample of 0
    /// (the equation of the average as it stands).
    None,
}

/// Parameters of [`Average`].
#[derive(Clone, Copy, Debug)]
pub(crate) struct AverageParams {
    /// Weight of one sample.
    weight: f64,
    /// Small packets a second: 1/s.
    small_per_sec: f64,
    idle: RedIdle,
}

impl AverageParams {
    pub(super) fn new(weight: f64, mean_packet: u64, rate: Rate, idle: RedIdle) -> Self {
        Self {
            weight,
            small_per_sec: rate.bytes_per_sec() / mean_packet as f64,
            idle,
        }
    }

    /// The same, checked.
    pub(super) fn checked(
        at: &mut At<'_>,
        leaf: &LeafFacts,
        weight: f64,
        mean_packet: Size,
        idle: RedIdle,
    ) -> Result<Self, Problem> {
        if idle == RedIdle::None {
            at.warn(
                "with `idle: none` the average stays what it is while nothing arrives: after congestion, packets \
                 are dropped though none waits",
            );
        }
        at.check(
            weight > 0.0 && weight <= 1.0,
            "weight",
            weight,
            "the weight of a sample must be above 0 and at most 1",
            "the usual value is 0.002",
        )?;
        at.packet("mean_packet", mean_packet)?;
        Ok(Self::new(weight, mean_packet.0, leaf.rate, idle))
    }
}

impl Average {
    pub(super) const ZERO: Self = Self {
        value: 0.0,
        idle_since: Time::MAX,
    };

    /// The average after a sample of `length`, to which what waits in front of the queue belongs:
    /// it is idle only while nothing waits there either.
    #[inline]
    pub(super) fn sample(
        &mut self,
        p: &AverageParams,
        now: Time,
        length: f64,
        upstream: &Upstream,
    ) -> f64 {
        if length == 0.0 && self.idle_since <= now && p.idle == RedIdle::Decay {
            if self.value > 0.0 {
                let idle = now.since(self.idle_since.max(upstream.empty_since));
                let m = idle.as_secs_f64() * p.small_per_sec;
                self.value *= spillgate_core::math::pow(1.0 - p.weight, m);
            }
            // If this packet is dropped the queue stays idle, counted from now on.
            self.idle_since = now;
        } else {
            self.value += p.weight * (length - self.value);
        }
        self.value
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::facts;
    use super::*;

    fn average(weight: f64) -> (Average, AverageParams) {
        let p = AverageParams::new(weight, 500, facts().rate, RedIdle::Decay);
        (Average::ZERO, p)
    }

    /// Burst of L packets on an average of 0, the new packet not counted: the
    /// closed form for L - 1 in L + ((1-w)^L - 1)/w.
    #[test]
    fn a_burst_builds_the_average_up() {
        let (mut a, p) = average(0.002);
        for q in 0..50 {
            a.sample(&p, Time::ZERO, q.into(), &Upstream::NONE);
        }
        assert!((a.value - 2.373_409).abs() < 5e-7, "{}", a.value);
        let (mut a, p) = average(1.0 / 512.0);
        let at = [
            (1, 0.125),
            (2, 0.249_756),
            (100, 11.365_089),
            (512, 40.478_727),
            (1024, 55.355_464),
        ];
        let mut n = 0;
        for (steps, expected) in at {
            while n < steps {
                a.sample(&p, Time::ZERO, 64.0, &Upstream::NONE);
                n += 1;
            }
            assert!((a.value - expected).abs() < 5e-7, "{steps}: {}", a.value);
        }
    }

    #[test]
    fn an_idle_queue_forgets_by_the_real_exponent() {
        let (mut a, p) = average(0.002);
        a.value = 8.0;
        a.idle_since = Time::ZERO;
        let tenth = Time::from_secs_f64(0.1);
        let mut halves = a;
        // 8 * 0.998^37.5, the exponent being 375 packets/s * 0.1 s.
        assert!((a.sample(&p, tenth, 0.0, &Upstream::NONE) - 7.421_390_522).abs() < 1e-9);
        // A refused arrival half way through must not matter.
        halves.sample(&p, Time::from_secs_f64(0.05), 0.0, &Upstream::NONE);
        halves.sample(&p, tenth, 0.0, &Upstream::NONE);
        assert!((a.value - halves.value).abs() < 1e-12);
        // After a day nothing is left, in one step.
        assert!(a.sample(&p, Time::from_secs_f64(86_400.0), 0.0, &Upstream::NONE) < 1e-9);
    }

    /// Queue found, seconds, average at w = 1/4 of 8 after it, with decay and without; 375 small
    /// packets a second. What was idle for 0.1 s is one sample of 0 by the equation alone, and 37.5
    /// by the paper of 1993.
    #[test]
    fn without_decay_an_idle_period_is_one_sample() {
        let rows = [
            (0.0, 8.0 * spillgate_core::math::pow(0.75, 37.5), 6.0),
            (4.0, 1.0, 5.5),
        ];
        for idle in [RedIdle::Decay, RedIdle::None] {
            let p = AverageParams::new(0.25, 500, facts().rate, idle);
            let mut a = Average {
                value: 8.0,
                idle_since: Time::ZERO,
            };
            let now = Time::from_secs_f64(0.1);
            for (length, decayed, still) in rows {
                let got = a.sample(&p, now, length, &Upstream::NONE);
                let want = match idle {
                    RedIdle::Decay => decayed,
                    RedIdle::None => still,
                };
                // 8 (3/4)^37.5 is 1.6e-4, a quarter of 4 is 1.
                assert!((got - want).abs() < 2e-4, "{idle:?}: {got} {want}");
            }
        }
    }
}
