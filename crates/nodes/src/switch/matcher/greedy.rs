//! Maximal matchings that take requests by weight, the heaviest first.
//!
//! Requests between free ports are taken in order of weight, ties by input, then by output. The
//! weight of the matching is at least half of the maximum. This is what the iterative forms (iLQF,
//! iOCF: A. Mekkittikul and N. McKeown, INFOCOM 1998) find once they have converged, with the same
//! ties. O(r log r) in the requests.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use spillgate_core::Rng;

use super::{Match, Weights};
use crate::switch::ports::{Matching, Requests};
use spillgate_core::Problem;

/// Longest queue first has no parameters.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct LongestFirstSpec {}

/// Oldest cell first has no parameters.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct OldestFirstSpec {}

impl LongestFirstSpec {
    #[allow(
        clippy::unnecessary_wraps,
        reason = "others have parameters that can be wrong"
    )]
    pub(super) fn resolve(&self, _: usize) -> Result<LongestFirst, Problem> {
        Ok(LongestFirst(Vec::new()))
    }
}

impl OldestFirstSpec {
    #[allow(
        clippy::unnecessary_wraps,
        reason = "others have parameters that can be wrong"
    )]
    pub(super) fn resolve(&self, _: usize) -> Result<OldestFirst, Problem> {
        Ok(OldestFirst(Vec::new()))
    }
}

/// Requests by rank, the first to be taken first; kept to reuse the memory.
type Ranked = Vec<(u64, u16, u16)>;

/// A running longest queue first.
#[derive(Clone, Debug)]
pub(crate) struct LongestFirst(Ranked);

/// A running oldest cell first.
#[derive(Clone, Debug)]
pub(crate) struct OldestFirst(Ranked);

impl Match for LongestFirst {
    fn find<W: Weights>(&mut self, r: &Requests, w: &W, _: &mut Rng, found: &mut Matching) {
        take_in_order(&mut self.0, r, found, |i, o| !w.length(i, o));
    }

    fn is_maximal(&self) -> bool {
        true
    }
}

impl Match for OldestFirst {
    fn find<W: Weights>(&mut self, r: &Requests, w: &W, _: &mut Rng, found: &mut Matching) {
        take_in_order(&mut self.0, r, found, |i, o| w.first(i, o));
    }

    fn is_maximal(&self) -> bool {
        true
    }

    fn asks_order(&self) -> bool {
        true
    }
}

fn take_in_order(
    ranked: &mut Ranked,
    requests: &Requests,
    found: &mut Matching,
    rank: impl Fn(usize, usize) -> u64,
) {
    ranked.clear();
    let pairs = requests.pairs();
    ranked.extend(pairs.map(|(i, o)| (rank(i, o), i as u16, o as u16)));
    ranked.sort_unstable();
    for &(_, input, output) in ranked.iter() {
        let (input, output) = (usize::from(input), usize::from(output));
        if !found.inputs().contains(input) && !found.outputs().contains(output) {
            found.add(input, output);
        }
    }
}
