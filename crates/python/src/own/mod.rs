//! AQMs and schedulers of a user's own.

mod aqm;
mod instance;
mod library;
mod port;
mod scheduler;
mod views;
mod watch;

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::path::PathBuf;
use std::sync::Arc;

use pyo3::prelude::*;
use serde_json::{Map, Value};
use spillgate_core::{DropReason, Packet, Rng, Time, Verdict};
use spillgate_queueing::{Backlog, CustomAqm, CustomDiscipline, Draw, OwnPart, OwnQueue, fail};
use spillgate_scenario::{Diagnostic, Diagnostics, codes};
use spillgate_sim::{Around, Failure};

use crate::job::input_error;
use instance::Class;
use library::{Compiled, Functions};
pub(crate) use port::PortView;
pub(crate) use views::{BacklogView, PacketView, QueueView};
use watch::Watch;
pub(crate) use watch::{AqmError, HookError, SchedulerError};

/// Parts by name, each with what tells it from others; nothing of runs that are only read.
type Named<'py> = BTreeMap<String, (Option<Part<'py>>, String)>;

/// What a user gives beside a scenario.
#[derive(Default, FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct Parts<'py> {
    aqm: Named<'py>,
    scheduler: Named<'py>,
}

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
        let classes = || parts.aqm.values().chain(parts.scheduler.values());
        let interpreted = classes().any(|(part, _)| matches!(part, Some(Part::Class(_))));
        let aqms = parts
            .aqm
            .into_iter()
            .try_for_each(|(name, (part, identity))| {
                given.aqm(&name, an_aqm(py, &name, part, identity, &watch)?)
            });
        let all = aqms.and_then(|()| {
            let mut schedulers = parts.scheduler.into_iter();
            schedulers.try_for_each(|(name, (part, identity))| {
                given.scheduler(&name, a_scheduler(&name, part, identity, &watch)?)
            })
        });
        all.map_err(|why| {
            let d = Diagnostic::error(codes::BAD_NAME, why);
            input_error(py, &Diagnostics(vec![d]))
        })?;
        Ok(Self {
            given,
            watch,
            interpreted,
        })
    }

    /// What `work` gives, which calls hooks; that one of them failed is raised.
    pub(crate) fn repeat<R: Send>(
        &self,
        py: Python<'_>,
        work: impl FnOnce() -> R + Send,
    ) -> PyResult<R> {
        let done = py.detach(|| catch_unwind(AssertUnwindSafe(work)));
        done.map_err(|cause| match Failure::of_panic(&*cause) {
            Failure::Own(text) => self.raised(py, text),
            _ => resume_unwind(cause),
        })
    }

    /// What a hook raised that ended a run; `text` says the same.
    pub(crate) fn raised(&self, py: Python<'_>, text: String) -> PyErr {
        let raised = self.watch.raised(py);
        raised.unwrap_or_else(|| HookError::new_err(text))
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

/// An AQM of what is given.
fn an_aqm(
    py: Python<'_>,
    name: &str,
    part: Option<Part<'_>>,
    identity: String,
    watch: &Arc<Watch>,
) -> Result<Arc<dyn OwnPart<dyn CustomAqm>>, String> {
    let compiled = |functions| Arc::new(Compiled(Arc::new(functions))) as _;
    match part {
        Some(Part::Class(class)) => Class::new(&aqm::KIND, name, &class, identity, watch)
            .map(|class| Arc::new(aqm::Makes::new(py, class)) as _),
        Some(Part::Library(path)) => Functions::load(name, &path, identity).map(compiled),
        Some(Part::Functions(at)) => Functions::at(name, at, identity).map(compiled),
        None => Ok(Arc::new(Absent::new(name, identity))),
    }
}

/// A scheduler of what is given.
fn a_scheduler(
    name: &str,
    part: Option<Part<'_>>,
    identity: String,
    watch: &Arc<Watch>,
) -> Result<Arc<dyn OwnPart<dyn CustomDiscipline>>, String> {
    match part {
        Some(Part::Class(class)) => Class::new(&scheduler::KIND, name, &class, identity, watch)
            .map(|class| Arc::new(scheduler::Makes::new(class)) as _),
        Some(_) => Err(format!(
            "the scheduler `{name}` must be a class; libraries and functions are for AQMs"
        )),
        None => Ok(Arc::new(Absent::new(name, identity))),
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

/// A part that is known by name alone, of runs that are read.
#[derive(Clone, Debug)]
struct Absent {
    name: String,
    identity: String,
}

impl Absent {
    fn new(name: &str, identity: String) -> Self {
        let name = name.to_owned();
        Self { name, identity }
    }

    fn asked(&self) -> ! {
        let identity = &self.identity;
        fail(format!(
            "{identity} is not given, without which nothing can be run"
        ))
    }
}

impl OwnPart<dyn CustomAqm> for Absent {
    fn identity(&self) -> String {
        self.identity.clone()
    }

    fn make(&self, _: &Map<String, Value>, _: &OwnQueue) -> Result<Box<dyn CustomAqm>, String> {
        Ok(CustomAqm::boxed(self))
    }
}

impl CustomAqm for Absent {
    fn arrival(&mut self, _: Time, _: &Backlog, _: &Packet, _: &mut dyn Draw) -> Verdict {
        self.asked()
    }

    fn boxed(&self) -> Box<dyn CustomAqm> {
        Box::new(self.clone())
    }
}

impl OwnPart<dyn CustomDiscipline> for Absent {
    fn identity(&self) -> String {
        self.identity.clone()
    }

    fn make(
        &self,
        _: &Map<String, Value>,
        _: &OwnQueue,
    ) -> Result<Box<dyn CustomDiscipline>, String> {
        Ok(CustomDiscipline::boxed(self))
    }
}

impl CustomDiscipline for Absent {
    fn name(&self) -> &str {
        &self.name
    }

    fn enqueue(
        &mut self,
        _: Time,
        _: Packet,
        _: &mut Rng,
        _: &mut dyn FnMut(Packet, DropReason),
    ) -> Result<(), DropReason> {
        self.asked()
    }

    fn dequeue(
        &mut self,
        _: Time,
        _: &mut Rng,
        _: &mut dyn FnMut(Packet, DropReason),
    ) -> Option<(Packet, bool)> {
        self.asked()
    }

    fn flush(&mut self, _: &mut dyn FnMut(Packet)) {}

    fn boxed(&self) -> Box<dyn CustomDiscipline> {
        Box::new(self.clone())
    }
}
