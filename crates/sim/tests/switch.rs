//! Switches as nodes: against the state machine driven directly, against a node without queues at
//! its inputs, and against what follows from their definition.

use crate::common;
use std::any::Any;
use std::fmt::Write;

use spillgate_core::{DropReason, Dropped, Drops, Dur, FlowKey, Packet, Rate, Rng, Time};
use spillgate_events::WinnerTree;
use spillgate_measure::table::{Metric, Scope};
use spillgate_nodes::switch::{FabricOutbox, Switch};
use spillgate_queueing::Discipline;
use spillgate_scenario::plan::Plan;
use spillgate_sim::tap::{Place, PortView, Seen, Tap};
use spillgate_sim::{Engine, Outcome, Stop, World, layout};

const PORTS: u64 = 4;
/// Of all links.
const RATE: u64 = 10_000_000;
const DELAY: Dur = Dur::from_ms(1);

/// Hosts `a0` ... send over links `i0` ... to the node `s`, and from there over `o0` ... to `b0`
/// .... Each sends to each, `load` of a line in all, but half of what `a0` sends is for `b0`.
fn scenario(node: &str, policies: &str, load: f64, out: &str, extra: &str) -> String {
    let mut yaml = format!("schema_version: 1\ntopology:\n  nodes: [{node}");
    for i in 0..PORTS {
        write!(yaml, ", a{i}, b{i}").unwrap();
    }
    yaml += "]\n  links:\n";
    for i in 0..PORTS {
        writeln!(
            yaml,
            "    i{i}: {{from: a{i}, to: s, rate: 10 Mb/s, delay: 1 ms}}"
        )
        .unwrap();
        writeln!(
            yaml,
            "    o{i}: {{from: s, to: b{i}, rate: 10 Mb/s, delay: 1 ms{out}}}"
        )
        .unwrap();
    }
    writeln!(yaml, "{extra}{policies}traffic:").unwrap();
    for i in 0..PORTS {
        for o in 0..PORTS {
            let share = match (i, o) {
                (0, 0) => 0.5,
                (0, _) => 0.5 / (PORTS - 1) as f64,
                _ => 1.0 / PORTS as f64,
            };
            let rate = load * share * RATE as f64 / 1e3;
            writeln!(yaml, "  - flow: {{name: f{i}-{o}, class: k{o}, from: a{i}, to: b{o}, source: {{poisson: {{rate: {rate:.3} kb/s, packet: {{uniform: {{min: 64 B, max: 1500 B}}}}}}}}}}").unwrap();
        }
    }
    yaml + "measurement: {warmup: 500 ms, duration: 3 s, interval: 100 ms}\nruns: {count: 1, seed: 9}\n"
}

fn switch(keys: &str) -> String {
    format!("{{name: s, switch: {{{keys}}}}}")
}

/// What a tap has seen: by link into the switch what was sent there, and what came to the ports of
/// its outputs.
#[derive(Default)]
struct Log {
    sent: Vec<(Time, Packet)>,
    crossed: Vec<(Time, u32, u32, u32)>,
    lost: Vec<(Time, u32, u32, DropReason)>,
    /// At ports.
    dropped: Vec<(Time, u32, u32, u32)>,
}

impl Tap for Log {
    fn sent(&mut self, now: Time, seen: Seen<'_>, _: u32) {
        self.sent.push((now, *seen.packet));
    }
    fn offered(&mut self, port: &PortView<'_>, seen: Seen<'_>) {
        let p = seen.packet;
        self.crossed.push((port.now, port.link, p.flow, p.seq));
    }
    fn lost(&mut self, now: Time, place: Place, lost: &Dropped, _: Seen<'_>) {
        let p = lost.packet;
        match place {
            Place::Kept(..) => self.lost.push((now, p.flow, p.seq, lost.reason)),
            Place::Port(link, _) => self.dropped.push((now, link, p.flow, p.seq)),
            _ => {}
        }
    }
    fn into_any(self: Box<Self>) -> Box<dyn Any> {
        self
    }
}

fn outcome(plan: &Plan, engine: Engine) -> Outcome {
    let mut world = World::<WinnerTree>::on(engine, &plan.variants[0].world, 9, 0, false);
    while world.run(u64::MAX) != Stop::Done {}
    assert_eq!(world.fault(), None);
    world.outcome()
}

fn value(plan: &Plan, of: &Outcome, scope: Scope, name: &str, metric: Metric) -> f64 {
    let layout = layout(&plan.variants[0].world);
    let at = layout.position(scope, name, metric);
    of.values[at.unwrap_or_else(|| panic!("no {metric:?} of {name}"))]
}

fn sum(plan: &Plan, of: &Outcome, scope: Scope, metric: Metric) -> f64 {
    let layout = layout(&plan.variants[0].world);
    let all = layout.keys.iter().zip(&of.values);
    let wanted = all.filter(|(k, _)| k.scope == scope && k.metric == metric);
    wanted.map(|(_, v)| v).sum()
}

const AQM: &str = "policies: {P: {fifo: {limit: 12 packets, aqm: {red: {min_th: 2, max_th: 8}}}}, C: {fifo: {limit: 30 packets, aqm: {codel: {target: 2 ms, interval: 20 ms}}}}}\n";

/// Switches of every kind.
const KINDS: [(&str, &str); 9] = [
    ("architecture: voq, buffer: {limit: 20 packets}", ""),
    (
        "architecture: voq, fabric: {crossbar: {cell: packets}}, buffer: {limit: 9 kB}",
        "",
    ),
    (
        "architecture: cioq, speedup: 1.5, fabric: {crossbar: {cell: 200 B, matching: {pim: {}}}}, buffer: {limit: 12 kB, per: shared}",
        "",
    ),
    (
        "architecture: cioq, speedup: 1.1, fabric: {parallel: {}}, buffer: {limit: 20 packets}",
        "",
    ),
    (
        "architecture: cioq, speedup: 4/3, fabric: {crossbar: {cell: packets, matching: {longest-queue-first: {}}}}, buffer: {limit: 6 packets, per: input}",
        "",
    ),
    (
        "architecture: input-queued, buffer: {limit: 25 packets}",
        "",
    ),
    (
        "architecture: input-queued, speedup: 2, fabric: {crossbar: {cell: packets}}, buffer: {limit: 3 packets}",
        "",
    ),
    ("architecture: voq, policy: P", AQM),
    (
        "architecture: cioq, speedup: 1.2, fabric: {parallel: {}}, policy: C",
        AQM,
    ),
];

/// The switch of a plan, driven by its arrivals: when each packet reaches its output, and what is
/// lost.
fn driven(
    plan: &Plan,
    arrivals: &[(Time, u16, u16, Packet)],
    window: (Time, Time),
) -> (Log, Switch) {
    let world = &plan.variants[0].world;
    let keys: Vec<FlowKey> = world.flows.iter().map(|f| f.key).collect();
    let mut switch = world.switches().next().unwrap().recipe.build(&keys.into());
    switch.measure(window.0, window.1);
    let mut rng = Rng::named(9, 0, "nodes/s/switch", "switch");
    let (mut out, mut log) = (FabricOutbox::default(), Log::default());
    let mut note = |now: Time, out: &mut FabricOutbox| {
        for c in out.crossed.drain(..) {
            let link = world.switches().next().unwrap().outputs[usize::from(c.output)];
            log.crossed.push((now, link, c.packet.flow, c.packet.seq));
        }
        for l in out.lost.drain(..) {
            let p = l.dropped.packet;
            log.lost.push((now, p.flow, p.seq, l.dropped.reason));
        }
    };
    for (at, input, output, packet) in arrivals {
        while let Some(due) = switch.next_wake().filter(|due| due < at) {
            switch.wake(due, &mut rng, &mut out);
            note(due, &mut out);
        }
        switch.offer(*at, (*input, *output), *packet, &mut rng, &mut out);
        note(*at, &mut out);
    }
    (log, switch)
}

/// When packets reach the switch: each link is a server of its own.
fn arrivals(plan: &Plan, sent: &[(Time, Packet)]) -> Vec<(Time, u16, u16, Packet)> {
    let rate = Rate::from_bps(RATE).unwrap();
    let mut free = [Time::ZERO; PORTS as usize];
    let mut all = Vec::new();
    for (at, packet) in sent {
        let flow = &plan.variants[0].world.flows[packet.flow as usize].name;
        let ports: Vec<u16> = flow[1..].split('-').map(|p| p.parse().unwrap()).collect();
        let free = &mut free[usize::from(ports[0])];
        *free = (*free).max(*at) + rate.tx_time(packet.l3_len.into());
        let packet = Packet {
            len: packet.l3_len.into(),
            ..*packet
        };
        all.push((*free + DELAY, ports[0], ports[1], packet));
    }
    all.sort_by_key(|a| a.0);
    all
}

#[test]
fn the_node_is_the_state_machine() {
    for (keys, policies) in KINDS {
        let yaml = scenario(&switch(keys), policies, 0.97, "", "");
        let plan = common::plan(&yaml);
        let tap = Box::new(Log::default());
        let mut world = World::<WinnerTree>::tapped(&plan.variants[0].world, 9, 0, false, tap);
        while world.run(u64::MAX) != Stop::Done {}
        let of = world.outcome();
        let log = world
            .into_tap()
            .unwrap()
            .into_any()
            .downcast::<Log>()
            .unwrap();
        let (start, end) = (
            Time::ZERO + Dur::from_ms(500),
            Time::ZERO + Dur::from_ms(3_500),
        );
        let all = arrivals(&plan, &log.sent);
        let (direct, switch) = driven(&plan, &all, (start, end));
        let outputs = &plan.variants[0].world.switches().next().unwrap().outputs;
        let mut at_node: Vec<_> = log
            .crossed
            .iter()
            .filter(|c| outputs.contains(&c.1))
            .collect();
        // The run ends before all have arrived that were sent after the measured period; what is of
        // one instant has no order.
        let mut by_hand: Vec<_> = direct.crossed.iter().take_while(|c| c.0 < end).collect();
        at_node.retain(|c| c.0 < end);
        at_node.sort();
        by_hand.sort();
        assert!(at_node.len() > 10_000, "{keys}: {}", at_node.len());
        assert_eq!(at_node, by_hand, "{keys}");
        let early = |of: &Log| -> Vec<_> {
            let lost = of.lost.iter().filter(|l| l.0 < end);
            lost.copied().collect()
        };
        assert!(!direct.lost.is_empty(), "{keys}");
        assert_eq!(early(&log), early(&direct), "{keys}");
        // What it reports is what the state machine has counted.
        let value = |scope, name: &str, metric| value(&plan, &of, scope, name, metric);
        let secs = 3.0;
        for i in 0..PORTS as u16 {
            let (counts, backlog) = (switch.counts_of_input(i), switch.backlog_of_input(end, i));
            let name = format!("i{i}");
            for (metric, wanted) in [
                (Metric::Offered, counts.offered_bytes as f64 * 8.0 / secs),
                (Metric::Carried, counts.carried_bytes as f64 * 8.0 / secs),
                (
                    Metric::LossRatio,
                    counts.lost_packets() as f64 / counts.offered_packets as f64,
                ),
                (Metric::SojournMean, counts.waited_mean()),
                (Metric::BacklogPacketsMean, backlog.packets_mean),
                (Metric::BacklogBytesMax, backlog.bytes_max as f64),
                (
                    Metric::DropsInputQueue,
                    counts.lost[DropReason::InputQueue.index()] as f64,
                ),
                (
                    Metric::DropsEarly,
                    counts.lost[DropReason::Early.index()] as f64,
                ),
            ] {
                assert_eq!(
                    value(Scope::SwitchInput, &name, metric),
                    wanted,
                    "{keys}: {name} {metric:?}"
                );
            }
            let name = format!("o{i}");
            let backlog = switch.backlog_of_output(end, i);
            assert_eq!(
                value(Scope::SwitchOutput, &name, Metric::BacklogPacketsMean),
                backlog.packets_mean
            );
            if let Some(slots) = switch.slots(end, i) {
                let shares = [Metric::SlotsUsed, Metric::SlotsWasted, Metric::SlotsIdle]
                    .map(|m| value(Scope::SwitchOutput, &name, m));
                assert_eq!(shares, slots.shares(), "{keys}");
                assert!((shares.iter().sum::<f64>() - 1.0).abs() < 1e-12);
                // A crossbar carries what its line does: packets fill cells to the last but one.
                assert!(shares[0] > 0.3 && shares[1] > 0.0, "{keys}: {shares:?}");
            }
            if keys.contains("voq") || keys.contains("cioq") {
                for o in 0..PORTS as u16 {
                    let backlog = switch.backlog(end, i, o);
                    let name = format!("i{i}/o{o}");
                    assert_eq!(
                        value(Scope::Voq, &name, Metric::BacklogPacketsMean),
                        backlog.packets_mean
                    );
                    assert_eq!(
                        value(Scope::Voq, &name, Metric::BacklogPacketsMax),
                        f64::from(backlog.packets_max)
                    );
                }
            }
        }
    }
}

/// An output-queued switch is a node that passes packets on at once.
#[test]
fn an_output_queued_switch_is_a_plain_node() {
    let policies = "policies: {R: {fifo: {limit: 20 packets, aqm: {red: {}}}}}\n";
    let yaml = |node: &str| scenario(node, policies, 1.05, ", policy: R", "");
    let plain = common::plan(&yaml("s"));
    let switch = common::plan(&yaml(&switch("architecture: output-queued")));
    let [a, b] = [&plain, &switch].map(|plan| outcome(plan, Engine::Express));
    assert_eq!(a.digest, b.digest);
    assert_eq!(outcome(&switch, Engine::Plain).digest, a.digest);
    for flow in plain.variants[0].world.flows.iter().map(|f| &*f.name) {
        for metric in [
            Metric::OwdMax,
            Metric::OwdMean,
            Metric::PacketsReceived,
            Metric::DropsEarly,
        ] {
            let of = |plan, out| value(plan, out, Scope::Flow, flow, metric);
            assert_eq!(
                of(&plain, &a).to_bits(),
                of(&switch, &b).to_bits(),
                "{flow} {metric:?}"
            );
        }
    }
    // The delay through it is the time in the queue of the output.
    for o in 0..PORTS {
        let of = |scope, name: &str, metric| value(&switch, &b, scope, name, metric);
        let link = format!("o{o}");
        let through = of(Scope::SwitchOutput, &link, Metric::SwitchDelayMean);
        let queue = of(Scope::Queue, &format!("{link}/fifo"), Metric::SojournMean);
        assert!(
            (through - queue).abs() <= 1e-12 * queue,
            "{through} {queue}"
        );
        let offered = of(Scope::SwitchOutput, &link, Metric::Offered);
        assert_eq!(
            offered,
            of(Scope::Queue, &format!("{link}/fifo"), Metric::Offered)
        );
    }
    assert_eq!(
        value(&switch, &b, Scope::Switch, "s", Metric::LossInput),
        0.0
    );
    assert!(value(&switch, &b, Scope::Switch, "s", Metric::LossOutput) > 0.01);
}

/// Every packet arrives or is lost at one place, for one reason; both engines and any number of
/// threads agree.
#[test]
fn every_packet_is_accounted_for() {
    for (keys, policies) in KINDS {
        let more = "R: {fifo: {limit: 8 packets, aqm: {red: {min_th: 2, max_th: 6}}}}";
        let policies = match policies {
            "" => format!("policies: {{{more}}}\n"),
            some => some.replace("policies: {", &format!("policies: {{{more}, ")),
        };
        let yaml = scenario(&switch(keys), &policies, 1.02, ", policy: R", "")
            .replace("source:", "stop: 2 s, source:")
            .replace(
                "warmup: 500 ms, duration: 3 s",
                "warmup: 0 s, duration: 9 s",
            );
        let plan = common::plan(&yaml.replace("count: 1", "count: 3"));
        let of = outcome(&plan, Engine::Plain);
        let mut lost = 0.0;
        for reason in DropReason::ALL {
            let metric = Metric::drops(reason);
            let inside =
                sum(&plan, &of, Scope::SwitchInput, metric) + sum(&plan, &of, Scope::Queue, metric);
            let by_flow = sum(&plan, &of, Scope::Flow, metric);
            assert_eq!(by_flow, inside, "{keys}: {}", metric.name());
            assert_eq!(by_flow, sum(&plan, &of, Scope::Class, metric));
            lost += by_flow;
        }
        assert!(lost > 0.0, "{keys}");
        let total = |metric| sum(&plan, &of, Scope::Flow, metric);
        assert_eq!(
            total(Metric::PacketsSent),
            total(Metric::PacketsReceived) + lost
        );
        // All losses are in the switch, so its loss ratios are those of all packets, which all came
        // to it.
        let of_switch = |metric| value(&plan, &of, Scope::Switch, "s", metric);
        let ratio = lost / total(Metric::PacketsSent);
        assert!(
            (of_switch(Metric::LossRatio) - ratio).abs() < 1e-12,
            "{keys}"
        );
        let apart = of_switch(Metric::LossInput) + of_switch(Metric::LossOutput);
        assert!((apart - ratio).abs() < 1e-12, "{keys}");
        // Not less than the queue of its output alone, and what waited at inputs, in sum.
        assert!(
            of_switch(Metric::SwitchDelayMean)
                > sum(&plan, &of, Scope::SwitchInput, Metric::SojournMean) / PORTS as f64 / 2.0
        );
        assert_eq!(outcome(&plan, Engine::Express).digest, of.digest, "{keys}");
        let [one, three] = [1, 3].map(|threads| common::digests(&common::run(&plan, threads)));
        assert_eq!(one, three, "{keys}");
        assert_eq!(one[&(0, 0)], of.digest);
    }
}

/// What waits at an input for a link that fails crosses the fabric, and is lost at the port. A flow
/// of 40 kb/s beside one that fills the buffer of their input: each packet of it finds its link of
/// the fabric idle, so none needs the buffer.
#[test]
fn who_would_not_wait_loses_nothing_to_who_fills_the_input() {
    for buffer in [
        "{limit: 20 packets, per: input}",
        "{limit: 30 kB, per: shared}",
        "{limit: 1400 B}",
    ] {
        let node = switch(&format!(
            "architecture: cioq, speedup: 1.1, fabric: {{parallel: {{}}}}, buffer: {buffer}"
        ));
        let yaml = scenario(&node, "", 0.5, "", "")
            .split("traffic:")
            .next()
            .unwrap()
            .to_owned()
            + "traffic:\n"
            + "  - flow: {name: fills, from: a0, to: b0, source: {cbr: {rate: 9 Mb/s, packet: 1500 B}}}\n"
            + "  - flow: {name: small, from: a0, to: b1, source: {poisson: {rate: 40 kb/s, packet: 500 B}}}\n"
            + "measurement: {warmup: 500 ms, duration: 20 s}\nruns: {count: 1, seed: 9}\n";
        let plan = common::plan(&yaml);
        for engine in [Engine::Plain, Engine::Express] {
            let of = outcome(&plan, engine);
            let lost = |flow| value(&plan, &of, Scope::Flow, flow, Metric::LossRatio);
            assert!(lost("fills") > 0.5, "{buffer}: {}", lost("fills"));
            assert_eq!(lost("small"), 0.0, "{buffer}");
        }
    }
}

#[test]
fn what_waits_for_a_link_that_fails_is_lost_at_its_port() {
    let failures =
        "  failures:\n    - {link: o0, at: 1 s, repair: 1500 ms}\n  routing: {detection: 300 ms}\n";
    let keys = "architecture: voq, buffer: {limit: 20 packets}";
    let yaml = scenario(&switch(keys), "", 0.9, "", failures);
    let plan = common::plan(
        &yaml
            .replace("source:", "stop: 2 s, source:")
            .replace("duration: 3 s", "duration: 9 s")
            .replace("warmup: 500 ms", "warmup: 0 s"),
    );
    let of = outcome(&plan, Engine::Plain);
    assert_eq!(outcome(&plan, Engine::Express).digest, of.digest);
    let value = |scope, name: &str, metric| value(&plan, &of, scope, name, metric);
    let down = value(Scope::Queue, "o0/fifo", Metric::DropsLinkDown);
    assert!(down > 100.0, "{down}");
    assert_eq!(down, sum(&plan, &of, Scope::Flow, Metric::DropsLinkDown));
    assert_eq!(down, value(Scope::Class, "k0", Metric::DropsLinkDown));
    assert_eq!(
        sum(&plan, &of, Scope::SwitchInput, Metric::DropsLinkDown),
        0.0
    );
}

/// Losses at outputs count in the measured period only, as those at inputs do: what is too much
/// ends before it.
#[test]
fn losses_in_the_warm_up_do_not_count() {
    let light =
        "  - flow: {name: light, from: a1, to: b1, source: {cbr: {rate: 1 Mb/s, packet: 500 B}}}\n";
    let policies = "policies: {R: {fifo: {limit: 20 packets}}}\n";
    let yaml = |keys: &str, warmup: &str| {
        scenario(&switch(keys), policies, 1.5, ", policy: R", "")
            .replace("source:", "stop: 200 ms, source:")
            .replace("measurement:", &format!("{light}measurement:"))
            .replace("warmup: 500 ms", &format!("warmup: {warmup}"))
    };
    let kinds = [
        ("architecture: output-queued", Metric::LossOutput),
        (
            "architecture: voq, buffer: {limit: 20 packets}",
            Metric::LossInput,
        ),
    ];
    for (keys, lost) in kinds {
        for (warmup, loses) in [("0 s", true), ("500 ms", false)] {
            let plan = common::plan(&yaml(keys, warmup));
            let of = outcome(&plan, Engine::Plain);
            for metric in [lost, Metric::LossRatio] {
                let share = value(&plan, &of, Scope::Switch, "s", metric);
                assert_eq!(share > 0.0, loses, "{keys}, {warmup}: {metric:?} {share}");
            }
        }
    }
}

/// Links that are not listed are no ports: what takes them passes at once.
#[test]
fn what_takes_other_links_passes_the_switch_by() {
    let keys = "architecture: voq, inputs: [i1, i0], outputs: [o2, o1, o0]";
    let plan = common::plan(&scenario(&switch(keys), "", 0.5, "", ""));
    let of = outcome(&plan, Engine::Plain);
    let world = &plan.variants[0].world;
    let names = |links: &[u32]| {
        links
            .iter()
            .map(|l| world.links[*l as usize].name.clone())
            .collect::<Vec<_>>()
    };
    assert_eq!(
        names(&world.switches().next().unwrap().inputs),
        ["i1", "i0"]
    );
    assert_eq!(
        names(&world.switches().next().unwrap().outputs),
        ["o2", "o1", "o0"]
    );
    assert_eq!(world.switches().next().unwrap().recipe.ports(), 3);
    let offered = |scope, name: &str| value(&plan, &of, scope, name, Metric::Offered);
    let flows = |names: &[&str]| names.iter().map(|n| offered(Scope::Flow, n)).sum::<f64>();
    // Up to some packets on their way at the edges of the period.
    let near = |a: f64, b: f64| assert!((a - b).abs() < 0.01 * b, "{a} {b}");
    near(
        offered(Scope::SwitchInput, "i1"),
        flows(&["f1-0", "f1-1", "f1-2"]),
    );
    near(offered(Scope::SwitchOutput, "o2"), flows(&["f0-2", "f1-2"]));
    near(offered(Scope::Voq, "i0/o2"), flows(&["f0-2"]));
}

/// An output of a switch, driven with it: the AQM is told what waits at the inputs before it
/// judges. What comes to the port is served first, then arrives what the node has let go, at each
/// instant.
fn driven_with_output(
    plan: &Plan,
    arrivals: &[(Time, u16, u16, Packet)],
    output: u16,
) -> Vec<(Time, u32, u32, u32)> {
    let world = &plan.variants[0].world;
    let keys: std::sync::Arc<[FlowKey]> = world.flows.iter().map(|f| f.key).collect();
    let plan = &world.switches().next().unwrap();
    let link = plan.outputs[usize::from(output)];
    let mut switch = plan.recipe.build(&keys);
    let mut queue = world.links[link as usize].discipline.build(&keys);
    queue.watch_upstream(plan.recipe.nu());
    let mut of_switch = Rng::named(9, 0, "nodes/s/switch", "switch");
    let mut of_queue = Rng::named(
        9,
        0,
        &format!("links/{}", world.links[link as usize].name),
        "queue",
    );
    let (mut out, mut drops, mut lost) = (FabricOutbox::default(), Drops::new(), Vec::new());
    let (mut free, mut told) = (Time::ZERO, (0, 0));
    let mut next = 0;
    loop {
        let serves = (queue.backlog_packets() > 0).then_some(free);
        let arrives = arrivals.get(next).map(|a| a.0);
        let due = [serves, arrives, switch.next_wake()];
        let Some(now) = due.into_iter().flatten().min() else {
            return lost;
        };
        if serves == Some(now) {
            // Below.
        } else if arrives == Some(now) {
            let (_, input, to, packet) = arrivals[next];
            next += 1;
            if to == output {
                queue.upstream_arrival(now, packet.len);
            }
            switch.offer(now, (input, to), packet, &mut of_switch, &mut out);
        } else {
            switch.wake(now, &mut of_switch, &mut out);
        }
        let waiting = switch.waiting_for(output);
        if waiting != told {
            told = waiting;
            queue.set_upstream(now, waiting.0, waiting.1);
        }
        out.lost.clear();
        let mut serve = |queue: &mut Discipline, drops: &mut Drops, rng: &mut Rng| {
            if free <= now {
                if let Some(sent) = queue.dequeue(now, rng, drops) {
                    free = now + Rate::from_bps(RATE).unwrap().tx_time(sent.len);
                    queue.transmits_until(sent.leaf, free);
                }
            }
        };
        serve(&mut queue, &mut drops, &mut of_queue);
        for crossed in out.crossed.drain(..).filter(|c| c.output == output) {
            let packet = Packet {
                arrived: now,
                ..crossed.packet
            };
            queue.enqueue(now, packet, &mut of_queue, &mut drops);
            serve(&mut queue, &mut drops, &mut of_queue);
        }
        lost.extend(
            drops
                .as_slice()
                .iter()
                .map(|d| (now, link, d.packet.flow, d.packet.seq)),
        );
        drops.clear();
    }
}

/// The congestion measure, in packets and in bytes: the node's AQMs drop what they drop when they
/// are told by hand, and more than without it.
#[test]
fn aqms_at_outputs_know_what_waits_at_inputs() {
    const PACKETS: &str = "{red: {min_th: 4, max_th: 12, weight: 0.05}}";
    const BYTES: &str = "{wred: {unit: bytes, exponential_weighting_constant: 4, dscp: {default: {min: 3000, max: 9000}}}}";
    for (fabric, aqm) in [
        ("parallel: {}", PACKETS),
        ("crossbar: {cell: packets}", PACKETS),
        ("crossbar: {}", PACKETS),
        ("parallel: {}", BYTES),
    ] {
        let red = format!("policies: {{R: {{fifo: {{limit: 40 packets, aqm: {aqm}}}}}}}\n");
        let drops = ["", ", congestion_measure: {nu: 0.5}"].map(|measure| {
            let keys = format!("architecture: cioq, speedup: 1.1, buffer: {{limit: 20 packets}}, fabric: {{{fabric}}}{measure}");
            let yaml = scenario(&switch(&keys), &red, 1.05, ", policy: R", "");
            let plan = common::plan(&yaml);
            let tap = Box::new(Log::default());
            let mut world = World::<WinnerTree>::tapped(&plan.variants[0].world, 9, 0, false, tap);
            while world.run(u64::MAX) != Stop::Done {}
            let log = world.into_tap().unwrap().into_any().downcast::<Log>().unwrap();
            let all = arrivals(&plan, &log.sent);
            let end = Time::ZERO + Dur::from_ms(3_500);
            let [plain, express] = [Engine::Plain, Engine::Express].map(|e| outcome(&plan, e).digest);
            assert_eq!(plain, express);
            let mut found = 0;
            for output in 0..PORTS as u16 {
                let link = plan.variants[0].world.switches().next().unwrap().outputs[usize::from(output)];
                let early = |d: &&(Time, u32, u32, u32)| d.0 < end && d.1 == link;
                let at_node: Vec<_> = log.dropped.iter().filter(early).copied().collect();
                let by_hand = driven_with_output(&plan, &all, output);
                let by_hand: Vec<_> = by_hand.iter().filter(early).copied().collect();
                assert_eq!(at_node, by_hand, "{keys}");
                found += at_node.len();
            }
            found
        });
        assert!(
            drops[0] > 50 && drops[1] as f64 > 1.2 * drops[0] as f64,
            "{fabric}, {aqm}: {drops:?}"
        );
    }
}

/// Time series of virtual output queues are what waits there, and both engines see the same.
#[test]
fn virtual_output_queues_have_time_series() {
    let keys = "architecture: voq, buffer: {limit: 20 packets}";
    let yaml =
        scenario(&switch(keys), "", 0.97, "", "").replace("interval: 100 ms", "interval: 1 ms");
    let plan = common::plan(&yaml);
    let of = common::same_series(&plan, 9);
    let of_voqs: Vec<_> = of
        .series
        .iter()
        .filter(|c| c.metric == "voq_backlog")
        .collect();
    let places: Vec<&str> = of_voqs.iter().map(|c| &*c.place).collect();
    assert_eq!(
        (places.len(), places[0], places[15]),
        (16, "i0/o0", "i3/o3")
    );
    for curve in of_voqs {
        let wanted = value(
            &plan,
            &of,
            Scope::Voq,
            &curve.place,
            Metric::BacklogPacketsMean,
        );
        let most = value(
            &plan,
            &of,
            Scope::Voq,
            &curve.place,
            Metric::BacklogPacketsMax,
        );
        let measured = || {
            curve
                .times()
                .zip(&curve.v)
                .filter(|(t, _)| *t > 0.5)
                .map(|(_, v)| *v)
        };
        let mean = measured().sum::<f64>() / measured().count() as f64;
        // A packet takes 0.6 ms of a line on average, so a sample differs from the mean of its
        // millisecond by less than one packet or so, whichever way: the mean of 3000 by less than
        // four standard errors of that.
        let close = 4.0 / 3000_f64.sqrt();
        assert!(
            (mean - wanted).abs() < close,
            "{}: {mean} {wanted}",
            curve.place
        );
        assert!(measured().fold(0.0, f64::max) <= most);
    }
    // A list names what has series, and nothing else does.
    let named = common::plan(&yaml.replace("interval: 1 ms", "interval: 1 ms, series: [s, o1]"));
    let of = common::same_series(&named, 9);
    let count = |metric| of.series.iter().filter(|c| c.metric == metric).count();
    assert_eq!((count("voq_backlog"), count("carried")), (16, 1));
    let links = common::plan(&yaml.replace("interval: 1 ms", "interval: 1 ms, series: [o1]"));
    let of = common::same_series(&links, 9);
    assert!(of.series.iter().all(|c| c.metric != "voq_backlog"));
}

/// Two packets of a backlogged flow wait or cross at its first switch, also where it crosses a
/// second one.
#[test]
fn a_backlogged_flow_keeps_its_first_switch_filled_only() {
    let of = |second: &str| {
        let plan = common::plan(&format!(
            "schema_version: 1
topology:
  nodes: [h, {{name: s, switch: {{architecture: voq}}}}, {{name: t{second}}}, d]
  links:
    in: {{from: h, to: s, rate: 10 Mb/s, delay: 1 ms}}
    between: {{from: s, to: t, rate: 10 Mb/s, delay: 1 ms}}
    out: {{from: t, to: d, rate: 10 Mb/s, delay: 1 ms}}
traffic:
  - flow: {{name: f, from: h, to: d, source: {{backlogged: {{packet: 1000 B}}}}}}
measurement: {{warmup: 0 s, duration: 2 s}}
"
        ));
        let of = common::same_series(&plan, 1);
        let layout = layout(&plan.variants[0].world);
        let value = |scope, name, metric| of.values[layout.position(scope, name, metric).unwrap()];
        [
            value(Scope::Voq, "in/between", Metric::BacklogPacketsMax),
            value(Scope::Link, "between", Metric::Carried),
            value(Scope::Flow, "f", Metric::LossRatio),
        ]
    };
    let (alone, followed) = (of(""), of(", switch: {architecture: voq}"));
    assert_eq!(alone, followed);
    // 16 cells of 64 B carry 1,000 B, less a packet at each edge of the period.
    let least = 10e6 * 1000.0 / 1024.0 - 2.0 * 8_000.0 / 2.0;
    assert!(alone[0] <= 2.0 && alone[1] >= least, "{alone:?}");
}
