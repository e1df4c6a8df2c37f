//! Switches with queues at their inputs: virtual output queues, fabrics, and the matching of inputs
//! and outputs.
//!
//! [`SwitchSpec`] is a switch as written, [`SwitchRecipe`] a validated one, [`Switch`] a running
//! one. Matchers ([`matcher`]) know nothing of buffers.

mod buffer;
mod fabric;
pub mod matcher;
mod node;
mod pace;
pub mod ports;
mod queues;
mod recipe;
mod resolve;
mod running;
mod spec;
mod stats;

pub use matcher::{Matcher, MatchingSpec};
pub use node::SwitchPlan;
pub use recipe::SwitchRecipe;
pub use running::{Crossed, FabricOutbox, Lost, Switch};
pub use spec::{
    Architecture, BufferSpec, CongestionMeasureSpec, CrossbarSpec, FabricSpec, ParallelSpec, Share,
    SlotSize, Speedup, SwitchSpec,
};
pub use stats::{Backlog, Counts, Slots};
