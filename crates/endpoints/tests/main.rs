//! The crate's tests in one binary: each file is a module of it.

mod common;
mod grid;
mod linux;
mod longest;
mod modelled;
mod random;
mod spec;
mod streams;
mod tcp_accurate;
mod tcp_application;
mod tcp_bottleneck;
mod tcp_dialogues;
mod tcp_ecn;
mod tcp_models;
mod tcp_rules;
mod tcp_spec;
mod tcp_transfer;
mod workload;
