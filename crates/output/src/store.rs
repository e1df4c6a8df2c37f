//! Runs on disk, each under the key of what decides it, so that none is made twice: a study is
//! resumed, extended, or judged again by asking for its runs once more, and a run directory is
//! reported from them.
//!
//! A directory has files of runs ([`file`]). Whoever opens it reads all of them, and appends what
//! it makes to one of its own, so that processes and machines share a directory without locks, and
//! directories are merged by copying. `docs/reference/stored-runs.md` has the format.

mod about;
mod file;
mod index;
mod names;
mod record;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock, RwLockReadGuard};
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};
use spillgate_core::Digest;
use spillgate_core::rng::hash_bytes;
use spillgate_scenario::key::Keys;
use spillgate_scenario::plan::Plan;
use spillgate_sim::{Engine, Failure, Outcome, RunInfo, Shelf};

use file::{FAILED, NAMES, RUN, STUDY, Writer, frame, scan};
use index::{Index, Place};
use names::{Named, Names, Places};
use record::{Record, packed, unpacked};

pub use about::{note_study, stored, study};
pub use record::Damage;

/// A directory of stored runs, opened for the runs of a plan on an engine.
pub struct Store {
    directory: PathBuf,
    behavior: u32,
    engine: Engine,
    plan: Arc<Plan>,
    /// By point.
    keys: Vec<u128>,
    index: RwLock<Index>,
    looked: Mutex<Looked>,
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

/// How long it took to look at what others have stored, since when.
struct Looked {
    since: Instant,
    spent: Duration,
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
    #[allow(
        clippy::disallowed_methods,
        reason = "how long it takes is no part of results"
    )]
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
            index: RwLock::new(Index::of(directory)?),
            looked: Mutex::new(Looked {
                since: Instant::now(),
                spent: Duration::ZERO,
            }),
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

    fn index(&self) -> RwLockReadGuard<'_, Index> {
        self.index.read().unwrap_or_else(PoisonError::into_inner)
    }

    /// Where a run is, by its key or its text.
    fn places_of(&self, run: RunInfo) -> Vec<Place> {
        let index = self.index();
        let found = index.of_run(self.key(run), Some(self.text(run)));
        found.copied().collect()
    }

    /// Takes note of what other processes have stored since; false if nothing can be read, or if
    /// that has taken more than a twentieth of the time so far: a large directory takes long, and
    /// grows with each run.
    #[allow(
        clippy::disallowed_methods,
        reason = "how long it takes is no part of results"
    )]
    fn refresh(&self) -> bool {
        let mut looked = lock(&self.looked);
        if looked.spent > Duration::from_millis(50) + looked.since.elapsed() / 20 {
            return false;
        }
        let begun = Instant::now();
        let mut index = self.index.write().unwrap_or_else(PoisonError::into_inner);
        let read = index.refresh(&self.directory).is_ok();
        looked.spent += begun.elapsed();
        read
    }

    /// Whether there is a run.
    pub fn has(&self, run: RunInfo) -> bool {
        let places = self.places_of(run);
        places.iter().any(|p| p.header.behavior == self.behavior)
    }

    /// The outcome of a run, whatever behavior it is of, but of this one if there is one; none if
    /// it is not there.
    ///
    /// # Errors
    /// Why it cannot be used.
    pub fn outcome(&self, run: RunInfo, observed: bool) -> Result<Option<Outcome>, String> {
        let mut why = None;
        let mut places = self.places_of(run);
        places.sort_by_key(|p| p.header.behavior != self.behavior);
        for place in &places {
            match self.read(place, run, observed) {
                Ok(Some(found)) => return Ok(Some(found)),
                Ok(None) => drop(
                    why.get_or_insert_with(|| "it was stored without its time series".to_owned()),
                ),
                Err(damage) => why = Some(self.damaged(place, &damage)),
            }
        }
        let index = self.index();
        let unreadable = index.unreadable.first_key_value();
        let unreadable = unreadable.map(|(path, why)| format!("{}: {why}", path.display()));
        why.or(unreadable).map_or(Ok(None), Err)
    }

    fn damaged(&self, place: &Place, why: &str) -> String {
        let index = self.index();
        let path = index.files[place.file].path.display();
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
                    let frame = self.index().names.get(&(place.file, id)).copied();
                    let frame = frame.ok_or(Damage::Names)?;
                    let content = self.content(&frame).map_err(|_| Damage::Names)?;
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
                let path = self.index().files[place.file].path.clone();
                *reading = Some((place.file, File::open(path)?));
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
        let index = self.index();
        let unreadable = index.unreadable.iter();
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

    /// Whether something could be stored; if not, why is noted.
    fn stored(&self, written: io::Result<()>) -> bool {
        let why = written.err();
        let could = why.is_none();
        let mut made_anew = lock(&self.made_anew);
        made_anew.unwritable = made_anew
            .unwritable
            .take()
            .or_else(|| why.map(|e| e.to_string()));
        could
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
        let frames = frame(RUN, self.behavior, keys, &packed(&record)?)?;
        self.append(frames, Some(&named))
    }

    /// Appends frames, after these names if they are not there yet.
    fn append(&self, mut frames: Vec<u8>, named: Option<&Named>) -> io::Result<()> {
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
        let new = named.filter(|named| !names.contains(&named.id));
        if let Some(named) = new {
            let before = frame(NAMES, self.behavior, [named.id, 0], &named.content)?;
            frames.splice(0..0, before);
        }
        writer.append(&frames)?;
        names.extend(new.map(|named| named.id));
        Ok(())
    }
}

/// Why a run could not be made.
#[derive(Serialize, Deserialize)]
struct Failed {
    point: String,
    run: u32,
    seed: u64,
    cause: String,
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
        let mut places = self.places_of(run);
        if places.is_empty() && self.refresh() {
            places = self.places_of(run);
        }
        for place in &places {
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

    fn has(&self, run: RunInfo, observed: bool) -> bool {
        // Whether a run has its time series stands in it.
        (!observed && self.has(run)) || self.get(run, observed).is_some()
    }

    fn put(&self, run: RunInfo, observed: bool, outcome: &Outcome) -> bool {
        self.stored(self.write(run, observed, outcome))
    }

    fn failure(&self, run: RunInfo) -> Option<String> {
        let key = (self.behavior, self.key(run));
        let place = self.index().failed.get(&key).copied()?;
        let content = self.content(&place).ok()?;
        Some(unpacked::<Failed>(&content).ok()?.cause)
    }

    fn put_failure(&self, run: RunInfo, why: &Failure) {
        let failed = Failed {
            point: self.plan.variants[run.variant].name.clone(),
            run: run.run,
            seed: self.plan.seed,
            cause: why.to_string(),
        };
        let keys = [self.key(run), self.text(run)];
        let frame = packed(&failed).and_then(|f| frame(FAILED, self.behavior, keys, &f));
        self.stored(frame.and_then(|frame| self.append(frame, None)));
    }
}

/// Reads whatever a file may hold, as one who opens a directory would, for fuzzing: how many frames
/// it has.
///
/// # Errors
/// Why it is not read to its end, or what is wrong with the first frame that cannot be read.
pub fn inspect(bytes: &[u8]) -> Result<usize, String> {
    let (frames, why) = scan(io::Cursor::new(bytes), &mut 0).map_err(|e| e.to_string())?;
    for (header, at) in &frames {
        let content = bytes.get(*at as usize..);
        let content = content.and_then(|b| b.get(..header.length as usize));
        let content = content.filter(|c| header.is_of(c));
        let content = content.ok_or_else(|| Damage::Checksum.to_string())?;
        let read = match header.kind {
            RUN => unpacked::<Record>(content).map(drop),
            NAMES => Names::read(content).map(drop),
            STUDY => unpacked::<String>(content).map(drop),
            FAILED => unpacked::<Failed>(content).map(drop),
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
