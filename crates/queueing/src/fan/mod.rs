//! The cross-protect router of Flow-Aware Networking.

mod bare;
pub(crate) mod scheduler;
pub(crate) mod spec;
pub(crate) mod waits;

pub use bare::BareFairQueue;
pub use waits::{AdmissionState, Wait};
