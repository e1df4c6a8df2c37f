//! Traces worked by hand, as data.

use spillgate_core::Packet;

use super::PARAMS;
use crate::fan::scheduler::{FairQueue, FairQueueParams, FairScheduler, FanClass};
use crate::sched::pfq::Pfq;

fn replay(mut queue: FairQueue, trace: &str) {
    let mut checked = 0;
    for (i, line) in trace.lines().enumerate() {
        let at = i + 1;
        let line = line.split('#').next().unwrap();
        let words: Vec<&str> = line.split_whitespace().collect();
        let flow = |name: &str| u32::from(name.as_bytes()[0] - b'A');
        match *words {
            [] => continue,
            ["arrive", name, len, class, ref finish @ ..] => {
                let packet = Packet::new(flow(name), i as u32, len.parse().unwrap());
                let got = queue.offer(packet, &mut |_| panic!("line {at}: evicts"));
                let expected = match class {
                    "priority" => FanClass::Priority,
                    "backlog" => FanClass::Backlog,
                    other => panic!("line {at}: class {other}"),
                };
                assert_eq!(got, Some(expected), "line {at}");
                if let Some(finish) = finish.first() {
                    let tag = match &queue {
                        FairQueue::Pfq(q) => q.finish_tag(flow(name)),
                        FairQueue::PfqWide(q) => q.finish_tag(flow(name)),
                        FairQueue::PfqHeap(q) => q.finish_tag(flow(name)),
                        FairQueue::Pdrr(_) => panic!("line {at}: no tags"),
                    };
                    assert_eq!(tag, Some(finish.parse().unwrap()), "line {at}");
                }
            }
            ["leave", name, fair] => {
                let got = queue.pop().map(|p| p.flow);
                assert_eq!(got, (name != "none").then(|| flow(name)), "line {at}");
                if got.is_none() {
                    queue.idle();
                }
                assert_eq!(
                    queue.totals().fair_bytes,
                    fair.parse::<u64>().unwrap(),
                    "line {at}"
                );
            }
            ["priority", bytes] => {
                assert_eq!(queue.totals().priority_bytes, bytes.parse::<u64>().unwrap());
            }
            _ => panic!("line {at}: {line}"),
        }
        checked += 1;
    }
    assert_eq!(checked, 20);
}

#[test]
fn pfq_in_both_orders() {
    let trace = include_str!("../../../tests/vectors/pfq.txt");
    replay(FairQueue::pfq(&PARAMS), trace);
    replay(FairQueue::PfqHeap(Box::new(Pfq::new(&PARAMS))), trace);
}

#[test]
fn pdrr_in_both_modes() {
    let literal = FairQueueParams {
        charged: false,
        ..PARAMS
    };
    let trace = include_str!("../../../tests/vectors/pdrr_literal.txt");
    replay(FairQueue::pdrr(&literal), trace);
    let trace = include_str!("../../../tests/vectors/pdrr_charged.txt");
    replay(FairQueue::pdrr(&PARAMS), trace);
}
