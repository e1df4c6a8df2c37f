//! Links that are virtual circuits of ATM: what makes no sense there.

use crate::codes;
use crate::ctx::Ctx;
use crate::error::Diagnostic;
use crate::lower::links::Links;
use crate::node::{Node, steps};
use crate::plan::WorldPlan;
use crate::suggest::list;

/// Reports flows whose packets are longer than circuits on their way carry.
pub(super) fn check_longest(ctx: &mut Ctx<'_>, root: &Node, links: &Links<'_>, world: &WorldPlan) {
    for (name, spec) in links.specs() {
        let (Some(atm), Some(named)) = (&spec.atm, links.find(name)) else {
            continue;
        };
        let most = atm.longest(spec.overhead);
        let ids: Vec<u32> = named.ids().collect();
        let crosses = |route: u32| world.routes[route as usize].iter().any(|l| ids.contains(l));
        let too_long = world.flows.iter().filter(|f| {
            let (forth, back) = f.traffic.longest();
            let ways = [(Some(f.route), forth), (f.back, back)];
            ways.into_iter()
                .any(|(route, len)| u32::from(len) > most && route.is_some_and(crosses))
        });
        let names: Vec<&str> = too_long.map(|f| &*f.name).collect();
        if names.is_empty() {
            continue;
        }
        let d = Diagnostic::error(
            codes::BAD_ATM,
            format!(
                "packets are longer than the {most} B that a frame of AAL5 can carry here: {}",
                list(names.into_iter())
            ),
        )
        .hint("send shorter packets; with `encapsulation: vc-mux` up to 65535 B");
        ctx.error(d, root, &steps!["topology", "links", name, "atm"]);
    }
}
