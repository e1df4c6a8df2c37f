//! Trees of classes as Linux has them: `htb` and `hfsc`, word for word.

use std::fmt::Write as _;

use spillgate_core::{Dur, Limit, Rate, RateOrZero};
use spillgate_queueing::PacketSet;
use spillgate_queueing::spec::{
    ClassKeys, CurveSpec, DisciplineSpec, HfscSpec, HtbSpec, MatchSpec,
};

use super::{Entry, Script, Target, comment, dscps};
use crate::{Here, place};

/// The limit of a queue of which nothing is said.
const USUAL: Limit = Limit::Packets(1000);

impl Script<'_> {
    pub(super) fn htb(&mut self, spec: &HtbSpec, policy: &str, rate: Rate) {
        let whole = format!("policy {policy}");
        let notes = &mut self.notes.at(&whole);
        if spec.timer > Dur::ZERO {
            notes.add(format!(
                "the timer's granularity of {} is that of the kernel (`HZ`)",
                spec.timer
            ));
        }
        if spec.hysteresis {
            notes.add("hysteresis is a parameter of the module: htb_hysteresis=1");
        }
        let minor = |name: &str| minor(spec.classes.iter().map(|c| &*c.name), name);
        let mut root = "htb".to_owned();
        if let Some(default) = &spec.default {
            self.default = minor(default);
            let _ = write!(root, " default {:x}", self.default);
        }
        let _ = write!(root, " r2q {} direct_qlen {}", spec.r2q, spec.direct_qlen);
        self.root(&root);
        let mut words = Vec::new();
        for c in &spec.classes {
            let own = c.rate.of(rate);
            let ceil = c.ceil.unwrap_or(c.rate).of(rate);
            let mut line = format!("htb rate {}bit ceil {}bit", own.bps(), ceil.bps());
            for (key, size) in [
                ("burst", c.burst),
                ("cburst", c.cburst),
                ("quantum", c.quantum),
            ] {
                if let Some(size) = size {
                    let unit = if key == "quantum" { "" } else { "b" };
                    let _ = write!(line, " {key} {}{unit}", size.0);
                }
            }
            let inner = spec
                .classes
                .iter()
                .any(|o| o.parent.as_ref() == Some(&c.name));
            if !inner {
                let _ = write!(line, " prio {}", c.prio);
            }
            words.push((line, own));
        }
        self.tree(&spec.classes, &words, spec.direct.as_ref(), policy);
    }

    pub(super) fn hfsc(&mut self, spec: &HfscSpec, policy: &str, rate: Rate) {
        self.default = minor(spec.classes.iter().map(|c| &*c.name), &spec.default);
        self.root(&format!("hfsc default {:x}", self.default));
        let mut words = Vec::new();
        for c in &spec.classes {
            let mut line = "hfsc".to_owned();
            let at = place(policy, &c.name);
            let notes = &mut self.notes.at(&at);
            for (key, curve) in [("rt", &c.rt), ("ls", &c.ls), ("sc", &c.sc), ("ul", &c.ul)] {
                if let Some(curve) = curve {
                    let _ = write!(line, " {key}{}", slopes(curve, rate, notes));
                }
            }
            let last = [&c.rt, &c.sc, &c.ls].into_iter().flatten().next();
            let own = last
                .and_then(|c| c.m2.or(c.rate))
                .map_or(rate, |r| r.of(rate));
            words.push((line, own));
        }
        self.tree(&spec.classes, &words, None, policy);
    }

    /// The classes with these words and what each has to itself, parents first, their queues, and
    /// the filters, the first of which lead to class 0, which is none.
    fn tree<C: ClassKeys>(
        &mut self,
        classes: &[C],
        words: &[(String, Rate)],
        direct: Option<&MatchSpec>,
        policy: &str,
    ) {
        let index = |name: &str| classes.iter().position(|c| c.name() == name);
        let inner = |c: &C| classes.iter().any(|o| o.parent() == Some(c.name()));
        let depth = |c: &C| {
            let up = |c: &&C| c.parent().and_then(index).map(|p| &classes[p]);
            std::iter::successors(Some(c), up).count()
        };
        let mut order: Vec<usize> = (0..classes.len()).collect();
        // `tc` needs the parent before its children.
        order.sort_by_key(|i| depth(&classes[*i]));
        for i in order {
            let (class, (line, rate)) = (&classes[i], &words[i]);
            let at = place(policy, class.name());
            let device = &self.device;
            let number = i + 1;
            let parent = class
                .parent()
                .and_then(index)
                .map_or_else(String::new, |p| format!("{:x}", p + 1));
            self.lines.push(comment(&at));
            self.lines.push(format!(
                "tc class add dev {device} parent 1:{parent} classid 1:{number:x} {line}"
            ));
            if inner(class) {
                continue;
            }
            let seen = dscps(class.matching());
            let qdisc = match class.queue() {
                None => Some(super::queue::fifo(USUAL, *rate)),
                Some(spec) => self.qdisc(spec, *rate, seen, &at),
            };
            if let Some(qdisc) = qdisc {
                let device = &self.device;
                // Handles have 16 bits: those of queues follow the root's.
                self.lines.push(format!(
                    "tc qdisc add dev {device} parent 1:{number:x} handle {:x}: {qdisc}",
                    number + 1
                ));
            }
        }
        self.conditions(classes, direct, policy);
        self.walk(0, &PacketSet::plain(), &[], 0);
        self.lines.append(&mut self.filter_lines);
    }

    /// The filters of each class with a condition and children, which lead on to these.
    fn conditions<C: ClassKeys>(
        &mut self,
        classes: &[C],
        direct: Option<&MatchSpec>,
        policy: &str,
    ) {
        let index = |name: &str| classes.iter().position(|c| c.name() == name);
        self.nodes.push(Vec::new());
        let mut node_of = vec![None; classes.len()];
        for (i, class) in classes.iter().enumerate() {
            let inner = classes.iter().any(|o| o.parent() == Some(class.name()));
            if inner && class.matching().is_some() {
                node_of[i] = Some(self.nodes.len());
                self.nodes.push(Vec::new());
            }
        }
        let entry = |place: String, matching, target| Entry {
            place,
            unsaid: None,
            matching,
            target: Some(target),
            steps: Vec::new(),
        };
        if let Some(matching) = direct {
            let at = place(policy, "direct");
            self.nodes[0].push(entry(at, Some(matching.clone()), Target::Leaf(0)));
        }
        for (i, class) in classes.iter().enumerate() {
            let Some(matching) = class.matching() else {
                continue;
            };
            let mut up = class.parent().and_then(index);
            while let Some(p) = up.filter(|p| node_of[*p].is_none()) {
                up = classes[p].parent().and_then(index);
            }
            let node = up.and_then(|p| node_of[p]).unwrap_or(0);
            let target = match node_of[i] {
                Some(inner) => Target::Node(inner),
                None => Target::Leaf(i as u16 + 1),
            };
            self.nodes[node].push(entry(
                place(policy, class.name()),
                Some(matching.clone()),
                target,
            ));
        }
        // Of what an inner class leads to its children, none of them may take all.
        for node in 1..self.nodes.len() {
            let at = format!("policy {policy}");
            self.nodes[node].push(entry(at, None, Target::Leaf(self.default)));
        }
    }

    /// The queue of a leaf that is a discipline of its own.
    fn qdisc(&mut self, spec: &DisciplineSpec, rate: Rate, seen: u64, at: &str) -> Option<String> {
        let line = self.line(rate);
        super::discipline(spec, line, seen, &mut self.notes.at(at))
    }
}

/// The number of a class: its place in the list, from 1.
fn minor<'a>(mut names: impl Iterator<Item = &'a str>, name: &str) -> u16 {
    names.position(|n| n == name).map_or(0, |i| i as u16 + 1)
}

/// A curve in the words that it was written in.
fn slopes(curve: &CurveSpec, line: Rate, notes: &mut Here<'_>) -> String {
    let mut text = String::new();
    if let (Some(umax), Some(dmax)) = (curve.umax, curve.dmax) {
        let _ = write!(text, " umax {}b dmax {}", umax.0, time(dmax, notes));
    }
    if let Some(d) = curve.d.filter(|d| *d > Dur::ZERO) {
        let m1 = curve.m1.map_or(0, RateOrZero::bps);
        let _ = write!(text, " m1 {m1}bit d {}", time(d, notes));
    }
    for (key, slope) in [("m2", curve.m2), ("rate", curve.rate)] {
        if let Some(slope) = slope {
            let _ = write!(text, " {key} {}bit", slope.of(line).bps());
        }
    }
    text
}

/// A time of a curve: `tc` has whole microseconds.
fn time(time: Dur, notes: &mut Here<'_>) -> String {
    let us = time.as_ps().div_ceil(1_000_000).max(1);
    if time != Dur::from_us(us) {
        notes.add(format!(
            "hfsc has whole microseconds: {time} become {us} us"
        ));
    }
    format!("{us}us")
}
