//! Packets that are longer than what a flow-aware link is laid out for.

use std::collections::BTreeMap;

use spillgate_queueing::spec::DisciplineSpec;

use super::policies::Policies;
use crate::codes;
use crate::ctx::Ctx;
use crate::error::Diagnostic;
use crate::node::{Node, steps};
use crate::plan::WorldPlan;
use crate::suggest::list;

/// The longest packet of a flow with what it is on its link, and the flows that have such.
#[derive(Default)]
struct Longest {
    bytes: u32,
    ip: u16,
    link: u32,
    flows: Vec<u32>,
}

/// Warns of each flow-aware policy whose `mtu` packets on its links exceed.
pub(super) fn check(ctx: &mut Ctx<'_>, root: &Node, policies: &Policies, world: &WorldPlan) {
    let units: BTreeMap<&str, u64> = policies
        .all
        .iter()
        .filter_map(|(name, spec)| match spec {
            DisciplineSpec::Fan(fan) => Some((name.as_str(), fan.mtu.0)),
            _ => None,
        })
        .collect();
    if units.is_empty() {
        return;
    }
    // A flow may come over any link once one of its own has failed.
    let mut fails = vec![false; world.links.len()];
    for f in &world.failures {
        fails[f.link as usize] = true;
    }
    let aware: Vec<u32> = (0..)
        .zip(&world.links)
        .filter(|(_, l)| units.contains_key(l.policy.as_str()))
        .map(|(i, _)| i)
        .collect();
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
            let met = aware
                .iter()
                .filter(|l| rerouted || path.contains(l))
                .copied();
            for link in met {
                let l = &world.links[link as usize];
                let labels = match depths[link as usize].last() {
                    Some(depth) => *depth,
                    None if rerouted && world.carries_labels(l) => MOST_LABELS,
                    None => 0,
                };
                let bytes = l.overhead.labelled_len(len, LABEL * u16::from(labels));
                if u64::from(bytes) <= units[l.policy.as_str()] {
                    continue;
                }
                let longest = found.entry(&l.policy).or_default();
                if bytes > longest.bytes {
                    (longest.bytes, longest.ip, longest.link) = (bytes, len, link);
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
                longest.bytes, units[policy]
            ),
        )
        .found(format!("{} B", units[policy]))
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
