//! Queue disciplines as pure state machines.
#![forbid(unsafe_code)]

pub mod aqm;
pub mod spec;

/// Placeholder until the crate is filled.
#[derive(Clone, Debug)]
pub struct Recipe;
