//! Classes that share by turns, weights, order or a shaper: `prio`, `ets`, `drr`, `qfq`, `tbf`.

use std::collections::BTreeMap;

use spillgate_core::{Burst, Dscp, Limit, OneOrMany, RateOrPercent, Size};
use spillgate_queueing::spec::{
    ClassBasedSpec, ClassScheduler, ClassSpec, DisciplineSpec, MatchSpec, ShapeSpec,
};
use spillgate_scenario::import::{ClassPlaces, Spot};

use crate::ios::fault::{Fault, Refusal, code};

use super::conditions::condition;
use super::line::{Args, Handle, lacks, wrong};
use super::lower::{CLASSFUL, Found, Lowering};
use super::queue::{Idle, Queue};
use super::script::{Node, Placed};
use super::units::{rate, size, time};

/// Bands of `prio` and `ets`.
const MAX_BANDS: u16 = 16;
/// Bytes of a turn where none are written: the longest packet of Ethernet.
const TURN: u64 = 1514;
/// The largest ratio between classes.
const MOST_RATIO: u64 = 1000;
/// Priorities of packets that the kernel tells apart.
const PRIORITIES: usize = 16;
/// The band of each priority where `prio` says nothing (tc-prio(8)).
const PRIO_BANDS: [u16; PRIORITIES] = [1, 2, 2, 2, 1, 2, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1];

/// The priority that Linux gives a packet by the type of service of RFC 1349, which are bits of its
/// DSCP (tc-prio(8)): throughput 2, delay 6, both 4.
fn priority_of(dscp: Dscp) -> usize {
    match dscp.value() >> 1 & 3 {
        0 => 0,
        1 => 2,
        2 => 6,
        _ => 4,
    }
}

/// A class on the way to a policy.
struct Class {
    handle: Handle,
    spec: ClassSpec,
    places: ClassPlaces,
    /// Bytes of a turn, or a weight.
    turn: u64,
}

impl Lowering<'_, '_, '_> {
    /// Puts what is attached to a class into it.
    fn attach(&mut self, class: &mut Class, name: &str, depth: usize) {
        let Some(node) = self.attached(class.handle) else {
            Queue::of_class().into_class(&mut class.spec);
            return;
        };
        let spot = self.spot(&node);
        let kind = self.words(&node).0;
        if CLASSFUL.contains(&kind.text.as_str()) {
            let inner = format!("{name}-{}", class.spec.name);
            if self.policy(&node, inner.clone(), depth + 1).is_some() {
                class.spec.policy = Some(inner);
                class.places.keys.insert("policy".to_owned(), spot);
            } else {
                Queue::of_class().into_class(&mut class.spec);
            }
            return;
        }
        let found = self.queue(&node).unwrap_or_else(Queue::of_class);
        if let Some(reason) = found.into_class(&mut class.spec) {
            self.unmodelled(&node, reason);
        }
        for key in [
            "queue_limit",
            "aqm",
            "fq_codel",
            "dualpi2",
            "cake",
            "sfq",
            "fq_pie",
        ] {
            class.places.keys.insert(key.to_owned(), spot);
        }
    }
    fn class(&self, node: &Node, handle: Handle) -> Class {
        let mut spec = ClassSpec {
            name: handle.to_string(),
            ..ClassSpec::default()
        };
        spec.matching = Some(MatchSpec::nothing());
        Class {
            handle,
            spec,
            places: ClassPlaces {
                spot: self.spot(node),
                keys: BTreeMap::new(),
            },
            turn: TURN,
        }
    }
    /// `tbf`: one class that is shaped.
    pub(super) fn tbf(
        &mut self,
        node: &Node,
        mut args: Args<'_>,
        name: &str,
        depth: usize,
    ) -> Result<Found, Refusal> {
        let (mut at, mut burst, mut limit, mut latency) = (None, None, None, None);
        let mut idle = Idle::new();
        let kind = self.words(node).0;
        let bytes = |t: &str| size(t.split('/').next().unwrap_or(t));
        while let Some(word) = args.next() {
            match word.text.as_str() {
                "rate" => at = Some(args.read("a rate", rate)?),
                "burst" | "buffer" | "maxburst" => burst = Some(args.read("a size", bytes)?),
                "limit" => limit = Some(args.read("a size", size)?),
                "latency" => latency = Some(args.read("a time", time)?),
                "mtu" | "minburst" | "overhead" | "linklayer" => {
                    args.value("a value")?;
                }
                "peakrate" => {
                    idle.push((
                        word,
                        "a peak rate is not modelled: it sends its burst at the rate of the link",
                    ));
                    args.value("a rate")?;
                }
                _ => return Err(wrong(word, "is no option of tbf").into()),
            }
        }
        let at = at.ok_or_else(|| lacks(kind, "rate"))?;
        let burst = burst.ok_or_else(|| lacks(kind, "burst"))?;
        let limit = limit
            .or_else(|| Some(at.bytes_in(latency?) + burst))
            .ok_or_else(|| lacks(kind, "limit` or `latency"))?;
        let mut class = self.class(
            node,
            Handle {
                major: node.handle.major,
                minor: 1,
            },
        );
        class.spec.name = "class-default".to_owned();
        class.spec.matching = None;
        class.spec.shape = Some(ShapeSpec {
            kind: None,
            rate: RateOrPercent::Rate(at),
            burst: Some(Burst::Bytes(burst)),
            excess_burst: None,
        });
        let inner = self.below(node.handle);
        match inner.last() {
            Some(inner) => {
                class.handle = inner.parent.unwrap_or_default();
                self.attach(&mut class, name, depth);
            }
            None => class.spec.queue_limit = Some(Limit::Bytes(limit)),
        }
        self.idle(node, idle);
        Ok(policy_of(ClassBasedSpec::default(), vec![class]))
    }

    /// `prio` and `ets`: classes that are there from the beginning.
    pub(super) fn bands(
        &mut self,
        node: &Node,
        mut args: Args<'_>,
        name: &str,
        depth: usize,
    ) -> Result<Found, Refusal> {
        let kind = self.words(node).0;
        let prio = kind.text == "prio";
        let (mut bands, mut strict, mut quanta) = (None, 0_u16, Vec::new());
        let mut map: Option<Vec<u16>> = None;
        while let Some(word) = args.next() {
            match word.text.as_str() {
                "bands" => bands = Some(args.number::<u16>()?),
                "strict" if !prio => strict = args.number()?,
                "quanta" if !prio => {
                    while let Some(q) = args.peek().and_then(|w| size(&w.text)) {
                        args.next();
                        quanta.push(q.max(1));
                    }
                }
                "priomap" => {
                    let mut read = Vec::new();
                    while let Some(band) = args.peek().and_then(|w| w.text.parse().ok()) {
                        args.next();
                        read.push(band);
                    }
                    map = Some(read);
                }
                "multiqueue" => {}
                _ => return Err(wrong(word, &format!("is no option of {}", kind.text)).into()),
            }
        }
        let count = u16::try_from(quanta.len())
            .unwrap_or(u16::MAX)
            .saturating_add(strict);
        let bands = bands.unwrap_or(if prio { 3 } else { count });
        if !(1..=MAX_BANDS).contains(&bands) || strict > bands || count > bands {
            let message = format!(
                "{} has 1 to {MAX_BANDS} bands, as many as it says of them",
                kind.text
            );
            return Err(Fault::new(code::RANGE, kind.column, message)
                .found(&kind.text)
                .into());
        }
        // What is not written is the last band of `ets`, and the kernel's table of `prio`.
        let usual = |priority: usize| match prio {
            true => PRIO_BANDS[priority],
            false => bands - 1,
        };
        let map = map.unwrap_or_else(|| (0..PRIORITIES).map(usual).collect());
        let band_of = |priority: usize| {
            map.get(priority)
                .copied()
                .unwrap_or_else(|| usual(priority))
        };
        let mut classes = Vec::new();
        for band in 0..bands {
            let handle = Handle {
                major: node.handle.major,
                minor: band + 1,
            };
            let mut class = self.class(node, handle);
            let quantum = band
                .checked_sub(strict)
                .and_then(|n| quanta.get(usize::from(n)));
            class.turn = quantum.copied().unwrap_or(TURN);
            self.attach(&mut class, name, depth);
            classes.push(class);
        }
        let rest = (0..bands).map(|band| {
            let dscps = (0..64).filter_map(Dscp::new);
            let own = dscps.filter(|d| band_of(priority_of(*d)) == band).collect();
            let handle = Handle {
                major: node.handle.major,
                minor: band + 1,
            };
            (MatchSpec::dscp(OneOrMany(own)), handle)
        });
        let rest: Vec<_> = rest
            .filter(|(m, _)| m.dscp.as_ref().is_some_and(|d| !d.0.is_empty()))
            .collect();
        self.matching(node, &mut classes, rest, true);
        let mut spec = ClassBasedSpec {
            scheduler: if prio || strict == bands {
                ClassScheduler::Strict
            } else if strict > 0 {
                ClassScheduler::Ets
            } else {
                ClassScheduler::Drr
            },
            ..ClassBasedSpec::default()
        };
        if spec.scheduler == ClassScheduler::Ets {
            spec.strict = Some(strict.into());
        }
        if spec.scheduler != ClassScheduler::Strict {
            spec.quantum = Some(Size(self.ratios(node, &mut classes[usize::from(strict)..])));
        }
        Ok(policy_of(spec, classes))
    }

    /// `drr` and `qfq`: classes with turns or weights.
    pub(super) fn turns(
        &mut self,
        node: &Node,
        mut args: Args<'_>,
        name: &str,
        depth: usize,
    ) -> Result<Found, Refusal> {
        let kind = self.words(node).0;
        if let Some(word) = args.next() {
            return Err(wrong(word, &format!("is no option of {}", kind.text)).into());
        }
        let drr = kind.text == "drr";
        let mut classes = Vec::new();
        for of in &self.nodes_of(node) {
            let mut class = self.class(of, of.handle);
            match self.turn(of, drr) {
                Ok(turn) => class.turn = turn,
                Err(fault) => {
                    self.refuse(of, fault);
                    continue;
                }
            }
            self.attach(&mut class, name, depth);
            classes.push(class);
        }
        if classes.is_empty() {
            return Err(Refusal::Unmodelled(format!(
                "{} has no class: it drops every packet",
                kind.text
            )));
        }
        self.matching(node, &mut classes, Vec::new(), false);
        let least = self.ratios(node, &mut classes);
        let mut spec = ClassBasedSpec::default();
        if drr {
            spec.scheduler = ClassScheduler::Drr;
            spec.quantum = Some(Size(least));
        } else {
            spec.scheduler = ClassScheduler::Wf2qPlus;
            self.unmodelled(
                node,
                "qfq between classes is served as WF2Q+, which it approximates",
            );
        }
        let all = MatchSpec::default();
        if classes
            .iter()
            .all(|c| c.spec.matching.as_ref() != Some(&all))
        {
            let reason = format!(
                "{} drops what no filter leads to a class; here class-default has it",
                kind.text
            );
            self.unmodelled(node, reason);
        }
        Ok(policy_of(spec, classes))
    }

    /// The quantum of a class of `drr`, or the weight of one of `qfq`.
    fn turn(&self, of: &Node, drr: bool) -> Result<u64, Fault> {
        let (kind, mut args) = self.words(of);
        let mut turn = if drr { TURN } else { 1 };
        while let Some(word) = args.next() {
            match word.text.as_str() {
                "quantum" if drr => turn = args.read("a size", size)?,
                "weight" if !drr => turn = args.number()?,
                "maxpkt" if !drr => {
                    args.read("a size", size)?;
                }
                _ => {
                    return Err(wrong(
                        word,
                        &format!("is no option of a class of {}", kind.text),
                    ));
                }
            }
        }
        Ok(turn.max(1))
    }

    /// Turns of classes as whole ratios; the bytes or the weight of the least.
    fn ratios(&mut self, node: &Node, classes: &mut [Class]) -> u64 {
        let common = classes
            .iter()
            .fold(0, |g, c| greatest_common_divisor(g, c.turn))
            .max(1);
        let most = classes.iter().map(|c| c.turn / common).max().unwrap_or(1);
        let least = classes.iter().map(|c| c.turn).min().unwrap_or(TURN);
        for class in &mut *classes {
            let ratio = class.turn / common;
            let ratio = match most > MOST_RATIO {
                false => ratio,
                true => (ratio * MOST_RATIO).div_ceil(most),
            };
            class.spec.bandwidth_remaining_ratio = u32::try_from(ratio).ok();
        }
        if most > MOST_RATIO {
            self.unmodelled(node, "shares are rounded to thousandths of the largest");
        }
        least
    }
    /// Which packets classes get: by the filters in their order, then by `rest`. `ordered`: the
    /// order of the classes says which goes first, and stays.
    fn matching(
        &mut self,
        node: &Node,
        classes: &mut Vec<Class>,
        rest: Vec<(MatchSpec, Handle)>,
        ordered: bool,
    ) {
        let known: Vec<Handle> = classes.iter().map(|c| c.handle).collect();
        let mut rules = self.rules(node, &known, |lowering, placed, target| {
            if let Some(class) = classes.iter_mut().find(|c| c.handle == target) {
                lowering.act(class, placed);
            }
        });
        let last = rules.len() + rest.len();
        rules.extend(rest);
        if !ordered {
            let first = |c: &Class| rules.iter().position(|(_, t)| *t == c.handle);
            classes.sort_by_key(|c| first(c).unwrap_or(last));
        }
        let order: Vec<Handle> = classes.iter().map(|c| c.handle).collect();
        for class in classes {
            if let Some(found) = condition(&rules, &order, class.handle) {
                class.spec.matching = Some(found);
            }
        }
    }
    /// Gives a class what a filter does.
    fn act(&mut self, class: &mut Class, placed: &Placed) {
        let (origin, acts) = (self.filter_origin(placed), &placed.filter.acts);
        class.places.keys.insert(
            "match".to_owned(),
            Spot {
                line: origin.line,
                column: 1,
                width: 0,
            },
        );
        let mut unmodelled = |reason: &str| self.report.unmodelled(origin, reason);
        let same = |p: &&Placed| p.filter.target == placed.filter.target;
        let filters = self.device.filters.iter().filter(same).count();
        if let Some(dscp) = acts.dscp {
            if class.spec.set_dscp.is_some_and(|d| d != dscp) {
                unmodelled("filters of one class set one DSCP here");
            }
            class.spec.set_dscp = Some(dscp);
        }
        if acts.drops {
            unmodelled("a filter that drops its packets is not modelled");
        }
        if let Some(police) = &acts.police {
            match &class.spec.police {
                Some(known) if known == police => {}
                Some(_) => unmodelled("a class has one policer here: this one is left out"),
                None => {
                    if filters > 1 {
                        unmodelled(
                            "the policer of one filter is that of all filters of its class here",
                        );
                    }
                    class.spec.police = Some(police.clone());
                }
            }
        }
    }
}

/// A class-based policy of these classes.
fn policy_of(spec: ClassBasedSpec, classes: Vec<Class>) -> Found {
    let (classes, places) = classes.into_iter().map(|c| (c.spec, c.places)).unzip();
    let spec = ClassBasedSpec { classes, ..spec };
    (DisciplineSpec::ClassBased(spec), places)
}

fn greatest_common_divisor(a: u64, b: u64) -> u64 {
    match b {
        0 => a,
        b => greatest_common_divisor(b, a % b),
    }
}
