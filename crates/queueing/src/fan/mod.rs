//! The cross-protect router of Flow-Aware Networking.

pub(crate) mod spec;
pub(crate) mod waits;

pub use waits::{AdmissionState, Wait};
