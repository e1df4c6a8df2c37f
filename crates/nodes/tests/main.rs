//! The crate's tests in one binary: each file is a module of it.

mod cell_delay;
mod cell_line;
mod common;
mod matchers;
mod published;
mod switch;
