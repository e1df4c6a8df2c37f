//! Limits of a queue by DSCP (weighted tail drop).

use spillgate_core::{Dscp, Limit, Rate};

use crate::registry::{LIMIT_ABOVE_QUEUE, LIMIT_ORDER};
use crate::view::{Class, View, bytes};

pub(super) fn check(v: &mut View<'_>) {
    for i in 0..v.classes.len() {
        let c = &v.classes[i];
        let Some(queue) = c.limit() else { continue };
        let rate = v
            .rate
            .and_then(|whole| c.division.guaranteed.or(Some(whole)));
        let written = of(c);
        let above: Vec<_> = written
            .iter()
            .filter(|(_, _, limit)| larger(*limit, queue, rate))
            .cloned()
            .collect();
        let order = inverted(c, queue, rate);
        let name = c.spec.name.clone();
        for (key, what, limit) in above {
            let message = format!(
                "class {name} limits {what} to {limit}, and its queue to {queue}: the first has no effect"
            );
            v.hit(&LIMIT_ABOVE_QUEUE, Some(i), &key, message);
        }
        if let Some((key, message)) = order {
            v.hit(&LIMIT_ORDER, Some(i), &key, message);
        }
    }
}

/// Every limit that is written: its key, whose it is, and the limit.
fn of(c: &Class<'_>) -> Vec<(String, String, Limit)> {
    let by_dscp = c.spec.queue_limit_dscp.iter().map(|(d, l)| {
        let key = format!("queue_limit_dscp.{d}");
        (key, d.to_string(), *l)
    });
    let by_precedence = c.spec.queue_limit_precedence.iter().map(|(p, l)| {
        let key = format!("queue_limit_precedence.{p}");
        (key, format!("precedence {p}"), *l)
    });
    by_dscp.chain(by_precedence).collect()
}

/// Whether `a` is more than `b`; false where that depends on a rate that is not known.
fn larger(a: Limit, b: Limit, rate: Option<Rate>) -> bool {
    match (a, b, rate) {
        (Limit::Packets(a), Limit::Packets(b), _) => a > b,
        (Limit::Bytes(a), Limit::Bytes(b), _) => a > b,
        (Limit::Time(a), Limit::Time(b), _) => a > b,
        (_, _, Some(rate)) => bytes(a, rate) > bytes(b, rate),
        (_, _, None) => false,
    }
}

/// The first two code points of an assured-forwarding class of which the lower drop precedence has
/// the lower limit.
fn inverted(c: &Class<'_>, queue: Limit, rate: Option<Rate>) -> Option<(String, String)> {
    let limit = |d: Dscp| {
        let own = c.spec.queue_limit_dscp.get(&d);
        let own = own.or_else(|| c.spec.queue_limit_precedence.get(&d.precedence()));
        own.copied().filter(|l| !larger(*l, queue, rate))
    };
    for class in 1..=4 {
        for first in 1..=2 {
            let code = |drop: u8| Dscp::new(8 * class + 2 * drop);
            let (Some(low), Some(high)) = (code(first), code(first + 1)) else {
                continue;
            };
            let (Some(a), b) = (limit(low), limit(high).unwrap_or(queue)) else {
                continue;
            };
            if larger(b, a, rate) {
                let message = format!(
                    "class {} drops {low} from {a} on, {high} from {b} on: what is inside the contract goes first",
                    c.spec.name
                );
                let named = [low, high]
                    .into_iter()
                    .find(|d| c.spec.queue_limit_dscp.contains_key(d));
                let key = named.map_or_else(
                    || format!("queue_limit_precedence.{class}"),
                    |d| format!("queue_limit_dscp.{d}"),
                );
                return Some((key, message));
            }
        }
    }
    None
}
