#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

pub mod aqm;
mod classify;
mod condition;
mod custom;
mod discipline;
mod engine;
mod evidence;
mod fan;
mod flow_numbers;
mod guarantee;
mod hier;
mod leaf;
mod line;
mod outline;
mod own;
mod packet_set;
mod recipe;
mod registry;
mod sched;
mod share;
mod size;
pub mod spec;
mod stats;
pub mod testkit;
mod tree;

pub use aqm::{ArrivalAqm, Backlog, CustomAqm, Draw, OwnFault, Upstream, UpstreamUse, fail};
pub use classify::{Metadata, View};
pub use condition::{AverageRate, Color, Colored, Conditioner, InputRecipe, Passes};
pub use custom::CustomDiscipline;
pub use discipline::Discipline;
pub use evidence::{
    BucketLevel, Cause, ChanceOdds, CoupledOdds, DelayOdds, Evidence, Fact, FactUnit, GoesBy, Odds,
    QueueLimit, Refusal, Refused, Waited,
};
pub use fan::{AdmissionState, SharedLists, Wait};
pub use flow_numbers::FlowNumbers;
pub use guarantee::{FlowLoad, Guarantee, LeafLoad, Load, Part, Reason, Sends, Service};
pub use line::{Counting, Line, Longest};
pub use outline::{
    AdmissionLimits, Bucket, Class, DscpLimit, Outline, Place, PlacedAqm, Policy, Thresholds,
};
pub use own::{OwnPart, OwnQueue};
pub use packet_set::{PacketBox, PacketSet};
pub use recipe::Recipe;
pub use registry::{Family, kinds};
pub use share::Share;
pub use size::Sizes;
pub use stats::{LeafGauges, LeafStats, State};
pub use tree::{Division, Enclosing};
