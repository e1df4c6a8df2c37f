//! The crate's tests in one binary: each file is a module of it.

mod circuits;
mod common;
mod contradictions;
mod deletion;
mod goldens;
mod layout;
mod listed;
mod overrides;
mod pairs;
mod profile;
mod robustness;
mod routers;
mod show;
mod systems;
mod tc;
mod understood;
