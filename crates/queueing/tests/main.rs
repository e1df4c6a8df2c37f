//! The crate's tests in one binary: each file is a module of it.

mod announce;
mod aqm_ns2;
mod cake;
mod class_schedulers;
mod common;
mod compositions;
mod contract;
mod custom;
mod dualpi2;
mod errors;
mod evidence;
mod fairness;
mod fan_errors;
mod fan_on_link;
mod full;
mod gps;
mod idle;
mod longest;
mod meters;
mod policies;
mod red_ns2;
mod set_rate;
mod thresholds;
mod upstream;
mod vectors;
