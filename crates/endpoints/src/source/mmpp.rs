//! A Poisson process whose rate changes at random between two values (MMPP-2).
//!
//! Heffes and Lucantoni 1986 model superposed voice sources so; Fischer and Meier-Hellstern 1993
//! collect what is known. With probabilities `p` and `1 - p` of the high and the low rate, packet
//! rates a and b, mean rate m = p a + (1 - p) b and s = 1 / high_for + 1 / low_for, the variance of
//! the number of packets in a time t over its mean, the index of dispersion, is
//!
//! ```text
//! I(t) = 1 + A (1 - (1 - exp(-s t)) / (s t)),   A = 2 p (1 - p) (a - b)^2 / (s m)
//! ```
//!
//! With a low rate of nothing it is an interrupted Poisson process. Both the exponential gap and
//! the rest of a period have no memory: what a change of rate interrupts is drawn anew. The flow
//! starts at an arbitrary instant of the stationary process.

use spillgate_core::{Dur, Rng, Time, time::PS_PER_SEC};

use super::cbr::{later, mean_gap};
use super::size::Sizes;
use super::spec::MmppSpec;
use super::{Emission, Envelope, Model};
use spillgate_core::Problem;

/// Between two packets the rate changes at most so many times on average: a bound on the work.
const CHANGES_PER_PACKET: f64 = 1_000.0;

#[derive(Clone, Debug)]
pub(super) struct Mmpp {
    sizes: Sizes,
    /// Mean gaps in picoseconds at the high and the low rate; infinite for no packets.
    gaps: [f64; 2],
    /// Mean lengths of the periods in picoseconds.
    periods: [f64; 2],
    /// 0 at the high rate, 1 at the low one.
    state: usize,
    /// What is left of the period; none before the first packet.
    left: Option<f64>,
    /// The previous arrival, at first the start; none once time is exhausted.
    last: Option<Time>,
}

impl Model for Mmpp {
    type Spec = MmppSpec;

    fn new(spec: &MmppSpec, start: Time) -> Self {
        let (sizes, mean) = Sizes::new(&spec.packet);
        let gap = |bps: u64| match bps {
            0 => f64::INFINITY,
            bps => mean * 8.0 * PS_PER_SEC as f64 / bps as f64,
        };
        let gaps = [gap(spec.high.bps()), gap(spec.low.map_or(0, |r| r.bps()))];
        let mut periods = [spec.high_for, spec.low_for].map(|d| (d.as_ps() as f64).max(1.0));
        // Brings what `check` refuses into range: an endless loop is worse than a wrong burst.
        let least = shortest(spec);
        if periods[0] < least {
            periods[0] = least;
        }
        Self {
            sizes,
            gaps,
            periods,
            state: 0,
            left: None,
            last: Some(start),
        }
    }

    fn next(&mut self, rng: &mut Rng) -> Option<Emission> {
        let mut left = match self.left {
            Some(left) => left,
            None => {
                let high = self.periods[0] / (self.periods[0] + self.periods[1]);
                self.state = usize::from(!rng.chance(high));
                rng.exponential(self.periods[self.state])
            }
        };
        let mut waited = 0.0;
        loop {
            let gap = match self.gaps[self.state] {
                f64::INFINITY => f64::INFINITY,
                mean => rng.exponential(mean),
            };
            if gap <= left {
                waited += gap;
                self.left = Some(left - gap);
                break;
            }
            waited += left;
            self.state = 1 - self.state;
            left = rng.exponential(self.periods[self.state]);
        }
        self.last = later(self.last?, Dur::from_ps((waited + 0.5) as u64));
        let len = self.sizes.draw(rng);
        self.last.map(|at| Emission { at, len })
    }

    fn mean_rate(spec: &MmppSpec) -> f64 {
        let on = (spec.high_for.as_ps() as f64).max(1.0);
        let off = spec.low_for.as_ps() as f64;
        let low = spec.low.map_or(0.0, |r| r.bps() as f64);
        (spec.high.bps() as f64 * on + low * off) / (on + off)
    }

    fn envelope(spec: &MmppSpec) -> Envelope {
        Envelope::random(spec.high.bps() as f64, Self::longest(spec))
    }

    fn longest(spec: &MmppSpec) -> u16 {
        Sizes::new(&spec.packet).0.longest()
    }

    fn usually_longest(spec: &MmppSpec) -> u16 {
        Sizes::new(&spec.packet).0.usually_longest()
    }

    fn shortest(spec: &MmppSpec) -> u16 {
        Sizes::new(&spec.packet).0.shortest()
    }

    fn check(spec: &MmppSpec) -> Result<(), Problem> {
        spec.packet.check().map_err(|p| p.under("packet"))?;
        if let Some(low) = spec.low.filter(|low| *low > spec.high) {
            return Err(Problem::new(
                "low",
                low,
                format!("the low rate is above the high one, {}", spec.high),
                "exchange the two, with their times",
            ));
        }
        for (key, d) in [("high_for", spec.high_for), ("low_for", spec.low_for)] {
            if d.is_zero() {
                return Err(Problem::new(
                    key,
                    d,
                    "the rate must stay for some time",
                    "write a time above 0 such as 200 ms; one rate alone is `poisson`",
                ));
            }
        }
        if (spec.high_for.as_ps() as f64) < shortest(spec) {
            return Err(Problem::new(
                "high_for",
                spec.high_for,
                "the rate changes over 1000 times between two packets",
                "write longer times, a higher rate or smaller packets",
            ));
        }
        Ok(())
    }
}

/// The least mean time at the high rate, in picoseconds.
fn shortest(spec: &MmppSpec) -> f64 {
    let (_, mean) = Sizes::new(&spec.packet);
    mean_gap(mean, spec.high).as_ps() as f64 / CHANGES_PER_PACKET
}
