//! Matching of inputs and outputs of a crossbar: one grant for each input and each output.
//!
//! A matcher knows nothing of buffers: it is given which input requests which output, for those
//! that weigh requests their weights, and returns a matching. To add one: a file with its
//! specification and its state, and one line in the registry below.

mod greedy;
mod islip;
mod maximum;
mod pim;
mod rotation;
mod rrm;
mod stable;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use spillgate_core::Rng;

pub use greedy::{LongestFirstSpec, OldestFirstSpec};
pub use islip::IslipSpec;
pub use maximum::{MaximumSpec, Weight};
pub use pim::PimSpec;
pub use rotation::RotationSpec;
pub use rrm::RrmSpec;
pub use stable::StableSpec;

use crate::switch::ports::{Matching, Requests};
use spillgate_core::Problem;

/// The weights of requests, asked of pairs that request only.
pub trait Weights {
    /// Waiting packets.
    fn length(&self, input: usize, output: usize) -> u64;
    /// How long the first of them has waited, in any unit of time.
    fn waited(&self, input: usize, output: usize) -> u64;
    /// The number of the first of them in the order of arrival at the switch.
    fn first(&self, input: usize, output: usize) -> u64;
    /// The number of the packet whose arrival ended the last time that none waited.
    fn busy_since(&self, input: usize, output: usize) -> u64;
}

/// An algorithm: it adds pairs that are requested and free to an empty matching.
pub(crate) trait Match: Clone + std::fmt::Debug + Send + Sync + 'static {
    fn find<W: Weights>(
        &mut self,
        requests: &Requests,
        weights: &W,
        rng: &mut Rng,
        found: &mut Matching,
    );

    /// Whether no requested pair can ever be added to what it finds.
    fn is_maximal(&self) -> bool;

    /// Whether it finds a pair whenever there is one, so that it need not be asked again before
    /// something changes.
    fn always_finds(&self) -> bool {
        true
    }

    /// Whether it needs more than the lengths of queues, which queues with a policy cannot provide.
    fn asks_order(&self) -> bool {
        false
    }
}

spillgate_core::family! {
    /// The matching algorithm of a crossbar. Algorithms may be added; code that matches on one of
    /// them must handle the others.
    #[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
    #[non_exhaustive]
    pub written enum MatchingSpec by spec;
    #[derive(Clone, Debug)]
    running enum State by each;

    /// iSLIP: round-robin grants and accepts whose pointers move past accepted grants (McKeown
    /// 1999).
    "islip": Islip(IslipSpec) => islip::Islip;
    /// Round-robin matching: as iSLIP, but grant pointers move past grants that are not accepted,
    /// too.
    "round-robin": Rrm(RrmSpec) => rrm::Rrm;
    /// Parallel iterative matching: random grants and accepts (Anderson and others 1993).
    "pim": Pim(PimSpec) => pim::Pim;
    /// Maximal matching that takes the longest queue first.
    "longest-queue-first": LongestFirst(LongestFirstSpec) => greedy::LongestFirst;
    /// Maximal matching that takes the cell first that came first.
    "oldest-cell-first": OldestFirst(OldestFirstSpec) => greedy::OldestFirst;
    /// Matching of maximum weight, exact: a reference, O(n³) in the ports.
    "maximum-weight": Maximum(MaximumSpec) => maximum::Maximum;
    /// Stable matching that emulates a FIFO output-queued switch at speedup 2 (Chuang and others
    /// 1999).
    "stable-marriage": Stable(StableSpec) => stable::Stable;
    /// Fixed rotation: each pair has an n-th of the slots, whatever waits (time division).
    "rotation": Rotation(RotationSpec) => rotation::Rotation;
}

impl MatchingSpec {
    /// The running algorithm for a switch of so many ports.
    ///
    /// # Errors
    /// A parameter out of range, with its path below the matching.
    pub fn resolve(&self, ports: usize) -> Result<Matcher, Problem> {
        spec!(self, s => s.resolve(ports).map(|m| Matcher(m.into())))
            .map_err(|p| p.under(self.kind()))
    }
}

/// A running algorithm.
#[derive(Clone, Debug)]
pub struct Matcher(State);

impl Matcher {
    /// Finds a matching of free ports that request each other.
    #[inline]
    pub fn find<W: Weights>(
        &mut self,
        requests: &Requests,
        weights: &W,
        rng: &mut Rng,
        found: &mut Matching,
    ) {
        found.clear();
        each!(&mut self.0, m => m.find(requests, weights, rng, found));
    }

    /// Whether its matchings are maximal: no requested pair of free ports can be added.
    pub fn is_maximal(&self) -> bool {
        each!(&self.0, m => m.is_maximal())
    }

    /// Whether it finds a pair whenever one can be found.
    pub fn always_finds(&self) -> bool {
        each!(&self.0, m => m.always_finds())
    }

    /// Whether it needs the order of arrivals, not only the lengths of queues.
    pub fn asks_order(&self) -> bool {
        each!(&self.0, m => m.asks_order())
    }
}

/// Iterations by default: log2 of the ports, rounded up, and at least one.
fn default_iterations(ports: usize) -> u32 {
    ports.next_power_of_two().trailing_zeros().max(1)
}

/// Iterations as written.
fn iterations(written: Option<u32>, ports: usize) -> Result<u32, Problem> {
    let n = written.unwrap_or_else(|| default_iterations(ports));
    Problem::check(
        n > 0,
        "iterations",
        n,
        "no pair would be matched",
        "write 1 or more; from log2 of the ports on, more seldom find more",
    )?;
    Ok(n)
}
