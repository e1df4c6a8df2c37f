//! Reports of finished runs: rows, verdicts, and the Parquet table read back.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::{ListAccessor, RowAccessor};
use spillgate_measure::stats::Interval;
use spillgate_measure::table::{Better, Metric, Scope};
use spillgate_output::{Report, describe, write_json, write_parquet, write_series};
use spillgate_scenario::plan::Plan;
use spillgate_scenario::{NoImporter, Options, load};
use spillgate_sim::Campaign;

/// Constant traffic, so that values are known: 100 packets of 1500 B a second at 12 Mb/s,
/// 1 ms each; beside it a flow of a class that never sends in the period.
const SCENARIO: &str = "
schema_version: 1
name: known values
topology:
  nodes: [a, b]
  links: {l: {from: a, to: b, rate: 12 Mb/s, policy: FIFO}}
policies: {FIFO: {fifo: {limit: 40 packets}}, WFQ: {wfq: {}}}
traffic:
  - flow: {name: f, count: 2, class: busy, from: a, to: b, dscp: ef, source: {cbr: {rate: 600 kb/s, packet: 1500 B}}}
  - flow: {name: g, class: silent, from: a, to: b, start: 9 s, source: {cbr: {rate: 600 kb/s, packet: 1500 B}}}
measurement: {warmup: 1 s, duration: 4 s, interval: 500 ms}
runs: {count: 3, seed: 1}
variants:
  - {name: FIFO, set: {}}
  - {name: WFQ, set: {topology.links.l.policy: WFQ}}
sla:
  - {class: busy, metric: throughput, min: 1 Mb/s}
  - {class: busy, metric: loss_ratio, max: 1 %}
  - {class: busy, metric: owd_mean, max: 100 us}
  - {class: silent, metric: owd_mean, max: 100 us}
";

fn plan() -> Arc<Plan> {
    plan_of(SCENARIO)
}

fn plan_of(yaml: &str) -> Arc<Plan> {
    let files = BTreeMap::from([(PathBuf::from("test.yaml"), yaml.as_bytes().to_vec())]);
    let options = Options::default();
    let loaded = load(Path::new("test.yaml"), &files, &NoImporter, &options);
    Arc::new(loaded.expect("a valid scenario").plan)
}

fn report() -> Report {
    let plan = plan();
    let campaign = Campaign::new(Arc::clone(&plan));
    campaign.execute(2).expect("threads");
    Report::new(plan, campaign.finished())
}

#[test]
fn the_table_holds_every_value_of_every_run() {
    let report = report();
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join("report.parquet");
    write_parquet(&report, &path).expect("a writable folder");
    let reader = SerializedFileReader::new(File::open(&path).unwrap()).unwrap();

    let schema = reader.metadata().file_metadata().schema();
    let names: Vec<_> = schema.get_fields().iter().map(|f| f.name()).collect();
    assert_eq!(
        names,
        [
            "variant", "run", "scope", "name", "class", "metric", "value", "unit", "bound"
        ]
    );

    // Bits, so that a null (none) and NaN cannot be mixed up.
    type Row = (String, i32, [String; 5], [Option<u64>; 2]);
    let rows: Vec<Row> = reader
        .get_row_iter(None)
        .unwrap()
        .map(|row| {
            let row = row.unwrap();
            let text = |i| row.get_string(i).unwrap().clone();
            let number = |i| row.get_double(i).ok().map(f64::to_bits);
            let run = row.get_int(1).unwrap();
            let texts = [2, 3, 4, 5, 7].map(text);
            (text(0), run, texts, [number(6), number(8)])
        })
        .collect();

    let mut expected: Vec<Row> = Vec::new();
    let summary = report.summary();
    for f in report.finished() {
        let variant = &report.plan().variants[f.info.variant];
        let layout = report.layout(f.info.variant);
        let mut push = |texts: [&str; 5], value: f64| {
            let value = Some(value).filter(|v| v.is_finite());
            let [scope, name, _, metric, _] = texts;
            let row = summary.iter().find(|r| {
                let of = (&*r.variant, r.scope, &*r.name, r.metric);
                of == (&*variant.name, scope, name, metric)
            });
            let bound = row.and_then(|r| r.bound);
            expected.push((
                variant.name.clone(),
                f.info.run as i32,
                texts.map(str::to_owned),
                [value, bound].map(|v| v.map(f64::to_bits)),
            ));
        };
        for (key, value) in layout.keys.iter().zip(&f.outcome.values) {
            let (scope, name) = (key.scope.name(), layout.name(key));
            let class = match (scope, name) {
                ("flow", "f-0" | "f-1") => "busy",
                ("flow", "g") => "silent",
                ("class", class) => class,
                _ => "",
            };
            let texts = [scope, name, class, key.metric.name(), key.metric.unit()];
            push(texts, *value);
        }
    }
    assert_eq!(rows, expected);
    // The silent flow has delays in no run.
    assert!(rows.iter().any(|r| r.3[0].is_none()));
    // A packet of each of three flows at 12 Mb/s: no more come at once.
    let most = |r: &&Row| r.0 == "FIFO" && r.2[3] == "owd_max" && r.2[1] == "busy";
    let bound = rows.iter().find(most).and_then(|r| r.3[1]);
    assert_eq!(bound, Some(3e-3_f64.to_bits()));
}

#[test]
fn samples_are_the_values_of_the_single_runs() {
    let report = report();
    let rows = report.samples(
        |s| s == Scope::Class,
        |m| m == "throughput" || m == "jitter",
    );
    let of: Vec<_> = rows
        .iter()
        .map(|r| (r.variant.as_str(), r.name.as_str(), r.metric))
        .collect();
    // Two variants, two classes, two metrics, in the layout's order.
    assert_eq!(rows.len(), 2 * 2 * 2);
    assert_eq!(of[0], ("FIFO", "busy", "throughput"));
    assert!(of.contains(&("WFQ", "silent", "jitter")));
    for row in &rows {
        assert_eq!(row.runs, [0, 1, 2]);
        // Two flows of 600 kb/s arrive whole; nothing of the silent one.
        let expected = if row.name == "busy" { 1.2e6 } else { 0.0 };
        if row.metric == "throughput" {
            assert_eq!(row.values, [expected; 3]);
        }
    }
    assert!(report.samples(|_| false, |_| true).is_empty());
}

/// Differences are formed within runs, and say which side is the good one.
#[test]
fn differences_are_those_of_the_pairs() {
    let report = report();
    let rows = report.differences();
    assert!(
        rows.iter()
            .all(|r| (&*r.variant, &*r.against) == ("WFQ", "FIFO"))
    );
    for row in &rows {
        let samples = report.samples(|s| s == Scope::Class, |m| m == row.metric);
        let of = |variant: &str| {
            let found = samples
                .iter()
                .find(|s| s.variant == variant && s.name == row.class);
            found.unwrap().values.clone()
        };
        let pairs = of("WFQ").into_iter().zip(of("FIFO"));
        let differences: Vec<f64> = pairs.map(|(a, b)| a - b).filter(|d| !d.is_nan()).collect();
        let i = Interval::of(&differences, 0.95);
        assert_eq!(
            (row.n, row.mean.to_bits()),
            (i.n, i.mean.to_bits()),
            "{}",
            row.metric
        );
        let expected = match Metric::from_name(row.metric).unwrap().better() {
            _ if i.n > 0 && differences.iter().all(|d| *d == 0.0) => "same",
            _ if !(i.low > 0.0 || i.high < 0.0) => "not shown",
            None if i.low > 0.0 => "more",
            None => "less",
            Some(good) if (good == Better::More) == (i.low > 0.0) => "better",
            Some(_) => "worse",
        };
        assert_eq!(row.effect, expected, "{}: {i:?}", row.metric);
    }
    let offered = rows
        .iter()
        .find(|r| r.class == "busy" && r.metric == "offered");
    assert_eq!(offered.unwrap().effect, "same");
}

/// A difference far smaller than what runs differ by is shown, since pairs of runs share it; and
/// either variant can be what is compared with.
#[test]
fn a_difference_within_the_noise_of_the_runs_is_shown() {
    let yaml = "
schema_version: 1
topology:
  nodes: [a, b]
  links: {l: {from: a, to: b, rate: 1 Mb/s, delay: 1 ms, policy: p}}
policies: {p: {fifo: {limit: 1000 packets}}}
traffic:
  - flow: {name: f, class: x, from: a, to: b, source: {poisson: {rate: 600 kb/s, packet: 500 B}}}
variants:
  - {name: near, set: {}}
  - {name: far, set: {topology.links.l.delay: 1.01 ms}}
measurement: {warmup: 1 s, duration: 5 s}
runs: {count: 5, seed: 3}";
    for against in ["near", "far"] {
        let plan = plan_of(&format!("{yaml}\nverdicts: {{against: {against}}}"));
        let campaign = Campaign::new(Arc::clone(&plan));
        campaign.execute(1).expect("threads");
        let report = Report::new(plan, campaign.finished());
        let rows = report.differences();
        let mean = rows.iter().find(|r| r.metric == "owd_mean").unwrap();
        let (sign, effect) = if against == "near" {
            (1.0, "worse")
        } else {
            (-1.0, "better")
        };
        assert_eq!((&*mean.against, mean.effect), (against, effect));
        assert!((mean.mean - sign * 10e-6).abs() < 1e-9, "{}", mean.mean);
        // The means themselves have intervals that overlap by far.
        let of = |v: &str| {
            let all = report.summary();
            let found = all
                .into_iter()
                .find(|r| (r.scope, &*r.variant, r.metric) == ("class", v, "owd_mean"));
            found.unwrap()
        };
        assert!(of("near").high > of("far").low + 50e-6);
    }
}

/// Every two of three variants, the later against the earlier; of one metric and class all
/// together hold at 95 %: the clearest of three at 1 - 5 % / 3.
#[test]
fn every_two_variants_are_compared_together() {
    let yaml = "
schema_version: 1
topology:
  nodes: [a, b]
  links: {l: {from: a, to: b, rate: 1 Mb/s, delay: 1 ms, policy: p}}
policies: {p: {fifo: {limit: 1000 packets}}}
traffic:
  - flow: {name: f, class: x, from: a, to: b, source: {poisson: {rate: 600 kb/s, packet: 500 B}}}
variants:
  - {name: near, set: {}}
  - {name: alike, set: {}}
  - {name: slow, set: {topology.links.l.rate: 0.99 Mb/s}}
verdicts: {against: all}
measurement: {warmup: 1 s, duration: 5 s}
runs: {count: 5, seed: 3}";
    let plan = plan_of(yaml);
    let campaign = Campaign::new(Arc::clone(&plan));
    campaign.execute(1).expect("threads");
    let report = Report::new(plan, campaign.finished());
    let rows = report.differences();
    let of: Vec<_> = rows.iter().filter(|r| r.metric == "owd_mean").collect();
    let said: Vec<_> = of
        .iter()
        .map(|r| (&*r.variant, &*r.against, r.effect))
        .collect();
    assert_eq!(
        said,
        [
            ("alike", "near", "same"),
            ("slow", "near", "worse"),
            ("slow", "alike", "worse"),
        ]
    );
    let samples = report.samples(|s| s == Scope::Class, |m| m == "owd_mean");
    let values = |v: &str| &samples.iter().find(|s| s.variant == v).unwrap().values;
    let pairs = values("slow").iter().zip(values("near"));
    let differences: Vec<f64> = pairs.map(|(a, b)| a - b).collect();
    let interval = |tests: f64| Interval::of(&differences, 1.0 - 0.05 / tests);
    // Two that are equally clear, of which the first is judged at a third of 5 %.
    assert_eq!(of[1].low, interval(3.0).low);
    assert_eq!(of[2].low, interval(2.0).low);
}

#[test]
fn a_report_of_nothing_is_empty_and_writable() {
    let report = Report::new(plan(), Vec::new());
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join("empty.parquet");
    write_parquet(&report, &path).expect("a writable folder");
    let reader = SerializedFileReader::new(File::open(&path).unwrap()).unwrap();
    assert_eq!(reader.metadata().file_metadata().num_rows(), 0);
    assert!(report.runs().is_empty() && report.series().next().is_none());
    assert!(report.distributions().is_empty());
    assert!(report.summary().iter().all(|r| r.n == 0 && r.mean.is_nan()));
    for v in report.verdicts() {
        assert_eq!((v.verdict, v.further_runs), ("undecided", None));
    }
}

#[test]
fn requirements_are_judged_in_every_variant() {
    let rows = report().verdicts().to_vec();
    let said: Vec<_> = rows
        .iter()
        .map(|v| (v.variant.as_str(), v.class.as_str(), v.metric, v.verdict))
        .collect();
    let of = |variant| {
        [
            (variant, "busy", "throughput", "pass"),
            (variant, "busy", "loss_ratio", "pass"),
            (variant, "busy", "owd_mean", "fail"),
            (variant, "silent", "owd_mean", "undecided"),
        ]
    };
    assert_eq!(said, [of("FIFO"), of("WFQ")].concat());
    assert_eq!(
        (rows[0].side, rows[0].bound, rows[0].unit),
        ("min", 1e6, "b/s")
    );
    assert_eq!(
        (rows[1].side, rows[1].bound, rows[1].unit),
        ("max", 0.01, "1")
    );
    assert_eq!((rows[3].n, rows[3].further_runs), (0, None));
}

#[test]
fn summaries_have_a_row_for_every_key_and_intervals_over_the_runs() {
    let report = report();
    let rows = report.summary();
    let keys: usize = (0..2).map(|v| report.layout(v).keys.len()).sum();
    assert_eq!(rows.len(), keys);
    let unique: BTreeSet<_> = rows
        .iter()
        .map(|r| (&r.variant, &r.scope, &r.name, &r.metric))
        .collect();
    assert_eq!(unique.len(), rows.len());
    let find = |scope, name, metric| {
        rows.iter()
            .find(|r| {
                r.variant == "WFQ" && (r.scope, r.name.as_str(), r.metric) == (scope, name, metric)
            })
            .unwrap()
    };
    // 100 packets a second in 4 s, in all three runs.
    let sent = find("class", "busy", "packets_sent");
    assert_eq!(
        (sent.mean, sent.low, sent.high, sent.n),
        (400.0, 400.0, 400.0, 3)
    );
    assert_eq!(find("class", "silent", "owd_mean").n, 0);
    assert_eq!(find("dscp", "ef", "throughput").mean, 1.2e6);
    assert_eq!(find("class", "busy", "jain").mean, 1.0);
    assert_eq!(find("queue", "l/wfq", "drops_tail").mean, 0.0);

    // JSON has no NaN: undefined is null.
    let json = serde_json::to_value(&rows).unwrap();
    let silent = json
        .as_array()
        .unwrap()
        .iter()
        .find(|r| r["name"] == "silent" && r["metric"] == "owd_mean");
    assert!(silent.unwrap()["mean"].is_null());
}

#[test]
fn distributions_ascend_and_pool_the_runs() {
    let curves = report().distributions().to_vec();
    let of: Vec<_> = curves
        .iter()
        .map(|c| (c.variant.as_str(), c.class.as_str()))
        .collect();
    assert_eq!(
        of,
        [
            ("FIFO", "busy"),
            ("FIFO", "silent"),
            ("WFQ", "busy"),
            ("WFQ", "silent")
        ]
    );
    let busy = &curves[0];
    for (i, &q) in busy.q.iter().enumerate() {
        let (least, owd, most) = (busy.least[i], busy.owd[i], busy.most[i]);
        assert!(least <= owd && owd <= most, "{q}: {least} {owd} {most}");
    }
    // What is the largest of all is that of some run.
    assert_eq!(busy.most.last(), busy.owd.last());
    assert_eq!(busy.least[0], busy.owd[0]);
    assert!(busy.owd.is_sorted() && busy.q.is_sorted());
    // One packet alone takes 1 ms, two that meet at most 2 ms.
    assert_eq!(busy.owd[0], 1e-3);
    assert!(*busy.owd.last().unwrap() <= 2e-3);
    assert!(curves[1].owd.is_empty());
}

#[test]
fn a_description_is_in_base_units() {
    let d = describe(&plan());
    assert_eq!((d.name.as_str(), d.runs, d.flows), ("known values", 3, 3));
    let [Some(fifo)] = &d.settings[0].outlines[..] else {
        panic!("one link with a policy: {:?}", d.settings);
    };
    assert_eq!(fifo.queue.as_deref(), Some("fifo"));
    assert_eq!(
        (fifo.limit_packets, fifo.guaranteed),
        (Some(40), Some(12_000_000))
    );
    assert_eq!(d.classes, ["busy", "silent"]);
    let policies: Vec<_> = d.settings.iter().map(|s| &s.policies[..]).collect();
    assert_eq!(policies, [["FIFO"], ["WFQ"]]);
    assert_eq!(d.set, [0, 1]);
    assert_eq!(
        (d.links[0].rate, d.links[0].from.as_str()),
        (12_000_000, "a")
    );
    assert_eq!((d.measurement.warmup, d.measurement.duration), (1.0, 4.0));
    assert_eq!(
        (d.sla[1].max, d.sla[1].min, d.sla[1].unit),
        (Some(0.01), None, "1")
    );
}

/// A table with more rows than a row group holds is whole and in order.
#[test]
fn a_long_table_has_several_row_groups() {
    let yaml = SCENARIO.replace("count: 3, seed", "count: 150, seed");
    let plan = plan_of(&yaml);
    let campaign = Campaign::new(Arc::clone(&plan));
    campaign.execute(2).expect("threads");
    let report = Report::new(plan, campaign.finished());
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join("long.parquet");
    write_parquet(&report, &path).expect("a writable folder");
    let reader = SerializedFileReader::new(File::open(&path).unwrap()).unwrap();
    assert!(reader.num_row_groups() > 1);
    let values: Vec<f64> = reader
        .get_row_iter(None)
        .unwrap()
        .filter_map(|row| row.unwrap().get_double(6).ok())
        .collect();
    let outcomes = || report.finished().iter().map(|f| &f.outcome);
    let expected: Vec<f64> = outcomes()
        .flat_map(|o| &o.values)
        .copied()
        .filter(|v| v.is_finite())
        .collect();
    assert_eq!(values, expected);
}

/// Each curve is a row, with every sample in its list.
#[test]
fn the_table_of_series_holds_every_sample() {
    let report = report();
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join("series.parquet");
    write_series(&report, &path).expect("a writable folder");
    let reader = SerializedFileReader::new(File::open(&path).unwrap()).unwrap();
    let bits = |v: Option<f64>| v.map(f64::to_bits);
    let mut rows = Vec::new();
    for row in reader.get_row_iter(None).unwrap() {
        let row = row.unwrap();
        let texts = [0, 2, 3, 4].map(|i| row.get_string(i).unwrap().clone());
        let numbers = [5, 6].map(|i| row.get_double(i).unwrap());
        let list = row.get_list(7).unwrap();
        let v: Vec<_> = (0..list.len())
            .map(|i| bits(list.get_double(i).ok()))
            .collect();
        rows.push((texts, row.get_int(1).unwrap(), numbers, v));
    }
    // 5 s in steps of 0.5 s, of four gauges of a queue, a link and two classes, in run 0 of two
    // variants.
    assert_eq!(rows.len(), 7 * 2);
    let expected: Vec<_> = report
        .series()
        .map(|s| {
            let texts = [s.variant, s.place, s.metric, s.unit].map(str::to_owned);
            let v: Vec<_> =
                s.v.iter()
                    .map(|v| bits(Some(*v).filter(|v| v.is_finite())))
                    .collect();
            (texts, s.run as i32, [0.5, 0.5], v)
        })
        .collect();
    assert_eq!(rows, expected);
    assert!(rows.iter().all(|r| r.3.len() == 10));
}

/// Half of the packets still wait in a huge queue at the end: none is lost, none of the class
/// that arrived was late, and yet nothing can be said to have passed.
#[test]
fn packets_that_never_arrive_let_nothing_pass() {
    let yaml = SCENARIO
        .replace("limit: 40 packets", "limit: 1 GB")
        .replace("rate: 12 Mb/s", "rate: 600 kb/s")
        .replace("max: 100 us", "max: 1 h")
        .replace("min: 1 Mb/s", "min: 500 kb/s");
    let plan = plan_of(&yaml);
    let campaign = Campaign::new(Arc::clone(&plan));
    campaign.execute(2).expect("threads");
    let rows = Report::new(plan, campaign.finished()).verdicts().to_vec();
    let said: Vec<_> = rows[..3]
        .iter()
        .map(|v| (v.variant.as_str(), v.metric, v.verdict, v.further_runs))
        .collect();
    assert_eq!(
        said,
        [
            ("FIFO", "throughput", "pass", None),
            ("FIFO", "loss_ratio", "undecided", None),
            ("FIFO", "owd_mean", "undecided", None),
        ]
    );
    assert!(!rows[0].open && rows[0].least == rows[0].mean);
    // Half of them may be lost, or take for ever.
    assert!(rows[1].open && rows[1].least == 0.0 && rows[1].most > 0.3);
    assert!(rows[2].open && rows[2].most.is_infinite());
}

/// What fails, or passes, whatever becomes of the packets that are still on their way is decided.
#[test]
fn verdicts_that_hold_anyway_are_decided() {
    let yaml = SCENARIO
        .replace("limit: 40 packets", "limit: 1 GB")
        .replace("rate: 12 Mb/s", "rate: 960 kb/s")
        .replace("max: 100 us", "max: 1 ms")
        .replace("max: 1 %", "max: 90 %");
    let plan = plan_of(&yaml);
    let campaign = Campaign::new(Arc::clone(&plan));
    campaign.execute(2).expect("threads");
    let rows = Report::new(plan, campaign.finished()).verdicts().to_vec();
    let said: Vec<_> = rows[..3]
        .iter()
        .map(|v| (v.metric, v.verdict, v.open))
        .collect();
    assert_eq!(
        said,
        [
            ("throughput", "fail", false),
            ("loss_ratio", "pass", true),
            ("owd_mean", "fail", true),
        ]
    );
}

/// Endless and short connections, and a workload whose link fails.
const CONNECTIONS: &str = "
schema_version: 1
topology:
  nodes: [a, b]
  links: {l: {from: a, to: b, rate: 10 Mb/s, delay: 5 ms, duplex: true, policy: Q}}
  failures: [{link: l, at: 3 s, repair: 3500 ms}]
policies: {Q: {fifo: {limit: 40 packets}}}
traffic:
  - flow: {name: bulk, from: a, to: b, tcp: {}}
  - flow: {name: file, count: 20, class: files, from: a, to: b, start: 1 s, start_spread: 1 s, bytes: 10 kB, tcp: {}}
  - sessions: {name: web, from: a, to: b, arrivals: {fixed: {gap: 100 ms}}, session: {transfer: {size: {fixed: 10 kB}}}, tcp: {}, active: 2}
measurement: {warmup: 1 s, duration: 4 s, interval: 500 ms}
verdicts: {looks: once}
runs: {count: 2, seed: 1}
sla:
  - {class: files, metric: fct_p95, max: 1 min}
  - {class: files, metric: goodput, min: 100 kb/s}
  - {class: files, metric: transfers_failed, max: 0 transfers}
  - {class: bulk, metric: fct_p50, max: 1 min}
  - {class: web, metric: transfers_refused, max: 0 transfers}
";

#[test]
fn requirements_on_connections_are_judged() {
    let plan = plan_of(CONNECTIONS);
    let campaign = Campaign::new(Arc::clone(&plan));
    campaign.execute(2).expect("threads");
    let report = Report::new(plan, campaign.finished());
    let rows = report.verdicts();
    let said: Vec<_> = rows.iter().map(|v| (v.metric, v.verdict)).collect();
    assert_eq!(
        said,
        [
            ("fct_p95", "pass"),
            // 20 files of 10 kB in 4 s.
            ("goodput", "pass"),
            ("transfers_failed", "pass"),
            // An endless transfer never completes.
            ("fct_p50", "undecided"),
            // Two places, and half a second without a link: at least three of five are refused.
            ("transfers_refused", "fail"),
        ]
    );
    assert_eq!(rows[1].mean, 20.0 * 10e3 * 8.0 / 4.0);
}

/// If half of the files begin too late to complete, none of the times can pass.
#[test]
fn transfers_that_do_not_complete_let_no_percentile_pass() {
    let yaml = CONNECTIONS
        .replace("start_spread: 1 s", "start_spread: 6 s")
        .replace("repair: 3500 ms", "repair: 1 h");
    let plan = plan_of(&yaml);
    let campaign = Campaign::new(Arc::clone(&plan));
    campaign.execute(2).expect("threads");
    let rows = Report::new(plan, campaign.finished()).verdicts().to_vec();
    assert_eq!((rows[0].metric, rows[0].verdict), ("fct_p95", "undecided"));
    assert!(rows[0].high < 60.0);
}

#[test]
fn connections_and_workloads_are_described_and_sampled() {
    let plan = plan_of(CONNECTIONS);
    let d = describe(&plan);
    assert_eq!((d.flows, d.connections, d.sessions.len()), (22, 21, 1));
    assert_eq!(
        (d.sessions[0].name.as_str(), d.sessions[0].active),
        ("web", 2)
    );
    assert_eq!(d.failures.len(), 1);
    assert_eq!(d.failures[0].links, ["l", "l.reverse"]);
    assert_eq!((d.failures[0].at, d.failures[0].repair), (3.0, Some(3.5)));
    let campaign = Campaign::new(Arc::clone(&plan));
    campaign.execute(1).expect("threads");
    let report = Report::new(plan, campaign.finished());
    let series: Vec<_> = report.series().collect();
    let of = |metric: &'static str| series.iter().filter(move |s| s.metric == metric);
    // 21 connections, of which the first 20 are watched.
    assert_eq!((of("cwnd").count(), of("srtt").count()), (20, 20));
    let bulk = of("cwnd").next().unwrap();
    assert_eq!((bulk.place, bulk.unit), ("flow bulk", "B"));
    // Ten samples in 5 s; the window is never below a segment.
    assert_eq!(bulk.v.len(), 10);
    assert!(bulk.v.iter().all(|w| *w >= 500.0));
    // A round trip takes 10 ms at least.
    let srtt = of("srtt").next().unwrap();
    assert!(srtt.v.iter().all(|s| (0.01..1.0).contains(s)));
    // A file has no window before its start in the second second, and none when it is over.
    let file = of("cwnd").nth(1).unwrap();
    assert!(file.v[0].is_nan() && file.v[9].is_nan());
    let web = of("sessions_open").next().unwrap();
    assert_eq!((web.place, web.unit), ("sessions web", "sessions"));
    assert!(web.v.iter().all(|n| (0.0..=2.0).contains(n)));
    // While the link is down nobody leaves.
    assert_eq!(web.v[6], 2.0);
}

#[test]
fn the_document_is_what_the_parts_say() {
    let report = report();
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join("report.json");
    let head = serde_json::json!({"format": 1, "name": "\"x\""});
    write_json(&report, head.as_object().unwrap(), &path).expect("a writable folder");
    let text = std::fs::read_to_string(&path).unwrap();
    let read: serde_json::Value = serde_json::from_str(&text).unwrap();
    let summary = report.summary_of(|_, key| key.scope != Scope::Flow);
    let words = report.words();
    assert!(report.series().next().is_some());
    assert!(!summary.is_empty() && summary.len() < report.summary().len());
    assert_eq!(
        read,
        serde_json::json!({
            "format": 1,
            "name": "\"x\"",
            "scopes": ["class", "dscp", "queue", "link", "total"],
            "summary": summary,
            "verdicts": report.verdicts(),
            "bounds": report.bounds(),
            "differences": report.differences(),
            "transients": report.transients(),
            "runs": report.runs(),
            "conclusion": words.conclusion,
            "remarks": words.remarks,
            "assumptions": words.assumptions,
            "distributions": report.distributions(),
        })
    );
}

#[test]
fn results_have_words() {
    let words = report().words().clone();
    let conclusion = words.conclusion.as_ref().expect("requirements");
    assert_eq!(
        conclusion.headline,
        "No variant passes every requirement. Most pass with FIFO and WFQ: 2 of 4; not for busy and silent."
    );
    assert_eq!(
        conclusion.tally,
        "4 pass, 2 fail, 2 undecided of 8 requirements"
    );
    assert!(words.remarks[0].starts_with("all 3 runs of "), "{words:?}");
}
