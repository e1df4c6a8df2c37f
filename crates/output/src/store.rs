//! Runs on disk, each under the key of what decides it, so that none is made twice: a study is
//! resumed, extended, or judged again by asking for its runs once more, and a run directory is
//! reported from them.
//!
//! A directory has files of runs ([`file`]). Whoever opens it reads all of them, and appends what
//! it makes to one of its own, so that processes and machines share a directory without locks, and
//! directories are merged by copying. `docs/reference/stored-runs.md` has the format.

mod file;
mod names;
mod record;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use spillgate_core::Digest;
use spillgate_core::rng::hash_bytes;
use spillgate_scenario::key::Keys;
use spillgate_scenario::plan::Plan;
use spillgate_sim::{Engine, Outcome, RunInfo, Shelf};

use file::{ENDING, Header, NAMES, RUN, Writer, frame, scan};
use names::{Named, Names, Places};
use record::{Record, packed, unpacked};

pub use record::Damage;

/// Where a frame is.
#[derive(Clone, Copy, Debug)]
struct Place {
    header: Header,
    file: usize,
    at: u64,
}

/// What a directory has.
#[derive(Debug, Default)]
struct Index {
    files: Vec<PathBuf>,
    /// By key, then in the order of the files.
    runs: Vec<Place>,
    /// Places in `runs`, by the fingerprint of the text.
    by_text: Vec<u32>,
    names: BTreeMap<(usize, u128), Place>,
    /// Files that are not read to their end, and why.
    unreadable: Vec<(PathBuf, String)>,
}

impl Index {
    fn of(directory: &Path) -> io::Result<Self> {
        let mut all = Self::default();
        for entry in fs::read_dir(directory)? {
            let path = entry?.path();
            let name = path.file_name().unwrap_or_default();
            if name.as_encoded_bytes().ends_with(ENDING.as_bytes()) {
                all.files.push(path);
            }
        }
        all.files.sort();
        for (file, path) in all.files.iter().enumerate() {
            let found = File::open(path).and_then(scan);
            let (frames, why) = found.unwrap_or_else(|e| (Vec::new(), Some(e.to_string())));
            all.unreadable.extend(why.map(|why| (path.clone(), why)));
            for (header, at) in frames {
                let place = Place { header, file, at };
                match header.kind {
                    RUN => all.runs.push(place),
                    NAMES => drop(all.names.insert((file, header.key), place)),
                    // What a later version has added.
                    _ => {}
                }
            }
        }
        all.runs.sort_by_key(|p| p.header.key);
        all.by_text = (0..all.runs.len() as u32).collect();
        all.by_text
            .sort_by_key(|n| all.runs[*n as usize].header.text);
        Ok(all)
    }

    /// The runs with a key, and then those of the same text.
    fn of_run(&self, key: u128, text: Option<u128>) -> impl Iterator<Item = &Place> {
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

/// A directory of stored runs, opened for the runs of a plan on an engine.
pub struct Store {
    directory: PathBuf,
    behavior: u32,
    engine: Engine,
    plan: Arc<Plan>,
    /// By point.
    keys: Vec<u128>,
    index: Index,
    /// The file that was read last.
    reading: Mutex<Option<(usize, File)>>,
    /// The names of points, and those of stored runs by file.
    named: Mutex<BTreeMap<usize, Arc<Named>>>,
    places: Mutex<BTreeMap<(usize, u128, u128), Arc<Places>>>,
    writing: Mutex<Option<Own>>,
    made_anew: Mutex<MadeAnew>,
}

/// The file that this store appends to.
struct Own {
    writer: Writer,
    /// Names that are in it.
    names: BTreeSet<u128>,
}

/// What could not be used or kept.
#[derive(Default)]
struct MadeAnew {
    damaged: BTreeSet<String>,
    /// By behavior.
    behaviors: BTreeMap<u32, u32>,
    unwritable: Option<String>,
}

fn lock<T>(of: &Mutex<T>) -> MutexGuard<'_, T> {
    of.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Store {
    /// Opens a directory, which is made if it is not there. `behavior` is that of the engine in
    /// this build: runs of others, and of the other engine, are not used.
    ///
    /// # Errors
    /// If the directory can be neither read nor made.
    pub fn open(
        directory: &Path,
        behavior: u32,
        engine: Engine,
        plan: Arc<Plan>,
    ) -> io::Result<Self> {
        fs::create_dir_all(directory)?;
        let mut keys = Keys::default();
        Ok(Self {
            directory: directory.to_owned(),
            behavior,
            engine,
            keys: plan.variants.iter().map(|v| keys.of(&v.world)).collect(),
            plan,
            index: Index::of(directory)?,
            reading: Mutex::default(),
            named: Mutex::default(),
            places: Mutex::default(),
            writing: Mutex::default(),
            made_anew: Mutex::default(),
        })
    }

    /// What decides a run: the point, the seed, the number of the run; and the engine, as a run of
    /// one that is answered with a run of the other would check nothing.
    pub fn key(&self, run: RunInfo) -> u128 {
        self.of_point(self.keys[run.variant], run)
    }

    /// The same of what is written of the point, which is known to later versions whose plans have
    /// more fields.
    fn text(&self, run: RunInfo) -> u128 {
        self.of_point(self.plan.variants[run.variant].text, run)
    }

    fn of_point(&self, point: u128, run: RunInfo) -> u128 {
        let mut digest = Digest::default();
        let words = [
            (point >> 64) as u64,
            point as u64,
            self.plan.seed,
            run.run.into(),
        ];
        words.iter().for_each(|w| digest.word(*w));
        match self.engine {
            Engine::Express => {}
            Engine::Plain => digest.word(hash_bytes(b"plain")),
        }
        digest.value()
    }

    /// Whether there is a run.
    pub fn has(&self, run: RunInfo) -> bool {
        let mut there = self.index.of_run(self.key(run), None);
        there.any(|p| p.header.behavior == self.behavior)
    }

    /// The outcome under a key, as a run of a point, whatever behavior it is of.
    ///
    /// # Errors
    /// Why there is none.
    pub fn outcome(&self, key: u128, run: RunInfo, observed: bool) -> Result<Outcome, String> {
        let mut why = None;
        for place in self.index.of_run(key, None) {
            match self.read(place, run, observed) {
                Ok(Some(found)) => return Ok(found),
                Ok(None) => drop(
                    why.get_or_insert_with(|| "it was stored without its time series".to_owned()),
                ),
                Err(damage) => why = Some(self.damaged(place, &damage)),
            }
        }
        let unreadable = self.index.unreadable.first();
        let unreadable = unreadable.map(|(path, why)| format!("{}: {why}", path.display()));
        Err(why
            .or(unreadable)
            .unwrap_or_else(|| "it is not there".to_owned()))
    }

    fn damaged(&self, place: &Place, why: &str) -> String {
        let path = self.index.files[place.file].display();
        format!("{path} is damaged at byte {}: {why}", place.at)
    }

    /// The run at a place; none if it was stored without what is wanted.
    fn read(&self, place: &Place, run: RunInfo, observed: bool) -> Result<Option<Outcome>, String> {
        let content = self.content(place)?;
        let world = &self.plan.variants[run.variant].world;
        let of = || -> Result<Option<Outcome>, Damage> {
            let record: Record = unpacked(&content)?;
            let id = u128::from_str_radix(&record.names, 16).map_err(|_| Damage::Coding)?;
            let named = self.named(run.variant).map_err(|_| Damage::Coding)?;
            let known = (place.file, id, named.id);
            let there = lock(&self.places).get(&known).cloned();
            let places = match there {
                Some(places) => places,
                None => {
                    let frame = self
                        .index
                        .names
                        .get(&(place.file, id))
                        .ok_or(Damage::Names)?;
                    let content = self.content(frame).map_err(|_| Damage::Names)?;
                    let places = Arc::new(Names::read(&content)?.places(&named.names));
                    lock(&self.places).insert(known, Arc::clone(&places));
                    places
                }
            };
            record.outcome(&places, world, observed)
        };
        of().map_err(|why| why.to_string())
    }

    /// The content of a frame.
    fn content(&self, place: &Place) -> Result<Vec<u8>, String> {
        let read = || -> io::Result<Vec<u8>> {
            let mut reading = lock(&self.reading);
            if reading.as_ref().is_none_or(|(file, _)| *file != place.file) {
                *reading = Some((place.file, File::open(&self.index.files[place.file])?));
            }
            let mut content = vec![0; place.header.length as usize];
            if let Some((_, file)) = &mut *reading {
                file.seek(SeekFrom::Start(place.at))?;
                file.read_exact(&mut content)?;
            }
            Ok(content)
        };
        let content = read().map_err(|e| e.to_string())?;
        match place.header.is_of(&content) {
            true => Ok(content),
            false => Err(Damage::Checksum.to_string()),
        }
    }

    /// The names of a point.
    fn named(&self, variant: usize) -> io::Result<Arc<Named>> {
        if let Some(named) = lock(&self.named).get(&variant) {
            return Ok(Arc::clone(named));
        }
        let new = Named::of(&self.plan.variants[variant].world)?;
        let mut all = lock(&self.named);
        // Most points have the names of the first.
        let named = match all.get(&0) {
            Some(first) if first.id == new.id => Arc::clone(first),
            _ => Arc::new(new),
        };
        all.insert(variant, Arc::clone(&named));
        Ok(named)
    }

    /// What was there and had to be made anew, and what could not be stored; sentences for the
    /// user.
    pub fn notes(&self) -> Vec<String> {
        let found = lock(&self.made_anew);
        let unreadable = self.index.unreadable.iter();
        let unreadable = unreadable.map(|(path, why)| format!("{}: {why}", path.display()));
        let damaged = found
            .damaged
            .iter()
            .map(|d| format!("{d}; its run is made anew"));
        let behaviors = found.behaviors.iter().map(|(behavior, n)| {
            let (runs, made) = if *n == 1 {
                ("run", "it is")
            } else {
                ("runs", "they are")
            };
            let theirs = behavior_name(*behavior);
            let ours = behavior_name(self.behavior);
            format!("{n} stored {runs} of {theirs}: {made} made anew, as this is {ours}")
        });
        let unwritable = found.unwritable.iter();
        let unwritable = unwritable.map(|why| format!("not every run could be stored: {why}"));
        unreadable
            .chain(damaged)
            .chain(behaviors)
            .chain(unwritable)
            .collect()
    }

    /// Stores a run that is finished.
    ///
    /// # Errors
    /// If it cannot be written; nothing of it is then left.
    pub fn write(&self, run: RunInfo, observed: bool, outcome: &Outcome) -> io::Result<()> {
        let variant = &self.plan.variants[run.variant];
        let named = self.named(run.variant)?;
        let known = (&*variant.name, run.run, self.plan.seed);
        let record = Record::of(known, named.hex(), outcome, &variant.world, observed);
        let keys = [self.key(run), self.text(run)];
        let mut frames = frame(RUN, self.behavior, keys, &packed(&record)?)?;
        let mut own = lock(&self.writing);
        if own.as_ref().is_none_or(|own| own.writer.broken) {
            *own = Some(Own {
                writer: Writer::create(&self.directory)?,
                names: BTreeSet::new(),
            });
        }
        let Some(Own { writer, names }) = &mut *own else {
            return Ok(());
        };
        let new = !names.contains(&named.id);
        if new {
            let before = frame(NAMES, self.behavior, [named.id, 0], &named.content)?;
            frames.splice(0..0, before);
        }
        writer.append(&frames)?;
        if new {
            names.insert(named.id);
        }
        Ok(())
    }
}

/// A behavior in words: those of builds with changes that are not committed have the highest bit.
fn behavior_name(behavior: u32) -> String {
    match behavior >> 31 {
        0 => format!("behavior {behavior}"),
        _ => format!("an uncommitted build ({behavior:08x})"),
    }
}

impl Shelf for Store {
    fn get(&self, run: RunInfo, observed: bool) -> Option<Outcome> {
        let (mut damage, mut behavior) = (None, None);
        for place in self.index.of_run(self.key(run), Some(self.text(run))) {
            if place.header.behavior != self.behavior {
                behavior = Some(place.header.behavior);
                continue;
            }
            behavior = None;
            match self.read(place, run, observed) {
                Ok(Some(found)) => return Some(found),
                Ok(None) => damage = None,
                Err(why) => damage = Some(self.damaged(place, &why)),
            }
        }
        let mut made_anew = lock(&self.made_anew);
        made_anew.damaged.extend(damage);
        if let Some(behavior) = behavior {
            *made_anew.behaviors.entry(behavior).or_default() += 1;
        }
        None
    }

    fn put(&self, run: RunInfo, observed: bool, outcome: &Outcome) {
        if let Err(why) = self.write(run, observed, outcome) {
            let mut made_anew = lock(&self.made_anew);
            made_anew.unwritable.get_or_insert_with(|| why.to_string());
        }
    }
}

/// Reads whatever a file may hold, as one who opens a directory would, for fuzzing: how many frames
/// it has.
///
/// # Errors
/// Why it is not read to its end, or what is wrong with the first frame that cannot be read.
pub fn inspect(bytes: &[u8]) -> Result<usize, String> {
    let (frames, why) = scan(io::Cursor::new(bytes)).map_err(|e| e.to_string())?;
    for (header, at) in &frames {
        let content = bytes.get(*at as usize..);
        let content = content.and_then(|b| b.get(..header.length as usize));
        let content = content.filter(|c| header.is_of(c));
        let content = content.ok_or_else(|| Damage::Checksum.to_string())?;
        let read = match header.kind {
            RUN => unpacked::<Record>(content).map(drop),
            NAMES => Names::read(content).map(drop),
            _ => Ok(()),
        };
        read.map_err(|why| why.to_string())?;
    }
    why.map_or(Ok(frames.len()), Err)
}

/// A file with one frame whose checksums are right, for fuzzing what is behind them: a run, or
/// names.
pub fn sealed(is_run: bool, plain: &[u8]) -> Vec<u8> {
    let packed = snap::raw::Encoder::new().compress_vec(plain);
    let kind = if is_run { RUN } else { NAMES };
    let frame = frame(kind, 1, [0, 0], &packed.unwrap_or_default());
    [file::HEAD, &frame.unwrap_or_default()].concat()
}
