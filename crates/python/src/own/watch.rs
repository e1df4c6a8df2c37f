//! What all hooks of a run share: which one runs, and what ended the run.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use pyo3::prelude::*;
use spillgate_queueing::fail;

use super::instance::Kind;

pyo3::create_exception!(
    spillgate._native,
    HookError,
    pyo3::exceptions::PyException,
    "A hook of one's own failed; the cause is what it raised, if it raised."
);
pyo3::create_exception!(
    spillgate._native,
    AqmError,
    HookError,
    "A hook of an AQM of one's own failed."
);
pyo3::create_exception!(
    spillgate._native,
    SchedulerError,
    HookError,
    "A hook of a scheduler of one's own failed."
);

/// What all of a run's hooks share.
#[derive(Debug, Default)]
pub(crate) struct Watch {
    /// Calls that have begun and ended: odd while one is under way.
    calls: AtomicU64,
    /// The thread that calls, by the interpreter's number.
    thread: AtomicU64,
    /// Which hook was called last, as an index into [`Watch::names`].
    last: AtomicU64,
    names: Mutex<Vec<(String, &'static Kind)>>,
    /// The first exception.
    raised: Mutex<Option<PyErr>>,
}

impl Watch {
    /// The number of calls that have begun and ended, and the hook that is under way with the kind
    /// of its class, if one is.
    pub(crate) fn under_way(&self) -> (u64, Option<(String, &'static str)>) {
        let calls = self.calls.load(Ordering::Relaxed);
        let hook = self.called().filter(|_| calls % 2 == 1);
        (calls, hook.map(|(name, kind)| (name, kind.name)))
    }

    /// The thread that calls hooks, by the interpreter's number.
    pub(crate) fn thread(&self) -> u64 {
        self.thread.load(Ordering::Relaxed)
    }

    /// The exception that ended the run.
    pub(crate) fn raised(&self, py: Python<'_>) -> Option<PyErr> {
        let raised = lock(&self.raised);
        raised.as_ref().map(|why| why.clone_ref(py))
    }

    /// The hook that was called last.
    pub(super) fn last(&self) -> String {
        let called = self.called();
        called.map_or_else(|| "a class".to_owned(), |(name, _)| name)
    }

    fn called(&self) -> Option<(String, &'static Kind)> {
        let last = self.last.load(Ordering::Relaxed) as usize;
        lock(&self.names).get(last).cloned()
    }

    /// The hook of this number is called.
    pub(super) fn begins(&self, hook: u64) {
        self.last.store(hook, Ordering::Relaxed);
        self.calls.fetch_add(1, Ordering::Relaxed);
    }

    /// It has returned.
    pub(super) fn ends(&self) {
        self.calls.fetch_add(1, Ordering::Relaxed);
    }

    /// Hooks are called by this thread.
    pub(super) fn called_by(&self, thread: u64) {
        self.thread.store(thread, Ordering::Relaxed);
    }

    /// The number of a hook of this kind by its name.
    pub(super) fn number(&self, hook: String, kind: &'static Kind) -> u64 {
        let mut names = lock(&self.names);
        let known = names.iter().position(|(name, _)| *name == hook);
        let number = known.unwrap_or_else(|| {
            names.push((hook, kind));
            names.len() - 1
        });
        number as u64
    }

    /// Ends the run with an exception: one of ours as it is, any other as the cause of one that
    /// names the hook.
    pub(super) fn fail(&self, why: PyErr, kind: &Kind) -> ! {
        let (error, text) = Python::attach(|py| {
            if why.is_instance_of::<HookError>(py) {
                let text = why.value(py).to_string();
                return (why, text);
            }
            let text = format!("{} raised {}", self.last(), said(py, &why));
            let error = kind.error(text.clone());
            error.set_cause(py, Some(why));
            (error, text)
        });
        lock(&self.raised).get_or_insert(error);
        fail(text)
    }
}

/// An exception in a line.
pub(super) fn said(py: Python<'_>, why: &PyErr) -> String {
    let kind = why.get_type(py).name();
    let kind = kind.map_or_else(|_| String::new(), |n| n.to_string());
    match why.value(py).to_string() {
        text if text.is_empty() => kind,
        text => format!("{kind}: {text}"),
    }
}

fn lock<T>(of: &Mutex<T>) -> MutexGuard<'_, T> {
    of.lock().unwrap_or_else(PoisonError::into_inner)
}
