//! Links, one by one and as groups.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;

use spillgate_core::{Dur, Labels, Overhead, Rate};
use spillgate_nodes::stage::mpls::MplsSpec;
use spillgate_queueing::{Counting, Line, Recipe};

use super::check_name;
use super::irregular::Irregular;
use super::nodes::{Nodes, Place, numbered};
use super::rings::Rings;
use crate::codes;
use crate::ctx::Ctx;
use crate::error::Diagnostic;
use crate::node::{Node, steps};
use crate::plan::{LinkPlan, NO_POLICY, RingPlan};
use crate::routes::Edge;
use crate::schema::{LinkSpec, Scenario};
use spillgate_core::suggest::{did_you_mean, list};

/// The most links, reverse links included.
const MAX_LINKS: u64 = 1_000_000;

/// The range of an MTU: every link carries 68 bytes (RFC 791), and the length field of an IP packet
/// has 16 bits.
const MTUS: RangeInclusive<u64> = 68..=65_535;

/// A link as written: one link, or one for each member of a group, each with its reverse link if it
/// is `duplex`.
pub(super) struct LinkEntry<'a> {
    name: &'a str,
    pub(super) spec: &'a LinkSpec,
    from: Option<Place>,
    to: Option<Place>,
    /// The number of members of a group.
    members: Option<u32>,
    /// The id of the first link; a reverse link follows its link.
    first: u32,
}

/// The links of a scenario.
pub(super) struct Links<'a> {
    entries: BTreeMap<&'a str, LinkEntry<'a>>,
    /// Whether every link has two ends.
    fine: bool,
}

/// The link, group or member that a name stands for.
#[derive(Clone, Copy)]
pub(super) struct Named<'a, 'l> {
    pub(super) entry: &'l LinkEntry<'a>,
    /// The member that is named; none for the whole.
    member: Option<u32>,
    /// Whether the name is that of the reverse link.
    back: bool,
}

impl<'a> Links<'a> {
    /// All links; errors are reported.
    pub(super) fn read(
        ctx: &mut Ctx<'_>,
        scenario: &'a Scenario,
        root: &Node,
        nodes: &Nodes<'_>,
    ) -> Self {
        let specs = &scenario.topology.links;
        let mut all = Self {
            entries: BTreeMap::new(),
            // If nodes could not be read, every end of every link would be reported as unknown.
            fine: !specs.is_empty() && !nodes.is_empty(),
        };
        if specs.is_empty() {
            let d = Diagnostic::error(codes::NO_NODES, "the topology has no links")
                .hint("write at least one, such as `wan: {from: a, to: b, rate: 100 Mb/s}`");
            ctx.error(d, root, &steps!["topology", "links"]);
        }
        let mut total = 0_u64;
        for (name, spec) in specs {
            let mut entry = LinkEntry {
                name,
                spec,
                from: None,
                to: None,
                members: None,
                first: u32::try_from(total).unwrap_or(u32::MAX),
            };
            if !nodes.is_empty() {
                entry.check(ctx, root, nodes);
                all.fine &= entry.from.is_some() && entry.to.is_some();
            }
            total += u64::from(entry.members.unwrap_or(1)) * entry.stride();
            all.entries.insert(name, entry);
        }
        if total > MAX_LINKS {
            let d = Diagnostic::error(codes::OUT_OF_RANGE, format!("{total} links"))
                .hint(format!("a topology has at most {MAX_LINKS} links"));
            ctx.error(d, root, &steps!["topology", "links"]);
            all.fine = false;
        }
        all.check_names(ctx, root);
        all
    }

    /// Checks that generated names differ from written ones.
    fn check_names(&self, ctx: &mut Ctx<'_>, root: &Node) {
        for name in self.entries.keys() {
            if let Some((entry, _)) = self.member(name) {
                let d = Diagnostic::error(
                    codes::DUPLICATE_NAME,
                    format!(
                        "two links are called `{name}`: this one, and one of the {} of `{}`",
                        entry.members.unwrap_or(1),
                        entry.name
                    ),
                )
                .found(*name)
                .hint("give each link a name of its own");
                ctx.error(d, root, &steps!["topology", "links", *name]);
            }
            let there = name.strip_suffix(".reverse").unwrap_or_default();
            let Some(Named { entry, .. }) = self.find(there).filter(|n| n.entry.spec.duplex) else {
                continue;
            };
            let d = Diagnostic::error(
                codes::DUPLICATE_NAME,
                format!(
                    "the reverse link of `{there}` and a link of the scenario are both called `{name}`"
                ),
            )
            .hint("rename that link, or leave `duplex` out and keep both links");
            ctx.error(d, root, &steps!["topology", "links", entry.name, "duplex"]);
        }
    }

    fn member(&self, name: &str) -> Option<(&LinkEntry<'a>, u32)> {
        let (base, i) = numbered(name)?;
        let entry = self.entries.get(base)?;
        entry.members.filter(|n| i < *n).map(|_| (entry, i))
    }

    /// A link, all links of a group, or one of them; not a reverse link.
    pub(super) fn find(&self, name: &str) -> Option<Named<'a, '_>> {
        let named = |entry, member| Named {
            entry,
            member,
            back: false,
        };
        let written = self.entries.get(name).map(|entry| named(entry, None));
        written.or_else(|| self.member(name).map(|(entry, i)| named(entry, Some(i))))
    }

    /// The same, or a reverse link.
    pub(super) fn find_way(&self, name: &str) -> Option<Named<'a, '_>> {
        self.find(name).or_else(|| {
            let there = self.find(name.strip_suffix(".reverse")?)?;
            let back = Named {
                back: true,
                ..there
            };
            there.entry.spec.duplex.then_some(back)
        })
    }

    /// The error for a name that no link has.
    pub(super) fn unknown(&self, name: &str) -> Diagnostic {
        let names = || self.entries.keys().copied();
        let near = did_you_mean(name, names());
        Diagnostic::error(
            codes::UNKNOWN_LINK,
            format!("there is no link `{name}`{near}"),
        )
        .hint(format!("links: {}", list(names())))
    }

    /// The links as written.
    pub(super) fn specs(&self) -> impl Iterator<Item = (&'a str, &'a LinkSpec)> + '_ {
        self.entries.values().map(|e| (e.name, e.spec))
    }

    /// The links by id; none after an error.
    pub(super) fn drafts(&self) -> Option<Vec<Draft<'a>>> {
        self.fine
            .then(|| self.entries.values().flat_map(LinkEntry::drafts).collect())
    }
}

impl<'a> Named<'a, '_> {
    /// The ids of the links.
    pub(super) fn ids(self) -> impl Iterator<Item = u32> {
        let Self {
            entry,
            member,
            back,
        } = self;
        let members = match member {
            Some(i) => i..i + 1,
            None => 0..entry.members.unwrap_or(1),
        };
        let stride = entry.stride() as u32;
        let ways = if back { 1..2 } else { 0..stride };
        let first = entry.first;
        members.flat_map(move |i| ways.clone().map(move |way| first + i * stride + way))
    }

    /// The name of the entry that it belongs to.
    pub(super) fn base(self) -> &'a str {
        self.entry.name
    }

    /// Whether the name stands for all links of a group.
    pub(super) fn is_group(self) -> bool {
        self.member.is_none() && self.entry.members.is_some()
    }
}

impl<'a> LinkEntry<'a> {
    /// How many ids each member takes.
    fn stride(&self) -> u64 {
        1 + u64::from(self.spec.duplex)
    }

    fn check(&mut self, ctx: &mut Ctx<'_>, root: &Node, nodes: &Nodes<'_>) {
        let (name, link) = (self.name, self.spec);
        let at = |key: &str| steps!["topology", "links", name, key];
        check_name(ctx, name, "link", root, &at("")[..3]);
        self.from = nodes.expect(ctx, &link.from, root, &at("from"));
        self.to = nodes.expect(ctx, &link.to, root, &at("to"));
        if link.cost == 0 {
            let d = Diagnostic::error(codes::OUT_OF_RANGE, "a cost of 0")
                .hint("write a whole number from 1");
            ctx.error(d, root, &at("cost"));
        }
        if let Some(ring) = link.tx_ring.filter(|r| !super::rings::SIZES.contains(&r.0)) {
            let d = Diagnostic::error(codes::OUT_OF_RANGE, format!("a transmit ring of {ring}"))
                .hint("write 1 packet, the one in transmission, to 1000000 packets");
            ctx.error(d, root, &at("tx_ring"));
        }
        if let Some(mtu) = link.mtu.filter(|m| !MTUS.contains(&m.0)) {
            let d = Diagnostic::error(codes::OUT_OF_RANGE, format!("an MTU of {mtu}"))
                .hint("write 68 B (RFC 791) to 65535 B, such as 1500 B");
            ctx.error(d, root, &at("mtu"));
        }
        let (Some(from), Some(to)) = (self.from, self.to) else {
            return;
        };
        self.members = match (from.members(), to.members()) {
            (Some(a), Some(b)) if a != b => {
                let d = Diagnostic::error(
                    codes::GROUP_SIZES,
                    format!(
                        "`{}` has {a} members, `{}` has {b}: member i cannot be joined to member i",
                        link.from, link.to
                    ),
                )
                .hint("give both groups the same `count`");
                ctx.error(d, root, &at("to"));
                Some(a.min(b))
            }
            (a, b) => a.or(b),
        };
        if (0..self.members.unwrap_or(1)).any(|i| from.deal(i) == to.deal(i)) {
            let d = Diagnostic::error(
                codes::SELF_LINK,
                format!("the link leads from `{}` to itself", link.to),
            )
            .hint("`from` and `to` must be two nodes");
            ctx.error(d, root, &at("to"));
        }
        let (code, message) = match link.delay.0.len() {
            0 => (codes::OUT_OF_RANGE, "an empty list of delays"),
            2.. if self.members.is_none() => (codes::WRONG_TYPE, "a list of delays for one link"),
            _ => return,
        };
        let d = Diagnostic::error(code, message)
            .hint("write one delay; a list is assigned round-robin to the links of a group");
        ctx.error(d, root, &at("delay"));
    }

    fn drafts(&self) -> impl Iterator<Item = Draft<'a>> {
        let Self {
            name,
            spec,
            from,
            to,
            ..
        } = *self;
        let group = self.members;
        let one = move |i: u32, back: bool| {
            let (from, to) = (from?.deal(i), to?.deal(i));
            let own = match group {
                None => name.to_owned(),
                Some(_) => format!("{name}-{i}"),
            };
            let (suffix, from, to) = if back {
                (".reverse", to, from)
            } else {
                ("", from, to)
            };
            Some(Draft {
                name: own + suffix,
                entry: name,
                spec,
                policy_of: (!back).then_some(name),
                from,
                to,
                rate: spec.rate,
                delay: spec
                    .delay
                    .0
                    .iter()
                    .cycle()
                    .nth(i as usize)
                    .copied()
                    .unwrap_or(Dur::ZERO),
                overhead: spec.counted(),
                mtu: mtu(spec),
                cost: spec.cost.max(1),
                dot1q: spec.dot1q,
            })
        };
        let ways = if spec.duplex { 2 } else { 1 };
        (0..group.unwrap_or(1)).flat_map(move |i| (0..ways).filter_map(move |way| one(i, way == 1)))
    }
}

/// The longest IP packet that a link carries, labels included.
fn mtu(spec: &LinkSpec) -> u32 {
    let own = spec
        .mtu
        .map_or(u32::MAX, |b| b.0.try_into().unwrap_or(u32::MAX));
    match &spec.atm {
        Some(atm) => own.min(atm.longest(spec.overhead)),
        None => own,
    }
}

/// The line for which a policy of a link is resolved: `rate`, and the link's longest packet.
pub(super) fn line(scenario: &Scenario, spec: &LinkSpec, rate: Rate, counting: Counting) -> Line {
    let longest = mtu(spec).min(u32::from(u16::MAX)) as u16;
    let inside = |mpls: &MplsSpec| {
        let is = |node: &String| mpls.p.contains(node) || mpls.pe.contains(node);
        is(&spec.from) && is(&spec.to)
    };
    let labels = match scenario.topology.mpls.as_ref().is_some_and(inside) {
        true => Labels::MOST_BYTES,
        false => 0,
    };
    let stated = spec.mtu.map(|_| longest);
    Line::new(rate, spec.counted(), stated, labels, counting)
}

/// A link before its policy is resolved.
pub(super) struct Draft<'a> {
    name: String,
    /// The link as written that it belongs to.
    pub(super) entry: &'a str,
    /// The link as written.
    pub(super) spec: &'a LinkSpec,
    /// The name under which the scenario may give it a policy, beside its own; none for a reverse
    /// link.
    policy_of: Option<&'a str>,
    from: u32,
    to: u32,
    pub(super) rate: Rate,
    delay: Dur,
    overhead: Overhead,
    mtu: u32,
    cost: u32,
    pub(super) dot1q: bool,
}

/// The links as routing sees them.
pub(super) fn edges(links: &[Draft<'_>]) -> Vec<Edge> {
    links
        .iter()
        .map(|l| Edge {
            from: l.from,
            to: l.to,
            cost: l.cost,
            far_end: None,
            is_line: false,
        })
        .collect()
}

impl Draft<'_> {
    /// The link's name.
    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// Whether it is the other direction of a `duplex` link.
    pub(super) fn is_reverse(&self) -> bool {
        self.policy_of.is_none()
    }

    /// The nodes at its sending and its receiving end.
    pub(super) fn ends(&self) -> (u32, u32) {
        (self.from, self.to)
    }

    /// Its policy with the policy's name, if it has one.
    pub(super) fn policy<'r>(
        &self,
        recipes: &'r BTreeMap<String, (String, Recipe)>,
    ) -> Option<&'r (String, Recipe)> {
        let group = self.policy_of?;
        recipes.get(&self.name).or_else(|| recipes.get(group))
    }

    /// The link with its queue discipline.
    pub(super) fn finish(
        self,
        recipes: &BTreeMap<String, (String, Recipe)>,
        rings: &Rings<'_>,
        irregular: &BTreeMap<&str, Irregular>,
    ) -> LinkPlan {
        let irregular = irregular.get(self.entry).cloned().unwrap_or_default();
        // A reverse link has no policy, so a ring would have no scheduler before it.
        let tx_ring = match self.policy_of {
            Some(entry) => rings.of((entry, &self.name), self.rate, self.policy(recipes)),
            None => RingPlan::NONE,
        };
        let (policy, discipline) = match self.policy(recipes) {
            Some((policy, recipe)) => (policy.clone(), recipe.clone()),
            None => (NO_POLICY.to_owned(), Recipe::default_fifo()),
        };
        LinkPlan {
            name: self.name,
            from: self.from,
            to: self.to,
            rate: self.rate,
            server: irregular.server,
            delay: self.delay,
            loss: irregular.loss,
            reorder: irregular.reorder,
            overhead: self.overhead,
            mtu: self.mtu,
            cost: self.cost,
            policy,
            discipline,
            tx_ring,
            dot1q: self.dot1q,
        }
    }
}
