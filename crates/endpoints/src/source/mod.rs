//! Open-loop sources.

pub mod spec;
