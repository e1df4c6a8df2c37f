//! AQMs that a user writes as Python classes.
//!
//! A hook is called with two objects: the packet, which is one of its own for each call, and the
//! queue, which is the same in all calls and set anew.

use std::fmt;
use std::sync::Arc;

use pyo3::call::PyCallArgs;
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString, PyType};
use serde_json::{Map, Value};
use spillgate_core::{DropReason, Limit, Packet, Rate, Time, Verdict};
use spillgate_measure::Sampled;
use spillgate_queueing::{Backlog, CustomAqm, Draw, OwnAqm, OwnQueue, State};

use super::watch::{AqmError, Watch, said};
use super::{Onlooker, PacketView, QueueView};

/// What hooks answer, with what it means. An answer is mostly one of these objects, and known by
/// its address.
const ANSWERS: [(&str, Verdict); 4] = [
    ("pass", Verdict::Pass),
    ("mark", Verdict::Mark),
    ("drop", Verdict::Drop(DropReason::Early)),
    ("forced", Verdict::Drop(DropReason::Forced)),
];

/// Makes AQMs of a class.
#[derive(Debug)]
pub(super) struct Maker {
    class: Py<PyType>,
    identity: String,
    answers: [Py<PyString>; ANSWERS.len()],
    watch: Arc<Watch>,
}

impl Maker {
    /// For a class that a scenario calls `name`.
    ///
    /// # Errors
    /// ValueError if it is no class, or has none of the hooks.
    pub(super) fn new(
        name: &str,
        class: &Bound<'_, PyAny>,
        identity: String,
        watch: &Arc<Watch>,
    ) -> PyResult<Self> {
        let py = class.py();
        let class = class.cast::<PyType>().map_err(|_| {
            PyValueError::new_err(format!("the AQM `{name}` must be a class, not {class:?}"))
        })?;
        if !class.hasattr("on_enqueue")? && !class.hasattr("on_dequeue")? {
            let message = format!("{identity} has neither `on_enqueue` nor `on_dequeue`");
            return Err(PyValueError::new_err(message));
        }
        Ok(Self {
            class: class.clone().unbind(),
            identity,
            answers: ANSWERS.map(|(text, _)| PyString::intern(py, text).unbind()),
            watch: Arc::clone(watch),
        })
    }

    /// The hooks of an instance with what they are called with.
    fn live(&self, instance: Bound<'_, PyAny>, queue: &OwnQueue) -> PyResult<Live> {
        let py = instance.py();
        let mut hooks = [const { None }; HOOKS.len()];
        for (hook, name) in hooks.iter_mut().zip(HOOKS) {
            if let Some(call) = instance.getattr_opt(name)? {
                *hook = Some(Hook {
                    call: call.unbind(),
                    number: self.watch.number(&format!("{name} of {}", self.identity)),
                });
            }
        }
        let limit = match queue.limit {
            Limit::Packets(n) => Some(n),
            _ => None,
        };
        Ok(Live {
            hooks,
            instance: instance.unbind(),
            queue: Py::new(py, QueueView::new(queue.rate, limit))?,
        })
    }

    /// What an answer means.
    fn verdict(&self, answer: &Bound<'_, PyAny>) -> PyResult<Verdict> {
        if answer.is_none() {
            return Ok(Verdict::Pass);
        }
        let mut all = self.answers.iter().zip(ANSWERS);
        if let Some((_, (_, verdict))) = all.find(|(object, _)| answer.is(*object)) {
            return Ok(verdict);
        }
        // A text that was put together has another address.
        let text = answer.cast::<PyString>().map(|t| t.to_string());
        let mut all = ANSWERS.iter();
        let found = text
            .ok()
            .and_then(|text| all.find(|(word, _)| *word == text));
        found.map(|(_, verdict)| *verdict).ok_or_else(|| {
            AqmError::new_err(format!(
                "{} returned {answer:?}; a hook returns \"pass\" or None, \"mark\", \"drop\" or \"forced\"",
                self.watch.last()
            ))
        })
    }
}

/// A maker as the scenario has it.
#[derive(Debug)]
pub(super) struct Makes(pub(super) Arc<Maker>);

impl OwnAqm for Makes {
    fn identity(&self) -> String {
        self.0.identity.clone()
    }

    fn make(
        &self,
        settings: &Map<String, Value>,
        queue: &OwnQueue,
    ) -> Result<Box<dyn CustomAqm>, String> {
        let aqm = Of {
            maker: Arc::clone(&self.0),
            settings: settings.clone(),
            queue: *queue,
            live: None,
        };
        // Whether it takes these settings shows before anything runs.
        Python::attach(|py| aqm.begin(py).map(drop).map_err(|e| said(py, &e)))?;
        Ok(Box::new(aqm))
    }
}

/// The AQM of one queue.
struct Of {
    maker: Arc<Maker>,
    settings: Map<String, Value>,
    queue: OwnQueue,
    /// Its instance, from its first packet on.
    live: Option<Live>,
}

impl fmt::Debug for Of {
    // What it is decides what it does.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {:?}", self.maker.identity, self.settings)
    }
}

/// The hooks, as indices.
#[derive(Clone, Copy)]
enum On {
    Enqueue,
    Dequeue,
    Empty,
    Overflow,
    Exhausted,
}

/// Their names.
const HOOKS: [&str; 5] = [
    "on_enqueue",
    "on_dequeue",
    "on_empty",
    "on_overflow",
    "on_exhausted",
];

/// A hook of an instance.
struct Hook {
    call: Py<PyAny>,
    number: u64,
}

impl Hook {
    fn call<'py>(
        &self,
        py: Python<'py>,
        watch: &Watch,
        arguments: impl PyCallArgs<'py>,
    ) -> PyResult<Py<PyAny>> {
        watch.begins(self.number);
        let answer = self.call.call1(py, arguments);
        watch.ends();
        answer
    }
}

/// An instance of the class with what its hooks are called with.
struct Live {
    instance: Py<PyAny>,
    hooks: [Option<Hook>; HOOKS.len()],
    queue: Py<QueueView>,
}

/// What a hook is asked about.
struct Asked<'a> {
    now: Time,
    backlog: &'a Backlog,
    packet: &'a Packet,
}

impl Live {
    fn judge(
        &mut self,
        py: Python<'_>,
        maker: &Maker,
        on: On,
        asked: Asked<'_>,
        draw: &mut dyn Draw,
    ) -> PyResult<Verdict> {
        let Some(hook) = &self.hooks[on as usize] else {
            return Ok(Verdict::Pass);
        };
        // The stream is the hook's while it runs.
        let mut stream = draw.stream();
        let mut queue = self.queue.try_borrow_mut(py)?;
        queue.show(asked.now, asked.backlog);
        queue.rng = stream.as_deref().cloned();
        drop(queue);
        let packet = Bound::new(py, PacketView(*asked.packet))?;
        let answer = hook.call(py, &maker.watch, (packet, &self.queue));
        let rng = self.queue.try_borrow_mut(py)?.rng.take();
        if let (Some(stream), Some(rng)) = (&mut stream, rng) {
            **stream = rng;
        }
        maker.verdict(answer?.bind(py))
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

impl Of {
    /// A new instance.
    fn begin(&self, py: Python<'_>) -> PyResult<Live> {
        let settings = keywords(py, &self.settings)?;
        let instance = self.maker.class.bind(py).call((), Some(&settings))?;
        self.maker.live(instance, &self.queue)
    }

    /// Whether there is an instance, and it lacks a hook.
    fn lacks(&self, on: On) -> bool {
        let live = self.live.as_ref();
        live.is_some_and(|live| live.hooks[on as usize].is_none())
    }

    /// Does something with the instance; an exception ends the run.
    fn with<R>(&mut self, f: impl FnOnce(Python<'_>, &Maker, &mut Live) -> PyResult<R>) -> R {
        let done = Python::attach(|py| {
            if self.live.is_none() {
                self.live = Some(self.begin(py)?);
            }
            match &mut self.live {
                Some(live) => f(py, &self.maker, live),
                None => Err(PyRuntimeError::new_err("an AQM without an instance")),
            }
        });
        done.unwrap_or_else(|why| self.maker.watch.fail(why))
    }

    /// What a hook says of a packet.
    fn judge(&mut self, on: On, asked: Asked<'_>, draw: &mut dyn Draw) -> Verdict {
        if self.lacks(on) {
            return Verdict::Pass;
        }
        self.with(|py, maker, live| live.judge(py, maker, on, asked, draw))
    }

    /// Calls a hook with the queue alone: as it was told last, or at `now` and empty.
    fn tell(&mut self, on: On, now: Option<Time>) {
        if self.lacks(on) {
            return;
        }
        self.with(|py, maker, live| {
            if let Some(now) = now {
                let mut queue = live.queue.try_borrow_mut(py)?;
                queue.show(now, &Backlog::default());
            }
            match &live.hooks[on as usize] {
                Some(hook) => hook.call(py, &maker.watch, (&live.queue,)).map(drop),
                None => Ok(()),
            }
        });
    }
}

impl CustomAqm for Of {
    fn arrival(
        &mut self,
        now: Time,
        backlog: &Backlog,
        packet: &Packet,
        draw: &mut dyn Draw,
    ) -> Verdict {
        let asked = Asked {
            now,
            backlog,
            packet,
        };
        self.judge(On::Enqueue, asked, draw)
    }

    fn departure(
        &mut self,
        now: Time,
        backlog: &Backlog,
        packet: &Packet,
        draw: &mut dyn Draw,
    ) -> Verdict {
        let asked = Asked {
            now,
            backlog,
            packet,
        };
        self.judge(On::Dequeue, asked, draw)
    }

    fn set_rate(&mut self, rate: Rate) {
        self.queue.rate = rate;
        if self.live.is_some() {
            self.with(|py, _, live| {
                live.queue.try_borrow_mut(py)?.set_rate(rate);
                Ok(())
            });
        }
    }

    fn overflowed(&mut self) {
        self.tell(On::Overflow, None);
    }

    fn emptied(&mut self, at: Time) {
        self.tell(On::Empty, Some(at));
    }

    fn exhausted(&mut self, now: Time) {
        self.tell(On::Exhausted, Some(now));
    }

    fn state(&self, _: Time) -> State {
        let read = Python::attach(|py| {
            // What it shows is known before its first packet.
            let begun = match &self.live {
                Some(_) => None,
                None => Some(self.begin(py)?),
            };
            match self.live.as_ref().or(begun.as_ref()) {
                Some(live) => shown(live.instance.bind(py), &self.maker.identity),
                None => Ok(State::new()),
            }
        });
        read.unwrap_or_else(|why| self.maker.watch.fail(why))
    }

    fn boxed(&self) -> Box<dyn CustomAqm> {
        if self.live.is_some() {
            return Box::new(Onlooker);
        }
        Box::new(Self {
            maker: Arc::clone(&self.maker),
            settings: self.settings.clone(),
            queue: self.queue,
            live: None,
        })
    }
}

/// What time series show of an instance.
fn shown(instance: &Bound<'_, PyAny>, identity: &str) -> PyResult<State> {
    let Some(state) = instance.getattr_opt("state")? else {
        return Ok(State::new());
    };
    let wrong = |what: String| AqmError::new_err(format!("state of {identity} {what}"));
    let state = state.call0()?;
    let Ok(state) = state.cast::<PyDict>() else {
        return Err(wrong(format!(
            "returned {state:?}; it returns a dictionary"
        )));
    };
    let all = state.iter().map(|(name, value)| {
        let name = name.to_string();
        let known = Sampled::ALL.iter().find(|s| s.name() == name);
        let Some(known) = known else {
            let known: Vec<_> = Sampled::ALL.iter().map(|s| s.name()).collect();
            let known = known.join(", ");
            return Err(wrong(format!("has `{name}`; series are called {known}")));
        };
        Ok((known.name(), value.extract::<f64>()?))
    });
    all.collect()
}
