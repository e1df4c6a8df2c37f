//! What nodes do with packets beyond passing them from a link to the next port at once.
//!
//! `holding`: nodes that pass packets on later; `stages`: what packets pass at once, at nodes of
//! any kind. The kinds of both are in `spillgate_nodes`. `routing` and `failures` find other paths
//! while links fail.

mod failures;
mod holding;
mod next_hops;
mod routing;
mod stages;

pub(crate) use failures::{Failures, Underway, failing};
pub(crate) use holding::Nodes;
pub(crate) use routing::Routing;
pub(crate) use stages::{Stages, names};
