//! What the rules look for in a policy.

mod aqm;
mod classes;
pub(crate) mod fits;
mod queues;
mod shaping;
mod thresholds;

use crate::registry::Rule;
use crate::view::View;

/// Rules that are about one policy at one rate, and who looks for what they find.
pub(crate) struct Ask(pub(crate) &'static [&'static Rule], fn(&mut View<'_>), When);

/// Which policies rules are about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum When {
    /// Those that queue packets.
    Queued,
    /// Those of packets that arrive at a node, too: they classify, police and mark.
    Always,
}

/// All of them. A rule is its text and its function, in one of these files, and an entry in the
/// list at the head of that file.
pub(crate) const ASKED: &[&[Ask]] = &[
    queues::ASKED,
    classes::ASKED,
    aqm::ASKED,
    shaping::ASKED,
    thresholds::ASKED,
    fits::ASKED,
];

/// Asks every one of them that is about this kind of policy; `arrival`: of packets that arrive at a
/// node.
pub(crate) fn all(v: &mut View<'_>, arrival: bool) {
    let asked = ASKED.iter().copied().flatten();
    let asked = asked.filter(|ask| !arrival || ask.2 == When::Always);
    asked.for_each(|ask| (ask.1)(v));
}
