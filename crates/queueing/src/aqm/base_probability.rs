//! The base probability of PI2 and of DualPI2: a controller that is proportional and integral in
//! the delay of a queue.
//!
//! Sources: K. De Schepper, O. Bondarenko, I.-J. Tsang, B. Briscoe, "PI2: A Linearized AQM for both
//! Classic and Scalable TCP", CoNEXT 2016; K. De Schepper, B. Briscoe (ed.), G. White, RFC 9332,
//! 2023, appendix A.1 (`dualpi2_update`).
//!
//! Equation: p' ← p' + alpha (d - target) + beta (d - d_old), within 0 and 1, at every `update`;
//! delays are in seconds.
//!
//! Updates are computed when the next packet arrives or leaves. They begin anew with the first
//! packet after p' is 0 and the queue empty.

use spillgate_core::{Dur, Problem, Time};

use crate::recipe::At;

/// Checks what every controller of a delay has: its target, the time between updates, and its
/// gains, each with its usual value.
pub(super) fn check_controller(
    at: &mut At<'_>,
    target: Dur,
    (update, usual): (Dur, &str),
    gains: [(&str, f64, &str); 2],
) -> Result<(), Problem> {
    at.check(
        !target.is_zero(),
        "target",
        target,
        "every packet would have waited too long",
        "the usual value is 15 ms",
    )?;
    at.check(
        (Dur::from_ms(1)..=Dur::from_secs(10)).contains(&update),
        "update",
        update,
        "the time between updates must be from 1 ms to 10 s",
        &format!("the usual value is {usual}"),
    )?;
    for (key, gain, usual) in gains {
        at.check(
            gain.is_finite() && gain > 0.0,
            key,
            gain,
            "a gain must be a finite number above 0",
            &format!("the usual value is {usual}"),
        )?;
    }
    Ok(())
}

/// Parameters of the controller.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Pi {
    pub(crate) target: Dur,
    pub(crate) update: Dur,
    pub(crate) alpha: f64,
    pub(crate) beta: f64,
    /// The largest base probability.
    pub(crate) most: f64,
    /// Updates are at multiples of `update` since the start of the run, as the timer of Linux that
    /// runs whether packets wait or not.
    pub(crate) on_grid: bool,
}

/// Updates of an empty queue that are made one by one.
const FAR: f64 = 1e5;

/// The state of the controller of one queue.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Base {
    /// The base probability p'.
    pub(crate) p: f64,
    /// The delay at the last update.
    pub(crate) delay: Dur,
    /// The next update; [`Time::MAX`] while there is nothing to update.
    next: Time,
}

impl Base {
    /// That of a queue that has never held a packet.
    pub(crate) const NEW: Self = Self {
        p: 0.0,
        delay: Dur::ZERO,
        next: Time::MAX,
    };
}

impl Pi {
    /// Checks the parameters, and warns of gains above those that RFC 9332 derives.
    pub(crate) fn check(&self, at: &mut At<'_>) -> Result<(), Problem> {
        let gains = [("alpha", self.alpha, "0.16"), ("beta", self.beta, "3.2")];
        check_controller(at, self.target, (self.update, "16 ms"), gains)?;
        self.warn(at);
        Ok(())
    }

    /// RFC 9332, figure 2: beta = 0.3 / RTT, alpha = 0.1 update / RTT^2 and update <= RTT / 3, RTT
    /// being the longest round-trip time for which the controller is to be stable.
    fn warn(&self, at: &mut At<'_>) {
        let (rtt, update) = (0.3 / self.beta, self.update.as_secs_f64());
        let most = 0.1 * update / (rtt * rtt);
        // The gains that are published are rounded to two digits.
        let rounded = 1.005;
        if update > rtt / 3.0 * rounded {
            at.warn(format!(
                "`update` {} is above a third of {:.3} ms, the round-trip time for which `beta` {} is stable: the probability may swing (RFC 9332, appendix A.1)",
                self.update,
                rtt * 1e3,
                self.beta
            ));
        }
        if self.alpha > most * rounded {
            at.warn(format!(
                "`alpha` {} is above {most:.3}, 0.1 `update` / RTT^2 with the round-trip time 0.3 / `beta` = {:.3} ms: the probability may swing (RFC 9332, appendix A.1)",
                self.alpha,
                rtt * 1e3
            ));
        }
    }

    /// A packet arrives at `now`: there is something to update from now on.
    #[inline]
    pub(crate) fn begin(&self, v: &mut Base, now: Time) {
        if v.next == Time::MAX {
            let update = self.update.as_ps();
            v.next = match self.on_grid {
                false => now + self.update,
                true => Time::from_ps((now.as_ps() / update + 1) * update),
            };
        }
    }

    /// The updates up to `now` of a queue in which nothing arrived or left since the last one;
    /// `oldest`: when the packet that has waited longest arrived. Returns whether there is nothing
    /// to update any more.
    #[inline]
    pub(crate) fn advance(&self, v: &mut Base, now: Time, oldest: Option<Time>) -> bool {
        v.next <= now && self.catch_up(v, now, oldest)
    }

    fn catch_up(&self, v: &mut Base, now: Time, oldest: Option<Time>) -> bool {
        while v.next <= now {
            // How many updates more there are up to now.
            let more = now.since(v.next).as_ps() / self.update.as_ps();
            let skipped = match oldest {
                // The probability falls by the same at each.
                None if v.delay.is_zero() && v.p > FAR * self.fall() => {
                    let skipped = ((v.p / self.fall() - FAR) as u64).min(more);
                    v.p -= skipped as f64 * self.fall();
                    skipped
                }
                // It stays where it is.
                Some(_) if v.p >= self.most && v.delay >= self.target => more,
                _ => 0,
            };
            v.next += Dur::from_ps(self.update.as_ps() * skipped);
            let delay = oldest.map_or(Dur::ZERO, |arrived| v.next.since(arrived));
            self.step(v, delay);
            v.next += self.update;
            if v.p == 0.0 && oldest.is_none() {
                // The next step would fall from 0.
                *v = Base::NEW;
                return true;
            }
        }
        false
    }

    /// By how much an update of an empty queue lowers the base probability.
    fn fall(&self) -> f64 {
        self.alpha * self.target.as_secs_f64()
    }

    /// One update, `delay` being the delay now.
    fn step(&self, v: &mut Base, delay: Dur) {
        let (d, old) = (delay.as_secs_f64(), v.delay.as_secs_f64());
        let step = self.alpha * (d - self.target.as_secs_f64()) + self.beta * (d - old);
        v.p = (v.p + step).clamp(0.0, self.most);
        v.delay = delay;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PI: Pi = Pi {
        target: Dur::from_ms(15),
        update: Dur::from_ms(16),
        alpha: 0.16,
        beta: 3.2,
        most: 1.0,
        on_grid: false,
    };

    /// The vectors of the specification: the delays at eight updates, and p', which has five digits
    /// there.
    #[test]
    fn the_base_probability_follows_the_delay() {
        let mut v = Base::NEW;
        let expected = [
            0.0, 0.02448, 0.07712, 0.13232, 0.19008, 0.2504, 0.31328, 0.37872,
        ];
        for (ms, p) in [0, 8, 24, 40, 56, 72, 88, 104].into_iter().zip(expected) {
            PI.step(&mut v, Dur::from_ms(ms));
            assert!((v.p - p).abs() < 5e-6 + 1e-12, "{ms} ms: {} {p}", v.p);
        }
        assert!((v.p * v.p - 0.143_428_84).abs() < 5e-9);
    }

    /// Whatever waits and however long nothing happens, updates that are computed late are those
    /// that are computed in time.
    #[test]
    fn late_updates_are_those_in_time() {
        for pi in [
            PI,
            Pi { most: 0.5, ..PI },
            Pi { alpha: 1e-6, ..PI },
            Pi {
                on_grid: true,
                ..PI
            },
        ] {
            for (wait, idle) in [(10_u64, 50_u64), (90, 900), (4000, 60), (4000, 60_000)] {
                let start = Time::from_ps(3_000_000_000);
                let (mut late, mut timely) = (Base::NEW, Base::NEW);
                for v in [&mut late, &mut timely] {
                    pi.begin(v, start);
                }
                let mut now = start;
                for (oldest, ms) in [(Some(start), wait), (None, idle)] {
                    for _ in 0..ms {
                        now += Dur::from_ms(1);
                        pi.advance(&mut timely, now, oldest);
                    }
                    pi.advance(&mut late, now, oldest);
                    assert_eq!(late.next, timely.next);
                    assert_eq!(late.delay, timely.delay);
                    // Some of the steps of an idle queue are one product there, and here a sum
                    // of some thousand roundings of numbers up to 1.
                    assert!((late.p - timely.p).abs() < 1e-12, "{late:?} {timely:?}");
                }
            }
        }
    }

    /// The published gains give no warning: RFC 9332's, those that it derives for its target, and
    /// those of the paper of 2016. Larger ones do, with the bound.
    #[test]
    fn gains_above_the_rule_are_warned_of() {
        let warnings = |pi: Pi| {
            let mut warnings = Vec::new();
            pi.check(&mut At::new(&mut warnings)).unwrap();
            warnings
        };
        let derived = Pi {
            update: Dur::from_ms(15),
            alpha: 0.15,
            beta: 3.0,
            ..PI
        };
        let paper = Pi {
            target: Dur::from_ms(20),
            update: Dur::from_ms(32),
            alpha: 0.3125,
            beta: 3.125,
            ..PI
        };
        for pi in [PI, derived, paper] {
            assert_eq!(warnings(pi), Vec::<String>::new(), "{pi:?}");
        }
        let fast = warnings(Pi { alpha: 0.2, ..PI });
        assert!(
            fast.len() == 1 && fast[0].contains("above 0.182, 0.1 `update`"),
            "{fast:?}"
        );
        let slow = warnings(Pi {
            update: Dur::from_ms(40),
            ..PI
        });
        assert!(
            slow.len() == 1 && slow[0].contains("above a third of 93.750 ms"),
            "{slow:?}"
        );
    }
}
