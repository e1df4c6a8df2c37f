//! The express lane.

mod ahead;
mod answers;
mod between;
mod confluence;
mod fifo;
mod hosts;
mod line;
mod race;
mod reach;
mod straight;
mod waiting;
mod ways;

pub(crate) use ahead::is_large;
pub(crate) use answers::{SynTimers, answering};
pub(crate) use between::Between;
pub(crate) use confluence::Confluences;
pub(crate) use fifo::{FifoPort, Loss};
pub(crate) use hosts::{Host, batches, hosts, leaves, origins};
pub(crate) use line::Line;
pub(crate) use reach::Reach;
pub(crate) use straight::Straight;
pub(crate) use ways::{Feeder, share_wires};
