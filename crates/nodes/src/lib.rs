//! Nodes that hold packets before they pass them on, as state machines.
//!
//! A kind of node is a file or a folder, and a line in [`registry`]: how it is written
//! ([`NodeSpec`]), what it is made of once that is checked ([`Recipe`]), what it does ([`Node`]),
//! and what it measures stand beside each other. Nothing here knows a clock or a network: time,
//! packets and randomness are arguments.
#![forbid(unsafe_code)]

pub mod atm;
mod describe;
mod guarantee;
mod holdings;
mod node;
mod recipe;
pub mod registry;
pub mod server;
pub mod software;
pub mod stage;
pub mod switch;
mod words;

pub use describe::{Description, Fact, Value};
pub use guarantee::{NodeBound, NodeQueue, Passage};
pub use holdings::{Holding, Holdings};
pub use node::{AtPort, Carried, Carries, Node, Outbox, Passed, PortEvent, Put, Sent, Start};
pub use recipe::{Around, Declared, LinkFacts, Names, NodeSpec, Reader, Recipe};
pub use registry::NodePlan;
