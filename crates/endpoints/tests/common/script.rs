//! Dialogues with a sender, one event per line, in units of full segments:
//!
//! ```text
//! 0    > 1-10          at 0 ms the sender sends segments 1 to 10
//! 100  < 1 sack 2 4-5  an acknowledgment expects segment 1 and holds 2, 4 and 5
//! 100  < 2 ece         ... with ECN echo
//! 100  = cwnd 5        so many segments; also ssthresh, ecn, timeouts, fast
//! 100  + 2             the application writes two more segments
//! ```
//!
//! What the sender sends must stand in the script, at that time and in that
//! order; the application has data without end.

use std::sync::Arc;

use spillgate_core::{Dur, Ecn, Time};
use spillgate_endpoints::tcp::{Flags, Segment, Sender, TcpConfig};

fn numbers(words: &str) -> Vec<u64> {
    words
        .split_whitespace()
        .flat_map(|w| {
            let (a, b) = w.split_once('-').unwrap_or((w, w));
            a.parse::<u64>().unwrap()..=b.parse::<u64>().unwrap()
        })
        .collect()
}

fn at(ms: &str) -> Time {
    Time::ZERO + Dur::from_us((ms.parse::<f64>().unwrap() * 1e3) as u64)
}

struct Run {
    tx: Sender,
    mss: u64,
    /// What left and when, not yet matched.
    out: Vec<(Time, u64)>,
}

impl Run {
    fn drain(&mut self, now: Time) {
        while let Some(s) = self.tx.poll_transmit(now) {
            if s.len > 0 {
                assert_eq!(u64::from(s.len), self.mss);
                self.out.push((now, (s.seq - 1) / self.mss + 1));
            }
        }
    }

    fn until(&mut self, t: Time) {
        while let Some(d) = self.tx.poll_timeout().filter(|d| *d <= t) {
            self.tx.handle_timeout(d);
            self.drain(d);
        }
    }

    fn ack(&mut self, now: Time, words: &str) {
        let (main, ece) = match words.strip_suffix("ece") {
            Some(rest) => (rest, true),
            None => (words, false),
        };
        let (ack, sack) = main.split_once("sack").unwrap_or((main, ""));
        let byte = |n: u64| (n - 1) * self.mss + 1;
        let mut seg = Segment::bare(1, Flags::ACK.with_if(Flags::ECE, ece), now);
        seg.ack = byte(ack.trim().parse().unwrap());
        for w in sack.split_whitespace() {
            let n = numbers(w);
            seg.sack.push(byte(n[0]), byte(n[n.len() - 1] + 1));
        }
        self.tx.handle_segment(now, &seg, Ecn::NotEct);
        self.drain(now);
    }

    fn check(&self, words: &str, line: &str) {
        let mut w = words.split_whitespace();
        while let (Some(key), Some(value)) = (w.next(), w.next()) {
            let stats = self.tx.stats();
            let got = match key {
                "cwnd" => self.tx.cwnd() / self.mss,
                "ssthresh" => self.tx.ssthresh() / self.mss,
                "ecn" => stats.ecn_reactions.into(),
                "timeouts" => stats.timeouts.into(),
                "fast" => stats.fast_retransmits.into(),
                other => panic!("{other}"),
            };
            assert_eq!(got.to_string(), value, "{key} at `{line}`");
        }
    }
}

/// Plays a script against a greedy sender.
#[track_caller]
pub(crate) fn play(cfg: Arc<TcpConfig>, script: &str) -> Sender {
    play_with(cfg, u64::MAX, script)
}

/// Plays a script against a sender with `segments` to send.
#[track_caller]
pub(crate) fn play_with(cfg: Arc<TcpConfig>, segments: u64, script: &str) -> Sender {
    let mss = u64::from(cfg.mss);
    let mut run = Run {
        tx: Sender::new(&cfg, Time::ZERO),
        mss,
        out: vec![],
    };
    run.tx.write(Time::ZERO, segments.saturating_mul(mss));
    run.drain(Time::ZERO);
    for line in script.lines().map(str::trim).filter(|l| !l.is_empty()) {
        let (time, rest) = line.split_once(char::is_whitespace).unwrap();
        let (now, rest) = (at(time), rest.trim());
        run.until(now);
        match rest.split_at(1) {
            (">", words) => {
                let want: Vec<_> = numbers(words).into_iter().map(|n| (now, n)).collect();
                assert_eq!(run.out, want, "at `{line}`");
                run.out.clear();
            }
            ("<", words) => {
                assert_eq!(run.out, [], "unexpected before `{line}`");
                run.ack(now, words);
            }
            ("=", words) => run.check(words, line),
            ("+", words) => {
                let segments: u64 = words.trim().parse().unwrap();
                run.tx.write(now, segments * mss);
                run.drain(now);
            }
            _ => panic!("{line}"),
        }
    }
    assert_eq!(run.out, [], "unexpected at the end");
    run.tx
}
