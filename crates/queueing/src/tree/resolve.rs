//! From a class-based policy as written to the tree that runs.

use spillgate_core::{Dur, Limit, Rate, RateOrPercent};

use super::shares::{Want, shares};
use super::{Class, Content, LeafPlace, Node, Route, Tree};
use crate::BuildError;
use crate::aqm::LeafFacts;
use crate::classify::{Classifier, Entry, Rules, Then};
use crate::condition::{Policer, PriorityPolicer, Step, TokenBucket};
use crate::leaf::{Bound, Leaf, Queue};
use crate::recipe::{At, nearest};
use crate::spec::{
    ClassBasedSpec, ClassSpec, DisciplineSpec, MatchSpec, PolicingWhen, PrioritySpec, Scope,
    ShapeSpec,
};

const DEFAULT: &str = "class-default";
/// Classes of one policy.
const MAX_CLASSES: usize = 250;
/// Classes and routes of a policy with all that is nested in it.
const MAX_ROUTES: usize = 4096;
/// Policies within each other.
const MAX_DEPTH: usize = 8;
/// Cisco IOS: share of an interface that classes may reserve.
const RESERVABLE: f64 = 0.75;

/// Builds the tree of the policy `scope.name`.
pub(crate) fn resolve(
    spec: &ClassBasedSpec,
    at: &mut At<'_>,
    scope: &Scope<'_>,
) -> Result<Tree, BuildError> {
    let mut b = Builder {
        scope,
        stack: vec![scope.name.to_owned()],
        descriptions: Vec::new(),
        names: Vec::new(),
        places: Vec::new(),
        leaves: Vec::new(),
        nodes: Vec::new(),
        classes: Vec::new(),
        shapers: Vec::new(),
        steps: Vec::new(),
        routes: Vec::new(),
        route_steps: Vec::new(),
        rules: Rules::default(),
    };
    let around = Around {
        parent: None,
        prefix: String::new(),
        longest: u32::MAX,
    };
    b.policy(spec, at, scope.rate, around)?;
    b.classification(0, &[], at)?;
    Ok(Tree {
        classifier: Classifier::new(b.rules),
        routes: b.routes,
        route_steps: b.route_steps,
        steps: b.steps,
        leaves: b.leaves,
        places: b.places,
        nodes: b.nodes,
        classes: b.classes,
        shapers: b.shapers,
        arrivals: 0,
        names: b.names.into(),
    })
}

/// What surrounds a policy.
struct Around {
    parent: Option<u16>,
    /// `PARENT/` for names of leaves.
    prefix: String,
    /// The smallest burst of the shapers around it.
    longest: u32,
}

/// A class as the classifier sees it.
struct Description {
    matching: Option<MatchSpec>,
    /// Where its packets wait; none: with those of `class-default`.
    content: Option<Content>,
    /// Its own conditioning, indexes of the steps.
    steps: Vec<u16>,
}

struct Builder<'a> {
    scope: &'a Scope<'a>,
    /// Names of the policies being resolved, outermost first.
    stack: Vec<String>,
    /// By node.
    descriptions: Vec<Vec<Description>>,
    names: Vec<String>,
    places: Vec<LeafPlace>,
    leaves: Vec<Leaf>,
    nodes: Vec<Node>,
    classes: Vec<Class>,
    shapers: Vec<TokenBucket>,
    steps: Vec<Step>,
    routes: Vec<Route>,
    route_steps: Vec<u16>,
    rules: Rules,
}

impl Builder<'_> {
    /// Adds a policy that divides `rate`; its node.
    fn policy(
        &mut self,
        spec: &ClassBasedSpec,
        at: &mut At<'_>,
        rate: Rate,
        around: Around,
    ) -> Result<u16, BuildError> {
        let mut classes = spec.classes.clone();
        if classes.last().is_none_or(|c| c.name != DEFAULT) {
            classes.push(ClassSpec {
                name: DEFAULT.to_owned(),
                ..ClassSpec::default()
            });
        }
        check_names(&classes, at)?;
        let queued: Vec<bool> = classes
            .iter()
            .map(|c| c.name == DEFAULT || asks_for_queue(c))
            .collect();
        for (i, c) in classes.iter().enumerate() {
            at.index("classes", i, |at| check_class(c, queued[i], at))?;
        }
        let wants: Vec<Want> = classes.iter().map(|c| want(c, rate)).collect();
        check_sums(&classes, &wants, rate, at)?;
        // Classes without a queue take no part in the division.
        let dividing: Vec<Want> = wants
            .iter()
            .zip(&queued)
            .filter_map(|(w, q)| q.then_some(*w))
            .collect();
        let mut shares = shares(&dividing, rate).into_iter();

        let first = self.classes.len();
        let count = dividing.len();
        if first + count > MAX_ROUTES {
            return Err(too_large(at));
        }
        let node = self.nodes.len() as u16;
        self.nodes.push(Node {
            v: 0,
            priority_packets: 0,
            first: first as u16,
            end: (first + count) as u16,
            parent: around.parent,
            gated: false,
        });
        self.descriptions.push(Vec::new());
        // The node's classes lie side by side, so they are all made before any nested policy.
        for _ in 0..count {
            self.classes.push(Class {
                start: 0,
                per_byte: 0,
                packets: 0,
                node,
                content: Content::Leaf(0),
                shaper: None,
                level: 0,
                gated: false,
            });
        }
        let mut next = first;
        for (i, class) in classes.iter().enumerate() {
            let steps = at.index("classes", i, |at| self.steps_of(class, rate, at))?;
            let content = if queued[i] {
                let id = next as u16;
                next += 1;
                let share = shares.next().unwrap_or(0.0);
                let place = Place {
                    id,
                    rate,
                    share,
                    want: wants[i],
                };
                Some(at.index("classes", i, |at| self.class(class, &place, &around, at))?)
            } else {
                None
            };
            self.descriptions[usize::from(node)].push(Description {
                matching: class.matching.clone(),
                content,
                steps,
            });
        }
        let gated = self.classes[first..first + count].iter().any(|c| c.gated);
        self.nodes[usize::from(node)].gated = gated;
        Ok(node)
    }

    /// Fills in a class that has a queue or a nested policy.
    fn class(
        &mut self,
        class: &ClassSpec,
        place: &Place,
        around: &Around,
        at: &mut At<'_>,
    ) -> Result<Content, BuildError> {
        let id = usize::from(place.id);
        let mut longest = around.longest;
        let mut guaranteed = place.rate.scaled(place.share);
        let shaped = match &class.shape {
            Some(s) => Some(at.key("shape", |at| shaper(s, place.rate, at))?),
            None => None,
        };
        if let Some((rate, burst)) = shaped {
            guaranteed = guaranteed.min(rate);
            longest = longest.min(u32::try_from(burst).unwrap_or(u32::MAX));
            self.classes[id].shaper = Some(self.shapers.len() as u16);
            self.shapers.push(TokenBucket::new(rate, burst));
        }
        let level = class.priority.as_ref().map_or(0, |p| p.level);
        self.classes[id].level = level;
        self.classes[id].per_byte = per_byte(place.share);
        self.classes[id].gated = shaped.is_some();
        if let Some(name) = &class.policy {
            let inner = match (shaped, place.want) {
                (Some((rate, _)), _) => rate,
                (None, Want::Rest) => place.rate,
                _ => guaranteed,
            };
            let around = Around {
                parent: Some(place.id),
                prefix: format!("{}{}/", around.prefix, class.name),
                longest,
            };
            let node = self.nested(name, inner, around, at)?;
            self.classes[id].gated |= self.nodes[usize::from(node)].gated;
            self.classes[id].content = Content::Node(node);
            return Ok(Content::Node(node));
        }
        let leaf = match &class.priority {
            Some(p) => at.key("priority", |at| priority_leaf(p, place.rate, at))?,
            None => leaf(class, guaranteed, at)?,
        };
        let content = Content::Leaf(self.leaves.len() as u16);
        self.leaves.push(leaf);
        self.names.push(format!("{}{}", around.prefix, class.name));
        self.places.push(LeafPlace {
            class: place.id,
            longest,
            priority: level > 0,
        });
        self.classes[id].content = content;
        Ok(content)
    }

    fn nested(
        &mut self,
        name: &String,
        rate: Rate,
        around: Around,
        at: &mut At<'_>,
    ) -> Result<u16, BuildError> {
        let policies = self.scope.policies;
        if let Some(i) = self.stack.iter().position(|n| n == name) {
            let cycle = self.stack[i..].join(" -> ");
            return Err(at.error(
                "policy",
                name,
                format!("the policy contains itself: {cycle} -> {name}"),
                "nest a policy that does not lead back here",
            ));
        }
        at.check(
            self.stack.len() < MAX_DEPTH,
            "policy",
            name,
            &format!("policies are nested more than {MAX_DEPTH} deep"),
            "nest fewer policies",
        )?;
        let spec = match policies.get(name) {
            Some(DisciplineSpec::ClassBased(s)) => s,
            Some(other) => {
                return Err(at.error(
                    "policy",
                    name,
                    format!("it is a {} policy", other.kind()),
                    "only class-based policies can be nested in a class",
                ));
            }
            None => {
                return Err(at.error(
                    "policy",
                    name,
                    "there is no policy of this name",
                    nearest(name, policies.keys()),
                ));
            }
        };
        self.stack.push(name.clone());
        let node = at.policy(name, |at| {
            at.key("class-based", |at| self.policy(spec, at, rate, around))
        })?;
        self.stack.pop();
        Ok(node)
    }

    /// The conditioning of a class, in the order in which it acts.
    fn steps_of(
        &mut self,
        class: &ClassSpec,
        rate: Rate,
        at: &mut At<'_>,
    ) -> Result<Vec<u16>, BuildError> {
        let first = self.steps.len();
        if let Some(dscp) = class.set_dscp {
            self.steps.push(Step::Set(dscp));
        }
        if let Some(p) = &class.police {
            let cir = positive(p.rate, rate, "police.rate", at)?;
            let burst = match p.burst {
                Some(b) => b.0,
                None => cir.bytes_in(Dur::from_ms(250)).max(1500),
            };
            at.check(
                burst > 0,
                "police.burst",
                "0 B",
                "no packet would ever conform",
                "leave it out for 250 ms at the rate",
            )?;
            self.steps.push(Step::Police(Policer {
                bucket: TokenBucket::new(cir, burst),
                conform: p.conform,
                exceed: p.exceed,
            }));
        }
        if let Some((p, policed)) = class.priority.as_ref().and_then(|p| Some((p, p.rate?))) {
            let r = positive(policed, rate, "priority.rate", at)?;
            let burst = match p.burst {
                Some(b) => b.0,
                None => r.bytes_in(Dur::from_ms(200)).max(1),
            };
            at.check(
                burst > 0,
                "priority.burst",
                "0 B",
                "no packet would ever conform",
                "leave it out for 200 ms at the rate",
            )?;
            self.steps.push(Step::Priority(PriorityPolicer {
                bucket: TokenBucket::new(r, burst),
                always: p.police == PolicingWhen::Always,
            }));
        }
        Ok((first..self.steps.len()).map(|i| i as u16).collect())
    }

    /// Makes the classifier's node for a policy inside classes whose steps are
    /// `outer`; its index.
    fn classification(
        &mut self,
        node: u16,
        outer: &[u16],
        at: &mut At<'_>,
    ) -> Result<u16, BuildError> {
        let id = self.rules.nodes.len() as u16;
        self.rules.nodes.push(Vec::new());
        let default = self.descriptions[usize::from(node)]
            .last()
            .and_then(|d| d.content);
        for i in 0..self.descriptions[usize::from(node)].len() {
            let d = &self.descriptions[usize::from(node)][i];
            let matching = d.matching.clone();
            let content = d.content.or(default);
            let steps: Vec<u16> = d.steps.iter().chain(outer).copied().collect();
            let then = match content {
                Some(Content::Node(n)) => Then::Node(self.classification(n, &steps, at)?),
                Some(Content::Leaf(leaf)) => Then::Route(self.route(leaf, &steps, at)?),
                None => continue,
            };
            self.rules.nodes[usize::from(id)].push(Entry { matching, then });
        }
        Ok(id)
    }

    fn route(&mut self, leaf: u16, steps: &[u16], at: &mut At<'_>) -> Result<u16, BuildError> {
        let first = self.route_steps.len();
        let end = first + steps.len();
        if self.routes.len() >= MAX_ROUTES || end > usize::from(u16::MAX) {
            return Err(too_large(at));
        }
        self.route_steps.extend_from_slice(steps);
        self.routes.push(Route {
            leaf,
            first_step: first as u16,
            end_step: end as u16,
        });
        Ok(self.routes.len() as u16 - 1)
    }
}

/// Where a class stands in its policy.
struct Place {
    id: u16,
    /// The enclosing rate.
    rate: Rate,
    share: f64,
    want: Want,
}

fn too_large(at: &At<'_>) -> BuildError {
    at.error(
        "classes",
        "this policy",
        format!("with all nested policies it has more than {MAX_ROUTES} classes"),
        "nest fewer policies",
    )
}

/// Whether a class has a queue of its own.
fn asks_for_queue(c: &ClassSpec) -> bool {
    c.priority.is_some()
        || c.bandwidth.is_some()
        || c.bandwidth_remaining.is_some()
        || c.bandwidth_remaining_ratio.is_some()
        || c.shape.is_some()
        || c.queue_limit.is_some()
        || c.aqm.is_some()
        || c.fair_queue.is_some()
        || c.policy.is_some()
}

fn want(c: &ClassSpec, rate: Rate) -> Want {
    if let Some(p) = &c.priority {
        Want::Priority(p.rate.map(|r| r.of(rate)))
    } else if let Some(b) = c.bandwidth {
        Want::Rate(b.of(rate))
    } else if let Some(p) = c.bandwidth_remaining {
        Want::RemainingPercent(p.0)
    } else if let Some(n) = c.bandwidth_remaining_ratio {
        Want::RemainingRatio(n)
    } else {
        Want::Rest
    }
}

/// Tag units per byte of a class with this share of its node.
fn per_byte(share: f64) -> u64 {
    // 2^20 / share, at most 2^42: with packets below 2^17 B a tag step stays below 2^59.
    let units = (1_u64 << 20) as f64 / share.clamp(1e-6, 1.0);
    (units + 0.5) as u64
}

fn positive(r: RateOrPercent, rate: Rate, key: &str, at: &At<'_>) -> Result<Rate, BuildError> {
    let zero = matches!(r, RateOrPercent::Percent(p) if p.0 <= 0.0);
    at.check(
        !zero,
        key,
        r,
        "a rate must be above 0",
        "write a percentage from 1 % to 100 %, or a rate",
    )?;
    Ok(r.of(rate))
}

fn shaper(s: &ShapeSpec, rate: Rate, at: &mut At<'_>) -> Result<(Rate, u64), BuildError> {
    let shaped = positive(s.rate, rate, "rate", at)?;
    if shaped > rate {
        at.warn(format!(
            "the shaped rate of {shaped} is above the enclosing rate of {rate}: it never binds"
        ));
    }
    let burst = match s.burst {
        Some(b) => b.0,
        None => shaped.bytes_in(Dur::from_ms(4)).max(1600),
    };
    at.check(
        burst > 0,
        "burst",
        "0 B",
        "no packet could ever leave",
        "leave it out for 4 ms at the rate",
    )?;
    Ok((shaped, burst))
}

fn priority_leaf(p: &PrioritySpec, rate: Rate, at: &mut At<'_>) -> Result<Leaf, BuildError> {
    let own = p.rate.map_or(rate, |r| r.of(rate));
    Ok(Leaf::fifo(at.bound("limit", p.limit, own)?, None))
}

fn leaf(c: &ClassSpec, guaranteed: Rate, at: &mut At<'_>) -> Result<Leaf, BuildError> {
    let (queue, default) = match &c.fair_queue {
        Some(f) => (
            Queue::Fair(at.key("fair_queue", |at| f.resolve(at))?),
            Bound::NONE,
        ),
        None => (
            Queue::Ring(std::collections::VecDeque::new()),
            Bound::new(Limit::Packets(64), guaranteed),
        ),
    };
    let bound = match c.queue_limit {
        Some(l) => at.bound("queue_limit", l, guaranteed)?,
        None => default,
    };
    let hold = c.fair_queue.as_ref().map(|f| f.hold_queue);
    let facts = LeafFacts {
        rate: guaranteed,
        max_packets: bound.max_packets().into_iter().chain(hold).min(),
    };
    let aqm = match &c.aqm {
        Some(a) => Some(at.key("aqm", |at| a.resolve(at, &facts))?),
        None => None,
    };
    Ok(Leaf::new(queue, bound, aqm))
}

fn check_names(classes: &[ClassSpec], at: &mut At<'_>) -> Result<(), BuildError> {
    at.check(
        classes.len() <= MAX_CLASSES,
        "classes",
        format!("{} classes", classes.len()),
        "a policy has at most 250 classes, class-default included",
        "nest policies to divide further",
    )?;
    for (i, c) in classes.iter().enumerate() {
        at.index("classes", i, |at| {
            at.check(
                !c.name.trim().is_empty(),
                "name",
                &c.name,
                "a class needs a name",
                "give it the name under which results should show it",
            )?;
            at.check(
                !c.name.contains('/'),
                "name",
                &c.name,
                "a class name must not contain `/`, which separates nested classes",
                "use `-` or `_` instead",
            )?;
            at.check(
                classes[..i].iter().all(|o| o.name != c.name),
                "name",
                &c.name,
                "there is a class of this name above",
                "names of classes are unique in a policy",
            )?;
            at.check(
                c.name != DEFAULT || i + 1 == classes.len(),
                "name",
                &c.name,
                "classes follow that could never match, as class-default matches every packet",
                "move class-default to the end",
            )
        })?;
    }
    Ok(())
}

fn check_class(c: &ClassSpec, queued: bool, at: &mut At<'_>) -> Result<(), BuildError> {
    match &c.matching {
        None => at.check(
            c.name == DEFAULT,
            "match",
            &c.name,
            "the class does not say which packets belong to it",
            "add a `match` such as {dscp: ef}; `match: {}` matches every packet",
        )?,
        Some(m) => {
            at.check(
                c.name != DEFAULT,
                "match",
                &c.name,
                "class-default matches every packet",
                "leave out its `match`, or give the class another name",
            )?;
            at.key("match", |at| check_match(m, at))?;
        }
    }
    if !queued {
        at.warn(format!(
            "class {} asks for no queue of its own: its packets wait in class-default's queue",
            c.name
        ));
    }
    check_exclusions(c, at)?;
    if let Some(p) = &c.priority {
        at.check(
            (1..=16).contains(&p.level),
            "priority.level",
            p.level,
            "priority levels are 1 to 16, 1 being served first",
            "the default is 1",
        )?;
    }
    if let Some(n) = c.bandwidth_remaining_ratio {
        at.check(
            (1..=1000).contains(&n),
            "bandwidth_remaining_ratio",
            n,
            "a ratio must be between 1 and 1000",
            "classes without any bandwidth statement have ratio 1",
        )?;
    }
    if let Some(p) = c.bandwidth_remaining {
        at.check(
            p.0 > 0.0,
            "bandwidth_remaining",
            p,
            "a share must be above 0 %",
            "write 1 % to 100 %",
        )?;
    }
    Ok(())
}

/// Keys of a class that cannot stand together.
fn check_exclusions(c: &ClassSpec, at: &At<'_>) -> Result<(), BuildError> {
    let has = [
        ("priority", c.priority.is_some()),
        ("bandwidth", c.bandwidth.is_some()),
        ("bandwidth_remaining", c.bandwidth_remaining.is_some()),
        (
            "bandwidth_remaining_ratio",
            c.bandwidth_remaining_ratio.is_some(),
        ),
        ("shape", c.shape.is_some()),
        ("queue_limit", c.queue_limit.is_some()),
        ("aqm", c.aqm.is_some()),
        ("fair_queue", c.fair_queue.is_some()),
        ("policy", c.policy.is_some()),
    ];
    let exclude = |key: &str, others: &[&str], why: &str, hint: &str| {
        let set = |k: &str| has.iter().any(|(n, on)| *n == k && *on);
        match others.iter().find(|o| set(key) && set(o)) {
            Some(other) => Err(at.error(other, &c.name, why.replace("{}", other), hint)),
            None => Ok(()),
        }
    };
    exclude(
        "priority",
        &[
            "bandwidth",
            "bandwidth_remaining",
            "bandwidth_remaining_ratio",
            "shape",
            "queue_limit",
            "aqm",
            "fair_queue",
            "policy",
        ],
        "a priority class cannot have `{}`",
        "use `priority.rate`, `priority.burst` and `priority.limit`, or drop `priority`",
    )?;
    exclude(
        "bandwidth",
        &["bandwidth_remaining", "bandwidth_remaining_ratio"],
        "a class has one bandwidth statement: `bandwidth` and `{}` exclude each other",
        "keep one of them",
    )?;
    exclude(
        "bandwidth_remaining",
        &["bandwidth_remaining_ratio"],
        "a class has one bandwidth statement: `bandwidth_remaining` and `{}` exclude each other",
        "keep one of them",
    )?;
    exclude(
        "policy",
        &["queue_limit", "aqm", "fair_queue"],
        "with a nested policy the class has no queue of its own for `{}`",
        "put it into a class of the nested policy",
    )?;
    at.check(
        c.name != DEFAULT || c.priority.is_none(),
        "priority",
        &c.name,
        "class-default cannot have priority",
        "put the packets that should go first into a class of their own",
    )
}

fn check_match(m: &MatchSpec, at: &mut At<'_>) -> Result<(), BuildError> {
    let empty = [
        ("dscp", m.dscp.as_ref().is_some_and(|l| l.0.is_empty())),
        (
            "precedence",
            m.precedence.as_ref().is_some_and(|l| l.0.is_empty()),
        ),
        ("src", m.src.as_ref().is_some_and(|l| l.0.is_empty())),
        ("dst", m.dst.as_ref().is_some_and(|l| l.0.is_empty())),
        (
            "protocol",
            m.protocol.as_ref().is_some_and(|l| l.0.is_empty()),
        ),
        ("sport", m.sport.as_ref().is_some_and(|l| l.0.is_empty())),
        ("dport", m.dport.as_ref().is_some_and(|l| l.0.is_empty())),
        ("any", m.any.as_ref().is_some_and(Vec::is_empty)),
    ];
    for (key, empty) in empty {
        at.check(
            !empty,
            key,
            "[]",
            "an empty list matches no packet",
            "name at least one value, or leave the key out",
        )?;
    }
    for p in m.precedence.iter().flat_map(|l| &l.0) {
        at.check(
            *p <= 7,
            "precedence",
            p,
            "an IP precedence is between 0 and 7",
            "write 0 to 7, or use `dscp`",
        )?;
    }
    for (key, list) in [("any", &m.any), ("all", &m.all)] {
        for (i, inner) in list.iter().flatten().enumerate() {
            at.index(key, i, |at| check_match(inner, at))?;
        }
    }
    if let Some(inner) = &m.not {
        at.key("not", |at| check_match(inner, at))?;
    }
    for (i, line) in m.acl.iter().flatten().enumerate() {
        at.index("acl", i, |at| {
            at.key("match", |at| check_match(&line.matching, at))
        })?;
    }
    Ok(())
}

/// Guarantees must fit into the enclosing rate, remaining shares into 100 %.
fn check_sums(
    classes: &[ClassSpec],
    wants: &[Want],
    rate: Rate,
    at: &mut At<'_>,
) -> Result<(), BuildError> {
    let mut sum = 0_u64;
    let mut remaining = 0.0;
    let mut in_rates = false;
    let mut in_percents = false;
    for (i, (c, w)) in classes.iter().zip(wants).enumerate() {
        let (key, written) = match &c.priority {
            Some(p) => ("priority.rate", p.rate),
            None => ("bandwidth", c.bandwidth),
        };
        if let Some(written) = written {
            let r = at.index("classes", i, |at| positive(written, rate, key, at))?;
            match written {
                RateOrPercent::Rate(_) => in_rates = true,
                RateOrPercent::Percent(_) => in_percents = true,
            }
            sum = sum.saturating_add(r.bps());
            // Percentages are rounded to whole bits per second, one per class.
            if sum > rate.bps().saturating_add(i as u64 + 1) {
                let total = Rate::from_bps(sum).unwrap_or(rate);
                let percent = sum as f64 / rate.bps() as f64 * 100.0;
                return at.index("classes", i, |at| {
                    Err(at.error(
                        key,
                        written,
                        format!(
                            "with the classes above it the guarantees come to {total}, {percent:.1} % of the enclosing rate of {rate}"
                        ),
                        "guarantees of priority and bandwidth may come to 100 % at most",
                    ))
                });
            }
        }
        if let Want::RemainingPercent(p) = w {
            remaining += p;
            if remaining > 1.0 + 1e-9 {
                return at.index("classes", i, |at| {
                    Err(at.error(
                        "bandwidth_remaining",
                        spillgate_core::Percent(*p),
                        format!(
                            "with the classes above it the remaining shares come to {:.1} %",
                            remaining * 100.0
                        ),
                        "shares of the remaining bandwidth may come to 100 % at most",
                    ))
                });
            }
        }
    }
    let by_ratio = wants.iter().any(|w| matches!(w, Want::RemainingRatio(_)));
    if by_ratio && remaining > 0.0 {
        return Err(at.error(
            "classes",
            "bandwidth_remaining and bandwidth_remaining_ratio",
            "a policy divides what remains by percentages or by ratios, not by both",
            "use one of them in all classes",
        ));
    }
    if in_rates && in_percents {
        at.warn("guarantees mix rates and percentages, which Cisco IOS does not allow");
    }
    let reserved = sum as f64 / rate.bps() as f64;
    if reserved > RESERVABLE + 1e-9 {
        at.warn(format!(
            "guarantees come to {:.1} % of {rate}; Cisco IOS allows 75 % unless max-reserved-bandwidth is raised",
            reserved * 100.0
        ));
    }
    Ok(())
}
