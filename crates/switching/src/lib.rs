//! Switches with queues at their inputs: virtual output queues, fabrics, and the matching of inputs and outputs.
//!
//! Nothing here knows a clock or a network: time, packets and randomness are arguments. [`SwitchSpec`] is a switch as
//! written, [`SwitchRecipe`] a validated one, [`Switch`] a running one. Matchers ([`matcher`]) know nothing of buffers.
#![forbid(unsafe_code)]

pub mod atm;
mod buffer;
mod fabric;
pub mod matcher;
mod pace;
pub mod ports;
mod problem;
mod queues;
mod recipe;
mod spec;
mod stats;
mod switch;

pub use matcher::{Matcher, MatchingSpec};
pub use problem::Problem;
pub use recipe::SwitchRecipe;
pub use spec::{
    Architecture, BufferSpec, Cell, CongestionMeasureSpec, CrossbarSpec, FabricSpec, ParallelSpec,
    Share, Speedup, SwitchSpec,
};
pub use stats::{Backlog, Counts, Slots};
pub use switch::{Crossed, Lost, Outbox, Switch};
