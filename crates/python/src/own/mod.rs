//! AQMs of a user's own.

mod class;
mod library;
mod views;
mod watch;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use pyo3::prelude::*;
use serde_json::{Map, Value};
use spillgate_core::{Packet, Time, Verdict};
use spillgate_queueing::{Backlog, CustomAqm, Draw, OwnAqm, OwnQueue, fail};
use spillgate_scenario::{Diagnostic, Diagnostics, codes};
use spillgate_sim::Around;

use crate::job::input_error;
use class::{Maker, Makes};
use library::{Compiled, Functions};
pub(crate) use views::{PacketView, QueueView};
pub(crate) use watch::AqmError;
use watch::Watch;

/// Parts by name, each with what tells it from others; nothing of runs that are only read.
pub(crate) type Parts<'py> = BTreeMap<String, (Option<Part<'py>>, String)>;

/// What a user gives.
#[derive(FromPyObject)]
pub(crate) enum Part<'py> {
    /// The addresses of functions, and the bytes of their state.
    Functions((usize, usize, usize)),
    /// A shared library.
    Library(PathBuf),
    /// A class.
    Class(Bound<'py, PyAny>),
}

/// What a scenario is given of the user's own.
#[derive(Debug)]
pub(crate) struct Own {
    pub(crate) given: spillgate_scenario::Own,
    pub(crate) watch: Arc<Watch>,
    /// Whether some are classes, so that runs need the interpreter.
    pub(crate) interpreted: bool,
}

impl Own {
    /// For these parts.
    ///
    /// # Errors
    /// InputError of what is no class with hooks and no library, or of a name that cannot be one.
    pub(crate) fn new(py: Python<'_>, parts: Parts<'_>) -> PyResult<Self> {
        let mut given = spillgate_scenario::Own::default();
        let watch = Arc::new(Watch::default());
        let mut interpreted = false;
        for (name, (part, identity)) in parts {
            interpreted |= matches!(part, Some(Part::Class(_)));
            let compiled = |functions| Arc::new(Compiled(Arc::new(functions))) as _;
            let maker: Result<Arc<dyn OwnAqm>, String> = match &part {
                Some(Part::Class(class)) => Maker::new(&name, class, identity, &watch)
                    .map(|maker| Arc::new(Makes(Arc::new(maker))) as _)
                    .map_err(|why| why.value(py).to_string()),
                Some(Part::Library(path)) => Functions::load(&name, path, identity).map(compiled),
                Some(Part::Functions(at)) => Functions::at(&name, *at, identity).map(compiled),
                None => Ok(Arc::new(Absent { identity })),
            };
            let given = maker.and_then(|maker| given.aqm(&name, maker));
            given.map_err(|why| {
                let d = Diagnostic::error(codes::BAD_NAME, why);
                input_error(py, &Diagnostics(vec![d]))
            })?;
        }
        Ok(Self {
            given,
            watch,
            interpreted,
        })
    }

    /// What is around runs with such parts: the interpreter, which is not taken anew for each call.
    pub(crate) fn around(&self) -> Option<Around> {
        let watch = Arc::clone(&self.watch);
        let attached = move |work: &(dyn Fn() + Sync)| {
            Python::attach(|py| {
                let number = || py.import("threading")?.call_method0("get_ident")?.extract();
                watch.called_by(number().unwrap_or(0));
                work();
            });
        };
        self.interpreted.then(|| Around(Arc::new(attached)))
    }
}

/// In place of an AQM in a copy of a queue that is in use: a run makes one at its end, to see what
/// still waits, and asks nobody.
#[derive(Clone, Debug)]
struct Onlooker;

impl CustomAqm for Onlooker {
    fn boxed(&self) -> Box<dyn CustomAqm> {
        Box::new(self.clone())
    }
}

/// An AQM that is known by name alone, of runs that are read.
#[derive(Clone, Debug)]
struct Absent {
    identity: String,
}

impl OwnAqm for Absent {
    fn identity(&self) -> String {
        self.identity.clone()
    }

    fn make(&self, _: &Map<String, Value>, _: &OwnQueue) -> Result<Box<dyn CustomAqm>, String> {
        Ok(self.boxed())
    }
}

impl CustomAqm for Absent {
    fn arrival(&mut self, _: Time, _: &Backlog, _: &Packet, _: &mut dyn Draw) -> Verdict {
        let identity = &self.identity;
        fail(format!(
            "{identity} is not given, without which nothing can be run"
        ))
    }

    fn boxed(&self) -> Box<dyn CustomAqm> {
        Box::new(self.clone())
    }
}
