//! Links that fail: what is lost, packet by packet, and how packets find another way.

use crate::common;
use std::sync::Arc;

use spillgate_measure::table::{Metric, Scope};
use spillgate_scenario::plan::Plan;
use spillgate_sim::Finished;

/// One run of a scenario.
struct Ran(Arc<Plan>, Vec<Finished>);

impl Ran {
    #[track_caller]
    fn new(topology: &str, traffic: &str, duration: &str) -> Self {
        Self::with(topology, "{}", traffic, duration)
    }

    #[track_caller]
    fn with(topology: &str, policies: &str, traffic: &str, duration: &str) -> Self {
        let plan = common::plan(&format!(
            "
schema_version: 1
topology:
{topology}
policies: {policies}
traffic:
{traffic}
measurement: {{warmup: 0 s, duration: {duration}, interval: 100 ms}}
runs: {{count: 1, seed: 5}}
"
        ));
        let finished = common::run(&plan, 1);
        Self(plan, finished)
    }

    #[track_caller]
    fn of(&self, scope: Scope, name: &str, metric: Metric) -> f64 {
        common::values(&self.0, &self.1, scope, name, metric)[0]
    }

    #[track_caller]
    fn flow(&self, metric: Metric) -> f64 {
        self.of(Scope::Flow, "f", metric)
    }

    /// Packets of 1500 B whose transmission on the link began.
    #[track_caller]
    fn carried(&self, link: &str, seconds: f64) -> f64 {
        self.of(Scope::Link, link, Metric::Carried) * seconds / 12e3
    }

    /// Sent, received, lost to a link that was down, lost without a route; all are accounted for.
    #[track_caller]
    fn fates(&self) -> [f64; 4] {
        let fates = [
            Metric::PacketsSent,
            Metric::PacketsReceived,
            Metric::DropsLinkDown,
            Metric::DropsUnroutable,
        ]
        .map(|m| self.flow(m));
        assert_eq!(fates[0], fates[1] + fates[2] + fates[3], "{fates:?}");
        assert_eq!(self.flow(Metric::Unresolved), 0.0);
        fates
    }
}

fn cbr(rate: &str, more: &str) -> String {
    format!(
        "  - flow: {{name: f, from: a, to: b, {more}source: {{cbr: {{rate: {rate}, packet: 1500 B, phase: 0 s}}}}}}"
    )
}

/// 1500 B every 0.5 ms into a link that takes 1 ms for each and 5 ms more; it is down from
/// 20.25 ms to 30.25 ms. Packet k comes at k/2 ms and is sent from k ms to k + 1 ms.
///
/// - 0 to 14 are there at k + 6 <= 20.25.
/// - 15 to 19 are on the wire, 20 has been sent for 0.25 ms, 21 to 40 wait.
/// - 41 (20.5 ms) to 60 (30 ms) find the link down.
/// - 61 (30.5 ms) to 79 (39.5 ms) get through: the server was free.
#[test]
fn what_is_on_the_wire_and_what_waits_is_lost() {
    let topology = "  nodes: [a, b]
  links: {l: {from: a, to: b, rate: 12 Mb/s, delay: 5 ms, policy: P}}
  failures: [{link: l, at: 20.25 ms, repair: 30.25 ms}]
  routing: {detection: 1 s}";
    for (policy, leaf) in [
        ("{fifo: {limit: 100 packets}}", "fifo"),
        (
            "{fifo: {limit: 100 packets, aqm: {red: {min_th: 60, max_th: 90}}}}",
            "fifo",
        ),
        ("{wfq: {}}", "wfq"),
        ("{flow-wfq: {}}", "flow-wfq"),
        (
            "{class-based: {classes: [{name: class-default, queue_limit: 100 packets}]}}",
            "class-default",
        ),
        (
            "{class-based: {classes: [{name: class-default, shape: {rate: 12 Mb/s}, fair_queue: {}}]}}",
            "class-default",
        ),
        (
            "{class-based: {classes: [{name: p, match: {dscp: default}, priority: {limit: 100 packets}}]}}",
            "p",
        ),
    ] {
        let traffic = cbr("24 Mb/s", "stop: 40 ms, ");
        let ran = Ran::with(topology, &format!("{{P: {policy}}}"), &traffic, "1 s");
        assert_eq!(ran.fates(), [80.0, 34.0, 46.0, 0.0], "{policy}");
        let queue = |metric| ran.of(Scope::Queue, &format!("l/{leaf}"), metric);
        assert_eq!(queue(Metric::DropsLinkDown), 46.0, "{policy}");
        assert_eq!(queue(Metric::Offered), 80.0 * 12e3, "{policy}");
        // 0 to 20 and 61 to 79 left the queue: 20 packets, a quarter of one, 19 packets.
        assert_eq!(queue(Metric::Carried), 39.25 * 12e3, "{policy}");
        assert_eq!(queue(Metric::BacklogPacketsMax), 20.0, "{policy}");
        // In ms: k/2 for 0 to 20, 20.25 - k/2 for 21 to 40, i/2 for the i-th of 61 to 79.
        let waited = 105.0 + 100.0 + 85.5;
        let mean = queue(Metric::BacklogPacketsMean);
        assert!((mean - waited / 1e3).abs() < 1e-12, "{policy}: {mean}");
        let busy = ran.of(Scope::Link, "l", Metric::Utilization);
        assert!((busy - 0.03925).abs() < 1e-12, "{policy}: {busy}");
    }
}

/// The queues of one port account for their own packets, on the wire too. Packet k comes at k ms,
/// in turn of two classes, takes 1 ms and is there 4 ms later.
#[test]
fn each_queue_counts_what_it_lost() {
    let topology = "  nodes: [a, b]
  links: {l: {from: a, to: b, rate: 12 Mb/s, delay: 4 ms, policy: P}}
  failures: [{link: l, at: 20.25 ms, repair: 24.25 ms}]
  routing: {detection: 1 s}";
    let policy = "{P: {class-based: {classes: [
    {name: even, match: {dscp: ef}, priority: {limit: 9 packets}},
    {name: odd, match: {dscp: af11}, bandwidth: 10 %}]}}}";
    let flow = |name, dscp, phase| {
        format!(
            "  - flow: {{name: {name}, from: a, to: b, dscp: {dscp}, source: {{cbr: {{rate: 6 Mb/s, packet: 1500 B, phase: {phase}}}}}}}\n"
        )
    };
    let traffic = flow("even", "ef", "0 s") + &flow("odd", "af11", "1 ms");
    let ran = Ran::with(topology, policy, &traffic, "100 ms");
    for (name, lost) in [
        // On the wire 16, 18, 20; while it is down 22, 24.
        ("even", 5.0),
        // 17, 19; 21, 23.
        ("odd", 4.0),
    ] {
        assert_eq!(ran.of(Scope::Flow, name, Metric::DropsLinkDown), lost);
        let queue = format!("l/{name}");
        assert_eq!(ran.of(Scope::Queue, &queue, Metric::DropsLinkDown), lost);
    }
}

/// At one instant: what is due at the far end arrives, then the link fails or is repaired, then
/// sources send.
#[test]
fn a_packet_due_at_the_failure_arrives_and_one_sent_then_is_lost() {
    // Every 10 ms; there after 1 ms + 9 ms, or after a transmission of 10 ms and no delay.
    for link in ["rate: 12 Mb/s, delay: 9 ms", "rate: 1.2 Mb/s, delay: 0 s"] {
        let topology = format!(
            "  nodes: [a, b]
  links: {{l: {{from: a, to: b, {link}}}}}
  failures: [{{link: l, at: 50 ms, repair: 70 ms}}]
  routing: {{detection: 1 s}}"
        );
        let ran = Ran::new(&topology, &cbr("1.2 Mb/s", ""), "200 ms");
        // 4, sent at 40 ms, arrives; 5 and 6 are lost; 7, sent at 70 ms, arrives.
        assert_eq!(ran.fates(), [20.0, 18.0, 2.0, 0.0], "{link}");
    }
}

/// Each millisecond a packet that takes 0.12 ms and 5 ms over the short way.
const DETOUR: &str = "  nodes: [a, b, c]
  links:
    short: {from: a, to: b, rate: 100 Mb/s, delay: 5 ms}
    first: {from: a, to: c, rate: 100 Mb/s, delay: 10 ms}
    second: {from: c, to: b, rate: 100 Mb/s, delay: 10 ms}";

#[test]
fn routes_follow_a_failure_and_a_repair() {
    let topology = format!(
        "{DETOUR}
  failures: [{{link: short, at: 2.0005 s, repair: 4.0005 s}}]
  routing: {{detection: 50 ms, convergence: 250 ms}}"
    );
    let ran = Ran::new(&topology, &cbr("12 Mb/s", ""), "6 s");
    // On the wire at 2000.5 ms are those with k + 5.12 > 2000.5: 1996 to 2000. In the 300 ms
    // until routes change 2001 to 2300 are sent: rate times delay.
    assert_eq!(ran.fates(), [6000.0, 5695.0, 305.0, 0.0]);
    // From 2301 on over c, until 300 ms after the repair: to 4300. Nothing is lost then.
    assert_eq!(ran.carried("first", 6.0), 2000.0);
    assert_eq!(ran.carried("second", 6.0), 2000.0);
    // 0 to 2000, and 4301 to 5999.
    assert_eq!(ran.carried("short", 6.0), 2001.0 + 1699.0);
    assert_eq!(
        ran.of(Scope::Queue, "short/fifo", Metric::DropsLinkDown),
        305.0
    );
    let longest = ran.flow(Metric::OwdMax);
    // Two transmissions and two wires; a histogram's error is below 1 %, here it is exact.
    assert!((longest - 20.24e-3).abs() < 1e-12, "{longest}");
}

#[test]
fn with_instant_routing_only_the_wire_is_lost() {
    let topology =
        format!("{DETOUR}\n  failures: [{{link: short, at: 2.0005 s, repair: 4.0005 s}}]");
    let ran = Ran::new(&topology, &cbr("12 Mb/s", ""), "6 s");
    assert_eq!(ran.fates(), [6000.0, 5995.0, 5.0, 0.0]);
    assert_eq!(ran.carried("first", 6.0), 2000.0);
}

/// A failure that is repaired before routing has reacted moves no packet; nor does a repair that
/// does not last.
#[test]
fn what_does_not_last_goes_unnoticed() {
    let topology = format!(
        "{DETOUR}
  failures:
    - {{link: short, at: 1.0005 s, repair: 1.2005 s}}
    - {{link: short, at: 1.4005 s, repair: 1.6005 s}}
    - {{link: short, at: 3.0005 s, repair: 4.0005 s}}
    - {{link: short, at: 4.2005 s, repair: 5.0005 s}}
  routing: {{convergence: 300 ms}}"
    );
    let ran = Ran::new(&topology, &cbr("12 Mb/s", ""), "8 s");
    // 5 on the wire and 200 sent, twice; 5 and 300; then no packet is on the short way when it
    // fails again, for routes go back only 300 ms after the second repair.
    assert_eq!(
        ran.fates(),
        [8000.0, 8000.0 - 205.0 - 205.0 - 305.0, 715.0, 0.0]
    );
    // 3301 to 5300.
    assert_eq!(ran.carried("first", 8.0), 2000.0);
}

/// What has already passed the fork turns around.
#[test]
fn packets_on_their_way_go_by_the_new_routes() {
    let topology = "  nodes: [a, b, c, d]
  links:
    ac: {from: a, to: c, rate: 120 Mb/s, delay: 10 ms, duplex: true}
    cb: {from: c, to: b, rate: 120 Mb/s, delay: 10 ms}
    ad: {from: a, to: d, rate: 120 Mb/s, delay: 20 ms}
    db: {from: d, to: b, rate: 120 Mb/s, delay: 20 ms, cost: 5}
  failures: [{link: cb, at: 1.00005 s}]";
    let ran = Ran::new(topology, &cbr("12 Mb/s", ""), "2 s");
    // 0.1 ms and 10 ms on each of the first links. At 1000.05 ms k is past c if
    // k + 10.1 < 1000.05, and at b if k + 20.2 < 1000.05: 980 to 989 are on the wire behind c,
    // 990 to 1000 on that before it. These come back to a and go over d, as all later ones.
    assert_eq!(ran.fates(), [2000.0, 1990.0, 10.0, 0.0]);
    assert_eq!(ran.carried("ac", 2.0), 1001.0);
    assert_eq!(ran.carried("cb", 2.0), 990.0);
    assert_eq!(ran.carried("ac.reverse", 2.0), 11.0);
    assert_eq!(ran.carried("ad", 2.0), 999.0 + 11.0);
    // The longest way: to c, back, over d.
    let longest = ran.flow(Metric::OwdMax);
    assert!((longest - 60.4e-3).abs() < 1e-12, "{longest}");
}

/// A failure for ever without another way: until routing knows the packets are lost at the link,
/// then at the node that has no route.
#[test]
fn a_partition_ends_and_everything_is_counted() {
    let topology = "  nodes: [a, m, b]
  links:
    am: {from: a, to: m, rate: 100 Mb/s, delay: 1 ms}
    mb: {from: m, to: b, rate: 100 Mb/s, delay: 1 ms}
  failures: [{link: mb, at: 1.0005 s}]
  routing: {detection: 100 ms}";
    let ran = Ran::new(topology, &cbr("12 Mb/s", ""), "3 s");
    // k is at m at k + 1.12 ms and at b at k + 2.24 ms. At 1000.5 ms 999 (to be there at 1001.24)
    // is on the second wire, and 1000 reaches m at 1001.12. At 1100.5 ms 1099 has reached m.
    // What is on the first wire then, 1100, has no route at m; nor has any later one at a.
    assert_eq!(ran.fates(), [3000.0, 999.0, 101.0, 1900.0]);
    assert_eq!(ran.carried("am", 3.0), 1101.0);
    assert_eq!(
        ran.of(Scope::Queue, "mb/fifo", Metric::DropsLinkDown),
        101.0
    );
    assert_eq!(ran.of(Scope::Total, "all", Metric::Unresolved), 0.0);
}

/// Three ways, each shorter than the next; the first two fail one in the other's time, then the
/// third while the first comes back.
#[test]
fn failures_of_several_links_overlap() {
    let topology = "  nodes: [a, b, c, d]
  links:
    one: {from: a, to: b, rate: 120 Mb/s, delay: 1 ms}
    ac: {from: a, to: c, rate: 120 Mb/s, delay: 1 ms}
    cb: {from: c, to: b, rate: 120 Mb/s, delay: 1 ms}
    ad: {from: a, to: d, rate: 120 Mb/s, delay: 1 ms, cost: 2}
    db: {from: d, to: b, rate: 120 Mb/s, delay: 1 ms, cost: 2}
  failures:
    - {link: one, at: 1.0005 s, repair: 4.0005 s}
    - {link: ac, at: 2.0005 s, repair: 6.0005 s}
    - {link: db, at: 3.0005 s, repair: 5.0005 s}
  routing: {convergence: 100 ms}";
    let ran = Ran::new(topology, &cbr("12 Mb/s", ""), "8 s");
    // Each failure finds one packet on its wire (1.1 ms) or none, and catches those of 100 ms.
    // one: 1000 is on the wire (until 1001.1), 1001 to 1100 are sent into it.
    // ac: 2000 is on its wire; 2001 to 2100.
    // db: k is on it from k + 1.1 to k + 2.2: 2999 is (from 3000.1); 3000 to 3099 arrive at d
    //     while it is down and routes lead there (until 3100.5). 3100 is on the way to d.
    // Then there is no route: 3100 at d, 3101 to 4100 at a, until 100 ms after one's repair.
    assert_eq!(
        ran.fates(),
        [8000.0, 8000.0 - 303.0 - 1001.0 + 0.0, 303.0, 1001.0]
    );
    assert_eq!(ran.carried("one", 8.0), 1001.0 + 3899.0);
    assert_eq!(ran.carried("ac", 8.0), 900.0);
    assert_eq!(ran.carried("ad", 8.0), 1000.0);
}

/// A run waits for packets whose detour is longer than anything it had at its beginning.
#[test]
fn no_packet_is_cut_off_because_its_detour_is_long() {
    let topology = format!(
        "{}
  failures: [{{link: short, at: 0.5005 s}}]",
        DETOUR.replace("delay: 10 ms", "delay: 60 s")
    );
    let ran = Ran::new(&topology, &cbr("12 Mb/s", "stop: 1 s, "), "1 s");
    assert_eq!(ran.fates(), [1000.0, 995.0, 5.0, 0.0]);
    let longest = ran.flow(Metric::OwdMax);
    assert!((longest - 120.00024).abs() < 1e-9, "{longest}");
}

/// The same link three times: each costs what the first did.
#[test]
fn three_failures_in_a_row_cost_three_times_as_much() {
    let times = |n: u32| {
        let list: Vec<String> = (1..=n)
            .map(|i| format!("{{link: l, at: {i}.00025 s, repair: {i}.10025 s}}"))
            .collect();
        let topology = format!(
            "  nodes: [a, b]
  links: {{l: {{from: a, to: b, rate: 24 Mb/s, delay: 5 ms}}}}
  failures: [{}]",
            list.join(", ")
        );
        Ran::new(&topology, &cbr("12 Mb/s", ""), "5 s").fates()[2]
    };
    // 995 to 1000 on the wire (k + 5.5 ms > 1000.25 ms) and 100 sent. With instant routing these
    // would have no route.
    let lost = |n| {
        let list: Vec<String> = (1..=n)
            .map(|i| format!("{{link: l, at: {i}.00025 s, repair: {i}.10025 s}}"))
            .collect();
        let topology = format!(
            "  nodes: [a, b]
  links: {{l: {{from: a, to: b, rate: 24 Mb/s, delay: 5 ms}}}}
  failures: [{}]
  routing: {{detection: 1 s}}",
            list.join(", ")
        );
        Ran::new(&topology, &cbr("12 Mb/s", ""), "5 s").fates()[2]
    };
    for n in 1..=3 {
        assert_eq!(lost(n), 106.0 * f64::from(n));
        assert_eq!(times(n), 6.0 * f64::from(n));
    }
}

/// Series go through a failure: nothing waits and nothing is sent while the link is down.
#[test]
fn series_show_the_failure() {
    let topology = "  nodes: [a, b]
  links: {l: {from: a, to: b, rate: 12 Mb/s, policy: P}}
  failures: [{link: l, at: 1 s, repair: 2 s}]
  routing: {detection: 5 s}";
    let ran = Ran::with(
        topology,
        "{P: {fifo: {limit: 10 packets}}}",
        &cbr("24 Mb/s", ""),
        "3 s",
    );
    let series = &ran.1[0].outcome.series;
    let curve = |place: &str, metric: &str| {
        let found = series
            .iter()
            .find(|c| c.place == place && c.metric == metric);
        &found.unwrap_or_else(|| panic!("no {metric} of {place}")).v
    };
    let (backlog, rate) = (
        curve("l/fifo", "backlog_packets"),
        curve("link l", "carried"),
    );
    for (i, (backlog, rate)) in backlog.iter().zip(rate).enumerate() {
        // Sample i is taken at (i + 1) / 10 s; the sources' packets of that instant are in.
        // A packet sent at the repair, at 2 s, is served at once.
        let down = (9..20).contains(&i);
        assert_eq!(*backlog, if down { 0.0 } else { 10.0 }, "sample {i}");
        let sent = if (10..20).contains(&i) { 0.0 } else { 12e6 };
        // A packet more or less at the edges: 12 000 b in 0.1 s.
        assert!((rate - sent).abs() <= 12e4, "sample {i}: {rate}");
    }
    assert_eq!(ran.flow(Metric::Unresolved), 0.0);
}

/// A transfer over a link that fails for some time. RTT is 20 ms, so the timeout is its minimum of
/// 1 s and doubles: the segments sent 1 s and 3 s after the last acknowledgment are lost, that
/// after 7 s gets through.
#[test]
fn tcp_goes_on_after_a_repair_with_its_timeout_doubled() {
    for (repair, timeouts, resumed) in [("2.5 s", 1.0, 1.0), ("4.5 s", 2.0, 3.0), ("8 s", 3.0, 7.0)]
    {
        let topology = format!(
            "  nodes: [a, b]
  links: {{l: {{from: a, to: b, rate: 10 Mb/s, delay: 10 ms, duplex: true}}}}
  failures: [{{link: l, at: 2 s, repair: {repair}}}]"
        );
        let flow = "  - flow: {name: f, from: a, to: b, bytes: 5 MB, tcp: {max_window: 20 kB, window_scaling: false}}";
        let with = Ran::new(&topology, flow, "60 s");
        let without = Ran::new(&topology.replace("failures", "# failures"), flow, "60 s");
        // A window of 20 kB for each 20 ms is less than the link carries: no other loss.
        assert_eq!(without.flow(Metric::Timeouts), 0.0);
        assert_eq!(with.flow(Metric::Timeouts), timeouts, "{repair}");
        assert_eq!(with.flow(Metric::Goodput), without.flow(Metric::Goodput));
        // The pause begins with the last acknowledgment, at most an RTT of 36 ms (20 kB take 16 ms)
        // before the failure or after it, and slow start again takes some round trips to 20 kB.
        let late = with.flow(Metric::FctMean) - without.flow(Metric::FctMean);
        assert!(
            (resumed - 0.04..resumed + 0.4).contains(&late),
            "{repair}: {late}"
        );
    }
}

/// A route that vanishes for ever: connections give up after their retries, and the run ends.
#[test]
fn connections_without_a_route_time_out() {
    let topology = "  nodes: [a, b]
  links: {l: {from: a, to: b, rate: 10 Mb/s, delay: 10 ms, duplex: true}}
  failures: [{link: l, at: 2 s}]
  routing: {convergence: 1 s}";
    let flows = "  - flow: {name: f, from: a, to: b, tcp: {retries: 4, max_window: 20 kB, window_scaling: false}}
  - flow: {name: late, from: a, to: b, start: 5 s, tcp: {syn_retries: 3}}";
    let ran = Ran::new(topology, flows, "100 s");
    let of = |name, metric| ran.of(Scope::Flow, name, metric);
    // Retransmissions 1, 3, 7 and 15 s after the last acknowledgment; after 31 s it gives up.
    assert_eq!(of("f", Metric::Timeouts), 5.0);
    // SYN at 5 s, 6 s, 8 s and 12 s; at 20 s it gives up.
    assert_eq!(of("late", Metric::Timeouts), 4.0);
    assert_eq!(of("late", Metric::PacketsSent), 4.0);
    assert_eq!(of("late", Metric::DropsUnroutable), 4.0);
    // The last acknowledgment came before 2 s: the first retransmission is lost on the link, before
    // 3 s, the others find no route.
    assert_eq!(of("f", Metric::DropsUnroutable), 3.0);
    assert!(of("f", Metric::DropsLinkDown) > 0.0);
    for name in ["f", "late"] {
        assert_eq!(of(name, Metric::Unresolved), 0.0);
    }
}

/// With a spread each run draws when the link fails; its repair comes as much later. A packet a
/// millisecond tells when that was.
#[test]
fn a_spread_moves_failure_and_repair_together() {
    const RUNS: usize = 200;
    let plan = |spread: &str, traffic: &str| {
        common::plan(&format!(
            "
schema_version: 1
topology:
  nodes: [a, b]
  links: {{l: {{from: a, to: b, rate: 12 Mb/s, delay: 0 s, duplex: true}}}}
  failures: [{{link: l, at: 100 ms, repair: 200 ms{spread}}}]
  routing: {{detection: 1 s}}
traffic:
{traffic}
measurement: {{warmup: 0 s, duration: 1 s, interval: 100 ms}}
runs: {{count: {RUNS}, seed: 5}}
"
        ))
    };
    let way = |name, from, to, more: &str| {
        format!(
            "  - flow: {{name: {name}, from: {from}, to: {to}, {more}source: {{cbr: {{rate: 400 kb/s, packet: 50 B, phase: 0 s}}}}}}"
        )
    };
    let early = way("early", "a", "b", "stop: 170 ms, ");
    let both = [
        early.clone(),
        way("f", "a", "b", ""),
        way("g", "b", "a", ""),
    ]
    .join("\n");
    let of = |plan: &Arc<Plan>, threads, name, metric| {
        let finished = common::run(plan, threads);
        common::values(plan, &finished, Scope::Flow, name, metric)
    };
    let spread = plan(", spread: 50 ms", &both);
    // Down for 100 ms of the 1 s, whenever: one packet a ms, in both directions.
    for name in ["f", "g"] {
        let lost = of(&spread, 2, name, Metric::DropsLinkDown);
        assert!(lost.iter().all(|n| (100.0..=101.0).contains(n)), "{lost:?}");
    }
    // What stops while the link is down shows when that began.
    let lost = of(&spread, 1, "early", Metric::DropsLinkDown);
    assert!(lost.iter().all(|n| (20.0..=70.0).contains(n)), "{lost:?}");
    // Uniform over 50 ms: a standard deviation of 14.4 ms, of the mean of 200 runs 1.02 ms; four
    // of these.
    let mean = lost.iter().sum::<f64>() / RUNS as f64;
    assert!((mean - 45.0).abs() < 4.1, "{mean}");
    assert!(lost.iter().any(|n| *n < 25.0) && lost.iter().any(|n| *n > 65.0));
    // Other traffic does not move it, but for a packet that waits for another one's 33 us.
    let alone = plan(", spread: 50 ms", &early);
    let lost_alone = of(&alone, 1, "early", Metric::DropsLinkDown);
    let pairs = lost.iter().zip(&lost_alone);
    assert!(pairs.clone().all(|(a, b)| (a - b).abs() <= 1.0));
    assert!(pairs.filter(|(a, b)| a != b).count() < RUNS / 10);
    let fixed = of(&plan("", &early), 1, "early", Metric::DropsLinkDown);
    assert!(fixed.iter().all(|n| *n == fixed[0]));
}
