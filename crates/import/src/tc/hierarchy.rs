//! `htb` and `hfsc`: trees of classes.

use spillgate_core::{Percent, RateOrPercent, RateOrZero, Size};
use spillgate_queueing::aqm::{AqmSpec, RedIdle};
use spillgate_queueing::spec::{
    CurveSpec, DisciplineSpec, HfscClassSpec, HfscSpec, HtbClassSpec, HtbSpec, MatchSpec,
};
use spillgate_scenario::import::ClassPlaces;

use crate::ios::fault::{Fault, Refusal};

use super::conditions::condition;
use super::line::{Args, Handle, wrong};
use super::lower::{Found, Lowering};
use super::script::Node;
use super::units::{rate, size, time};

/// What `htb` and `hfsc` are told before their classes.
#[derive(Default)]
struct Root {
    default: Option<Handle>,
    r2q: Option<u32>,
    direct: Option<u32>,
}

impl Root {
    fn read(major: u16, kind: &str, mut args: Args<'_>) -> Result<Self, Fault> {
        let mut found = Self::default();
        let minor = |t: &str| {
            let digits = t.strip_prefix("0x").unwrap_or(t);
            u16::from_str_radix(digits, 16).ok()
        };
        while let Some(word) = args.next() {
            match word.text.as_str() {
                "default" => {
                    let minor = args.read("the number of a class", minor)?;
                    // The class 0 is none.
                    found.default = (minor > 0).then_some(Handle { major, minor });
                }
                "r2q" if kind == "htb" => found.r2q = Some(args.number()?),
                "direct_qlen" if kind == "htb" => found.direct = Some(args.number()?),
                "offload" | "debug" if kind == "htb" => {}
                _ => return Err(wrong(word, &format!("is no option of {kind}"))),
            }
        }
        Ok(found)
    }
}

/// A rate, or a percentage of that of the device.
fn rate_or_percent(text: &str) -> Option<RateOrPercent> {
    match text.strip_suffix('%') {
        Some(percent) => {
            let percent: f64 = percent.parse().ok()?;
            (percent > 0.0 && percent <= 100.0)
                .then_some(RateOrPercent::Percent(Percent(percent / 100.0)))
        }
        None => rate(text).map(RateOrPercent::Rate),
    }
}

impl Lowering<'_, '_, '_> {
    /// `htb`.
    pub(super) fn htb(&mut self, node: &Node, args: Args<'_>) -> Result<Found, Refusal> {
        let root = Root::read(node.handle.major, "htb", args)?;
        let usual = HtbSpec::default();
        let mut spec = HtbSpec {
            r2q: root.r2q.unwrap_or(usual.r2q),
            direct_qlen: root.direct.unwrap_or(usual.direct_qlen),
            ..usual
        };
        let (classes, mut places) = self.classes_of(node, Self::htb_class);
        spec.default = self.default_of(node, root.default, &classes);
        let conditions = self.conditions(node, &classes, spec.default.is_some());
        spec.direct = conditions.direct;
        for ((class, at), matching) in classes.iter().zip(&mut places).zip(conditions.classes) {
            let queue = self.leaf(class.handle, &classes, at);
            spec.classes.push(HtbClassSpec {
                parent: self.parent_of(class.handle, &classes),
                matching,
                queue,
                ..class.spec.clone()
            });
        }
        Ok((DisciplineSpec::Htb(spec), places))
    }

    fn htb_class(&self, of: &Node) -> Result<HtbClassSpec, Fault> {
        let (kind, mut args) = self.words(of);
        let mut spec = HtbClassSpec {
            name: of.handle.to_string(),
            parent: None,
            matching: None,
            // Read below, or an error.
            rate: RateOrPercent::Percent(Percent(1.0)),
            ceil: None,
            burst: None,
            cburst: None,
            quantum: None,
            prio: 0,
            queue: None,
        };
        let mut said = None;
        let bytes = |t: &str| size(t.split('/').next().unwrap_or(t)).map(Size);
        while let Some(word) = args.next() {
            match word.text.as_str() {
                "rate" => said = Some(args.read("a rate", rate_or_percent)?),
                "ceil" => spec.ceil = Some(args.read("a rate", rate_or_percent)?),
                "burst" | "buffer" | "maxburst" => {
                    spec.burst = Some(args.read("a size", bytes)?);
                }
                "cburst" | "cbuffer" | "cmaxburst" => {
                    spec.cburst = Some(args.read("a size", bytes)?);
                }
                "quantum" => spec.quantum = Some(args.read("a size", bytes)?),
                "prio" => spec.prio = args.number()?,
                "mtu" | "mpu" | "overhead" | "linklayer" => {
                    args.value("a value")?;
                }
                _ => return Err(wrong(word, "is no option of a class of htb")),
            }
        }
        match said {
            Some(rate) => Ok(HtbClassSpec { rate, ..spec }),
            None => Err(super::line::lacks(kind, "rate")),
        }
    }

    /// `hfsc`.
    pub(super) fn hfsc(&mut self, node: &Node, args: Args<'_>) -> Result<Found, Refusal> {
        let kind = self.words(node).0;
        let root = Root::read(node.handle.major, "hfsc", args)?;
        let (classes, mut places) = self.classes_of(node, Self::hfsc_class);
        let conditions = self.conditions(node, &classes, false).classes;
        let mut spec = HfscSpec::default();
        for ((class, at), matching) in classes.iter().zip(&mut places).zip(conditions) {
            let queue = self.leaf(class.handle, &classes, at);
            spec.classes.push(HfscClassSpec {
                parent: self.parent_of(class.handle, &classes),
                matching,
                queue,
                ..class.spec.clone()
            });
        }
        match self.default_of(node, root.default, &classes) {
            Some(default) => spec.default = default,
            None => {
                let why =
                    "drops what no filter takes without `default`: name a class without children";
                return Err(wrong(kind, why).into());
            }
        }
        Ok((DisciplineSpec::Hfsc(spec), places))
    }

    fn hfsc_class(&self, of: &Node) -> Result<HfscClassSpec, Fault> {
        let mut args = self.words(of).1;
        let mut spec = HfscClassSpec {
            name: of.handle.to_string(),
            ..HfscClassSpec::default()
        };
        while let Some(word) = args.next() {
            let key = match word.text.as_str() {
                "rt" => &mut spec.rt,
                "ls" => &mut spec.ls,
                "sc" => &mut spec.sc,
                "ul" => &mut spec.ul,
                _ => return Err(wrong(word, "is no curve of hfsc: rt, ls, sc or ul")),
            };
            *key = Some(curve(&mut args)?);
        }
        Ok(spec)
    }

    /// The classes of a tree in the order of their numbers, in which Linux serves them.
    fn classes_of<S>(
        &mut self,
        node: &Node,
        read: impl Fn(&Self, &Node) -> Result<S, Fault>,
    ) -> (Vec<Branch<S>>, Vec<ClassPlaces>) {
        let mut classes = Vec::new();
        let mut places = Vec::new();
        for of in self.nodes_of(node) {
            match read(self, &of) {
                Ok(spec) => {
                    classes.push(Branch {
                        handle: of.handle,
                        parent: of.parent,
                        spec,
                    });
                    places.push(ClassPlaces {
                        spot: self.spot(&of),
                        keys: std::collections::BTreeMap::new(),
                    });
                }
                Err(fault) => self.refuse(&of, fault),
            }
        }
        (classes, places)
    }

    /// The name of the class around one; none at the top.
    fn parent_of<S>(&self, of: Handle, classes: &[Branch<S>]) -> Option<String> {
        let own = classes.iter().find(|c| c.handle == of)?;
        let around = own.parent.filter(|p| p.minor > 0)?;
        Some(around.to_string())
    }

    /// The queue of a class without children.
    fn leaf<S>(
        &mut self,
        of: Handle,
        classes: &[Branch<S>],
        places: &mut ClassPlaces,
    ) -> Option<DisciplineSpec> {
        if classes.iter().any(|c| c.parent == Some(of)) {
            return None;
        }
        let node = self.attached(of)?;
        places.keys.insert("queue".to_owned(), self.spot(&node));
        let mut queue = self.queue(&node)?.policy();
        if let DisciplineSpec::Fifo(fifo) = &mut queue {
            if let Some(AqmSpec::Red(red)) = &mut fifo.aqm {
                // An empty leaf is never asked for a packet, from which RED would know that it
                // idles.
                red.idle = RedIdle::None;
            }
        }
        Some(queue)
    }

    /// Which packets classes get; `direct`: what filters lead to the class 0 is told, too, as it
    /// would go to the default.
    fn conditions<S>(&mut self, node: &Node, classes: &[Branch<S>], direct: bool) -> Conditions {
        let order: Vec<Handle> = classes.iter().map(|c| c.handle).collect();
        let rules = self.rules(node, &order, |lowering, placed, _| {
            if placed.filter.acts != super::filter::Acts::default() {
                let origin = lowering.filter_origin(placed);
                let reason = "classes of htb and hfsc neither police nor mark here";
                lowering.report.unmodelled(origin, reason);
            }
        });
        // Inner classes have no packets of their own: what is led to one and to none of its
        // children goes to the default.
        let inner = |h: &Handle| classes.iter().any(|c| c.parent == Some(*h));
        let none = Handle {
            minor: 0,
            ..node.handle
        };
        let before = direct.then_some(none);
        let leaves = order.iter().copied().filter(|h| !inner(h));
        let leaves: Vec<Handle> = before.into_iter().chain(leaves).collect();
        let of = |class: &Handle| condition(&rules, &leaves, *class);
        Conditions {
            direct: of(&none),
            classes: order.iter().map(of).collect(),
        }
    }

    /// The class of what no filter takes.
    fn default_of<S>(
        &mut self,
        node: &Node,
        said: Option<Handle>,
        classes: &[Branch<S>],
    ) -> Option<String> {
        let said = said?;
        let leaf = |h: Handle| {
            classes.iter().any(|c| c.handle == h) && classes.iter().all(|c| c.parent != Some(h))
        };
        if leaf(said) {
            return Some(said.to_string());
        }
        let reason = format!(
            "the default class {said} is none without children: what no filter takes goes by no class"
        );
        self.unmodelled(node, reason);
        None
    }
}

/// Which packets the queue of no class and the classes of a tree get.
struct Conditions {
    direct: Option<MatchSpec>,
    classes: Vec<Option<MatchSpec>>,
}

/// A class on the way to a tree.
struct Branch<S> {
    handle: Handle,
    parent: Option<Handle>,
    spec: S,
}

/// A service curve: `[m1 RATE d TIME] m2 RATE`, or `[umax SIZE dmax TIME] rate RATE`.
fn curve(args: &mut Args<'_>) -> Result<CurveSpec, Fault> {
    let mut curve = CurveSpec::default();
    let zero_or = |t: &str| match t {
        "0" | "0bit" => Some(RateOrZero(None)),
        t => rate(t).map(|r| RateOrZero(Some(r))),
    };
    while let Some(word) = args.peek() {
        let key = word.text.as_str();
        if !["m1", "d", "m2", "umax", "dmax", "rate"].contains(&key) {
            break;
        }
        args.next();
        match key {
            "m1" => curve.m1 = Some(args.read("a rate", zero_or)?),
            "d" => curve.d = Some(args.read("a time", time)?),
            "m2" => curve.m2 = Some(args.read("a rate", rate_or_percent)?),
            "umax" => curve.umax = Some(Size(args.read("a size", size)?)),
            "dmax" => curve.dmax = Some(args.read("a time", time)?),
            _ => curve.rate = Some(args.read("a rate", rate_or_percent)?),
        }
    }
    Ok(curve)
}
