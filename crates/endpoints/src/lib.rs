//! Traffic sources and sinks as pure state machines.
#![forbid(unsafe_code)]

pub mod source;
