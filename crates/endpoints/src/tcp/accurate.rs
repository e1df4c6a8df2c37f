//! Accurate ECN feedback (RFC 9768): the ACE field, its encoding in the handshake, the byte
//! counters of the AccECN option, and how the sender of data reads them.
//!
//! Data flow one way here, so only the receiver of data counts marks, and only its acknowledgments
//! carry the option. It has the two counters that can change: that of CE, and that of the
//! codepoint which the connection uses (8 bytes: order 0 with ECT(0), order 1 with ECT(1)).
//!
//! Not included: ECN-capable control packets, and the tests for continuous marks (§3.2.2.3) and for
//! options that are dropped with their packets (§3.2.3.2.2, but for SYN-ACK).

use spillgate_core::Ecn;

use super::config::EcnMode;
use super::segment::Flags;

/// Values of a counter of the option: 24 bits (§3.2.3).
const FIELD: u32 = 1 << 24;

/// What the receiver's counter of marked packets, and that of the sender, begin with (§3.2.1).
const FIRST_PACKETS: u8 = 5;

/// What the counters of ECT(0) and ECT(1) begin with (§3.2.1).
const FIRST_BYTES: u32 = 1;

/// The counters of an AccECN option, in bytes of payload modulo 2²⁴ (RFC 9768 §3.2.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Counters {
    /// The codepoint that `ect` counts: ECT(0) in order 0, ECT(1) in order 1.
    pub codepoint: Ecn,
    /// Bytes that arrived with that codepoint, plus 1: EE0B or EE1B.
    pub ect: u32,
    /// Bytes that arrived with CE: ECEB.
    pub ce: u32,
}

impl Counters {
    /// Bytes of the option: kind, length, and two fields.
    pub const LEN: u16 = 8;

    /// The low 24 bits of two counters.
    pub(super) const fn of(codepoint: Ecn, ect: u32, ce: u32) -> Self {
        Self {
            codepoint,
            ect: ect % FIELD,
            ce: ce % FIELD,
        }
    }

    /// Kind of the option: AccECN0 or AccECN1.
    pub const fn kind(self) -> u8 {
        match self.codepoint {
            Ecn::Ect1 => 174,
            _ => 172,
        }
    }
}

/// The codepoint of an IP header in AE, CWR and ECE: on SYN-ACK that of SYN (table 2), on the
/// acknowledgment that ends the handshake that of SYN-ACK (table 3).
pub(super) const fn reflect(ecn: Ecn) -> Flags {
    Flags::ace(match ecn {
        Ecn::NotEct => 0b010,
        Ecn::Ect1 => 0b011,
        Ecn::Ect0 => 0b100,
        Ecn::Ce => 0b110,
    })
}

/// The mode of a server that supports `own`, by the flags of SYN (§3.1.2 and §3.1.3).
pub(super) fn accept(own: EcnMode, syn: Flags) -> EcnMode {
    match (own, syn.ace_field()) {
        (_, 0b000) | (EcnMode::Off, _) => EcnMode::Off,
        // RFC 3168 §6.1.1: an ECN-setup SYN; a server of that does not look at AE.
        (EcnMode::Classic | EcnMode::Dctcp, n) if n & 0b011 == 0b011 => own,
        (EcnMode::Classic | EcnMode::Dctcp, _) => EcnMode::Off,
        (_, 0b011) => EcnMode::Classic,
        // What is reserved is taken as 0b111.
        (EcnMode::Accurate | EcnMode::L4s, _) => own,
    }
}

/// The mode of a client that asked for `own`, by the flags of SYN-ACK.
pub(super) fn confirm(own: EcnMode, syn_ack: Flags) -> EcnMode {
    match (own, syn_ack.ace_field()) {
        (EcnMode::Off, _) => EcnMode::Off,
        // RFC 3168 §6.1.1.2: with CWR it is an echo of reserved bits.
        (EcnMode::Classic | EcnMode::Dctcp, n) if n & 0b011 == 0b001 => own,
        (EcnMode::Classic | EcnMode::Dctcp, _) => EcnMode::Off,
        // Table 2: no support, and reflected flags.
        (_, 0b000 | 0b111) => EcnMode::Off,
        (_, 0b001) => EcnMode::Classic,
        (EcnMode::Accurate | EcnMode::L4s, _) => own,
    }
}

/// Whether SYN, sent as Not-ECT, did not arrive so, by the flags of SYN-ACK (§3.2.2.3). 0b101 is
/// reserved and means that it did (§3.1.3).
pub(super) const fn is_mangled(syn_ack: Flags) -> bool {
    !matches!(syn_ack.ace_field(), 0b010 | 0b101)
}

/// Marked packets that an ACE field tells of (§3.2.2.5.2, appendix A.2): `ace` is the field, `seen`
/// the counter so far, `acked` about how many packets are newly acknowledged, and `bytes` what the
/// option says of newly marked bytes, if it is there; `mss` is the length of a full one.
///
/// Beyond seven packets the field may have wrapped. Without an option as many packets are taken as
/// marked as can be; with it only where the bytes do not fit into fewer.
pub(super) fn marked_packets(ace: u8, seen: u8, acked: u32, bytes: Option<u32>, mss: u32) -> u32 {
    let fewest = u32::from(ace.wrapping_sub(seen) & 7);
    if acked <= 7 {
        return fewest;
    }
    let most = acked - (acked.wrapping_sub(fewest) & 7);
    match bytes {
        None => most,
        Some(bytes) if bytes > fewest * mss => {
            let wraps = (bytes - fewest * mss).div_ceil(8 * mss);
            (fewest + 8 * wraps).min(most.max(fewest))
        }
        Some(_) => fewest,
    }
}

/// What the receiver of data counts.
#[derive(Clone, Debug)]
pub(super) struct Counts {
    /// r.ceb.
    ce_bytes: u32,
    /// r.e0b or r.e1b.
    ect_bytes: u32,
    /// r.cep.
    pub(super) packets: u8,
    /// Marked packets since the last acknowledgment.
    pub(super) unsaid: u8,
    /// The last packet was marked.
    marked: bool,
    /// The IP header of the last SYN.
    pub(super) syn: Ecn,
}

impl Default for Counts {
    fn default() -> Self {
        Self {
            ce_bytes: 0,
            ect_bytes: FIRST_BYTES,
            packets: FIRST_PACKETS,
            unsaid: 0,
            marked: false,
            syn: Ecn::NotEct,
        }
    }
}

impl Counts {
    /// A packet with `len` bytes of payload arrived with `ecn` (§3.2), on a connection that uses
    /// `codepoint`; whether it is acknowledged at once: with the first of a run of marks, and with
    /// every second mark (§3.2.2.5.1).
    pub(super) fn add(&mut self, len: u16, ecn: Ecn, codepoint: Ecn) -> bool {
        let ce = ecn == Ecn::Ce;
        if ce {
            self.ce_bytes = self.ce_bytes.wrapping_add(len.into());
            self.packets = self.packets.wrapping_add(1);
            self.unsaid += 1;
        } else if ecn == codepoint {
            self.ect_bytes = self.ect_bytes.wrapping_add(len.into());
        }
        let begins = ce && !self.marked;
        self.marked = ce;
        begins || self.unsaid >= 2
    }

    /// What the option says.
    pub(super) const fn option(&self, codepoint: Ecn) -> Counters {
        Counters::of(codepoint, self.ect_bytes, self.ce_bytes)
    }
}

/// What the sender of data knows of the receiver's counters.
#[derive(Clone, Copy, Debug)]
pub(super) struct Feedback {
    /// s.ceb, modulo 2²⁴.
    ce: u32,
    /// s.e0b or s.e1b, modulo 2²⁴.
    ect: u32,
    /// Bytes delivered while options told of no byte with a codepoint: [`Feedback::PROOF`]
    /// segments prove that the path clears the field.
    blind: u32,
    /// s.cep.
    packets: u8,
    /// r.cep: what arrived with CE here, where only SYN-ACK can.
    own: u8,
    /// The IP header of SYN-ACK.
    syn_ack: Ecn,
    /// The next acknowledgment is the first (§3.2.2.4).
    first: bool,
    /// Data are not ECN-capable: the path alters the field.
    forgone: bool,
}

/// What an acknowledgment told.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct News {
    /// Newly marked bytes of payload.
    pub(super) bytes: u64,
    /// The path or the peer clears ECN fields: the sender sets none from now on.
    pub(super) cleared: bool,
}

impl Feedback {
    /// So many segments' bytes with nothing counted prove it.
    const PROOF: u32 = 4;

    /// At the begin of a connection.
    pub(super) const fn new() -> Self {
        Self {
            ce: 0,
            ect: FIRST_BYTES,
            blind: 0,
            packets: FIRST_PACKETS,
            own: FIRST_PACKETS,
            syn_ack: Ecn::NotEct,
            first: true,
            forgone: false,
        }
    }

    /// SYN-ACK arrived with this in its IP header.
    pub(super) fn saw_syn_ack(&mut self, ecn: Ecn) {
        self.syn_ack = ecn;
        self.own = FIRST_PACKETS + u8::from(ecn == Ecn::Ce);
    }

    /// Sends data as not ECN-capable from now on.
    pub(super) const fn forgo_ect(&mut self) {
        self.forgone = true;
    }

    /// Whether it does.
    pub(super) const fn forgoes_ect(&self) -> bool {
        self.forgone
    }

    /// ACE of a segment with data, and of the acknowledgment of SYN-ACK.
    pub(super) const fn flags(&self) -> (Flags, Flags) {
        (Flags::ace(self.own), reflect(self.syn_ack))
    }

    /// An acknowledgment that no later one has overtaken, of `delivered` bytes in segments of
    /// `mss`.
    pub(super) fn read(
        &mut self,
        ace: u8,
        option: Option<Counters>,
        delivered: u64,
        mss: u16,
    ) -> News {
        // §3.2.2.4: a counter begins at 5.
        if std::mem::take(&mut self.first) && ace == 0 {
            return News {
                bytes: 0,
                cleared: true,
            };
        }
        let mss = u32::from(mss);
        let acked = delivered.div_ceil(mss.into()).min(u32::MAX.into()) as u32;
        let told = option.map(|o| self.count(o));
        let packets = marked_packets(ace, self.packets, acked, told.map(|t| t.1), mss);
        self.packets = self.packets.wrapping_add(packets as u8);
        let Some((ect, ce)) = told else {
            // Appendix A.3: marked packets are as long as others.
            let most = delivered.max(mss.into());
            return News {
                bytes: (u64::from(packets) * u64::from(mss)).min(most),
                cleared: false,
            };
        };
        if ect > 0 || ce > 0 {
            self.blind = 0;
        } else {
            self.blind = self.blind.saturating_add(delivered as u32);
        }
        let never = self.ce == 0 && self.ect == FIRST_BYTES;
        News {
            bytes: ce.into(),
            cleared: never && !self.forgone && self.blind >= Self::PROOF * mss,
        }
    }

    /// Takes the counters of an option over; by how much each has grown, as ECT and CE. An older
    /// one has not.
    fn count(&mut self, option: Counters) -> (u32, u32) {
        let ahead = |field: u32, seen: u32| {
            let by = field.wrapping_sub(seen) % FIELD;
            if by < FIELD / 2 { by } else { 0 }
        };
        let (ect, ce) = (ahead(option.ect, self.ect), ahead(option.ce, self.ce));
        self.ect = (self.ect + ect) % FIELD;
        self.ce = (self.ce + ce) % FIELD;
        (ect, ce)
    }
}

#[cfg(test)]
#[path = "accurate_tests.rs"]
mod tests;
