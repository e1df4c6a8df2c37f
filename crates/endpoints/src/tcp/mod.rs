//! TCP endpoints as pure state machines.
//!
//! A [`Sender`] transfers bytes one way to a [`Receiver`]; both know time only
//! as an argument. Per endpoint there are four kinds of calls:
//!
//! - getters, such as [`Sender::acked_bytes`], at any time;
//! - inputs: `handle_segment`, and `handle_timeout` once `poll_timeout` is due;
//! - what the application does: [`Sender::write`], [`Sender::close`], [`Sender::finish`];
//! - outputs: after each input call `poll_transmit` until it gives none, then
//!   `poll_timeout` for the one instant at which the endpoint wants to be
//!   called if nothing else happens.
//!
//! One session after the other can use the same endpoints: [`Sender::reset`], [`Receiver::reset`].
//!
//! A driver in a hurry tries a shortcut first and gets the same: [`Sender::take_predicted`],
//! [`Sender::poll_new`] and [`Sender::waits`], [`Receiver::answer`].
//!
//! `now` never decreases. `handle_timeout` before the deadline does nothing,
//! so a driver may keep an outdated earlier wake-up instead of moving it.
//!
//! # Modules
//! `spec`, `ecn_spec` and `config`: what the user writes and what it resolves to;
//! `sender`: sequence space and connection states; `ack`, `marks`, `timers`,
//! `transmit`, `pacing`: what it does about acknowledgments, congestion, timeouts
//! and departures; `predicted`: the same, for what nearly every segment does;
//! `rate`: delivery rates; `recovery`: loss detection and repair;
//! `scoreboard`: what is outstanding; `rtt` and `retry`: RFC 6298 and what may
//! replace its doubling; `accurate`: ECN feedback of RFC 9768; `receiver` and
//! `reassembly`. Window arithmetic lives in [`crate::cc`].
//!
//! # What is not modeled
//! Payload in both directions of one connection (use two), sequence number
//! wrap, urgent data, simultaneous open, TIME-WAIT, the receiver's own FIN,
//! the Nagle algorithm, and window probes (the receiving application reads at
//! once, so its window never closes).

mod accurate;
mod ack;
pub mod config;
pub mod ecn_spec;
mod marks;
mod pacing;
mod predicted;
mod rate;
mod reassembly;
mod receiver;
mod recovery;
pub mod retry;
mod rtt;
mod scoreboard;
mod segment;
mod sender;
pub mod spec;
mod timers;
mod transmit;

pub use accurate::Counters;
pub use config::TcpConfig;
pub use receiver::Receiver;
pub use retry::{Attempts, RetrySpec};
pub use segment::{Flags, MarkedField, SackBlocks, Segment};
pub use sender::{Failure, Sender, State, Stats};
pub use spec::TcpSpec;
