//! Speech quality of a call over a packet network.
//!
//! * [`codec`]: what codecs cost in delay and quality (ITU-T G.113, G.114).
//! * [`Listener`]: the receiver's de-jitter buffer, packet by packet: who comes too late, and how
//!   the missing packets cluster.
//! * [`EModel`]: from delay and loss to the rating R and to MOS (ITU-T G.107, G.107.1).
//! * [`spec`]: all of it as a user writes it.
//!
//! A state machine that is told of packets, and functions: no clock, no I/O.
#![forbid(unsafe_code)]

pub mod codec;
mod emodel;
mod listener;
mod quality;
pub mod spec;

pub use codec::Codec;
pub use emodel::{Connection, EModel, Rating, Scale, mos};
pub use listener::{Buffer, Heard, Listener};
pub use quality::{Beyond, Profile, Quality};
