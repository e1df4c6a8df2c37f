//! The crate's tests in one binary: each file is a module of it.

mod agreements;
mod beside;
mod common;
mod contracts;
mod corpus;
mod designs;
mod inputs;
mod limits;
mod longest;
mod measured;
mod patterns;
mod plan;
mod robust;
mod schema;
mod sla_files;
mod unlimited;
