//! Router configurations as policies.
//!
//! [`IosImporter`] reads the queueing of a Cisco IOS running-config into the
//! same types that a scenario writes inline, so an imported policy and an
//! inline one cannot behave differently.
#![forbid(unsafe_code)]

mod ios;

pub use ios::{IosImporter, LineCounts};
