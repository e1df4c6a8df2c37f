//! Arrivals that react to what leaves: a full queue, and others that come when there is room for
//! them, so that they always have packets and push nothing out.
//!
//! The proofs of the guarantees say what is worst: a packet of the queue itself has just begun, the
//! others' turns come first, and each has a deficit or a number from before, which a short packet
//! leaves it; then all of them have packets in each turn. Which of these fits a discipline is found
//! by trying, with the port alone.

use std::collections::{BTreeMap, BTreeSet};

use super::greedy::greedy;
use super::port::Port;
use super::shape::Stage;
use super::trial::{Passed, Sent};

/// Most packets of all that is tried at a port.
const EFFORT: usize = 800_000;
/// Most packets of one try.
const MOST: usize = 60_000;
/// How many packets of others wait.
const KEEPS: [u32; 5] = [1, 2, 3, 4, 8];
/// How often others may stay away.
const SKIPS: usize = 24;
/// Parts of the longest packet with which others begin.
const PARTS: u16 = 16;
/// Bytes of the headers of IPv6 and TCP.
const HEADERS: u16 = 60;
/// Halvings of the length of a last packet.
const HALVINGS: usize = 11;

/// When others come.
#[derive(Clone, Debug)]
struct Pace {
    /// How many packets of each other flow wait, where there is room.
    keep: u32,
    /// They come when a packet of the queue has left, else when any has.
    own_turn: bool,
    /// None comes before the burst, which so has all the room.
    quiet: bool,
    /// The length of the first packet of each other flow, which puts its turns elsewhere; none: the
    /// longest.
    first: BTreeMap<usize, u16>,
    /// The queue sends single packets before.
    own: bool,
    /// How many packets leave before the burst.
    after: usize,
    /// At which times they stay away, counted from the burst.
    skips: BTreeSet<usize>,
}

/// The search at one port.
pub(super) struct Paced<'a> {
    stage: &'a Stage<'a>,
    own: Option<usize>,
    others: Vec<usize>,
    /// All flows of the queue.
    mine: Vec<usize>,
    /// When flows with curves come from the burst on, the last first.
    timed: Vec<(u64, usize)>,
    /// Packets so far.
    effort: usize,
}

/// How long the worst packet takes, and the arrivals.
type Found = (u64, Vec<Sent>);

/// What a way to come gave.
struct Tried {
    pace: Pace,
    found: Found,
    /// The times at which others came whose packets did not all leave before the queue's next.
    stuck: Vec<usize>,
}

/// A port under way.
struct Going<'a> {
    port: Port<'a>,
    /// The burst has come.
    begun: bool,
    /// Nothing leaves before something comes.
    idle: bool,
    /// When flows with curves come, the last first.
    timed: Vec<(u64, usize)>,
    /// How many of these are of the queue.
    own_due: usize,
    /// Packets that have left.
    gone: usize,
    /// How often others could come since the burst.
    times: usize,
    stuck: Vec<usize>,
}

impl<'a> Going<'a> {
    fn new(stage: &'a Stage<'a>) -> Self {
        Self {
            port: Port::new(stage),
            begun: false,
            idle: false,
            timed: Vec::new(),
            own_due: 0,
            gone: 0,
            times: 0,
            stuck: Vec::new(),
        }
    }
}

impl<'a> Paced<'a> {
    pub(super) fn new(stage: &'a Stage<'a>) -> Self {
        let free = stage.free();
        let mut timed = Vec::new();
        for (f, feed) in stage.feeds.iter().enumerate() {
            if let Some(curve) = &feed.curve {
                let times = greedy(curve, stage.wire[f], stage.bound);
                timed.extend(times.into_iter().map(|t| (t, f)));
            }
        }
        timed.sort_unstable_by(|a, b| b.cmp(a));
        timed.drain(..timed.len().saturating_sub(MOST));
        let all = 0..stage.feeds.len();
        Self {
            stage,
            mine: all.filter(|f| stage.is_own(*f)).collect(),
            timed,
            own: free.iter().copied().find(|f| stage.is_own(*f)),
            others: free.into_iter().filter(|f| !stage.is_own(*f)).collect(),
            effort: 0,
        }
    }

    fn longest(&self, feed: usize) -> u16 {
        *self.stage.feeds[feed].lengths.end()
    }

    /// The shortest packet of a flow that shows its ports in a capture.
    fn shortest(&self, feed: usize) -> u16 {
        let lengths = &self.stage.feeds[feed].lengths;
        (*lengths.start()).max(HEADERS).min(*lengths.end())
    }

    /// The others come up to `keep` packets each.
    fn others_come(&self, port: &mut Port<'_>, keep: u32) {
        for f in &self.others {
            port.now += 1;
            while port.waiting[*f] < keep && port.fits(*f) && port.offer(*f, self.longest(*f)) {}
        }
    }

    /// What comes before the burst.
    fn begin(&self, port: &mut Port<'_>, pace: &Pace) {
        port.now = 1_000;
        if let Some(own) = self.own.filter(|_| pace.own) {
            for _ in 0..2 {
                port.now += 1;
                port.offer(own, self.longest(own));
            }
        }
        if pace.quiet {
            return;
        }
        for (f, len) in &pace.first {
            port.now += 1;
            port.offer(*f, *len);
        }
        self.others_come(port, pace.keep);
    }

    /// The queue's burst.
    fn burst(&self, port: &mut Port<'_>) {
        if let Some(own) = self.own {
            let mut count = self.stage.at_once(own);
            while count > 0 && port.fits(own) && port.offer(own, self.longest(own)) {
                count -= 1;
            }
        }
        port.now += 1;
    }

    fn run(&mut self, pace: Pace) -> Option<Tried> {
        let mut going = Going::new(self.stage);
        self.begin(&mut going.port, &pace);
        loop {
            self.react(&mut going, &pace);
            let waits = self.mine.iter().any(|f| going.port.waiting[*f] > 0);
            let is_over = going.begun && !waits && going.own_due == 0;
            if is_over || going.port.sent.len() > MOST || !self.step(&mut going) {
                break;
            }
        }
        self.effort += going.port.sent.len();
        let (_, took) = going.port.worst()?;
        Some(Tried {
            pace,
            found: (took, going.port.sent),
            stuck: going.stuck,
        })
    }

    /// What comes since packets have left.
    fn react(&self, going: &mut Going<'_>, pace: &Pace) {
        let port = &mut going.port;
        let left = !port.taken.is_empty();
        let own_left = port.taken.iter().any(|f| self.stage.is_own(*f));
        going.gone += port.taken.len();
        port.taken.clear();
        port.now += 1;
        let is_time = own_left || !pace.own || going.idle;
        if !going.begun && is_time && (going.gone >= pace.after || going.idle) {
            going.begun = true;
            self.burst(port);
            let timed = self.timed.iter().map(|(t, f)| (port.now + t, *f));
            going.timed = timed.collect();
            let own = going.timed.iter().filter(|(_, f)| self.stage.is_own(*f));
            going.own_due = own.count();
        } else if let (false, true, Some(own)) = (going.begun, pace.own, self.own) {
            if port.waiting[own] == 0 {
                port.offer(own, self.longest(own));
            }
        }
        if !going.begun {
            if !pace.quiet {
                self.others_come(port, pace.keep);
            }
        } else if own_left || left && !pace.own_turn {
            let waits = self.others.iter().any(|f| port.waiting[*f] > 0);
            if going.times > 0 && waits {
                going.stuck.push(going.times);
            }
            going.times += 1;
            if !pace.skips.contains(&going.times) {
                self.others_come(port, pace.keep);
            }
        }
    }

    /// Goes on to when something leaves or comes; whether anything can.
    fn step(&self, going: &mut Going<'_>) -> bool {
        let Going { port, timed, .. } = going;
        let next = port.next().filter(|t| *t > port.now);
        let due = timed.last().copied();
        match (next, due) {
            (Some(t), due) if due.is_none_or(|(due, _)| t <= due) => port.advance(t),
            (_, Some((due, f))) => {
                timed.pop();
                port.now = port.now.max(due);
                let late = port.now - due;
                if late > 0 {
                    // Its curve counts from when it came.
                    let later = timed.iter_mut().filter(|(_, of)| *of == f);
                    later.for_each(|(t, _)| *t += late);
                    timed.sort_unstable_by(|a, b| b.cmp(a));
                }
                port.offer(f, self.longest(f));
                going.own_due -= usize::from(self.stage.is_own(f));
            }
            _ if going.begun => return false,
            // There is nothing to wait for.
            _ => going.idle = true,
        }
        true
    }

    /// The worst arrivals that were found.
    pub(super) fn worst(mut self) -> Option<Vec<Sent>> {
        if self.own.is_none() && self.others.is_empty() {
            return None;
        }
        let mut best = None;
        for keep in KEEPS {
            let mut of_keep = None;
            for ways in 0..12 {
                self.tried(keep, ways, &mut of_keep);
            }
            let skipped = of_keep.map(|tried| self.skipped(tried));
            longer(&mut best, skipped);
        }
        Some(self.filled(best?))
    }

    /// One way, with the burst at each time of two rounds.
    fn tried(&mut self, keep: u32, ways: u32, best: &mut Option<Tried>) {
        let short = self.others.iter().map(|f| (*f, self.shortest(*f)));
        let short: BTreeMap<usize, u16> = short.collect();
        let quiet = ways >= 8;
        for after in 0..=2 * self.others.len() + 2 {
            if self.effort > EFFORT || quiet && after > 2 {
                break;
            }
            let begin_short = ways & 4 == 0 && !quiet;
            let pace = Pace {
                keep,
                own_turn: ways & 1 == 0,
                quiet,
                first: if begin_short {
                    short.clone()
                } else {
                    BTreeMap::new()
                },
                own: ways & 2 == 0,
                after,
                skips: BTreeSet::new(),
            };
            let tried = self.run(pace);
            longer(best, tried);
        }
    }

    /// The same with times at which others stay away: a queue that is empty for a turn may be new.
    fn skipped(&mut self, mut best: Tried) -> Tried {
        let mut done = 0;
        for _ in 0..SKIPS {
            let Some(time) = best.stuck.iter().copied().find(|t| *t > done) else {
                break;
            };
            done = time;
            for skip in time.max(2) - 1..=time + 1 {
                if self.effort > 2 * EFFORT {
                    break;
                }
                let mut pace = best.pace.clone();
                pace.skips.insert(skip);
                if let Some(tried) = self.run(pace).filter(|t| t.found.0 > best.found.0) {
                    (best, done) = (tried, skip);
                    break;
                }
            }
        }
        best
    }

    /// With the last packets of others as long as may be, and with other beginnings of them.
    fn filled(&mut self, best: Tried) -> Vec<Sent> {
        let mut pace = best.pace;
        let mut best = self.fill(best.found.1);
        let others = if pace.quiet {
            Vec::new()
        } else {
            self.others.clone()
        };
        for f in others {
            for part in 1..=PARTS {
                for after in pace.after.saturating_sub(1)..=pace.after + 1 {
                    if self.effort > 3 * EFFORT {
                        return best.1;
                    }
                    let mut other = pace.clone();
                    let len = u32::from(self.longest(f)) * u32::from(part) / u32::from(PARTS);
                    other.first.insert(f, (len as u16).max(self.shortest(f)));
                    other.after = after;
                    let Some(tried) = self.run(other) else {
                        continue;
                    };
                    let found = self.fill(tried.found.1);
                    if found.0 > best.0 {
                        (best, pace) = (found, tried.pace);
                    }
                }
            }
        }
        best.1
    }

    /// The last packet of each other flow as long as it may be to go before the worst one.
    fn fill(&mut self, mut sent: Vec<Sent>) -> Found {
        let mut took = 0;
        for f in &self.others {
            let port = Port::replayed(self.stage, &sent);
            self.effort += sent.len();
            let Some((worst, now)) = port.worst() else {
                break;
            };
            took = now;
            let gone = port.passed[worst].taken;
            let late = |p: &Passed| p.feed == *f && (p.taken.is_none() || p.taken > gone);
            let Some(place) = port.passed.iter().position(late) else {
                continue;
            };
            let mut base = sent[..=place].to_vec();
            base.extend(sent[place + 1..].iter().filter(|s| s.feed != *f));
            let (mut least, mut most) = (self.shortest(*f), self.longest(*f));
            for _ in 0..HALVINGS {
                if least > most {
                    break;
                }
                let len = least + (most - least) / 2;
                base[place].len = len;
                self.effort += base.len();
                match Port::replayed(self.stage, &base).worst() {
                    Some((_, now)) if now > took => {
                        (took, least) = (now, len + 1);
                        sent.clone_from(&base);
                    }
                    _ => most = len - 1,
                }
            }
        }
        (took, sent)
    }
}

fn longer(best: &mut Option<Tried>, found: Option<Tried>) {
    let Some(found) = found else { return };
    if best.as_ref().is_none_or(|b| found.found.0 > b.found.0) {
        *best = Some(found);
    }
}
