//! Stable matching for the emulation of a FIFO output-queued switch (S.-T. Chuang, A. Goel, N.
//! McKeown and B. Prabhakar, Matching output queueing with a combined input/output-queued switch,
//! IEEE JSAC 17(6), 1999: group by virtual output queue, section VI).
//!
//! Outputs prefer the cell that would leave a FIFO output-queued switch first: that which arrived
//! first. Inputs keep a list of their virtual output queues and prefer those nearer to its head: a
//! queue enters at the head when a cell comes to it while it is empty, and cells that follow do not
//! move it. With two matchings in each slot, and outputs that send what arrived first, every cell
//! leaves in the slot in which it would leave the output-queued switch (2 - 1/n matchings are
//! enough, and necessary). Outputs propose (D. Gale and L. Shapley 1962): at most n² proposals.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use spillgate_core::Rng;

use super::{Match, Weights};
use crate::switch::ports::{Matching, PortSet, Requests};
use spillgate_core::Problem;

/// Stable matching has no parameters.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct StableSpec {}

impl StableSpec {
    #[allow(
        clippy::unnecessary_wraps,
        reason = "others have parameters that can be wrong"
    )]
    pub(super) fn resolve(&self, ports: usize) -> Result<Stable, Problem> {
        Ok(Stable {
            open: vec![PortSet::EMPTY; ports],
            partner: vec![None; ports],
            single: Vec::with_capacity(ports),
        })
    }
}

/// A running stable matching; the state is memory for one call.
#[derive(Clone, Debug)]
pub(crate) struct Stable {
    /// By output: the inputs that it has not proposed to.
    open: Vec<PortSet>,
    /// By input: the output whose proposal it holds.
    partner: Vec<Option<u16>>,
    /// Outputs without a partner that may propose.
    single: Vec<u16>,
}

impl Match for Stable {
    fn find<W: Weights>(
        &mut self,
        requests: &Requests,
        weights: &W,
        _: &mut Rng,
        found: &mut Matching,
    ) {
        self.partner.fill(None);
        let inputs = requests.free_inputs();
        for output in requests.free_outputs().iter() {
            self.open[output] = requests.inputs_for(output).and(&inputs);
            self.single.push(output as u16);
        }
        while let Some(output) = self.single.pop() {
            let o = usize::from(output);
            let Some(input) = self.open[o].iter().min_by_key(|&i| weights.first(i, o)) else {
                continue;
            };
            self.open[o].remove(input);
            match self.partner[input] {
                Some(held)
                    if weights.busy_since(input, held.into()) > weights.busy_since(input, o) =>
                {
                    self.single.push(output);
                }
                held => {
                    self.single.extend(held);
                    self.partner[input] = Some(output);
                }
            }
        }
        for (input, output) in self.partner.iter().enumerate() {
            if let Some(output) = output {
                found.add(input, (*output).into());
            }
        }
    }

    fn is_maximal(&self) -> bool {
        true
    }

    fn asks_order(&self) -> bool {
        true
    }
}
