//! Policers where packets arrive over a link: what they let pass bounds what comes to the next
//! ports, if they drop all else.

use std::ops::RangeInclusive;
use std::sync::Arc;

use spillgate_core::curve::{Curve, Exact, UNITS};
use spillgate_core::{Overhead, Packet};
use spillgate_queueing::Passes;
use spillgate_scenario::plan::WorldPlan;

use crate::flows::{Flows, Unit};

/// The policy of a link.
struct Policy {
    /// For each of [`Flows::over`] its class, where that is known.
    classes: Vec<Option<u16>>,
    /// By class.
    passes: Vec<Vec<Passes>>,
    overhead: Overhead,
}

/// By link, if there is one.
pub(crate) struct Policers(Vec<Option<Policy>>);

impl Policers {
    pub(crate) fn of(world: &WorldPlan, flows: &Flows) -> Self {
        let names: Arc<[String]> = world.links.iter().map(|l| l.name.clone()).collect();
        let marks = !world.marks().is_empty();
        let of = |link: usize| {
            let plan = world.stages.input(link as u32)?;
            let mut conditioner = plan.recipe.build(&flows.keys, &names);
            let hidden = conditioner.looks_at_marks();
            let marked = !world.links[link].discipline.marks().is_empty();
            let class = |&(i, hop): &(usize, usize)| {
                let flow = &flows.all[i];
                let labels = flows.labels(i, hop);
                let as_sent = !marks || hop == 0 && !marked;
                let known = flow.alike && !hidden && as_sent && labels == 0;
                let mut packet = Packet::new(i as u32, 0, *flow.lengths.end());
                packet.dscp = flow.dscp;
                known.then(|| conditioner.class_of(&packet))
            };
            let classes = flows.over[link].iter().map(class).collect();
            let number = plan.recipe.class_names().count() as u16;
            Some(Policy {
                classes,
                passes: (0..number)
                    .map(|c| conditioner.passes(c).collect())
                    .collect(),
                overhead: plan.overhead,
            })
        };
        Self((0..world.links.len()).map(of).collect())
    }

    /// The class of the flow at this place of those over a link, if its policy bounds that.
    pub(crate) fn class(&self, link: usize, place: usize) -> Option<u16> {
        let policy = self.0[link].as_ref()?;
        let class = policy.classes[place]?;
        Some(class).filter(|c| !policy.passes[usize::from(*c)].is_empty())
    }

    /// What packets of such lengths of a class never exceed behind the policy of a link.
    pub(crate) fn passes(
        &self,
        link: usize,
        class: u16,
        lengths: &RangeInclusive<u16>,
        unit: Unit,
    ) -> Option<Curve> {
        let policy = self.0[link].as_ref()?;
        let curve = |p: &Passes| {
            let counted = p.counted.unwrap_or(policy.overhead);
            let ratio = |len| Exact::new(unit.of(len).into(), counted.wire_len(len).max(1).into());
            // The packet that counts most for what it has paid.
            let most = lengths.clone().map(ratio).max()?;
            let burst = most * (UNITS * i128::from(p.burst));
            Curve::line(burst, most * i128::from(p.rate))
                .rounded_up()
                .ok()
        };
        let curves = policy.passes[usize::from(class)].iter().filter_map(curve);
        curves.reduce(|a, b| a.min(&b).unwrap_or(a))
    }
}
