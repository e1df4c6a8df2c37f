//! Loss detection by time and tail loss probes (RFC 8985).

use spillgate_core::{Dur, Time};

use super::{Phase, Selective};
use crate::cc::Cause;
use crate::tcp::scoreboard::Delivered;
use crate::tcp::{Flags, Segment, Sender};

/// A probe that is to leave.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Probe {
    #[default]
    None,
    /// New data, beyond the congestion window if need be.
    New,
    /// The last segment of the scoreboard again.
    Again,
}

/// Variables of §5.2, §5.4 and §7.
#[derive(Clone, Debug)]
pub(in crate::tcp) struct Rack {
    /// When the segment delivered that was sent last was sent, and its end.
    sent: Time,
    end: u64,
    rtt: Dur,
    /// Highest number delivered (RACK.fack).
    fack: u64,
    timer: Time,
    probe_at: Time,
    /// Beyond what was sent when the last probe left (TLP.end_seq); 0: none outstanding.
    probe_end: u64,
    /// Data beyond the one in which a D-SACK widened the window (RACK.dsack_round).
    widened: u64,
    /// Multiples of a quarter of the minimum round trip that reordering may take.
    multiple: u32,
    /// Recoveries until the multiple shrinks again.
    persist: u32,
    probe: Probe,
    probe_was_again: bool,
    reordered: bool,
}

impl Default for Rack {
    fn default() -> Self {
        Self {
            sent: Time::ZERO,
            end: 0,
            rtt: Dur::ZERO,
            fack: 0,
            timer: Time::MAX,
            probe_at: Time::MAX,
            probe_end: 0,
            widened: 0,
            multiple: 1,
            persist: 16,
            probe: Probe::None,
            probe_was_again: false,
            reordered: false,
        }
    }
}

impl Rack {
    pub(in crate::tcp) fn deadline(&self) -> Time {
        self.timer.min(self.probe_at)
    }

    /// A recovery ended (§6.2 step 4): without a spurious retransmission in 16 of them, the
    /// reordering window shrinks to its first size.
    pub(in crate::tcp) fn recovered(&mut self) {
        self.persist = self.persist.saturating_sub(1);
        if self.persist == 0 {
            self.multiple = 1;
        }
    }

    pub(in crate::tcp) fn disarm(&mut self) {
        self.timer = Time::MAX;
        self.disarm_probe();
    }

    pub(in crate::tcp) fn disarm_probe(&mut self) {
        self.probe_at = Time::MAX;
        self.probe = Probe::None;
    }

    /// A segment left; what has been sent now ends at `max` (§7.3: TLP.end_seq).
    pub(in crate::tcp) fn probe_left(&mut self, max: u64) {
        if std::mem::take(&mut self.probe) != Probe::None {
            self.probe_end = max;
        }
    }

    /// There are no new data any more.
    pub(in crate::tcp) fn withdraw_probe_of_new(&mut self) {
        if self.probe == Probe::New {
            self.probe = Probe::None;
        }
    }

    pub(in crate::tcp) fn probe_new(&self) -> bool {
        self.probe == Probe::New
    }

    pub(in crate::tcp) fn probe_again(&self) -> bool {
        self.probe == Probe::Again
    }
}

impl Sender {
    pub(in crate::tcp) fn rack_on_ack(&mut self, now: Time, seg: &Segment, d: &Delivered) {
        self.end_probe(now, seg, d);
        let min_rtt = self.rtt.min();
        let Some(s) = self.sel.as_deref_mut() else {
            return;
        };
        let r = &mut s.rack;
        // §6.2 step 1 and 2: the segment sent last among those delivered, unless the
        // acknowledgment is too early to be for its retransmission.
        if let Some((sent, end, again)) = d.newest {
            let rtt = now.since(sent);
            if !(again && rtt < min_rtt) {
                r.rtt = rtt;
                if (sent, end) > (r.sent, r.end) {
                    (r.sent, r.end) = (sent, end);
                }
            }
        }
        // Step 3: an original below what has been delivered arrived late.
        if d.lowest_first.is_some_and(|e| e < r.fack) {
            r.reordered = true;
        }
        r.fack = r
            .fack
            .max(self.una)
            .max(s.board.highest_sacked().unwrap_or(0));
        // §6.2 step 4: spurious retransmissions widen the window, once per round trip.
        if d.duplicate && self.una > r.widened {
            r.widened = self.max;
            r.multiple = (r.multiple + 1).min(64);
            r.persist = 16;
        }
        self.rack_detect(now);
        if d.bytes > 0 {
            self.arm_probe(now);
        }
    }

    fn reordering_window(&self, s: &Selective) -> Dur {
        if !s.rack.reordered
            && (self.rec.phase != Phase::Open
                || s.board.sacked_bytes >= u64::from(self.cfg.dup_thresh) * u64::from(self.cfg.mss))
        {
            return Dur::ZERO;
        }
        let min = self.rtt.min();
        let quarter = Dur::from_ps(if min == Dur::MAX { 0 } else { min.as_ps() / 4 });
        (quarter * u64::from(s.rack.multiple)).min(self.srtt().unwrap_or(Dur::ZERO))
    }

    /// §6.2 step 5: what was sent before something delivered, and long enough ago, is lost.
    fn rack_detect(&mut self, now: Time) {
        let Some(mut s) = self.sel.take() else { return };
        s.rack.timer = if s.board.sacked_bytes == 0 && s.board.resent_bytes == 0 {
            Time::MAX // everything outstanding was sent after everything delivered
        } else {
            let after = s.rack.rtt + self.reordering_window(&s);
            s.board.lose_older((s.rack.sent, s.rack.end), after, now)
        };
        self.sel = Some(s);
    }

    pub(in crate::tcp) fn rack_timeout(&mut self, now: Time) {
        let Some(r) = self.sel.as_deref().map(|s| &s.rack) else {
            return;
        };
        let (detect, probe) = (now >= r.timer, now >= r.probe_at);
        if detect {
            self.rack_detect(now);
            self.enter_recovery_if_lost(now, 0);
        }
        if probe {
            self.send_probe(now);
        }
    }

    /// §7.2: one probe per tail, two round trips after the last transmission.
    pub(in crate::tcp) fn arm_probe(&mut self, now: Time) {
        let srtt = self.srtt();
        let Some(s) = self.sel.as_deref_mut() else {
            return;
        };
        s.rack.probe_at = Time::MAX;
        if self.rec.phase != Phase::Open
            || s.board.sacked_bytes > 0
            || s.rack.probe_end > 0
            || s.rack.probe != Probe::None
            || self.una == self.max
        {
            return;
        }
        let mut wait = srtt.map_or(Dur::from_secs(1), |s| s * 2);
        if self.max - self.una <= u64::from(self.cfg.mss) {
            wait = wait + self.cfg.delayed_ack.map_or(Dur::ZERO, |d| d.timeout);
        }
        s.rack.probe_at = (now + wait).min(self.rto_at);
    }

    /// §7.3: new data if there are any, else the last segment again.
    fn send_probe(&mut self, now: Time) {
        let again = !self.has_new();
        let Some(r) = self.sel.as_mut().map(|s| &mut s.rack) else {
            return;
        };
        r.probe_at = Time::MAX;
        if self.rec.phase != Phase::Open || self.una == self.max {
            return;
        }
        r.probe = if again { Probe::Again } else { Probe::New };
        r.probe_was_again = again;
        self.stats.probes += 1;
        self.rto_at = now + self.rtt.rto(&self.cfg);
    }

    /// §7.4.2: did the probe repair a loss?
    fn end_probe(&mut self, now: Time, seg: &Segment, d: &Delivered) {
        let Some(r) = self.sel.as_mut().map(|s| &mut s.rack) else {
            return;
        };
        let end = r.probe_end;
        if end == 0 || self.una < end {
            return;
        }
        let repaired = r.probe_was_again && !d.duplicate && self.una > end;
        let answered = !r.probe_was_again || d.duplicate || self.una > end;
        if answered || (d.bytes == 0 && seg.sack.is_empty() && !seg.flags.has(Flags::FIN)) {
            r.probe_end = 0;
        }
        if repaired && self.una >= self.answered {
            self.congested(now, Cause::Loss, d.bytes);
            self.answered = self.max;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_widened_window_shrinks_after_sixteen_recoveries() {
        let mut r = Rack {
            multiple: 3,
            ..Rack::default()
        };
        for _ in 0..15 {
            r.recovered();
        }
        assert_eq!(r.multiple, 3);
        r.recovered();
        assert_eq!(r.multiple, 1);
    }
}
