//! What nodes do with packets beyond passing them from a link to the next port at once.
//!
//! `holding`: nodes that pass packets on later; their kinds are in `spillgate_nodes`. The other
//! modules act at once, at nodes of any kind: `inputs` polices
//! and marks packets that arrive, `mpls` pushes and pops labels, `routing` and `failures` find
//! other paths while links fail.

mod failures;
mod holding;
mod inputs;
mod mpls;
mod next_hops;
mod routing;

pub(crate) use failures::{Failures, Underway, failing};
pub(crate) use holding::Nodes;
pub(crate) use inputs::{Inputs, names};
pub use mpls::LabelCounts;
pub(crate) use mpls::{Mpls, at_ports};
pub(crate) use routing::Routing;
