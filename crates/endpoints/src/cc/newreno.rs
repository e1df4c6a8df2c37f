//! NewReno and SACK TCP: Reno's window (RFC 5681 §3.1); the recovery differs
//! (RFC 6582, or RFC 6675 with `sack: true`) and lives in the sender.

use super::Traits;
use super::window::{additive_increase, no_parameters};

no_parameters! {
    /// NewReno has no parameters.
    NewRenoSpec
}

additive_increase! {
    /// Additive increase by a segment per round trip, halving on loss.
    NewReno(NewRenoSpec), Traits {
        sack: false,
        ..Traits::MODERN
    }, |_, _| ()
}
