//! The simulator: one running world of nodes, ports, links and flows, and many runs in parallel.
//!
//! A source emits a packet at its node. The node forwards it to the port of the next link on the
//! shortest path, where it is queued and served. The link is a pipe that delivers it to the next
//! node. At its destination the packet is counted. Only [`World`] knows of events; disciplines and
//! sources are pure state machines that are told the time.
#![forbid(unsafe_code)]

mod admission;
mod arrivals;
mod campaign;
mod channel;
mod engine;
mod express;
mod flow;
mod gaps;
mod link;
mod link_meter;
mod measured;
mod node;
mod observe;
mod outcome;
mod pipes;
mod port;
mod precedence;
mod replay;
mod replication;
mod ring;
mod server;
mod session;
mod tcp;
mod tokens;
mod transfers;
mod turns;
mod voice;

pub use admission::Admission;
pub use arrivals::Unsettled;
pub use campaign::{
    Around, Campaign, Failure, Finished, Manner, Observed, Progress, RunInfo, Shelf, Sliced,
    Wanted, said,
};
pub use engine::{Engine, Stop, World, flow_hash, quantile_error};
pub use express::taken_plainly;
pub use measured::layout;
pub use observe::{explain, sampled, tap};
pub use outcome::{Curve, Outcome, QUANTILES};
pub use replication::{Replication, Tally};
pub use spillgate_measure::{Bounds, Window};
pub use tokens::Draining;

/// The behavior of the engine: raised whenever the same scenario and seed give another run, or a
/// metric another value, with a line in CHANGELOG.md. Stored runs of another behavior are made
/// anew; those of this one are not, whatever else is new.
pub const BEHAVIOR: u32 = 2;
