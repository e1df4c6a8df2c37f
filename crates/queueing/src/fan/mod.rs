//! The cross-protect router of Flow-Aware Networking.

pub(crate) mod admission;
mod bare;
mod estimator;
mod lists;
mod mechanism;
mod resolve;
pub(crate) mod scheduler;
mod share;
pub(crate) mod spec;
#[cfg(test)]
mod tests;
pub(crate) mod waits;

pub use bare::BareFairQueue;
pub use share::SharedLists;
pub use waits::{AdmissionState, Wait};
