//! What a directory says without a plan: the keys of its runs, and which study they are of.

use std::fs::{self, File};
use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::path::Path;

use super::Damage;
use super::file::{STUDY, Writer, frame};
use super::index::{Index, Place};
use super::record::{packed, unpacked};

/// The keys of the runs that are stored in a directory, each once, ascending; none if it is not
/// there.
///
/// # Errors
/// If it cannot be read.
pub fn stored(directory: &Path) -> io::Result<Vec<u128>> {
    if !directory.exists() {
        return Ok(Vec::new());
    }
    let mut keys: Vec<_> = Index::of(directory)?
        .runs
        .iter()
        .map(|p| p.header.key)
        .collect();
    keys.dedup();
    Ok(keys)
}

/// What a directory says of the study whose runs it has, as it was noted last; none if it is not
/// there, or nothing is noted.
///
/// # Errors
/// If it cannot be read, or is damaged.
pub fn study(directory: &Path) -> io::Result<Option<String>> {
    if !directory.exists() {
        return Ok(None);
    }
    let all = Index::of(directory)?;
    let bad = |said: String| io::Error::new(io::ErrorKind::InvalidData, said);
    // The last one might be in it.
    if let Some((path, why)) = all.unreadable.first_key_value() {
        return Err(bad(format!("{}: {why}", path.display())));
    }
    let Some(Place { header, file, at }) = all.study else {
        return Ok(None);
    };
    let path = &all.files[file].path;
    let mut content = vec![0; header.length as usize];
    let mut open = File::open(path)?;
    open.seek(SeekFrom::Start(at))?;
    open.read_exact(&mut content)?;
    let intact = header.is_of(&content).then_some(&content);
    let read = intact.ok_or(Damage::Checksum).and_then(|c| unpacked(c));
    let said = |why| format!("{} is damaged at byte {at}: {why}", path.display());
    read.map(Some).map_err(|why| bad(said(why)))
}

/// Notes in a directory, which is made if it is not there, what study its runs are of.
///
/// # Errors
/// If it cannot be written.
pub fn note_study(directory: &Path, text: &str) -> io::Result<()> {
    fs::create_dir_all(directory)?;
    let before = Index::of(directory)?.study;
    let number = before.map_or(0, |s| s.header.key + 1);
    let frame = frame(STUDY, 0, [number, 0], &packed(&text)?)?;
    Writer::create(directory)?.append(&frame)
}
