//! What the hooks of a scheduler are called with beside a packet: its port.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use spillgate_core::{DropReason, Rate};

use super::PacketView;
use super::instance::{Class, Words};
use super::views::{BacklogView, Place};

/// What a scheduler says of a packet that it does not queue, and that it does.
pub(super) const WORDS: &[(&str, Option<DropReason>)] = &[
    ("pass", None),
    ("full", Some(DropReason::Tail)),
    ("drop", Some(DropReason::Early)),
    ("forced", Some(DropReason::Forced)),
    ("pushed-out", Some(DropReason::PushedOut)),
];

/// What the hooks of a scheduler are told of its port, and what they drop.
#[pyclass(extends = BacklogView, module = "spillgate._native", name = "Port")]
pub(crate) struct PortView {
    class: Arc<Class>,
    words: Arc<Words<Option<DropReason>>>,
    pub(super) owner: u64,
    /// What was dropped in this call.
    pub(super) dropped: Vec<(Py<PacketView>, DropReason)>,
}

impl PortView {
    /// Of a port that sends at a rate.
    pub(super) fn of(
        rate: Rate,
        class: &Arc<Class>,
        words: &Arc<Words<Option<DropReason>>>,
    ) -> PyClassInitializer<Self> {
        // Each port is told from all others, so that a packet of another one is known.
        static NEXT: AtomicU64 = AtomicU64::new(1);
        let base = BacklogView::of(rate, "enqueue and dequeue");
        PyClassInitializer::from(base).add_subclass(Self {
            class: Arc::clone(class),
            words: Arc::clone(words),
            owner: NEXT.fetch_add(1, Ordering::Relaxed),
            dropped: Vec::new(),
        })
    }

    /// The packet that a hook `did` something with, if it is one in one of these places.
    pub(super) fn packet<'a, 'py>(
        (class, owner): (&Class, u64),
        object: &'a Bound<'py, PyAny>,
        did: &str,
        places: &[Place],
        valid: &str,
    ) -> PyResult<&'a Bound<'py, PacketView>> {
        let Ok(view) = object.cast::<PacketView>() else {
            return Err(class.error(format_args!(
                "{did} {object:?}, which is no packet; {valid}"
            )));
        };
        let packet = view.get();
        let place = packet.place();
        let why = match place {
            place if !places.contains(&place) => place.said(),
            _ if packet.owner != owner => "came to another port",
            _ => return Ok(view),
        };
        Err(class.error(format_args!("{did} {object:?}, which {why}; {valid}")))
    }
}

#[pymethods]
impl PortView {
    /// Drops a packet that waits or arrives; `reason` is how it is counted: as pushed out if not
    /// given. Raises SchedulerError if the packet is neither, RuntimeError outside of `enqueue`
    /// and `dequeue`.
    #[pyo3(signature = (packet, reason = None))]
    fn drop(
        mut this: PyRefMut<'_, Self>,
        packet: &Bound<'_, PyAny>,
        reason: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<()> {
        if this.as_super().rng.is_none() {
            let outside = "packets are dropped in enqueue and dequeue, while they run";
            return Err(PyRuntimeError::new_err(outside));
        }
        let class = Arc::clone(&this.class);
        let places = [Place::Waiting, Place::Arriving];
        let valid = "it drops packets that wait, and the one that arrives";
        let of = (&*class, this.owner);
        let view = Self::packet(of, packet, "dropped", &places, valid)?;
        let reason = match reason {
            None => DropReason::PushedOut,
            Some(word) => this.words.find(word).flatten().ok_or_else(|| {
                class.error(format_args!(
                    "dropped {packet:?} for {word:?}; a reason is \"pushed-out\", \"full\", \"drop\" or \"forced\""
                ))
            })?,
        };
        if view.get().place() == Place::Waiting {
            let bytes = u64::from(view.get().packet.len);
            let base = this.as_super();
            base.packets = base.packets.saturating_sub(1);
            base.bytes = base.bytes.saturating_sub(bytes);
        }
        view.get().put(Place::Dropped);
        this.dropped.push((view.clone().unbind(), reason));
        Ok(())
    }
}
