//! Bounds of schedulers that guarantee rates are near: with half of their latency the packets of
//! `--worst` would exceed them.

use spillgate_bounds::bounds;

use crate::worst::{line, memory, plan, worst_of};

const A: &str = "class: a, dscp: af11, tcp: {profile: linux}";
const B: &str = "class: b, dscp: af21, tcp: {profile: linux}";
const C: &str = "class: c, dscp: cs1, tcp: {profile: linux}";

/// The worst of a queue, the bound, and the bound of a service with half the latency, in ms. What
/// is served is a rate after a latency, so that the latency is what the bound is above its own
/// bytes at this rate.
#[track_caller]
fn nearness(yaml: &str, queue: &str) -> (f64, f64, f64) {
    let plan = plan(&memory(yaml));
    let world = &plan.variants[0].world;
    let hops = bounds(world).hops;
    let hop = hops
        .iter()
        .find(|h| format!("{}/{}", world.links[h.link as usize].name, h.name) == queue);
    let bound = hop.unwrap().bound.as_ref().unwrap();
    let own = bound.parts().unwrap().own as f64 * 8.0 / bound.rate as f64;
    let delay = bound.delay.as_secs_f64();
    let worst = &worst_of(yaml)[queue];
    let found = (
        worst.reached.as_secs_f64() * 1e3,
        delay * 1e3,
        (delay + own) / 2.0 * 1e3,
    );
    eprintln!("{queue}: {found:?} ms, {:?}", worst.gap);
    found
}

/// By this service, half of whose latency would be exceeded.
#[track_caller]
fn halved_is_exceeded(policy: &str, queue: &str, traffic: &[&str]) {
    let (reached, bound, halved) = nearness(&line(policy, "", traffic), queue);
    assert!(
        halved < reached && reached <= bound,
        "{policy}: {reached} of {bound} ms, halved {halved}"
    );
}

fn htb(x: &str, y: &str) -> String {
    format!(
        "{{htb: {{default: x, classes: [{{name: x, match: {{dscp: af11}}, rate: 3 Mb/s, {x}, queue: {{fifo: {{limit: 10 packets}}}}}}, {{name: y, match: {{dscp: af21}}, rate: 5 Mb/s, {y}, queue: {{fifo: {{limit: 60 packets}}}}}}]}}}}"
    )
}

#[test]
fn htb_behind_bursts_of_a_better_priority() {
    let policy = htb(
        "prio: 1, burst: 30 kB, cburst: 30 kB",
        "prio: 0, burst: 40 kB, cburst: 80 kB, ceil: 10 Mb/s",
    );
    halved_is_exceeded(&policy, "wan/x", &[A, B]);
}

#[test]
fn htb_in_turns() {
    let policy = htb(
        "burst: 30 kB, cburst: 30 kB, quantum: 1500 B",
        "burst: 40 kB, cburst: 80 kB, ceil: 10 Mb/s, quantum: 9000 B",
    );
    halved_is_exceeded(&policy, "wan/x", &[A, B]);
}

#[test]
fn hfsc() {
    let policy = "{hfsc: {default: x, classes: [{name: x, match: {dscp: af11}, rt: {m2: 3 Mb/s}, queue: {fifo: {limit: 4 packets}}}, {name: y, match: {dscp: af21}, rt: {m1: 7 Mb/s, d: 20 ms, m2: 5 Mb/s}, ls: {m2: 9 Mb/s}, queue: {fifo: {limit: 60 packets}}}]}}";
    halved_is_exceeded(policy, "wan/x", &[A, B]);
}

fn classes(scheduler: &str) -> String {
    format!(
        "{{class-based: {{scheduler: {scheduler}, classes: [{{name: x, match: {{dscp: af11}}, bandwidth: 10 %, queue_limit: 4 packets}}, {{name: y, match: {{dscp: af21}}, bandwidth: 20 %, queue_limit: 20 packets}}, {{name: class-default, queue_limit: 20 packets}}]}}}}"
    )
}

#[test]
fn wf2q_plus_between_classes() {
    halved_is_exceeded(&classes("wf2q+"), "wan/x", &[A, B, C]);
}
