//! What a TCP segment acknowledges, for queues that look into TCP headers.

use crate::time::Time;

/// What a TCP segment tells its receiver beside data: the fields that CAKE's ACK filter reads.
///
/// It stands for the headers of a packet, which [`crate::Packet`] leaves out: who drives a queue
/// hands it over beside the packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Acknowledgment {
    /// The next byte expected; it does not wrap.
    pub number: u64,
    /// Selectively acknowledged bytes `start..end` (RFC 2018), in the order of the header; an empty
    /// one ends them.
    pub blocks: [(u64, u64); 3],
    /// Timestamp value and echo (RFC 7323); zero without that option.
    pub stamps: [Time; 2],
    /// It tells nothing else: no data, no flag but ACK, ECE and CWR, and no option but the above.
    pub is_pure: bool,
    /// ECE.
    pub ece: bool,
    /// CWR.
    pub cwr: bool,
}

impl Acknowledgment {
    /// A pure acknowledgment of all bytes before `number`, without options.
    ///
    /// ```
    /// use spillgate_core::Acknowledgment;
    ///
    /// let ack = Acknowledgment::of(1449);
    /// assert!(ack.is_pure && ack.selective().count() == 0);
    /// ```
    pub const fn of(number: u64) -> Self {
        Self {
            number,
            blocks: [(0, 0); 3],
            stamps: [Time::ZERO; 2],
            is_pure: true,
            ece: false,
            cwr: false,
        }
    }

    /// The selectively acknowledged ranges.
    pub fn selective(&self) -> impl Iterator<Item = (u64, u64)> + '_ {
        self.blocks.iter().copied().take_while(|(a, b)| a < b)
    }
}
