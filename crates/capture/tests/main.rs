//! The crate's tests in one binary: each file is a module of it.

mod arrivals;
mod common;
mod reading;
mod robustness;
mod tshark;
