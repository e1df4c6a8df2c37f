//! No parameter is lost in silence: whatever one is changed to, the commands change or a note names
//! it. Every parameter of every discipline has a row here, which the schema checks.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};
use spillgate_core::Rate;
use spillgate_export::{Exported, Port, Scheduler, Source, Tag, TcOptions, ios, tc};
use spillgate_import::ConfigImporter;
use spillgate_queueing::Recipe;
use spillgate_queueing::aqm::AqmSpec;
use spillgate_queueing::spec::DisciplineSpec;
use spillgate_scenario::{Importer as _, Platform};

/// A parameter, the policy `p` in which it is changed, where it stands there, and other values.
struct Row {
    /// `RedSpec.min_th`: the type of the schema and the key.
    key: &'static str,
    policies: Value,
    at: String,
    values: Vec<Value>,
}

/// Rows of one policy: the object at `at` of it is of the type `of`.
fn rows(
    of: &'static str,
    policies: &Value,
    at: &str,
    changes: &[(&'static str, Value)],
) -> Vec<Row> {
    let row = |(key, values): &(&'static str, Value)| Row {
        key: Box::leak(format!("{of}.{key}").into_boxed_str()),
        policies: policies.clone(),
        at: format!("{at}/{key}"),
        values: values.as_array().unwrap().clone(),
    };
    changes.iter().map(row).collect()
}

/// A class-based policy of one class with these keys, for AF11.
fn class(keys: Value) -> Value {
    let mut class = json!({"name": "a", "match": {"dscp": "af11"}});
    let keys = keys.as_object().unwrap().clone();
    class.as_object_mut().unwrap().extend(keys);
    let inner = json!({"class-based": {"classes": [
        {"name": "x", "match": {"dscp": "af11"}, "bandwidth": "30 %"}, {"name": "class-default"}]}});
    json!({"p": {"class-based": {"classes": [class, {"name": "class-default"}]}}, "inner": inner})
}

const CLASS: &str = "/p/class-based/classes/0";

/// The rows of an AQM, in a FIFO of the port and in a class.
fn aqm(kind: &str, of: &'static str, base: Value, changes: &[(&'static str, Value)]) -> Vec<Row> {
    let fifo = json!({"p": {"fifo": {"limit": "100 packets", "aqm": {kind: base}}}});
    let class = class(json!({"queue_limit": "100 packets", "aqm": {kind: base}}));
    let mut all = rows(of, &fifo, &format!("/p/fifo/aqm/{kind}"), changes);
    all.extend(rows(of, &class, &format!("{CLASS}/aqm/{kind}"), changes));
    all
}

/// The rows of a fair queue, at the port as `kind` and in a class under `key`.
fn queue(
    kind: &str,
    key: Option<&str>,
    of: &'static str,
    changes: &[(&'static str, Value)],
) -> Vec<Row> {
    let mut all = rows(
        of,
        &json!({"p": {kind: {}}}),
        &format!("/p/{kind}"),
        changes,
    );
    if let Some(key) = key {
        let class = class(json!({"bandwidth": "50 %", key: {}}));
        all.extend(rows(of, &class, &format!("{CLASS}/{key}"), changes));
    }
    all
}

fn table() -> Vec<Row> {
    let mut all = rows(
        "FifoSpec",
        &json!({"p": {"fifo": {}}}),
        "/p/fifo",
        &[
            ("limit", json!(["41 packets", "41 kB", "41 ms"])),
            (
                "aqm",
                json!([{"red": {}}, {"wred": {}}, {"codel": {}}, {"choke": {}}, {"sfb": {}}]),
            ),
            ("full", json!(["front", "random"])),
        ],
    );
    all.extend(aqm(
        "choke",
        "ChokeSpec",
        json!({}),
        &[
            ("as", json!(["linux"])),
            ("min_th", json!([0.5, 5.4, 7])),
            ("max_th", json!([15.4, 20])),
            ("max_p", json!([0.01, 1])),
            ("weight", json!([0.0021, 0.004, 1])),
            ("ecn", json!([true])),
            ("mean_packet", json!(["1000 B", "501 B"])),
            ("idle", json!(["none"])),
        ],
    ));
    all.extend(aqm(
        "sfb",
        "SfbSpec",
        json!({}),
        &[
            ("levels", json!([2])),
            ("bins", json!([23])),
            ("target", json!([19])),
            ("max", json!([26])),
            ("increment", json!([0.01, 1e-6])),
            ("decrement", json!([0.01, 1e-6])),
            ("rehash", json!(["100 s", "0 s"])),
            ("warmup", json!(["10 s", "0 s", "1.5 ms"])),
            ("penalty_rate", json!([0, 20])),
            ("penalty_burst", json!([0, 10])),
            ("ecn", json!([false])),
        ],
    ));
    let red: &[(&str, Value)] = &[
        ("min_th", json!([0.5, 5.4, 7])),
        ("max_th", json!([15.4, 20, 99.9])),
        ("max_p", json!([0.01, 0.11, 1])),
        ("weight", json!([0.0021, 0.004, 1])),
        ("gentle", json!([false])),
        ("curve", json!(["quadratic"])),
        ("ecn", json!([true])),
        ("wait", json!([true])),
        ("as", json!(["floyd1993", "ns2", "linux", "cisco"])),
        ("spread", json!(["per-gap", "none"])),
        ("first_passes", json!([true])),
        ("spare_short_queue", json!([true])),
        ("unit", json!(["bytes"])),
        ("size_scaling", json!(["paper", "ns"])),
        ("mean_packet", json!(["1000 B", "501 B"])),
        ("idle", json!(["none"])),
    ];
    all.extend(aqm("red", "RedSpec", json!({}), red));
    let paper: &[(&str, Value)] = &[("max_packet", json!(["1000 B"]))];
    all.extend(aqm(
        "red",
        "RedSpec",
        json!({"size_scaling": "paper"}),
        paper,
    ));
    let marks: &[(&str, Value)] = &[("marks", json!(["below-max", "always"]))];
    all.extend(aqm("red", "RedSpec", json!({"ecn": true}), marks));
    let ns: &[(&str, Value)] = &[("mean_packet", json!(["1000 B"]))];
    all.extend(aqm("red", "RedSpec", json!({"size_scaling": "ns"}), ns));
    let wred: &[(&str, Value)] = &[
        ("by", json!(["precedence"])),
        ("unit", json!(["bytes", "ms"])),
        ("defaults", json!(["ios-xe", "staggered"])),
        ("exponential_weighting_constant", json!([1, 10])),
        (
            "dscp",
            json!([{"af11": {"min": 30, "max": 40}}, {"af11": {"min": 32, "max": 41}}, {"af11": {"min": 32, "max": 40, "denominator": 20}}]),
        ),
        ("ecn", json!([true])),
        ("mean_packet", json!(["501 B"])),
        ("idle", json!(["none"])),
    ];
    all.extend(aqm("wred", "WredSpec", json!({}), wred));
    let wred: &[(&str, Value)] = &[("precedence", json!([{"1": {"min": 30, "max": 40}}]))];
    all.extend(aqm("wred", "WredSpec", json!({"by": "precedence"}), wred));
    all.extend(aqm(
        "codel",
        "CodelSpec",
        json!({}),
        &[
            ("target", json!(["6 ms", "5000.4 us"])),
            ("interval", json!(["99 ms"])),
            ("ecn", json!([true])),
            ("ce_threshold", json!(["1 ms", "2 us"])),
            ("max_packet", json!(["1500 B"])),
            ("inverse_sqrt", json!(["newton16"])),
            ("as", json!(["linux"])),
        ],
    ));
    all.extend(aqm(
        "pie",
        "PieSpec",
        json!({}),
        &[
            ("as", json!(["linux", "ns3"])),
            ("target", json!(["20 ms", "5000.4 us"])),
            ("update", json!(["16 ms"])),
            ("alpha", json!([0.25, 0.2])),
            ("beta", json!([1.5, 0.2])),
            ("max_burst", json!(["100 ms"])),
            ("ecn", json!([true])),
            ("ecn_threshold", json!([0.2])),
            ("mean_packet", json!(["1000 B"])),
            ("derandomize", json!([false])),
            ("dq_rate_estimator", json!([true])),
        ],
    ));
    all.extend(queue(
        "flow-wfq",
        Some("fair_queue"),
        "FairQueueSpec",
        &[
            ("queues", json!([16, 4096])),
            ("threshold", json!([1, 65, 128, 4096])),
            ("hold_queue", json!([1, 999, 5000])),
            ("cdt_policy", json!(["block-quarter", "tail-drop"])),
            ("weights", json!(["equal"])),
        ],
    ));
    all.extend(queue(
        "drr",
        Some("drr"),
        "DrrSpec",
        &[
            ("quantum", json!(["300 B", "3000 B"])),
            ("weights", json!(["precedence"])),
            ("limit", json!(["999 packets", "1 MB", "20 ms"])),
            ("queues", json!([1, 100, 256, 65536])),
            ("aqm", json!([{"red": {}}, {"wred": {}}, {"codel": {}}])),
        ],
    ));
    all.extend(queue(
        "fq",
        Some("fq"),
        "FqSpec",
        &[
            ("limit", json!(["999 packets", "1 MB", "20 ms"])),
            ("memory_limit", json!(["16 MiB", "8 GiB"])),
            ("queues", json!([1, 1000, 4096])),
            ("quantum", json!(["300 B"])),
            ("drop_batch", json!([1])),
            ("guard", json!(["total"])),
            ("aqm", json!([{"red": {}}, {"wred": {}}, {"codel": {}}])),
        ],
    ));
    all.extend(queue(
        "fair",
        Some("fair"),
        "FairSpec",
        &[
            ("scheduler", json!(["start-time", "wf2q+", "qfq", "wrr"])),
            ("weights", json!(["precedence"])),
            ("limit", json!(["999 packets", "1 MB", "20 ms"])),
            ("queues", json!([1, 100, 256, 65536])),
            ("aqm", json!([{"red": {}}, {"codel": {}}])),
        ],
    ));
    all.extend(rows(
        "FairSpec",
        &json!({"p": {"fair": {"scheduler": "qfq"}}}),
        "/p/fair",
        &[("weight_sum", json!([7]))],
    ));
    all.extend(queue(
        "sfq",
        Some("sfq"),
        "SfqSpec",
        &[
            ("as", json!(["ns2"])),
            ("quantum", json!(["300 B"])),
            ("limit", json!(["99 packets", "1 MB", "20 ms"])),
            ("depth", json!([9, 1000])),
            ("flows", json!([9])),
            ("divisor", json!([256])),
            ("perturb", json!(["10 s", "200 ms"])),
            ("headdrop", json!([true])),
            (
                "aqm",
                json!([
                    {"red": {}},
                    {"red": {"as": "linux", "min_th": 9000, "max_th": 30000, "ecn": true}}
                ]),
            ),
        ],
    ));
    all.extend(queue(
        "fq-pie",
        Some("fq_pie"),
        "FqPieSpec",
        &[
            ("as", json!(["linux", "ns3"])),
            ("limit", json!(["999 packets", "1 MB", "20 ms"])),
            ("flows", json!([1000])),
            ("quantum", json!(["300 B"])),
            ("target", json!(["16 ms", "14999.7 us"])),
            ("update", json!(["17 ms"])),
            ("alpha", json!([0.25, 0.3])),
            ("beta", json!([2, 3])),
            ("max_burst", json!(["50 ms"])),
            ("ecn", json!([true])),
            ("ecn_threshold", json!([0.2, 0.29, 0.105])),
            ("mean_packet", json!(["1000 B"])),
            ("derandomize", json!([false])),
            ("dq_rate_estimator", json!([true])),
        ],
    ));
    all.extend(queue(
        "wfq",
        None,
        "WfqSpec",
        &[
            ("weights", json!(["precedence"])),
            (
                "limit",
                json!(["63 packets", "200 packets", "100 kB", "5000 packets"]),
            ),
            ("hold_queue", json!(["999 packets", "1 MB", "20 ms"])),
        ],
    ));
    all.extend(queue(
        "fq-codel",
        Some("fq_codel"),
        "FqCodelSpec",
        &[
            ("limit", json!(["999 packets", "1 MB", "20 ms"])),
            ("memory_limit", json!(["16 MiB", "8 GiB"])),
            ("flows", json!([1, 1000, 4096])),
            ("quantum", json!(["300 B"])),
            ("drop_batch", json!([1])),
            ("target", json!(["6 ms", "5000.4 us"])),
            ("interval", json!(["99 ms"])),
            ("ecn", json!([false])),
            ("ce_threshold", json!(["1 ms"])),
            ("max_packet", json!(["1500 B"])),
            ("guard", json!(["flow"])),
            ("inverse_sqrt", json!(["newton16"])),
            ("as", json!(["linux"])),
        ],
    ));
    all.extend(queue(
        "dualpi2",
        Some("dualpi2"),
        "DualPi2Spec",
        &[
            ("limit", json!(["999 packets", "1 MB", "20 ms"])),
            ("target", json!(["16 ms", "14999.7 us"])),
            ("update", json!(["17 ms"])),
            ("alpha", json!([0.17])),
            ("beta", json!([3.3])),
            ("coupling", json!([3, 2.5, 0.2])),
            ("threshold", json!(["900 us"])),
            ("range", json!(["0 s", "500 us"])),
            ("min_packets", json!([0, 2])),
            ("classic_share", json!([0.2, 0.105, 0.29])),
            ("time_shift", json!(["50 ms"])),
            ("drop_on_overload", json!([false])),
            ("mtu", json!(["1500 B"])),
            ("decide", json!(["draw"])),
            ("as", json!(["linux"])),
        ],
    ));
    let cake: &[(&str, Value)] = &[
        ("tins", json!(["besteffort", "diffserv8"])),
        ("isolation", json!(["flows", "dual-srchost"])),
        ("overhead", json!(["18 B", "overhead 44 mpu 84 atm"])),
        ("rtt", json!(["20 ms", "1.5 us"])),
        ("ingress", json!([true])),
        ("ack_filter", json!(["filter", "aggressive"])),
        ("nat", json!([true])),
        ("memory_limit", json!(["5 MB", "5 GB"])),
        ("mtu", json!(["1500 B"])),
    ];
    all.extend(queue("cake", Some("cake"), "CakeSpec", cake));
    let shaped: &[(&str, Value)] = &[("bandwidth", json!(["9 Mb/s"]))];
    all.extend(queue("cake", None, "CakeSpec", shaped));
    all.extend(fan());
    all.extend(trees());
    all.extend(of_class());
    all.extend(of_priority());
    all.extend(of_police());
    all
}

/// The rows of trees of classes.
fn trees() -> Vec<Row> {
    let classes = json!([
        {"name": "top", "rate": "5 Mb/s"},
        {"name": "a", "parent": "top", "match": {"dscp": "af11"}, "rate": "2 Mb/s"},
        {"name": "b", "parent": "top", "match": {"dscp": "ef"}, "rate": "1 Mb/s"},
        {"name": "side", "rate": "1 Mb/s"}]);
    let htb = json!({"p": {"htb": {"default": "a", "classes": classes}}});
    let fewer = json!([{"name": "a", "rate": "2 Mb/s"}]);
    let mut all = rows(
        "HtbSpec",
        &htb,
        "/p/htb",
        &[
            ("default", json!(["b"])),
            ("r2q", json!([20])),
            ("direct_qlen", json!([9])),
            ("direct", json!([{"dscp": "cs6"}])),
            ("timer", json!(["4 ms"])),
            ("hysteresis", json!([true])),
            ("classes", json!([fewer])),
        ],
    );
    let common = |class: &[(&'static str, Value)]| {
        let mut all = vec![
            ("parent", json!(["side"])),
            ("match", json!([{"dscp": "cs1"}])),
            (
                "queue",
                json!([{"fq-codel": {}}, {"fifo": {"limit": "9 kB"}}]),
            ),
        ];
        all.extend_from_slice(class);
        all
    };
    let own = common(&[
        ("rate", json!(["2 Mb/s", "30 %"])),
        ("ceil", json!(["4 Mb/s"])),
        ("burst", json!(["9 kB"])),
        ("cburst", json!(["9 kB"])),
        ("quantum", json!(["3 kB"])),
        ("prio", json!([3])),
    ]);
    all.extend(rows("HtbClassSpec", &htb, "/p/htb/classes/2", &own));
    let curve = json!({"m2": "1 Mb/s"});
    let classes = json!([
        {"name": "top", "ls": curve},
        {"name": "a", "parent": "top", "match": {"dscp": "af11"}, "ls": curve},
        {"name": "b", "parent": "top", "match": {"dscp": "ef"}, "ls": {"m1": "3 Mb/s", "d": "9 ms", "m2": "1 Mb/s"}},
        {"name": "side", "ls": curve}]);
    let hfsc = json!({"p": {"hfsc": {"default": "a", "classes": classes}}});
    let fewer = json!([{"name": "a", "sc": curve}]);
    all.extend(rows(
        "HfscSpec",
        &hfsc,
        "/p/hfsc",
        &[("default", json!(["b"])), ("classes", json!([fewer]))],
    ));
    let other = json!([{"m2": "700 kb/s"}]);
    let own = common(&[("rt", other.clone()), ("ls", other.clone()), ("ul", other)]);
    let class = "/p/hfsc/classes/2";
    all.extend(rows("HfscClassSpec", &hfsc, class, &own));
    let both = json!({"p": {"hfsc": {"default": "b", "classes": [{"name": "b", "sc": curve}]}}});
    let changed = [("sc", json!([{"m2": "2 Mb/s"}]))];
    all.extend(rows("HfscClassSpec", &both, "/p/hfsc/classes/0", &changed));
    let slopes = [
        ("m1", json!(["0 b/s", "4 Mb/s"])),
        ("d", json!(["5 ms"])),
        ("m2", json!(["2 Mb/s"])),
    ];
    all.extend(rows("CurveSpec", &hfsc, &format!("{class}/ls"), &slopes));
    let within = json!({"umax": "1500 B", "dmax": "9 ms", "rate": "1 Mb/s"});
    let classes = json!([{"name": "a", "sc": within}]);
    let hfsc = json!({"p": {"hfsc": {"default": "a", "classes": classes}}});
    let others = [
        ("umax", json!(["800 B"])),
        ("dmax", json!(["5 ms"])),
        ("rate", json!(["2 Mb/s"])),
    ];
    all.extend(rows("CurveSpec", &hfsc, "/p/hfsc/classes/0/sc", &others));
    all
}

fn fan() -> Vec<Row> {
    let mut all = queue(
        "fan",
        None,
        "FanSpec",
        &[
            ("scheduler", json!([{"pdrr": {}}])),
            ("limit", json!(["999 packets", "1 MB", "20 ms"])),
            ("mtu", json!(["1600 B"])),
            ("min_fair_rate", json!(["6 %", "1 Mb/s"])),
            ("max_priority_load", json!(["71 %", "1 Mb/s"])),
            ("pfl_flow_timeout", json!(["21 s"])),
            ("pfl_max", json!([100])),
            ("p_add", json!([0.5])),
            (
                "mechanism",
                json!([{"efm": {}}, {"raef": {}}, {"rbaef": {}}]),
            ),
            ("elastic", json!(["instant"])),
            ("accept_trigger", json!([true])),
            ("fair_rate", json!([{"interval": "1 s"}])),
            ("priority_load", json!([{"interval": "1 s"}])),
            ("tick_phase", json!(["1 ms"])),
            ("admissions_per_tick", json!([3])),
            ("protected_list", json!(["shared"])),
        ],
    );
    let mut inside = |of, key: &str, kind: &str, changes: &[(&'static str, Value)]| {
        let (spec, at) = match kind {
            "" => (json!({key: {}}), format!("/p/fan/{key}")),
            kind => (json!({key: {kind: {}}}), format!("/p/fan/{key}/{kind}")),
        };
        all.extend(rows(of, &json!({"p": {"fan": spec}}), &at, changes));
    };
    inside("PfqSpec", "scheduler", "pfq", &[("afl_max", json!([9]))]);
    let pdrr = [("mode", json!(["literal"])), ("quantum", json!(["3000 B"]))];
    inside("PdrrSpec", "scheduler", "pdrr", &pdrr);
    inside(
        "EfmSpec",
        "mechanism",
        "efm",
        &[("pfl_flushing_timer", json!(["4 s"]))],
    );
    inside(
        "RaefSpec",
        "mechanism",
        "raef",
        &[("active_time", json!(["4 s"]))],
    );
    let rbaef = [
        ("active_time", json!(["4 s"])),
        ("blocked_time", json!(["4 s"])),
    ];
    inside("RbaefSpec", "mechanism", "rbaef", &rbaef);
    let measured = [("interval", json!(["400 ms"])), ("smoothing", json!([0.5]))];
    inside("FairRateSpec", "fair_rate", "", &measured);
    inside("PriorityLoadSpec", "priority_load", "", &measured);
    all
}

fn of_class() -> Vec<Row> {
    let queued = class(json!({"bandwidth": "20 %"}));
    let mut all = rows(
        "ClassSpec",
        &queued,
        CLASS,
        &[
            ("phb", json!(["af2"])),
            ("bandwidth", json!(["30 %", "7 Mb/s", "20.5 %"])),
            ("shape", json!([{"rate": "10 Mb/s"}])),
            ("police", json!([{"rate": "10 Mb/s"}])),
            ("queue_limit", json!(["63 packets", "63 kB", "63 ms"])),
            ("queue_limit_dscp", json!([{"af11": "20 packets"}])),
            ("queue_limit_precedence", json!([{"1": "20 packets"}])),
            ("aqm", json!([{"red": {}}, {"wred": {}}, {"codel": {}}])),
            ("fair_queue", json!([{}])),
            ("drr", json!([{}])),
            ("fair", json!([{}])),
            ("fq", json!([{}, {"aqm": {"codel": {}}}])),
            ("fq_codel", json!([{}])),
            ("fq_pie", json!([{}])),
            ("sfq", json!([{}])),
            ("dualpi2", json!([{}])),
            ("cake", json!([{}])),
            ("set_dscp", json!(["cs1"])),
            ("set_exp", json!([3])),
            ("set_exp_imposition", json!([3])),
            ("set_cos", json!([3])),
            ("set_qos_group", json!([3])),
            ("policy", json!(["inner"])),
        ],
    );
    let sharing: &[(&str, Value)] = &[
        ("bandwidth_remaining", json!(["20 %"])),
        ("bandwidth_remaining_ratio", json!([7])),
        ("priority", json!([{}, {"rate": "10 %"}])),
    ];
    all.extend(rows("ClassSpec", &class(json!({})), CLASS, sharing));
    // A limit beside a fair queue, and RED in front of one.
    let fair = class(json!({"bandwidth": "20 %", "fair_queue": {}}));
    let beside: &[(&str, Value)] = &[
        ("queue_limit", json!(["63 packets", "63 kB", "5 ms"])),
        ("aqm", json!([{"red": {}}, {"wred": {}}])),
    ];
    all.extend(rows("ClassSpec", &fair, CLASS, beside));
    let shaped = class(json!({"shape": {"rate": "10 Mb/s"}}));
    let shape: &[(&str, Value)] = &[
        ("rate", json!(["11 Mb/s", "12 %"])),
        ("burst", json!(["30 kB", "30 ms"])),
        ("excess_burst", json!(["30 kB", "30 ms"])),
        ("as", json!(["htb"])),
    ];
    all.extend(rows("ShapeSpec", &shaped, &format!("{CLASS}/shape"), shape));
    all
}

fn of_priority() -> Vec<Row> {
    let at = format!("{CLASS}/priority");
    let mut all = rows(
        "PrioritySpec",
        &class(json!({"priority": {}})),
        &at,
        &[
            ("rate", json!(["10 %", "3 Mb/s"])),
            ("limit", json!(["63 packets", "63 kB", "63 ms"])),
        ],
    );
    // A level is before or behind another.
    let mut two = class(json!({"priority": {}}));
    let other = json!({"name": "b", "match": {"dscp": "ef"}, "priority": {"level": 2}});
    let classes = two.pointer_mut("/p/class-based/classes").unwrap();
    classes.as_array_mut().unwrap().insert(1, other);
    all.extend(rows(
        "PrioritySpec",
        &two,
        &at,
        &[("level", json!([3, 7, 8]))],
    ));
    let policed: &[(&str, Value)] = &[
        ("burst", json!(["30 kB", "20 B"])),
        ("police", json!(["always"])),
    ];
    let priority = class(json!({"priority": {"rate": "10 %"}}));
    all.extend(rows("PrioritySpec", &priority, &at, policed));
    let always = class(json!({"priority": {"rate": "10 %", "police": "always"}}));
    all.extend(rows("PrioritySpec", &always, &at, &policed[..1]));
    all
}

fn of_police() -> Vec<Row> {
    let at = format!("{CLASS}/police");
    let marks = json!([
        "drop", {"set-dscp": "cs1"}, {"set-exp": 2}, {"set-exp-imposition": 2}, {"set-cos": 2},
        {"set-qos-group": 2}]);
    let mut all = rows(
        "PoliceSpec",
        &class(json!({"police": {"rate": "10 Mb/s"}})),
        &at,
        &[
            ("rate", json!(["11 Mb/s", "12 %"])),
            ("burst", json!(["30 kB", "30 ms"])),
            ("peak_rate", json!(["20 Mb/s"])),
            ("window", json!(["1 s"])),
            ("per_flow", json!([true])),
            ("conform", marks.clone()),
            ("exceed", json!(["transmit", {"set-dscp": "cs1"}])),
            ("violate", json!([{"set-dscp": "cs1"}])),
            ("conform_color", json!([{"dscp": "af11"}])),
        ],
    );
    // Two rates, one rate of three colors, colors.
    for (base, changes) in [
        (
            json!({"rate": "10 Mb/s", "peak_rate": "20 Mb/s"}),
            vec![
                ("excess_burst", json!(["30 kB"])),
                ("peak_rate", json!(["30 Mb/s"])),
            ],
        ),
        (
            json!({"rate": "10 Mb/s", "peak_rate": "20 Mb/s", "exceed": {"set-dscp": "cs1"}, "violate": "drop"}),
            vec![
                ("excess_burst", json!(["30 kB"])),
                ("peak_rate", json!(["30 Mb/s"])),
                ("violate", json!(["transmit", {"set-dscp": "cs2"}])),
            ],
        ),
        (
            json!({"rate": "10 Mb/s", "exceed": {"set-dscp": "cs1"}, "violate": "drop"}),
            vec![
                ("excess_burst", json!(["30 kB"])),
                ("violate", json!([{"set-dscp": "cs2"}])),
            ],
        ),
        (
            json!({"rate": "10 Mb/s", "exceed": "transmit", "violate": "drop"}),
            vec![("excess_burst", json!(["30 kB"]))],
        ),
        (
            json!({"rate": "10 Mb/s", "violate": "drop", "conform_color": {"dscp": "af11"}}),
            vec![("exceed_color", json!([{"dscp": "af12"}]))],
        ),
    ] {
        all.extend(rows(
            "PoliceSpec",
            &class(json!({"police": base})),
            &at,
            &changes,
        ));
    }
    all
}

/// Every parameter of the schema is in the table, but for what other tests compare packet by
/// packet.
#[test]
fn every_parameter_has_a_row() {
    let schema = schemars::schema_for!(DisciplineSpec);
    let mut expected = BTreeSet::new();
    // An algorithm that no target knows is named whole: see below.
    let untranslated: Vec<String> = untranslated()
        .map(|kind| schema_of(&schema, kind))
        .collect();
    for (name, def) in schema.get("$defs").unwrap().as_object().unwrap() {
        // Compared elsewhere, or (`RedCurve`) used by algorithms alone that no target knows.
        let elsewhere = [
            "MatchSpec",
            "AclEntry",
            "ClassBasedSpec",
            "WredProfile",
            "RedCurve",
            // What a user gives is named whole.
            "OwnAqmSpec",
            "OwnSchedulerSpec",
        ];
        let properties = def.get("properties").and_then(Value::as_object);
        for key in properties.into_iter().flat_map(serde_json::Map::keys) {
            let label = [
                "ClassSpec.name",
                "ClassSpec.match",
                "HtbClassSpec.name",
                "HfscClassSpec.name",
            ];
            let full = format!("{name}.{key}");
            let told = elsewhere.contains(&name.as_str()) || untranslated.contains(name);
            if !told && !label.contains(&full.as_str()) {
                expected.insert(full);
            }
        }
    }
    let found: BTreeSet<String> = table().iter().map(|r| r.key.to_owned()).collect();
    assert_eq!(found, expected);
    assert!(expected.len() > 100, "{}", expected.len());
}

/// The AQMs of the registry that no target has.
fn untranslated() -> impl Iterator<Item = &'static str> {
    let aqms = spillgate_queueing::kinds().iter().find(|f| f.name == "aqm");
    let kinds = aqms.unwrap().kinds.iter().map(|k| k.kind);
    kinds.filter(|k| !["red", "wred", "codel", "pie", "choke", "sfb"].contains(k))
}

/// The type of the parameters of an AQM.
fn schema_of(schema: &schemars::Schema, aqm: &str) -> String {
    let variants = schema.pointer("/$defs/AqmSpec/oneOf").unwrap();
    let mut found = variants.as_array().unwrap().iter();
    let reference = found.find_map(|v| v.pointer(&format!("/properties/{aqm}/$ref")));
    let path = reference.unwrap().as_str().unwrap();
    path.rsplit('/').next().unwrap().to_owned()
}

/// An algorithm without a translation is named with all its parameters, wherever it stands.
#[test]
fn an_unknown_algorithm_is_named() {
    for kind in untranslated() {
        let aqm = json!({kind: {}});
        for policies_of in [
            json!({"p": {"fifo": {"aqm": aqm}}}),
            json!({"p": {"drr": {"aqm": aqm}}}),
            json!({"p": {"fq": {"aqm": aqm}}}),
            class(json!({"bandwidth": "50 %", "aqm": aqm})),
            class(json!({"bandwidth": "50 %", "drr": {"aqm": aqm}})),
            class(json!({"bandwidth": "50 %", "fq": {"aqm": aqm}})),
        ] {
            // Those that tell flows apart are not for fair queues.
            let spec: AqmSpec = serde_json::from_value(aqm.clone()).unwrap();
            let written = policies_of.to_string();
            if spec.tells_flows() && (written.contains("drr") || written.contains("fq")) {
                continue;
            }
            for (target, write) in targets() {
                let Some(written) = write(policies(&policies_of, kind)) else {
                    continue;
                };
                let named = |n: &spillgate_export::Note| n.reason.contains(kind);
                assert!(written.notes.iter().any(named), "{target}: {policies_of}");
            }
        }
    }
    assert!(untranslated().count() > 0);
}

type Policies = BTreeMap<String, DisciplineSpec>;

/// The policies, if they can be built: a row that nobody can run shows nothing.
fn policies(json: &Value, what: &str) -> Policies {
    let policies: Policies =
        serde_json::from_value(json.clone()).unwrap_or_else(|e| panic!("{what}: {e}\n{json}"));
    let built = Recipe::resolve("p", &policies, rate());
    built.unwrap_or_else(|e| panic!("{what}: {e:?}"));
    policies
}

fn rate() -> Rate {
    Rate::from_bps(100_000_000).unwrap()
}

fn source(policies: Policies, platform: Platform) -> Source {
    Source {
        policies,
        ports: vec![Port {
            name: "GigabitEthernet0/1".to_owned(),
            policy: "p".to_owned(),
            rate: Some(rate()),
            overhead: None,
            policers: None,
            longest: Default::default(),
            labels: false,
            tag: Tag::None,
            circuit: None,
            tx_ring: None,
        }],
        inputs: Vec::new(),
        platform,
        match_any: std::collections::BTreeSet::new(),
        lost: Vec::new(),
        originals: Vec::new(),
    }
}

/// Writes policies, if the target can say them.
type Write = Box<dyn Fn(Policies) -> Option<Exported>>;

/// Every way to write policies, by name.
fn targets() -> Vec<(String, Write)> {
    let mut all: Vec<(String, Write)> = Vec::new();
    for scheduler in Scheduler::ALL {
        let write = move |policies| {
            let options = TcOptions {
                device: Some("eth0"),
                scheduler,
                ..TcOptions::default()
            };
            // Not every policy is one of bands.
            tc(&source(policies, Platform::Ios), &options).ok()
        };
        all.push((format!("tc {}", scheduler.name()), Box::new(write)));
    }
    for platform in Platform::ALL {
        let write = move |policies| Some(ios(&source(policies, platform)));
        all.push((platform.name().to_owned(), Box::new(write)));
    }
    all
}

fn commands(written: &Exported) -> Vec<&str> {
    let comment = |l: &&str| l.starts_with('#') || l.starts_with('!');
    written.text.lines().filter(|l| !comment(l)).collect()
}

/// Whether a note that is there only after the change names the parameter or its value.
fn named(key: &str, value: &Value, before: &Exported, after: &Exported) -> bool {
    let key = key.rsplit('.').next().unwrap();
    // A kind with its parameters is named by itself.
    let value = match value {
        Value::Object(table) => table.keys().next().cloned().unwrap_or_default(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    let new = after.notes.iter().filter(|n| !before.notes.contains(n));
    let gone = before.notes.iter().filter(|n| !after.notes.contains(n));
    let mut texts = new.chain(gone).map(|n| n.reason.to_lowercase());
    let words = key.replace('_', " ");
    texts
        .any(|t| t.contains(key) || t.contains(&words) || (!value.is_empty() && t.contains(&value)))
}

#[test]
fn a_parameter_changes_the_commands_or_is_named() {
    let mut silent = Vec::new();
    let mut checked = 0;
    for (target, write) in targets() {
        for row in table() {
            let before = policies(&row.policies, row.key);
            let Some(before) = write(before) else {
                continue;
            };
            for value in &row.values {
                let mut json = row.policies.clone();
                let (object, key) = row.at.rsplit_once('/').unwrap();
                let object = json.pointer_mut(object).unwrap();
                object[key] = value.clone();
                // What excludes the rest of the class.
                let table = object.as_object_mut().unwrap();
                if [
                    "drr",
                    "fair",
                    "fq",
                    "fq_codel",
                    "fq_pie",
                    "sfq",
                    "dualpi2",
                    "cake",
                    "fair_queue",
                ]
                .contains(&key)
                {
                    table.remove("queue_limit");
                }
                let what = format!("{} = {value}", row.key);
                let Some(after) = write(policies(&json, &what)) else {
                    continue;
                };
                checked += 1;
                let same = commands(&before) == commands(&after);
                if same && !named(row.key, value, &before, &after) {
                    let notes: Vec<String> = after.notes.iter().map(ToString::to_string).collect();
                    silent.push(format!("{target}: {what} ({}) {notes:#?}", row.at));
                }
            }
        }
    }
    assert!(
        silent.is_empty(),
        "{} of {checked}\n{}",
        silent.len(),
        silent.join("\n")
    );
    assert!(checked > 1000, "{checked}");
}

/// What is written of any of them can be read.
#[test]
fn what_is_written_for_ios_is_read() {
    for platform in Platform::ALL {
        for row in table() {
            let written = ios(&source(policies(&row.policies, row.key), platform));
            // Disciplines that IOS has not are left out as a whole, not only their AQM.
            let whole = |n: &str| n.contains("no translation of") && !n.contains("the queue drops");
            if written.notes.iter().any(|n| whole(&n.reason)) {
                continue;
            }
            let read =
                ConfigImporter::default().ios("exported.cfg", written.text.as_bytes(), platform);
            let read =
                read.unwrap_or_else(|e| panic!("{} {platform:?}: {e}\n{}", row.key, written.text));
            let lost: Vec<_> = read.unmodelled.iter().map(|u| &u.text).collect();
            assert!(lost.is_empty(), "{} {platform:?}: {lost:?}", row.key);
            let port = &read.interfaces["GigabitEthernet0/1"];
            assert!(port.output_policy.is_some(), "{}", written.text);
        }
    }
}
