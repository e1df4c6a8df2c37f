//! What classes of all kinds share: how one is made for a queue, and how its hooks are called.

use std::fmt;
use std::sync::Arc;

use pyo3::call::PyCallArgs;
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString, PyType};
use serde_json::{Map, Value};
use spillgate_queueing::OwnQueue;

use super::watch::{Watch, said};
use super::{AqmError, SchedulerError};

/// A kind of classes.
#[derive(Debug)]
pub(super) struct Kind {
    /// What one is.
    pub(super) name: &'static str,
    /// The hooks that a class may have.
    pub(super) hooks: &'static [&'static str],
    /// Those of which it has one at least, or all if `all`.
    pub(super) needed: &'static [&'static str],
    pub(super) all: bool,
}

impl Kind {
    /// What `class` lacks, if it lacks something.
    fn lacks(&self, class: &Bound<'_, PyType>) -> PyResult<Option<String>> {
        let mut missing = Vec::new();
        for hook in self.needed {
            if !class.hasattr(hook)? {
                missing.push(format!("`{hook}`"));
            }
        }
        Ok(match (missing.len(), self.all) {
            (0, _) => None,
            (_, true) => Some(format!("no {}", missing.join(" and no "))),
            (n, false) if n < self.needed.len() => None,
            (_, false) => Some(format!("neither {}", missing.join(" nor "))),
        })
    }

    /// An error of one of its hooks.
    pub(super) fn error(&self, text: String) -> PyErr {
        match self.name {
            "scheduler" => SchedulerError::new_err(text),
            _ => AqmError::new_err(text),
        }
    }
}

/// A class that a scenario calls by a name.
#[derive(Debug)]
pub(super) struct Class {
    class: Py<PyType>,
    pub(super) name: String,
    pub(super) identity: String,
    pub(super) kind: &'static Kind,
    pub(super) watch: Arc<Watch>,
}

impl Class {
    /// For a class that a scenario calls `name`.
    ///
    /// # Errors
    /// Why it cannot be of this kind, in a sentence without a period.
    pub(super) fn new(
        kind: &'static Kind,
        name: &str,
        class: &Bound<'_, PyAny>,
        identity: String,
        watch: &Arc<Watch>,
    ) -> Result<Self, String> {
        let of = kind.name;
        let Ok(class) = class.cast::<PyType>() else {
            return Err(format!("the {of} `{name}` must be a class, not {class:?}"));
        };
        let lacks = kind.lacks(class);
        if let Some(lacks) = lacks.map_err(|why| said(class.py(), &why))? {
            return Err(format!("{identity} has {lacks}"));
        }
        Ok(Self {
            class: class.clone().unbind(),
            name: name.to_owned(),
            identity,
            kind,
            watch: Arc::clone(watch),
        })
    }

    /// An error of the hook that was called last: it `did` something.
    pub(super) fn error(&self, did: fmt::Arguments<'_>) -> PyErr {
        self.kind.error(format!("{} {did}", self.watch.last()))
    }
}

/// A hook of an instance.
pub(super) struct Hook {
    call: Py<PyAny>,
    number: u64,
}

impl Hook {
    pub(super) fn call<'py>(
        &self,
        py: Python<'py>,
        watch: &Watch,
        arguments: impl PyCallArgs<'py>,
    ) -> PyResult<Bound<'py, PyAny>> {
        watch.begins(self.number);
        let answer = self.call.bind(py).call1(arguments);
        watch.ends();
        answer
    }
}

/// An instance of a class with its hooks, in the order of [`Kind::hooks`].
pub(super) struct Instance {
    pub(super) object: Py<PyAny>,
    /// What it is and where, for messages.
    pub(super) whose: String,
    hooks: Vec<Option<Hook>>,
}

impl Instance {
    pub(super) fn hook(&self, on: usize) -> Option<&Hook> {
        self.hooks.get(on).and_then(Option::as_ref)
    }
}

/// What serves one queue: an instance with what its hooks are called with.
pub(super) trait Serves: Sized {
    /// Around a new instance, for a queue.
    fn begin(
        py: Python<'_>,
        class: &Arc<Class>,
        instance: Instance,
        queue: &OwnQueue,
    ) -> PyResult<Self>;

    fn instance(&self) -> &Instance;
}

/// The place of a class at one queue.
pub(super) struct Seat<L> {
    pub(super) class: Arc<Class>,
    settings: Map<String, Value>,
    pub(super) queue: OwnQueue,
    /// The name of its port, where that is told.
    pub(super) port: Option<String>,
    /// What serves it, from its first packet on.
    pub(super) live: Option<L>,
}

impl<L> fmt::Debug for Seat<L> {
    // What it is decides what it does.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {:?}", self.class.identity, self.settings)
    }
}

impl<L: Serves> Seat<L> {
    /// One in its initial state, once it is clear that the class takes these settings.
    ///
    /// # Errors
    /// Why it does not.
    pub(super) fn new(
        class: &Arc<Class>,
        settings: &Map<String, Value>,
        queue: &OwnQueue,
    ) -> Result<Self, String> {
        let seat = Self {
            class: Arc::clone(class),
            settings: settings.clone(),
            queue: *queue,
            port: None,
            live: None,
        };
        Python::attach(|py| seat.begin(py).map(drop).map_err(|e| said(py, &e)))?;
        Ok(seat)
    }

    /// The same for another queue, in its initial state.
    pub(super) fn fresh(&self) -> Self {
        Self {
            class: Arc::clone(&self.class),
            settings: self.settings.clone(),
            port: self.port.clone(),
            live: None,
            ..*self
        }
    }

    /// A new instance.
    pub(super) fn begin(&self, py: Python<'_>) -> PyResult<L> {
        let settings = keywords(py, &self.settings)?;
        let object = self.class.class.bind(py).call((), Some(&settings))?;
        let (kind, whose) = (self.class.kind, self.whose());
        let mut hooks = Vec::new();
        for name in kind.hooks {
            let call = object.getattr_opt(*name)?;
            hooks.push(call.map(|call| Hook {
                call: call.unbind(),
                number: self.class.watch.number(format!("{name} of {whose}"), kind),
            }));
        }
        let instance = Instance {
            object: object.unbind(),
            whose,
            hooks,
        };
        L::begin(py, &self.class, instance, &self.queue)
    }

    /// What the instance is and where, for messages.
    fn whose(&self) -> String {
        let Class {
            name,
            identity,
            kind,
            ..
        } = &*self.class;
        let port = self.port.as_ref();
        let at = port.map_or_else(String::new, |port| format!(" at `{port}`"));
        format!("the {} `{name}`{at} ({identity})", kind.name)
    }

    /// Whether there is an instance, and it lacks a hook.
    pub(super) fn lacks(&self, on: usize) -> bool {
        let live = self.live.as_ref();
        live.is_some_and(|live| live.instance().hook(on).is_none())
    }

    /// Does something with the instance; an exception ends the run.
    pub(super) fn with<R>(
        &mut self,
        f: impl FnOnce(Python<'_>, &Class, &mut L) -> PyResult<R>,
    ) -> R {
        let done = Python::attach(|py| {
            if self.live.is_none() {
                self.live = Some(self.begin(py)?);
            }
            match &mut self.live {
                Some(live) => f(py, &self.class, live),
                None => Err(PyRuntimeError::new_err("a queue without an instance")),
            }
        });
        done.unwrap_or_else(|why| self.class.fail(why))
    }
}

impl Class {
    /// Ends the run with an exception.
    pub(super) fn fail(&self, why: PyErr) -> ! {
        self.watch.fail(why, self.kind)
    }
}

/// The words that hooks answer with, and what each means. An answer is mostly one of these objects,
/// and known by its address.
#[derive(Debug)]
pub(super) struct Words<T: 'static> {
    objects: Vec<Py<PyString>>,
    meant: &'static [(&'static str, T)],
}

impl<T: Copy> Words<T> {
    pub(super) fn new(py: Python<'_>, meant: &'static [(&'static str, T)]) -> Self {
        let texts = meant.iter();
        Self {
            objects: texts
                .map(|(text, _)| PyString::intern(py, text).unbind())
                .collect(),
            meant,
        }
    }

    /// What an answer means, if it is one of them.
    pub(super) fn find(&self, answer: &Bound<'_, PyAny>) -> Option<T> {
        let mut all = self.objects.iter().zip(self.meant);
        if let Some((_, (_, meant))) = all.find(|(object, _)| answer.is(*object)) {
            return Some(*meant);
        }
        // A text that was put together has another address.
        let text = answer.cast::<PyString>().ok()?.to_string();
        let found = self.meant.iter().find(|(word, _)| *word == text);
        found.map(|(_, meant)| *meant)
    }
}

/// JSON as Python has it.
fn value<'py>(py: Python<'py>, of: &Value) -> PyResult<Bound<'py, PyAny>> {
    Ok(match of {
        Value::Null => py.None().into_bound(py),
        Value::Bool(b) => b.into_pyobject(py)?.to_owned().into_any(),
        Value::Number(n) => match (n.as_i64(), n.as_u64()) {
            (Some(n), _) => n.into_pyobject(py)?.into_any(),
            (_, Some(n)) => n.into_pyobject(py)?.into_any(),
            _ => n.as_f64().into_pyobject(py)?,
        },
        Value::String(s) => s.into_pyobject(py)?.into_any(),
        Value::Array(items) => {
            let items = items.iter().map(|v| value(py, v));
            items.collect::<PyResult<Vec<_>>>()?.into_pyobject(py)?
        }
        Value::Object(entries) => keywords(py, entries)?.into_any(),
    })
}

fn keywords<'py>(py: Python<'py>, entries: &Map<String, Value>) -> PyResult<Bound<'py, PyDict>> {
    let all = PyDict::new(py);
    for (key, v) in entries {
        all.set_item(key, value(py, v)?)?;
    }
    Ok(all)
}
