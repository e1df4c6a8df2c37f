//! What the loader needs from outside: files, and importers of router configurations.

use std::collections::BTreeMap;
use std::io;
use std::path::Path;

use spillgate_core::Rate;
use spillgate_queueing::spec::DisciplineSpec;

use crate::error::{Diagnostic, Diagnostics};
use crate::plan::Unmodelled;

/// Where files come from: a disk, or memory in tests.
pub trait Files {
    /// The content of a file.
    ///
    /// # Errors
    /// Whatever keeps the file from being read; it becomes a located diagnostic.
    fn read(&self, path: &Path) -> io::Result<Vec<u8>>;
}

/// Files in memory by path.
impl Files for BTreeMap<std::path::PathBuf, Vec<u8>> {
    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        self.get(path)
            .cloned()
            .ok_or_else(|| io::Error::new(io::ErrorKind::NotFound, "no such file"))
    }
}

/// Turns router configurations into policies.
pub trait Importer {
    /// Reads a Cisco IOS configuration; `file` is its name for diagnostics.
    ///
    /// # Errors
    /// Everything in the configuration that is wrong, with file, line and column.
    fn ios(&self, file: &str, bytes: &[u8]) -> Result<Imported, Diagnostics>;
}

/// What a router configuration says about queueing.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Imported {
    /// Policy-maps by name.
    pub policies: BTreeMap<String, DisciplineSpec>,
    /// Interfaces by name.
    pub interfaces: BTreeMap<String, ImportedInterface>,
    /// Lines that have no effect on the simulation.
    pub unmodelled: Vec<Unmodelled>,
    /// What the user should know.
    pub warnings: Vec<Diagnostic>,
    /// Line where each policy was defined, from 1.
    pub policy_lines: BTreeMap<String, u32>,
}

/// An interface of a router configuration.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ImportedInterface {
    /// Line of its `interface` command, from 1.
    pub line: u32,
    /// Its `bandwidth`, of which percentages in its policy are meant.
    pub bandwidth: Option<Rate>,
    /// The policy of its `service-policy output`, and that command's line.
    pub output_policy: Option<(String, u32)>,
}

/// An importer that refuses every configuration: for scenarios without any.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoImporter;

impl Importer for NoImporter {
    fn ios(&self, file: &str, _: &[u8]) -> Result<Imported, Diagnostics> {
        Err(
            Diagnostic::error("E0407", "router configurations cannot be read here")
                .in_file(file)
                .into(),
        )
    }
}
