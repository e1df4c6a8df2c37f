//! Workloads of sessions: how large transfers are and when they begin, as pure
//! generators that draw from the streams they are handed.
//!
//! A driver keeps one [`Arrivals`] per workload and asks for one session after
//! the other; what a session transfers comes from [`SessionSpec::plan`].

mod arrivals;
mod session;
mod size;

pub use arrivals::{ArrivalSpec, Arrivals, FixedArrivals, PoissonArrivals};
pub use session::{Exchange, RequestResponseSpec, SessionSpec, TransferSpec};
pub use size::{LognormalSize, ParetoSize, SizeStep, TransferSize};
