//! A source that always has packets waiting in a virtual output queue of a switch.
//!
//! What it sends the switch decides: as an open-loop source it emits the packets that wait at
//! first, and the driver sends another one whenever one has crossed the fabric. With two of them
//! one waits while another crosses.

use spillgate_core::{Rng, Time};

use super::spec::{BackloggedSpec, check_size, size_in_range};
use super::{Emission, Envelope, Model};
use spillgate_core::Problem;

/// Packets of a flow that wait or cross.
const WINDOW: u8 = 2;

#[derive(Clone, Debug)]
pub(super) struct Backlogged {
    first: Emission,
    left: u8,
}

impl Model for Backlogged {
    type Spec = BackloggedSpec;

    fn new(spec: &BackloggedSpec, start: Time) -> Self {
        Self {
            first: Emission {
                at: start,
                len: size_in_range(spec.packet),
            },
            left: WINDOW,
        }
    }

    #[inline]
    fn next(&mut self, _: &mut Rng) -> Option<Emission> {
        self.left = self.left.checked_sub(1)?;
        Some(self.first)
    }

    fn mean_rate(_: &BackloggedSpec) -> f64 {
        0.0
    }

    fn envelope(spec: &BackloggedSpec) -> Envelope {
        Envelope::even(0.0, size_in_range(spec.packet))
    }

    fn longest(spec: &BackloggedSpec) -> u16 {
        size_in_range(spec.packet)
    }

    fn shortest(spec: &BackloggedSpec) -> u16 {
        size_in_range(spec.packet)
    }

    fn check(spec: &BackloggedSpec) -> Result<(), Problem> {
        check_size("packet", spec.packet)
    }
}
