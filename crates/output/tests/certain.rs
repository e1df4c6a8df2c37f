//! What cannot be exceeded, beside what was measured, and requirements that are to hold for
//! certain.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use spillgate_output::{Report, VerdictRow};
use spillgate_scenario::plan::Plan;
use spillgate_scenario::{NoImporter, Options, load};
use spillgate_sim::Campaign;

/// More comes than is sent. Of 1500 B 50 packets and one in transmission take 51 * 1.2 ms, and
/// 5 ms of propagation: 66.2 ms. A call's own packet is shorter by 1300 B: 1.04 ms less.
const SCENARIO: &str = "
schema_version: 1
topology:
  nodes: [a, b, c]
  links:
    wan: {from: a, to: b, rate: 10 Mb/s, delay: 5 ms, policy: FIFO}
    lan: {from: b, to: c, rate: 100 Mb/s, policy: FIFO}
policies:
  FIFO: {fifo: {limit: 50 packets}}
  OPEN:
    class-based:
      classes:
        - {name: first, match: {dscp: ef}, priority: {}}
        - {name: class-default, queue_limit: 50 packets}
traffic:
  - flow: {name: v, count: 2, class: voice, from: a, to: b, dscp: ef, source: {cbr: {rate: 80 kb/s, packet: 200 B}}}
  - flow: {name: w, class: data, from: a, to: b, source: {poisson: {rate: 11 Mb/s, packet: 1500 B}}}
  - flow: {name: x, class: early, from: a, to: b, dscp: ef, source: {poisson: {rate: 1 Mb/s, packet: 500 B}}}
  - flow: {name: y, class: calm, from: b, to: c, source: {cbr: {rate: 1 Mb/s, packet: 1000 B}}}
measurement: {warmup: 1 s, duration: 4 s, interval: 1 s}
runs: {count: 3, seed: 1}
sla:
  - {class: data, metric: owd_max, max: 66.2 ms, certain: true}
  - {class: voice, metric: owd_max, max: 20 ms, certain: true}
  - {class: voice, metric: owd_p50, max: 65.159 ms, certain: true}
  - {class: voice, metric: loss_ratio, max: 0 %, certain: true}
  - {class: calm, metric: loss_ratio, max: 0 %, certain: true}
  - {class: calm, metric: owd_p99, max: 1 ms}
  - {class: data, metric: owd_p50, max: 10 s, certain: true}
variants:
  - {name: fifo, set: {}}
  - {name: open, set: {topology.links.wan.policy: OPEN}}
  - {name: lossy, set: {topology.links.lan.loss: {bernoulli: 1 %}}}
";

const FAILING: &str = "topology:\n  failures: [{link: lan, at: 2 s, repair: 2100 ms}]\n";

fn plan_of(yaml: &str) -> Arc<Plan> {
    let files = BTreeMap::from([(PathBuf::from("test.yaml"), yaml.as_bytes().to_vec())]);
    let options = Options::default();
    let loaded = load(Path::new("test.yaml"), &files, &NoImporter, &options);
    Arc::new(loaded.unwrap_or_else(|e| panic!("{e}")).plan)
}

fn report(yaml: &str) -> Report {
    let plan = plan_of(yaml);
    let campaign = Campaign::new(Arc::clone(&plan));
    campaign.execute(2).expect("threads");
    Report::new(plan, campaign.finished())
}

fn of<'a>(rows: &'a [VerdictRow], variant: &str, class: &str, metric: &str) -> &'a VerdictRow {
    let wanted = |v: &&VerdictRow| (&*v.variant, &*v.class, v.metric) == (variant, class, metric);
    rows.iter().find(wanted).expect("a verdict")
}

#[test]
fn a_bound_proves_and_one_run_refutes() {
    let rows = report(SCENARIO).verdicts().to_vec();
    let data = of(&rows, "fifo", "data", "owd_max");
    // The bound itself is within what is required.
    assert_eq!(
        (data.verdict, data.said, data.level),
        ("pass", "proven", 1.0)
    );
    assert_eq!(
        (data.cannot_exceed, data.advice.as_deref()),
        (Some(0.0662), None)
    );
    assert!(data.largest.is_some_and(|v| v > 0.06 && v <= 0.0662));
    assert_eq!(data.requirement, "owd_max ≤ 66.2 ms for certain");
    assert!(
        data.measured.ends_with(", bound 66.2 ms"),
        "{}",
        data.measured
    );

    let voice = of(&rows, "fifo", "voice", "owd_max");
    assert_eq!((voice.verdict, voice.said), ("fail", "refuted"));
    let witness = voice.witness.as_ref().expect("a run");
    assert_eq!(Some(witness.value), voice.largest);
    assert!(witness.run < 3 && witness.flow.starts_with("v-"));

    let middle = of(&rows, "fifo", "voice", "owd_p50");
    assert_eq!((middle.verdict, middle.said), ("undecided", "not proven"));
    assert_eq!(
        (middle.cannot_exceed, middle.further_runs),
        (Some(0.06516), None)
    );
    let why = "no run had more, but 65.16 ms cannot be excluded";
    assert_eq!(middle.advice.as_deref(), Some(why));

    let lost = of(&rows, "fifo", "voice", "loss_ratio");
    assert_eq!((lost.said, lost.cannot_exceed), ("refuted", None));
    let calm = of(&rows, "fifo", "calm", "loss_ratio");
    assert_eq!((calm.said, calm.cannot_exceed), ("proven", Some(0.0)));
    assert_eq!(calm.measured, "largest 0 %, no loss possible");
    // Runs decide on what is not to hold for certain.
    assert_eq!(of(&rows, "fifo", "calm", "owd_p99").said, "pass");
}

#[test]
fn without_a_bound_nothing_is_proven_and_the_reason_is_said() {
    let report = report(SCENARIO);
    let rows = report.verdicts();
    let data = of(rows, "open", "data", "owd_p50");
    assert_eq!((data.said, data.cannot_exceed), ("not proven", None));
    assert!(
        data.why.as_ref().is_some_and(|w| w.contains("`wan`")),
        "{:?}",
        data.why
    );
    // Losses of the link are none of a queue.
    let lossy = of(rows, "lossy", "calm", "loss_ratio");
    assert_eq!(lossy.said, "refuted");
    for bound in report.bounds() {
        let known = (&*bound.variant, &*bound.class) != ("open", "data");
        assert_eq!(bound.owd.is_some(), known, "{}", bound.class);
        assert_eq!(bound.why.is_none(), known);
    }
    let summary = report.summary();
    let lost = |variant: &str, name: &str| {
        let wanted = |r: &&spillgate_output::SummaryRow| {
            (&*r.variant, r.scope, &*r.name, r.metric) == (variant, "queue", name, "loss_ratio")
        };
        summary.iter().find(wanted).expect("a queue").bound
    };
    assert_eq!(lost("fifo", "lan/fifo"), Some(0.0));
    assert_eq!(lost("fifo", "wan/fifo"), None);
    assert_eq!(lost("lossy", "lan/fifo"), None);
}

/// Bounds hold while no link fails.
#[test]
fn where_links_fail_nothing_is_proven() {
    let report = report(&SCENARIO.replace("topology:\n", FAILING));
    let rows = report.verdicts();
    let delayed = of(rows, "fifo", "data", "owd_max");
    assert_eq!(
        (delayed.verdict, delayed.cannot_exceed),
        ("undecided", None)
    );
    let why = "links fail in this scenario, and bounds hold while none does";
    assert_eq!(delayed.advice.as_deref(), Some(why));

    assert!(
        report
            .bounds()
            .iter()
            .all(|b| b.owd.is_none() && b.why.is_some())
    );
    assert!(report.summary().iter().all(|r| r.bound.is_none()));
}

/// No value of any run is above its bound, whatever it is of.
#[test]
fn no_value_is_above_its_bound() {
    let report = report(SCENARIO);
    let mut seen = BTreeMap::new();
    for row in report.summary() {
        let Some(bound) = row.bound else { continue };
        let samples = report.samples(|s| s.name() == row.scope, |m| m == row.metric);
        let runs = samples
            .iter()
            .filter(|s| s.variant == row.variant && s.name == row.name);
        for value in runs
            .flat_map(|s| s.values.iter().copied())
            .filter(|v| !v.is_nan())
        {
            // Percentiles come from histograms.
            assert!(
                value <= bound * 1.01,
                "{} {} {value} {bound}",
                row.name,
                row.metric
            );
            *seen.entry((row.scope, row.metric)).or_insert(0) += 1;
        }
    }
    for wanted in [
        ("class", "owd_max"),
        ("flow", "owd_p99"),
        ("queue", "sojourn_max"),
        ("queue", "backlog_bytes_max"),
        ("class", "loss_ratio"),
    ] {
        assert!(seen.contains_key(&wanted), "{wanted:?}");
    }
}

#[test]
fn without_runs_only_bounds_speak() {
    let rows = Report::new(plan_of(SCENARIO), Vec::new())
        .verdicts()
        .to_vec();
    assert_eq!(of(&rows, "fifo", "data", "owd_max").said, "proven");
    let voice = of(&rows, "fifo", "voice", "owd_max");
    assert_eq!(
        (voice.said, voice.largest, &*voice.measured),
        ("not proven", None, "bound 65.16 ms")
    );
}

/// Certainty has no level: the family of the correction is the other requirements.
#[test]
fn certainty_takes_nothing_of_the_level() {
    let alone = SCENARIO.replace("runs: {", "verdicts: {correction: bonferroni}\nruns: {");
    let rows = report(&alone).verdicts().to_vec();
    let levels: Vec<f64> = rows
        .iter()
        .filter(|v| !v.certain)
        .map(|v| v.level)
        .collect();
    // One in each of three variants.
    assert_eq!(levels, vec![1.0 - 0.05 / 3.0; 3]);
}
