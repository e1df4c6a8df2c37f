//! What the numbers of stored runs are about: names, written once into each file for all of its
//! runs that have the same.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use spillgate_core::Digest;
use spillgate_scenario::plan::WorldPlan;
use spillgate_sim::layout;

use super::record::{Damage, packed, unpacked};

/// The names of a world. Numbers are places in `texts`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Names {
    pub(super) texts: Vec<String>,
    /// Scope, name and metric of each value of a run.
    pub(super) values: Vec<(u32, u32, u32)>,
    classes: Vec<u32>,
    links: Vec<u32>,
    flows: Vec<u32>,
    /// Name, class and nodes of each site that has values.
    sites: Vec<(u32, u32, Vec<u32>)>,
}

/// Names as a frame holds them, with the name by which runs refer to them.
pub(super) struct Named {
    pub(super) id: u128,
    pub(super) names: Names,
    pub(super) content: Vec<u8>,
}

/// Texts, each once.
#[derive(Default)]
struct Texts<'a> {
    all: Vec<String>,
    places: BTreeMap<&'a str, u32>,
}

impl<'a> Texts<'a> {
    fn place(&mut self, text: &'a str) -> u32 {
        *self.places.entry(text).or_insert_with(|| {
            self.all.push(text.to_owned());
            self.all.len() as u32 - 1
        })
    }
}

impl Named {
    /// The names of a world.
    pub(super) fn of(world: &WorldPlan) -> std::io::Result<Self> {
        let layout = layout(world);
        let mut texts = Texts::default();
        let mut values = Vec::with_capacity(layout.keys.len());
        for key in &layout.keys {
            let scope = texts.place(key.scope.name());
            values.push((
                scope,
                texts.place(layout.name(key)),
                texts.place(key.metric.name()),
            ));
        }
        let classes = world.classes.iter().map(|c| texts.place(c)).collect();
        let links = world.links.iter().map(|l| texts.place(&l.name)).collect();
        let flows = world.flows.iter().map(|f| texts.place(&f.name)).collect();
        let mut sites = Vec::new();
        for site in &world.sites {
            let nodes = site
                .nodes
                .iter()
                .map(|n| texts.place(&world.nodes[*n as usize]));
            let nodes = nodes.collect();
            let class = texts.place(&world.classes[usize::from(site.class)]);
            sites.push((texts.place(&site.name), class, nodes));
        }
        let names = Names {
            texts: texts.all,
            values,
            classes,
            links,
            flows,
            sites,
        };
        let content = packed(&names)?;
        let mut digest = Digest::default();
        for chunk in content.chunks(8) {
            let mut word = [0; 8];
            word[..chunk.len()].copy_from_slice(chunk);
            digest.word(u64::from_le_bytes(word));
        }
        digest.word(content.len() as u64);
        Ok(Self {
            id: digest.value(),
            names,
            content,
        })
    }

    /// The name as runs write it.
    pub(super) fn hex(&self) -> String {
        format!("{:032x}", self.id)
    }
}

/// Where the names of a stored run stand among those of a world.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Places {
    /// By value of the world: its place in the stored run, none if it was not measured.
    pub(super) values: Vec<Option<u32>>,
    /// By class of the world: its place in the stored run.
    pub(super) classes: Vec<Option<u32>>,
    /// By class, link and flow of the stored run: its place in the world.
    pub(super) own: [Vec<Option<u32>>; 3],
    /// How many values a stored run has.
    pub(super) stored: usize,
    /// Whether every site of the world was measured.
    pub(super) has_sites: bool,
}

impl Names {
    /// The names that a frame holds.
    pub(super) fn read(content: &[u8]) -> Result<Self, Damage> {
        let names: Self = unpacked(content)?;
        let known = |n: &u32| (*n as usize) < names.texts.len();
        let value = |(s, n, m): &(u32, u32, u32)| known(s) && known(n) && known(m);
        let site =
            |(n, c, nodes): &(u32, u32, Vec<u32>)| known(n) && known(c) && nodes.iter().all(known);
        let all = [&names.classes, &names.links, &names.flows];
        let fits = names.values.iter().all(value)
            && names.sites.iter().all(site)
            && all.into_iter().flatten().all(known);
        fits.then_some(names).ok_or(Damage::Coding)
    }

    fn text(&self, place: u32) -> &str {
        &self.texts[place as usize]
    }

    /// Where these stand among those of a world.
    pub(super) fn places(&self, world: &Self) -> Places {
        if self == world {
            let whole = |of: usize| (0..of as u32).map(Some).collect::<Vec<_>>();
            let own = [&self.classes, &self.links, &self.flows].map(|of| whole(of.len()));
            return Places {
                values: whole(self.values.len()),
                classes: own[0].clone(),
                own,
                stored: self.values.len(),
                has_sites: true,
            };
        }
        let value = |names: &'_ Self, (scope, name, metric): (u32, u32, u32)| {
            [scope, name, metric].map(|n| names.text(n).to_owned())
        };
        let stored = self.values.iter().map(|v| value(self, *v)).zip(0..);
        let stored: BTreeMap<_, u32> = stored.collect();
        let site = |names: &Self, (name, class, nodes): &(u32, u32, Vec<u32>)| {
            let texts = [name, class].into_iter().chain(nodes);
            texts.map(|n| names.text(*n).to_owned()).collect::<Vec<_>>()
        };
        let sites: Vec<_> = self.sites.iter().map(|s| site(self, s)).collect();
        Places {
            values: world
                .values
                .iter()
                .map(|v| stored.get(&value(world, *v)).copied())
                .collect(),
            classes: world.among(&world.classes, self, &self.classes),
            own: [
                self.among(&self.classes, world, &world.classes),
                self.among(&self.links, world, &world.links),
                self.among(&self.flows, world, &world.flows),
            ],
            stored: self.values.len(),
            has_sites: world.sites.iter().all(|s| sites.contains(&site(world, s))),
        }
    }

    /// Where these names stand among others.
    fn among(&self, these: &[u32], other: &Self, those: &[u32]) -> Vec<Option<u32>> {
        let there: BTreeMap<_, _> = those.iter().map(|t| other.text(*t)).zip(0_u32..).collect();
        these
            .iter()
            .map(|t| there.get(self.text(*t)).copied())
            .collect()
    }
}
