//! The cross-protect router against a plain one, and by its laws.

mod differential;
mod link;
mod plain;
