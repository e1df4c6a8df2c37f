//! A scalable sender for L4S in the manner of TCP Prague
//! (draft-briscoe-iccrg-prague-congestion-control): DCTCP's response on
//! accurate feedback, ECT(1), pacing, additive increase only for bytes that
//! were not marked, halving on loss.
//!
//! Not included: independence of the round-trip time and the fallback to a
//! classic response behind a classic AQM.

use super::alpha::{Growth, Proportional};
use super::window::no_parameters;
use super::{AckSample, Traits};
use crate::tcp::config::EcnMode;

no_parameters! {
    /// Prague has no parameters: the gain of its average is 1/16.
    PragueSpec
}

/// For what was not marked.
#[derive(Clone, Debug)]
pub struct Unmarked;

impl Growth for Unmarked {
    type Spec = PragueSpec;
    const TRAITS: Traits = Traits {
        ecn: EcnMode::L4s,
        paced: true,
        ..Traits::MODERN
    };

    fn countable(ack: &AckSample) -> u64 {
        ack.acked.saturating_sub(ack.marked)
    }
}

/// State of the scalable sender.
pub(super) type Prague = Proportional<Unmarked>;
