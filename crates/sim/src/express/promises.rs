//! Promises of components to the lane, and the shortcuts that these leave open.
//!
//! Nothing is promised by default: a new discipline serves packets one by one, a new kind of link
//! may lose or reorder them, a new kind of node may hold them, and the lane is closed there and
//! nowhere else. A component with more promises is faster.

use std::collections::BTreeSet;

use spillgate_scenario::plan::{LinkPlan, WorldPlan};

/// What a link and its port promise.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Promises {
    /// The rate is constant and there is no transmit ring: a packet's departure is known at its
    /// arrival if the discipline decides then.
    constant: bool,
    /// All packets arrive after the same delay, in the order in which they were sent.
    in_order: bool,
}

impl Promises {
    /// Those of a link.
    fn of(link: &LinkPlan) -> Self {
        Self {
            constant: link.server.is_none() && !link.tx_ring.holds_packets(),
            in_order: link.loss.is_none() && link.reorder.is_none(),
        }
    }

    /// Whether departures can be computed.
    fn departures(self) -> bool {
        self.constant && self.in_order
    }
}

/// Whether the lane keeps the port of each link: departures are known when packets arrive.
pub(crate) fn kept(plan: &WorldPlan, fails: &[bool]) -> Vec<bool> {
    // A node is told when packets leave the ports that it follows.
    let links = (0..).zip(&plan.links).zip(fails);
    let keeps = |((number, l), fails): ((u32, &LinkPlan), &bool)| {
        let decides = l.discipline.decides_at_arrival();
        Promises::of(l).departures() && decides && !fails && !plan.holding.follow(number)
    };
    links.map(keeps).collect()
}

/// Whether each link passes its packets on: they arrive after a fixed delay, in order, and go on at
/// once unchanged. On other links each arrival is a wake.
pub(super) fn passing(plan: &WorldPlan) -> Vec<bool> {
    // A classifier may match metadata of the arrival: the link or the tag.
    let looks = plan.links.iter().filter(|l| l.discipline.looks_at_marks());
    let looking: BTreeSet<u32> = looks.map(|l| l.from).collect();
    let tags = plan.notes_arrivals() && plan.links.iter().any(|l| l.dot1q);
    let passes = |(id, l): (u32, &LinkPlan)| {
        Promises::of(l).in_order
            && !plan.stages.act_at_arrival(id)
            && !tags
            && plan.holding.at(l.to).is_none()
            && !looking.contains(&l.to)
            && !plan.holding.serve(id)
            && !l.server.as_ref().is_some_and(|s| s.facts().in_parts)
    };
    (0..).zip(&plan.links).map(passes).collect()
}

/// The parts of a world for which the express engine has no shortcuts, and why, for people who
/// wonder about the time of a run.
pub fn taken_plainly(plan: &WorldPlan) -> Vec<String> {
    let named = |wanted: &dyn Fn((u32, &LinkPlan)) -> bool| {
        let links = (0..).zip(&plan.links).filter(|l| wanted(*l));
        let names: Vec<&str> = links.map(|(_, l)| &*l.name).collect();
        match names.len() {
            0 => None,
            1..=4 => Some(names.join(", ")),
            n => Some(format!(
                "{} and {} more links",
                names[..3].join(", "),
                n - 3
            )),
        }
    };
    let mut found = Vec::new();
    let mut note = |links: Option<String>, why: &str| {
        found.extend(links.map(|l| format!("{l}: {why}")));
    };
    let why = |l: &LinkPlan| l.server.as_ref().map(|s| s.facts().why);
    let mut reasons: Vec<&str> = plan.links.iter().filter_map(why).collect();
    let mut seen = BTreeSet::new();
    reasons.retain(|reason| seen.insert(*reason));
    for reason in reasons {
        note(named(&|(_, l)| why(l) == Some(reason)), reason);
    }
    note(
        named(&|(_, l)| !Promises::of(l).in_order),
        "packets are lost or late at random, so they are served one by one, and each arrival is an event",
    );
    note(
        named(&|(id, _)| plan.stages.act_at_arrival(id)),
        "policies or labels act on what arrives, so each arrival is an event",
    );
    let kept = plan.holding.nodes();
    let kept: Vec<&str> = kept.map(|n| &*plan.nodes[n as usize]).collect();
    note(
        match kept.len() {
            0 => None,
            1..=4 => Some(kept.join(", ")),
            n => Some(format!("{} and {} more nodes", kept[..3].join(", "), n - 3)),
        },
        "packets are held there, so each arrival is an event",
    );
    note(
        named(&|(_, l)| l.server.is_none() && l.tx_ring.holds_packets()),
        "the port has a transmit ring, so packets are served one by one",
    );
    let served = |(_, l): (u32, &LinkPlan)| {
        Promises::of(l).departures() && !l.discipline.decides_at_arrival()
    };
    note(
        named(&served),
        "the discipline decides when packets leave, so they are served one by one",
    );
    found
}
