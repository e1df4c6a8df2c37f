//! Files as the scenario loader asks for them.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use spillgate_capture::Opener;
use spillgate_scenario::{Files, read_bounded};

/// The machine's file system.
pub(crate) struct Disk;

impl Files for Disk {
    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        read_bounded(File::open(path)?)
    }

    fn opener(&self, path: &Path) -> io::Result<Arc<dyn Opener>> {
        // What cannot be opened later shall be known now.
        File::open(path)?;
        Ok(Arc::new(OnDisk(path.to_path_buf())))
    }
}

/// The machine's file system, but for what is in memory.
pub(crate) struct Overlay(pub(crate) BTreeMap<PathBuf, Vec<u8>>);

impl Files for Overlay {
    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        match self.0.get(path) {
            Some(content) => read_bounded(&content[..]),
            None => Disk.read(path),
        }
    }

    fn opener(&self, path: &Path) -> io::Result<Arc<dyn Opener>> {
        match self.0.get(path) {
            Some(content) => Ok(Arc::new(Arc::<[u8]>::from(&content[..]))),
            None => Disk.opener(path),
        }
    }
}

/// A file that is opened when it is needed.
#[derive(Debug)]
pub(crate) struct OnDisk(pub(crate) PathBuf);

impl Opener for OnDisk {
    fn open(&self) -> io::Result<Box<dyn Read + Send>> {
        Ok(Box::new(File::open(&self.0)?))
    }
}
