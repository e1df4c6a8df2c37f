//! What a node that holds packets cannot exceed, whatever comes: declared beside its code
//! ([`Recipe::bounds`](crate::Recipe::bounds)). The default declares nothing, so a new kind of node
//! has no bounds, never wrong ones.

use spillgate_core::Dur;
use spillgate_core::curve::{Curve, NoBound};
use spillgate_queueing::Reason;

/// What comes to a node over a link for another one.
#[derive(Clone, Debug)]
pub struct Passage {
    /// The link that it comes over.
    pub from: u32,
    /// The link that it leaves by.
    pub to: u32,
    /// The longest packet, in bytes with its labels.
    pub longest: u32,
    /// What never comes more, in such bytes; none if that is unknown.
    pub bytes: Option<Curve>,
    /// The same in packets, each counted as a byte.
    pub packets: Option<Curve>,
}

/// A queue of a node.
#[derive(Clone, Debug)]
pub struct NodeQueue {
    /// What it is called beside the node's name.
    pub name: String,
    /// What of [`Passage`] goes through it, by index.
    pub of: Vec<usize>,
    /// What it cannot exceed, or why there is nothing.
    pub bound: Result<NodeBound, Reason>,
}

/// What a queue of a node cannot exceed.
#[derive(Clone, Debug)]
pub struct NodeBound {
    /// The longest time from the arrival of a packet until the node passes it on.
    pub delay: Dur,
    /// The most bytes with labels that wait.
    pub backlog: u64,
    /// The limit of the queue bounds the delay, and not what comes.
    pub by_limit: bool,
    /// Whether no packet can be lost here.
    pub lossless: bool,
}

/// The sum of what comes; none if that of one is unknown.
pub(crate) fn sum<'a>(all: impl Iterator<Item = Option<&'a Curve>>) -> Option<Curve> {
    let add = |sum: Curve, next: Option<&Curve>| sum.plus(next?).ok();
    all.into_iter().try_fold(Curve::zero(), add)
}

/// The longest delay and the largest backlog of a server that serves in the order of arrival.
pub(crate) fn in_order(come: Option<&Curve>, service: &Curve) -> Option<(Dur, u64)> {
    let both =
        |a: &Curve| -> Result<_, NoBound> { Ok((a.horizontal(service)?, a.vertical(service)?)) };
    come.and_then(|a| both(a).ok())
}
