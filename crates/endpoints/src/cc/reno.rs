//! Reno: slow start, congestion avoidance, halving (RFC 5681 §3.1); fast
//! recovery ends with the first new acknowledgment (§3.2).

use super::Traits;
use super::window::{additive_increase, no_parameters};
use crate::tcp::config::Repair;

no_parameters! {
    /// Reno has no parameters.
    RenoSpec
}

additive_increase! {
    /// Additive increase by a segment per round trip, halving on loss.
    Reno(RenoSpec), Traits {
        repair: Some(Repair::Reno),
        sack: false,
        ..Traits::MODERN
    }, |_, _| ()
}
