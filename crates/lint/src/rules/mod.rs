//! Rules on policies.

mod aqm;
mod classes;
mod control;
pub(crate) mod fits;
mod queues;
mod shaping;
mod thresholds;

use crate::registry::Rule;
use crate::view::View;

/// Rules on one policy at one rate, with the function that finds them.
pub(crate) struct Ask(pub(crate) &'static [&'static Rule], fn(&mut View<'_>), When);

/// The policies to which rules apply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum When {
    /// Policies that queue packets.
    Queued,
    /// Also policies at arrival, which classify, police and mark.
    Always,
}

/// All of them. A rule is its text and its function, in one of these files, and an entry in the
/// list at the head of that file.
pub(crate) const ASKED: &[&[Ask]] = &[
    queues::ASKED,
    classes::ASKED,
    aqm::ASKED,
    control::ASKED,
    shaping::ASKED,
    thresholds::ASKED,
    fits::ASKED,
];

/// Applies every rule for this kind of policy; `arrival`: the policy is at arrival.
pub(crate) fn all(v: &mut View<'_>, arrival: bool) {
    let asked = ASKED.iter().copied().flatten();
    let asked = asked.filter(|ask| !arrival || ask.2 == When::Always);
    asked.for_each(|ask| (ask.1)(v));
}
