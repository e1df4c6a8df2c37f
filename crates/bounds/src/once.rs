//! Bursts that are paid only once: a bound over several ports at a time.
//!
//! Source: J.-Y. Le Boudec and P. Thiran, "Network Calculus", theorem 1.4.6 and section 6.2.
//!
//! Flows of one path and the same leaves have at each port what in the order of arrival is left of
//! the leaf's service beside others; ports in a row serve them as the convolution of these, each
//! but the last less a packet, since a port sends on whole packets. Their own burst, in the sum of
//! the bounds of ports counted at each, counts once.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use spillgate_core::Dur;
use spillgate_core::curve::{Curve, NoBound};

use crate::loops::Place;
use crate::nodes::holds;
use crate::ports::Ports;

/// The flows of one path and of the same leaf at each port, by [`Group`].
pub(crate) type Groups = BTreeMap<Group, Vec<usize>>;

/// A route, and a leaf at each of its links.
pub(crate) type Group = (usize, Vec<u16>);

/// Ports in a row, and what their delays together cannot exceed.
#[derive(Clone, Debug)]
pub struct Once {
    /// The steps of the way.
    pub steps: Range<usize>,
    /// The longest time at all of them, without propagation.
    pub delay: Dur,
}

/// What never comes more of to each leaf.
pub(crate) type Sums = BTreeMap<Place, Curve>;

/// The flows of a world by their paths.
pub(crate) fn groups(ports: &Ports<'_>) -> Groups {
    let mut groups = Groups::new();
    for flow in 0..ports.flows.all.len() {
        if let Some(group) = ports.group(flow) {
            groups.entry(group).or_default().push(flow);
        }
    }
    groups.retain(|(_, leaves), _| leaves.len() > 1);
    groups
}

impl Ports<'_> {
    /// What all flows to a leaf never exceed together, where that is known of each.
    pub(crate) fn sums(&self, groups: &Groups) -> Sums {
        let routes = groups.keys().map(|(route, _)| &self.world.routes[*route]);
        let links: BTreeSet<u32> = routes.flatten().copied().collect();
        let mut sums = Sums::new();
        for link in links {
            let mut of_link = BTreeMap::new();
            for (flow, hop, leaf) in self.over(link) {
                let Some(leaf) = leaf else {
                    of_link.clear();
                    break;
                };
                let sum = of_link.entry(leaf).or_insert_with(|| Some(Curve::zero()));
                let more = self.arrivals(flow, hop);
                *sum = sum
                    .take()
                    .zip(more)
                    .and_then(|(sum, more)| sum.plus(&more).ok());
            }
            let known = of_link
                .into_iter()
                .filter_map(|(leaf, sum)| Some(((link as usize, leaf), sum?)));
            sums.extend(known);
        }
        sums
    }

    /// Of ports in a row what they cannot exceed together, for each flow of a group.
    pub(crate) fn once(&self, (route, leaves): &Group, flows: &[usize], sums: &Sums) -> Vec<Once> {
        let links = &self.world.routes[*route];
        let serves = |hop: usize| self.serves((links[hop] as usize, leaves[hop]), hop, flows, sums);
        let plan = |hop: usize| &self.world.links[links[hop] as usize];
        let mut found = Vec::new();
        let mut hop = 0;
        while hop < links.len() {
            let begin = hop;
            let mut row: Option<Curve> = None;
            while let Some(service) = (hop < links.len()).then(|| serves(hop)).flatten() {
                let holds = holds(self.world, links[hop]);
                if hop > begin && (holds || plan(begin).overhead != plan(hop).overhead) {
                    break;
                }
                row = match row {
                    None => Some(service),
                    Some(before) => self.then(&before, &service, flows, begin).ok(),
                };
                hop += 1;
                if row.is_none() || plan(hop - 1).reorder.is_some() {
                    break;
                }
            }
            if let Some(delay) = row.filter(|_| hop > begin + 1).and_then(|row| {
                let own = self.sum(flows, begin)?;
                own.horizontal(&row).ok()
            }) {
                found.push(Once {
                    steps: begin..hop,
                    delay,
                });
            }
            hop = hop.max(begin + 1);
        }
        found
    }

    /// A port behind others: each of them sends on whole packets.
    fn then(
        &self,
        row: &Curve,
        next: &Curve,
        flows: &[usize],
        hop: usize,
    ) -> Result<Curve, NoBound> {
        let longest = flows.iter().map(|f| self.longest(*f, hop)).max();
        row.after_bytes(longest.unwrap_or(0).into())?.convolve(next)
    }

    /// What some flows of a leaf are served beside the others, if that is known.
    fn serves(&self, place: Place, hop: usize, flows: &[usize], sums: &Sums) -> Option<Curve> {
        let plan = &self.world.links[place.0];
        if plan.server.is_some() || self.world.carries_labels(plan) {
            return None;
        }
        let (service, beside) = self.bound(place)?.through()?;
        let service = service.curve();
        let come = |leaf: &u16| sums.get(&(place.0, *leaf));
        let mut all = beside.iter().filter_map(come);
        if beside
            .iter()
            .any(|leaf| come(leaf).is_none() && self.bound((place.0, *leaf)).is_some())
        {
            return None;
        }
        let all = all.try_fold(Curve::zero(), |sum, more| sum.plus(more));
        let others = all.ok()?.minus(&self.sum(flows, hop)?).ok()?;
        if others == Curve::zero() {
            return Some(service.clone());
        }
        let late = others.horizontal(service).ok()?;
        service.in_order_beside(&others, late).ok()
    }

    /// What some flows never exceed together where they come to a port.
    fn sum(&self, flows: &[usize], hop: usize) -> Option<Curve> {
        flows.iter().try_fold(Curve::zero(), |sum, flow| {
            sum.plus(&self.arrivals(*flow, hop)?).ok()
        })
    }
}
