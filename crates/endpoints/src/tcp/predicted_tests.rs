//! The shortcut does what the long way does, whatever happens.

use std::collections::BTreeMap;
use std::sync::Arc;

use proptest::prelude::*;
use spillgate_core::{Dur, Ecn, Rng, Time};

use super::*;
use crate::tcp::{Receiver, TcpConfig, TcpSpec};

/// A connection over a network that loses, delays and duplicates.
struct Net {
    tx: Sender,
    rx: Receiver,
    short: bool,
    now: Time,
    fates: Rng,
    /// By arrival and number: whether it is data.
    wire: BTreeMap<(Time, usize), (bool, Segment)>,
    /// All that was ever sent.
    sent: Vec<Segment>,
    /// Segments that took the shortcut.
    predicted: [u32; 3],
}

impl Net {
    fn new(cfg: &Arc<TcpConfig>, seed: u64, short: bool) -> Self {
        let mut tx = Sender::new(cfg, Time::ZERO);
        tx.plain &= short;
        Self {
            tx,
            rx: Receiver::new(cfg),
            short,
            now: Time::ZERO,
            fates: Rng::from_key(seed),
            wire: BTreeMap::new(),
            sent: Vec::new(),
            predicted: [0; 3],
        }
    }

    fn put(&mut self, data: bool, segment: Segment, loss: f64) {
        self.sent.push(segment);
        let order = if self.fates.chance(0.05) { 15 } else { 0 };
        let copies =
            1 + usize::from(self.fates.chance(0.02)) - usize::from(self.fates.chance(loss));
        for copy in 0..copies {
            let late = Dur::from_ms(10 + (1 + copy as u64) * order);
            let key = (self.now + late, 2 * self.sent.len() + copy);
            self.wire.insert(key, (data, segment));
        }
    }

    fn flush(&mut self, loss: f64) {
        while let Some(s) = self.tx.poll_new(self.now).filter(|_| self.short) {
            self.predicted[1] += 1;
            self.put(true, s, loss);
        }
        if !(self.short && self.tx.waits()) {
            while let Some(s) = self.tx.poll_transmit(self.now) {
                self.put(true, s, loss);
            }
        }
        assert_eq!(self.tx.poll_transmit(self.now), None);
        while let Some(s) = self.rx.poll_transmit(self.now) {
            self.put(false, s, loss);
        }
    }

    fn arrive(&mut self, data: bool, segment: &Segment, loss: f64) {
        if !data {
            if self.short && self.tx.take_predicted(self.now, segment) {
                self.predicted[0] += 1;
            } else {
                self.tx.handle_segment(self.now, segment, Ecn::NotEct);
            }
            return;
        }
        let answer = self.short.then(|| self.rx.answer(self.now, segment));
        if let Some(answer) = answer.flatten() {
            self.predicted[2] += 1;
            self.put(false, answer, loss);
        } else {
            self.rx.handle_segment(self.now, segment, Ecn::NotEct);
        }
    }

    /// The sender writes now and then, and closes or stops at `end`; losses come in spells.
    fn run(&mut self, bytes: &[u64], stop: bool, loss: f64) {
        let end = Time::ZERO + Dur::from_ms(400 * bytes.len() as u64);
        let mut writes = (0..).map(|i| Time::ZERO + Dur::from_ms(400 * i)).zip(bytes);
        let mut write = writes.next();
        let mut open = true;
        loop {
            let timers = [
                self.tx.poll_timeout(),
                self.rx.poll_timeout(),
                self.wire.keys().next().map(|k| k.0),
                write.map(|w| w.0),
                open.then_some(end),
            ];
            let Some(next) = timers.into_iter().flatten().min() else {
                break;
            };
            self.now = self.now.max(next);
            if self.now > Time::ZERO + Dur::from_secs(200) {
                break;
            }
            let loss = loss * (self.now.as_ps() / 1_000_000_000_000 % 2) as f64;
            while let Some(e) = self.wire.first_entry().filter(|e| e.key().0 <= self.now) {
                let (data, segment) = e.remove();
                self.arrive(data, &segment, loss);
                self.flush(loss);
            }
            if let Some((_, bytes)) = write.filter(|w| w.0 <= self.now) {
                self.tx.write(self.now, *bytes);
                write = writes.next();
            }
            if open && end <= self.now {
                open = false;
                if stop {
                    self.tx.finish(self.now);
                } else {
                    self.tx.close(self.now);
                }
            }
            self.tx.handle_timeout(self.now);
            self.rx.handle_timeout(self.now);
            self.flush(loss);
        }
    }
}

/// Configurations that can take the shortcut, and some that cannot at one end.
fn config() -> impl Strategy<Value = Arc<TcpConfig>> {
    let cc = prop::sample::select(vec!["tahoe", "reno", "newreno", "cubic"]);
    let profile = prop::sample::select(vec!["ns2", "rfc"]);
    let window = prop::sample::select(vec!["3000 B", "20 kB", "1 MB"]);
    (cc, profile, window, any::<[bool; 5]>()).prop_map(|(cc, profile, window, on)| {
        let json = format!(
            r#"{{"cc": {{"{cc}": {{}}}}, "profile": "{profile}", "sack": false, "mss": "1000 B",
                "max_window": "{window}", "timestamps": {}, "limited_transmit": {},
                "handshake": {}, "syn_retries": 30,
                "delayed_ack": {{"timeout": "{} ms", "every": {}}}}}"#,
            on[0],
            on[1],
            on[2],
            if on[3] { 40 } else { 0 },
            1 + u8::from(on[3]),
        );
        let spec: TcpSpec = serde_json::from_str(&json).unwrap();
        let mut cfg = spec.resolve().unwrap();
        cfg.idle_restart = on[4];
        Arc::new(cfg)
    })
}

proptest! {
    #[test]
    fn both_ways_send_the_same(
        cfg in config(),
        seed in any::<u64>(),
        // Whole segments, or not.
        unit in prop::sample::select(vec![1000, 617]),
        mut writes in prop::collection::vec(1_u64..300, 1..6),
        stop in any::<bool>(),
        loss in 0.0_f64..0.2,
    ) {
        writes.iter_mut().for_each(|w| *w *= unit);
        let mut nets = [false, true].map(|short| Net::new(&cfg, seed, short));
        for net in &mut nets {
            net.run(&writes, stop, loss);
        }
        let [long, short] = nets;
        prop_assert_eq!(&long.sent, &short.sent);
        prop_assert_eq!(long.now, short.now);
        prop_assert_eq!(long.tx.state(), short.tx.state());
        prop_assert_eq!(long.tx.stats(), short.tx.stats());
        prop_assert_eq!((long.tx.cwnd(), long.tx.rto()), (short.tx.cwnd(), short.tx.rto()));
        prop_assert_eq!(long.rx.delivered_bytes(), short.rx.delivered_bytes());
        prop_assert_eq!(long.predicted, [0; 3]);
    }
}

/// Without losses most segments take the shortcut: what comes late makes twenty duplicates or fewer
/// take the long one each time, and one packet in twenty does.
#[test]
fn a_plain_transfer_is_predicted() {
    let spec: TcpSpec = serde_json::from_str(r#"{"profile": "ns2"}"#).unwrap();
    let mut net = Net::new(&Arc::new(spec.resolve().unwrap()), 1, true);
    net.run(&[1_000_000], false, 0.0);
    assert_eq!(net.tx.state(), State::Done);
    assert!(
        net.predicted.iter().all(|n| *n > 600),
        "{:?}",
        net.predicted
    );
}
