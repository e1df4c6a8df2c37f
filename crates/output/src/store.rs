//! Runs on disk, each in a file of its own under the key of what decides it, so that none is made
//! twice: a study is resumed, extended, or judged again by asking for its runs once more.
//!
//! A file is called `KEY-VERSION.run`. It appears whole: it is written first under a name that
//! nobody else has, whatever else is at work in the directory.

mod record;

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, DirEntry, File};
use std::io::{self, ErrorKind, Write as _};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use spillgate_core::Digest;
use spillgate_core::rng::hash_bytes;
use spillgate_scenario::key::Keys;
use spillgate_scenario::plan::{Plan, WorldPlan};
use spillgate_sim::{Engine, Outcome, RunInfo, Shelf};

pub use record::{Damage, decode, encode, sealed};

const ENDING: &str = ".run";
/// Files that are being written end so.
const PARTIAL: &str = ".partial";
/// How long ago a file was last written that nobody writes any more: writing one takes seconds.
const ABANDONED: Duration = Duration::from_secs(86_400);

/// A directory of stored runs, opened for the runs of a plan on an engine.
pub struct Store {
    directory: PathBuf,
    version: String,
    engine: Engine,
    plan: Arc<Plan>,
    /// By point.
    keys: Vec<u128>,
    /// Keys of the runs that only other versions have made, with one of these versions.
    elsewhere: BTreeMap<String, String>,
    made_anew: Mutex<MadeAnew>,
}

/// What could not be used or kept.
#[derive(Default)]
struct MadeAnew {
    damaged: BTreeMap<PathBuf, String>,
    /// By version.
    versions: BTreeMap<String, u32>,
    unwritable: Option<String>,
}

impl Store {
    /// Opens a directory, which is made if it is not there. Runs of other versions than `version`,
    /// a text without separators of paths, and of the other engine are not used.
    ///
    /// # Errors
    /// If the directory can be neither read nor made.
    pub fn open(
        directory: &Path,
        version: &str,
        engine: Engine,
        plan: Arc<Plan>,
    ) -> io::Result<Self> {
        fs::create_dir_all(directory)?;
        let mut there = BTreeSet::new();
        let mut elsewhere = BTreeMap::new();
        for entry in fs::read_dir(directory)? {
            let entry = entry?;
            let name = entry.file_name();
            let name = name.to_str().unwrap_or_default();
            if name.ends_with(PARTIAL) && is_abandoned(&entry) {
                // Another that opens the directory may have been faster.
                let _ = fs::remove_file(entry.path());
            }
            let parts = name
                .strip_suffix(ENDING)
                .and_then(|name| name.split_once('-'));
            let Some((key, made_by)) = parts else {
                continue;
            };
            match made_by == version {
                true => drop(there.insert(key.to_owned())),
                false => drop(elsewhere.insert(key.to_owned(), made_by.to_owned())),
            }
        }
        elsewhere.retain(|key, _| !there.contains(key));
        let mut keys = Keys::default();
        let keys = plan.variants.iter().map(|v| keys.of(&v.world)).collect();
        Ok(Self {
            directory: directory.to_owned(),
            version: version.to_owned(),
            engine,
            plan,
            keys,
            elsewhere,
            made_anew: Mutex::default(),
        })
    }

    /// 32 hexadecimal digits for what decides a run: the point, the seed, the number of the run;
    /// and the engine, as a run of one that is answered with a run of the other would check
    /// nothing.
    pub fn key(&self, run: RunInfo) -> String {
        let point = self.keys[run.variant];
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
        digest.hex()
    }

    /// What the file of a run is called.
    pub fn file_name(&self, run: RunInfo) -> String {
        format!("{}-{}{ENDING}", self.key(run), self.version)
    }

    /// What was there and had to be made anew, and what could not be stored; sentences for the
    /// user.
    pub fn notes(&self) -> Vec<String> {
        let found = self.made_anew();
        let damaged = found.damaged.iter().map(|(path, why)| {
            format!("{} is damaged: {why}; its run is made anew", path.display())
        });
        let versions = found.versions.iter().map(|(version, n)| {
            let runs = if *n == 1 { "run is" } else { "runs are" };
            format!("{n} stored {runs} of version {version}: made anew by this one")
        });
        let unwritable = found.unwritable.iter();
        let unwritable = unwritable.map(|why| format!("not every run could be stored: {why}"));
        damaged.chain(versions).chain(unwritable).collect()
    }

    fn made_anew(&self) -> std::sync::MutexGuard<'_, MadeAnew> {
        self.made_anew
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    fn world(&self, run: RunInfo) -> &WorldPlan {
        &self.plan.variants[run.variant].world
    }

    /// Writes a file of the directory, which appears whole.
    fn write(&self, name: &str, bytes: &[u8]) {
        let written = self.partial().and_then(|(mut file, partial)| {
            let done = file
                .write_all(bytes)
                .and_then(|()| fs::rename(&partial, self.directory.join(name)));
            if done.is_err() {
                // What is left of it would only take room.
                let _ = fs::remove_file(&partial);
            }
            done
        });
        if let Err(why) = written {
            self.made_anew()
                .unwritable
                .get_or_insert_with(|| why.to_string());
        }
    }

    /// A new file under a name of its own: of other stores in this process, of processes that have
    /// its number in another container, and of those that were killed, files have other names.
    fn partial(&self) -> io::Result<(File, PathBuf)> {
        let mut number = 0_u64;
        loop {
            let name = format!("{}-{number}{PARTIAL}", std::process::id());
            let path = self.directory.join(name);
            match File::create_new(&path) {
                Ok(file) => return Ok((file, path)),
                Err(e) if e.kind() == ErrorKind::AlreadyExists => number += 1,
                Err(e) => return Err(e),
            }
        }
    }
}

/// Whether nobody writes a file any more.
fn is_abandoned(entry: &DirEntry) -> bool {
    let written = entry.metadata().and_then(|m| m.modified());
    // A file of the future is left alone.
    let age = written.ok().and_then(|at| at.elapsed().ok());
    age.is_some_and(|age| age > ABANDONED)
}

impl Shelf for Store {
    fn get(&self, run: RunInfo, observed: bool) -> Option<Outcome> {
        let path = self.directory.join(self.file_name(run));
        let found = match fs::read(&path) {
            Ok(bytes) => decode(&self.key(run), &bytes, self.world(run), observed)
                .map_err(|why| why.to_string()),
            Err(e) if e.kind() == ErrorKind::NotFound => {
                if let Some(version) = self.elsewhere.get(&self.key(run)) {
                    *self
                        .made_anew()
                        .versions
                        .entry(version.clone())
                        .or_default() += 1;
                }
                return None;
            }
            Err(e) => Err(e.to_string()),
        };
        found.unwrap_or_else(|why| {
            self.made_anew().damaged.insert(path, why);
            None
        })
    }

    fn put(&self, run: RunInfo, observed: bool, outcome: &Outcome) {
        let bytes = encode(&self.key(run), outcome, self.world(run), observed);
        self.write(&self.file_name(run), &bytes);
    }
}
