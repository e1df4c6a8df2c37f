use std::cell::Cell;
use std::collections::VecDeque;

use proptest::prelude::*;
use spillgate_core::testkit::effort;

use super::*;
use crate::tcp::SackBlocks;
use crate::tcp::segment::Flags;

thread_local! {
    pub(super) static STEPS: Cell<u64> = const { Cell::new(0) };
}

fn ack(upto: u64, blocks: &[(u64, u64)]) -> Segment {
    let mut sack = SackBlocks::EMPTY;
    for &(start, end) in blocks {
        sack.push(start, end);
    }
    Segment {
        ack: upto,
        sack,
        ..Segment::bare(1, Flags::ACK, Time::ZERO)
    }
}

/// What is outstanding, as plainly as it can be said: every question looks at every segment.
#[derive(Clone, Debug, Default)]
struct Model {
    segments: Vec<Plain>,
    judged: u64,
}

#[derive(Clone, Copy, Debug)]
struct Plain {
    seq: u64,
    end: u64,
    at: Time,
    sacked: bool,
    lost: bool,
    resent: bool,
}

impl Plain {
    fn in_flight(&self) -> bool {
        !self.sacked && (self.resent || !self.lost)
    }
}

impl Model {
    fn sum(&self, which: impl Fn(&Plain) -> bool) -> u64 {
        let chosen = self.segments.iter().filter(|s| which(s));
        chosen.map(|s| s.end - s.seq).sum()
    }

    fn update(&mut self, upto: u64, blocks: &[(u64, u64)]) -> (u64, Option<(Time, u64)>) {
        let inner = |i: usize, b: &(u64, u64)| {
            i == 0 && blocks.len() > 1 && blocks[1].0 <= b.0 && b.1 <= blocks[1].1
        };
        let (mut bytes, mut newest) = (0, None);
        for s in &mut self.segments {
            let selected = blocks
                .iter()
                .enumerate()
                .any(|(i, b)| b.1 > upto && !inner(i, b) && b.0.max(upto) <= s.seq && s.end <= b.1);
            if !s.sacked && (s.end <= upto || selected) {
                bytes += s.end - s.seq;
                newest = newest.max(Some((s.at, s.end)));
                s.sacked = true;
            }
        }
        self.segments.retain(|s| s.end > upto);
        (bytes, newest)
    }

    fn judge(&mut self, thresh: usize, mss: u64) {
        let mut runs: Vec<(u64, u64)> = Vec::new();
        for s in self.segments.iter().filter(|s| s.sacked) {
            match runs.last_mut() {
                Some(run) if run.1 == s.seq => run.1 = s.end,
                _ => runs.push((s.seq, s.end)),
            }
        }
        for edge in 0..runs.len() {
            let above: u64 = runs[edge..].iter().map(|r| r.1 - r.0).sum();
            if runs.len() - edge >= thresh || above > (thresh as u64 - 1) * mss {
                self.judged = self.judged.max(runs[edge].0);
            }
        }
        for s in &mut self.segments {
            s.lost |= !s.sacked && s.seq < self.judged;
        }
    }

    fn lose_older(&mut self, newest: (Time, u64), after: Dur, now: Time) -> Time {
        let mut timer = Time::MAX;
        for s in self.segments.iter_mut().filter(|s| s.in_flight()) {
            if (s.at, s.end) >= newest {
                continue;
            }
            if s.at + after <= now {
                (s.lost, s.resent) = (true, false);
            } else {
                timer = timer.min(s.at + after);
            }
        }
        timer
    }

    fn lose_all(&mut self) {
        for s in self.segments.iter_mut().filter(|s| !s.sacked) {
            (s.lost, s.resent) = (true, false);
        }
        self.judged = self.segments.last().map_or(self.judged, |s| s.end);
    }

    fn next_lost(&self) -> Option<usize> {
        let lost = |s: &Plain| !s.sacked && s.lost && !s.resent;
        self.segments.iter().position(lost)
    }

    fn next_hole(&self) -> Option<usize> {
        let highest = self.segments.iter().rfind(|s| s.sacked)?.end;
        self.segments
            .iter()
            .position(|s| s.seq >= self.judged && s.seq < highest && !s.sacked && !s.resent)
    }
}

#[derive(Clone, Debug)]
enum Op {
    /// New segments leave, of the first length or shorter.
    Push(usize, bool),
    /// The first that are lost leave again.
    Resend(usize),
    /// The last one leaves again.
    Probe,
    /// This many segments are acknowledged, and blocks of segments: how far beyond, how many.
    Ack(usize, Vec<(usize, usize)>),
    /// A block that ends within segments.
    Ragged(usize, usize),
    Wait(u64),
    TimeOut,
}

fn ops() -> impl Strategy<Value = Vec<Op>> {
    let block = (0_usize..30, 1_usize..6);
    let op = prop_oneof![
        4 => (1_usize..8, any::<bool>()).prop_map(|(n, short)| Op::Push(n, short)),
        4 => (1_usize..6).prop_map(Op::Resend),
        1 => Just(Op::Probe),
        8 => (prop_oneof![5 => Just(0), 1 => 1_usize..4], prop::collection::vec(block, 0..4))
            .prop_map(|(n, blocks)| Op::Ack(n, blocks)),
        1 => (0_usize..300, 1_usize..60).prop_map(|(from, len)| Op::Ragged(from, len)),
        6 => (1_u64..30).prop_map(Op::Wait),
        1 => Just(Op::TimeOut),
    ];
    prop::collection::vec(op, 1..120)
}

/// Runs the same on both and compares everything that the sender asks for.
fn compare(ops: Vec<Op>, by_time: bool, after: Dur) -> Result<(), TestCaseError> {
    let (mut board, mut model) = (Scoreboard::new(false), Model::default());
    let (mut now, mut una, mut max) = (Time::ZERO, 0_u64, 0_u64);
    let mut newest = (Time::ZERO, 0);
    for op in ops {
        let again = |board: &mut Scoreboard, model: &mut Model, i: usize| {
            board.resent(i, now, Snapshot::default());
            (model.segments[i].resent, model.segments[i].at) = (true, now);
        };
        let mut answer = None;
        match op {
            Op::Push(n, short) => {
                for _ in 0..n {
                    let len = if short { 7 } else { 10 };
                    board.push(max, len, now, Snapshot::default());
                    let (seq, end) = (max, max + u64::from(len));
                    model.segments.push(Plain {
                        seq,
                        end,
                        at: now,
                        sacked: false,
                        lost: false,
                        resent: false,
                    });
                    max = end;
                }
            }
            Op::Resend(n) => {
                for _ in 0..n {
                    let lost = board.next_lost();
                    prop_assert_eq!(lost, model.next_lost());
                    let hole = || (!by_time).then(|| model.next_hole()).flatten();
                    if let Some(i) = lost.or_else(hole) {
                        again(&mut board, &mut model, i);
                    }
                }
            }
            Op::Probe => {
                // Of what has arrived nobody sends a copy.
                if let Some(i) = board.last().filter(|&i| model.segments[i].in_flight()) {
                    again(&mut board, &mut model, i);
                }
            }
            Op::Ack(n, blocks) => {
                una = n
                    .checked_sub(1)
                    .and_then(|i| model.segments.get(i))
                    .map_or(una, |s| s.end);
                let at = |i: usize| model.segments.get(n + i).map_or(max, |s| s.seq);
                let list = blocks.iter().map(|&(i, len)| (at(i), at(i + len)));
                answer = Some(list.filter(|b| b.0 < b.1).collect::<Vec<_>>());
            }
            Op::Ragged(from, len) => {
                answer = Some(vec![(una + from as u64, una + (from + len) as u64)]);
            }
            Op::Wait(us) => now += Dur::from_us(us),
            Op::TimeOut => {
                board.lose_all();
                model.lose_all();
            }
        }
        if let Some(mut blocks) = answer {
            let d = board.update(&ack(una, &blocks), max);
            for b in &mut blocks {
                b.1 = b.1.min(max.max(una));
            }
            let (bytes, last) = model.update(una, &blocks);
            prop_assert_eq!((d.bytes, d.newest.map(|n| (n.0, n.1))), (bytes, last));
            newest = newest.max(last.unwrap_or_default());
            if !by_time {
                board.judge(3, 10);
                model.judge(3, 10);
                if let Some(s) = model
                    .segments
                    .first_mut()
                    .filter(|s| !s.sacked && !s.resent)
                {
                    s.lost = true;
                    board.lose_first();
                }
            }
        }
        if by_time {
            let timers = (
                board.lose_older(newest, after, now),
                model.lose_older(newest, after, now),
            );
            prop_assert_eq!(timers.0, timers.1);
        } else {
            prop_assert_eq!(board.next_hole(), model.next_hole());
        }
        prop_assert_eq!(board.next_lost(), model.next_lost());
        let sums = (board.sacked_bytes, board.lost_bytes, board.resent_bytes);
        let want = (
            model.sum(|s| s.sacked),
            model.sum(|s| !s.sacked && s.lost),
            model.sum(|s| !s.sacked && s.resent),
        );
        prop_assert_eq!(sums, want);
        let highest = model.segments.iter().rfind(|s| s.sacked).map(|s| s.end);
        prop_assert_eq!(board.highest_sacked(), highest);
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000 * effort()))]

    #[test]
    fn judges_by_time_as_a_plain_model(ops in ops(), after in 0_u64..60) {
        compare(ops, true, Dur::from_us(after))?;
    }

    #[test]
    fn judges_by_number_as_a_plain_model(ops in ops()) {
        compare(ops, false, Dur::ZERO)?;
    }
}

const LEN: u64 = 10;

fn is_lost(n: u64, one_in: u64) -> bool {
    n.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32 & 0xFFFF < 0x1_0000 / one_in
}

/// A pipe of `window` segments that loses one packet in `one_in`, copies included, until four
/// windows have left; how many steps an acknowledgment took on average.
fn steps_per_ack(window: u64, one_in: u64, by_time: bool) -> f64 {
    let mut board = Scoreboard::new(false);
    let mut held = Ranges::default();
    let mut wire = VecDeque::new();
    let (mut max, mut expected, mut una, mut sent, mut acks) = (0, 0, 0, 0, 0_u64);
    let mut newest = (Time::ZERO, 0);
    STEPS.with(|n| n.set(0));
    while sent < 4 * window {
        let now = Time::from_ps(sent * 1000);
        let flight = max - una + board.resent_bytes - board.sacked_bytes - board.lost_bytes;
        if flight < window * LEN {
            let hole = if by_time { None } else { board.next_hole() };
            let seq = if let Some(i) = board.next_lost().or(hole) {
                board.resent(i, now, Snapshot::default());
                board.get(i).seq
            } else {
                board.push(max, LEN as u16, now, Snapshot::default());
                max += LEN;
                max - LEN
            };
            wire.push_back((!is_lost(sent, one_in)).then_some(seq));
            sent += 1;
        } else if wire.is_empty() {
            board.lose_all(); // nothing is on the way any more
        }
        if flight < window * LEN && (wire.len() as u64) < window {
            continue;
        }
        let Some(Some(seq)) = wire.pop_front() else {
            continue;
        };
        if seq >= expected {
            held.insert(seq, seq + LEN);
            expected = held.take_from(expected);
        }
        let block = held.containing(seq).unwrap_or_default();
        let d = board.update(&ack(expected, &[block]), max);
        una = expected;
        acks += 1;
        if by_time {
            newest = newest.max(d.newest.map_or(newest, |n| (n.0, n.1)));
            board.lose_older(newest, Dur::ZERO, now);
        } else {
            board.judge(3, LEN);
        }
    }
    STEPS.with(Cell::get) as f64 / acks as f64
}

/// Each acknowledgment looks at most at one known range and one segment for its block, at the heads
/// of the two orders of departure (the copies' twice) and at that of what is to be sent again; each
/// segment is passed once by either order, by the judge, by the holes, and leaves the board once;
/// each copy enters and leaves two lists. With few losses that makes 9 steps, plus 7 for each loss.
#[test]
fn steps_do_not_grow_with_the_window() {
    for by_time in [true, false] {
        for one_in in [10, 1000] {
            let [small, medium, large] =
                [100, 10_000, 1_000_000].map(|w| steps_per_ack(w, one_in, by_time));
            let most = (9.0 + 7.0 / one_in as f64) / (1.0 - 1.0 / one_in as f64);
            assert!(
                small.max(medium).max(large) <= most,
                "{small} {medium} {large}"
            );
        }
    }
}
