//! Poisson arrivals: independent exponential gaps with mean `mean packet size /
//! rate`, the first one from the start, which makes the process stationary from
//! there on. Sizes are independent of the gaps.

use spillgate_core::{Dur, Rng, Time, time::PS_PER_SEC};

use super::cbr::later;
use super::size::Sizes;
use super::spec::PoissonSpec;
use super::{Emission, Envelope, Model};
use spillgate_core::Problem;

#[derive(Clone, Debug)]
pub(super) struct Poisson {
    sizes: Sizes,
    /// Mean gap in picoseconds.
    gap: f64,
    /// The previous arrival, at first the start; none once time is exhausted.
    last: Option<Time>,
}

impl Model for Poisson {
    type Spec = PoissonSpec;

    fn new(spec: &PoissonSpec, start: Time) -> Self {
        let (sizes, mean) = Sizes::new(&spec.packet);
        Self {
            sizes,
            gap: mean * 8.0 * PS_PER_SEC as f64 / spec.rate.bps() as f64,
            last: Some(start),
        }
    }

    #[inline]
    fn next(&mut self, rng: &mut Rng) -> Option<Emission> {
        // Rounding to the nearest picosecond is unbiased.
        let gap = Dur::from_ps((rng.exponential(self.gap) + 0.5) as u64);
        self.last = later(self.last?, gap);
        let len = self.sizes.draw(rng);
        self.last.map(|at| Emission { at, len })
    }

    fn mean_rate(spec: &PoissonSpec) -> f64 {
        spec.rate.bps() as f64
    }

    fn envelope(spec: &PoissonSpec) -> Envelope {
        Envelope::random(Self::mean_rate(spec), Self::longest(spec))
    }

    fn longest(spec: &PoissonSpec) -> u16 {
        Sizes::new(&spec.packet).0.longest()
    }

    fn usually_longest(spec: &PoissonSpec) -> u16 {
        Sizes::new(&spec.packet).0.usually_longest()
    }

    fn shortest(spec: &PoissonSpec) -> u16 {
        Sizes::new(&spec.packet).0.shortest()
    }

    fn check(spec: &PoissonSpec) -> Result<(), Problem> {
        spec.packet.check().map_err(|p| p.under("packet"))
    }
}
