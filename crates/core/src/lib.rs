//! Time, units, the packet record, verdicts, drop reasons and named random
//! streams: what every other crate of Spillgate speaks in.
//!
//! No model and no I/O lives here. All arithmetic that can influence a
//! decision is reproducible on every platform: integers, `+ - * /`, `sqrt`,
//! and the software `exp`, `ln`, `pow` of [`math`].
#![deny(unsafe_code)]

pub mod aal5;
mod acknowledgment;
pub mod addr;
mod averages;
pub mod curve;
pub mod digest;
pub mod dscp;
mod family;
pub mod marks;
pub mod math;
pub mod mpls;
pub mod overhead;
pub mod packet;
mod prefetch;
mod problem;
pub mod quantity;
mod rank;
pub mod rng;
mod short;
pub mod show;
mod spec;
pub mod stored;
pub mod suggest;
mod table;
#[doc(hidden)]
pub mod testkit;
mod textual;
pub mod time;
pub mod units;
pub mod verdict;

pub use acknowledgment::Acknowledgment;
pub use addr::{FlowKey, Ipv4Net};
pub use averages::Averages;
pub use curve::Curve;
pub use digest::{Digest, Facts};
pub use dscp::{Dscp, Ecn};
pub use family::Kind;
pub use marks::{Cos, Marks};
pub use mpls::Labels;
pub use overhead::{Cells, Overhead};
pub use packet::Packet;
pub use prefetch::prefetch;
pub use problem::{Mistake, Problem};
pub use quantity::{Burst, Limit, Packets, Percent, RateOrPercent, RateOrZero, Size};
pub use rank::Rank;
pub use rng::Rng;
pub use short::{OneOrMany, Or};
pub use table::Table;
pub use time::{Dur, Time};
pub use units::Rate;
pub use verdict::{DropReason, Dropped, Drops, Verdict};
