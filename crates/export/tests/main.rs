//! The crate's tests in one binary: each file is a module of it.

mod class_queues;
mod common;
mod parameters;
mod roundtrip;
mod tc;
mod trees;
