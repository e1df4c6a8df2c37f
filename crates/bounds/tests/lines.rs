//! Bounds of lines, nodes and captures, worked out by hand.

use super::single::{near, of, owd, with};
use spillgate_bounds::QueueBound;
use spillgate_capture::testkit::{Pcap, ethernet, udp4};

/// Two access links of 2 Mb/s, a router, and a line of 10 Mb/s with this router and these links.
fn two_hops(router: &str, out: &str, traffic: &[&str]) -> String {
    let mut yaml = format!(
        "schema_version: 1
topology:
  nodes: [a, b, {router}, z]
  links:
    ha: {{from: a, to: r, rate: 2 Mb/s, delay: 0 s, policy: F}}
    hb: {{from: b, to: r, rate: 2 Mb/s, delay: 0 s, policy: F}}
    out: {{from: r, to: z, rate: 10 Mb/s, delay: 0 s, policy: F{out}}}
    back: {{from: z, to: r, rate: 10 Mb/s, delay: 0 s, policy: F}}
    ra: {{from: r, to: a, rate: 2 Mb/s, delay: 0 s, policy: F}}
    rb: {{from: r, to: b, rate: 2 Mb/s, delay: 0 s, policy: F}}
policies:
  F: {{fifo: {{limit: 50 packets}}}}
traffic:
"
    );
    for (i, flow) in traffic.iter().enumerate() {
        let from = ["a", "b"][i % 2];
        yaml += &format!("  - flow: {{name: f{i}, from: {from}, to: z, {flow}}}\n");
    }
    yaml + "measurement: {duration: 1 s, interval: 100 ms}\nruns: {count: 1}\n"
}

const TCP: &str = "class: data, tcp: {profile: linux}";
const CBR: &str = "class: data, source: {cbr: {rate: 400 kb/s, packet: 500 B}}";

#[track_caller]
fn queue(yaml: &str, link: &str) -> QueueBound {
    let found = of(yaml, 0);
    let queue = found.queues.iter().find(|q| q.link == link);
    queue.unwrap_or_else(|| panic!("{found:#?}")).clone()
}

/// The longest delay, and what bounds it.
#[track_caller]
fn most(queue: &QueueBound) -> (f64, &'static str) {
    let delay = queue.delay.as_ref();
    let delay = delay.unwrap_or_else(|| panic!("{queue:#?}"));
    (delay.delay, delay.by)
}

#[track_caller]
fn delay(yaml: &str, link: &str) -> f64 {
    most(&queue(yaml, link)).0
}

/// Connections without end come over two links of 2 Mb/s, so of each at most a packet at once, and
/// then no more than the next line carries.
#[test]
fn a_line_bounds_what_comes_over_it() {
    let yaml = two_hops("r", "", &[TCP, TCP, TCP, TCP]);
    let out = queue(&yaml, "out");
    near(most(&out).0, 2.0 * 1.2);
    assert_eq!(most(&out).1, "burst");
    assert_eq!(out.backlog, Some(3000));
    // With 8 B more for each packet on the line, which short packets make faster than before.
    let more = two_hops("r", ", overhead: 8 B", &[TCP, TCP]);
    near(delay(&more, "out"), 2.0 * 1508.0 * 8.0 / 10_000.0);
    // Alone, each is what it was.
    let limited = queue(&yaml, "ha");
    assert_eq!(most(&limited).1, "limit");
    // What comes together may be more than the line carries.
    let slow = yaml.replace("rate: 10 Mb/s", "rate: 3 Mb/s");
    assert_eq!(most(&queue(&slow, "out")).1, "limit");
    // A packet that is late by 5 ms comes with those sent 5 ms after it: 1250 B of each link.
    let late = yaml.replace(
        "policy: F}\n    hb",
        "policy: F, reorder: {share: 10 %, by: 5 ms}}\n    hb",
    );
    near(delay(&late, "out"), (3000.0 + 1250.0) * 8.0 / 10_000.0);
}

/// No packet is late by its own transmission, which takes each the same time.
#[test]
fn lateness_is_what_exceeds_the_transmission() {
    let yaml = two_hops("r", "", &[CBR, CBR]);
    near(delay(&yaml, "ha"), 2.0);
    near(delay(&yaml, "out"), 2.0 * 0.4);
    // Two on one link: one may wait for the other, 2 ms, in which 100 B come.
    let both = two_hops("r", "", &[CBR, CBR, CBR, CBR]);
    near(delay(&both, "ha"), 4.0);
    // All four come at once at most: of each link 2 packets, but 2 ms apart.
    near(delay(&both, "out"), 2.0 * 0.4);
}

/// By reordering, packets of a flow that were sent one after another come at once.
#[test]
fn what_is_reordered_is_late() {
    let yaml = two_hops("r", "", &[CBR, CBR]);
    let kept = "policy: F}\n    hb";
    let late = yaml.replace(
        kept,
        "policy: F, reorder: {share: 10 %, by: 15 ms}}\n    hb",
    );
    // 750 B of one link in 15 ms, and a packet of each.
    near(delay(&late, "out"), 1750.0 * 8.0 / 10_000.0);
}

/// A processor that takes 1 ms for a packet, and 3 ms more beside.
#[test]
fn a_processor_is_a_hop() {
    let router = "{name: r, forwarding: {per_packet: 1 ms, delay: 3 ms, input_queue: 5}}";
    // A packet from each link at once, then one each 10 ms.
    let yaml = two_hops(router, "", &[CBR, CBR]);
    let node = queue(&yaml, "r");
    assert_eq!((node.queue.as_str(), most(&node).1), ("processor", "burst"));
    near(most(&node).0, 2.0 + 3.0);
    assert!(node.lossless && node.classes == ["data"], "{node:#?}");
    // Packets of both links come at once, late by 1 ms at most, in which 50 B more may come.
    near(
        owd(&of(&yaml, 0), "data"),
        2.0 + 5.0 + 2.0 * 550.0 * 8.0 / 10_000.0,
    );
    // Of TCP three links bring what they carry: acknowledgments too fast for the processor. The
    // queues of three links are full, and it is at work.
    let full = two_hops(router, "", &[TCP, TCP]);
    let node = queue(&full, "r");
    near(most(&node).0, (3.0 * 5.0 + 1.0) + 3.0);
    assert!(!node.lossless && most(&node).1 == "limit", "{node:#?}");
    // Without a time for each packet it is a delay.
    let delay_only = two_hops("{name: r, forwarding: {delay: 3 ms}}", "", &[TCP, TCP]);
    near(delay(&delay_only, "r"), 3.0);
    near(delay(&delay_only, "out"), 2.4);
}

/// What a switch adds is known where nothing waits for others.
#[test]
fn switches_are_hops_where_a_bound_is_known() {
    let switch = |keys: &str| format!("{{name: r, switch: {{{keys}}}}}");
    let direct = two_hops(&switch("architecture: output-queued"), "", &[CBR, CBR]);
    near(owd(&of(&direct, 0), "data"), 2.0 + 0.8);
    // Four ports, of 10 Mb/s: each input has 5 Mb/s for each output.
    let keys = "architecture: cioq, speedup: 2, fabric: {parallel: {}}";
    let parallel = two_hops(&switch(keys), "", &[CBR, CBR]);
    let voq = queue(&parallel, "r");
    assert_eq!(voq.queue, "ha/out");
    near(most(&voq).0, 500.0 * 8.0 * 3.0 / 20_000.0);
    let crossbar = of(&two_hops(&switch("architecture: voq"), "", &[CBR, CBR]), 0);
    let why = crossbar.classes[0].why.as_ref().unwrap();
    assert!(
        why.starts_with("node `r`, ha/out: when a crossbar serves an input"),
        "{why}"
    );
}

/// 800 kb/s for 30 ms, nothing for 17 ms, 1 Mb/s for 53 ms: 50 packets of 1500 B and one in
/// transmission are 612,000 bits.
#[test]
fn a_schedule_of_rates_has_a_least_service() {
    let steps = ", rate_process: {schedule: {steps: [{at: 0 s, rate: 800 kb/s}, {at: 30 ms, rate: 0 b/s}, {at: 47 ms, rate: 1 Mb/s}], repeat: 100 ms}}";
    let yaml = two_hops("r", steps, &[TCP, TCP]);
    // Each 100 ms send 77,000 bits. At no time is less sent than 770 kb/s after the pause.
    near(delay(&yaml, "out"), 17.0 + 612_000.0 / 770.0);
    let floor = ", rate_process: {on-off: {on: 20 ms, off: 15 ms, off_rate: 3 Mb/s}}";
    near(delay(&two_hops("r", floor, &[TCP, TCP]), "out"), 51.0 * 4.0);
    let stops = ", rate_process: {on-off: {on: 20 ms, off: 15 ms}}";
    let why = queue(&two_hops("r", stops, &[TCP, TCP]), "out").why;
    assert_eq!(
        why.as_deref(),
        Some("its line may stand still for any time")
    );
}

/// Cells of 53 B at the sustainable rate: a packet of 1500 B takes 32 of them.
#[test]
fn a_circuit_of_its_own_serves_at_its_contract() {
    let atm =
        ", atm: {contract: {nrt-vbr: {pcr: 848 kb/s, scr: 424 kb/s, mbs: 60}}, phase: aligned}";
    let yaml = two_hops("r", atm, &[TCP, TCP]);
    // A cell each ms, the first one after at most 1 ms.
    near(delay(&yaml, "out"), 51.0 * 32.0 + 1.0);
    // With a phase a cell leaves up to two slots of 42.4 us after it may, less than a step.
    near(
        delay(&yaml.replace(", phase: aligned", ""), "out"),
        51.0 * 32.0 + 1.0,
    );
}

/// Circuits from one node, each to a destination of its own, over a line on which a cell takes a
/// millisecond. Their queues have 50 packets of 32 cells.
fn shared(circuits: &[&str], traffic: &str) -> String {
    let n = circuits.len();
    let mut yaml = format!(
        "schema_version: 1\ntopology:\n  nodes: [a, {{name: z, count: {n}}}, {{name: y, count: {n}}}]\n  links:\n"
    );
    for (i, atm) in circuits.iter().enumerate() {
        yaml += &format!(
            "    c{i}: {{from: a, to: z-{i}, rate: 424 kb/s, delay: 0 s, policy: F, atm: {{line: l, {atm}}}}}\n"
        );
        yaml += &format!("    b{i}: {{from: z-{i}, to: a, rate: 10 Mb/s, delay: 0 s}}\n");
        yaml += &format!(
            "    n{i}: {{from: z-{i}, to: y-{i}, rate: 424 kb/s, delay: 0 s, policy: F, duplex: true}}\n"
        );
    }
    yaml += "policies:\n  F: {fifo: {limit: 50 packets}}\ntraffic:\n";
    for i in 0..n {
        yaml += &format!("  - flow: {{name: f{i}, from: a, to: y-{i}, class: k{i}, {traffic}}}\n");
    }
    yaml + "measurement: {duration: 1 s, interval: 100 ms}\nruns: {count: 1}\n"
}

const PLAIN: &str = "tcp: {profile: linux}";
const FULL: f64 = 51.0 * 32.0;

/// The line makes up for a slot (E). The constant rate has a cell each 4 ms, the first one after a
/// cell's time of its own and a slot of the other. What is left to that are 0.75 of the line, less
/// 1 + (0 + 1) / 4 cells, after a slot.
#[test]
fn circuits_of_a_line_go_by_category() {
    let circuits = [
        "phase: aligned, contract: {cbr: {pcr: 106 kb/s}}",
        "phase: aligned",
    ];
    let yaml = shared(&circuits, PLAIN);
    near(delay(&yaml, "c0"), 4.0 * FULL + 4.0 + 1.0);
    near(delay(&yaml, "c1"), (FULL + 1.0 + 1.25) / 0.75);
    let parts = queue(&yaml, "c1").delay.unwrap().parts;
    let part = |name| parts.get(name).copied().unwrap_or(0.0);
    near(part("shaper"), 1.0);
    near(part("share"), 0.0);
    near(part("own"), FULL - 32.0);
    near(part("front"), 32.0 / 0.75);
    near(
        part("priority"),
        (FULL - 32.0 + 2.25) / 0.75 - (FULL - 32.0) - 1.0,
    );
    // A phase adds up to a slot where steps are one, and not where they are four.
    let random = yaml
        .replace("phase: aligned, ", "")
        .replace("phase: aligned", "");
    near(delay(&random, "c0"), 4.0 * FULL + 5.0);
    near(delay(&random, "c1"), (FULL + 2.0 + 1.25) / 0.75);
    // In a burst of 21 cells of the peak the line sends what is sustained only later: up to 20
    // steps of 4 - 2 ms more.
    let burst = yaml.replace(
        "cbr: {pcr: 106 kb/s}",
        "rt-vbr: {pcr: 212 kb/s, scr: 106 kb/s, mbs: 21}",
    );
    near(
        delay(&burst, "c1"),
        (FULL + 1.0 + 1.0 + (40.0 + 1.0) / 4.0) / 0.75,
    );
    // All that the line has, if nothing shapes it.
    let why = queue(
        &yaml.replace("106 kb/s}}", "106 kb/s}}, shaped: false"),
        "c1",
    )
    .why;
    assert_eq!(
        why.as_deref(),
        Some("cells of `c0` go first on its line, and may take all of it")
    );
}

/// Three circuits that have no rate of their own take turns.
#[test]
fn circuits_of_a_category_take_turns() {
    let yaml = shared(&["phase: aligned"; 3], PLAIN);
    near(delay(&yaml, "c1"), 3.0 * FULL + 3.0);
    // Where the contract has less than a turn: 5 ms, and a wait of two slots.
    let slow = yaml.replacen(
        "phase: aligned",
        "phase: aligned, contract: {ubr: {pcr: 84.8 kb/s}}",
        1,
    );
    near(delay(&slow, "c0"), 5.0 * FULL + 5.0 + 2.0);
}

/// A cell each 4 ms goes before all others; beside these it takes turns.
#[test]
fn a_minimum_rate_is_guaranteed() {
    let minimum = "phase: aligned, contract: {ubr: {mdcr: 106 kb/s}}";
    let two = shared(&[minimum, "phase: aligned"], PLAIN);
    near(delay(&two, "c0"), 2.0 * FULL + 2.0);
    // Due are 1 + t / 4 cells; after 8/3 ms the line has sent these and a slot.
    let due = 1.0 + 8.0 / 3.0 / 4.0;
    near(delay(&two, "c1"), (2.0 * FULL + 2.0 + due) / 0.75);
    let circuits = [&[minimum; 1][..], &["phase: aligned"; 4]].concat();
    let many = shared(&circuits, PLAIN);
    near(delay(&many, "c0"), 4.0 * FULL + 4.0 + 1.0);
    // Three that take all of the line.
    let all = shared(
        &["phase: aligned, contract: {ubr: {mdcr: 212 kb/s}}"; 3],
        PLAIN,
    );
    let all = all.replacen(", contract: {ubr: {mdcr: 212 kb/s}}", "", 1);
    assert_eq!(
        queue(&all, "c0").why.as_deref(),
        Some("cells of `c1`, `c2` go first on its line, and may take all of it")
    );
}

/// Over a circuit comes no more than its contract lets go, each packet with its last cell: a packet
/// of 32 cells, 20 more at the rate of the line, 15 of a tolerance of 60 ms, and one each 4 ms. At
/// most 1472 B come in 31 cells. The line itself sends 1500 B, and what it sends in another slot.
#[test]
fn a_contract_bounds_what_comes_to_the_next_port() {
    let vbr = "phase: aligned, contract: {nrt-vbr: {pcr: 424 kb/s, scr: 106 kb/s, mbs: 21}}";
    let yaml = shared(&[vbr, "phase: aligned"], PLAIN);
    let yaml = yaml.replace("to: y-0, rate: 424 kb/s", "to: y-0, rate: 212 kb/s");
    let cell = 1472.0 / 31.0;
    // The one for which the line makes up is 1 ms more of the tolerance.
    let burst = cell * (32.0 + 60.0 / 4.0 + 1.0 / 4.0);
    let t = (burst - 1500.0 - cell) / (0.75 * cell);
    near(delay(&yaml, "n0"), (1500.0 + cell * (1.0 + t)) / 26.5 - t);
    // With a line of its own 32 cells at once, and 20 more in as many slots.
    let alone = yaml.replace("line: l, ", "");
    near(delay(&alone, "n0"), 52.0 * cell / 26.5 - 20.0);
    // Nothing holds what is not shaped.
    let free = yaml.replacen("phase: aligned,", "shaped: false, phase: aligned,", 1);
    near(delay(&free, "n0"), 51.0 * 1500.0 / 26.5);
}

/// A VPN's packets have two labels between edges, 8 B.
#[test]
fn labels_count() {
    let yaml = "schema_version: 1
topology:
  nodes: [a, pe1, p, pe2, z]
  links:
    in: {from: a, to: pe1, rate: 2 Mb/s, delay: 0 s, policy: F}
    one: {from: pe1, to: p, rate: 2 Mb/s, delay: 0 s, policy: F}
    two: {from: p, to: pe2, rate: 2 Mb/s, delay: 0 s, policy: F}
    off: {from: pe2, to: z, rate: 2 Mb/s, delay: 0 s, policy: F}
  mpls: {pe: [pe1, pe2], p: [p]}
policies:
  F: {fifo: {limit: 50 packets}}
traffic:
  - flow: {name: f, class: data, from: a, to: z, source: {cbr: {rate: 400 kb/s, packet: 500 B}}}
measurement: {duration: 1 s, interval: 100 ms}
runs: {count: 1}
";
    // Popped one hop before the end, one is left there.
    for (link, bytes) in [
        ("in", 500.0),
        ("one", 508.0),
        ("two", 504.0),
        ("off", 500.0),
    ] {
        near(delay(yaml, link), bytes * 8.0 / 2000.0);
    }
    near(owd(&of(yaml, 0), "data"), 2012.0 * 8.0 / 2000.0);
}

/// Of each link what its policer lets pass, 10 kB and then 1 Mb/s, comes at 2 Mb/s: 18.5 kB within
/// 68 ms.
#[test]
fn policers_where_packets_arrive_bound_the_next_port() {
    let police = |exceed: &str| {
        let policy = format!(
            "  F: {{fifo: {{limit: 50 packets}}}}\n  I: {{class-based: {{classes: [{{name: class-default, police: {{rate: 1 Mb/s, burst: 10 kB{exceed}}}}}]}}}}\n"
        );
        let yaml = two_hops("r", "", &[TCP, TCP]).replace("rate: 10 Mb/s", "rate: 3 Mb/s");
        let yaml = yaml.replace("  F: {fifo: {limit: 50 packets}}\n", &policy);
        let arrives = "to: r, rate: 2 Mb/s, delay: 0 s, policy: F";
        yaml.replace(arrives, &format!("{arrives}, input_policy: I"))
    };
    near(
        delay(&police(""), "out"),
        2.0 * 18_500.0 * 8.0 / 3000.0 - 68.0,
    );
    // One that marks lets all pass.
    let marks = queue(&police(", exceed: {set-dscp: cs1}"), "out");
    near(most(&marks).0, 51.0 * 4.0);
    // At the peak rate where what exceeds that is dropped.
    let peak = police(", peak_rate: 1200 kb/s, exceed: transmit, violate: drop");
    let least = delay(&peak, "out");
    assert!((30e-3..204e-3).contains(&least), "{least}");
}

/// The full queue of an input for an output, with a packet that crosses: 6 packets at 4/3 Mb/s, the
/// share of one of three outputs.
#[test]
fn a_full_virtual_output_queue_is_a_bound() {
    let switch = "{name: r, switch: {architecture: cioq, speedup: 2, fabric: {parallel: {}}, line_rate: 2 Mb/s, buffer: {limit: 5 packets}}}";
    let found = of(&two_hops(switch, "", &[TCP, TCP]), 0);
    let voq = found.queues.iter().find(|q| q.queue == "ha/out").unwrap();
    near(most(voq).0, 6.0 * 12.0 * 3.0 / 4.0);
    assert!(most(voq).1 == "limit" && !voq.lossless, "{voq:#?}");
}

/// Three packets of 1000 B at once, then one each 10 ms.
#[test]
fn a_capture_is_bounded_by_what_it_holds() {
    let mut file = Pcap::default();
    for ms in [0_u64, 0, 0, 10, 20] {
        let packet = udp4("10.0.0.1:9", "10.0.0.2:9", 0, 972);
        file.record(1_000_000_000 + ms * 1_000_000, &ethernet(&packet));
    }
    let bytes = file.finish();
    let yaml = |keys: &str| {
        format!(
            "schema_version: 1
topology:
  nodes: [a, b]
  links: {{wan: {{from: a, to: b, rate: 1 Mb/s, delay: 0 s, policy: F}}}}
policies: {{F: {{fifo: {{limit: 2 GB}}}}}}
traffic:
  - capture: {{name: c, file: c.pcap, from: a, to: b{keys}}}
measurement: {{duration: 1 s, interval: 100 ms}}
"
        )
    };
    let of = |keys: &str| {
        let files = [("c.pcap", bytes.clone())];
        let found = with(&yaml(keys), files, 0);
        found.classes[0].owd
    };
    near(of("").unwrap(), 3.0 * 8.0);
    // Ten times as fast, 24 kb come in a time in which 1 kb is sent, then 16 kb in 2 ms.
    near(of(", speed: 10").unwrap(), 5.0 * 8.0 - 2.0);
    // Each 25 ms, 40 kb: too much.
    assert_eq!(of(", loop: true"), None);
    assert!(of(", loop: true, speed: 0.5").is_some());
}

/// Of both links together no more comes than the shaper before has let go: 3 kB, and 1 Mb/s, up to
/// the transmission of a packet late, 1.2 ms: 3150 B.
#[test]
fn a_shaper_bounds_what_comes_to_the_next_port() {
    let yaml = two_hops("r", "", &[TCP, TCP]);
    let shaped = "policies:\n  S: {class-based: {classes: [{name: class-default, shape: {rate: 1 Mb/s, burst: 3 kB}, queue_limit: 50 packets}]}}\n";
    let yaml = yaml.replace("policies:\n", shaped);
    let yaml = yaml.replace("rate: 10 Mb/s, delay: 0 s, policy: F}\n    back", "rate: 10 Mb/s, delay: 0 s, policy: S}\n    more: {from: z, to: y, rate: 2 Mb/s, delay: 0 s, policy: F}\n    home: {from: y, to: z, rate: 2 Mb/s, delay: 0 s, policy: F}\n    back");
    let yaml = yaml
        .replace("r, z]", "r, z, y]")
        .replace("to: z, class", "to: y, class");
    // Over the line 1500 B come at once, and 10 Mb/s until (10 - 1) t = 13.2 kb.
    let t = 13.2 / 9.0;
    near(delay(&yaml, "more"), (25.2 + t) / 2.0 - t);
    // The same beside a class without a shaper, whose packets do not go there.
    let beside = |of: &str| {
        let class =
            format!("classes: [{{name: v, match: {{dscp: ef}}, {of}}}, {{name: class-default, ");
        let yaml = yaml.replace(
            "classes: [{name: class-default, shape: {rate: 1 Mb/s, burst: 3 kB}, ",
            &class,
        );
        let yaml = yaml.replace("name: f0,", "name: f0, dscp: ef,");
        yaml.replace("from: b, to: y", "from: b, to: z")
    };
    let shaped = beside("shape: {rate: 1 Mb/s, burst: 3 kB}, queue_limit: 50 packets");
    near(delay(&shaped, "more"), (25.2 + t) / 2.0 - t);
    // What has priority and is policed always comes late by its own delay: a packet in front, and
    // one that came over a slower line, less the 20 B of the shortest.
    let policed = beside("priority: {rate: 1 Mb/s, burst: 3 kB, police: always}");
    let late = (1500.0 + 1500.0 - 20.0) * 8.0 / 10_000.0;
    let t = (24.0 + late - 12.0) / 9.0;
    near(delay(&policed, "more"), (24.0 + late + t) / 2.0 - t);
    // One that acts only while others wait lets all pass.
    let sometimes = beside("priority: {rate: 1 Mb/s, burst: 3 kB}");
    near(delay(&sometimes, "more"), 51.0 * 6.0);
}
