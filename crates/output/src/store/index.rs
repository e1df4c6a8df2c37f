//! What the files of a directory have, and where.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use super::file::{ENDING, FAILED, Header, NAMES, RUN, STUDY, scan};

/// Where a frame is.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    pub(super) header: Header,
    pub(super) file: usize,
    pub(super) at: u64,
}

/// What a directory has.
#[derive(Debug, Default)]
pub(super) struct Index {
    pub(super) files: Vec<Known>,
    /// By key, then in the order of the files.
    pub(super) runs: Vec<Place>,
    /// Places in `runs`, by the fingerprint of the text.
    by_text: Vec<u32>,
    pub(super) names: BTreeMap<(usize, u128), Place>,
    /// Runs that failed, by behavior and key: where their causes are.
    pub(super) failed: BTreeMap<(u32, u128), Place>,
    /// The study with the highest number.
    pub(super) study: Option<Place>,
    /// Files that are not read to their end, and why.
    pub(super) unreadable: BTreeMap<PathBuf, String>,
}

/// A file, and how much of it is known.
#[derive(Debug)]
pub(super) struct Known {
    pub(super) path: PathBuf,
    length: u64,
    /// Where the last frame ends.
    end: u64,
}

impl Index {
    pub(super) fn of(directory: &Path) -> io::Result<Self> {
        let mut all = Self::default();
        all.refresh(directory)?;
        Ok(all)
    }

    /// Adds what has been appended since, and new files.
    pub(super) fn refresh(&mut self, directory: &Path) -> io::Result<()> {
        let mut new = Vec::new();
        for entry in fs::read_dir(directory)? {
            let path = entry?.path();
            let name = path.file_name().unwrap_or_default();
            if name.as_encoded_bytes().ends_with(ENDING.as_bytes())
                && self.files.iter().all(|f| f.path != path)
            {
                new.push(path);
            }
        }
        new.sort();
        self.files.extend(new.into_iter().map(|path| Known {
            path,
            length: 0,
            end: 0,
        }));
        let before = self.runs.len();
        for (file, known) in self.files.iter_mut().enumerate() {
            let length = fs::metadata(&known.path).map_or(known.length, |m| m.len());
            if std::mem::replace(&mut known.length, length) == length {
                continue;
            }
            let found = File::open(&known.path).and_then(|f| scan(f, &mut known.end));
            let (frames, why) = found.unwrap_or_else(|e| (Vec::new(), Some(e.to_string())));
            self.unreadable
                .extend(why.map(|why| (known.path.clone(), why)));
            for (header, at) in frames {
                let place = Place { header, file, at };
                match header.kind {
                    RUN => self.runs.push(place),
                    NAMES => drop(self.names.insert((file, header.key), place)),
                    FAILED => drop(self.failed.insert((header.behavior, header.key), place)),
                    STUDY if self.study.is_none_or(|s| s.header.key < header.key) => {
                        self.study = Some(place);
                    }
                    // What a later version has added.
                    _ => {}
                }
            }
        }
        if self.runs.len() > before {
            self.runs.sort_by_key(|p| p.header.key);
            self.by_text = (0..self.runs.len() as u32).collect();
            self.by_text
                .sort_by_key(|n| self.runs[*n as usize].header.text);
        }
        Ok(())
    }

    /// The runs with a key, and then those of the same text.
    pub(super) fn of_run(&self, key: u128, text: Option<u128>) -> impl Iterator<Item = &Place> {
        let from = self.runs.partition_point(|p| p.header.key < key);
        let same = self.runs[from..]
            .iter()
            .take_while(move |p| p.header.key == key);
        let texts = text.into_iter().flat_map(|text| {
            let of = |n: &u32| self.runs[*n as usize].header.text;
            let from = self.by_text.partition_point(|n| of(n) < text);
            let same = self.by_text[from..].iter().map(|n| &self.runs[*n as usize]);
            same.take_while(move |p| p.header.text == text)
        });
        same.chain(texts.filter(move |p| p.header.key != key))
    }
}
