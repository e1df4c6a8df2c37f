//! Links that are virtual circuits of ATM: what makes no sense there.

use spillgate_core::{Overhead, Rate, aal5, overhead::Cells};

use crate::codes;
use crate::ctx::Ctx;
use crate::error::Diagnostic;
use crate::lower::links::Links;
use crate::node::{Node, Step, steps};
use crate::plan::{RateProcess, WorldPlan};
use crate::schema::LinkSpec;
use crate::suggest::list;

/// The longest IP packet, labels included, of which an AAL5 frame can be made.
pub(in crate::lower) fn longest(counted: Overhead) -> u32 {
    let before = u32::from(counted.per_packet().unsigned_abs());
    aal5::MAX_PAYLOAD - before.saturating_sub(aal5::TRAILER)
}

/// The rate that policies of a link are made for.
pub(in crate::lower) fn policy_rate(link: &LinkSpec) -> Rate {
    let shaped = link.atm.as_ref().filter(|a| a.shaped);
    let contract = shaped.map(|a| a.contract.resolve(link.rate));
    contract.map_or(link.rate, |c| c.map_or(link.rate, |c| c.rate()))
}

/// The server of a link that is a circuit; none after an error.
pub(in crate::lower) fn read(
    ctx: &mut Ctx<'_>,
    root: &Node,
    name: &str,
    link: &LinkSpec,
) -> Option<RateProcess> {
    let atm = link.atm.as_ref()?;
    let before = ctx.error_count();
    let mut refuse = |key: &str, code, message: String, found: &str, hint: &str| {
        let mut at = steps!["topology", "links", name].to_vec();
        at.extend(Step::parse_all(key));
        let d = Diagnostic::error(code, message).hint(hint);
        let d = if found.is_empty() { d } else { d.found(found) };
        ctx.error(d, root, &at);
    };
    if link.rate_process.is_some() {
        let message = "the rate of a circuit is that of its contract".to_owned();
        let hint = "leave out `rate_process` or `atm`";
        refuse("rate_process", codes::BAD_ATM, message, "", hint);
    }
    if link.reorder.is_some() {
        let message = "cells of a circuit stay in order (ITU-T I.150)".to_owned();
        let hint = "leave out `reorder` or `atm`";
        refuse("reorder", codes::BAD_ATM, message, "", hint);
    }
    let in_cells = link.overhead.cells() == Cells::Atm;
    let overhead = link.overhead.to_string();
    if !in_cells && link.overhead != Overhead::NONE {
        let message = "a circuit carries AAL5 frames in cells".to_owned();
        let hint = "leave out `overhead`, or write it in cells, such as `pppoe-llcsnap`";
        refuse("overhead", codes::BAD_ATM, message, &overhead, hint);
    }
    if let Some(encapsulation) = atm.encapsulation.filter(|_| in_cells) {
        let message = format!("`overhead: {overhead}` says already what is added to a packet");
        let hint = "leave out `encapsulation` or `overhead`";
        refuse(
            "atm.encapsulation",
            codes::BAD_ATM,
            message,
            encapsulation.word(),
            hint,
        );
    }
    let most = longest(link.counted());
    if let Some(mtu) = link.mtu.filter(|m| m.0 > u64::from(most)) {
        let message = format!("an AAL5 frame carries 65535 B, here packets of up to {most} B");
        let hint = "write at most that, such as 9180 B (RFC 2225)";
        refuse("mtu", codes::OUT_OF_RANGE, message, &mtu.to_string(), hint);
    }
    let contract = match atm.contract.resolve(link.rate) {
        Ok(contract) => contract,
        Err(e) => {
            let key = format!("atm.contract.{}", e.path);
            refuse(&key, codes::BAD_ATM, e.message, &e.found, &e.hint);
            return None;
        }
    };
    let short = contract.frames().zip(link.mtu).and_then(|((_, mfs), mtu)| {
        let mtu = u16::try_from(mtu.0).ok()?;
        let cells = link.counted().wire_len(mtu) / aal5::CELL;
        (cells > mfs).then_some((mfs, mtu, cells))
    });
    if let Some((mfs, mtu, cells)) = short {
        let message = format!("a packet of {mtu} B, the `mtu` of the link, takes {cells} cells");
        let hint = format!("write at least {cells}, or a smaller `mtu`");
        let key = "atm.contract.gfr.mfs";
        refuse(key, codes::BAD_ATM, message, &mfs.to_string(), &hint);
    }
    (ctx.error_count() == before).then(|| RateProcess::Cells {
        line: link.rate,
        category: atm.contract.category(),
        contract,
        shaped: atm.shaped,
        phase: atm.phase,
        shares: atm.line.clone(),
        vc: atm.vc,
        far_end: atm.far_end.clone(),
    })
}

/// Reports flows whose packets are longer than circuits on their way carry.
pub(super) fn check_longest(ctx: &mut Ctx<'_>, root: &Node, links: &Links<'_>, world: &WorldPlan) {
    for (name, spec) in links.specs().filter(|(_, s)| s.atm.is_some()) {
        let most = longest(spec.counted());
        let Some(named) = links.find(name) else {
            continue;
        };
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
