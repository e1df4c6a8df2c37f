//! What nodes do with packets beyond passing them from a link to the next port: look at them on
//! arrival, put labels on and off, and find other ways while links fail.

mod failures;
mod inputs;
mod mpls;
mod next_hops;
mod routing;

pub(crate) use failures::{Failures, failing};
pub(crate) use inputs::{InputMeter, Inputs, names};
pub use mpls::LabelCounts;
pub(crate) use mpls::{LabelMeter, Mpls, at_ports};
pub(crate) use routing::Routing;
