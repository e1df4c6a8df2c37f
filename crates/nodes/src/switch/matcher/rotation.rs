//! Fixed rotation: time division, as in Birkhoff-von Neumann switches with equal shares (C.-S.
//! Chang, W.-J. Chen and H.-Y. Huang, INFOCOM 2000).
//!
//! In slot t input i is connected to output (i + t) mod n, whatever waits: each pair has an n-th of
//! the slots, which it leaves unused if nothing waits for it. It is what parallel links of s/n of
//! the line rate approximate. Slots in which nothing waits at all do not count. For cells only:
//! packets of any length have no slots. O(n).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use spillgate_core::Rng;

use super::{Match, Weights};
use crate::switch::ports::{Matching, Requests};
use spillgate_core::Problem;

/// Fixed rotation has no parameters.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct RotationSpec {}

impl RotationSpec {
    #[allow(
        clippy::unnecessary_wraps,
        reason = "others have parameters that can be wrong"
    )]
    pub(super) fn resolve(&self, _: usize) -> Result<Rotation, Problem> {
        Ok(Rotation(0))
    }
}

/// A running rotation: the output of input 0 in the next slot.
#[derive(Clone, Debug)]
pub(crate) struct Rotation(usize);

impl Match for Rotation {
    fn find<W: Weights>(&mut self, requests: &Requests, _: &W, _: &mut Rng, found: &mut Matching) {
        let (ports, first) = (requests.ports(), self.0);
        self.0 = (first + 1) % ports;
        let outputs = requests.free_outputs();
        for input in requests.free_inputs().iter() {
            let output = (input + first) % ports;
            if outputs.contains(output) && requests.has(input, output) {
                found.add(input, output);
            }
        }
    }

    fn is_maximal(&self) -> bool {
        false
    }

    fn always_finds(&self) -> bool {
        false
    }
}
