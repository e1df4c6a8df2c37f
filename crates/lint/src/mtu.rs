//! Packets that are longer than a link of their path carries.

use std::collections::{BTreeMap, BTreeSet};

use spillgate_scenario::Diagnostic;
use spillgate_scenario::plan::{FlowPlan, WorldPlan};
use spillgate_scenario::survey::Surveyed;

use crate::Finding;
use crate::registry::{Rule, rule_text};

pub(crate) const RULES: &[&Rule] = &[&ABOVE_MTU];

/// The packets that exceed the MTU of a link: the longest one, its labels, one of its flows, and
/// the number of flows.
struct AboveMtu<'a> {
    bytes: u32,
    labels: u8,
    flow: &'a str,
    tcp: bool,
    flows: usize,
}

rule_text! { ABOVE_MTU = "SG-L001", "packets-above-mtu", Error, "Flows send packets that are longer, with their MPLS labels, than a link of their path carries";
    why "A link with an `mtu` drops what is longer. Labels count: a packet of 1500 B takes 1508 B under two of them, and a core of plain Ethernet that nobody has told of labels carries 1500 B. Small packets pass, so that pings and the opening of connections look fine, and the first full page hangs.\n\nRouters may fragment an IPv4 packet that allows it; nearly all senders forbid it to find the MTU of their path, and IPv6 has no such fragments. Here nothing is fragmented and TCP does not learn of it: a connection whose segments do not fit sends the first of them again until it gives up. Of sources with random sizes only the packets above the MTU are lost.";
    fix "Raise the link's `mtu` (4 B for each label, `mpls mtu` on a router), or send shorter packets: `mss` of connections, `packet` or `mtu` of sources.";
    from "RFC 3032, section 3.3 (when labelled packets are too big); RFC 1191 and RFC 8201 (path MTU discovery)";
}

/// One finding for each link, as written, whose MTU is below packets that are sent over it.
///
/// Paths after failures are not considered.
pub(crate) fn check(surveyed: &Surveyed, variant: usize, world: &WorldPlan) -> Vec<Finding> {
    if world.links.iter().all(|l| l.mtu == u32::MAX) {
        return Vec::new();
    }
    let ends = |l: u32| (world.links[l as usize].from, world.links[l as usize].to);
    let depths = |route: u32| {
        let path = &world.routes[route as usize];
        let mpls = world.stages.mpls();
        mpls.map_or_else(|| vec![0; path.len()], |m| m.depths(path, ends))
    };
    let mut labels: BTreeMap<u32, Vec<u8>> = BTreeMap::new();
    let mut found: BTreeMap<u32, AboveMtu<'_>> = BTreeMap::new();
    for flow in &world.flows {
        for (route, len, tcp) in ways(flow) {
            let on = labels.entry(route).or_insert_with(|| depths(route));
            for (link, labels) in world.routes[route as usize].iter().zip(on) {
                let bytes = u32::from(len) + 4 * u32::from(*labels);
                if bytes <= world.links[*link as usize].mtu {
                    continue;
                }
                let longest = found.entry(*link).or_insert(AboveMtu {
                    bytes: 0,
                    labels: 0,
                    flow: "",
                    tcp,
                    flows: 0,
                });
                longest.flows += 1;
                if bytes > longest.bytes {
                    longest.bytes = bytes;
                    longest.labels = *labels;
                    longest.flow = &flow.name;
                    longest.tcp = tcp;
                }
            }
        }
    }
    let written = WrittenLinks::of(surveyed, variant);
    let mut seen: BTreeSet<(Vec<&str>, u32)> = BTreeSet::new();
    let mut findings = Vec::new();
    for (link, long) in found {
        let link = &world.links[link as usize];
        // The links of a group are equal, and so are the two directions of a link.
        let key = (written.keys(&link.name, "mtu"), long.bytes);
        if seen.contains(&key) {
            continue;
        }
        let what = if long.tcp { "full segments" } else { "packets" };
        let others = match long.flows {
            1 => String::new(),
            2 => " (and another flow)".to_owned(),
            n => format!(" (and {} other flows)", n - 1),
        };
        let with = match long.labels {
            0 => "",
            1 => ", a label of 4 B included",
            _ => ", 8 B of labels included",
        };
        let message = format!(
            "{what} of flow {}{others} take up to {} B on link {}{with}; its `mtu` is {} B: what is longer is dropped",
            long.flow, long.bytes, link.name, link.mtu
        );
        let d = Diagnostic::warning(ABOVE_MTU.id, message);
        let d = surveyed.place_at(variant, &key.0, d);
        findings.push(Finding::new(&ABOVE_MTU, d));
        seen.insert(key);
    }
    findings
}

/// The links and groups of links that a scenario names.
pub(crate) struct WrittenLinks<'s>(BTreeSet<&'s str>);

impl<'s> WrittenLinks<'s> {
    pub(crate) fn of(surveyed: &'s Surveyed, variant: usize) -> Self {
        let names = surveyed.keys(variant, &["topology", "links"]);
        Self(names.collect())
    }

    /// The keys of a key of a link as the scenario has them.
    pub(crate) fn keys<'a>(&self, link: &'a str, key: &'a str) -> Vec<&'a str> {
        let base = link.strip_suffix(".reverse").unwrap_or(link);
        let member = base.rsplit_once('-').map(|(group, _)| group);
        let mut names = [Some(base), member].into_iter().flatten();
        match names.find(|name| self.0.contains(name)) {
            Some(name) => vec!["topology", "links", name, key],
            None => vec!["topology", "links"],
        }
    }
}

/// The paths of a flow, with the longest packet on each, and whether it is a TCP segment.
fn ways(flow: &FlowPlan) -> impl Iterator<Item = (u32, u16, bool)> {
    let (forth, back) = flow.traffic.longest();
    let tcp = flow.traffic.is_closed_loop();
    let ways = [(Some(flow.route), forth), (flow.back, back)];
    ways.into_iter()
        .filter_map(move |(route, len)| Some((route?, len, tcp)))
}
