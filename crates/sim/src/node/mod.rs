//! What nodes do with packets beyond passing them from a link to the next port at once.
//!
//! `holding`: nodes that pass packets on later, and the trait that every such kind implements;
//! `software`, `switch` and `cells` are the kinds; `lines`: ports whose cells share a line. The other modules act at once, at nodes of any kind: `inputs` polices
//! and marks packets that arrive, `mpls` pushes and pops labels, `routing` and `failures` find
//! other paths while links fail.

mod cells;
mod failures;
mod holding;
mod inputs;
mod lines;
mod mpls;
mod next_hops;
mod routing;
mod software;
mod switch;

pub(crate) use failures::{Failures, Underway, failing};
pub(crate) use holding::Nodes;
pub(crate) use inputs::{Inputs, names};
pub use mpls::LabelCounts;
pub(crate) use mpls::{Mpls, at_ports};
pub(crate) use routing::Routing;
