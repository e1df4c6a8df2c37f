//! Servers whose rate varies or that send cells: when they can begin to send a packet, and when
//! they have sent it.
//!
//! A change of rate affects the packet in transmission at once: the transmission ends when the
//! integral of the rate since its start is the length of the packet. Times are exact to the
//! picosecond, rounded down, as at a constant rate. Cost: O(log n) in the steps of a schedule or
//! trace, O(1) on average for a random process.

use std::collections::VecDeque;
use std::sync::Arc;

use spillgate_core::{Dur, Rate, Rng, Time, aal5::CELL};
use spillgate_nodes::Put;
use spillgate_queueing::{CellShaper, Contract, Run, Train};
use spillgate_scenario::plan::{OPPORTUNITY, RateProcess};
use spillgate_scenario::schema::CellPhase;

/// Bits in a byte times picoseconds in a second: a byte in units of rate times time.
const BYTE: u128 = 8 * 1_000_000_000_000;

/// A server with a rate process.
#[derive(Clone)]
pub(crate) struct Server {
    process: Process,
    /// The start and the end of its last transmission.
    pub(crate) last: (Time, Time),
}

#[derive(Clone)]
enum Process {
    Steps(Arc<RateProcess>),
    Opportunities(Opportunities),
    OnOff(Box<OnOff>),
    Cells(Box<Circuit>),
    Shared(Box<Shared>),
}

impl Server {
    /// The server of the link of this name, with random numbers of its own.
    pub(crate) fn new(process: &Arc<RateProcess>, seed: u64, run: u32, path: &str) -> Self {
        let process = match &**process {
            RateProcess::Steps { .. } => Process::Steps(Arc::clone(process)),
            RateProcess::Opportunities { .. } => {
                Process::Opportunities(Opportunities::new(Arc::clone(process)))
            }
            RateProcess::OnOff { .. } => {
                let rng = Rng::named(seed, run, path, "rate");
                Process::OnOff(Box::new(OnOff::new(Arc::clone(process), rng)))
            }
            RateProcess::Cells {
                line,
                phase,
                shares: Some(_),
                ..
            } => {
                let draws = *phase == CellPhase::Random;
                Process::Shared(Box::new(Shared {
                    line: *line,
                    free: Time::ZERO,
                    phase: draws.then(|| Rng::named(seed, run, path, "phase")),
                    drawn: Dur::ZERO,
                }))
            }
            RateProcess::Cells {
                line,
                contract,
                shaped,
                phase,
                ..
            } => {
                let slot = line.tx_time(CELL);
                let whole = Contract::whole(*line);
                let contract = if *shaped { contract } else { &whole };
                let draws = *phase == CellPhase::Random;
                Process::Cells(Box::new(Circuit {
                    line: *line,
                    slot,
                    shaper: CellShaper::new(contract, slot),
                    train: Train::default(),
                    phase: draws.then(|| Rng::named(seed, run, path, "phase")),
                }))
            }
        };
        Self {
            process,
            last: (Time::ZERO, Time::ZERO),
        }
    }

    /// When it can begin to send a packet that arrives at `now` at an idle server and an empty
    /// queue.
    pub(crate) fn opens(&mut self, now: Time) -> Time {
        match &mut self.process {
            Process::Opportunities(o) => o.after(now),
            Process::Cells(c) => c.shaper.ready().max(now),
            Process::Shared(s) => s.free.max(now),
            Process::Steps(_) | Process::OnOff(_) => now,
        }
    }

    /// When it can begin to send a packet that has been waiting.
    pub(crate) fn ready(&mut self, now: Time) -> Time {
        match &mut self.process {
            Process::Opportunities(o) => o.not_before(now),
            Process::Cells(c) => c.shaper.ready().max(now),
            Process::Shared(s) => s.free.max(now),
            Process::Steps(_) | Process::OnOff(_) => now,
        }
    }

    /// When it can begin to send the next packet after its last one; [`Time::MAX`] if that is not
    /// known yet.
    pub(crate) fn free_at(&mut self) -> Time {
        let end = self.last.1;
        match &mut self.process {
            Process::Opportunities(o) => o.next(end),
            Process::Cells(c) => c.shaper.ready(),
            Process::Shared(s) => s.free,
            Process::Steps(_) | Process::OnOff(_) => end,
        }
    }

    /// Begins to send a packet of `bytes` at `start`, and returns when it has sent it;
    /// [`Time::MAX`] if it is told later ([`Server::sent`]).
    pub(crate) fn send(&mut self, start: Time, bytes: u32) -> Time {
        let end = match &mut self.process {
            Process::Steps(p) => finish(start, bytes, |t| step(p, t)),
            Process::OnOff(p) => {
                p.forget(start);
                finish(start, bytes, |t| p.at(t))
            }
            Process::Opportunities(o) => o.send(start, bytes),
            Process::Cells(c) => c.send(start, bytes),
            Process::Shared(s) => s.begin(),
        };
        self.last = (start, end);
        end
    }

    /// What it has put on the line for its last packet.
    pub(crate) fn put(&self) -> Put {
        match &self.process {
            Process::Cells(c) => Put::Parts(c.train),
            Process::Shared(s) => Put::Turns(s.drawn),
            Process::Steps(_) | Process::OnOff(_) | Process::Opportunities(_) => Put::Packet,
        }
    }

    /// The packet that it sends over a line that others share has left at `end`; the next one can
    /// from `ready` on.
    pub(crate) fn sent(&mut self, end: Time, ready: Time) {
        self.last.1 = end;
        if let Process::Shared(s) = &mut self.process {
            s.free = ready;
        }
    }

    /// Its transmission is cut off at `now`.
    pub(crate) fn cut(&mut self, now: Time) {
        self.last.1 = self.last.1.min(now);
        match &mut self.process {
            Process::Opportunities(o) => o.begin(o.number_before(now + Dur::from_ps(1))),
            Process::Cells(c) => c.shaper.cut(now),
            Process::Steps(_) | Process::OnOff(_) | Process::Shared(_) => {}
        }
    }

    /// How many bits it could send between two times. The server must not have been used later than
    /// `from`.
    pub(crate) fn capacity(&self, from: Time, to: Time) -> f64 {
        let integral = |mut at: Time, segment: &mut dyn FnMut(Time) -> Segment| {
            let mut sum = 0.0;
            while at < to {
                let (rate, end) = segment(at);
                let end = end.min(to);
                sum += rate.map_or(0.0, |r| r.bps() as f64) * end.since(at).as_secs_f64();
                at = end;
            }
            sum
        };
        match &self.process {
            Process::Steps(p) => integral(from, &mut |t| step(p, t)),
            Process::OnOff(p) => {
                let mut fresh = p.restarted();
                integral(from, &mut |t| {
                    fresh.forget(t);
                    fresh.at(t)
                })
            }
            Process::Opportunities(o) => {
                let number = o.number_before(to) - o.number_before(from);
                number as f64 * f64::from(OPPORTUNITY) * 8.0
            }
            Process::Cells(c) => c.line.bps() as f64 * to.since(from).as_secs_f64(),
            Process::Shared(s) => s.line.bps() as f64 * to.since(from).as_secs_f64(),
        }
    }
}

/// A rate, none for zero, and until when it holds.
type Segment = (Option<Rate>, Time);

/// When the transmission of a packet of `bytes` that begins at `start` ends.
fn finish(start: Time, bytes: u32, mut segment: impl FnMut(Time) -> Segment) -> Time {
    let (mut at, mut left) = (start, u128::from(bytes) * BYTE);
    loop {
        let (rate, end) = segment(at);
        let Some(rate) = rate else {
            at = end;
            continue;
        };
        let rate = u128::from(rate.bps());
        let fits = rate * u128::from(end.since(at).as_ps());
        if left <= fits {
            let ps = u64::try_from(left / rate).unwrap_or(u64::MAX);
            // Rounded down as at a constant rate, but at least a picosecond.
            let done = at + Dur::from_ps(ps);
            return done.max(start + Dur::from_ps(1));
        }
        left -= fits;
        at = end;
    }
}

/// The rate at `t`.
fn step(process: &RateProcess, t: Time) -> Segment {
    let RateProcess::Steps { steps, period, .. } = process else {
        return (None, Time::MAX);
    };
    let t = t.since(Time::ZERO);
    let base = match period {
        Some(p) => Dur::from_ps(t.as_ps() / p.as_ps() * p.as_ps()),
        None => Dur::ZERO,
    };
    let i = steps.partition_point(|(at, _)| base + *at <= t);
    let rate = steps[i.saturating_sub(1)].1;
    let end = match (steps.get(i), period) {
        (Some((at, _)), _) => Time::ZERO + base + *at,
        (None, Some(period)) => Time::ZERO + base + *period,
        (None, None) => Time::MAX,
    };
    (rate, end)
}

/// Delivery opportunities, as Mahimahi's `mm-link` uses them: the bytes that a packet leaves over
/// are used by packets that wait behind it, and lost if none waits.
#[derive(Clone)]
struct Opportunities {
    process: Arc<RateProcess>,
    /// Number of the next opportunity that is not used up, and its bytes left.
    next: u64,
    left: u32,
}

impl Opportunities {
    fn new(process: Arc<RateProcess>) -> Self {
        Self {
            process,
            next: 0,
            left: OPPORTUNITY,
        }
    }

    fn trace(&self) -> (&[Dur], Dur) {
        match &*self.process {
            RateProcess::Opportunities { at, period } => (at, *period),
            _ => (&[], Dur::ZERO),
        }
    }

    /// When an opportunity comes.
    fn time(&self, number: u64) -> Time {
        let (at, period) = self.trace();
        let n = at.len() as u64;
        let cycles = Dur::from_ps(period.as_ps().saturating_mul(number / n));
        Time::ZERO + cycles + at[(number % n) as usize]
    }

    /// The number of opportunities before `t`.
    fn number_before(&self, t: Time) -> u64 {
        let (at, period) = self.trace();
        let t = t.since(Time::ZERO).as_ps();
        // An opportunity at the very end of a period coincides with those at 0 of the next.
        let cycles =
            (t / period.as_ps()).saturating_sub(u64::from(t > 0 && t % period.as_ps() == 0));
        let within = t - cycles * period.as_ps();
        let i = at.partition_point(|a| a.as_ps() < within) as u64;
        cycles * at.len() as u64 + i
    }

    /// Skips the opportunities before this one.
    fn begin(&mut self, number: u64) {
        (self.next, self.left) = (number, OPPORTUNITY);
    }

    /// The next opportunity after `now`; nothing waited until then.
    fn after(&mut self, now: Time) -> Time {
        self.not_before(now + Dur::from_ps(1))
    }

    /// The next opportunity at `now` or later.
    fn not_before(&mut self, now: Time) -> Time {
        let number = self.number_before(now);
        if number > self.next {
            self.begin(number);
        }
        self.time(self.next)
    }

    /// The next opportunity with bytes left, not before `now`.
    fn next(&self, now: Time) -> Time {
        self.time(self.next).max(now)
    }

    /// Sends `bytes` from `start` on, when there is an opportunity, and returns when the last of
    /// them leaves.
    fn send(&mut self, start: Time, mut bytes: u32) -> Time {
        loop {
            let used = bytes.min(self.left);
            bytes -= used;
            self.left -= used;
            let at = self.time(self.next).max(start);
            if self.left == 0 {
                (self.next, self.left) = (self.next + 1, OPPORTUNITY);
            }
            if bytes == 0 {
                return at;
            }
        }
    }
}

/// A circuit of ATM.
#[derive(Clone)]
struct Circuit {
    line: Rate,
    /// The time of a cell on the line.
    slot: Dur,
    shaper: CellShaper,
    /// When each cell of the last packet has left.
    train: Train,
    /// For the phase of each packet.
    phase: Option<Rng>,
}

impl Circuit {
    /// Sends a packet of whole cells from `start` on, and returns when the last one has left, its
    /// phase included.
    fn send(&mut self, start: Time, bytes: u32) -> Time {
        // Packets stay in order: their phases differ by less than a cell.
        let late = self.slot + draw(&mut self.phase, self.slot);
        self.train = self.shaper.send(start, (bytes / CELL).max(1)).later(late);
        self.train.runs().last().map_or(start, Run::last)
    }
}

/// A phase of a packet, less than the time of a cell.
fn draw(phase: &mut Option<Rng>, slot: Dur) -> Dur {
    let slot = slot.as_ps() as f64;
    Dur::from_ps(phase.as_mut().map_or(0.0, |rng| rng.f64() * slot) as u64)
}

/// A circuit of ATM that shares its line: when its cells leave depends on the others, so it is
/// told.
#[derive(Clone)]
struct Shared {
    line: Rate,
    /// When it can begin with the next packet; [`Time::MAX`] while it sends one.
    free: Time,
    phase: Option<Rng>,
    /// The phase of the last packet.
    drawn: Dur,
}

impl Shared {
    fn begin(&mut self) -> Time {
        self.drawn = draw(&mut self.phase, self.line.tx_time(CELL));
        self.free = Time::MAX;
        Time::MAX
    }
}

/// Two rates that alternate after exponentially distributed times.
#[derive(Clone)]
struct OnOff {
    process: Arc<RateProcess>,
    first: Rng,
    rng: Rng,
    /// The ends of intervals, and whether each is on; intervals that ended before the last
    /// transmission began are discarded.
    known: VecDeque<(Time, bool)>,
}

impl OnOff {
    fn new(process: Arc<RateProcess>, rng: Rng) -> Self {
        let (_, [on, off]) = of(&process);
        let mut new = Self {
            process,
            first: rng.clone(),
            rng,
            known: VecDeque::new(),
        };
        let share = on.as_secs_f64() / (on.as_secs_f64() + off.as_secs_f64());
        let is_on = new.rng.chance(share);
        new.extend(Time::ZERO, is_on);
        new
    }

    fn restarted(&self) -> Self {
        Self::new(Arc::clone(&self.process), self.first.clone())
    }

    /// Adds an interval that begins at `from`.
    fn extend(&mut self, from: Time, is_on: bool) {
        let (_, means) = of(&self.process);
        let mean = means[usize::from(!is_on)].as_secs_f64();
        let length = Dur::from_secs_f64(self.rng.exponential(mean));
        let end = from + length.max(Dur::from_ps(1));
        self.known.push_back((end, is_on));
    }

    /// Discards intervals that ended by `t`.
    fn forget(&mut self, t: Time) {
        // The last interval is needed to add the next.
        while self.known.len() > 1 && self.known.front().is_some_and(|(end, _)| *end <= t) {
            self.known.pop_front();
        }
    }

    fn at(&mut self, t: Time) -> Segment {
        let mut i = 0;
        loop {
            let (end, is_on) = self.known[i];
            if end > t {
                let (rates, _) = of(&self.process);
                return (rates[usize::from(!is_on)], end);
            }
            if i + 1 == self.known.len() {
                self.extend(end, !is_on);
            }
            i += 1;
        }
    }
}

/// The rates and mean times of a process, on and off.
fn of(process: &RateProcess) -> ([Option<Rate>; 2], [Dur; 2]) {
    match process {
        RateProcess::OnOff {
            on_rate,
            off_rate,
            on,
            off,
        } => ([Some(*on_rate), *off_rate], [*on, *off]),
        _ => ([None; 2], [Dur::ZERO; 2]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn rate(bps: u64) -> Option<Rate> {
        Rate::from_bps(bps)
    }

    fn at(ms: u64) -> Time {
        Time::ZERO + Dur::from_ms(ms)
    }

    fn server(process: RateProcess) -> Server {
        Server::new(&Arc::new(process), 7, 0, "links/l")
    }

    fn steps(steps: &[(u64, u64)], period: Option<u64>) -> Server {
        server(RateProcess::Steps {
            steps: steps
                .iter()
                .map(|(ms, bps)| (Dur::from_ms(*ms), rate(*bps)))
                .collect(),
            period: period.map(Dur::from_ms),
            recorded: false,
        })
    }

    fn trace(ms: &[u64]) -> Server {
        server(RateProcess::Opportunities {
            at: ms.iter().map(|ms| Dur::from_ms(*ms)).collect(),
            period: Dur::from_ms(*ms.last().unwrap()),
        })
    }

    #[test]
    fn a_packet_feels_each_change_of_rate() {
        // 1,000 bits at 1 Mb/s, 0 and 0.5 Mb/s by turns of 1 ms: 500 of them before the first
        // change.
        let mut s = steps(&[(0, 1_000_000), (1, 0), (2, 500_000)], Some(3));
        let half = at(0) + Dur::from_us(500);
        assert_eq!(s.send(half, 125), at(3));
        assert_eq!(s.last, (half, at(3)));
        // 375 B are two periods: 2 x (1,000 + 500) bits.
        assert_eq!(s.send(at(3), 375), at(9));
        assert!((s.capacity(at(0), at(30)) - 15_000.0).abs() < 1e-6);
        assert!((s.capacity(half, at(2)) - 500.0).abs() < 1e-6);
    }

    #[test]
    fn the_last_rate_holds_for_ever() {
        let mut s = steps(&[(0, 1_000_000), (10, 8_000_000)], None);
        assert_eq!(s.send(at(1_000_000), 1000), at(1_000_001));
    }

    #[test]
    fn what_an_opportunity_leaves_over_is_for_those_that_wait() {
        // One at 5, two at 7, one at 10 ms, then anew from 10 ms on.
        let mut s = trace(&[5, 7, 7, 10]);
        // A packet comes at 1 ms and leaves at 5 ms; one that waits behind it leaves at 5 ms, too.
        assert_eq!(s.opens(at(1)), at(5));
        assert_eq!(s.ready(at(5)), at(5));
        assert_eq!(s.send(at(5), 1000), at(5));
        assert_eq!(s.free_at(), at(5));
        assert_eq!(s.send(at(5), 400), at(5));
        // The third takes the 100 B that are left, and 1,400 at 7 ms.
        assert_eq!(s.send(at(5), 1500), at(7));
        assert_eq!(s.free_at(), at(7));
        // Nothing waits: what is left is lost, and the next packet comes at that very time.
        assert_eq!(s.opens(at(7)), at(10));
        assert_eq!(s.ready(at(10)), at(10));
        assert_eq!(s.send(at(10), 1500), at(10));
        assert_eq!(s.free_at(), at(15));
        // 4,500 B need three: at 15, 17 and 17 ms.
        assert_eq!(s.send(at(15), 4500), at(17));
        assert_eq!(s.free_at(), at(20));
        assert!((s.capacity(at(5), at(15)) - 4.0 * 12_000.0).abs() < 1e-6);
        assert!((s.capacity(at(5), at(16)) - 5.0 * 12_000.0).abs() < 1e-6);
    }

    #[test]
    fn opportunities_at_the_seam_of_two_periods_come_together() {
        let mut s = trace(&[0, 10]);
        assert_eq!(s.opens(at(0)), at(10));
        assert_eq!(s.ready(at(10)), at(10));
        assert_eq!(s.send(at(10), 3000), at(10));
        assert_eq!(s.free_at(), at(20));
    }

    #[test]
    fn a_cut_gives_back_what_was_to_come() {
        let mut s = trace(&[5, 7, 10]);
        assert_eq!(s.send(at(5), 4000), at(10));
        s.cut(at(6));
        assert_eq!((s.last, s.opens(at(6))), ((at(5), at(6)), at(7)));
    }

    #[test]
    fn a_random_process_is_on_for_its_share() {
        let mut s = server(RateProcess::OnOff {
            on_rate: Rate::from_bps(8_000_000).unwrap(),
            off_rate: None,
            on: Dur::from_ms(30),
            off: Dur::from_ms(10),
        });
        // 75 % of 8 Mb/s. A cycle of 40 ms has a standard deviation of at most 32 ms in its on
        // time, and 4 standard errors of the mean of 25,000 cycles are 1.1 %.
        let end = at(1_000_000);
        let mean = s.capacity(Time::ZERO, end) / 1000.0;
        assert!((mean / 6e6 - 1.0).abs() < 0.011, "{mean}");
        // Packet by packet it is the same process.
        let (mut now, mut bytes) = (Time::ZERO, 0.0);
        while now < at(10_000) {
            now = s.send(now, 1000);
            bytes += 1000.0;
        }
        let could = s.capacity(Time::ZERO, now) / 8.0;
        assert!((bytes - could).abs() < 1.0, "{bytes} {could}");
    }

    proptest! {
        /// At one rate, a schedule is the constant server to the picosecond.
        #[test]
        fn a_constant_schedule_is_constant(bps in 1_u64..100_000_000_000, len in 1_u32..70_000, ps in 0_u64..1 << 50) {
            let start = Time::from_ps(ps);
            let mut s = steps(&[(0, bps)], None);
            let tx = Rate::from_bps(bps).unwrap().tx_time(len);
            prop_assert_eq!(s.send(start, len), start + tx);
        }

        /// However the packets are cut, a backlog takes the same work.
        #[test]
        fn work_is_conserved(
            rates in prop::collection::vec(0_u64..50_000_000, 1..6),
            lens in prop::collection::vec(40_u32..1500, 1..40),
        ) {
            let mut rates: Vec<(u64, u64)> = (0..).step_by(3).zip(rates).collect();
            rates[0].1 += 1_000;
            let period = Some(3 * rates.len() as u64);
            let mut by_packet = steps(&rates, period);
            let mut now = at(1);
            for len in &lens {
                now = by_packet.send(now, *len);
            }
            let whole = steps(&rates, period).send(at(1), lens.iter().sum());
            // Each end is rounded down by less than a picosecond of at most 50 Mb/s.
            let ahead = by_packet.capacity(now, whole);
            prop_assert!(now <= whole && ahead <= lens.len() as f64 * 5e-5, "{ahead}");
        }
    }
}
