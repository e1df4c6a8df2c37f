//! Checks that a run ends within the range of [`Time`](spillgate_core::Time), 213 days. Sums of
//! times saturate there, so a later event would never happen.
//!
//! A run ends when its last packet has arrived: at the latest after the measured period, the
//! longest path of a packet and the grace. Later events never happen in any run.

use spillgate_core::Dur;

use super::period::Times;
use super::rows::Row;
use crate::codes;
use crate::ctx::Ctx;
use crate::error::Diagnostic;
use crate::node::{Node, steps};
use crate::plan::{LinkPlan, WorldPlan};

/// The longest that a run may take, in words.
const DAYS: &str = "more than 213 days, the longest that a run may take";

/// Whether a sum of times saturated.
fn is_too_long(sum: Dur) -> bool {
    sum == Dur::MAX
}

/// Refuses a grace that is too long for any path.
pub(super) fn check_grace(ctx: &mut Ctx<'_>, root: &Node, times: &Times) -> bool {
    if !is_too_long(times.end() + times.grace) {
        return true;
    }
    let message = format!(
        "with the {} of warm-up and duration this is {DAYS}",
        times.end()
    );
    let d =
        Diagnostic::error(codes::BAD_PERIOD, message).hint("write a shorter time, such as 10 s");
    ctx.error(d, root, &steps!["measurement", "grace"]);
    false
}

/// Refuses flows whose packets may travel for too long.
pub(super) fn check(ctx: &mut Ctx<'_>, root: &Node, rows: &[Row], world: &WorldPlan) {
    let rest = world.warmup + world.duration + world.grace;
    let mut first = 0;
    for row in rows {
        let flows = first..first + row.spec.count as usize;
        first = flows.end;
        let flows = world.flows.get(flows).unwrap_or_default();
        let routes = flows.iter().flat_map(|f| [Some(f.route), f.back]).flatten();
        let routes = routes.map(|r| &world.routes[r as usize]);
        let Some(route) = routes.clone().find(|r| is_too_long(rest + world.way(r))) else {
            continue;
        };
        let longest = route.iter().map(|l| &world.links[*l as usize]);
        let Some(link) = longest.max_by_key(|l| l.longest_delay()) else {
            continue;
        };
        let message = format!(
            "packets of this flow may be on their way for {}: with the {rest} of the run {DAYS}",
            said(world.way(route))
        );
        let hint = format!("link `{}` alone takes {}", link.name, link.longest_delay());
        let d = Diagnostic::error(codes::BAD_TIMES, message).hint(hint);
        row.error(ctx, root, d, &steps!["to"]);
    }
    if !world.failures.is_empty() {
        let way = longest_way(world);
        if is_too_long(rest + way) {
            let message = format!(
                "after failures packets may be on their way for {}: with the {rest} of the run {DAYS}",
                said(way)
            );
            let d = Diagnostic::error(codes::BAD_TIMES, message)
                .hint("write shorter delays of links and nodes");
            ctx.error(d, root, &steps!["topology", "failures"]);
        }
    }
}

fn said(way: Dur) -> String {
    match is_too_long(way) {
        true => "213 days or more".to_owned(),
        false => way.to_string(),
    }
}

/// A bound on the delay of any route: it visits each node at most once.
fn longest_way(world: &WorldPlan) -> Dur {
    let mut delays: Vec<Dur> = world.links.iter().map(LinkPlan::longest_delay).collect();
    delays.sort_unstable_by(|a, b| b.cmp(a));
    delays.truncate(world.nodes.len().saturating_sub(1));
    let nodes = world
        .holding
        .iter()
        .map(|h| h.declared.passing * h.nodes.len() as u64);
    delays
        .into_iter()
        .chain(nodes)
        .fold(Dur::ZERO, |sum, d| sum + d)
}
