//! Schedulers that a user writes as Python classes.
//!
//! A packet is one object from its arrival on, which knows where it is, so that one that has gone
//! is told from one that waits.

use std::collections::VecDeque;
use std::sync::Arc;

use pyo3::prelude::*;
use pyo3::types::PyTuple;
use serde_json::{Map, Value};
use spillgate_core::{DropReason, Packet, Rate, Rng, Time};
use spillgate_queueing::{CustomDiscipline, OwnPart, OwnQueue};

use super::PacketView;
use super::instance::{Class, Instance, Kind, Seat, Serves, Words};
use super::port::{PortView, WORDS};
use super::views::{Place, seconds};

pub(super) static KIND: Kind = Kind {
    name: "scheduler",
    hooks: &["enqueue", "dequeue", "next_wake", "on_flush"],
    needed: &["enqueue", "dequeue"],
    all: true,
};

/// The hooks, in the order of [`KIND`].
#[derive(Clone, Copy)]
enum On {
    Enqueue,
    Dequeue,
    NextWake,
    Flush,
}

/// After how many packets that are taken the length that an instance says it has is looked at.
const LENGTH_EVERY: u64 = 256;

/// What drops go to.
type Sink<'a> = &'a mut dyn FnMut(Packet, DropReason);

/// Makes schedulers of a class.
pub(super) struct Makes {
    class: Arc<Class>,
}

impl Makes {
    pub(super) fn new(class: Class) -> Self {
        Self {
            class: Arc::new(class),
        }
    }
}

impl OwnPart<dyn CustomDiscipline> for Makes {
    fn identity(&self) -> String {
        self.class.identity.clone()
    }

    fn make(
        &self,
        settings: &Map<String, Value>,
        queue: &OwnQueue,
    ) -> Result<Box<dyn CustomDiscipline>, String> {
        Ok(Box::new(Of(Seat::new(&self.class, settings, queue)?)))
    }
}

/// An instance with its port and what waits there.
struct Live {
    instance: Instance,
    port: Py<PortView>,
    owner: u64,
    words: Arc<Words<Option<DropReason>>>,
    /// What waits, in the order of arrival, and some that has gone.
    arrived: VecDeque<Py<PacketView>>,
    packets: u32,
    bytes: u64,
    taken: u64,
    sent: u64,
    /// When to ask again, if `dequeue` gave nothing and nothing has changed since.
    wake: Option<Time>,
}

impl Serves for Live {
    fn begin(
        py: Python<'_>,
        class: &Arc<Class>,
        instance: Instance,
        queue: &OwnQueue,
    ) -> PyResult<Self> {
        let words = Arc::new(Words::new(py, WORDS));
        let port = Py::new(py, PortView::of(queue.rate, class, &words))?;
        let owner = port.try_borrow(py)?.owner;
        Ok(Self {
            instance,
            owner,
            port,
            words,
            arrived: VecDeque::new(),
            packets: 0,
            bytes: 0,
            taken: 0,
            sent: 0,
            wake: None,
        })
    }

    fn instance(&self) -> &Instance {
        &self.instance
    }
}

impl Live {
    /// Calls a hook, which may draw and drop if it is given the stream; what it answers.
    fn call<'py>(
        &self,
        py: Python<'py>,
        class: &Class,
        on: On,
        (now, packet): (Time, Option<&Bound<'py, PacketView>>),
        rng: Option<&mut Rng>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let Some(hook) = self.instance.hook(on as usize) else {
            return Ok(py.None().into_bound(py));
        };
        let mut port = self.port.try_borrow_mut(py)?;
        let shown = port.as_super();
        shown.now_ps = now.as_ps();
        (shown.packets, shown.bytes) = (self.packets, self.bytes);
        shown.rng = rng.as_deref().cloned();
        drop(port);
        let answer = match packet {
            Some(packet) => hook.call(py, &class.watch, (packet, &self.port)),
            None => hook.call(py, &class.watch, (&self.port,)),
        };
        let left = self.port.try_borrow_mut(py)?.as_super().rng.take();
        if let (Some(rng), Some(left)) = (rng, left) {
            *rng = left;
        }
        answer
    }

    /// Gives up what the hook dropped; how it dropped the packet that arrives, if it did.
    fn give_up(
        &mut self,
        py: Python<'_>,
        arriving: Option<&Bound<'_, PacketView>>,
        sink: Sink<'_>,
    ) -> PyResult<Option<DropReason>> {
        let mut port = self.port.try_borrow_mut(py)?;
        let mut own = None;
        for (packet, reason) in port.dropped.drain(..) {
            if arriving.is_some_and(|a| a.is(&packet)) {
                own = Some(reason);
                continue;
            }
            let packet = packet.get().packet;
            self.packets -= 1;
            self.bytes -= u64::from(packet.len);
            sink(packet, reason);
        }
        Ok(own)
    }

    fn enqueue(
        &mut self,
        py: Python<'_>,
        class: &Class,
        (now, packet): (Time, Packet),
        rng: &mut Rng,
        evicted: Sink<'_>,
    ) -> PyResult<Result<(), DropReason>> {
        self.wake = None;
        let view = Bound::new(py, PacketView::arriving(packet, self.owner))?;
        let answer = self.call(py, class, On::Enqueue, (now, Some(&view)), Some(rng))?;
        let dropped = self.give_up(py, Some(&view), evicted)?;
        let refused = match answer.is_none() {
            true => None,
            false => self.words.find(&answer).ok_or_else(|| {
                class.error(format_args!(
                    "returned {answer:?}; it returns \"pass\" or None for a packet that it takes, else \"full\", \"drop\", \"forced\" or \"pushed-out\""
                ))
            })?,
        };
        if dropped.is_some() && refused.is_some() {
            return Err(class.error(format_args!(
                "dropped {view:?} and returned {answer:?}; it does one of both"
            )));
        }
        if let Some(reason) = dropped.or(refused) {
            if dropped.is_none() {
                view.get().put(Place::Refused);
            }
            return Ok(Err(reason));
        }
        view.get().put(Place::Waiting);
        self.keep(view.unbind());
        self.packets += 1;
        self.bytes += u64::from(packet.len);
        self.taken += 1;
        if self.taken % LENGTH_EVERY == 0 {
            self.check_length(py, class)?;
        }
        Ok(Ok(()))
    }

    /// Notes a packet that waits. Cost: O(1), amortized.
    fn keep(&mut self, view: Py<PacketView>) {
        let waits = |p: &Py<PacketView>| p.get().place() == Place::Waiting;
        while self.arrived.front().is_some_and(|p| !waits(p)) {
            self.arrived.pop_front();
        }
        if self.arrived.len() > 2 * self.packets as usize + 64 {
            self.arrived.retain(waits);
        }
        self.arrived.push_back(view);
    }

    fn dequeue(
        &mut self,
        py: Python<'_>,
        class: &Class,
        now: Time,
        rng: &mut Rng,
        lost: Sink<'_>,
    ) -> PyResult<Option<(Packet, bool)>> {
        self.wake = None;
        let answer = self.call(py, class, On::Dequeue, (now, None), Some(rng))?;
        self.give_up(py, None, lost)?;
        if answer.is_none() {
            if self.packets > 0 {
                self.wake = Some(self.awaited(py, class, now)?);
            }
            return Ok(None);
        }
        let (answer, marked) = match answer.cast::<PyTuple>().ok() {
            Some(pair) if is_marked(pair)? => (pair.get_item(0)?, true),
            _ => (answer, false),
        };
        let valid = match self.packets {
            0 => "none waits, so it returns None".to_owned(),
            n => format!("it returns one of the {n} that wait, (packet, \"mark\"), or None"),
        };
        let of = (class, self.owner);
        let view = PortView::packet(of, &answer, "returned", &[Place::Waiting], &valid)?;
        let packet = view.get().packet;
        if marked && !packet.ecn.is_capable() {
            return Err(class.error(format_args!(
                "marked {view:?}, which is not capable of ECN; drop it by `queue.drop(packet, \"drop\")`"
            )));
        }
        view.get().put(Place::Sent);
        self.packets -= 1;
        self.bytes -= u64::from(packet.len);
        self.sent += 1;
        Ok(Some((packet, marked)))
    }

    /// What became of the packets that were taken.
    fn counts(&self) -> String {
        let (waits, taken, sent) = (self.packets, self.taken, self.sent);
        let gone = taken - sent - u64::from(waits);
        format!(
            "of {taken} packets that it took {sent} were sent, {gone} dropped, and {waits} wait"
        )
    }

    /// When a packet may leave, since none may now.
    fn awaited(&self, py: Python<'_>, class: &Class, now: Time) -> PyResult<Time> {
        let hook = class.watch.last();
        if let Some(at) = self.next_wake(py, class, now, true)? {
            return Ok(at);
        }
        self.check_length(py, class)?;
        let (counts, at) = (self.counts(), seconds(now.as_ps()));
        let wake = match self.instance.hook(On::NextWake as usize) {
            Some(_) => "next_wake returned None",
            None => "it has no next_wake",
        };
        Err(class.kind.error(format!(
            "{hook} returned None at {at} s, and {wake}: {counts}; it returns a packet, or next_wake the time when one may leave"
        )))
    }

    /// When a packet may leave, if the class says so; `refused`: none may now.
    fn next_wake(
        &self,
        py: Python<'_>,
        class: &Class,
        now: Time,
        refused: bool,
    ) -> PyResult<Option<Time>> {
        let answer = self.call(py, class, On::NextWake, (now, None), None)?;
        if answer.is_none() {
            return Ok(None);
        }
        let valid = "it returns a time in seconds since the start of the run, or None";
        let time = answer.extract::<f64>().ok().filter(|t| t.is_finite());
        let Some(time) = time else {
            return Err(class.error(format_args!("returned {answer:?}; {valid}")));
        };
        let at = at_least(time);
        if refused && at <= now {
            let now = seconds(now.as_ps());
            return Err(class.error(format_args!(
                "returned {time} at {now} s, when dequeue had returned None; it returns a later time, or None"
            )));
        }
        Ok(Some(at.max(now)))
    }

    /// Compares the length that an instance says it has, if it does, with what waits.
    fn check_length(&self, py: Python<'_>, class: &Class) -> PyResult<()> {
        let object = self.instance.object.bind(py);
        if !object.hasattr("__len__")? {
            return Ok(());
        }
        let says = object.len()?;
        if says == self.packets as usize {
            return Ok(());
        }
        let (of, counts) = (&self.instance.whose, self.counts());
        let text = format!("__len__ of {of} returned {says}, but {counts}");
        Err(class.kind.error(text))
    }

    /// What waits, in the order of arrival.
    fn waiting(&self) -> impl Iterator<Item = &PacketView> {
        let all = self.arrived.iter().map(Py::get);
        all.filter(|p| p.place() == Place::Waiting)
    }
}

/// Whether an answer is a packet that is to be marked.
fn is_marked(pair: &Bound<'_, PyTuple>) -> PyResult<bool> {
    Ok(pair.len() == 2
        && pair
            .get_item(1)?
            .extract::<&str>()
            .is_ok_and(|w| w == "mark"))
}

/// The first instant that is not before a time in seconds, as `Port.now` shows it.
fn at_least(time: f64) -> Time {
    let ps = (time * 1e12).round();
    if ps >= u64::MAX as f64 {
        return Time::MAX;
    }
    let mut ps = ps.max(0.0) as u64;
    while seconds(ps) < time {
        ps += 1;
    }
    Time::from_ps(ps)
}

/// The scheduler of one port.
#[derive(Debug)]
struct Of(Seat<Live>);

impl CustomDiscipline for Of {
    fn name(&self) -> &str {
        &self.0.class.name
    }

    fn enqueue(
        &mut self,
        now: Time,
        packet: Packet,
        rng: &mut Rng,
        evicted: &mut dyn FnMut(Packet, DropReason),
    ) -> Result<(), DropReason> {
        self.0
            .with(|py, class, live| live.enqueue(py, class, (now, packet), rng, evicted))
    }

    fn dequeue(
        &mut self,
        now: Time,
        rng: &mut Rng,
        lost: &mut dyn FnMut(Packet, DropReason),
    ) -> Option<(Packet, bool)> {
        self.0
            .with(|py, class, live| live.dequeue(py, class, now, rng, lost))
    }

    fn flush(&mut self, lost: &mut dyn FnMut(Packet)) {
        if self.0.live.is_none() {
            return;
        }
        let knows = self.0.with(|py, class, live| {
            for view in live.waiting() {
                view.put(Place::Lost);
                lost(view.packet);
            }
            live.arrived.clear();
            (live.packets, live.bytes, live.wake) = (0, 0, None);
            let now = live.port.try_borrow(py)?.as_super().now_ps;
            live.call(py, class, On::Flush, (Time::from_ps(now), None), None)?;
            Ok(live.instance.hook(On::Flush as usize).is_some())
        });
        if !knows {
            self.0.live = None;
        }
    }

    fn next_wake(&self, now: Time) -> Option<Time> {
        let live = self.0.live.as_ref()?;
        if let Some(at) = live.wake {
            return Some(at.max(now));
        }
        let class = &self.0.class;
        Python::attach(|py| live.next_wake(py, class, now, false))
            .unwrap_or_else(|why| class.fail(why))
    }

    fn port(&mut self, name: &str) {
        self.0.port = Some(name.to_owned());
    }

    fn set_rate(&mut self, _: Time, rate: Rate) {
        self.0.queue.rate = rate;
        if self.0.live.is_some() {
            self.0.with(|py, _, live| {
                live.wake = None;
                let mut port = live.port.try_borrow_mut(py)?;
                port.as_super().set_rate(rate);
                Ok(())
            });
        }
    }

    fn boxed(&self) -> Box<dyn CustomDiscipline> {
        let Some(live) = &self.0.live else {
            return Box::new(Self(self.0.fresh()));
        };
        let class = &self.0.class;
        Python::attach(|py| live.check_length(py, class)).unwrap_or_else(|why| class.fail(why));
        Box::new(Left {
            name: class.name.clone(),
            waiting: live.waiting().map(|view| view.packet).collect(),
        })
    }
}

/// What a scheduler left at the end of a run: a copy, which asks nobody.
#[derive(Clone, Debug)]
struct Left {
    name: String,
    waiting: VecDeque<Packet>,
}

impl CustomDiscipline for Left {
    fn name(&self) -> &str {
        &self.name
    }

    fn enqueue(
        &mut self,
        _: Time,
        packet: Packet,
        _: &mut Rng,
        _: &mut dyn FnMut(Packet, DropReason),
    ) -> Result<(), DropReason> {
        self.waiting.push_back(packet);
        Ok(())
    }

    fn dequeue(
        &mut self,
        _: Time,
        _: &mut Rng,
        _: &mut dyn FnMut(Packet, DropReason),
    ) -> Option<(Packet, bool)> {
        Some((self.waiting.pop_front()?, false))
    }

    fn flush(&mut self, lost: &mut dyn FnMut(Packet)) {
        self.waiting.drain(..).for_each(lost);
    }

    fn boxed(&self) -> Box<dyn CustomDiscipline> {
        Box::new(self.clone())
    }
}
