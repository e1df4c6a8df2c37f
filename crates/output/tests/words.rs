//! Sentences about results against the numbers that they speak of, over random scenarios.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use proptest::prelude::*;
use spillgate_core::show::{general, value};
use spillgate_core::testkit::effort;
use spillgate_measure::table::{Metric, Scope};
use spillgate_output::Report;
use spillgate_scenario::plan::Plan;
use spillgate_scenario::{NoImporter, Options, load};
use spillgate_sim::Campaign;

/// A link of 2 Mb/s that a source of so many kb/s and so many connections share, with a queue of so
/// many packets.
fn scenario(kbps: u32, connections: u32, limit: u32, loss: bool) -> String {
    let cbr = match kbps {
        0 => String::new(),
        _ => format!(
            "  - flow: {{name: fixed, class: fixed, from: a, to: b, start_spread: 10 ms, source: {{cbr: {{rate: {kbps} kb/s, packet: 500 B}}}}}}\n"
        ),
    };
    let tcp = match connections {
        0 => String::new(),
        n => format!(
            "  - flow: {{name: bulk, class: bulk, count: {n}, from: a, to: b, start_spread: 100 ms, tcp: {{}}}}\n"
        ),
    };
    let loss = if loss { ", loss: {bernoulli: 1 %}" } else { "" };
    format!(
        "schema_version: 1
name: words
topology:
  nodes: [a, b]
  links: {{l: {{from: a, to: b, rate: 2 Mb/s, delay: 5 ms, duplex: true, policy: FIFO{loss}}}}}
policies: {{FIFO: {{fifo: {{limit: {limit} packets}}}}}}
traffic:
{cbr}{tcp}measurement: {{warmup: 500 ms, duration: 3 s, interval: 500 ms}}
runs: {{count: 2, seed: 1}}
"
    )
}

fn report(yaml: &str) -> Report {
    let files = BTreeMap::from([(PathBuf::from("test.yaml"), yaml.as_bytes().to_vec())]);
    let loaded = load(
        Path::new("test.yaml"),
        &files,
        &NoImporter,
        &Options::default(),
    );
    run(Arc::new(loaded.expect("a valid scenario").plan))
}

fn run(plan: Arc<Plan>) -> Report {
    let campaign = Campaign::new(Arc::clone(&plan));
    campaign.execute(1).expect("threads");
    Report::new(plan, campaign.finished())
}

proptest! {
    // Each takes some thousandths of a second.
    #![proptest_config(ProptestConfig::with_cases(128 * effort()))]

    #[test]
    fn sentences_say_what_was_measured(
        kbps in prop_oneof![Just(0_u32), Just(500), Just(1990), Just(2200), Just(4000)],
        connections in prop_oneof![Just(0_u32), Just(1), Just(2), Just(12)],
        limit in prop_oneof![Just(2_u32), Just(20), Just(100_000)],
        loss in any::<bool>(),
    ) {
        prop_assume!(kbps + connections > 0);
        let report = report(&scenario(kbps, connections, limit, loss));
        let rows = report.summary();
        let mean = |scope: Scope, name: &str, metric: Metric| {
            let of = |r: &&_| {
                let r: &spillgate_output::SummaryRow = r;
                r.scope == scope.name() && r.name == name && r.metric == metric.name()
            };
            rows.iter().find(of).map_or(f64::NAN, |r| r.mean)
        };
        let link = |m| mean(Scope::Link, "l", m);
        let queue = "l/all";
        let queue = rows.iter().find(|r| r.scope == "queue" && r.name.starts_with("l/")).map_or(queue, |r| &r.name);
        let of = |m| mean(Scope::Queue, queue, m);
        let remarks = &report.words().remarks;
        let about = |part: &str| remarks.iter().find(|r| r.contains(part)).cloned();
        let lost = of(Metric::PacketsLost) - of(Metric::DropsLinkLoss);
        let factor = of(Metric::Offered) * link(Metric::Utilization) / link(Metric::Carried);
        let overloaded = link(Metric::Utilization) > 1.0 / 1.05 && factor > 1.05;
        let said = about("was offered");
        prop_assert_eq!(said.is_some(), overloaded, "{:?}", remarks);
        if let Some(said) = said {
            prop_assert!(said.starts_with(&format!("link l was offered {} times its rate: ", general(factor, 3))), "{}", said);
            let share = format!("{} % of the packets that came were lost", general(100.0 * lost / of(Metric::PacketsOffered), 2));
            prop_assert_eq!(said.contains(&share), lost > 0.0, "{}", said);
            // All that came and was not lost left, or waits: over the three seconds the queue grew
            // by so much.
            let growth = (of(Metric::Offered) - of(Metric::Carried)) / 8.0;
            let waits = format!("nothing was lost, and what waits grew by {} a second", value(growth, "B"));
            prop_assert_eq!(said.contains(&waits), lost == 0.0, "{}", said);
            prop_assert!(lost > 0.0 || of(Metric::BacklogBytesMax) >= growth * 3.0 * 0.99, "{}", said);
            prop_assert_eq!(said.contains("no flow slows down"), connections == 0, "{}", said);
            prop_assert_eq!(said.contains("TCP slows down"), kbps == 0, "{}", said);
        }
        let same = {
            let runs = report.finished();
            let bits = |i: usize| runs[i].outcome.values.iter().map(|v| v.to_bits()).collect::<Vec<_>>();
            bits(0) == bits(1)
        };
        prop_assert_eq!(about("are identical").is_some(), same, "{:?}", remarks);
        let random = about("were lost at random on links");
        let at_random = |class: &str| mean(Scope::Class, class, Metric::DropsLinkLoss) > 0.0;
        prop_assert_eq!(random.is_some(), at_random("fixed") || at_random("bulk"), "{:?}", remarks);
        let jain = mean(Scope::Class, "bulk", Metric::Jain);
        let unshared = connections > 1 && jain < 0.5_f64.max(1.5 / f64::from(connections));
        prop_assert_eq!(about("are alike").is_some(), unshared, "{} {:?}", jain, remarks);
        prop_assert!(
            report.words().assumptions.iter().any(|a| a.contains("over 2 independent runs")),
            "{:?}", report.words().assumptions
        );
    }
}

/// Of results that miss runs it is said over how many intervals are.
#[test]
fn a_partial_result_says_on_how_many_runs_it_rests() {
    let whole = report(&scenario(500, 1, 20, false));
    let one = Report::new(
        Arc::new(whole.plan().clone()),
        whole.finished()[..1].to_vec(),
    );
    let said = &one.words().assumptions;
    assert!(
        said.iter()
            .any(|a| a.starts_with("One run (of 2): there are no intervals")),
        "{said:?}"
    );
}
