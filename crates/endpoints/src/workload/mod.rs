//! Workloads of sessions: how large transfers are and when they begin, as pure
//! generators that draw from the streams they are handed.
//!
//! A driver keeps one [`Arrivals`] per workload and asks for one session after
//! the other; what a session transfers comes from [`SessionSpec::plan`], and how
//! long it may take from [`SessionSpec::lifetime`].

mod arrivals;
mod session;
mod size;
mod table;

pub use arrivals::{ArrivalSpec, Arrivals, FixedArrivals, PoissonArrivals};
pub use session::{
    Exchange, LifetimeDistribution, LifetimeSpec, RequestResponseSpec, SessionSpec, TransferSpec,
};
pub use size::{LognormalSize, ParetoSize, TransferSize};
pub use table::{KnownTable, SizeStep, SizeTable};
