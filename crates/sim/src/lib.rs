//! The running world: nodes, ports, links, flows, and many runs in parallel.
//!
//! A packet's way: a source emits it at its node; the node forwards it to the
//! port of the next link on the shortest path; the port queues and serves it;
//! the link is a pipe that delivers it to the next node; at its destination it
//! is counted. Only [`World`] knows of events; disciplines and sources are
//! pure state machines that are told the time.
#![forbid(unsafe_code)]

mod admission;
mod arrivals;
mod campaign;
mod channel;
pub mod explain;
mod flow;
mod gaps;
mod gauge;
mod line;
mod link;
mod outcome;
mod port;
mod rate;
mod recorder;
mod replay;
mod session;
mod straight;
pub mod tap;
mod tcp;
mod tokens;
mod transfers;
mod values;
mod voice;
mod waiting;
mod window;
mod wires;
mod world;

pub use admission::Admission;
pub use arrivals::Unsettled;
pub use campaign::{Campaign, Failure, Finished, Observed, Progress, RunInfo};
pub use outcome::{Curve, Outcome, QUANTILES, layout};
pub use tokens::Draining;
pub use values::Bounds;
pub use window::Window;
pub use world::{Engine, LabelCounts, Stop, World, quantile_error};
