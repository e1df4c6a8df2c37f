//! Limits of a queue by DSCP (weighted tail drop).

use spillgate_core::{Dscp, Limit, Rate};

use super::{Ask, When};
use crate::registry::rule_text;
use crate::view::{Class, View, bytes};

pub(super) const ASKED: &[Ask] = &[Ask(
    &[&LIMIT_ABOVE_QUEUE, &LIMIT_ORDER],
    check,
    When::Queued,
)];

fn check(v: &mut View<'_>) {
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

rule_text! { LIMIT_ABOVE_QUEUE = "SG-Q011", "limit-above-queue-limit", Warning, "A queue limit by DSCP or precedence is above the queue limit of its class";
    why "Weighted tail drop refuses packets of a drop precedence once more waits than their own limit allows, so that what is left of the queue is kept for the others. A limit above that of the class never decides: the queue is full first, for everybody. What was to be dropped early is dropped late, and what was to be protected is dropped with it.\n\nSome switches refuse such a line; others take it without a word.";
    fix "Lower the limit of the code point, or raise the queue limit of the class above it.";
    from "Cisco ME 2400 and ME 3400 command references, `queue-limit`: thresholds are at most the limit of the queue";
}

/// Every written limit: its key, its owner, and the limit.
pub(super) fn of(c: &Class<'_>) -> Vec<(String, String, Limit)> {
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

/// Whether `a` is more than `b`; false if that depends on an unknown rate.
fn larger(a: Limit, b: Limit, rate: Option<Rate>) -> bool {
    match (a, b, rate) {
        (Limit::Packets(a), Limit::Packets(b), _) => a > b,
        (Limit::Bytes(a), Limit::Bytes(b), _) => a > b,
        (Limit::Time(a), Limit::Time(b), _) => a > b,
        (_, _, Some(rate)) => bytes(a, rate) > bytes(b, rate),
        (_, _, None) => false,
    }
}

rule_text! { LIMIT_ORDER = "SG-Q012", "af-limits-inverted", Warning, "Weighted tail drop refuses a lower drop precedence of an AF class earlier than a higher one";
    why "The code points of an assured-forwarding class say what is to be dropped first: precedence 3 before 2 before 1. Where AFx1 has a lower queue limit than AFx2 or AFx3, the traffic inside the contract is refused while the excess is still taken in.\n\nA code point without a limit of its own has that of the queue: a limit for AFx1 alone is the same mistake.";
    fix "Give AFx3 the lowest limit, AFx2 one between, and AFx1 none or the highest.";
    from "RFC 2597, section 2: packets of lower drop precedence must not be dropped with larger probability";
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
