//! The packet record that disciplines, links and sources hand to each other.

use crate::dscp::{Dscp, Ecn};
use crate::marks::{Cos, Marks};
use crate::mpls::Labels;
use crate::time::Time;

/// What a queue needs to know of a packet: metadata only, never bytes.
///
/// It is `Copy`, lives by value in the ring of whatever holds it, and fits a
/// cache line. A live driver keeps the bytes under [`Packet::handle`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Packet {
    /// The driver's own name for the packet; disciplines pass it through.
    pub handle: u64,
    /// When the source emitted it.
    pub sent: Time,
    /// When it arrived at the port that holds it now; the port sets it.
    pub arrived: Time,
    /// Scratch of the scheduler that holds it (a virtual finish time, a sequence number); from its
    /// arrival at a node until it is classified, [`Packet::marks`].
    pub tag: u64,
    /// Dense index of the flow it belongs to.
    pub flow: u32,
    /// Number within the flow, from 0.
    pub seq: u32,
    /// Length in bytes as the present port counts it: [`Packet::l3_len`], labels, and the link's
    /// overhead.
    pub len: u32,
    /// Hash of the flow's addresses, ports and protocol ([`crate::FlowKey::hash`]).
    pub hash: u32,
    /// Length of the IP packet in bytes.
    pub l3_len: u16,
    /// Scratch of the discipline that holds it: the leaf it was put into.
    pub leaf: u16,
    /// Differentiated services code point.
    pub dscp: Dscp,
    /// Explicit congestion notification field.
    pub ecn: Ecn,
    /// MPLS labels in front of the IP header.
    pub labels: Labels,
    /// Priority of the 802.1Q tag in which it came to the node, or got there.
    pub cos: Cos,
}

// A larger one is felt in every queue.
const _: () = assert!(std::mem::size_of::<Packet>() <= 56);

impl Packet {
    /// A packet of `len` bytes (network layer and on the port alike) with every other field zero.
    pub fn new(flow: u32, seq: u32, len: u16) -> Self {
        Self {
            handle: 0,
            sent: Time::ZERO,
            arrived: Time::ZERO,
            tag: 0,
            flow,
            seq,
            len: u32::from(len),
            hash: 0,
            l3_len: len,
            leaf: 0,
            dscp: Dscp::DEFAULT,
            ecn: Ecn::NotEct,
            labels: Labels::NONE,
            cos: Cos::NONE,
        }
    }

    /// Goes on along its path without the hops that it takes otherwise.
    pub fn skip_hops(&mut self, hops: u32) {
        self.handle += u64::from(hops) << 32;
    }

    /// The length of IP packet and labels in bytes: what counts against an MTU, and in a node.
    #[inline]
    pub fn size(&self) -> u32 {
        u32::from(self.l3_len) + u32::from(self.labels.bytes())
    }

    /// What the node has noted of it; of no meaning once it is queued.
    #[inline]
    pub fn marks(&self) -> Marks {
        Marks::from_tag(self.tag)
    }

    /// Notes something of it, before it is queued.
    #[inline]
    pub fn set_marks(&mut self, marks: Marks) {
        self.tag = marks.tag();
    }

    /// The code point by which a queue treats the packet: of a labelled one the class selector of
    /// its traffic class (RFC 3270 §2.6), else its DSCP.
    #[inline]
    pub fn treated_as(&self) -> Dscp {
        if self.labels.is_plain() {
            return self.dscp;
        }
        match self.labels.tc() {
            Some(tc) => Dscp::class_selector(tc),
            None => self.dscp,
        }
    }
}
