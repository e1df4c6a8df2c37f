//! What a policy must know of the line that it is made for: its rate, its longest packet, and which
//! bytes of a packet count.

use spillgate_core::{Overhead, Packet, Rate};

/// The longest IP packet of a line of which nothing else is said, in bytes.
const USUAL_MTU: u16 = 1500;

/// What the rates of a class-based policy count beside the IP packet and its labels, where that is
/// not what the packet occupies on the link: a router counts the bytes that it queues, not those
/// that its hardware adds. Limits in bytes count what the packets occupy on the link in any case.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Counting {
    /// What policers and the policers of priority classes count; none: what the link adds.
    pub policers: Option<Overhead>,
    /// What shapers and the shares of classes count; none: what the link adds.
    pub queues: Option<Overhead>,
}

impl Counting {
    /// Whether all rates count what the link adds.
    pub fn is_of_link(self) -> bool {
        self == Self::default()
    }
}

/// The bytes of a packet by `counted`.
#[inline]
pub(crate) fn bytes(counted: Option<Overhead>, packet: &Packet) -> u32 {
    match counted {
        None => packet.len,
        Some(o) => o.labelled_len(packet.l3_len, packet.labels.bytes()),
    }
}

/// The bytes of the longest packet. No default burst, bucket or quantum is smaller.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Longest {
    /// On the link.
    pub occupied: u32,
    /// As policers count.
    pub policed: u32,
    /// As shapers count.
    pub shaped: u32,
}

impl Default for Longest {
    fn default() -> Self {
        Self {
            occupied: USUAL_MTU.into(),
            policed: USUAL_MTU.into(),
            shaped: USUAL_MTU.into(),
        }
    }
}

/// The line that a policy is made for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Line {
    /// Its rate.
    pub rate: Rate,
    /// Its longest packet.
    pub longest: Longest,
    /// What the policy counts.
    pub counting: Counting,
}

impl Line {
    /// A line that adds `overhead` to packets of up to `mtu` bytes, MPLS labels included; none: of
    /// up to 1500 bytes and `labels` bytes of labels.
    pub fn new(
        rate: Rate,
        overhead: Overhead,
        mtu: Option<u16>,
        labels: u16,
        counting: Counting,
    ) -> Self {
        let mtu = mtu.unwrap_or(USUAL_MTU + labels);
        let longest = |counted: Option<Overhead>| counted.unwrap_or(overhead).wire_len(mtu);
        Self {
            rate,
            longest: Longest {
                occupied: overhead.wire_len(mtu),
                policed: longest(counting.policers),
                shaped: longest(counting.queues),
            },
            counting,
        }
    }

    /// The same line at another rate.
    #[must_use]
    pub fn at(self, rate: Rate) -> Self {
        Self { rate, ..self }
    }
}

/// A line that adds nothing to packets of up to 1500 bytes.
impl From<Rate> for Line {
    fn from(rate: Rate) -> Self {
        Self {
            rate,
            longest: Longest::default(),
            counting: Counting::default(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use spillgate_core::Cells;

    /// Rates that count other bytes than the link count labels, too.
    #[test]
    fn labels_count_whatever_else_does() {
        let mut packet = Packet::new(0, 0, 100);
        (0..2).for_each(|exp| packet.labels.push(exp));
        packet.len = 146;
        assert_eq!(bytes(None, &packet), 146);
        let frame = Overhead::new(14, 0, Cells::None);
        assert_eq!(bytes(Some(frame), &packet), 122);
    }
}
