//! Rules other than SCFQ by which the classes of a policy that have no priority share.
//!
//! Sources: P. Goyal, H. M. Vin, H. Cheng, "Start-Time Fair Queueing", IEEE/ACM ToN 5(5), 1997;
//! J. C. R. Bennett, H. Zhang, "Hierarchical Packet Fair Queueing Algorithms", IEEE/ACM ToN 5(5),
//! 1997 (WF2Q+); L. Zhang, "VirtualClock", SIGCOMM 1990; M. Shreedhar, G. Varghese, "Efficient Fair
//! Queuing Using Deficit Round-Robin", IEEE/ACM ToN 4(3), 1996.
//!
//! Tags: a class has the start S of its next packet, which finishes at F = S + L / share.
//!
//! - Start-time FQ sends the least S; V is the S of the packet in service. Of a policy that becomes
//!   idle V is the largest F that was sent.
//! - WF2Q+ sends the least F of those with S <= V. At each choice V is at least the least S, and it
//!   grows by what is sent, as that is sent. Shares are those of the classes that may have packets.
//! - Virtual clock sends the least F, in time: S is the later of the packet's arrival and the F
//!   before, and L / share is L at the guaranteed rate.
//!
//! Turns: classes with packets stand in a round. The first one sends while its deficit covers its
//! next packet; otherwise its deficit grows by its quantum, and it goes to the end. A class that
//! joins has a quantum. With WRR a packet costs 1, and the quantum is a number of packets. The
//! place in the round is a number, which grows with each move.
//!
//! Deviations: tags are computed when a packet is chosen, as by SCFQ. A class whose shaper has no
//! tokens is passed over in the round and keeps place and deficit.

use spillgate_core::{Problem, Rate, Time};

use super::parts::per_byte;
use super::select::{Pick, REBASE};
use super::shares::Share;
use super::{ClassState, Node, Tree};
use crate::line::Longest;
use crate::recipe::At;
use crate::sched::drr::{check_quantum, default_quantum};
use crate::sched::tags::ends_alone;
use crate::spec::{ClassBasedSpec, ClassScheduler};

/// How classes share.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Rule {
    /// The least F: SCFQ.
    Finish,
    /// The least S.
    Start,
    /// The least F of those that have started.
    Eligible,
    /// The least F, in time.
    Clock,
    /// Turns by bytes.
    Bytes,
    /// Turns by packets.
    Packets,
}

impl Rule {
    pub(super) fn of(scheduler: ClassScheduler) -> Self {
        match scheduler {
            // Of each strict class there is one, so nothing is shared.
            ClassScheduler::Scfq | ClassScheduler::Strict => Self::Finish,
            ClassScheduler::StartTime => Self::Start,
            ClassScheduler::Wf2qPlus => Self::Eligible,
            ClassScheduler::VirtualClock => Self::Clock,
            ClassScheduler::Drr | ClassScheduler::Ets => Self::Bytes,
            ClassScheduler::Wrr => Self::Packets,
        }
    }

    /// Whether tags are compared with a virtual time.
    pub(super) fn has_virtual_time(self) -> bool {
        matches!(self, Self::Finish | Self::Start | Self::Eligible)
    }

    /// What a packet costs in a turn.
    fn cost(self, len: u32) -> i64 {
        match self {
            Self::Packets => 1,
            _ => len.into(),
        }
    }
}

/// The turns of a class.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Turns {
    /// What it may still send in this turn, in bytes or packets.
    deficit: i64,
    /// What a turn brings.
    pub(super) quantum: i64,
}

impl Turns {
    /// Takes the quantum of the same class at another rate.
    pub(super) fn retune(&mut self, fresh: Self) {
        self.quantum = fresh.quantum;
    }

    /// How often it goes to the end of the round before it sends a packet.
    fn passes(self, cost: i64) -> i64 {
        let lacks = (cost - self.deficit).max(0);
        (lacks + self.quantum - 1) / self.quantum.max(1)
    }
}

/// What the share of a class is in terms of the rule.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Weight {
    /// Tag units per byte; with virtual clocks the rate in b/s.
    pub(super) per_byte: u64,
    pub(super) turns: Turns,
}

/// The weights of classes with these shares of `rate`.
pub(super) fn weigh(
    spec: &ClassBasedSpec,
    shares: &[Share],
    rate: Rate,
    longest: Longest,
    at: &mut At<'_>,
) -> Result<Vec<Weight>, Problem> {
    let rule = Rule::of(spec.scheduler);
    let together = |rank: u8| {
        shares
            .iter()
            .filter(move |s| s.rank == rank && s.part > 0.0)
    };
    let least = |rank| together(rank).map(|s| s.part).fold(f64::INFINITY, f64::min);
    let quantum = match (rule, spec.quantum) {
        (Rule::Bytes, own) => check_quantum(own.unwrap_or_else(|| default_quantum(longest)), at)?,
        _ => 1,
    };
    let mut packets = 1.0;
    if rule == Rule::Packets {
        packets = whole(shares, least).ok_or_else(|| {
            at.error(
                "scheduler",
                spec.scheduler.name(),
                "the shares of the classes are in no ratio of whole numbers of packets up to 1000",
                "give them `bandwidth_remaining_ratio`, or use `drr`",
            )
        })?;
    }
    let weight = |s: &Share| {
        let of_least = s.part / least(s.rank).min(1.0);
        Weight {
            per_byte: match rule {
                Rule::Clock => rate.scaled(s.part).bps(),
                Rule::Eligible => per_byte(s.part / together(s.rank).map(|s| s.part).sum::<f64>()),
                _ => per_byte(s.part),
            },
            turns: Turns {
                deficit: 0,
                quantum: ((f64::from(quantum) * packets * of_least).round() as i64).max(1),
            },
        }
    };
    Ok(shares.iter().map(weight).collect())
}

/// How many packets the class with the least share sends in its turn, so that all send whole ones.
fn whole(shares: &[Share], least: impl Fn(u8) -> f64) -> Option<f64> {
    (1..=1000).map(f64::from).find(|n| {
        let mut turns = shares.iter().map(|s| n * s.part / least(s.rank).min(1.0));
        turns.all(|t| (t - t.round()).abs() < 1e-6 && t <= 1e6)
    })
}

impl Tree {
    /// The packet that leaves next of the classes without priority.
    pub(super) fn pick_by(&self, node: &Node, classes: &[ClassState], now: Time) -> Option<Pick> {
        let mut best: Option<((u8, bool, u64, u64), Pick)> = None;
        for class in classes {
            let first = best.as_ref().map_or(u8::MAX, |(key, _)| key.0);
            if class.packets == 0 || class.level > 0 || class.rank > first {
                continue;
            }
            let Some(pick) = self.candidate(class, now) else {
                continue;
            };
            let finish = class.finish(pick.len);
            let (late, key, tie) = match node.rule {
                Rule::Finish => (false, finish, 0),
                Rule::Start => (false, class.start, 0),
                // None has started: V is the least start.
                Rule::Eligible if class.start > node.v[usize::from(class.slot)] => {
                    (true, class.start, finish)
                }
                Rule::Eligible => (false, finish, 0),
                Rule::Clock => (false, self.ends_alone(class, &pick), 0),
                Rule::Bytes | Rule::Packets => {
                    let passes = class.turns.passes(node.rule.cost(pick.len));
                    (false, passes.unsigned_abs(), class.start)
                }
            };
            let key = (class.rank, late, key, tie);
            if best.as_ref().is_none_or(|(least, _)| key < *least) {
                best = Some((key, pick));
            }
        }
        best.map(|(_, pick)| pick)
    }

    /// When the packet of a class would leave a line of its own, in ps.
    fn ends_alone(&self, class: &ClassState, pick: &Pick) -> u64 {
        let head = self.leaves[usize::from(pick.leaf)].head();
        ends(class, head.map_or(Time::ZERO, |p| p.arrived), pick.len)
    }

    /// A class gets its first packet.
    pub(super) fn joins(&mut self, class: u16, now: Time) {
        let own = self.classes[usize::from(class)].clone();
        let n = usize::from(own.node);
        let node = &self.nodes[n];
        let (v, slot) = (node.v[usize::from(own.slot)], usize::from(own.slot));
        let in_service = node.sent == self.sent.number && now < self.sent.until;
        let v = match node.rule {
            Rule::Clock => return,
            Rule::Bytes | Rule::Packets => {
                let state = &mut self.classes[usize::from(class)];
                (state.start, state.turns.deficit) = (v, own.turns.quantum);
                self.nodes[n].v[slot] += 1;
                return;
            }
            // What is in service has not been sent yet.
            Rule::Eligible if in_service => {
                let rest = u128::from(self.sent.until.since(now).as_ps());
                let whole = u128::from(self.sent.until.since(self.sent.from).as_ps()).max(1);
                let work = u128::from(self.sent.len) << 20;
                v.saturating_sub((work * rest / whole) as u64)
            }
            _ if in_service => v,
            _ => {
                let v = self.idle_beside(class, &own).unwrap_or(v);
                self.nodes[n].v[slot] = v;
                v
            }
        };
        self.classes[usize::from(class)].start = own.start.max(v);
    }

    /// V of a policy no other class of which has packets: the largest F that was sent.
    fn idle_beside(&self, class: u16, own: &ClassState) -> Option<u64> {
        let node = &self.nodes[usize::from(own.node)];
        let classes = (node.first..node.end).map(|c| (c, &self.classes[usize::from(c)]));
        let mut last = node.v[usize::from(own.slot)];
        for (c, of) in classes.filter(|(_, c)| c.level == 0 && c.slot == own.slot) {
            if of.packets > 0 && c != class {
                return None;
            }
            last = last.max(of.start);
        }
        Some(last)
    }

    /// A class sent a packet of `len` bytes, chosen for one of `chosen` bytes. Returns whether the
    /// origin of virtual time is far.
    pub(super) fn sends_by(&mut self, class: u16, len: u32, chosen: u32, now: Time) -> bool {
        let own = self.classes[usize::from(class)].clone();
        let node = &mut self.nodes[usize::from(own.node)];
        node.sent = self.sent.number;
        let rule = node.rule;
        let v = &mut node.v[usize::from(own.slot)];
        match rule {
            Rule::Finish | Rule::Start => *v = own.start.max(*v),
            Rule::Eligible => *v = own.start.max(*v).saturating_add(u64::from(len) << 20),
            Rule::Clock => {
                let class = &mut self.classes[usize::from(class)];
                class.start = ends(&own, self.sent.arrived, len);
                return false;
            }
            Rule::Bytes | Rule::Packets => {
                self.turns_to(class, rule.cost(len), rule.cost(chosen), now);
                return false;
            }
        }
        let far = *v > REBASE;
        self.classes[usize::from(class)].start = own.finish(len);
        far
    }

    /// The round goes on to a class, which sends.
    fn turns_to(&mut self, class: u16, cost: i64, chosen: i64, now: Time) {
        let own = self.classes[usize::from(class)].clone();
        let passes = own.turns.passes(chosen);
        self.classes[usize::from(class)].turns.deficit += passes * own.turns.quantum - cost;
        let Node { first, end, .. } = self.nodes[usize::from(own.node)];
        let others = (first..end).filter(|c| *c != class);
        let before = |c: &u16| self.classes[usize::from(*c)].start < own.start;
        let before = others.clone().filter(before);
        let before = before.filter(|c| self.takes_turns_with(*c, &own, now));
        let least = before.map(|c| self.classes[usize::from(c)].start).min();
        if passes == 0 && least.is_none() {
            return;
        }
        let tail = self.nodes[usize::from(own.node)].v[usize::from(own.slot)];
        let mut end = tail;
        for c in others {
            if !self.takes_turns_with(c, &own, now) {
                continue;
            }
            let of = &mut self.classes[usize::from(c)];
            of.turns.deficit += passes * of.turns.quantum;
            if let Some(least) = least.filter(|_| of.start < own.start) {
                of.turns.deficit += of.turns.quantum;
                of.start = tail + (of.start - least);
                end = end.max(of.start + 1);
            }
        }
        self.nodes[usize::from(own.node)].v[usize::from(own.slot)] = end;
    }

    /// Whether a class stands in the round of another one, and may send.
    fn takes_turns_with(&self, class: u16, own: &ClassState, now: Time) -> bool {
        let of = &self.classes[usize::from(class)];
        let waits = of.packets > 0 && of.level == 0 && of.rank == own.rank;
        waits && (!of.gated || self.candidate(of, now).is_some())
    }
}

/// When a packet that `arrived` leaves a line of the class's own, in ps.
fn ends(class: &ClassState, arrived: Time, len: u32) -> u64 {
    ends_alone(class.start, arrived, len, class.per_byte, (1, 1))
}
