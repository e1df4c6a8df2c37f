//! What hooks are called with: a packet, and its queue.

use std::sync::atomic::{AtomicU8, Ordering};

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use spillgate_core::{Packet, Rate, Rng, Time};
use spillgate_queueing::Backlog;

/// What hooks are told of what waits, which is set for each call.
#[pyclass(subclass, module = "spillgate._native", name = "Backlog")]
#[derive(Clone, Debug)]
pub(crate) struct BacklogView {
    pub(super) now_ps: u64,
    /// Packets that wait, without the one that arrives or leaves and the one in transmission.
    #[pyo3(get)]
    pub(super) packets: u32,
    /// Their bytes.
    #[pyo3(get)]
    pub(super) bytes: u64,
    /// The rate that the queue is guaranteed, in b/s; of a scheduler that of its port.
    #[pyo3(get)]
    rate: f64,
    /// The run's stream, while a hook may draw.
    pub(super) rng: Option<Rng>,
    /// The hooks that may.
    drawing: &'static str,
}

impl BacklogView {
    /// Of a queue that is guaranteed a rate.
    pub(super) fn of(rate: Rate, drawing: &'static str) -> Self {
        Self {
            now_ps: 0,
            packets: 0,
            bytes: 0,
            rate: rate.bps() as f64,
            rng: None,
            drawing,
        }
    }

    pub(super) fn set_rate(&mut self, rate: Rate) {
        self.rate = rate.bps() as f64;
    }
}

#[pymethods]
impl BacklogView {
    /// The time in seconds since the start of the run.
    #[getter]
    fn now(&self) -> f64 {
        seconds(self.now_ps)
    }

    /// The same in picoseconds, exactly.
    #[getter]
    fn now_ps(&self) -> u64 {
        self.now_ps
    }

    /// The next number of the run's random stream, from 0 to below 1. Raises RuntimeError outside
    /// of the hooks that packets come to and leave by.
    fn random(&mut self) -> PyResult<f64> {
        let rng = self.rng.as_mut().map(Rng::f64);
        rng.ok_or_else(|| {
            let hooks = self.drawing;
            PyRuntimeError::new_err(format!("random numbers are for {hooks}, while they run"))
        })
    }

    fn __repr__(this: &Bound<'_, Self>) -> PyResult<String> {
        let name = this.get_type().name()?;
        let of = this.borrow();
        let (packets, bytes, now) = (of.packets, of.bytes, of.now());
        Ok(format!(
            "<{name} of {packets} packets, {bytes} B, at {now} s>"
        ))
    }
}

/// What the hooks of an AQM are told of its queue.
#[pyclass(extends = BacklogView, module = "spillgate._native", name = "Queue")]
#[derive(Clone, Debug, Default)]
pub(crate) struct QueueView {
    head_ps: Option<u64>,
    /// Bytes a second at which the queue drains, measured while 16,384 B and more wait; None
    /// before.
    #[pyo3(get)]
    drain_rate: Option<f64>,
    /// What it holds at most, in packets; None if its limit is in bytes or a time.
    #[pyo3(get)]
    limit: Option<u32>,
}

impl QueueView {
    /// Of a queue that is guaranteed a rate and holds so many packets.
    pub(super) fn of(rate: Rate, limit: Option<u32>) -> PyClassInitializer<Self> {
        let base = BacklogView::of(rate, "on_enqueue and on_dequeue");
        PyClassInitializer::from(base).add_subclass(Self {
            limit,
            ..Self::default()
        })
    }

    /// Shows the queue as it is.
    pub(super) fn show(this: &mut PyRefMut<'_, Self>, now: Time, backlog: &Backlog) {
        this.head_ps = backlog.head.map(Time::as_ps);
        this.drain_rate = backlog.drain_rate;
        let base = this.as_super();
        base.now_ps = now.as_ps();
        (base.packets, base.bytes) = (backlog.packets, backlog.bytes);
    }
}

#[pymethods]
impl QueueView {
    /// When the packet at the head came, in seconds; None if none waits.
    #[getter]
    fn head(&self) -> Option<f64> {
        self.head_ps.map(seconds)
    }

    /// The same in picoseconds, exactly.
    #[getter]
    fn head_ps(&self) -> Option<u64> {
        self.head_ps
    }

    /// How long the packet at the head has waited, in seconds; 0 if none waits.
    #[getter]
    fn delay(this: PyRef<'_, Self>) -> f64 {
        let now = this.as_super().now_ps;
        let head = this.head_ps.unwrap_or(now);
        seconds(now.saturating_sub(head))
    }
}

/// Where a packet is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum Place {
    /// An AQM is asked about it.
    Asked,
    /// A scheduler is asked about it.
    Arriving,
    /// A scheduler holds it.
    Waiting,
    Sent,
    Dropped,
    Refused,
    /// The link failed.
    Lost,
}

impl Place {
    const ALL: [Self; 7] = [
        Self::Asked,
        Self::Arriving,
        Self::Waiting,
        Self::Sent,
        Self::Dropped,
        Self::Refused,
        Self::Lost,
    ];

    /// What is to be said of a packet that is here, behind "which".
    pub(super) fn said(self) -> &'static str {
        match self {
            Self::Asked => "is that of an AQM",
            Self::Arriving => "has not been taken yet",
            Self::Waiting => "waits",
            Self::Sent => "has been sent",
            Self::Dropped => "has been dropped",
            Self::Refused => "was refused",
            Self::Lost => "was lost when the link failed",
        }
    }
}

/// A packet as hooks see it.
#[pyclass(frozen, module = "spillgate._native", name = "Packet")]
#[derive(Debug)]
pub(crate) struct PacketView {
    pub(super) packet: Packet,
    /// The scheduler that it came to; 0 for an AQM.
    pub(super) owner: u64,
    place: AtomicU8,
}

impl PacketView {
    /// One about which an AQM is asked.
    pub(super) fn asked(packet: Packet) -> Self {
        Self::at(packet, 0, Place::Asked)
    }

    /// One that comes to a scheduler.
    pub(super) fn arriving(packet: Packet, owner: u64) -> Self {
        Self::at(packet, owner, Place::Arriving)
    }

    fn at(packet: Packet, owner: u64, place: Place) -> Self {
        Self {
            packet,
            owner,
            place: AtomicU8::new(place as u8),
        }
    }

    pub(super) fn place(&self) -> Place {
        Place::ALL[usize::from(self.place.load(Ordering::Relaxed))]
    }

    pub(super) fn put(&self, place: Place) {
        self.place.store(place as u8, Ordering::Relaxed);
    }
}

#[pymethods]
impl PacketView {
    /// The number of its flow.
    #[getter]
    fn flow(&self) -> u32 {
        self.packet.flow
    }

    /// Its number in its flow, from 0.
    #[getter]
    fn number(&self) -> u32 {
        self.packet.seq
    }

    /// Its length in bytes as the link counts it.
    #[getter]
    fn bytes(&self) -> u32 {
        self.packet.len
    }

    /// The length of the IP packet in bytes.
    #[getter]
    fn ip_bytes(&self) -> u16 {
        self.packet.l3_len
    }

    /// Its code point, 0 to 63.
    #[getter]
    fn dscp(&self) -> u8 {
        self.packet.dscp.value()
    }

    /// Its ECN field: 0 not capable, 1 ECT(1), 2 ECT(0), 3 CE.
    #[getter]
    fn ecn(&self) -> u8 {
        self.packet.ecn as u8
    }

    /// When it came to the queue, in seconds.
    #[getter]
    fn arrived(&self) -> f64 {
        seconds(self.arrived_ps())
    }

    /// The same in picoseconds, exactly.
    #[getter]
    fn arrived_ps(&self) -> u64 {
        self.packet.arrived.as_ps()
    }

    fn __repr__(&self) -> String {
        let (flow, number, bytes) = (self.flow(), self.number(), self.bytes());
        format!("<Packet {number} of flow {flow}, {bytes} B>")
    }
}

pub(super) fn seconds(ps: u64) -> f64 {
    Time::from_ps(ps).as_secs_f64()
}
