//! Files of stored runs: a line of text, then frames one after the other. A file is only ever
//! appended to, by the one store that made it, so that others can read it meanwhile.
//!
//! What a killed process has left of its last frame is passed over.

use std::fs::File;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::io::{self, BufReader, ErrorKind, Read, Seek, SeekFrom, Write};
use std::path::Path;

/// How files are called.
pub(super) const ENDING: &str = ".runs";
pub(super) const HEAD: &[u8] = b"spillgate runs 1\n";
/// What all versions of the format begin with.
const FAMILY: &[u8] = b"spillgate runs ";
const HEADER: usize = 52;

/// What a frame holds; others are passed over.
pub(super) const NAMES: [u8; 4] = *b"name";
pub(super) const RUN: [u8; 4] = *b"run ";
pub(super) const STUDY: [u8; 4] = *b"stdy";
pub(super) const FAILED: [u8; 4] = *b"fail";

/// What stands before the content of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Header {
    pub(super) kind: [u8; 4],
    /// Of the content, in bytes.
    pub(super) length: u32,
    /// CRC-32 of the content.
    pub(super) checksum: u32,
    /// The behavior of the engine that made a run.
    pub(super) behavior: u32,
    /// What decides a run; the name of names; the number of a study.
    pub(super) key: u128,
    /// The fingerprint of what is written of a run's point.
    pub(super) text: u128,
}

impl Header {
    fn to_bytes(self) -> [u8; HEADER] {
        let mut bytes = [0; HEADER];
        bytes[..4].copy_from_slice(&self.kind);
        let words = [self.length, self.checksum, self.behavior];
        for (place, word) in bytes[4..16].chunks_exact_mut(4).zip(words) {
            place.copy_from_slice(&word.to_le_bytes());
        }
        bytes[16..32].copy_from_slice(&self.key.to_be_bytes());
        bytes[32..48].copy_from_slice(&self.text.to_be_bytes());
        let checksum = crc32fast::hash(&bytes[..48]);
        bytes[48..].copy_from_slice(&checksum.to_le_bytes());
        bytes
    }

    /// None if the checksum is wrong.
    fn from_bytes(bytes: &[u8; HEADER]) -> Option<Self> {
        let word = |at: usize| Some(u32::from_le_bytes(bytes[at..at + 4].try_into().ok()?));
        let wide = |at: usize| Some(u128::from_be_bytes(bytes[at..at + 16].try_into().ok()?));
        (crc32fast::hash(&bytes[..48]) == word(48)?).then_some(Self {
            kind: bytes[..4].try_into().ok()?,
            length: word(4)?,
            checksum: word(8)?,
            behavior: word(12)?,
            key: wide(16)?,
            text: wide(32)?,
        })
    }

    /// Whether this is the content of the frame.
    pub(super) fn is_of(&self, content: &[u8]) -> bool {
        content.len() == self.length as usize && crc32fast::hash(content) == self.checksum
    }
}

/// A frame; an error if its content has 4 GB or more.
pub(super) fn frame(
    kind: [u8; 4],
    behavior: u32,
    [key, text]: [u128; 2],
    content: &[u8],
) -> io::Result<Vec<u8>> {
    let header = Header {
        kind,
        length: u32::try_from(content.len()).map_err(|_| ErrorKind::FileTooLarge)?,
        checksum: crc32fast::hash(content),
        behavior,
        key,
        text,
    };
    Ok([&header.to_bytes(), content].concat())
}

/// Frames, each with the place of its content.
pub(super) type Frames = Vec<(Header, u64)>;

/// The frames of a file that stand after its first `end` bytes, which then are those of all
/// frames; and why there are no more if that is not its end.
pub(super) fn scan(file: impl Read + Seek, end: &mut u64) -> io::Result<(Frames, Option<String>)> {
    let mut file = BufReader::with_capacity(1 << 16, file);
    let length = file.seek(SeekFrom::End(0))?;
    let mut frames = Vec::new();
    if *end == 0 {
        file.rewind()?;
        let mut head = Vec::new();
        (&mut file).take(HEAD.len() as u64).read_to_end(&mut head)?;
        if head != HEAD {
            // Its writer was killed before it came to the first run.
            let why = (!HEAD.starts_with(&head)).then(|| foreign(&head));
            return Ok((frames, why));
        }
        *end = HEAD.len() as u64;
    }
    file.seek(SeekFrom::Start(*end))?;
    while *end + HEADER as u64 <= length {
        let mut header = [0; HEADER];
        file.read_exact(&mut header)?;
        let Some(header) = Header::from_bytes(&header) else {
            let why = format!("there is no run at byte {end}, and none is found after it");
            return Ok((frames, Some(why)));
        };
        let at = *end + HEADER as u64;
        if at + u64::from(header.length) > length {
            break;
        }
        frames.push((header, at));
        *end = at + u64::from(header.length);
        file.seek_relative(header.length.into())?;
    }
    Ok((frames, None))
}

/// What is wrong with a file that begins so.
fn foreign(head: &[u8]) -> String {
    match head.strip_prefix(FAMILY) {
        Some(version) => {
            let version = String::from_utf8_lossy(version);
            let version = version.split('\n').next().unwrap_or_default();
            format!("it has version {version} of the format; this Spillgate reads version 1")
        }
        None => "it is not a file of stored runs, which begins with `spillgate runs 1`".to_owned(),
    }
}

/// A file that is being written.
pub(super) struct Writer {
    file: File,
    end: u64,
    /// Its end is not what was finished: nothing after it would be found.
    pub(super) broken: bool,
}

impl Writer {
    /// Makes a file whose name nobody else has, on other machines that share the directory and in
    /// directories that it may be copied into.
    pub(super) fn create(directory: &Path) -> io::Result<Self> {
        loop {
            let number = RandomState::new().build_hasher().finish();
            let path = directory.join(format!("{number:016x}-{}{ENDING}", std::process::id()));
            match File::create_new(&path) {
                Ok(file) => {
                    let mut new = Self {
                        file,
                        end: 0,
                        broken: false,
                    };
                    return match new.append(HEAD) {
                        Ok(()) => Ok(new),
                        Err(why) => {
                            let _ = std::fs::remove_file(path);
                            Err(why)
                        }
                    };
                }
                Err(e) if e.kind() == ErrorKind::AlreadyExists => {}
                Err(e) => return Err(e),
            }
        }
    }

    /// Appends frames, all or nothing.
    pub(super) fn append(&mut self, frames: &[u8]) -> io::Result<()> {
        let written = self.file.write_all(frames);
        match written {
            Ok(()) => self.end += frames.len() as u64,
            Err(_) => {
                let cut = self.file.set_len(self.end);
                let back = cut.and_then(|()| self.file.seek(SeekFrom::Start(self.end)));
                self.broken = back.is_err();
            }
        }
        written
    }
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use super::*;

    fn file(frames: &[Vec<u8>]) -> Vec<u8> {
        [HEAD, &frames.concat()].concat()
    }

    fn contents(bytes: &[u8]) -> (Vec<Vec<u8>>, Option<String>) {
        let (frames, why) = scan(Cursor::new(bytes), &mut 0).unwrap();
        let content = |(h, at): &(Header, u64)| {
            let content = &bytes[*at as usize..][..h.length as usize];
            h.is_of(content).then(|| content.to_vec())
        };
        (frames.iter().filter_map(content).collect(), why)
    }

    #[test]
    fn a_frame_is_found_or_passed_over_whole() {
        let frames = [&b"first"[..], b"", b"third"].map(|c| frame(RUN, 1, [2, 3], c).unwrap());
        let whole = file(&frames);
        let wanted = [&b"first"[..], b"", b"third"].map(<[u8]>::to_vec);
        assert_eq!(contents(&whole), (wanted.to_vec(), None));
        // Whatever a killed process has left: what it had finished, without a word.
        let ends: Vec<usize> = (0..=3).map(|n| file(&frames[..n]).len()).collect();
        for cut in 0..whole.len() {
            let finished = ends
                .iter()
                .filter(|end| **end <= cut)
                .count()
                .saturating_sub(1);
            let found = contents(&whole[..cut]);
            assert_eq!(found, (wanted[..finished].to_vec(), None), "{cut}");
        }
        // Whatever bit is flipped: no wrong content.
        for bit in 0..whole.len() * 8 {
            let mut damaged = whole.clone();
            damaged[bit / 8] ^= 1 << (bit % 8);
            let (found, why) = contents(&damaged);
            assert!(
                found.len() < 3 && found.iter().all(|c| wanted.contains(c)),
                "{bit}"
            );
            assert!(why.is_some() || found.len() == 2, "{bit}");
        }
    }

    #[test]
    fn other_files_are_told_apart() {
        let why = |bytes: &[u8]| contents(bytes).1.unwrap();
        assert!(why(b"spillgate runs 2\nabc").contains("version 2 of the format"));
        assert!(why(b"PAR1 and more of it").contains("not a file of stored runs"));
    }
}
