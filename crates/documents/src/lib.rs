//! What front ends ask, answered as JSON documents: the Python package and the page in a browser
//! say the same.
//!
//! Every file is asked of a [`Files`](spillgate_scenario::Files): the machine's file system, or
//! what a page holds in memory. Nothing here knows threads, signals or a language.
#![forbid(unsafe_code)]

mod bound;
mod catalog;
mod config;
mod explain;
mod export;
mod files;
mod lint;
mod profile;
mod written;

pub use bound::{NO_CURVE, bounds};
pub use catalog::catalog;
pub use config::{offered, understand};
pub use explain::question;
pub use export::{ExportRequest, NO_ROUTER, export};
pub use files::bytes_of;
pub use lint::{lint_configuration, lint_scenario};
pub use profile::{ProfileRequest, profile};
pub use written::written;

/// The commit that this was built from; empty where that is not known.
pub const COMMIT: &str = env!("SPILLGATE_COMMIT");

/// What tells changes that are in no commit from others; `0` where there are none.
pub const EDITS: &str = env!("SPILLGATE_EDITS");
