//! The estimate of a scenario's memory against what a campaign allocates at its peak.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use spillgate_sim::Campaign;

use crate::{HELD, PEAK, alone, common};

/// Nodes, links and policies of a bottleneck that every case shares.
const NETWORK: &str = "
schema_version: 1
topology:
  nodes: [a, b, c]
  links:
    access: {from: a, to: b, rate: 1 Gb/s, delay: 1 ms, duplex: true}
    wan: {from: b, to: c, rate: 20 Mb/s, delay: 20 ms, policy: P, duplex: true}
";

/// Two thousand links that carry next to nothing, and one behind them.
const STAR: &str = "
schema_version: 1
topology:
  nodes: [{name: a, count: 1000}, b, c]
  links:
    spoke: {from: a, to: b, rate: 100 Mb/s, delay: 1 ms, policy: P, duplex: true}
    wan: {from: b, to: c, rate: 400 Mb/s, delay: 2 ms, duplex: true}
";

/// The same with slower ones.
const BUSY: &str = "
schema_version: 1
topology:
  nodes: [{name: a, count: 1000}, b, c]
  links:
    spoke: {from: a, to: b, rate: 500 kb/s, delay: 1 ms, policy: P, duplex: true}
    wan: {from: b, to: c, rate: 400 Mb/s, delay: 2 ms, duplex: true}
";

struct Case {
    what: &'static str,
    network: &'static str,
    policy: &'static str,
    traffic: &'static str,
    rest: &'static str,
}

const CASES: [Case; 10] = [
    Case {
        what: "a few flows, ten runs with series",
        network: NETWORK,
        policy: "{class-based: {classes: [
            {name: voice, match: {dscp: ef}, priority: {rate: 15 %}},
            {name: data, match: {dscp: af21}, bandwidth: 60 %, aqm: {wred: {}}}]}}",
        traffic: "
  - flow: {name: voice, count: 5, from: a, to: c, dscp: ef, source: {cbr: {rate: 500 kb/s, packet: 200 B, jitter: 10 %}}}
  - flow: {name: data, count: 10, from: a, to: c, dscp: af21, source: {poisson: {rate: 2 Mb/s, packet: 1500 B}}}",
        rest: "
measurement: {warmup: 1 s, duration: 5 s, interval: 50 ms}
runs: {count: 10, seed: 1}",
    },
    Case {
        what: "thousands of flows",
        network: NETWORK,
        policy: "{fifo: {limit: 200 packets}}",
        traffic: "
  - flow: {name: f, count: 4000, class: f, from: a, to: c, source: {poisson: {rate: 6 kb/s, packet: 500 B}}}",
        rest: "
measurement: {warmup: 1 s, duration: 5 s, interval: 1 s}
runs: {count: 2, seed: 1}",
    },
    Case {
        what: "a deep queue that fills",
        network: NETWORK,
        policy: "{fifo: {limit: 20000 packets}}",
        traffic: "
  - flow: {name: f, count: 10, from: a, to: c, source: {poisson: {rate: 4 Mb/s, packet: 100 B}}}",
        rest: "
measurement: {warmup: 1 s, duration: 3 s, interval: 1 s}
runs: {count: 2, seed: 1}",
    },
    Case {
        what: "connections",
        network: NETWORK,
        policy: "{fifo: {limit: 300 packets}}",
        traffic: "
  - flow: {name: t, count: 300, class: t, from: a, to: c, start_spread: 1 s, tcp: {}}",
        rest: "
measurement: {warmup: 1 s, duration: 5 s, interval: 100 ms}
runs: {count: 2, seed: 1}",
    },
    Case {
        what: "a deep queue that stays empty",
        network: NETWORK,
        policy: "{fifo: {limit: 20000 packets}}",
        traffic: "
  - flow: {name: f, count: 300, from: a, to: c, source: {poisson: {rate: 30 kb/s, packet: imix}}}",
        rest: "
measurement: {warmup: 1 s, duration: 3 s, interval: 1 s}
runs: {count: 2, seed: 1}",
    },
    Case {
        what: "connections that fill a deep queue",
        network: NETWORK,
        policy: "{fifo: {limit: 3000 packets}}",
        traffic: "
  - flow: {name: t, count: 20, class: t, from: a, to: c, tcp: {}}",
        rest: "
measurement: {warmup: 1 s, duration: 5 s, interval: 100 ms}
runs: {count: 2, seed: 1}",
    },
    Case {
        what: "flows in fair queues",
        network: NETWORK,
        policy: "{fq-codel: {}}",
        traffic: "
  - flow: {name: f, count: 500, class: f, from: a, to: c, source: {poisson: {rate: 30 kb/s, packet: 500 B}}}",
        rest: "
measurement: {warmup: 1 s, duration: 5 s, interval: 100 ms}
runs: {count: 2, seed: 1}",
    },
    Case {
        what: "a thousand nodes, links that stay empty",
        network: STAR,
        policy: "{fifo: {limit: 300 packets}}",
        traffic: "
  - flow: {name: f, count: 1000, class: f, from: a, to: c, source: {poisson: {rate: 20 kb/s, packet: 500 B}}}",
        rest: "
measurement: {warmup: 0 s, duration: 2 s, interval: 100 ms}
runs: {count: 1, seed: 1}",
    },
    Case {
        what: "a thousand links that are busy",
        network: BUSY,
        policy: "{fifo: {limit: 300 packets}}",
        traffic: "
  - flow: {name: f, count: 1000, class: f, from: a, to: c, source: {poisson: {rate: 300 kb/s, packet: imix}}}",
        rest: "
measurement: {warmup: 0 s, duration: 4 s, interval: 100 ms}
runs: {count: 1, seed: 1}",
    },
    Case {
        what: "sessions",
        network: NETWORK,
        policy: "{fifo: {limit: 300 packets}}",
        traffic: "
  - sessions: {name: s, from: a, to: c, arrivals: {poisson: {gap: 10 ms}}, session: {transfer: {size: {pareto: {mean: 20 kB, shape: 1.5, max: 1 MB}}}}, active: 200}",
        rest: "
measurement: {warmup: 1 s, duration: 5 s, interval: 100 ms}
runs: {count: 2, seed: 1}",
    },
];

/// With 200 variants, whose plans and results are kept together.
const VARIANTS: Case = Case {
    what: "many variants",
    network: NETWORK,
    policy: "{fifo: {limit: 50 packets}}",
    traffic: "
  - flow: {name: f, count: 20, class: f, from: a, to: c, source: {poisson: {rate: 100 kb/s, packet: 500 B}}}",
    rest: "
measurement: {warmup: 0.1 s, duration: 0.2 s, interval: 100 ms}
runs: {count: 3, seed: 1}",
};

/// Above, the bound must hold whatever runs. Below: it counts every queue as full, every meter at
/// its largest and every connection as far as one alone may get. The widest of these margins is
/// that of a meter: 64 KB for a histogram whose delays stay within one octave, which takes 2^8
/// buckets of 8 B, 2 KB: a factor of 32; a queue that stays empty has none at all. The estimate is
/// off by a factor of 2 at most.
#[test]
fn the_estimate_holds_and_is_not_absurd() {
    let _alone = alone();
    // What the first campaign brings to life for good: threads, tables.
    measure(&CASES[0], "");
    let many: String = (1..=200)
        .map(|i| format!("\n  - {{name: v{i}, set: {{topology.links.wan.rate: {i} Mb/s}}}}"))
        .collect();
    let variants = format!("\nvariants:{many}");
    for (case, variants) in CASES
        .iter()
        .map(|c| (c, ""))
        .chain([(&VARIANTS, &*variants)])
    {
        let (most, likely, peak) = measure(case, variants);
        let found = format!(
            "{}: at most {most} B, likely {likely} B, {peak} B at the peak",
            case.what
        );
        println!("{found}");
        assert!(peak <= most, "{found}");
        let stays_empty = case.what.contains("empty");
        assert!(stays_empty || most <= 32 * peak, "{found}");
        assert!(likely <= 2 * peak && peak <= 2 * likely, "{found}");
    }
}

fn measure(case: &Case, variants: &str) -> (u64, u64, u64) {
    let before = HELD.load(Ordering::Relaxed);
    let (network, policy) = (case.network, case.policy);
    let (traffic, rest) = (case.traffic, case.rest);
    let text = format!("{network}policies: {{P: {policy}}}\ntraffic:{traffic}\n{rest}{variants}\n");
    let plan = common::plan(&text);
    // Reading the text takes memory, too, and gives it back.
    PEAK.store(HELD.load(Ordering::Relaxed), Ordering::Relaxed);
    let campaign = Campaign::new(Arc::clone(&plan));
    campaign.execute(1).expect("a thread");
    assert!(!campaign.finished().is_empty());
    let peak = PEAK.load(Ordering::Relaxed) - before;
    (plan.memory_bytes(1), plan.memory_estimate(1), peak as u64)
}
