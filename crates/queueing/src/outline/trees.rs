//! What faces show of trees of classes (HTB, HFSC): each class, in the order of the list.

use spillgate_core::{Dscp, Limit, Rate, RateOrPercent};

use super::condition::condition;
use super::{Bucket, NOMINAL, Outline, Place, Policy, words};
use crate::spec::{
    ClassKeys, CurveSpec, DisciplineSpec, HfscClassSpec, HtbClassSpec, HtbSpec, MatchSpec,
};

impl HtbSpec {
    /// The limit of the queue of packets that belong to no class; none if all have one.
    fn direct_limit(&self) -> Option<Limit> {
        self.has_direct()
            .then_some(Limit::Packets(self.direct_qlen))
    }
}

impl Policy<'_> {
    /// The classes of a tree, and the queue of packets without a class.
    pub(super) fn tree_outlines(&self, sent: Option<&[Dscp]>) -> Vec<Outline> {
        let classes = self.spec.tree_classes();
        let inner = |name: &str| classes.iter().any(|c| c.parent() == Some(name));
        let with_leaf = classes.iter().map(|c| (*c, !inner(c.name())));
        let mut all: Vec<Outline> = match self.spec {
            DisciplineSpec::Htb(s) => with_leaf
                .zip(&s.classes)
                .map(|((keys, leaf), c)| self.htb_class(s, c, keys, leaf, sent))
                .collect(),
            DisciplineSpec::Hfsc(s) => with_leaf
                .zip(&s.classes)
                .map(|((keys, leaf), c)| {
                    let real_time = c.sc.as_ref().or(c.rt.as_ref());
                    let rate = real_time.filter(|_| leaf).and_then(CurveSpec::last);
                    let default = s.default == c.name;
                    let mut out = self.tree_class(keys, leaf, rate, default, sent);
                    out.asked = c.in_words();
                    out
                })
                .collect(),
            _ => return Vec::new(),
        };
        if let DisciplineSpec::Htb(spec) = self.spec {
            all.extend(spec.direct_limit().map(|limit| Outline {
                name: crate::hier::DIRECT.to_owned(),
                condition: conditions(spec.direct.as_ref(), spec.default.is_none()),
                promise: "goes before all classes, without a bound".to_owned(),
                queue: Some(crate::hier::DIRECT.to_owned()),
                level: Some(1),
                limit: limit.to_string(),
                limit_packets: Some(spec.direct_qlen),
                ..Outline::default()
            }));
        }
        all
    }

    fn htb_class(
        &self,
        of: &HtbSpec,
        c: &HtbClassSpec,
        keys: &dyn ClassKeys,
        leaf: bool,
        sent: Option<&[Dscp]>,
    ) -> Outline {
        let default = of.default.as_deref() == Some(&c.name);
        let mut out = self.tree_class(keys, leaf, Some(c.rate), default, sent);
        let ceil = c.ceil.unwrap_or(c.rate);
        let bps = self.rate().map(|line| ceil.of(line).bps());
        let mut shape = Bucket {
            rate: bps,
            burst: c.cburst.map(|b| b.0),
            ..Bucket::default()
        };
        shape.words = format!("borrows up to {}", words::bucket(&shape, ceil));
        out.shape = Some(shape);
        out.asked = format!("rate {}", c.rate);
        if leaf && c.prio > 0 {
            out.asked += &format!(", prio {}", c.prio);
        }
        if let Some(parent) = &c.parent {
            out.asked += &format!(", in {parent}");
        }
        out
    }

    fn tree_class(
        &self,
        keys: &dyn ClassKeys,
        leaf: bool,
        rate: Option<RateOrPercent>,
        default: bool,
        sent: Option<&[Dscp]>,
    ) -> Outline {
        let line = self.rate();
        let guaranteed = match (rate, line) {
            (Some(RateOrPercent::Rate(r)), _) => Some(r),
            (Some(of), Some(line)) => Some(of.of(line)),
            _ => None,
        };
        let mut out = Outline {
            name: keys.name().to_owned(),
            condition: conditions(keys.matching(), default),
            guaranteed: guaranteed.map(Rate::bps),
            ..Outline::default()
        };
        if let Some(own) = guaranteed {
            out.promise = format!("has {own} in any case");
        }
        if !leaf {
            return out;
        }
        out.queue = Some(keys.name().to_owned());
        let Some(queue) = keys.queue() else {
            let usual = crate::hier::USUAL_LIMIT;
            out.limit = usual.to_string();
            out.limit_packets = Some(1000);
            return out;
        };
        let around = guaranteed.or(NOMINAL).map(Into::into);
        let inner = Policy {
            spec: queue,
            around,
            ..*self
        };
        let head = inner.head(sent);
        Outline {
            name: out.name,
            condition: out.condition,
            promise: out.promise,
            guaranteed: out.guaranteed,
            queue: out.queue,
            policy: None,
            kind: None,
            rate: None,
            ..head
        }
    }

    /// The places where packets of a tree wait; keys are below the discipline.
    pub(super) fn tree_places(&self) -> Vec<Place> {
        let classes = self.spec.tree_classes();
        let mut all = Vec::new();
        for (i, class) in classes.iter().enumerate() {
            let inner = classes.iter().any(|c| c.parent() == Some(class.name()));
            let place = class.queue().and_then(|queue| {
                let prefix = format!("classes[{i}].queue.{}.", queue.kind());
                Some(queue.place()?.below(&prefix))
            });
            all.extend(place.filter(|_| !inner));
        }
        if let DisciplineSpec::Htb(spec) = self.spec {
            let direct = spec.direct_limit();
            all.extend(
                direct.map(|limit| Place::fifo(vec![("direct_qlen".to_owned(), limit)], None)),
            );
        }
        all
    }
}

/// Which packets go somewhere: those of a condition, and what goes nowhere else if it is the
/// `default`.
fn conditions(matching: Option<&MatchSpec>, default: bool) -> String {
    match matching {
        Some(m) if default => format!("{}, and everything else", condition(m)),
        Some(m) => condition(m),
        None if default => "everything else".to_owned(),
        None => String::new(),
    }
}

impl CurveSpec {
    /// Its last slope.
    fn last(&self) -> Option<RateOrPercent> {
        self.m2.or(self.rate)
    }

    fn in_words(&self) -> String {
        let last = self.last().map_or_else(String::new, |r| r.to_string());
        match (self.m1, self.d, self.umax, self.dmax) {
            (m1, Some(d), _, _) => {
                let first = m1.map_or_else(|| "0 b/s".to_owned(), |r| r.to_string());
                format!("{first} for {d}, then {last}")
            }
            (_, _, Some(umax), Some(dmax)) => format!("{umax} within {dmax}, then {last}"),
            _ => last,
        }
    }
}

impl HfscClassSpec {
    fn in_words(&self) -> String {
        let curves = [
            ("real-time", &self.rt),
            ("link-sharing", &self.ls),
            ("real-time and link-sharing", &self.sc),
            ("at most", &self.ul),
        ];
        let curves = curves
            .into_iter()
            .filter_map(|(what, c)| Some(format!("{what} {}", c.as_ref()?.in_words())));
        let within = self.parent.iter().map(|p| format!("in {p}"));
        let all: Vec<String> = curves.chain(within).collect();
        all.join("; ")
    }
}
