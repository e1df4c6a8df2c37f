//! What TCP puts on the wire: metadata only.

use spillgate_core::{Acknowledgment, Ecn, Time};

use super::accurate::Counters;
use super::config::TcpConfig;

/// Control bits of a segment (RFC 9293 §3.1, RFC 3168 §6.1).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Flags(u8);

impl Flags {
    /// No flag.
    pub const NONE: Self = Self(0);
    /// The sender has sent all of its data; takes one sequence number.
    pub const FIN: Self = Self(1);
    /// Opens a connection; takes one sequence number.
    pub const SYN: Self = Self(2);
    /// All that was written has been sent; set by those who take it for a wish to be acknowledged.
    pub const PSH: Self = Self(8);
    /// The acknowledgment field is valid.
    pub const ACK: Self = Self(16);
    /// Accurate ECN (RFC 9768), the high bit of ACE; on the wire the bit before CWR.
    pub const AE: Self = Self(32);
    /// Congestion was experienced on the way to the receiver.
    pub const ECE: Self = Self(64);
    /// The sender has reduced its congestion window.
    pub const CWR: Self = Self(128);

    /// AE, CWR and ECE as the three bits of ACE (RFC 9768 §3.2.2).
    pub const fn ace(bits: u8) -> Self {
        Self::NONE
            .with_if(Self::AE, bits & 4 > 0)
            .with_if(Self::CWR, bits & 2 > 0)
            .with_if(Self::ECE, bits & 1 > 0)
    }

    /// ACE: AE, CWR and ECE as a number of three bits.
    pub const fn ace_field(self) -> u8 {
        (self.has(Self::AE) as u8) << 2
            | (self.has(Self::CWR) as u8) << 1
            | self.has(Self::ECE) as u8
    }

    /// Whether every flag of `other` is set.
    #[inline]
    pub const fn has(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    /// These flags, and those of `other` where `when` holds.
    #[inline]
    #[must_use]
    pub const fn with_if(self, other: Self, when: bool) -> Self {
        Self(if when { self.0 | other.0 } else { self.0 })
    }
}

impl std::ops::BitOr for Flags {
    type Output = Self;
    fn bitor(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

/// Up to three ranges that the receiver holds beyond the acknowledgment (RFC 2018 §3).
///
/// As on the wire they are 32 bits wide, so a segment fits one cache line; all lie
/// within 2 GiB of the acknowledgment that they belong to, which tells the rest.
/// In place of a third block there may be a number: options share their space.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SackBlocks([(u32, u32); 3]);

impl SackBlocks {
    /// None.
    pub const EMPTY: Self = Self([(0, 0); 3]);

    /// Puts a number where a third block would be, if there is none.
    pub(super) fn set_spare(&mut self, number: u32) {
        if self.0[2].1 == 0 {
            self.0[2].0 = number;
        }
    }

    /// The number in place of a third block.
    const fn spare(&self) -> u32 {
        self.0[2].0
    }

    /// Adds `start..end`, of less than 4 GiB; a fourth block and an empty one are left out.
    pub fn push(&mut self, start: u64, end: u64) {
        let i = self.len();
        if i < 3 && start < end {
            let len = u32::try_from(end - start).unwrap_or(u32::MAX);
            self.0[i] = (start as u32, len);
        }
    }

    /// How many there are, 0..=3.
    pub fn len(&self) -> usize {
        self.0.iter().take_while(|b| b.1 > 0).count()
    }

    /// Whether there is none.
    #[inline]
    pub const fn is_empty(&self) -> bool {
        self.0[0].1 == 0
    }

    /// The ranges `start..end`, the one that changed last first, in a segment that
    /// acknowledges `ack`.
    pub fn iter(&self, ack: u64) -> impl Iterator<Item = (u64, u64)> + '_ {
        self.0
            .iter()
            .take_while(|b| b.1 > 0)
            .map(move |&(low, len)| {
                let distance = low.wrapping_sub(ack as u32) as i32;
                let start = ack.wrapping_add_signed(distance.into());
                (start, start + u64::from(len))
            })
    }
}

/// The codepoint and ECEB of the AccECN option, packed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MarkedField(u32);

/// A segment. Sequence numbers are 64-bit and do not wrap: SYN is number 0,
/// data begin at 1, FIN takes the number after the last byte. The receive window is
/// not carried: the receiver reads at once, so it is [`TcpConfig::max_window`] in each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Segment {
    /// Number of the first byte of the payload (of SYN or FIN where there is none).
    pub seq: u64,
    /// Next byte expected from the peer; valid with [`Flags::ACK`].
    pub ack: u64,
    /// When it was sent (RFC 7323 timestamp value; carried in every profile).
    pub ts_val: Time,
    /// The timestamp that this segment echoes.
    pub ts_ecr: Time,
    /// Selective acknowledgments.
    pub sack: SackBlocks,
    /// Half of the AccECN option; the other half is in `sack`. See [`Segment::counters`].
    pub marked: MarkedField,
    /// Payload bytes.
    pub len: u16,
    /// Control bits.
    pub flags: Flags,
    /// Codepoint that the IP header gets.
    pub ect: Ecn,
}

const _: () = assert!(std::mem::size_of::<Segment>() <= 64);

impl Segment {
    /// An empty segment with `flags`, sent at `now`.
    pub const fn bare(seq: u64, flags: Flags, now: Time) -> Self {
        Self {
            seq,
            ack: 0,
            ts_val: now,
            ts_ecr: Time::ZERO,
            sack: SackBlocks::EMPTY,
            marked: MarkedField(0),
            len: 0,
            flags,
            ect: Ecn::NotEct,
        }
    }

    /// Adds the AccECN option. Beside three selective acknowledgments there is no room for it,
    /// which go first (RFC 9768 §3.2.3.3).
    pub fn set_counters(&mut self, c: Counters) {
        if self.sack.len() < 3 {
            self.sack.set_spare(c.ect);
            self.marked = MarkedField((c.codepoint as u32) << 24 | c.ce);
        }
    }

    /// The counters of the AccECN option, if there is one.
    pub const fn counters(&self) -> Option<Counters> {
        let codepoint = Ecn::from_bits((self.marked.0 >> 24) as u8);
        if !codepoint.is_capable() {
            return None;
        }
        Some(Counters::of(codepoint, self.sack.spare(), self.marked.0))
    }

    /// What its headers acknowledge; none without ACK, and with SYN, before which nothing was.
    pub fn acknowledgment(&self, cfg: &TcpConfig) -> Option<Acknowledgment> {
        if !self.flags.has(Flags::ACK) || self.flags.has(Flags::SYN) {
            return None;
        }
        let mut blocks = [(0, 0); 3];
        for (block, said) in blocks.iter_mut().zip(self.sack.iter(self.ack)) {
            *block = said;
        }
        let beside = [Flags::FIN, Flags::PSH, Flags::AE];
        let alone = !beside.iter().any(|f| self.flags.has(*f)) && self.counters().is_none();
        Some(Acknowledgment {
            number: self.ack,
            blocks,
            stamps: match cfg.timestamps {
                true => [self.ts_val, self.ts_ecr],
                false => [Time::ZERO; 2],
            },
            is_pure: self.len == 0 && alone,
            ece: self.flags.has(Flags::ECE),
            cwr: self.flags.has(Flags::CWR),
        })
    }

    /// The sequence number after the segment: SYN and FIN count as one byte each.
    #[inline]
    pub const fn end(&self) -> u64 {
        self.seq
            + self.len as u64
            + self.flags.has(Flags::SYN) as u64
            + self.flags.has(Flags::FIN) as u64
    }

    /// Length of the IP packet in bytes: 40 of IPv4 and TCP headers, the
    /// options where the profile counts them (padded to 4 bytes as common
    /// implementations do), and the payload.
    pub fn wire_len(&self, cfg: &TcpConfig) -> u16 {
        let mut options = 0;
        if cfg.count_options {
            let syn = self.flags.has(Flags::SYN);
            if cfg.timestamps {
                options += 12; // RFC 7323 §3.2 and appendix A
            }
            if syn {
                // Maximum segment size (RFC 9293 §3.7.1), window scale (RFC 7323 §2.2) and
                // SACK permitted (RFC 2018 §2), the latter in the timestamps' padding if any.
                options += 8 + if cfg.sack && !cfg.timestamps { 4 } else { 0 };
            }
            if !self.sack.is_empty() {
                options += 4 + 8 * self.sack.len() as u16; // RFC 2018 §3
            }
            if self.counters().is_some() {
                options += Counters::LEN; // RFC 9768 §3.2.3
            }
        }
        40 + options + self.len
    }
}
