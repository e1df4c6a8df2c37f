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

/// From one line per reason: the enum, the list, metrics, labels and sentences.
macro_rules! reasons {
    ($($(#[$doc:meta])* $variant:ident $metric:literal $label:literal $sentence:literal;)+) => {
        /// Why a packet was lost. The metric's name is [`DropReason::metric`].
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[repr(u8)]
        pub enum DropReason {
            $($(#[$doc])* $variant,)+
        }

        impl DropReason {
            /// Every reason, in the order of their codes.
            pub const ALL: [Self; [$($metric),+].len()] = [$(Self::$variant),+];

            /// The metric that counts it.
            pub const fn metric(self) -> &'static str {
                match self { $(Self::$variant => $metric,)+ }
            }

            /// Its label in tables and figures.
            pub const fn label(self) -> &'static str {
                match self { $(Self::$variant => $label,)+ }
            }

            /// Why the packet was lost, within a sentence.
            pub const fn sentence(self) -> &'static str {
                match self { $(Self::$variant => $sentence,)+ }
            }
        }
    };
}

reasons! {
    /// The queue was full: a limit in packets, bytes or time.
    Tail "drops_tail" "queue full" "the queue was full";
    /// An AQM's early drop: by chance, or (CoDel) since the packet had waited too long.
    Early "drops_early" "early (AQM)" "early drop";
    /// An AQM above its upper threshold: certain, not drawn.
    Forced "drops_forced" "forced (AQM)" "the average queue was above the upper threshold";
    /// A policer (LLQ's included) found it out of contract.
    Policer "drops_policer" "policer" "the policer";
    /// Pushed out of a queue to make room for another packet.
    PushedOut "drops_pushed_out" "pushed out" "pushed out for another packet";
    /// Flow admission refused it.
    Admission "drops_admission" "not admitted" "flow admission refused it";
    /// The link was down.
    LinkDown "drops_link_down" "link down" "the link was down";
    /// No route to its destination.
    Unroutable "drops_unroutable" "no route" "no route to its destination";
    /// Longer, its labels included, than the link carries (its MTU).
    TooBig "drops_too_big" "above the MTU" "it is longer than the link's MTU";
    /// Lost at random on the link.
    LinkLoss "drops_link_loss" "lost on the link" "lost at random on the link";
    /// A node had no room to keep it until it is forwarded.
    InputQueue "drops_input_queue" "input queue full" "the input queue was full";
    /// A cell of its AAL5 frame was lost in an ATM switch.
    Cell "drops_cell" "cell lost" "a cell of its frame was lost in an ATM switch";
    /// Its AAL5 frame was taken for a part of the one before, whose last cell was lost.
    Frame "drops_frame" "frame merged" "the last cell of the frame before was lost, so that both were taken for one";
    /// Its frame began where an ATM switch was above its threshold of early packet discard.
    EarlyFrame "drops_epd" "early (EPD)" "early packet discard in an ATM switch";
    /// An acknowledgment that a later one in its queue makes superfluous (CAKE's ACK filter).
    Filtered "drops_ack_filter" "ACK filter" "a later acknowledgment tells the same and more";
}

impl DropReason {
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
