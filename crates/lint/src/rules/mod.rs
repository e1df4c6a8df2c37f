//! What the rules look for in a policy.

pub(crate) mod aqm;
mod classes;
pub(crate) mod queues;
mod shaping;
mod thresholds;

use crate::registry::Rule;
use crate::view::View;

/// Rules that are about one policy at one rate, and who looks for what they find.
pub(crate) struct Ask(pub(crate) &'static [&'static Rule], fn(&mut View<'_>));

/// All of them. A rule is its text and its function, in one of these files, and an entry in the
/// list at the head of that file.
pub(crate) const ASKED: &[&[Ask]] = &[
    queues::ASKED,
    classes::ASKED,
    aqm::ASKED,
    shaping::ASKED,
    thresholds::ASKED,
];

/// Asks every one of them.
pub(crate) fn all(v: &mut View<'_>) {
    ASKED.iter().copied().flatten().for_each(|ask| (ask.1)(v));
}
