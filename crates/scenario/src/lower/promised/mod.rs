//! Compares agreements with the links that customers share and the packets that they send.

mod unprotected;

use std::collections::{BTreeMap, BTreeSet};

use spillgate_core::Rate;
use spillgate_queueing::spec::{ClassBasedSpec, DisciplineSpec, MatchSpec};
use spillgate_queueing::{Division, Line, Metadata, View};

use self::unprotected::{Traffics, Way};
use super::policies::Policies;
use crate::agreements;
use crate::codes;
use crate::ctx::Ctx;
use crate::error::Diagnostic;
use crate::node::{Node, steps};
use crate::plan::{LinkPlan, WorldPlan};
use spillgate_core::suggest::list;

/// The deepest nesting of policies.
const MAX_DEPTH: usize = 8;

/// A class of a table: policy and index.
type Customer<'a> = (&'a str, usize);

/// An agreement where it is kept: link, whether at its receiving end, class, and the flow if each
/// has one of its own.
type Promise<'a> = (u32, bool, Customer<'a>, Option<u32>);

/// A packet at a policy.
struct Probe<'a> {
    view: View<'a>,
    metadata: Metadata<'a>,
}

struct Check<'a> {
    policies: &'a Policies,
    world: &'a WorldPlan,
    /// The customers of each table's policy, by class, with their conditions. Conditions on the
    /// code point are left out, since an earlier node may have set it.
    customers: BTreeMap<&'a str, BTreeMap<usize, MatchSpec>>,
    /// The policies that are a table's or in which one is nested.
    lead_there: BTreeSet<&'a str>,
    divided: BTreeMap<(&'a str, Line), Vec<Division>>,
    /// The customers that have packets.
    reached: BTreeSet<Customer<'a>>,
    /// The sum of the promised rates of each link, in bits per second.
    promised: BTreeMap<u32, BTreeMap<Promise<'a>, u64>>,
    /// Buckets that are smaller than a packet: the depth, the length of the packet, and its flow.
    short: BTreeMap<Customer<'a>, (u64, u32, u32)>,
    /// The packets that meet in queues.
    traffics: Traffics<'a>,
}

/// Warns of agreements that cannot be kept, and of customers without packets.
pub(super) fn check(ctx: &mut Ctx<'_>, root: &Node, policies: &Policies, world: &WorldPlan) {
    let mut customers = BTreeMap::new();
    for (_, policy, _) in agreements::tables(root) {
        let Some((name, DisciplineSpec::ClassBased(spec))) = policies.all.get_key_value(policy)
        else {
            continue;
        };
        let classes = spec.classes.iter().enumerate();
        let classes = classes.filter(|(i, _)| agreements::is_customer(&ctx.texts, root, name, *i));
        let conditions = classes.map(|(i, c)| {
            let mut m = c.matching.clone().unwrap_or_default();
            m.dscp = None;
            (i, m)
        });
        customers.insert(name.as_str(), conditions.collect());
    }
    if customers.is_empty() {
        return;
    }
    let lead_there = policies.all.keys().map(String::as_str);
    let lead_there = lead_there.filter(|n| leads_to(policies, n, &customers, 0));
    let mut check = Check {
        lead_there: lead_there.collect(),
        policies,
        world,
        customers,
        divided: BTreeMap::new(),
        reached: BTreeSet::new(),
        promised: BTreeMap::new(),
        short: BTreeMap::new(),
        traffics: Traffics::default(),
    };
    check.walk();
    check.tell(ctx, root);
}

fn leads_to<T>(
    policies: &Policies,
    name: &str,
    customers: &BTreeMap<&str, T>,
    depth: usize,
) -> bool {
    if customers.contains_key(name) {
        return true;
    }
    let nested = policies.get(name).filter(|_| depth < MAX_DEPTH);
    let mut nested = nested.into_iter().flat_map(DisciplineSpec::nested);
    nested.any(|inner| leads_to(policies, inner, customers, depth + 1))
}

impl<'a> Check<'a> {
    /// Follows every flow over its links.
    fn walk(&mut self) {
        let world = self.world;
        for (id, flow) in (0..).zip(&world.flows) {
            let (forth, back) = flow.traffic.longest();
            let ways = [
                (Some(flow.route), flow.key, forth, true),
                (flow.back, flow.key.reversed(), back, false),
            ];
            for (route, key, len, forth) in ways {
                let path = match route {
                    Some(route) => &world.routes[route as usize],
                    None => continue,
                };
                // The first edge on a path admits what it has promised. Later nodes promise
                // nothing.
                let mut kept = None;
                for (i, l) in path.iter().enumerate() {
                    let link = &world.links[*l as usize];
                    let before = i.checked_sub(1).map(|b| &world.links[path[b] as usize]);
                    let arriving = world.stages.input(*l);
                    let input = arriving.map(|p| p.policy.as_str());
                    let places = [
                        (Some(link.policy.as_str()), before, false),
                        (input, Some(link), true),
                    ];
                    for (policy, came_by, arrives) in places {
                        let policy = policy.and_then(|p| self.lead_there.get(p).copied());
                        let Some(policy) = policy else { continue };
                        let seen = Probe {
                            view: View::Ip {
                                key: &key,
                                dscp: flow.dscp,
                            },
                            metadata: Metadata {
                                input: came_by.map(|l| l.name.as_str()),
                                ..Metadata::default()
                            },
                        };
                        self.reach(policy, &seen, 0);
                        let Some(customer) = self.class(policy, &seen, 0) else {
                            continue;
                        };
                        let line = match (arriving, arrives) {
                            (Some(input), true) => input.recipe.line(),
                            _ => match link.discipline.line() {
                                Some(line) => line,
                                None => continue,
                            },
                        };
                        let counted = line.counting.policers.unwrap_or(link.overhead);
                        let bytes = counted.labelled_len(len, 0);
                        let place = (*l, arrives, customer, id);
                        if let Some(promise) =
                            self.agreement(line, place, (len > 0).then_some(bytes))
                        {
                            if kept.is_none() {
                                kept = Some((i + usize::from(arrives), customer));
                                for shared in &path[i..] {
                                    let of = self.promised.entry(*shared).or_default();
                                    of.insert(promise.0, promise.1);
                                }
                            }
                        }
                    }
                }
                self.pass(&Way {
                    flow,
                    key,
                    path,
                    forth,
                    kept,
                });
            }
        }
    }

    fn spec(&self, policy: &str) -> Option<(&'a str, &'a ClassBasedSpec)> {
        match self.policies.all.get_key_value(policy) {
            Some((name, DisciplineSpec::ClassBased(spec))) => Some((name, spec)),
            _ => None,
        }
    }

    /// Notes every customer that may have sent this packet, whatever its code point.
    fn reach(&mut self, policy: &'a str, seen: &Probe<'_>, depth: usize) {
        if let Some(all) = self.customers.get(policy) {
            let here = all
                .iter()
                .filter(|(_, m)| m.matches_with(seen.view, &seen.metadata));
            self.reached.extend(here.map(|(class, _)| (policy, *class)));
        }
        let Some((_, spec)) = self.spec(policy).filter(|_| depth < MAX_DEPTH) else {
            return;
        };
        for inner in spec.classes.iter().filter_map(|c| c.policy.as_deref()) {
            self.reach(inner, seen, depth + 1);
        }
    }

    /// The customer that has sent this packet.
    fn class(&self, policy: &str, seen: &Probe<'_>, depth: usize) -> Option<Customer<'a>> {
        let (name, spec) = self.spec(policy).filter(|_| depth < MAX_DEPTH)?;
        let hit = spec.classes.iter().position(|c| match &c.matching {
            Some(m) => m.matches_with(seen.view, &seen.metadata),
            None => true,
        })?;
        if self
            .customers
            .get(name)
            .is_some_and(|c| c.contains_key(&hit))
        {
            return Some((name, hit));
        }
        self.class(spec.classes[hit].policy.as_deref()?, seen, depth + 1)
    }

    /// Adds the rate promised to a customer at a link, and checks that its bucket holds a packet of
    /// this length.
    fn agreement(
        &mut self,
        line: Line,
        (id, arrives, customer, flow): (u32, bool, Customer<'a>, u32),
        bytes: Option<u32>,
    ) -> Option<(Promise<'a>, u64)> {
        let (name, spec) = self.spec(customer.0)?;
        let class = &spec.classes[customer.1];
        let divided = self.divided.entry((name, line));
        let division = &divided.or_insert_with(|| spec.divide(line))[customer.1];
        let police = class.police.as_ref();
        let (rate, burst) = division.police.or(division.shape)?;
        let has_bucket = police.is_none_or(|p| p.window.is_none());
        // A committed burst of 0 is intended (RFC 2697): no packet conforms.
        let has_bucket = has_bucket && burst > 0;
        if let Some(bytes) = bytes.filter(|b| has_bucket && u64::from(*b) > burst) {
            let known = self.short.entry(customer).or_insert((burst, bytes, flow));
            if bytes > known.1 {
                *known = (burst, bytes, flow);
            }
        }
        let own = police.is_some_and(|p| p.per_flow).then_some(flow);
        Some(((id, arrives, customer, own), rate.bps()))
    }

    fn name(&self, customer: Customer<'_>) -> &'a str {
        let class = self.spec(customer.0).map(|(_, s)| &s.classes[customer.1]);
        class.map_or("", |c| c.name.as_str())
    }

    fn tell(&self, ctx: &mut Ctx<'_>, root: &Node) {
        self.oversold(ctx, root);
        self.too_short(ctx, root);
        self.unprotected(ctx, root);
        self.unknown(ctx, root);
    }

    fn oversold(&self, ctx: &mut Ctx<'_>, root: &Node) {
        let share = |(link, promises): (&u32, &BTreeMap<Promise<'_>, u64>)| {
            let rate = self.world.links[*link as usize].rate;
            let sum = promises
                .values()
                .fold(0_u64, |sum, r| sum.saturating_add(*r));
            (*link, sum, sum as f64 / rate.bps() as f64)
        };
        let mut links: Vec<_> = self.promised.iter().map(share).collect();
        links.retain(|(_, _, share)| *share > 1.0);
        links.sort_by(|a, b| b.2.total_cmp(&a.2));
        let Some((link, sum, share)) = links.first().copied() else {
            return;
        };
        let link = &self.world.links[link as usize];
        let sum = Rate::from_bps(sum).unwrap_or(link.rate);
        let more = match links.len() - 1 {
            0 => String::new(),
            1 => ", and one more link is oversold".to_owned(),
            n => format!(", and {n} more links are oversold"),
        };
        let d = Diagnostic::warning(
            codes::W_AGREEMENT,
            format!(
                "customers are promised {sum} of link `{}`, {:.1} % of its {}{more}",
                link.name,
                share * 100.0,
                link.rate
            ),
        )
        .hint("not all committed rates can be had at once: commit less, or raise the link's rate");
        let base = link.name.trim_end_matches(".reverse");
        ctx.warn(d, root, &steps!["topology", "links", base, "rate"]);
    }

    fn too_short(&self, ctx: &mut Ctx<'_>, root: &Node) {
        let Some((customer, (burst, bytes, flow))) = self.short.first_key_value() else {
            return;
        };
        let others = self.short.keys().skip(1).map(|c| self.name(*c));
        let others = match self.short.len() {
            1 => String::new(),
            _ => format!("; so it is with {}", list(others)),
        };
        let d = Diagnostic::warning(
            codes::W_AGREEMENT,
            format!(
                "the bucket of customer `{}` holds {burst} B, and flow `{}` has packets of {bytes} B, which are never in profile{others}",
                self.name(*customer),
                self.world.flows[*flow as usize].name
            ),
        )
        .found(format!("{burst} B"))
        .hint("write a `burst` of several packets, or leave it empty for 250 ms at the rate");
        let (policy, class) = *customer;
        let path = steps![
            "policies",
            policy,
            "class-based",
            "classes",
            class,
            "police",
            "burst"
        ];
        ctx.warn(d, root, &path);
    }

    fn unknown(&self, ctx: &mut Ctx<'_>, root: &Node) {
        // Nodes see only the label of a labelled packet.
        if self.world.stages.mpls().is_some() {
            return;
        }
        for (policy, classes) in &self.customers {
            let this = BTreeMap::from([(*policy, ())]);
            let on = |(id, l): (u32, &LinkPlan)| {
                let input = self.world.stages.input(id).map(|p| p.policy.as_str());
                let mut both = [Some(l.policy.as_str()), input].into_iter().flatten();
                both.any(|p| leads_to(self.policies, p, &this, 0))
            };
            let path = steps!["policies", *policy, "class-based", "classes"];
            if !(0..).zip(&self.world.links).any(on) {
                let message =
                    format!("no link has policy `{policy}`: its agreements have no effect");
                let d = Diagnostic::warning(codes::W_AGREEMENT, message).hint(format!(
                    "write `input_policy: {policy}` on the links of the customers"
                ));
                let entry = agreements::tables(root).find(|(_, p, _)| p == policy);
                let index = entry.map_or(0, |(i, _, _)| i);
                ctx.warn(d, root, &steps!["agreements", index, "policy"]);
                continue;
            }
            let missing = classes
                .keys()
                .filter(|c| !self.reached.contains(&(*policy, **c)));
            let missing: Vec<usize> = missing.copied().collect();
            let Some(first) = missing.first() else {
                continue;
            };
            let names = list(missing.iter().map(|c| self.name((policy, *c))));
            let whose = match missing.len() {
                1 => format!("customer `{names}`"),
                _ => format!("customers {names}"),
            };
            let d = Diagnostic::warning(
                codes::W_AGREEMENT,
                format!("no flow of the scenario sends packets of {whose} to policy `{policy}`"),
            )
            .hint("compare the columns that say whose packets they are with the flows and their paths");
            let first = [&path[..], &steps![*first, "name"]].concat();
            ctx.warn(d, root, &first);
        }
    }
}
