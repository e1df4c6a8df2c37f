//! Tahoe (Jacobson, "Congestion avoidance and control", SIGCOMM 1988): after
//! any loss half the window becomes the threshold and slow start begins anew.

use super::window::{Window, additive_increase, no_parameters};
use super::{Cause, LossSample, Traits};
use crate::tcp::config::Repair;

no_parameters! {
    /// Tahoe has no parameters.
    TahoeSpec
}

additive_increase! {
    /// Additive increase by a segment per round trip, one segment after a loss.
    Tahoe(TahoeSpec), Traits {
        repair: Some(Repair::Tahoe),
        sack: false,
        ..Traits::MODERN
    }, restart
}

/// A mark is no loss: half the window suffices (RFC 3168 §6.1.2).
fn restart(w: &mut Window, loss: &LossSample) {
    if loss.cause != Cause::Mark {
        w.cwnd = w.mss;
    }
}
