//! A policy of classes as a tree of `htb` classes.

use std::fmt::Write as _;

use spillgate_core::Rate;
use spillgate_queueing::spec::{ClassScheduler, DisciplineSpec};
use spillgate_queueing::{Class, PacketSet, Policy};

use super::{Entry, LEAST_TURN, Script, Target, actions, comment, dscps, queue};
use crate::place;

/// Values of `prio`: 0 to 6 for priority levels, 7 for all others.
const LOWEST: u8 = 7;
/// Bytes that a class of `htb` may send in its turn when all of them are backlogged: its share of
/// this.
const TURN: f64 = 60_000.0;
/// The rate of a class for which the others leave nothing: one byte a second.
const LEAST_RATE: Rate = match Rate::from_bps(8) {
    Some(rate) => rate,
    None => unreachable!(),
};

impl Script<'_> {
    /// The class of `htb` that has the whole rate; its number.
    pub(super) fn top(&mut self, rate: Rate) -> u16 {
        let minor = self.next_minor();
        let bits = rate.bps();
        self.lines.push(format!(
            "tc class add dev {} parent 1: classid 1:{minor:x} htb rate {bits}bit ceil {bits}bit quantum {LEAST_TURN}",
            self.device
        ));
        minor
    }

    pub(super) fn class_based(&mut self, policy: &Policy<'_>, rate: Rate) {
        let at = self.lines.len();
        let top = self.top(rate);
        let node = self.node(policy, rate, rate, top, 0);
        self.default = self.default_of(node);
        let root = self.root_line(&format!("htb default {:x}", self.default));
        self.lines.insert(at, root);
        self.walk(node, &PacketSet::plain(), &[], 0);
        self.lines.append(&mut self.actions.lines);
        self.lines.append(&mut self.filter_lines);
    }

    /// Says so where the classes of a policy that share do not take turns by bytes.
    pub(super) fn note_turns(&mut self, policy: &Policy<'_>) {
        use ClassScheduler::{Drr, Ets, Scfq, Strict};
        let DisciplineSpec::ClassBased(spec) = policy.spec else {
            return;
        };
        // Of SCFQ it is said in the documentation: it is what every policy has that says nothing.
        if !matches!(spec.scheduler, Scfq | Drr | Ets | Strict) {
            let text = format!(
                "its classes share by {}; those of {} take turns by bytes",
                spec.scheduler.name(),
                self.scheduler.name()
            );
            self.notes.at(&format!("policy {}", policy.name)).add(text);
        }
    }

    fn next_minor(&mut self) -> u16 {
        self.minor = self.minor.saturating_add(1);
        self.minor
    }

    /// Makes the classes of a policy below class `parent`; its index among the nodes.
    fn node(
        &mut self,
        policy: &Policy<'_>,
        rate: Rate,
        ceil: Rate,
        parent: u16,
        depth: usize,
    ) -> usize {
        let index = self.nodes.len();
        self.nodes.push(Vec::new());
        self.note_turns(policy);
        for class in policy.classes() {
            let place = place(policy.name, &class.spec.name);
            let notes = &mut self.notes;
            let steps = self
                .actions
                .steps(class.spec, &class.division, &mut notes.at(&place));
            let queued = class.division.queued;
            let target = queued.then(|| self.class(&class, rate, ceil, parent, depth, &place));
            let unsaid = self
                .source
                .unsaid(&class.spec.name, class.spec.matching.as_ref());
            self.nodes[index].push(Entry {
                place,
                unsaid: unsaid.map(str::to_owned),
                matching: class.spec.matching.clone(),
                target,
                steps,
            });
        }
        index
    }

    /// Makes a class with its queue or the policy inside it.
    fn class(
        &mut self,
        of: &Class<'_>,
        rate: Rate,
        ceil: Rate,
        parent: u16,
        depth: usize,
        place: &str,
    ) -> Target {
        let (class, division) = (of.spec, &of.division);
        let minor = self.next_minor();
        let ceil = division.shape.map_or(ceil, |(shaped, _)| shaped.min(ceil));
        let served = division.guaranteed.unwrap_or(rate).min(ceil);
        // htb takes no rate of 0: one byte a second is the least.
        let guaranteed = match division.spare {
            true => LEAST_RATE.min(ceil),
            false => served,
        };
        let share = guaranteed.bps() as f64 / rate.bps() as f64;
        let turn = ((TURN * share + 0.5) as u64).max(LEAST_TURN);
        let prio = match division.level {
            None => LOWEST,
            Some(level) => {
                if level >= LOWEST {
                    self.notes.at(place).add(format!(
                        "htb has seven levels above the others: level {level} is the last"
                    ));
                }
                level.clamp(1, LOWEST) - 1
            }
        };
        if let Some((admitted, burst)) = division.priority.filter(|_| !actions::polices(class)) {
            self.notes.at(place).add(format!("priority above its rate of {admitted} (burst {burst} B) is not policed: htb lets it wait for what other classes leave"));
        }
        if depth > 0 && division.level.is_some() {
            self.notes.at(place).add("in htb a priority class is first among all classes of the device that borrow, not only in its policy");
        }
        let mut line = format!(
            "tc class add dev {} parent 1:{parent:x} classid 1:{minor:x} htb rate {}bit ceil {}bit prio {prio} quantum {turn}",
            self.device,
            guaranteed.bps(),
            ceil.bps()
        );
        if let Some((_, burst)) = division.shape {
            let _ = write!(line, " cburst {burst}b");
            if class.shape.as_ref().is_some_and(|s| s.kind.is_none()) {
                self.notes.at(place).add("htb sends while its tokens are not negative (`as: htb`), where this shaper waits for tokens for the whole packet");
            }
        }
        self.lines.push(comment(place));
        self.lines.push(line);
        if let Some(inner) = &of.inner {
            let node = self.node(inner, division.inner.rate, ceil, minor, depth + 1);
            return Target::Node(node);
        }
        let dscps = dscps(class.matching.as_ref());
        let qdisc = queue::leaf(class, self.line(served), dscps, &mut self.notes.at(place));
        self.lines.push(format!(
            "tc qdisc add dev {} parent 1:{minor:x} handle {minor:x}0: {qdisc}",
            self.device
        ));
        Target::Leaf(minor)
    }
}
