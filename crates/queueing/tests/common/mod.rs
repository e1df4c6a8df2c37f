//! What several test files share: policies of every kind, and flows.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use spillgate_core::Kind;
use spillgate_core::Problem;
use spillgate_core::Rate;
use spillgate_queueing::spec::DisciplineSpec;
pub(crate) use spillgate_queueing::testkit::{flows, packet};
use spillgate_queueing::{Discipline, Recipe};

pub(crate) fn rate(bps: u64) -> Rate {
    Rate::from_bps(bps).unwrap()
}

pub(crate) fn policies(json: &str) -> BTreeMap<String, DisciplineSpec> {
    serde_json::from_str(json).unwrap_or_else(|e| panic!("{e}: {json}"))
}

/// Resolves the policy `main` of a table of policies.
pub(crate) fn resolve(json: &str, bps: u64) -> Result<(Recipe, Vec<String>), Problem> {
    Recipe::resolve("main", &policies(json), rate(bps))
}

/// Builds the policy `main` of a table of policies.
#[track_caller]
pub(crate) fn build(json: &str, bps: u64) -> Discipline {
    match resolve(json, bps) {
        Ok((recipe, _)) => recipe.build(&flows()),
        Err(e) => panic!("{e}"),
    }
}

/// A policy to put under the contract.
pub(crate) struct Preset {
    pub(crate) name: &'static str,
    pub(crate) json: &'static str,
    /// Whether it never holds packets back.
    pub(crate) work_conserving: bool,
}

/// The rate of the ports of [`PRESETS`].
pub(crate) const BPS: u64 = 1_000_000;

/// [`PRESETS`], and for each AQM of the registry its defaults in every kind of queue.
pub(crate) fn presets() -> &'static [Preset] {
    static ALL: LazyLock<Vec<Preset>> = LazyLock::new(|| {
        let families = spillgate_queueing::kinds().iter();
        let aqms = families.filter(|f| f.name == "aqm").flat_map(|f| f.kinds);
        let of = |aqm: &Kind| {
            let aqm = format!(r#"{{"{}": {{}}}}"#, aqm.kind);
            let alone =
                format!(r#"{{"main": {{"fifo": {{"limit": "40 packets", "aqm": {aqm}}}}}}}"#);
            let inside = format!(
                r#"{{"main": {{"class-based": {{"classes": [
                    {{"name": "a", "match": {{"dscp": ["af31", "af33"]}}, "bandwidth": "30 %", "queue_limit": "40 packets", "aqm": {aqm}}},
                    {{"name": "b", "match": {{"dscp": ["af21", "af23"]}}, "bandwidth": "30 %", "drr": {{"limit": "40 packets", "aqm": {aqm}}}}},
                    {{"name": "class-default", "fq": {{"queues": 3, "limit": "40 packets", "aqm": {aqm}}}}}]}}}}}}"#
            );
            let preset = |json: String| Preset {
                name: "an AQM with its defaults",
                json: json.leak(),
                work_conserving: true,
            };
            // What tells flows apart has no place in a queue of one flow.
            match resolve(&inside, BPS) {
                Err(why) if why.to_string().contains("flows that share a queue") => {
                    vec![preset(alone)]
                }
                _ => vec![preset(alone), preset(inside)],
            }
        };
        // A discipline without a preset of its own.
        let disciplines = spillgate_queueing::kinds().iter();
        let disciplines = disciplines.filter(|f| f.name == "disciplines");
        let plain = |kind: &Kind| {
            let quoted = format!("\"{}\"", kind.kind);
            let known = PRESETS.iter().any(|p| p.json.contains(&quoted));
            (!known).then(|| Preset {
                name: kind.kind,
                json: format!(r#"{{"main": {{{quoted}: {{}}}}}}"#).leak(),
                work_conserving: true,
            })
        };
        let copy = |p: &Preset| Preset { ..*p };
        PRESETS
            .iter()
            .map(copy)
            .chain(aqms.flat_map(of))
            .chain(disciplines.flat_map(|f| f.kinds).filter_map(plain))
            .collect()
    });
    &ALL
}

/// Every kind of discipline and every feature of a class.
pub(crate) const PRESETS: &[Preset] = &[
    Preset {
        name: "behaviors by name, and a bucket for each flow",
        json: r#"{"main": {"class-based": {"classes": [
            {"name": "voice", "phb": "ef", "police": {"rate": "10 %", "burst": "3 kB", "per_flow": true}},
            {"name": "gold", "phb": "af3", "bandwidth": "40 %"},
            {"name": "silver", "phb": "af2", "police": {"rate": "5 %", "peak_rate": "10 %", "violate": "drop", "per_flow": true}},
            {"name": "scavenger", "phb": "le", "match": {"dscp": "af11"}},
            {"name": "class-default", "phb": "default"}
        ]}}}"#,
        work_conserving: true,
    },
    Preset {
        name: "htb with borrowing, every kind of queue, a default",
        json: r#"{"main": {"htb": {"default": "rest", "classes": [
            {"name": "root", "rate": "600 kb/s", "ceil": "800 kb/s"},
            {"name": "left", "parent": "root", "rate": "300 kb/s", "ceil": "500 kb/s", "burst": "4 kB", "cburst": "3 kB"},
            {"name": "voice", "parent": "left", "match": {"dscp": "ef"}, "rate": "100 kb/s", "ceil": "400 kb/s", "prio": 0,
             "queue": {"fifo": {"limit": "9 packets"}}},
            {"name": "video", "parent": "left", "match": {"dscp": ["af41", "af31"]}, "rate": "200 kb/s", "ceil": "300 kb/s",
             "prio": 1, "quantum": "1500 B", "queue": {"fq-codel": {"target": "3 ms", "interval": "20 ms"}}},
            {"name": "bulk", "parent": "root", "match": {"dscp": ["af33", "af21"]}, "rate": "20 kb/s", "ceil": "100 %", "prio": 1,
             "queue": {"fifo": {"limit": "20 packets", "aqm": {"codel": {"target": "1 ms", "interval": "10 ms"}}}}},
            {"name": "rest", "parent": "root", "rate": "10 %", "ceil": "700 kb/s", "prio": 1, "queue": {"drr": {"limit": "20 packets"}}}]}}}"#,
        work_conserving: false,
    },
    Preset {
        name: "htb by a timer, with hysteresis and a direct queue",
        json: r#"{"main": {"htb": {"timer": "4 ms", "hysteresis": true, "direct_qlen": 9, "classes": [
            {"name": "a", "match": {"dscp": ["ef", "af41"]}, "rate": "200 kb/s", "ceil": "300 kb/s"},
            {"name": "b", "rate": "300 kb/s"},
            {"name": "b1", "parent": "b", "match": {"dscp": ["af31", "af33"]}, "rate": "100 kb/s", "ceil": "300 kb/s",
             "queue": {"fifo": {"limit": "12 packets", "aqm": {"choke": {"min_th": 1, "max_th": 4, "weight": 0.3}}}}},
            {"name": "b2", "parent": "b", "match": {"dscp": "af21"}, "rate": "100 kb/s", "ceil": "300 kb/s", "quantum": "300 B"}]}}}"#,
        work_conserving: false,
    },
    Preset {
        name: "hfsc with upper limits, curves of every kind",
        json: r#"{"main": {"hfsc": {"default": "rest", "classes": [
            {"name": "root", "ls": {"m2": "900 kb/s"}, "ul": {"m2": "700 kb/s"}},
            {"name": "voice", "parent": "root", "match": {"dscp": "ef"}, "rt": {"umax": "1500 B", "dmax": "30 ms", "rate": "100 kb/s"},
             "ls": {"m2": "100 kb/s"}},
            {"name": "late", "parent": "root", "match": {"dscp": "af41"}, "sc": {"m1": "0 b/s", "d": "40 ms", "m2": "200 kb/s"},
             "ul": {"m1": "600 kb/s", "d": "50 ms", "m2": "300 kb/s"}},
            {"name": "inner", "parent": "root", "sc": {"m2": "20 %"}},
            {"name": "only", "parent": "inner", "match": {"dscp": ["af31", "af33"]}, "rt": {"m1": "300 kb/s", "d": "20 ms", "m2": "50 kb/s"},
             "queue": {"fq-codel": {"target": "3 ms", "interval": "20 ms"}}},
            {"name": "bulk", "parent": "inner", "match": {"dscp": "af21"}, "ls": {"m1": "400 kb/s", "d": "30 ms", "m2": "100 kb/s"},
             "queue": {"fifo": {"limit": "20 packets", "aqm": {"codel": {"target": "1 ms", "interval": "10 ms"}}}}},
            {"name": "rest", "parent": "root", "ls": {"m2": "50 kb/s"}, "queue": {"drr": {"limit": "20 packets"}}}]}}}"#,
        work_conserving: false,
    },
    Preset {
        name: "hfsc without limits",
        json: r#"{"main": {"hfsc": {"default": "b", "classes": [
            {"name": "a", "match": {"dscp": ["ef", "af31", "af21"]}, "sc": {"m1": "800 kb/s", "d": "20 ms", "m2": "300 kb/s"},
             "queue": {"fifo": {"limit": "12 packets", "aqm": {"choke": {"min_th": 1, "max_th": 4, "weight": 0.3}}}}},
            {"name": "b", "sc": {"m2": "600 kb/s"}}]}}}"#,
        work_conserving: true,
    },
    Preset {
        name: "limits by DSCP",
        json: r#"{"main": {"class-based": {"classes": [
            {"name": "af", "match": {"dscp": ["af31", "af33", "af21", "af23"]}, "bandwidth": "40 %",
             "queue_limit": "30 packets", "queue_limit_dscp": {"af33": "6 packets", "af23": "20 ms"},
             "queue_limit_precedence": {"2": "4000 B"}},
            {"name": "voice", "match": {"dscp": "ef"}, "priority": {"limit": "20 packets"},
             "queue_limit_dscp": {"ef": "5 packets"}},
            {"name": "fair", "match": {"dscp": "af11"}, "fair_queue": {"weights": "equal"}, "set_cos": 3, "set_qos_group": 5,
             "queue_limit_precedence": {"1": "9 packets"}}
        ]}}}"#,
        work_conserving: true,
    },
    Preset {
        name: "start-time, nested WF2Q+, turns and strict",
        json: r#"{"main": {"class-based": {"scheduler": "start-time", "classes": [
            {"name": "voice", "match": {"dscp": "ef"}, "priority": {"rate": "20 %"}},
            {"name": "a", "match": {"dscp": ["af31", "af33"]}, "bandwidth": "40 %", "policy": "wf2q"},
            {"name": "b", "match": {"dscp": ["af21", "af23"]}, "bandwidth": "20 %", "policy": "turns"},
            {"name": "class-default", "policy": "strict"}]}},
         "wf2q": {"class-based": {"scheduler": "wf2q+", "classes": [
            {"name": "a", "match": {"dscp": "af31"}, "bandwidth": "70 %", "aqm": {"codel": {}}}]}},
         "turns": {"class-based": {"scheduler": "ets", "strict": 1, "quantum": "300 B", "classes": [
            {"name": "a", "match": {"dscp": "af11"}, "queue_limit": "5 packets"},
            {"name": "b", "match": {"dscp": "af21"}, "bandwidth_remaining": "60 %", "fair_queue": {}}]}},
         "strict": {"class-based": {"scheduler": "strict", "classes": [
            {"name": "a", "match": {"dscp": "af11"}, "queue_limit": "9 packets"}]}}}"#,
        work_conserving: true,
    },
    Preset {
        name: "CHOKe, which drops what is queued, in a class",
        json: r#"{"main": {"class-based": {"classes": [
            {"name": "a", "match": {"dscp": ["af31", "af33"]}, "bandwidth": "40 %", "queue_limit": "9 packets",
             "aqm": {"choke": {"min_th": 1, "max_th": 4, "weight": 0.3}}},
            {"name": "b", "match": {"dscp": ["af21", "af23"]}, "bandwidth": "20 %"}]}}}"#,
        work_conserving: true,
    },
    Preset {
        name: "virtual clocks, shaped",
        json: r#"{"main": {"class-based": {"scheduler": "virtual-clock", "classes": [
            {"name": "a", "match": {"dscp": ["af31", "af33"]}, "bandwidth": "40 %", "shape": {"rate": "30 %"}},
            {"name": "b", "match": {"dscp": ["af21", "af23"]}, "bandwidth": "20 %", "aqm": {"pie": {}}}]}}}"#,
        work_conserving: false,
    },
    Preset {
        name: "turns by packets, shaped",
        json: r#"{"main": {"class-based": {"scheduler": "wrr", "classes": [
            {"name": "a", "match": {"dscp": ["af31", "af33"]}, "bandwidth": "40 %", "shape": {"rate": "30 %"}},
            {"name": "b", "match": {"dscp": ["af21", "af23"]}, "bandwidth": "20 %", "drr": {}}]}}}"#,
        work_conserving: false,
    },
    Preset {
        name: "deficits, shaped",
        json: r#"{"main": {"class-based": {"scheduler": "drr", "quantum": "200 B", "classes": [
            {"name": "a", "match": {"dscp": ["af31", "af33"]}, "bandwidth": "40 %", "shape": {"rate": "30 %"}, "aqm": {"codel": {}}},
            {"name": "b", "match": {"dscp": ["af21", "af23"]}, "bandwidth": "20 %"}]}}}"#,
        work_conserving: false,
    },
    Preset {
        name: "fifo, packets",
        json: r#"{"main": {"fifo": {"limit": "5 packets"}}}"#,
        work_conserving: true,
    },
    Preset {
        name: "fifo, bytes",
        json: r#"{"main": {"fifo": {"limit": "4 kB"}}}"#,
        work_conserving: true,
    },
    Preset {
        name: "fifo, time",
        json: r#"{"main": {"fifo": {"limit": "40 ms"}}}"#,
        work_conserving: true,
    },
    Preset {
        name: "fifo that drops from its front",
        json: r#"{"main": {"fifo": {"limit": "4 kB", "full": "front", "aqm": {"blue": {"freeze": "10 ms", "ecn": true}}}}}"#,
        work_conserving: true,
    },
    Preset {
        name: "fifo that drops at random",
        json: r#"{"main": {"fifo": {"limit": "7 packets", "full": "random", "aqm": {"sfb": {"target": 1, "max": 4, "increment": 0.2, "decrement": 0.1}}}}}"#,
        work_conserving: true,
    },
    Preset {
        name: "choke as linux",
        json: r#"{"main": {"fifo": {"limit": "12 packets", "aqm": {"choke":
            {"as": "linux", "min_th": 1, "max_th": 4, "max_p": 0.3, "weight": 0.3, "ecn": true}}}}}"#,
        work_conserving: true,
    },
    Preset {
        name: "red",
        json: r#"{"main": {"fifo": {"limit": "12 packets", "aqm": {"red":
            {"min_th": 1, "max_th": 4, "max_p": 0.3, "weight": 0.3, "ecn": true, "size_scaling": "ns"}}}}}"#,
        work_conserving: true,
    },
    Preset {
        name: "red, wait",
        json: r#"{"main": {"fifo": {"limit": "12 packets", "aqm": {"red":
            {"min_th": 1, "max_th": 4, "max_p": 0.3, "weight": 0.3, "gentle": false, "wait": true, "size_scaling": "paper"}}}}}"#,
        work_conserving: true,
    },
    Preset {
        name: "red as ns2",
        json: r#"{"main": {"fifo": {"limit": "12 packets", "aqm": {"red":
            {"as": "ns2", "min_th": 500, "max_th": 2000, "max_p": 0.3, "weight": 0.3, "ecn": true}}}}}"#,
        work_conserving: true,
    },
    Preset {
        name: "red as linux",
        json: r#"{"main": {"fifo": {"limit": "12 packets", "aqm": {"red":
            {"as": "linux", "min_th": 500, "max_th": 2000, "max_p": 0.3, "weight": 0.3, "ecn": true}}}}}"#,
        work_conserving: true,
    },
    Preset {
        name: "pie of Linux",
        json: r#"{"main": {"fifo": {"limit": "30 packets", "aqm": {"pie": {"as": "linux", "target": "4 ms", "update": "4 ms",
            "alpha": 50, "beta": 100, "max_burst": "20 ms", "ecn": true}}}}}"#,
        work_conserving: true,
    },
    Preset {
        name: "pie",
        json: r#"{"main": {"fifo": {"limit": "30 packets", "aqm": {"pie": {"target": "4 ms", "update": "3 ms", "alpha": 50,
            "beta": 100, "max_burst": "20 ms", "ecn": true, "mean_packet": "200 B"}}}}}"#,
        work_conserving: true,
    },
    Preset {
        name: "pi2, coupled",
        json: r#"{"main": {"fifo": {"limit": "30 packets", "aqm": {"pi2": {"target": "4 ms", "update": "3 ms", "alpha": 5,
            "beta": 30, "coupling": 2, "ecn_threshold": 0.4}}}}}"#,
        work_conserving: true,
    },
    Preset {
        name: "step, bytes",
        json: r#"{"main": {"fifo": {"limit": "30 packets", "aqm": {"step": {"threshold": "3 kB", "counts_arriving": true}}}}}"#,
        work_conserving: true,
    },
    Preset {
        name: "step, time",
        json: r#"{"main": {"fifo": {"limit": "30 packets", "aqm": {"step": {"threshold": "20 ms", "ecn": false}}}}}"#,
        work_conserving: true,
    },
    Preset {
        name: "dualpi2",
        json: r#"{"main": {"dualpi2": {"limit": "100 ms", "target": "4 ms", "update": "3 ms", "alpha": 5, "beta": 30,
            "threshold": "8 ms", "range": "8 ms", "mtu": "1500 B"}}}"#,
        work_conserving: true,
    },
    Preset {
        name: "dualpi2, time-shifted, without overload",
        json: r#"{"main": {"dualpi2": {"limit": "12 packets", "target": "4 ms", "update": "3 ms", "alpha": 5, "beta": 30,
            "threshold": "8 ms", "range": "0 s", "time_shift": "20 ms", "drop_on_overload": false, "decide": "draw"}}}"#,
        work_conserving: true,
    },
    Preset {
        name: "dualpi2 of Linux in shaped classes",
        json: r#"{"main": {"class-based": {"classes": [
            {"name": "low", "match": {"dscp": ["af31", "af33", "af23"]}, "shape": {"rate": "200 kb/s", "burst": "1600 B"},
             "dualpi2": {"as": "linux", "limit": "20 packets", "target": "4 ms", "update": "4 ms", "alpha": 5, "beta": 30, "min_packets": 1}},
            {"name": "class-default", "dualpi2": {"as": "linux"}}]}}}"#,
        work_conserving: false,
    },
    Preset {
        name: "cobalt",
        json: r#"{"main": {"fifo": {"limit": "20 packets", "aqm": {"cobalt":
            {"target": "4 ms", "interval": "30 ms", "increment": 0.05, "decrement": 0.01, "mtu": "100 B"}}}}}"#,
        work_conserving: true,
    },
    Preset {
        name: "cobalt as ns3 in a fair queue",
        json: r#"{"main": {"fq": {"limit": "20 packets", "aqm": {"cobalt":
            {"as": "ns3", "target": "4 ms", "interval": "30 ms", "increment": 0.05, "decrement": 0.01, "blue_threshold": "50 ms"}}}}}"#,
        work_conserving: true,
    },
    Preset {
        name: "cake, shaped",
        json: r#"{"main": {"cake": {"bandwidth": "300 kb/s", "tins": "diffserv4", "memory_limit": "9 kB", "rtt": "30 ms",
            "overhead": "18 B"}}}"#,
        work_conserving: false,
    },
    Preset {
        name: "cake, ingress",
        json: r#"{"main": {"cake": {"bandwidth": "300 kb/s", "tins": "precedence", "isolation": "dual-dsthost", "memory_limit": "9 kB",
            "rtt": "30 ms", "ingress": true}}}"#,
        work_conserving: false,
    },
    Preset {
        name: "cake",
        json: r#"{"main": {"cake": {"tins": "diffserv8", "isolation": "hosts", "memory_limit": "9 kB", "rtt": "30 ms"}}}"#,
        work_conserving: true,
    },
    Preset {
        name: "cake in classes",
        json: r#"{"main": {"class-based": {"classes": [
            {"name": "low", "match": {"dscp": ["af31", "af33", "af23"]}, "shape": {"rate": "200 kb/s", "burst": "1600 B"},
             "cake": {"memory_limit": "9 kB", "rtt": "30 ms"}},
            {"name": "class-default", "cake": {"tins": "besteffort"}}]}}}"#,
        work_conserving: false,
    },
    Preset {
        name: "fair, SCFQ, hashed",
        json: r#"{"main": {"fair": {"limit": "20 packets", "queues": 3, "weights": "precedence"}}}"#,
        work_conserving: true,
    },
    Preset {
        name: "fair, start-time, bytes",
        json: r#"{"main": {"fair": {"scheduler": "start-time", "limit": "12 kB", "weights": "precedence"}}}"#,
        work_conserving: true,
    },
    Preset {
        name: "fair, WF2Q+",
        json: r#"{"main": {"fair": {"scheduler": "wf2q+", "limit": "20 packets", "weights": "precedence", "aqm": {"codel": {"target": "5 ms", "interval": "20 ms"}}}}}"#,
        work_conserving: true,
    },
    Preset {
        name: "fair, virtual clock, time",
        json: r#"{"main": {"fair": {"scheduler": "virtual-clock", "weight_sum": 9, "limit": "100 ms"}}}"#,
        work_conserving: true,
    },
    Preset {
        name: "fair, QFQ",
        json: r#"{"main": {"fair": {"scheduler": "qfq", "limit": "20 packets", "weights": "precedence"}}}"#,
        work_conserving: true,
    },
    Preset {
        name: "fair, WRR",
        json: r#"{"main": {"fair": {"scheduler": "wrr", "limit": "20 packets", "weights": "precedence"}}}"#,
        work_conserving: true,
    },
    Preset {
        name: "fair queues in shaped classes",
        json: r#"{"main": {"class-based": {"classes": [
            {"name": "a", "match": {"dscp": ["af31", "af33"]}, "bandwidth": "30 %",
             "fair": {"scheduler": "qfq", "limit": "12 packets", "aqm": {"red": {"min_th": 2, "max_th": 8, "weight": 0.2}}}},
            {"name": "b", "match": {"dscp": ["af21", "af23"]}, "shape": {"rate": "200 kb/s", "burst": "1600 B"},
             "fair": {"scheduler": "wf2q+", "limit": "12 packets"}},
            {"name": "c", "match": {"dscp": ["af11", "ef"]}, "fair": {"scheduler": "virtual-clock", "weight_sum": 4, "limit": "9 kB"}},
            {"name": "class-default", "fq_pie": {"target": "4 ms", "update": "3 ms", "max_burst": "10 ms", "limit": "30 packets"}}]}}}"#,
        work_conserving: false,
    },
    Preset {
        name: "fq-pie as linux",
        json: r#"{"main": {"fq-pie": {"as": "linux", "flows": 3, "target": "4 ms", "update": "4 ms", "max_burst": "10 ms", "limit": "30 packets", "ecn": true}}}"#,
        work_conserving: true,
    },
    Preset {
        name: "fq-pie as ns3",
        json: r#"{"main": {"fq-pie": {"as": "ns3", "flows": 3, "target": "4 ms", "update": "4 ms", "max_burst": "10 ms", "limit": "30 packets", "ecn": true}}}"#,
        work_conserving: true,
    },
    Preset {
        name: "fq-pie",
        json: r#"{"main": {"fq-pie": {"target": "4 ms", "update": "3 ms", "alpha": 5, "beta": 30, "max_burst": "10 ms", "limit": "9 kB"}}}"#,
        work_conserving: true,
    },
    Preset {
        name: "sfq",
        json: r#"{"main": {"sfq": {"limit": "12 packets", "depth": 4, "flows": 3, "divisor": 16, "quantum": "300 B", "headdrop": true}}}"#,
        work_conserving: true,
    },
    Preset {
        name: "sfq + red",
        json: r#"{"main": {"sfq": {"limit": "30 packets", "flows": 3, "divisor": 4, "headdrop": true,
            "aqm": {"red": {"as": "linux", "min_th": 900, "max_th": 3000, "max_p": 0.3, "weight": 0.25, "ecn": true}}}}}"#,
        work_conserving: true,
    },
    Preset {
        name: "sfq as ns2",
        json: r#"{"main": {"sfq": {"as": "ns2", "limit": "12 packets", "divisor": 3}}}"#,
        work_conserving: true,
    },
    Preset {
        name: "sfq in a shaped class, perturbed",
        json: r#"{"main": {"class-based": {"classes": [
            {"name": "class-default", "shape": {"rate": "200 kb/s", "burst": "1600 B"},
             "sfq": {"limit": "9 kB", "divisor": 4, "perturb": "200 ms"}}]}}}"#,
        work_conserving: false,
    },
    Preset {
        name: "codel as linux",
        json: r#"{"main": {"fifo": {"limit": "40 packets", "aqm": {"codel":
            {"as": "linux", "target": "3 ms", "interval": "20 ms", "max_packet": "0 B"}}}}}"#,
        work_conserving: true,
    },
    Preset {
        name: "wred",
        json: r#"{"main": {"fifo": {"limit": "12 packets", "aqm": {"wred":
            {"exponential_weighting_constant": 1, "ecn": true,
             "dscp": {"af31": {"min": 2, "max": 6}, "af33": {"min": 1, "max": 4, "denominator": 2}}}}}}}"#,
        work_conserving: true,
    },
    Preset {
        name: "codel",
        json: r#"{"main": {"fifo": {"limit": "40 packets", "aqm": {"codel":
            {"target": "10 ms", "interval": "40 ms", "ecn": true}}}}}"#,
        work_conserving: true,
    },
    Preset {
        name: "codel, 16 bits, threshold of marks",
        json: r#"{"main": {"fifo": {"limit": "30 packets", "aqm": {"codel":
            {"target": "3 ms", "interval": "20 ms", "ce_threshold": "15 ms", "max_packet": "0 B", "inverse_sqrt": "newton16"}}}}}"#,
        work_conserving: true,
    },
    Preset {
        name: "codel in shaped classes",
        json: r#"{"main": {"class-based": {"classes": [
            {"name": "outer", "match": {"dscp": ["af31", "af33", "af21", "af23"]}, "shape": {"rate": "300 kb/s", "burst": "1600 B"}, "policy": "inner"},
            {"name": "class-default", "aqm": {"codel": {"target": "10 ms", "interval": "50 ms"}}}]}},
          "inner": {"class-based": {"classes": [
            {"name": "a", "match": {"dscp": ["af31", "af33"]}, "bandwidth": "60 %", "aqm": {"codel": {"interval": "30 ms"}}},
            {"name": "class-default", "shape": {"rate": "100 kb/s", "burst": "1500 B"}, "aqm": {"codel": {"target": "1 ms", "interval": "10 ms", "ecn": true}}}]}}}"#,
        work_conserving: false,
    },
    Preset {
        name: "drr",
        json: r#"{"main": {"drr": {"quantum": "300 B", "weights": "precedence", "limit": "9 packets"}}}"#,
        work_conserving: true,
    },
    Preset {
        name: "drr, bytes, three queues",
        json: r#"{"main": {"drr": {"limit": "9 kB", "queues": 3}}}"#,
        work_conserving: true,
    },
    Preset {
        name: "fq-codel",
        json: r#"{"main": {"fq-codel": {"target": "10 ms", "interval": "40 ms", "limit": "25 packets", "drop_batch": 4}}}"#,
        work_conserving: true,
    },
    Preset {
        name: "fq-codel, few queues, by flow",
        json: r#"{"main": {"fq-codel": {"flows": 3, "quantum": "300 B", "target": "2 ms", "interval": "10 ms", "memory_limit": "20 kB",
            "guard": "flow", "max_packet": "0 B", "ecn": false, "ce_threshold": "12 ms"}}}"#,
        work_conserving: true,
    },
    Preset {
        name: "drr + red",
        json: r#"{"main": {"drr": {"quantum": "300 B", "limit": "30 packets", "aqm": {"red":
            {"min_th": 1, "max_th": 4, "max_p": 0.3, "weight": 0.3, "ecn": true}}}}}"#,
        work_conserving: true,
    },
    Preset {
        name: "sfq + codel",
        json: r#"{"main": {"drr": {"queues": 3, "limit": "30 packets", "aqm": {"codel":
            {"target": "2 ms", "interval": "10 ms", "max_packet": "0 B"}}}}}"#,
        work_conserving: true,
    },
    Preset {
        name: "fq + wred",
        json: r#"{"main": {"fq": {"quantum": "300 B", "limit": "9 packets", "drop_batch": 3, "aqm": {"wred":
            {"exponential_weighting_constant": 1, "dscp": {"af31": {"min": 1, "max": 3}, "ef": {"min": 1, "max": 4, "denominator": 2}}}}}}}"#,
        work_conserving: true,
    },
    Preset {
        name: "fq in classes",
        json: r#"{"main": {"class-based": {"classes": [
            {"name": "turns", "match": {"dscp": ["af31", "af33"]}, "shape": {"rate": "200 kb/s", "burst": "1600 B"},
             "drr": {"limit": "12 packets", "aqm": {"codel": {"target": "1 ms", "interval": "8 ms", "max_packet": "0 B"}}}},
            {"name": "class-default", "shape": {"rate": "300 kb/s", "burst": "1500 B"},
             "fq": {"limit": "12 packets", "aqm": {"red": {"as": "linux", "min_th": 500, "max_th": 2000, "max_p": 0.3, "weight": 0.3}}}}]}}}"#,
        work_conserving: false,
    },
    Preset {
        name: "fair queues in shaped classes",
        json: r#"{"main": {"class-based": {"classes": [
            {"name": "voice", "match": {"dscp": "ef"}, "priority": {"rate": "20 %"}},
            {"name": "turns", "match": {"dscp": ["af31", "af33"]}, "shape": {"rate": "200 kb/s", "burst": "1600 B"}, "drr": {"limit": "6 packets"},
             "aqm": {"red": {"min_th": 1, "max_th": 4, "weight": 0.5}}},
            {"name": "class-default", "shape": {"rate": "300 kb/s", "burst": "1500 B"},
             "fq_codel": {"interval": "20 ms", "limit": "12 packets"}}]}}}"#,
        work_conserving: false,
    },
    Preset {
        name: "wfq",
        json: r#"{"main": {"wfq": {"limit": "3 packets", "hold_queue": "12 packets"}}}"#,
        work_conserving: true,
    },
    Preset {
        name: "wfq, by precedence, bytes",
        json: r#"{"main": {"wfq": {"weights": "precedence", "limit": "4 kB", "hold_queue": "50 ms"}}}"#,
        work_conserving: true,
    },
    Preset {
        name: "flow-wfq, worst",
        json: r#"{"main": {"flow-wfq": {"threshold": 2, "hold_queue": 10}}}"#,
        work_conserving: true,
    },
    Preset {
        name: "flow-wfq, blocking, few queues",
        json: r#"{"main": {"flow-wfq": {"queues": 16, "threshold": 4, "hold_queue": 20, "cdt_policy": "block-quarter"}}}"#,
        work_conserving: true,
    },
    Preset {
        name: "no classes",
        json: r#"{"main": {"class-based": {"classes": []}}}"#,
        work_conserving: true,
    },
    Preset {
        name: "cbwfq",
        json: r#"{"main": {"class-based": {"classes": [
            {"name": "voice", "match": {"dscp": "ef"}, "bandwidth": "15 %", "queue_limit": "3 packets"},
            {"name": "video", "match": {"dscp": "af41"}, "bandwidth": "35 %"},
            {"name": "critical", "match": {"dscp": ["af31", "af33"]}, "bandwidth": "20 %", "queue_limit": "50 ms"},
            {"name": "class-default", "fair_queue": {"threshold": 2, "hold_queue": 8}}]}}}"#,
        work_conserving: true,
    },
    Preset {
        name: "llq with wred",
        json: r#"{"main": {"class-based": {"classes": [
            {"name": "voice", "match": {"dscp": "ef"}, "priority": {"rate": "15 %", "burst": "3000 B"}},
            {"name": "video", "match": {"dscp": "af41"}, "priority": {"level": 2, "rate": "35 %", "police": "always", "limit": "4 kB"}},
            {"name": "critical", "match": {"dscp": ["af31", "af33"]}, "bandwidth_remaining": "40 %",
             "aqm": {"wred": {"exponential_weighting_constant": 1, "dscp": {"af33": {"min": 1, "max": 3}}}}},
            {"name": "class-default", "fair_queue": {"queues": 16}, "queue_limit": "6 packets",
             "aqm": {"red": {"min_th": 1, "max_th": 4, "weight": 0.5, "ecn": true}}}]}}}"#,
        work_conserving: true,
    },
    Preset {
        name: "policers and markers, by flow",
        json: r#"{"main": {"class-based": {"classes": [
            {"name": "metered", "match": {"dport": "5000-5002"}, "bandwidth_remaining_ratio": 3,
             "police": {"rate": "100 kb/s", "burst": "2000 B", "exceed": {"set-dscp": "cs1"}}},
            {"name": "marked", "match": {"protocol": "tcp", "src": "10.0.0.0/30"}, "set_dscp": "af11"},
            {"name": "dropped", "match": {"acl": [{"permit": false, "match": {"dport": 5004}},
                                                  {"permit": true, "match": {"src": "10.0.0.4/30"}}]},
             "bandwidth_remaining_ratio": 1, "police": {"rate": "10 %", "burst": "1500 B"}}]}}}"#,
        work_conserving: true,
    },
    Preset {
        name: "policers of three colors, one color-aware",
        json: r#"{"main": {"class-based": {"classes": [
            {"name": "single", "match": {"dscp": ["ef", "af41"]}, "bandwidth": "30 %",
             "police": {"rate": "100 kb/s", "burst": "2 kB", "excess_burst": "3 kB",
                        "exceed": {"set-dscp": "af12"}, "violate": "drop"}},
            {"name": "two", "match": {"dscp": ["af31", "af33", "af21"]}, "bandwidth": "30 %",
             "police": {"rate": "5 %", "peak_rate": "20 %", "excess_burst": "100 ms",
                        "exceed": {"set-dscp": "af32"}, "violate": "drop",
                        "conform_color": {"dscp": "af31"}, "exceed_color": {"dport": "5003-5004"}}}]}}}"#,
        work_conserving: true,
    },
    Preset {
        name: "markers by the average rate",
        json: r#"{"main": {"class-based": {"classes": [
            {"name": "two", "match": {"dscp": ["ef", "af41"]}, "bandwidth": "30 %",
             "police": {"rate": "100 kb/s", "window": "100 ms", "exceed": {"set-dscp": "af12"}}},
            {"name": "three", "match": {"dscp": ["af31", "af33", "af21"]}, "bandwidth": "30 %",
             "police": {"rate": "5 %", "peak_rate": "10 %", "window": "10 ms",
                        "exceed": {"set-dscp": "af32"}, "violate": "drop"}}]}}}"#,
        work_conserving: true,
    },
    Preset {
        name: "labels",
        json: r#"{"main": {"class-based": {"classes": [
            {"name": "top", "match": {"exp": 5}, "bandwidth": "20 %", "set_exp": 1},
            {"name": "other", "match": {"exp": [0, 3]}, "bandwidth": "20 %", "aqm": {"wred": {"by": "precedence"}}},
            {"name": "to-come", "match": {"dscp": "ef"}, "priority": {}, "set_exp_imposition": 6}]}}}"#,
        work_conserving: true,
    },
    Preset {
        name: "shaped class",
        json: r#"{"main": {"class-based": {"classes": [
            {"name": "slow", "match": {"dscp": ["ef", "af41"]}, "bandwidth": "60 %", "shape": {"rate": "200 kb/s", "burst": "1600 B"}},
            {"name": "class-default", "queue_limit": "6 packets"}]}}}"#,
        work_conserving: false,
    },
    Preset {
        name: "shapers as htb",
        json: r#"{"main": {"class-based": {"classes": [
            {"name": "outer", "match": {"dscp": ["ef", "af41", "af31"]}, "shape": {"as": "htb", "rate": "300 kb/s", "burst": "100 B"}, "policy": "inner"},
            {"name": "class-default", "shape": {"rate": "200 kb/s", "burst": "1600 B"}, "policy": "inner"}]}},
          "inner": {"class-based": {"classes": [
            {"name": "a", "match": {"dscp": "ef"}, "shape": {"as": "htb", "rate": "60 kb/s", "burst": "500 B"}}]}}}"#,
        work_conserving: false,
    },
    Preset {
        name: "shaped parent",
        json: r#"{"main": {"class-based": {"classes": [
            {"name": "class-default", "shape": {"rate": "300 kb/s"}, "policy": "child"}]}},
          "child": {"class-based": {"classes": [
            {"name": "voice", "match": {"dscp": "ef"}, "priority": {"rate": "30 %"}},
            {"name": "data", "match": {"dscp": ["af31", "af33"]}, "bandwidth": "40 %"},
            {"name": "class-default", "fair_queue": {}}]}}}"#,
        work_conserving: false,
    },
    Preset {
        name: "shapers within shapers",
        json: r#"{"main": {"class-based": {"classes": [
            {"name": "fast", "match": {"dscp": "ef"}, "priority": {}},
            {"name": "site", "match": {"dscp": ["af41", "af31", "af33"]}, "bandwidth": "30 %",
             "shape": {"rate": "400 kb/s", "burst": "2 kB"}, "police": {"rate": "500 kb/s", "burst": "6 kB"}, "policy": "inner"},
            {"name": "class-default", "shape": {"rate": "250 kb/s"}, "policy": "inner"}]}},
          "inner": {"class-based": {"classes": [
            {"name": "a", "match": {"dscp": ["af41", "af21"]}, "bandwidth": "50 %", "shape": {"rate": "90 kb/s", "burst": "1700 B"}},
            {"name": "b", "match": {"dscp": ["af31", "af23"]}, "shape": {"rate": "30 %", "burst": "1600 B"}},
            {"name": "class-default", "shape": {"rate": "50 %", "burst": "1600 B"}, "queue_limit": "4 packets"}]}}}"#,
        work_conserving: false,
    },
    Preset {
        name: "shapers within a plain class",
        json: r#"{"main": {"class-based": {"classes": [
            {"name": "site", "match": {"dscp": ["ef", "af41", "af31"]}, "bandwidth": "30 %", "policy": "inner"},
            {"name": "class-default", "queue_limit": "4 packets"}]}},
          "inner": {"class-based": {"classes": [
            {"name": "a", "match": {"dscp": "ef"}, "shape": {"rate": "60 kb/s", "burst": "1600 B"}},
            {"name": "class-default", "shape": {"rate": "90 kb/s", "burst": "1600 B"}}]}}}"#,
        work_conserving: false,
    },
    Preset {
        name: "fan, pfq, basic",
        json: r#"{"main": {"fan": {"limit": "8 packets", "min_fair_rate": "30 %", "max_priority_load": "40 %"}}}"#,
        work_conserving: true,
    },
    Preset {
        name: "fan, pdrr, efm",
        json: r#"{"main": {"fan": {"scheduler": {"pdrr": {"mode": "literal"}}, "limit": "9 kB", "min_fair_rate": "60 %",
            "mechanism": {"efm": {"pfl_flushing_timer": "100 ms"}}, "pfl_max": 3, "pfl_flow_timeout": "700 ms",
            "fair_rate": {"interval": "50 ms"}, "priority_load": {"interval": "20 ms", "smoothing": 0.25}}}}"#,
        work_conserving: true,
    },
    Preset {
        name: "fan, little room, raef, chance",
        json: r#"{"main": {"fan": {"scheduler": {"pfq": {"afl_max": 2}}, "limit": "40 ms", "min_fair_rate": "500 kb/s",
            "mechanism": {"raef": {"active_time": "50 ms"}}, "elastic": "instant", "p_add": 0.5, "mtu": "600 B",
            "fair_rate": {"interval": "20 ms", "smoothing": 0.5}, "tick_phase": "3 ms", "accept_trigger": true}}}"#,
        work_conserving: true,
    },
    Preset {
        name: "fan, large mtu, rbaef, shared",
        json: r#"{"main": {"fan": {"scheduler": {"pfq": {}}, "limit": "12 packets", "min_fair_rate": "90 %", "mtu": "4 kB",
            "mechanism": {"rbaef": {"active_time": "30 ms", "blocked_time": "80 ms"}}, "protected_list": "all",
            "fair_rate": {"interval": "20 ms"}, "admissions_per_tick": 2}}}"#,
        work_conserving: true,
    },
];
