//! iSLIP (N. McKeown, The iSLIP scheduling algorithm for input-queued switches, IEEE/ACM
//! Transactions on Networking 7(2), 1999).
//!
//! Each free output grants the first input at or after its pointer that requests it; each input
//! accepts the first grant at or after its own. Both pointers move one beyond the partner, in the
//! first iteration only and only if the grant was accepted, so that no request starves and pointers
//! under load spread out. O(n) steps of a few instructions for each iteration.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use spillgate_core::Rng;

use super::{Match, Weights, iterations};
use crate::switch::ports::{Matching, PortSet, Requests};
use spillgate_core::Problem;

/// Parameters of iSLIP.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct IslipSpec {
    /// Rounds of grants and accepts in each slot. Default: log2 of the ports, rounded up.
    #[schemars(range(min = 1))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub iterations: Option<u32>,
}

impl IslipSpec {
    pub(super) fn resolve(&self, ports: usize) -> Result<Islip, Problem> {
        let iterations = iterations(self.iterations, ports)?;
        Ok(Islip(Pointers::new(ports, iterations)))
    }
}

/// A running iSLIP.
#[derive(Clone, Debug)]
pub(crate) struct Islip(Pointers);

impl Match for Islip {
    fn find<W: Weights>(&mut self, requests: &Requests, _: &W, _: &mut Rng, found: &mut Matching) {
        self.0.find(requests, found, Moves::IfAccepted);
    }

    fn is_maximal(&self) -> bool {
        self.0.is_maximal()
    }
}

/// When a grant pointer moves.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Moves {
    IfAccepted,
    Always,
}

/// Round-robin pointers of all ports.
#[derive(Clone, Debug)]
pub(super) struct Pointers {
    iterations: u32,
    /// By output: the input that has the first chance of a grant.
    grant: Vec<u16>,
    /// By input: the output whose grant has the first chance.
    accept: Vec<u16>,
    /// By input: the outputs that grant it.
    grants: Vec<PortSet>,
}

impl Pointers {
    pub(super) fn new(ports: usize, iterations: u32) -> Self {
        Self {
            iterations,
            grant: vec![0; ports],
            accept: vec![0; ports],
            grants: vec![PortSet::EMPTY; ports],
        }
    }

    /// Each iteration that finds a request left adds a pair.
    pub(super) fn is_maximal(&self) -> bool {
        self.iterations as usize >= self.grant.len()
    }

    #[inline]
    pub(super) fn find(&mut self, requests: &Requests, found: &mut Matching, moves: Moves) {
        let beyond = |port: usize| ((port + 1) % requests.ports()) as u16;
        let (mut inputs, mut outputs) = (requests.free_inputs(), requests.free_outputs());
        for iteration in 0..self.iterations {
            let mut granted = PortSet::EMPTY;
            for output in outputs.iter() {
                let open = requests.inputs_for(output).and(&inputs);
                let Some(input) = open.first_from(self.grant[output].into()) else {
                    // Inputs only become fewer.
                    outputs.remove(output);
                    continue;
                };
                if !granted.contains(input) {
                    granted.insert(input);
                    self.grants[input] = PortSet::EMPTY;
                }
                self.grants[input].insert(output);
                if moves == Moves::Always && iteration == 0 {
                    self.grant[output] = beyond(input);
                }
            }
            if granted.is_empty() {
                return;
            }
            for input in granted.iter() {
                let Some(output) = self.grants[input].first_from(self.accept[input].into()) else {
                    continue;
                };
                found.add(input, output);
                inputs.remove(input);
                outputs.remove(output);
                if iteration == 0 {
                    self.grant[output] = beyond(input);
                    self.accept[input] = beyond(output);
                }
            }
        }
    }
}
