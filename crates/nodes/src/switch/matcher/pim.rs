//! Parallel iterative matching (T. Anderson, S. Owicki, J. Saxe and C. Thacker, High-speed switch
//! scheduling for local-area networks, ACM TOCS 11(4), 1993).
//!
//! Each free output grants one of the inputs that request it, each input accepts one of its grants,
//! both uniformly at random. A mean of at most log2 n + 4/3 iterations finds a maximal matching;
//! under full load one iteration matches 1 - (1 - 1/n)^n of the ports.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use spillgate_core::Rng;

use super::{Match, Weights, iterations};
use crate::switch::ports::{Matching, PortSet, Requests};
use spillgate_core::Problem;

/// Parameters of parallel iterative matching.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct PimSpec {
    /// Rounds of grants and accepts in each slot. Default: log2 of the ports, rounded up.
    #[schemars(range(min = 1))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub iterations: Option<u32>,
}

impl PimSpec {
    pub(super) fn resolve(&self, ports: usize) -> Result<Pim, Problem> {
        Ok(Pim {
            iterations: iterations(self.iterations, ports)?,
            grants: vec![PortSet::EMPTY; ports],
        })
    }
}

/// A running parallel iterative matching.
#[derive(Clone, Debug)]
pub(crate) struct Pim {
    iterations: u32,
    /// By input: the outputs that grant it.
    grants: Vec<PortSet>,
}

/// One port of a set, uniformly; no draw where there is no choice.
fn any(set: &PortSet, rng: &mut Rng) -> Option<usize> {
    match set.len() {
        0 => None,
        1 => set.nth(0),
        n => set.nth(rng.below(n)),
    }
}

impl Match for Pim {
    fn find<W: Weights>(
        &mut self,
        requests: &Requests,
        _: &W,
        rng: &mut Rng,
        found: &mut Matching,
    ) {
        let (mut inputs, mut outputs) = (requests.free_inputs(), requests.free_outputs());
        for _ in 0..self.iterations {
            let mut granted = PortSet::EMPTY;
            for output in outputs.iter() {
                let Some(input) = any(&requests.inputs_for(output).and(&inputs), rng) else {
                    outputs.remove(output);
                    continue;
                };
                if !granted.contains(input) {
                    granted.insert(input);
                    self.grants[input] = PortSet::EMPTY;
                }
                self.grants[input].insert(output);
            }
            if granted.is_empty() {
                return;
            }
            for input in granted.iter() {
                if let Some(output) = any(&self.grants[input], rng) {
                    found.add(input, output);
                    inputs.remove(input);
                    outputs.remove(output);
                }
            }
        }
    }

    fn is_maximal(&self) -> bool {
        self.iterations as usize >= self.grants.len()
    }
}
