//! Packets that are longer than the `mtu` of a flow-aware policy.

use std::collections::BTreeMap;

use spillgate_queueing::spec::DisciplineSpec;

use super::policies::Policies;
use crate::codes;
use crate::ctx::Ctx;
use crate::error::Diagnostic;
use crate::node::{Node, steps};
use crate::plan::{LinkPlan, WorldPlan};
use spillgate_core::suggest::list;

/// The longest packet on a link, and the flows whose packets exceed the `mtu`.
#[derive(Default)]
struct Longest {
    bytes: u32,
    ip: u16,
    link: u32,
    /// The `mtu` of the policy.
    unit: u64,
    flows: Vec<u32>,
}

/// Warns of each flow-aware policy that meets packets longer than its `mtu`.
pub(super) fn check(ctx: &mut Ctx<'_>, root: &Node, policies: &Policies, world: &WorldPlan) {
    let unit = |l: &LinkPlan| match policies.get(&l.policy) {
        Some(DisciplineSpec::Fan(fan)) => Some(fan.unit(l.discipline.line()?.longest).0),
        _ => None,
    };
    // After a failure a flow may take any link.
    let mut fails = vec![false; world.links.len()];
    for f in &world.failures {
        fails[f.link as usize] = true;
    }
    let aware: BTreeMap<u32, u64> = (0..)
        .zip(&world.links)
        .filter_map(|(i, l)| Some((i, unit(l)?)))
        .collect();
    if aware.is_empty() {
        return;
    }
    let depths = world.label_depths();
    let mut found: BTreeMap<&str, Longest> = BTreeMap::new();
    for (id, flow) in (0..).zip(&world.flows) {
        let (forth, back) = flow.traffic.longest();
        let ways = [(Some(flow.route), forth), (flow.back, back)];
        for (route, len) in ways {
            let path = match route {
                Some(route) if len > 0 => &world.routes[route as usize],
                _ => continue,
            };
            let rerouted = path.iter().any(|l| fails[*l as usize]);
            let met = aware.iter().filter(|(l, _)| rerouted || path.contains(l));
            for (&link, &unit) in met {
                let l = &world.links[link as usize];
                let labels = match depths[link as usize].last() {
                    Some(depth) => *depth,
                    None if rerouted && world.carries_labels(l) => MOST_LABELS,
                    None => 0,
                };
                let bytes = l.overhead.labelled_len(len, LABEL * u16::from(labels));
                if u64::from(bytes) <= unit {
                    continue;
                }
                let longest = found.entry(&l.policy).or_default();
                if bytes > longest.bytes {
                    (longest.bytes, longest.ip, longest.link) = (bytes, len, link);
                    longest.unit = unit;
                }
                if longest.flows.last() != Some(&id) {
                    longest.flows.push(id);
                }
            }
        }
    }
    for (policy, longest) in found {
        let names = longest.flows.iter();
        let names = list(names.map(|f| &*world.flows[*f as usize].name));
        let link = &world.links[longest.link as usize].name;
        let on_link = match longest.bytes == u32::from(longest.ip) {
            true => String::new(),
            false => format!(" with what link `{link}` adds"),
        };
        let d = Diagnostic::warning(
            codes::W_LONG,
            format!(
                "packets of up to {} B{on_link} are longer than the `mtu` of policy `{policy}`, {} B: {names}",
                longest.bytes, longest.unit
            ),
        )
        .found(format!("{} B", longest.unit))
        .hint(format!(
            "write `mtu: {} B`, or send shorter packets",
            longest.bytes
        ));
        ctx.warn(d, root, &steps!["policies", policy, "fan", "mtu"]);
    }
}

/// Bytes of an MPLS label (RFC 3032 section 2.1), and most of them in a packet: one for the path,
/// one for the VPN.
const LABEL: u16 = 4;
const MOST_LABELS: u8 = 2;
