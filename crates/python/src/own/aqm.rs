//! AQMs that a user writes as Python classes.
//!
//! A hook is called with two objects: the packet, which is one of its own for each call, and the
//! queue, which is the same in all calls and set anew.

use std::sync::Arc;

use pyo3::prelude::*;
use pyo3::types::PyDict;
use serde_json::{Map, Value};
use spillgate_core::{DropReason, Limit, Packet, Rate, Time, Verdict};
use spillgate_measure::Sampled;
use spillgate_queueing::{Backlog, CustomAqm, Draw, OwnPart, OwnQueue, State};

use super::instance::{Class, Instance, Kind, Seat, Serves, Words};
use super::{Onlooker, PacketView, QueueView};

pub(super) static KIND: Kind = Kind {
    name: "AQM",
    hooks: &[
        "on_enqueue",
        "on_dequeue",
        "on_empty",
        "on_overflow",
        "on_exhausted",
    ],
    needed: &["on_enqueue", "on_dequeue"],
    all: false,
};

/// The hooks, in the order of [`KIND`].
#[derive(Clone, Copy)]
enum On {
    Enqueue,
    Dequeue,
    Empty,
    Overflow,
    Exhausted,
}

/// What hooks answer, with what it means.
const ANSWERS: &[(&str, Verdict)] = &[
    ("pass", Verdict::Pass),
    ("mark", Verdict::Mark),
    ("drop", Verdict::Drop(DropReason::Early)),
    ("forced", Verdict::Drop(DropReason::Forced)),
];

/// Makes AQMs of a class.
pub(super) struct Makes {
    class: Arc<Class>,
    words: Arc<Words<Verdict>>,
}

impl Makes {
    pub(super) fn new(py: Python<'_>, class: Class) -> Self {
        Self {
            class: Arc::new(class),
            words: Arc::new(Words::new(py, ANSWERS)),
        }
    }
}

impl OwnPart<dyn CustomAqm> for Makes {
    fn identity(&self) -> String {
        self.class.identity.clone()
    }

    fn make(
        &self,
        settings: &Map<String, Value>,
        queue: &OwnQueue,
    ) -> Result<Box<dyn CustomAqm>, String> {
        Ok(Box::new(Of {
            seat: Seat::new(&self.class, settings, queue)?,
            words: Arc::clone(&self.words),
        }))
    }
}

/// An instance with the queue that its hooks are told.
struct Live {
    instance: Instance,
    queue: Py<QueueView>,
}

impl Serves for Live {
    fn begin(
        py: Python<'_>,
        _: &Arc<Class>,
        instance: Instance,
        queue: &OwnQueue,
    ) -> PyResult<Self> {
        let limit = match queue.limit {
            Some(Limit::Packets(n)) => Some(n),
            _ => None,
        };
        let queue = Py::new(py, QueueView::of(queue.rate, limit))?;
        Ok(Self { instance, queue })
    }

    fn instance(&self) -> &Instance {
        &self.instance
    }
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
        class: &Class,
        words: &Words<Verdict>,
        on: On,
        asked: Asked<'_>,
        draw: &mut dyn Draw,
    ) -> PyResult<Verdict> {
        let Some(hook) = self.instance.hook(on as usize) else {
            return Ok(Verdict::Pass);
        };
        // The stream is the hook's while it runs.
        let mut stream = draw.stream();
        let mut queue = self.queue.try_borrow_mut(py)?;
        QueueView::show(&mut queue, asked.now, asked.backlog);
        queue.as_super().rng = stream.as_deref().cloned();
        drop(queue);
        let packet = Bound::new(py, PacketView::asked(*asked.packet))?;
        let answer = hook.call(py, &class.watch, (packet, &self.queue));
        let rng = self.queue.try_borrow_mut(py)?.as_super().rng.take();
        if let (Some(stream), Some(rng)) = (&mut stream, rng) {
            **stream = rng;
        }
        let answer = answer?;
        if answer.is_none() {
            return Ok(Verdict::Pass);
        }
        words.find(&answer).ok_or_else(|| {
            class.error(format_args!(
                "returned {answer:?}; a hook returns \"pass\" or None, \"mark\", \"drop\" or \"forced\""
            ))
        })
    }
}

/// The AQM of one queue.
#[derive(Debug)]
struct Of {
    seat: Seat<Live>,
    words: Arc<Words<Verdict>>,
}

impl Of {
    /// What a hook says of a packet.
    fn judge(&mut self, on: On, asked: Asked<'_>, draw: &mut dyn Draw) -> Verdict {
        if self.seat.lacks(on as usize) {
            return Verdict::Pass;
        }
        let words = &self.words;
        self.seat
            .with(|py, class, live| live.judge(py, class, words, on, asked, draw))
    }

    /// Calls a hook with the queue alone: as it was told last, or at `now` and empty.
    fn tell(&mut self, on: On, now: Option<Time>) {
        if self.seat.lacks(on as usize) {
            return;
        }
        self.seat.with(|py, class, live| {
            if let Some(now) = now {
                let mut queue = live.queue.try_borrow_mut(py)?;
                QueueView::show(&mut queue, now, &Backlog::default());
            }
            match live.instance.hook(on as usize) {
                Some(hook) => hook.call(py, &class.watch, (&live.queue,)).map(drop),
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
        self.seat.queue.rate = rate;
        if self.seat.live.is_some() {
            self.seat.with(|py, _, live| {
                let mut queue = live.queue.try_borrow_mut(py)?;
                queue.as_super().set_rate(rate);
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
            let begun = match &self.seat.live {
                Some(_) => None,
                None => Some(self.seat.begin(py)?),
            };
            match self.seat.live.as_ref().or(begun.as_ref()) {
                Some(live) => shown(py, &live.instance, &self.seat.class),
                None => Ok(State::new()),
            }
        });
        read.unwrap_or_else(|why| self.seat.class.fail(why))
    }

    fn boxed(&self) -> Box<dyn CustomAqm> {
        if self.seat.live.is_some() {
            return Box::new(Onlooker);
        }
        Box::new(Self {
            seat: self.seat.fresh(),
            words: Arc::clone(&self.words),
        })
    }
}

/// What time series show of an instance.
fn shown(py: Python<'_>, instance: &Instance, class: &Class) -> PyResult<State> {
    let Some(state) = instance.object.bind(py).getattr_opt("state")? else {
        return Ok(State::new());
    };
    let of = &instance.whose;
    let wrong = |what: String| class.kind.error(format!("state of {of} {what}"));
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
