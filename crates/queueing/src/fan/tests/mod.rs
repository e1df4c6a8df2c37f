//! The cross-protect router against a plain one, and by its laws.

mod behind;
mod differential;
mod estimators;
mod laws;
mod link;
mod plain;
mod shared;
mod traffic;
