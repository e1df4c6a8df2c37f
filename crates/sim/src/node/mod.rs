//! What nodes do with packets beyond passing them from a link to the next port in no time.
//!
//! `keeping` has those that take a packet from a link and hand it to a port later, and the trait
//! that every such kind is written against; `software` is a kind. The others act at once, at every
//! node that they are written at, whatever its kind: `inputs` polices and marks what arrives,
//! `mpls` puts labels on and off, `routing` and `failures` find other ways while links fail.

mod failures;
mod inputs;
mod keeping;
mod mpls;
mod next_hops;
mod routing;
mod software;

pub(crate) use failures::{Failures, failing};
pub(crate) use inputs::{InputMeter, Inputs, names};
pub(crate) use keeping::Nodes;
pub use mpls::LabelCounts;
pub(crate) use mpls::{LabelMeter, Mpls, at_ports};
pub(crate) use routing::Routing;
