//! What hooks are called with: a packet, and its queue.

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use spillgate_core::{Packet, Rate, Rng, Time};
use spillgate_queueing::Backlog;

/// What its hooks are told of the queue, which is set for each call.
#[pyclass(module = "spillgate._native", name = "Queue")]
#[derive(Clone, Debug, Default)]
pub(crate) struct QueueView {
    now_ps: u64,
    /// Packets that wait, without the one that arrives or leaves and the one in transmission.
    #[pyo3(get)]
    packets: u32,
    /// Their bytes.
    #[pyo3(get)]
    bytes: u64,
    head_ps: Option<u64>,
    /// Bytes a second at which the queue drains, measured while 16,384 B and more wait; None
    /// before.
    #[pyo3(get)]
    drain_rate: Option<f64>,
    /// The rate that the queue is guaranteed, in b/s.
    #[pyo3(get)]
    rate: f64,
    /// What it holds at most, in packets; None if its limit is in bytes or a time.
    #[pyo3(get)]
    limit: Option<u32>,
    /// The run's stream, while a hook may draw.
    pub(super) rng: Option<Rng>,
}

impl QueueView {
    /// Of a queue that is guaranteed a rate and holds so many packets.
    pub(super) fn new(rate: Rate, limit: Option<u32>) -> Self {
        Self {
            rate: rate.bps() as f64,
            limit,
            ..Self::default()
        }
    }

    pub(super) fn set_rate(&mut self, rate: Rate) {
        self.rate = rate.bps() as f64;
    }

    /// Shows the queue as it is.
    pub(super) fn show(&mut self, now: Time, backlog: &Backlog) {
        self.now_ps = now.as_ps();
        (self.packets, self.bytes) = (backlog.packets, backlog.bytes);
        self.head_ps = backlog.head.map(Time::as_ps);
        self.drain_rate = backlog.drain_rate;
    }
}

#[pymethods]
impl QueueView {
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
    fn delay(&self) -> f64 {
        let head = self.head_ps.unwrap_or(self.now_ps);
        seconds(self.now_ps.saturating_sub(head))
    }

    /// The next number of the run's random stream, from 0 to below 1. Raises RuntimeError outside
    /// of `on_enqueue` and `on_dequeue`.
    fn random(&mut self) -> PyResult<f64> {
        let outside = "random numbers are for on_enqueue and on_dequeue, while they run";
        let rng = self.rng.as_mut().map(Rng::f64);
        rng.ok_or_else(|| PyRuntimeError::new_err(outside))
    }

    fn __repr__(&self) -> String {
        let (packets, bytes, now) = (self.packets, self.bytes, self.now());
        format!("<Queue of {packets} packets, {bytes} B, at {now} s>")
    }
}

/// A packet as hooks see it.
#[pyclass(frozen, module = "spillgate._native", name = "Packet")]
#[derive(Clone, Debug)]
pub(crate) struct PacketView(pub(super) Packet);

#[pymethods]
impl PacketView {
    /// The number of its flow.
    #[getter]
    fn flow(&self) -> u32 {
        self.0.flow
    }

    /// Its number in its flow, from 0.
    #[getter]
    fn number(&self) -> u32 {
        self.0.seq
    }

    /// Its length in bytes as the link counts it.
    #[getter]
    fn bytes(&self) -> u32 {
        self.0.len
    }

    /// The length of the IP packet in bytes.
    #[getter]
    fn ip_bytes(&self) -> u16 {
        self.0.l3_len
    }

    /// Its code point, 0 to 63.
    #[getter]
    fn dscp(&self) -> u8 {
        self.0.dscp.value()
    }

    /// Its ECN field: 0 not capable, 1 ECT(1), 2 ECT(0), 3 CE.
    #[getter]
    fn ecn(&self) -> u8 {
        self.0.ecn as u8
    }

    /// When it came to the queue, in seconds.
    #[getter]
    fn arrived(&self) -> f64 {
        seconds(self.arrived_ps())
    }

    /// The same in picoseconds, exactly.
    #[getter]
    fn arrived_ps(&self) -> u64 {
        self.0.arrived.as_ps()
    }

    fn __repr__(&self) -> String {
        let (flow, number, bytes) = (self.flow(), self.number(), self.bytes());
        format!("<Packet {number} of flow {flow}, {bytes} B>")
    }
}

fn seconds(ps: u64) -> f64 {
    Time::from_ps(ps).as_secs_f64()
}
