//! The receiving endpoint: reassembly, acknowledgments, ECN feedback.

use std::sync::Arc;

use spillgate_core::{Ecn, Time};

use super::accurate::{self, Counts};
use super::config::{EcnMode, TcpConfig};
use super::reassembly::Ranges;
use super::segment::{Flags, SackBlocks, Segment};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Opening {
    /// Waits for SYN.
    Listen,
    /// SYN-ACK sent and not answered yet.
    SynReceived,
    /// Data flow.
    Open,
}

/// Takes a transfer apart into acknowledgments; reads every byte at once.
///
/// What every segment touches comes first, in two cache lines.
#[derive(Clone, Debug)]
#[repr(C)]
pub struct Receiver {
    cfg: Arc<TcpConfig>,
    /// Next number expected.
    nxt: u64,
    last_ack_sent: u64,
    /// Number of FIN, once seen.
    fin: u64,
    /// TS.Recent (RFC 7323 §4.3).
    ts_recent: Time,
    /// When the delayed acknowledgment leaves.
    ack_at: Time,
    /// When SYN-ACK is sent again.
    syn_at: Time,
    opening: Opening,
    /// Segments not acknowledged yet.
    unacked: u8,
    ack_now: bool,
    syn_due: bool,
    /// What the handshake made of it.
    ecn: EcnMode,
    ece: bool,
    /// So many acknowledgments are not delayed.
    quick: u8,
    /// Data are [answered at once](Receiver::answer).
    prompt: bool,
    /// Beyond the next number expected.
    held: Ranges,
    /// ACK number of an acknowledgment that must precede the next (RFC 8257 §3.2), [`u64::MAX`]
    /// for none; its ECE is `overdue_ece`.
    overdue: u64,
    /// With selective acknowledgments or accurate feedback; none without.
    reported: Option<Box<Reported>>,
    /// So many SYN-ACK, at most 65535: no more are counted.
    syn_sent: u16,
    overdue_ece: bool,
}

const _: () = assert!(std::mem::size_of::<Receiver>() <= 128);

/// What acknowledgments tell beside what has arrived.
#[derive(Clone, Debug, Default)]
struct Reported {
    /// The segment that came twice, to be reported once (RFC 2883).
    duplicate: (u64, u64),
    /// A number in each of the ranges that changed last, latest first.
    recent: [u64; 3],
    /// Marks, for accurate feedback.
    counts: Counts,
}

impl Receiver {
    /// Passive open: waits for SYN, or for data where the profile has no handshake.
    pub fn new(cfg: &Arc<TcpConfig>) -> Self {
        let reported = (cfg.sack || cfg.ecn.is_accurate()).then(Box::default);
        Self::with(cfg, Ranges::default(), reported)
    }

    /// As [`Receiver::new`] would make it with the same configuration, without
    /// giving back the memory: for one session after the other.
    pub fn reset(&mut self) {
        let cfg = Arc::clone(&self.cfg);
        let mut held = std::mem::take(&mut self.held);
        held.clear();
        let mut reported = self.reported.take();
        if let Some(r) = &mut reported {
            **r = Reported::default();
        }
        *self = Self::with(&cfg, held, reported);
    }

    fn with(cfg: &Arc<TcpConfig>, held: Ranges, reported: Option<Box<Reported>>) -> Self {
        let open = !cfg.handshake;
        Self {
            nxt: u64::from(open),
            held,
            fin: u64::MAX,
            reported,
            ts_recent: Time::ZERO,
            last_ack_sent: u64::from(open),
            ack_at: Time::MAX,
            syn_at: Time::MAX,
            overdue: u64::MAX,
            overdue_ece: false,
            syn_sent: 0,
            opening: if open { Opening::Open } else { Opening::Listen },
            unacked: 0,
            ack_now: false,
            syn_due: false,
            ecn: if open { cfg.agreed() } else { EcnMode::Off },
            ece: false,
            quick: cfg.quick_acks,
            // No segment is longer than the smallest window that this asks for.
            prompt: cfg.is_plain()
                && cfg.delayed_ack.is_none()
                && cfg.max_window >= u64::from(u16::MAX),
            cfg: Arc::clone(cfg),
        }
    }

    /// Bytes handed to the application, in order.
    pub fn delivered_bytes(&self) -> u64 {
        self.nxt.min(self.fin).saturating_sub(1)
    }

    /// Bytes of payload that have arrived, in order or not, each once.
    pub fn arrived_bytes(&self) -> u64 {
        let ahead = self.held.bytes();
        // FIN takes a number, but no byte.
        let fin = self.fin < u64::MAX && self.nxt <= self.fin;
        self.delivered_bytes() + ahead - u64::from(fin).min(ahead)
    }

    /// Whether everything up to FIN has been delivered.
    pub fn is_finished(&self) -> bool {
        self.nxt > self.fin
    }

    /// A segment arrived; `ecn` is what its IP header says now.
    pub fn handle_segment(&mut self, now: Time, seg: &Segment, ecn: Ecn) {
        if seg.flags.has(Flags::SYN) {
            return self.handle_syn(seg, ecn);
        }
        match self.opening {
            Opening::Listen => return,
            Opening::SynReceived => {
                self.opening = Opening::Open;
                self.syn_at = Time::MAX;
                self.syn_due = false;
            }
            Opening::Open => {}
        }
        let (start, end) = (seg.seq, seg.end());
        if start == end {
            return;
        }
        if start + u64::from(seg.len) > self.nxt.saturating_add(self.cfg.max_window) {
            self.ack_now = true; // RFC 9293 §3.10.7.4: outside the window
            return;
        }
        self.handle_ecn(seg, ecn);
        if self.cfg.quick_acks > 0 {
            self.hurry(seg);
        }
        if start <= self.last_ack_sent {
            self.ts_recent = seg.ts_val;
        }
        if seg.flags.has(Flags::FIN) {
            self.fin = end - 1;
            self.ack_now = true;
        }
        if end <= self.nxt {
            // Farther below a block could be taken for one above.
            if self.nxt - start < 1 << 31 {
                self.came_twice(start, end);
            }
            self.quick = self.quick.max(self.cfg.quick_acks);
            self.ack_now = true;
        } else if start > self.nxt {
            let new = self.held.insert(start, end);
            if new == 0 {
                self.came_twice(start, end);
            }
            self.remember(start);
            self.ack_now = true; // RFC 5681 §4.2
        } else {
            self.advance(now, end);
        }
    }

    /// Takes a segment of data that is acknowledged at once, whether it is in order or not, and
    /// gives the acknowledgment: as [`Receiver::handle_segment`] and [`Receiver::poll_transmit`]
    /// together. None, and nothing done, if the segment or the profile asks for more.
    #[inline]
    pub fn answer(&mut self, now: Time, seg: &Segment) -> Option<Segment> {
        let at_once =
            self.prompt && self.opening == Opening::Open && seg.flags == Flags::ACK && seg.len > 0;
        if !at_once {
            return None;
        }
        let next = seg.seq;
        if next == self.nxt && next == self.last_ack_sent && self.held.is_empty() {
            self.nxt = next + u64::from(seg.len);
            self.ts_recent = seg.ts_val;
        } else {
            self.handle_segment(now, seg, Ecn::NotEct);
            self.unacked = 0;
        }
        self.ack_now = false;
        self.last_ack_sent = self.nxt;
        Some(Segment {
            ack: self.nxt,
            ts_ecr: self.ts_recent,
            ..Segment::bare(1, Flags::ACK, now)
        })
    }

    fn handle_syn(&mut self, seg: &Segment, ecn: Ecn) {
        if self.opening == Opening::Open {
            self.ack_now = true;
            return;
        }
        // RFC 9768 §3.1.5: accurate feedback stays, and tells of the latest SYN.
        if !self.ecn.is_accurate() {
            self.ecn = accurate::accept(self.cfg.peer_ecn, seg.flags);
        }
        if let Some(r) = &mut self.reported {
            r.counts.syn = ecn;
        }
        self.opening = Opening::SynReceived;
        self.nxt = 1;
        self.ts_recent = seg.ts_val;
        self.syn_due = true;
    }

    #[inline]
    fn advance(&mut self, now: Time, end: u64) {
        self.nxt = end;
        if !self.held.is_empty() {
            self.ack_now = true; // it fills a gap, or part of one: RFC 5681 §4.2
            self.nxt = self.held.take_from(end);
        }
        self.unacked = self.unacked.saturating_add(1);
        match self.cfg.delayed_ack {
            Some(d) if self.unacked < d.every && self.quick == 0 => {
                if self.ack_at == Time::MAX {
                    self.ack_at = now + d.timeout;
                }
            }
            _ => self.ack_now = true,
        }
    }

    fn handle_ecn(&mut self, seg: &Segment, ecn: Ecn) {
        let ce = ecn == Ecn::Ce;
        match self.ecn {
            EcnMode::Off => {}
            EcnMode::Classic => {
                let echoed = self.ece && !seg.flags.has(Flags::CWR);
                if ce && !echoed && self.cfg.quick_acks > 0 {
                    self.quick = self.quick.max(2); // the window may be small soon
                }
                // RFC 3168 §6.1.3: until CWR arrives.
                self.ece = ce || echoed;
            }
            EcnMode::Dctcp => {
                // RFC 8257 §3.2: what is unacknowledged came in the other state.
                if ce != self.ece && self.unacked > 0 {
                    (self.overdue, self.overdue_ece) = (self.nxt, self.ece);
                    self.unacked = 0;
                }
                self.ece = ce;
            }
            EcnMode::Accurate | EcnMode::L4s => {
                if let Some(r) = &mut self.reported {
                    self.ack_now |= r.counts.add(seg.len, ecn, self.ecn.codepoint());
                }
            }
        }
    }

    /// Linux acknowledges at once after a silence, what ends a write, and what tells of a reduced
    /// window.
    fn hurry(&mut self, seg: &Segment) {
        if seg.ts_val.since(self.ts_recent) > self.cfg.min_rto {
            self.quick = self.quick.max(self.cfg.quick_acks);
        }
        let reduced = self.ecn == EcnMode::Classic && seg.flags.has(Flags::CWR);
        self.ack_now |= seg.len > 0 && (reduced || seg.flags.has(Flags::PSH));
    }

    /// The segment is to be reported (RFC 2883).
    fn came_twice(&mut self, start: u64, end: u64) {
        if let Some(r) = &mut self.reported {
            r.duplicate = (start, end);
        }
    }

    /// RFC 2018 §4: the range with the latest segment comes first.
    fn remember(&mut self, start: u64) {
        let Some(r) = &mut self.reported else { return };
        let range = self.held.containing(start);
        let [a, b, c] = r.recent;
        r.recent = if self.held.containing(a) == range {
            [start, b, c]
        } else if self.held.containing(b) == range {
            [start, a, c]
        } else {
            [start, a, b]
        };
    }

    /// To be called at [`Receiver::poll_timeout`]; earlier calls do nothing.
    pub fn handle_timeout(&mut self, now: Time) {
        if now >= self.ack_at {
            self.ack_now = true;
        }
        if now >= self.syn_at {
            self.syn_at = Time::MAX;
            self.syn_due = u32::from(self.syn_sent) <= self.cfg.syn_retries;
        }
    }

    /// When the receiver sends SYN-ACK again; [`Time::MAX`] if it is answered, or has not been
    /// sent.
    #[inline]
    pub fn syn_timeout(&self) -> Time {
        self.syn_at
    }

    /// When the receiver wants to be called.
    pub fn poll_timeout(&self) -> Option<Time> {
        Some(self.ack_at.min(self.syn_at)).filter(|&t| t < Time::MAX)
    }

    /// The next segment to send; call until none.
    pub fn poll_transmit(&mut self, now: Time) -> Option<Segment> {
        if self.syn_due {
            self.syn_due = false;
            let first = self.cfg.initial_rto;
            self.syn_at = now
                + match self.syn_sent {
                    0 => first,
                    row => self.cfg.after_silence(first, row.into()),
                };
            self.syn_sent = self.syn_sent.saturating_add(1);
            return Some(self.syn_ack(now));
        }
        if self.overdue < u64::MAX {
            let ack = std::mem::replace(&mut self.overdue, u64::MAX);
            return Some(self.acknowledge(now, ack, self.overdue_ece));
        }
        if !self.ack_now {
            return None;
        }
        self.ack_now = false;
        self.unacked = 0;
        self.ack_at = Time::MAX;
        self.quick = self.quick.saturating_sub(1);
        Some(self.acknowledge(now, self.nxt, self.ece))
    }

    fn syn_ack(&mut self, now: Time) -> Segment {
        self.last_ack_sent = self.nxt;
        let flags = match (self.accurate(), self.ecn) {
            // RFC 9768 §3.2.3.2.2: the third tries whether the path lets it through without.
            (Some(_), _) if self.syn_sent > 2 => Flags::NONE,
            (Some(c), _) => accurate::reflect(c.syn),
            (None, ecn) => Flags::NONE.with_if(Flags::ECE, ecn != EcnMode::Off),
        };
        let mut segment = Segment {
            ack: self.nxt,
            ts_ecr: self.ts_recent,
            ..Segment::bare(0, Flags::SYN | Flags::ACK | flags, now)
        };
        if self.syn_sent == 1 {
            self.add_option(&mut segment);
        }
        segment
    }

    fn acknowledge(&mut self, now: Time, ack: u64, ece: bool) -> Segment {
        self.last_ack_sent = ack;
        let feedback = match self.accurate() {
            Some(c) => Flags::ace(c.packets),
            None => Flags::NONE.with_if(Flags::ECE, ece),
        };
        let mut segment = Segment {
            ack,
            ts_ecr: self.ts_recent,
            sack: self.sack(),
            ..Segment::bare(1, Flags::ACK | feedback, now)
        };
        self.add_option(&mut segment);
        if let Some(r) = &mut self.reported {
            r.counts.unsaid = 0;
        }
        segment
    }

    /// The counters, if they are what the handshake agreed on.
    fn accurate(&self) -> Option<&Counts> {
        let reported = self.reported.as_deref().filter(|_| self.ecn.is_accurate());
        reported.map(|r| &r.counts)
    }

    /// The AccECN option, where it is used.
    fn add_option(&self, segment: &mut Segment) {
        if let Some(c) = self.accurate().filter(|_| self.cfg.ecn_option) {
            segment.set_counters(c.option(self.ecn.codepoint()));
        }
    }

    fn sack(&mut self) -> SackBlocks {
        let mut blocks = SackBlocks::EMPTY;
        let Some(reported) = self.reported.as_mut().filter(|_| self.cfg.sack) else {
            return blocks;
        };
        let (start, end) = std::mem::take(&mut reported.duplicate);
        blocks.push(start, end); // RFC 2883 §4
        if !self.held.is_empty() {
            let mut seen = [None; 3];
            for (i, &n) in reported.recent.iter().enumerate() {
                let range = self.held.containing(n);
                if let Some((start, end)) = range {
                    if !seen.contains(&range) {
                        seen[i] = range;
                        blocks.push(start, end);
                    }
                }
            }
        }
        blocks
    }
}
