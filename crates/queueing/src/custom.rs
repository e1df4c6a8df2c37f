//! A discipline written by a user of the crate.

use std::fmt::Debug;
use std::sync::Arc;

use spillgate_core::{DropReason, Dropped, Ecn, FlowKey, Packet, Rate, Rng, Time};

use crate::engine::{Schedule, refuse_at};
use crate::evidence::{Evidence, QueueLimit};
use crate::fan::SharedLists;
use crate::stats::Cx;

/// A discipline of your own: [`crate::Discipline::custom`] makes one that drivers use like any
/// other, with counters and conservation checked. It is one leaf.
///
/// Times never decrease from call to call. [`crate::testkit::Contract`] says whether it keeps what
/// drivers rely on.
///
/// ```
/// use spillgate_core::{DropReason, Drops, Packet, Rng, Time};
/// use spillgate_queueing::testkit::Contract;
/// use spillgate_queueing::{CustomDiscipline, Discipline};
///
/// /// Last in, first out, of at most 20 packets.
/// #[derive(Clone, Debug, Default)]
/// struct Lifo(Vec<Packet>);
///
/// impl CustomDiscipline for Lifo {
///     fn enqueue(
///         &mut self, _: Time, packet: Packet, _: &mut Rng, _: &mut dyn FnMut(Packet, DropReason),
///     ) -> Result<(), DropReason> {
///         if self.0.len() == 20 {
///             return Err(DropReason::Tail);
///         }
///         self.0.push(packet);
///         Ok(())
///     }
///     fn dequeue(
///         &mut self, _: Time, _: &mut Rng, _: &mut dyn FnMut(Packet, DropReason),
///     ) -> Option<(Packet, bool)> {
///         Some((self.0.pop()?, false))
///     }
///     fn flush(&mut self, lost: &mut dyn FnMut(Packet)) {
///         self.0.drain(..).for_each(lost);
///     }
///     fn boxed(&self) -> Box<dyn CustomDiscipline> {
///         Box::new(self.clone())
///     }
/// }
///
/// let lifo = || Discipline::custom(Box::new(Lifo::default()));
/// let (mut port, mut rng, mut drops) = (lifo(), Rng::from_key(1), Drops::new());
/// for seq in 0..25 {
///     port.enqueue(Time::ZERO, Packet::new(0, seq, 1000), &mut rng, &mut drops);
/// }
/// assert_eq!(drops.as_slice().len(), 5);
/// assert_eq!(port.dequeue(Time::ZERO, &mut rng, &mut drops).unwrap().seq, 19);
///
/// // Later packets of a flow overtake earlier ones; it never holds packets back.
/// Contract { in_order: false, work_conserving: true }.check(lifo, 100);
/// ```
pub trait CustomDiscipline: Debug + Send + Sync {
    /// The name of its leaf.
    fn name(&self) -> &str {
        "custom"
    }
    /// Queues a packet that arrives. Queued packets that it drops to make room go to `evicted`.
    ///
    /// # Errors
    /// If it refuses the packet: the reason.
    fn enqueue(
        &mut self,
        now: Time,
        packet: Packet,
        rng: &mut Rng,
        evicted: &mut dyn FnMut(Packet, DropReason),
    ) -> Result<(), DropReason>;
    /// The packet to send now, and whether it is to be marked with congestion experienced, which
    /// only an ECN-capable packet may be. Packets that it drops instead go to `lost`.
    fn dequeue(
        &mut self,
        now: Time,
        rng: &mut Rng,
        lost: &mut dyn FnMut(Packet, DropReason),
    ) -> Option<(Packet, bool)>;
    /// Drops all queued packets, to `lost`, in order within a flow.
    fn flush(&mut self, lost: &mut dyn FnMut(Packet));
    /// The first instant, `now` or later, at which [`CustomDiscipline::dequeue`] returns a packet,
    /// if some are queued and it may delay them.
    fn next_wake(&self, _now: Time) -> Option<Time> {
        None
    }
    /// The packet that left last is in transmission until `end`.
    fn transmits_until(&mut self, _end: Time) {}
    /// The flow with this number ([`Packet::flow`]) has these addresses and ports; called before
    /// its first packet.
    fn flow(&mut self, _number: u32, _key: &FlowKey) {}
    /// Its port has this name: that of its link. Called before the first packet, where the driver
    /// knows it.
    fn port(&mut self, _name: &str) {}
    /// The port sends at this rate from `now` on.
    fn set_rate(&mut self, _now: Time, _rate: Rate) {}
    /// A copy, with the queued packets.
    fn boxed(&self) -> Box<dyn CustomDiscipline>;
}

/// A custom discipline, and counters of its backlog.
#[derive(Debug)]
pub(crate) struct CustomEngine {
    inner: Box<dyn CustomDiscipline>,
    packets: u32,
    bytes: u64,
}

impl Clone for CustomEngine {
    fn clone(&self) -> Self {
        Self {
            inner: self.inner.boxed(),
            ..*self
        }
    }
}

impl CustomEngine {
    pub(crate) fn new(inner: Box<dyn CustomDiscipline>) -> Self {
        Self {
            inner,
            packets: 0,
            bytes: 0,
        }
    }

    pub(crate) fn set_rate(&mut self, now: Time, rate: Rate) {
        self.inner.set_rate(now, rate);
    }
}

/// Takes a packet out of the counters.
fn gone(packets: &mut u32, bytes: &mut u64, packet: &Packet) {
    let left = packets
        .checked_sub(1)
        .zip(bytes.checked_sub(packet.len.into()))
        .filter(|(packets, bytes)| *packets > 0 || *bytes == 0);
    (*packets, *bytes) = left.expect("a custom discipline gives what it has taken, once");
}

impl Schedule for CustomEngine {
    fn enqueue(&mut self, packet: &mut Packet, cx: &mut Cx<'_>) {
        packet.leaf = 0;
        cx.offered(packet);
        let (packets, bytes) = (&mut self.packets, &mut self.bytes);
        let (now, (rng, mut books)) = (cx.now, cx.split());
        let taken = self
            .inner
            .enqueue(now, *packet, rng, &mut |victim, reason| {
                gone(packets, bytes, &victim);
                books.evicted(victim, reason);
            });
        match taken {
            Ok(()) => {
                self.packets += 1;
                self.bytes += u64::from(packet.len);
                cx.enqueued(packet, false);
            }
            Err(reason) => cx.refused(*packet, reason),
        }
    }

    fn dequeue(&mut self, cx: &mut Cx<'_>) -> Option<Packet> {
        let (packets, bytes) = (&mut self.packets, &mut self.bytes);
        let (now, (rng, mut books)) = (cx.now, cx.split());
        let (mut packet, marked) = self.inner.dequeue(now, rng, &mut |victim, reason| {
            gone(packets, bytes, &victim);
            books.evicted(victim, reason);
        })?;
        gone(packets, bytes, &packet);
        if marked {
            packet.ecn = Ecn::Ce;
            cx.marked(&packet);
        }
        cx.dequeued(&packet);
        Some(packet)
    }

    fn transmits_until(&mut self, _: u16, end: Time) {
        self.inner.transmits_until(end);
    }

    fn refuse(&mut self, packet: Packet, reason: DropReason, cx: &mut Cx<'_>) {
        refuse_at(0, packet, reason, cx);
    }

    fn flush(&mut self, reason: DropReason, cx: &mut Cx<'_>) {
        let (packets, bytes) = (&mut self.packets, &mut self.bytes);
        self.inner.flush(&mut |packet| {
            gone(packets, bytes, &packet);
            cx.evicted(packet, reason);
        });
    }

    fn next_wake(&self, now: Time) -> Option<Time> {
        self.inner.next_wake(now)
    }

    fn attach(&mut self, flows: &Arc<[FlowKey]>, _: &mut SharedLists) {
        for (number, key) in flows.iter().enumerate() {
            self.inner.flow(number as u32, key);
        }
    }

    fn add_flow(&mut self, key: FlowKey, n: usize) {
        self.inner.flow(n as u32 - 1, &key);
    }

    fn at_port(&mut self, name: &str) {
        self.inner.port(name);
    }

    fn leaf_names(&self) -> Vec<String> {
        vec![self.inner.name().to_owned()]
    }

    fn held(&self, _: usize) -> u32 {
        self.packets
    }

    fn evidence(&self, _: Time, _: &Dropped, _: (u32, u64)) -> Evidence {
        Evidence::default()
    }

    fn limit(&self, _: usize) -> QueueLimit {
        QueueLimit::default()
    }

    fn memory_bytes(&self, _: usize) -> u64 {
        // The memory behind the box is not known.
        size_of_val(&*self.inner) as u64
    }
}
