//! The crate's tests in one binary: each file is a module of it.

mod atm;
mod certain;
mod report;
mod store;
mod switch;
mod watch;
mod words;
mod worst;
mod worst_rates;
