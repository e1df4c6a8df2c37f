//! Same scenario, same seed, same bytes: whatever the number of threads, the
//! event set, and whether anybody looks.

use crate::common;
use std::sync::Arc;

use spillgate_events::{EventSet, Heap4, WinnerTree};
use spillgate_scenario::plan::WorldPlan;
use spillgate_sim::{Stop, World};

const SCENARIO: &str = "
schema_version: 1
topology:
  nodes: [a, b, c]
  links:
    access: {from: a, to: b, rate: 1 Gb/s, delay: 10 us}
    wan: {from: b, to: c, rate: 10 Mb/s, delay: 1 ms, policy: LLQ}
policies:
  FIFO: {fifo: {limit: 40 packets}}
  RED: {fifo: {limit: 100 packets, aqm: {red: {}}}}
  WFQ: {wfq: {}}
  FLOW-WFQ: {flow-wfq: {}}
  FQ-CODEL: {fq-codel: {target: 1 ms, interval: 10 ms}}
  LLQ:
    class-based:
      classes:
        - {name: voice, match: {dscp: ef}, priority: {rate: 15 %}}
        - {name: video, match: {dscp: af41}, bandwidth: 35 %}
        - {name: data, match: {dscp: [af21, af22, af23]}, bandwidth: 20 %, aqm: {wred: {}}}
        - {name: class-default, fair_queue: {}}
traffic:
  - flow: {name: voice, count: 3, from: a, to: c, dscp: ef, source: {cbr: {rate: 500 kb/s, packet: 200 B, jitter: 10 %}}}
  - flow: {name: video, from: a, to: c, dscp: af41, source: {on-off: {peak: 8 Mb/s, packet: 1200 B, on: 100 ms, off: 100 ms}}}
  - flow: {name: data1, from: a, to: c, dscp: af21, source: {poisson: {rate: 3 Mb/s, packet: imix}}}
  - flow: {name: data3, from: a, to: c, dscp: af23, source: {poisson: {rate: 3 Mb/s, packet: {uniform: {min: 64 B, max: 1500 B}}}}}
  - flow: {name: other, count: 5, class: other, from: a, to: c, source: {poisson: {rate: 1 Mb/s, packet: 1000 B}}}
measurement: {warmup: 1 s, duration: 4 s, interval: 100 ms}
runs: {count: 4, seed: 7}
variants:
  - {name: LLQ, set: {}}
  - {name: FIFO, set: {topology.links.wan.policy: FIFO}}
  - {name: RED, set: {topology.links.wan.policy: RED}}
  - {name: WFQ, set: {topology.links.wan.policy: WFQ}}
  - {name: FLOW-WFQ, set: {topology.links.wan.policy: FLOW-WFQ}}
  - {name: FQ-CODEL, set: {topology.links.wan.policy: FQ-CODEL}}
";

fn alone<S: EventSet>(world: &Arc<WorldPlan>, run: u32, observe: bool, budget: u64) -> String {
    let mut w = World::<S>::new(world, 7, run, observe);
    while w.run(budget) != Stop::Done {}
    w.outcome().digest
}

#[test]
fn threads_change_nothing() {
    let plan = common::plan(SCENARIO);
    let one = common::run(&plan, 1);
    let four = common::run(&plan, 4);
    assert_eq!(one.len(), 24);
    assert_eq!(common::digests(&one), common::digests(&four));
    for (a, b) in one.iter().zip(&four) {
        let bits =
            |v: &spillgate_measure::table::Row| v.iter().map(|x| x.to_bits()).collect::<Vec<_>>();
        assert_eq!(a.info, b.info);
        assert_eq!(bits(&a.outcome.values), bits(&b.outcome.values));
        assert_eq!(a.outcome.series, b.outcome.series);
    }
}

#[test]
fn event_set_observer_and_pauses_change_nothing() {
    let plan = common::plan(SCENARIO);
    for v in &plan.variants {
        let reference = alone::<WinnerTree>(&v.world, 0, false, u64::MAX);
        assert_eq!(
            alone::<Heap4>(&v.world, 0, false, u64::MAX),
            reference,
            "{}: event set",
            v.name
        );
        assert_eq!(
            alone::<WinnerTree>(&v.world, 0, true, u64::MAX),
            reference,
            "{}: observer",
            v.name
        );
        assert_eq!(
            alone::<WinnerTree>(&v.world, 0, false, 97),
            reference,
            "{}: pauses",
            v.name
        );
        assert_ne!(
            alone::<WinnerTree>(&v.world, 1, false, u64::MAX),
            reference,
            "{}: run",
            v.name
        );
    }
}

/// A new flow moves nobody else's draws: the others' packets are emitted at the same instants.
#[test]
fn adding_a_flow_moves_nobody_elses_draws() {
    let more = SCENARIO.replace(
        "traffic:\n",
        "traffic:\n  - flow: {name: new, from: a, to: c, source: {poisson: {rate: 1 Mb/s, packet: 500 B}}}\n",
    );
    let count = |yaml: &str| {
        let plan = common::plan(yaml);
        let finished = common::run(&plan, 2);
        let (scope, metric) = (
            spillgate_measure::table::Scope::Flow,
            spillgate_measure::table::Metric::Offered,
        );
        common::values(&plan, &finished, scope, "data1", metric)
    };
    assert_eq!(count(SCENARIO), count(&more));
}
