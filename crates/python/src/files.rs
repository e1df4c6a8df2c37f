//! Files as the scenario loader asks for them.

use std::io;
use std::path::Path;

use spillgate_scenario::Files;

/// The machine's file system.
pub(crate) struct Disk;

impl Files for Disk {
    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        std::fs::read(path)
    }
}
