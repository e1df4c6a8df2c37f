//! Transmit rings: from the scenario or a configuration, or else the default of the platform of an
//! imported policy.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;

use spillgate_core::Rate;
use spillgate_queueing::Recipe;

use super::policies::Policies;
use crate::ctx::Ctx;
use crate::import::{Platform, RingDefaults, Spot};
use crate::node::{Node, steps};
use crate::plan::{RingFrom, RingPlan};
use crate::schema::{ConfigSpec, Scenario};

/// The range of a ring's size in packets.
pub(super) const SIZES: RangeInclusive<u32> = 1..=1_000_000;

/// The sources of the size of a port's ring.
pub(super) struct Rings<'a> {
    /// By link as written: its ring.
    written: BTreeMap<&'a str, RingPlan>,
    /// By link as written: the rate that its policy is made for.
    rates: BTreeMap<&'a str, Rate>,
    /// The ring of an interface, by the member of a group to which it is mapped.
    members: BTreeMap<&'a str, RingPlan>,
    /// By imported policy: the ring of its interfaces if those that state one agree, and the
    /// defaults.
    imported: BTreeMap<String, (Option<RingPlan>, Platform, RingDefaults)>,
}

impl<'a> Rings<'a> {
    /// The rings of a scenario.
    pub(super) fn read(
        ctx: &Ctx<'_>,
        scenario: &'a Scenario,
        root: &Node,
        policies: &Policies,
    ) -> Self {
        let links = &scenario.topology.links;
        let written = links.iter().filter_map(|(name, link)| {
            let packets = link.tx_ring?.0;
            let span = root.nearest(&steps!["topology", "links", name, "tx_ring"]);
            // A value that came from a configuration stands in that file.
            let from = match ctx.texts.is_beside(span.text) {
                true => RingFrom::Config(format!("{}:{}", ctx.texts.name(span.text), span.line)),
                false => RingFrom::Scenario,
            };
            Some((name.as_str(), RingPlan { packets, from }))
        });
        let said = |place: (u32, Spot), config: &ConfigSpec| RingPlan {
            packets: place.0,
            from: RingFrom::Config(format!("{}:{}", ctx.file_name(config.file()), place.1.line)),
        };
        let mapped = policies.configs.iter().flat_map(|(index, found)| {
            let config = &scenario.configs[*index];
            config
                .interfaces
                .iter()
                .map(move |mapped| (config, found, mapped))
        });
        let members = mapped.filter_map(|(config, found, (interface, target))| {
            let ring = found.interface(interface)?.1.tx_ring?;
            (!links.contains_key(target)).then(|| (target.as_str(), said(ring, config)))
        });
        let rates = links.iter().map(|(n, l)| (n.as_str(), l.policy_rate()));
        let imported = policies.imported.iter().filter_map(|(policy, index)| {
            let (_, found) = policies.configs.iter().find(|(i, _)| i == index)?;
            let config = &scenario.configs[*index];
            let of_policy = found.interfaces.values().filter(|i| {
                let output = i.output_policy.as_ref();
                output.is_some_and(|(name, _)| name == policy)
            });
            let mut rings = of_policy.map(|i| i.tx_ring);
            let first = rings.next().flatten();
            let packets = first.map(|(packets, _)| packets);
            let agree = rings.all(|other| other.map(|(packets, _)| packets) == packets);
            let ring = first.filter(|_| agree).map(|ring| said(ring, config));
            Some((policy.clone(), (ring, config.platform, found.rings)))
        });
        Self {
            written: written.collect(),
            rates: rates.collect(),
            members: members.collect(),
            imported: imported.collect(),
        }
    }

    /// The ring of a link with this policy, written as `entry`, whose line has this rate.
    pub(super) fn of(
        &self,
        (entry, name): (&str, &str),
        line: Rate,
        policy: Option<&(String, Recipe)>,
    ) -> RingPlan {
        let written = self.written.get(entry);
        if let Some(written) = written.or_else(|| self.members.get(name)) {
            return written.clone();
        }
        let known = policy.and_then(|(name, recipe)| Some((self.imported.get(name)?, recipe)));
        let Some(((said, platform, defaults), recipe)) = known else {
            return RingPlan::NONE;
        };
        if let Some(said) = said {
            return said.clone();
        }
        let rate = self.rates.get(entry).copied().unwrap_or(line);
        defaults.ring(*platform, rate, recipe)
    }
}
