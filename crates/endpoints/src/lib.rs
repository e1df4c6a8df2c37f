//! Traffic sources as pure state machines.
//!
//! An endpoint never sees the simulator, a clock or a queue: a driver hands it
//! instants and random streams and does what it says.
//!
//! ```
//! use spillgate_core::{Rate, Rng, Size, Time};
//! use spillgate_endpoints::source::Source;
//! use spillgate_endpoints::source::spec::{PacketSizeSpec, PoissonSpec, SourceSpec};
//!
//! let spec = SourceSpec::Poisson(PoissonSpec {
//!     rate: Rate::from_bps(2_000_000).unwrap(),
//!     packet: PacketSizeSpec::Fixed(Size(1500)),
//! });
//! spec.check()?;
//! let mut rng = Rng::named(1, 0, "flows/data-0", "source");
//! let mut source = Source::new(&spec, Time::ZERO);
//! let first = source.next(&mut rng).unwrap();
//! let second = source.next(&mut rng).unwrap();
//! assert!(first.at <= second.at && first.len == 1500);
//! # Ok::<(), spillgate_core::Problem>(())
//! ```
//!
//! # Open and closed loops
//!
//! A [`source::Source`] is open-loop: what it sends next depends on its own
//! stream only, so the driver asks for one [`source::Emission`] after the other
//! and needs no feedback. A [`tcp::Sender`] is closed-loop: it takes the
//! segments that arrive and the timers that expire, and says which segment may
//! leave now and when it wants to be called next. A driver holds either kind
//! per flow. How large a TCP window is, is the business of [`cc`].
#![forbid(unsafe_code)]

pub mod cc;
pub mod source;
pub mod tcp;
pub mod workload;
