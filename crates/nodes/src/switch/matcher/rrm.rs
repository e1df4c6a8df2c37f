//! Round-robin matching, the predecessor of iSLIP (N. McKeown, Scheduling algorithms for
//! input-queued cell switches, Ph.D. thesis, University of California at Berkeley, 1995,
//! section 2.2).
//!
//! A grant pointer moves past the granted input whether or not it accepts. With one iteration and
//! uniform traffic queues grow without end from a load of about 1 - (1 - 1/n)^n on, what grants at
//! random would carry: 63 % for many ports. Once all queues are backlogged every pointer moves by
//! one in each slot, so that pointers that have met stay together and less is carried still, down
//! to 1/n. A reference, not a choice.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use spillgate_core::Rng;

use super::islip::{Moves, Pointers};
use super::{Match, Weights, iterations};
use crate::switch::ports::{Matching, Requests};
use spillgate_core::Problem;

/// Parameters of round-robin matching.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct RrmSpec {
    /// Rounds of grants and accepts in each slot. Default: log2 of the ports, rounded up.
    #[schemars(range(min = 1))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub iterations: Option<u32>,
}

impl RrmSpec {
    pub(super) fn resolve(&self, ports: usize) -> Result<Rrm, Problem> {
        let iterations = iterations(self.iterations, ports)?;
        Ok(Rrm(Pointers::new(ports, iterations)))
    }
}

/// A running round-robin matching.
#[derive(Clone, Debug)]
pub(crate) struct Rrm(Pointers);

impl Match for Rrm {
    fn find<W: Weights>(&mut self, requests: &Requests, _: &W, _: &mut Rng, found: &mut Matching) {
        self.0.find(requests, found, Moves::Always);
    }

    fn is_maximal(&self) -> bool {
        self.0.is_maximal()
    }
}
