//! What an algorithm may say of a packet, and why packets are lost.

use crate::packet::Packet;

/// What an AQM, meter or policer decides; the queue that asked does the deed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Keep the packet as it is.
    Pass,
    /// Keep it and set CE; only said of an ECN-capable packet.
    Mark,
    /// Discard it.
    Drop(DropReason),
}

/// Why a packet was lost. The metric's name is [`DropReason::metric`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum DropReason {
    /// The queue was full: a limit in packets, bytes or time.
    Tail,
    /// An AQM's early drop: by chance, or (CoDel) since the packet had waited too long.
    Early,
    /// An AQM above its upper threshold: certain, not drawn.
    Forced,
    /// A policer (LLQ's included) found it out of contract.
    Policer,
    /// Pushed out of a queue to make room for another packet.
    PushedOut,
    /// Flow admission refused it.
    Admission,
    /// The link was down.
    LinkDown,
    /// No route to its destination.
    Unroutable,
    /// Longer, its labels included, than the link carries (its MTU).
    TooBig,
    /// Lost at random on the link.
    LinkLoss,
    /// A node had no room to keep it until it is forwarded.
    InputQueue,
}

impl DropReason {
    /// Every reason, in the order of their codes.
    pub const ALL: [Self; 11] = [
        Self::Tail,
        Self::Early,
        Self::Forced,
        Self::Policer,
        Self::PushedOut,
        Self::Admission,
        Self::LinkDown,
        Self::Unroutable,
        Self::TooBig,
        Self::LinkLoss,
        Self::InputQueue,
    ];

    /// The metric that counts it.
    pub const fn metric(self) -> &'static str {
        match self {
            Self::Tail => "drops_tail",
            Self::Early => "drops_early",
            Self::Forced => "drops_forced",
            Self::Policer => "drops_policer",
            Self::PushedOut => "drops_pushed_out",
            Self::Admission => "drops_admission",
            Self::LinkDown => "drops_link_down",
            Self::Unroutable => "drops_unroutable",
            Self::TooBig => "drops_too_big",
            Self::LinkLoss => "drops_link_loss",
            Self::InputQueue => "drops_input_queue",
        }
    }

    /// Dense index, 0..[`DropReason::ALL`]`.len()`.
    pub const fn index(self) -> usize {
        self as usize
    }
}

/// A packet that a discipline gave up, and why.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dropped {
    /// The packet as it was when it was given up.
    pub packet: Packet,
    /// Why.
    pub reason: DropReason,
}

/// Where `enqueue` and `dequeue` put the packets that they drop.
///
/// One call may drop several packets, none of them "its own"; the driver
/// drains the sink after each call, so its memory is reused.
#[derive(Debug, Default)]
pub struct Drops(Vec<Dropped>);

impl Drops {
    /// An empty sink with room for a burst of drops.
    pub fn new() -> Self {
        Self(Vec::with_capacity(16))
    }

    /// Records a drop.
    pub fn push(&mut self, packet: Packet, reason: DropReason) {
        self.0.push(Dropped { packet, reason });
    }

    /// The drops since the last [`Drops::clear`].
    pub fn as_slice(&self) -> &[Dropped] {
        &self.0
    }

    /// Whether nothing was dropped.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Forgets the drops, keeps the memory.
    pub fn clear(&mut self) {
        self.0.clear();
    }
}
