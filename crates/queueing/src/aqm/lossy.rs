//! Random loss at departure, for tests: an AQM may drop whatever it is asked for, the last packet too.

use spillgate_core::{DropReason, Packet, Rng, Time, Verdict};

use super::{Automaton, Backlog, Draw, Turn};

/// Drops each packet that is to leave with the same probability, in a row and the last one as well.
#[derive(Clone, Debug)]
pub(crate) struct Lossy {
    chance: f64,
    rng: Rng,
}

impl Lossy {
    pub(crate) fn new(chance: f64, rng: Rng) -> Self {
        Self { chance, rng }
    }
}

impl Automaton for Lossy {
    const JUDGES_DEPARTURES: bool = true;

    fn arrival<D: Draw>(&mut self, _: Time, _: Backlog, _: &Packet, _: &mut D) -> Verdict {
        Verdict::Pass
    }

    fn departure(&mut self, _: &mut Turn, _: Time, _: &Packet, _: u64) -> Verdict {
        match self.rng.chance(self.chance) {
            true => Verdict::Drop(DropReason::Early),
            false => Verdict::Pass,
        }
    }
}
