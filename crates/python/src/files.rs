//! Files as the scenario loader asks for them.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Component, Path, PathBuf};
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

    fn lies_in(&self, path: &Path, folder: &Path) -> bool {
        match (really(path), really(folder)) {
            (Some(path), Some(folder)) => path.starts_with(folder),
            _ => false,
        }
    }
}

/// Where a path leads, with all links followed; of what is not there, where it would be. None if
/// that cannot be told.
fn really(path: &Path) -> Option<PathBuf> {
    let path = std::env::current_dir().ok()?.join(path);
    for there in path.ancestors() {
        if let Ok(found) = there.canonicalize() {
            let rest = path.strip_prefix(there).ok()?;
            let plain = |c| matches!(c, Component::Normal(_) | Component::CurDir);
            return rest.components().all(plain).then(|| found.join(rest));
        }
        // A link to what is not there, or to what may not be seen.
        if there.is_symlink() {
            return None;
        }
    }
    None
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

    fn lies_in(&self, path: &Path, folder: &Path) -> bool {
        // What is in memory is given with the scenario.
        self.0.contains_key(path) || Disk.lies_in(path, folder)
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
