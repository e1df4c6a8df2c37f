//! A network of one connection: two constant delays, and a hand that loses,
//! delays and duplicates.

use std::collections::BTreeMap;
use std::sync::Arc;

use spillgate_core::{Dur, Ecn, Time};
use spillgate_endpoints::tcp::config::EcnMode;
use spillgate_endpoints::tcp::{Flags, Receiver, Segment, Sender, State, TcpConfig, TcpSpec};

/// What happens to one packet.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Fate {
    Pass,
    Lose,
    /// Later by this.
    Late(Dur),
    /// A second copy, later by this.
    Twice(Dur),
    /// Arrives with CE.
    Mark,
    /// Both.
    MarkLate(Dur),
    /// Arrives with another codepoint.
    Alter(Ecn),
}

/// The configuration that a JSON text describes.
pub(crate) fn config(json: &str) -> Arc<TcpConfig> {
    let spec: TcpSpec = serde_json::from_str(json).unwrap();
    Arc::new(spec.resolve().unwrap_or_else(|e| panic!("{e}")))
}

pub(crate) struct Net {
    pub(crate) cfg: Arc<TcpConfig>,
    pub(crate) now: Time,
    pub(crate) tx: Sender,
    pub(crate) rx: Receiver,
    pub(crate) delay: Dur,
    /// In flight: arrival, order, towards the receiver.
    wire: BTreeMap<(Time, u64), (bool, Segment, Ecn)>,
    n: u64,
    /// Segments with data or FIN and acknowledgments so far.
    pub(crate) sent: (u64, u64),
    /// Beyond the highest number sent.
    high: u64,
    /// Tail loss probes so far.
    probes: u32,
    /// Reductions of the window that CWR has told of.
    told: u32,
    last_delivered: u64,
}

impl Net {
    pub(crate) fn new(cfg: Arc<TcpConfig>, delay: Dur) -> Self {
        Self {
            tx: Sender::new(&cfg, Time::ZERO),
            rx: Receiver::new(&cfg),
            now: Time::ZERO,
            delay,
            wire: BTreeMap::new(),
            n: 0,
            sent: (0, 0),
            high: 0,
            probes: 0,
            told: 0,
            last_delivered: 0,
            cfg,
        }
    }

    fn put(&mut self, at: Time, forward: bool, seg: Segment, ecn: Ecn) {
        self.n += 1;
        self.wire.insert((at, self.n), (forward, seg, ecn));
    }

    /// Drains both endpoints; `fate` sees direction, number within it, and segment.
    pub(crate) fn flush(&mut self, fate: &mut dyn FnMut(bool, u64, &Segment) -> Fate) {
        while let Some(seg) = self.tx.poll_transmit(self.now) {
            self.check_marks(&seg);
            self.check_window(&seg);
            let n = self.sent.0;
            self.sent.0 += u64::from(seg.len > 0 || seg.flags.has(Flags::FIN));
            let f = fate(true, n, &seg);
            self.travel(true, seg, f);
        }
        while let Some(seg) = self.rx.poll_transmit(self.now) {
            let n = self.sent.1;
            self.sent.1 += 1;
            let f = fate(false, n, &seg);
            self.travel(false, seg, f);
        }
    }

    fn travel(&mut self, forward: bool, seg: Segment, fate: Fate) {
        let at = self.now + self.delay;
        match fate {
            Fate::Lose => {}
            Fate::Pass => self.put(at, forward, seg, seg.ect),
            Fate::Late(d) => self.put(at + d, forward, seg, seg.ect),
            Fate::Twice(d) => {
                self.put(at, forward, seg, seg.ect);
                self.put(at + d, forward, seg, seg.ect);
            }
            Fate::Alter(ecn) => self.put(at, forward, seg, ecn),
            Fate::Mark => self.put(at, forward, seg, marked(seg.ect)),
            Fate::MarkLate(d) => self.put(at + d, forward, seg, marked(seg.ect)),
        }
    }

    /// RFC 3168 §6.1.2: CWR on the first new data after each reduction and nowhere else; §6.1.5:
    /// nothing but new data is ECN-capable.
    fn check_marks(&mut self, seg: &Segment) {
        if self.cfg.ecn == EcnMode::Off {
            return;
        }
        let s = self.tx.stats();
        let reductions = s.fast_retransmits + s.timeouts + s.ecn_reactions;
        if seg.flags.has(Flags::SYN) {
            self.told = reductions; // its own timeouts
            return;
        }
        let fresh = seg.len > 0 && seg.seq >= self.high;
        let due = fresh && reductions > self.told;
        // RFC 9768 §3.2.2: instead of CWR a bit of ACE; §3.1.4.1, §3.2.2.3: without ECT where SYN
        // did not come through, or the path alters the field.
        if self.cfg.ecn.is_accurate() {
            assert!(fresh || !seg.ect.is_capable(), "{seg:?}");
        } else {
            assert_eq!(seg.flags.has(Flags::CWR), due, "{seg:?}");
            assert_eq!(seg.ect.is_capable(), fresh, "{seg:?}");
        }
        if due {
            self.told = reductions;
        }
    }

    /// No variant sends outside its windows: what is in flight after a segment
    /// left fits the allowance. FIN takes no space. Retransmissions that enter a
    /// recovery are exempt by RFC 6675 §5 (4.3), and so is the one segment that is a tail loss
    /// probe by RFC 8985 §7.3.
    fn check_window(&mut self, seg: &Segment) {
        let fin = u64::from(seg.flags.has(Flags::FIN));
        assert!(
            seg.seq + u64::from(seg.len) <= 1 + self.tx.acked_bytes() + self.cfg.max_window,
            "outside the receive window: {seg:?}"
        );
        let fresh = seg.len > 0 && seg.seq >= self.high;
        self.high = self.high.max(seg.end());
        let probes = self.tx.stats().probes;
        let probe = std::mem::replace(&mut self.probes, probes) < probes;
        if fresh && !probe {
            assert!(
                self.tx.in_flight() <= self.tx.allowance() + fin,
                "{} in flight, {} allowed, at {} {seg:?}",
                self.tx.in_flight(),
                self.tx.allowance(),
                self.now
            );
        }
    }

    /// When something happens next.
    pub(crate) fn next(&self) -> Option<Time> {
        let wire = self.wire.keys().next().map(|k| k.0);
        [wire, self.tx.poll_timeout(), self.rx.poll_timeout()]
            .into_iter()
            .flatten()
            .min()
    }

    /// One instant; false if nothing will ever happen.
    pub(crate) fn step(&mut self, fate: &mut dyn FnMut(bool, u64, &Segment) -> Fate) -> bool {
        let Some(t) = self.next() else { return false };
        assert!(t >= self.now, "{t} before {}", self.now);
        self.now = t;
        while let Some(e) = self.wire.first_entry().filter(|e| e.key().0 <= t) {
            let (forward, seg, ecn) = e.remove();
            if forward {
                self.rx.handle_segment(t, &seg, ecn);
            } else {
                self.tx.handle_segment(t, &seg, ecn);
            }
            self.flush(fate);
        }
        if self.tx.poll_timeout().is_some_and(|d| d <= t) {
            self.tx.handle_timeout(t);
        }
        if self.rx.poll_timeout().is_some_and(|d| d <= t) {
            self.rx.handle_timeout(t);
        }
        self.flush(fate);
        let stuck = self.tx.poll_timeout().is_some_and(|d| d <= t);
        assert!(!stuck, "a timer that does not move: {:?}", self.tx);
        let delivered = self.rx.delivered_bytes();
        assert!(delivered >= self.last_delivered);
        assert!(self.tx.acked_bytes() <= delivered);
        self.last_delivered = delivered;
        true
    }

    /// Until `end`, or until the sender is done or has failed.
    pub(crate) fn run(&mut self, end: Time, fate: &mut dyn FnMut(bool, u64, &Segment) -> Fate) {
        self.flush(fate);
        while !matches!(self.tx.state(), State::Done | State::Failed(_)) {
            match self.next() {
                Some(t) if t <= end => self.step(fate),
                _ => break,
            };
        }
        if self.now < end
            && matches!(
                self.tx.state(),
                State::Established | State::SynSent | State::FinSent
            )
        {
            self.now = end;
        }
    }
}

fn marked(ect: Ecn) -> Ecn {
    if ect.is_capable() { Ecn::Ce } else { ect }
}

/// Every packet arrives in time.
pub(crate) fn clean(_: bool, _: u64, _: &Segment) -> Fate {
    Fate::Pass
}
