//! Queues without a limit that traffic can fill: queues of links without a policy, above all of the
//! reverse links of `duplex` links.
//!
//! A queue grows if more can arrive than the link sends. A flow arrives at most at the rate of the
//! slowest link before. Packets of TCP in flight wait at the slowest link of the path. Failures and
//! sessions are not considered.

use std::collections::BTreeMap;

use spillgate_core::Rate;
use spillgate_endpoints::source::Source;

use super::links::Links;
use crate::codes;
use crate::ctx::Ctx;
use crate::error::Diagnostic;
use crate::node::{Node, steps};
use crate::plan::{Application, FlowPlan, LinkPlan, NO_POLICY, Traffic, WorldPlan};
use spillgate_core::suggest::list;

/// The usual limit of an interface's queue in bytes: 1000 packets, as in Linux (`txqueuelen` of
/// Ethernet).
const USUAL: u64 = 1_500_000;

/// Sums of rates in bits per second, as the link counts them, by the earlier link that limits them;
/// none for rates without such a link.
#[derive(Default)]
struct Sums(BTreeMap<Option<u32>, f64>);

impl Sums {
    fn add(&mut self, link: Option<u32>, rate: f64) {
        *self.0.entry(link).or_default() += rate;
    }

    fn total(&self, rates: &[f64]) -> f64 {
        let most = |link: &Option<u32>| link.map_or(f64::INFINITY, |l| rates[l as usize]);
        self.0.iter().map(|(l, sum)| sum.min(most(l))).sum()
    }
}

/// The possible arrivals at a queue without a limit.
#[derive(Default)]
struct Coming {
    /// Rates by the slowest link before the queue.
    before: Sums,
    /// Rates of TCP by the slower link behind the queue.
    behind: Sums,
    /// The open-loop part of the rates, by the slowest link before the queue.
    open: Sums,
    /// The sum of the windows of TCP, in bytes.
    windows: u64,
    flows: Vec<u32>,
}

/// Warns of each link without a policy whose queue can fill.
pub(super) fn check(ctx: &mut Ctx<'_>, root: &Node, links: &Links<'_>, world: &WorldPlan) {
    let unlimited: Vec<bool> = (0..)
        .zip(&world.links)
        .map(|(id, l)| l.policy == NO_POLICY && !world.holding.serve(id))
        .collect();
    let rates: Vec<f64> = world.links.iter().map(sends).collect();
    let mut users = vec![0_u32; rates.len()];
    for flow in &world.flows {
        let path = &world.routes[flow.route as usize];
        path.iter().for_each(|l| users[*l as usize] += 1);
    }
    let mut coming: BTreeMap<u32, Coming> = BTreeMap::new();
    for (id, flow) in (0..).zip(&world.flows) {
        let path = &world.routes[flow.route as usize];
        if !path.iter().any(|l| unlimited[*l as usize]) {
            continue;
        }
        let Some(offers) = Offers::of(flow, world) else {
            continue;
        };
        // Bits of IP packets per second that a link sends.
        let able = |l: u32| rates[l as usize] / offers.share(&world.links[l as usize]);
        let least = |links: &[u32]| {
            // Of several equally slow links the last one counts: more flows may have met there.
            let links = links.iter().rev().copied();
            links.min_by(|a, b| able(*a).total_cmp(&able(*b)))
        };
        let most = |link: Option<u32>| link.map_or(f64::INFINITY, able);
        for (i, l) in path.iter().enumerate() {
            if !unlimited[*l as usize] {
                continue;
            }
            let before = least(&path[..i]);
            // TCP waits at a later link, not at this one. A later link of the same rate counts as
            // well if other flows share it.
            let own = able(*l);
            let holds = least(&path[i + 1..]).filter(|s| {
                let busier = users[*s as usize] > users[*l as usize];
                offers.window.is_some() && (able(*s) < own || able(*s) <= own && busier)
            });
            let share = offers.share(&world.links[*l as usize]);
            let rate = offers.rate.min(most(before)).min(most(holds)) * share;
            let all = coming.entry(*l).or_default();
            all.before.add(before, rate);
            all.behind.add(holds, rate);
            match offers.window {
                Some(window) => all.windows = all.windows.saturating_add(window),
                None => all.open.add(before, rate),
            }
            all.flows.push(id);
        }
    }
    // One warning is enough for a group.
    let mut told = Vec::new();
    for (l, all) in coming {
        let link = &world.links[l as usize];
        // Rates that should be equal may differ by rounding.
        let most = rates[l as usize] * (1.0 + 1e-9);
        let open = all.open.total(&rates);
        let by_load = open > most;
        let rate = all.before.total(&rates).min(all.behind.total(&rates));
        if !by_load && (rate <= most || all.windows <= USUAL) {
            continue;
        }
        let back = link.name.ends_with(".reverse");
        let base = links.find_way(&link.name).map_or("", |n| n.base());
        if told.contains(&(base, back)) {
            continue;
        }
        told.push((base, back));
        let names = list(all.flows.iter().map(|f| &*world.flows[*f as usize].name));
        let why = match by_load {
            true => format!(
                "it is offered {} of {}",
                shown(open),
                shown(rates[l as usize])
            ),
            false => "TCP sends until packets are lost".to_owned(),
        };
        let d = Diagnostic::warning(
            codes::W_UNLIMITED,
            format!(
                "the queue of link `{}` has no limit (a FIFO of 1 GB), and flows fill it: {why} ({names})",
                link.name
            ),
        )
        .hint(match back {
            true => "the reverse link of a `duplex` link has no policy: write it as a link of its own with a `policy`",
            false => "write a `policy`, such as one with {fifo: {limit: 100 packets}}",
        });
        let key = if back { "duplex" } else { "policy" };
        ctx.warn(d, root, &steps!["topology", "links", base, key]);
    }
}

fn shown(rate: f64) -> String {
    Rate::from_bps(rate as u64).map_or_else(|| "more".to_owned(), |r| r.to_string())
}

/// The maximum rate of a link in bits per second: that of its server or of the shapers of its
/// policy.
fn sends(link: &LinkPlan) -> f64 {
    let most = link.kept_rate().bps();
    let classes = link.discipline.policy().map(|p| p.classes());
    let queued = classes.iter().flatten().filter(|c| c.division.queued);
    let shapers: Option<Vec<u64>> = queued.map(|c| Some(c.division.shape?.0.bps())).collect();
    match shapers {
        Some(all) if !all.is_empty() => {
            most.min(all.iter().fold(0, |a: u64, b| a.saturating_add(*b))) as f64
        }
        _ => most as f64,
    }
}

/// The load that a flow offers if nothing holds it up.
struct Offers {
    /// Bits of IP packets per second.
    rate: f64,
    /// The window in bytes; none for open-loop traffic.
    window: Option<u64>,
    /// The length of its packets.
    len: u16,
}

impl Offers {
    /// The load of a flow; none if it is not known.
    fn of(flow: &FlowPlan, world: &WorldPlan) -> Option<Self> {
        // A backlogged source fills the queue of a switch behind its link.
        if flow.traffic.is_backlogged() {
            return None;
        }
        let len = flow.traffic.longest().0.max(1);
        let (rate, window) = match &flow.traffic {
            Traffic::Source(source) => (flow.share() * Source::mean_rate(source), None),
            Traffic::Tcp {
                config,
                application,
            } => {
                let rate = match application {
                    Application::Source(source) => Source::mean_rate(source),
                    Application::Bytes(n) => 8.0 * *n as f64 / world.duration.as_secs_f64(),
                    Application::Greedy => f64::INFINITY,
                };
                let ways = [Some(flow.route), flow.back].into_iter().flatten();
                let links = ways.flat_map(|r| &world.routes[r as usize]);
                let delays = links.map(|l| world.links[*l as usize].delay.as_secs_f64());
                let by_window = 8.0 * config.max_window as f64 / delays.sum::<f64>();
                (rate.min(by_window), Some(config.max_window))
            }
            Traffic::Sessions(_) | Traffic::Replay(_) => return None,
        };
        Some(Self { rate, window, len })
    }

    /// Bits on a link for each bit of an IP packet.
    fn share(&self, link: &LinkPlan) -> f64 {
        f64::from(link.overhead.wire_len(self.len)) / f64::from(self.len)
    }
}
