//! A provider's MPLS network: bytes on every link, EXP bits on every label, by hand.

use crate::common;
use std::sync::Arc;

use spillgate_events::WinnerTree;
use spillgate_measure::table::{Metric, Scope};
use spillgate_scenario::plan::Plan;
use spillgate_sim::Finished;

/// Two sites behind a network of two provider edges with one node between them. At 8 Mb/s a byte
/// takes 1 us.
const NODES: &str = "[a, ce1, pe1, p, pe2, ce2, b]";
const LINKS: [(&str, &str, &str); 6] = [
    ("lan-a", "a", "ce1"),
    ("in", "ce1", "pe1"),
    ("core1", "pe1", "p"),
    ("core2", "p", "pe2"),
    ("out", "pe2", "ce2"),
    ("lan-b", "ce2", "b"),
];

struct Case {
    mpls: &'static str,
    policies: &'static str,
    /// Keys of single links.
    links: &'static [(&'static str, &'static str)],
    flow: &'static str,
}

impl Default for Case {
    fn default() -> Self {
        Self {
            mpls: "",
            policies: "{}",
            links: &[],
            flow: "source: {cbr: {rate: 8 kb/s, packet: 100 B, phase: 0 s}}",
        }
    }
}

struct Ran(Arc<Plan>, Vec<Finished>);

impl Case {
    fn yaml(&self) -> String {
        let mut out = format!("schema_version: 1\ntopology:\n  nodes: {NODES}\n  links:\n");
        for (name, from, to) in LINKS {
            let more = self.links.iter().filter(|(l, _)| *l == name);
            let more: String = more.map(|(_, keys)| format!(", {keys}")).collect();
            out += &format!(
                "    {name}: {{from: {from}, to: {to}, rate: 8 Mb/s, duplex: true{more}}}\n"
            );
        }
        let (mpls, policies, flow) = (self.mpls, self.policies, self.flow);
        out += &format!(
            "  mpls: {{pe: [pe1, pe2], p: [p]{mpls}}}
policies: {policies}
traffic:
  - flow: {{name: f, from: a, to: b, {flow}}}
measurement: {{warmup: 0 s, duration: 1 s, interval: 100 ms}}
runs: {{count: 1, seed: 5}}
"
        );
        out
    }

    #[track_caller]
    fn run(&self) -> Ran {
        let plan = common::plan(&self.yaml());
        let finished = common::run(&plan, 1);
        Ran(plan, finished)
    }
}

impl Ran {
    #[track_caller]
    fn of(&self, scope: Scope, name: &str, metric: Metric) -> f64 {
        common::values(&self.0, &self.1, scope, name, metric)[0]
    }

    /// Bytes that a link carried.
    fn bytes(&self, link: &str) -> f64 {
        self.of(Scope::Link, link, Metric::Carried) / 8.0
    }

    fn labels(&self) -> common::LabelCounts {
        common::labels::<WinnerTree>(&self.0, 5)
    }
}

/// Ten packets of 100 B: two labels from the edge, one after the penultimate hop, none behind the
/// other edge. 100 + 100 + 108 + 104 + 100 + 100 us.
#[test]
fn labels_take_four_bytes_each_where_they_are() {
    let ran = Case::default().run();
    let carried = LINKS.map(|(name, _, _)| ran.bytes(name));
    assert_eq!(carried, [1000.0, 1000.0, 1080.0, 1040.0, 1000.0, 1000.0]);
    assert_eq!(ran.of(Scope::Flow, "f", Metric::OwdMax), 612e-6);
    // Each packet: two pushed at pe1; one popped at p, one at pe2.
    let labels = ran.labels();
    assert_eq!((labels.pushed, labels.popped, labels.swapped), (20, 20, 0));
}

/// A packet that fits without labels is too big with them, on the link that carries two. 68 B are
/// the least that a link must carry (RFC 791); labels count (RFC 3032 section 3.3).
#[test]
fn labels_count_for_the_mtu() {
    let lost = |links: &'static [(&'static str, &'static str)], policies: &'static str| {
        let case = Case {
            links,
            policies,
            ..Case::default()
        };
        let ran = case.run();
        let sent = ran.of(Scope::Flow, "f", Metric::PacketsSent);
        assert_eq!(sent, 10.0);
        let labels = ran.labels();
        assert_eq!(labels.pushed, labels.popped + labels.lost);
        (
            ran.of(Scope::Flow, "f", Metric::DropsTooBig),
            ran.bytes("core1"),
        )
    };
    assert_eq!(lost(&[("core1", "mtu: 108 B")], "{}"), (0.0, 1080.0));
    assert_eq!(lost(&[("core1", "mtu: 107 B")], "{}"), (10.0, 0.0));
    assert_eq!(lost(&[("core1", "mtu: 100 B")], "{}"), (10.0, 0.0));
    assert_eq!(lost(&[("core2", "mtu: 104 B")], "{}"), (0.0, 1080.0));
    assert_eq!(lost(&[("core2", "mtu: 103 B")], "{}"), (10.0, 1080.0));
    assert_eq!(lost(&[("lan-a", "mtu: 100 B")], "{}"), (0.0, 1080.0));
    assert_eq!(lost(&[("lan-a", "mtu: 99 B")], "{}"), (10.0, 0.0));
    // The same before a discipline.
    let policy = "{P: {class-based: {classes: [{name: class-default}]}}}";
    assert_eq!(
        lost(&[("core1", "policy: P, mtu: 108 B")], policy),
        (0.0, 1080.0)
    );
    assert_eq!(
        lost(&[("core1", "policy: P, mtu: 107 B")], policy),
        (10.0, 0.0)
    );
    // The link's overhead does not count for the MTU, also where frames are filled up.
    assert_eq!(
        lost(&[("core1", "overhead: ethernet, mtu: 108 B")], "{}").0,
        0.0
    );
    assert_eq!(
        lost(&[("core1", "overhead: ethernet, mtu: 107 B")], "{}").0,
        10.0
    );
}

/// Without penultimate-hop popping p swaps, and pe2 removes both.
#[test]
fn explicit_null_keeps_the_label_for_the_way() {
    let case = Case {
        mpls: ", php: false",
        ..Case::default()
    };
    let ran = case.run();
    assert_eq!((ran.bytes("core1"), ran.bytes("core2")), (1080.0, 1080.0));
    assert_eq!(ran.of(Scope::Flow, "f", Metric::OwdMax), 616e-6);
    let labels = ran.labels();
    assert_eq!((labels.pushed, labels.popped, labels.swapped), (20, 20, 10));
}

/// Labels lie within the frame: 40 B with 18 B of Ethernet fill up to 64 B, with 8 B of labels they
/// are 66 B.
#[test]
fn labels_lie_inside_the_frame() {
    let case = Case {
        links: &[
            ("core1", "overhead: ethernet-frame"),
            ("out", "overhead: ethernet-frame"),
        ],
        flow: "source: {cbr: {rate: 3.2 kb/s, packet: 40 B, phase: 0 s}}",
        ..Case::default()
    };
    let ran = case.run();
    assert_eq!((ran.bytes("core1"), ran.bytes("out")), (660.0, 640.0));
}

/// A queue of 1 EXP bit pattern each: where a packet of a flow waits tells its EXP bits.
const BY_EXP: &str = "{E: {class-based: {classes: [
  {name: e0, match: {exp: 0}, bandwidth: 10 %}, {name: e1, match: {exp: 1}, bandwidth: 10 %},
  {name: e2, match: {exp: 2}, bandwidth: 10 %}, {name: e3, match: {exp: 3}, bandwidth: 10 %},
  {name: e4, match: {exp: 4}, bandwidth: 10 %}, {name: e5, match: {exp: 5}, bandwidth: 10 %},
  {name: e6, match: {exp: 6}, bandwidth: 10 %}, {name: e7, match: {exp: 7}, bandwidth: 10 %}]}},
 D: {class-based: {classes: [{name: af, match: {dscp: af41}, bandwidth: 10 %},
  {name: ef, match: {dscp: ef}, bandwidth: 10 %}, {name: cs1, match: {dscp: cs1}, bandwidth: 10 %},
  {name: le, match: {dscp: le}, bandwidth: 10 %}]}},
 CHANGE: {class-based: {classes: [{name: class-default, set_exp: 1}]}},
 INTEND: {class-based: {classes: [{name: class-default, set_exp_imposition: 6}]}}}";

const AF41: &str = "dscp: af41, source: {cbr: {rate: 8 kb/s, packet: 100 B, phase: 0 s}}";

#[track_caller]
fn assert_queues(ran: &Ran, queues: &[&str]) {
    for queue in queues {
        let carried = ran.of(Scope::Queue, queue, Metric::Carried);
        assert!(carried > 0.0, "nothing in {queue}");
    }
}

#[test]
fn exp_is_the_precedence_unless_a_table_says_otherwise() {
    let case = Case {
        policies: BY_EXP,
        links: &[
            ("core1", "policy: E"),
            ("core2", "policy: E"),
            ("out", "policy: D"),
        ],
        flow: AF41,
        ..Case::default()
    };
    let ran = case.run();
    assert_queues(&ran, &["core1/e4", "core2/e4", "out/af"]);
    let ran = Case {
        mpls: ", imposition: {af41: 2, ef: 7}",
        ..case
    }
    .run();
    assert_queues(&ran, &["core1/e2", "core2/e2", "out/af"]);
}

/// The policy of core1 sets EXP 1 on the top label, after it has been matched there.
fn changed(mpls: &'static str) -> Ran {
    Case {
        mpls,
        policies: BY_EXP,
        links: &[
            ("core1", "policy: CHANGE"),
            ("core2", "policy: E"),
            ("out", "policy: D"),
        ],
        flow: AF41,
    }
    .run()
}

#[test]
fn models_differ_in_what_a_change_in_the_network_reaches() {
    // Short pipe: the top label with its EXP bits is gone at p, the one below has those of pe1.
    let ran = changed("");
    assert_queues(&ran, &["core2/e4", "out/af"]);
    // With explicit null the change gets as far as pe2, and no further.
    let ran = changed(", php: false");
    assert_queues(&ran, &["core2/e1", "out/af"]);
    // Uniform: to the label below, and to the DSCP.
    for php in [", model: uniform", ", model: uniform, php: false"] {
        let ran = changed(php);
        assert_queues(&ran, &["core2/e1", "out/cs1"]);
    }
    let ran = changed(", model: uniform, disposition: {1: le}");
    assert_queues(&ran, &["core2/e1", "out/le"]);
}

/// The uniform model leaves a DSCP alone whose EXP bits nobody changed: AF41 does not become CS4.
#[test]
fn what_nobody_changed_stays() {
    let ran = Case {
        mpls: ", model: uniform",
        policies: BY_EXP,
        links: &[("out", "policy: D")],
        flow: AF41,
    }
    .run();
    assert_queues(&ran, &["out/af"]);
}

/// In the pipe model pe2 queues for the customer by the EXP bits that it removed; ce2 sees the
/// DSCP.
#[test]
fn a_pipe_reaches_to_the_port_of_the_edge() {
    let ran = Case {
        mpls: ", model: pipe, imposition: {af41: 7}",
        policies: BY_EXP,
        links: &[("out", "policy: E"), ("lan-b", "policy: D")],
        flow: AF41,
    }
    .run();
    assert_queues(&ran, &["out/e7", "lan-b/af"]);
}

/// What the edge's customer side asks for goes before the table, here and nowhere else.
#[test]
fn exp_can_be_set_for_the_imposition() {
    let case = Case {
        policies: BY_EXP,
        links: &[
            ("in", "policy: INTEND"),
            ("core1", "policy: E"),
            ("core2", "policy: E"),
            ("out", "policy: D"),
        ],
        flow: AF41,
        ..Case::default()
    };
    let ran = case.run();
    assert_queues(&ran, &["core1/e6", "core2/e6", "out/af"]);
}

/// Policers count the bytes that the link sends: at 1 % more than the rate of the packets
/// themselves 8 % of labels are too much.
#[test]
fn policers_count_labels() {
    let policies = "{S: {class-based: {classes: [{name: class-default, police: {rate: 8080 b/s, burst: 108 B}}]}}}";
    let dropped = |link| {
        let ran = Case {
            policies,
            links: if link == "core1" {
                &[("core1", "policy: S")]
            } else {
                &[("in", "policy: S")]
            },
            ..Case::default()
        };
        ran.run().of(Scope::Flow, "f", Metric::DropsPolicer)
    };
    // Each 100 ms brings 101 B, and the bucket holds 108 B. Packets of 100 B all pass; of those of
    // 108 B the first empties the bucket, the second finds 101 B, the third 108 B, and so on.
    assert_eq!(dropped("in"), 0.0);
    assert_eq!(dropped("core1"), 5.0);
}

/// Both ways of a connection carry labels: acknowledgments of 40 B are 48 B long on the way back.
#[test]
fn acknowledgments_have_labels_too() {
    let ran = Case {
        flow: "bytes: 14600 B, tcp: {profile: ns2}",
        ..Case::default()
    }
    .run();
    let there = ran.bytes("core1") - ran.bytes("in");
    let back = ran.bytes("core2.reverse") - ran.bytes("out.reverse");
    assert!(there > 0.0 && back > 0.0, "{there} {back}");
    let packets = there / 8.0;
    assert_eq!((ran.bytes("core2") - ran.bytes("out")) / 4.0, packets);
    assert_eq!(
        (ran.bytes("core1.reverse") - ran.bytes("in.reverse")) / 4.0,
        back / 8.0
    );
    let labels = ran.labels();
    assert_eq!(labels.pushed as f64, 2.0 * (packets + back / 8.0));
    assert_eq!((labels.popped, labels.lost), (labels.pushed, 0));
}

/// A ring of provider nodes. The way from pe1 to pe2 is over p until core2 fails at 50.35 ms and
/// routes follow at once; then over q and r, one hop more.
const RING: &str = "
schema_version: 1
topology:
  nodes: [a, pe1, p, pe2, q, r, b]
  links:
    in: {from: a, to: pe1, rate: 8 Mb/s}
    core1: {from: pe1, to: p, rate: 8 Mb/s, delay: 1 ms, duplex: true}
    core2: {from: p, to: pe2, rate: 8 Mb/s, delay: 1 ms, duplex: true}
    round1: {from: pe1, to: q, rate: 8 Mb/s, delay: 1 ms, duplex: true}
    round2: {from: q, to: r, rate: 8 Mb/s, delay: 1 ms, duplex: true}
    round3: {from: r, to: pe2, rate: 8 Mb/s, delay: 1 ms, duplex: true}
    out: {from: pe2, to: b, rate: 8 Mb/s}
  mpls: {pe: [pe1, pe2], p: [p, q, r]}
  failures: [{link: core2, at: 50.35 ms}]
traffic:
  - flow: {name: f, from: a, to: b, source: {cbr: {rate: 80 kb/s, packet: 100 B, phase: 0 s}}}
measurement: {warmup: 0 s, duration: 1 s, interval: 100 ms}
runs: {count: 1, seed: 5}
";

/// 100 packets, each 10 ms. Packet 5 is at pe1 at 50.1 ms, on core1 until 50.208 ms, and at p at
/// 51.208 ms, after the failure: p sends it back with its labels, over pe1 and round. Packets from
/// 6 on take the way round.
#[test]
fn labels_follow_new_routes() {
    let plan = common::plan(RING);
    let ran = Ran(Arc::clone(&plan), common::run(&plan, 1));
    assert_eq!(ran.of(Scope::Flow, "f", Metric::PacketsReceived), 100.0);
    let bytes = |link| ran.bytes(link);
    // Two labels on core1: packets 0 to 5. p removes one for 0 to 4, and swaps that of 5.
    assert_eq!((bytes("core1"), bytes("core2")), (6.0 * 108.0, 5.0 * 104.0));
    assert_eq!(bytes("core1.reverse"), 108.0);
    assert_eq!(
        (bytes("round1"), bytes("round2")),
        (95.0 * 108.0, 95.0 * 108.0)
    );
    assert_eq!((bytes("round3"), bytes("out")), (95.0 * 104.0, 10_000.0));
    let labels = ran.labels();
    assert_eq!((labels.pushed, labels.popped, labels.lost), (200, 200, 0));
    // 5 at p, pe1 and q; 94 at q.
    assert_eq!(labels.swapped, 3 + 94);
    assert_eq!(
        ran.of(Scope::Link, "round3", Metric::CarriedLabels),
        95.0 * 4.0 * 8.0
    );
    assert_eq!(
        ran.of(Scope::Exp, "round3/0", Metric::Carried),
        95.0 * 104.0 * 8.0
    );
    assert_eq!(ran.of(Scope::Exp, "round3/5", Metric::Carried), 0.0);
}

/// With core2 and round2 down there is no way: the packet at p is dropped there with its labels,
/// those at pe1 before they get any.
#[test]
fn without_a_way_labels_are_lost() {
    let plan =
        common::plan(&RING.replace("failures: [", "failures: [{link: round2, at: 50.2 ms}, "));
    let ran = Ran(Arc::clone(&plan), common::run(&plan, 1));
    assert_eq!(ran.of(Scope::Flow, "f", Metric::PacketsReceived), 5.0);
    assert_eq!(ran.of(Scope::Flow, "f", Metric::DropsUnroutable), 95.0);
    let labels = ran.labels();
    assert_eq!((labels.pushed, labels.popped, labels.lost), (12, 10, 2));
}
