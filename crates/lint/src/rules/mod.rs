//! What the rules look for in a policy.

pub(crate) mod aqm;
mod classes;
pub(crate) mod queues;
mod shaping;
mod thresholds;

use crate::view::View;

/// Asks every rule that is about one policy at one rate.
pub(crate) fn all(v: &mut View<'_>) {
    queues::check(v);
    classes::check(v);
    aqm::check(v);
    shaping::check(v);
    thresholds::check(v);
}
