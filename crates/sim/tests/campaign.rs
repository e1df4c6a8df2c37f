//! Many runs: in order, on any number of threads, interrupted or not.

use crate::common;
use std::sync::Arc;

use spillgate_sim::{Campaign, Engine, Finished, Observed, Outcome, Replication, Sliced};

/// Two variants, each run about 10,000 packets.
fn scenario(runs: u32) -> String {
    format!(
        "
schema_version: 1
topology:
  nodes: [a, b]
  links: {{l: {{from: a, to: b, rate: 10 Mb/s, policy: FIFO}}}}
policies: {{FIFO: {{fifo: {{limit: 40 packets}}}}, WFQ: {{wfq: {{}}}}}}
traffic:
  - flow: {{name: f, from: a, to: b, source: {{poisson: {{rate: 9 Mb/s, packet: 1000 B}}}}}}
measurement: {{warmup: 1 s, duration: 8 s, interval: 1 s}}
runs: {{count: {runs}, seed: 1}}
variants:
  - {{name: FIFO, set: {{}}}}
  - {{name: WFQ, set: {{topology.links.l.policy: WFQ}}}}
"
    )
}

#[test]
fn more_threads_than_runs_do_no_harm() {
    let plan = common::plan(&scenario(2));
    let many = common::run(&plan, 1_000_000);
    assert_eq!(
        common::digests(&many),
        common::digests(&common::run(&plan, 1))
    );
    assert_eq!(many.len(), 4);
}

/// What is finished of an interrupted campaign is what the whole campaign would have given: the
/// first runs of all variants, but for those that were under way.
#[test]
fn an_interrupted_campaign_leaves_its_first_runs() {
    const THREADS: usize = 2;
    let plan = common::plan(&scenario(500));
    let campaign = Arc::new(Campaign::new(Arc::clone(&plan)));
    let running = {
        let campaign = Arc::clone(&campaign);
        std::thread::spawn(move || campaign.execute(THREADS))
    };
    while campaign.progress().runs_done < 6 {
        std::thread::yield_now();
    }
    campaign.cancel();
    running.join().unwrap().unwrap();
    let finished = campaign.finished();
    let progress = campaign.progress();
    assert!(finished.len() < 1000, "nothing was interrupted");
    assert_eq!(progress.runs_done, finished.len());
    assert!(progress.fraction < 1.0);
    // In the order of starting; each thread may have left one unfinished.
    let mut places: Vec<usize> = finished
        .iter()
        .map(|f| f.info.run as usize * 2 + f.info.variant)
        .collect();
    places.sort_unstable();
    assert!(
        places.last().unwrap() < &(finished.len() + THREADS),
        "{places:?}"
    );

    let whole = common::digests(&common::run(&common::plan(&scenario(8)), 1));
    for (info, digest) in common::digests(&finished) {
        assert!(whole.get(&info).is_none_or(|d| *d == digest), "{info:?}");
    }
}

#[test]
fn a_campaign_that_is_cancelled_first_runs_nothing() {
    let campaign = Campaign::new(common::plan(&scenario(2)));
    campaign.cancel();
    campaign.execute(0).unwrap();
    assert!(campaign.finished().is_empty());
    assert_eq!(campaign.progress().fraction, 0.0);
}

/// Each point has the runs that it needs, whatever the number of threads: at a look, the first
/// after which all is known well enough.
#[test]
fn points_have_as_many_runs_as_they_need() {
    let until = |within: &str| {
        format!(
            "{}study: {{replication: {{first: 3, until: [{{class: f, metric: owd_mean, within: {within}}}]}}}}\n",
            scenario(20)
        )
    };
    let plan = common::plan(&until("20 %"));
    let alone = common::run(&plan, 1);
    let many = common::run(&plan, 3);
    assert_eq!(common::digests(&alone), common::digests(&many));
    let rule = Replication::of(&plan).unwrap();
    let looks: Vec<u32> = std::iter::successors(Some(3), |n| Some(rule.next_look(*n)))
        .take_while(|n| *n < 20)
        .collect();
    for point in 0..2 {
        let of = alone.iter().filter(|f| f.info.variant == point);
        let values: Vec<_> = of.map(|f| rule.values(point, &f.outcome)).collect();
        let n = values.len() as u32;
        assert!(looks.contains(&n), "{n} runs");
        let mut tally = rule.tally();
        for run in &values {
            assert_eq!(tally.ended(), None);
            tally.take(run.clone());
        }
        // What comes behind counts for nothing.
        tally.take(values[0].clone());
        assert_eq!(tally.ended(), Some(n));
        for look in looks.iter().filter(|l| **l < n) {
            assert!(!rule.is_enough(&values[..*look as usize]), "{look}");
        }
    }
    // What cannot be known so well takes all.
    assert_eq!(common::run(&common::plan(&until("0.01 %")), 2).len(), 40);
}

/// What fails where nothing goes is not run, and has the outcomes of the point without it.
#[test]
fn a_failure_that_no_packet_meets_is_not_simulated() {
    let text = "
schema_version: 1
topology:
  nodes: [a, b, c]
  links:
    ab: {from: a, to: b, rate: 10 Mb/s}
    ac: {from: a, to: c, rate: 10 Mb/s}
    cb: {from: c, to: b, rate: 10 Mb/s}
traffic:
  - flow: {name: f, from: a, to: b, source: {poisson: {rate: 5 Mb/s, packet: 1000 B}}}
measurement: {warmup: 1 s, duration: 2 s}
runs: {count: 2}
axes: [{name: failure, each: link, at: 2 s}]
";
    let plan = common::plan(text);
    let campaign = Campaign::new(Arc::clone(&plan));
    campaign.execute(2).unwrap();
    assert_eq!(campaign.progress().runs, 4);
    let finished = campaign.finished();
    let digests = common::digests(&finished);
    assert_eq!(digests.len(), 8);
    let of = |point: usize, run: u32| {
        let found = finished
            .iter()
            .find(|f| (f.info.variant, f.info.run) == (point, run));
        found.unwrap().outcome.digest.clone()
    };
    for run in 0..2 {
        assert_eq!(of(0, run), of(2, run));
        assert_eq!(of(0, run), of(3, run));
        assert_ne!(of(0, run), of(1, run));
    }
}

/// What is repaired before the first flow begins changes no load: with the failure written out, so
/// that it is simulated, all values are those without.
#[test]
fn a_failure_before_any_flow_begins_is_not_simulated() {
    let text = |rest: &str| {
        format!(
            "
schema_version: 1
topology:
  nodes: [a, b, c]
  links:
    ab: {{from: a, to: b, rate: 10 Mb/s}}
    ac: {{from: a, to: c, rate: 10 Mb/s}}
    cb: {{from: c, to: b, rate: 10 Mb/s}}
  routing: {{detection: 50 ms, convergence: 200 ms}}
{rest}traffic:
  - flow:
      {{name: f, start: 3 s, from: a, to: b, source: {{cbr: {{rate: 5 Mb/s, packet: 1 kB}}}}}}
measurement: {{warmup: 1 s, duration: 5 s}}
runs: {{count: 2}}
"
        )
    };
    let axis = |repair: &str| {
        let axis =
            format!("axes: [{{name: failure, each: link, of: [ab], at: 2 s, repair: {repair}}}]\n");
        common::plan(&format!("{}{axis}", text("")))
    };
    // Routes follow a quarter of a second after the repair.
    assert_eq!(axis("2.7 s").variants[1].same, Some(0));
    assert_eq!(axis("2.8 s").variants[1].same, None);
    let written = text("  failures: [{link: ab, at: 2 s, repair: 2.7 s}]\n");
    let [with, without] = [&*written, &text("")].map(|t| common::run(&common::plan(t), 1));
    assert_eq!(common::digests(&with), common::digests(&without));
    for (a, b) in with.iter().zip(&without) {
        let bits = |o: &Outcome| o.values.iter().map(|v| v.to_bits()).collect::<Vec<_>>();
        assert_eq!(bits(&a.outcome), bits(&b.outcome));
    }
}

/// The runs of a campaign that gets its time in slices of so many events, and how many slices.
fn sliced(text: &str, events: u64) -> (Vec<Finished>, usize) {
    let plan = common::plan(text);
    let mut sliced = Sliced::new(Engine::default(), plan, Observed::First);
    let (mut slices, mut before) = (0, 0.0);
    while sliced.advance(events).unwrap() {
        let progress = sliced.campaign().progress();
        assert!((before..=1.0).contains(&progress.fraction), "{progress:?}");
        before = progress.fraction;
        slices += 1;
    }
    assert_eq!(sliced.campaign().progress().fraction, 1.0);
    (sliced.campaign().finished(), slices)
}

/// Without threads, in slices of any size, runs are those of a campaign with threads; also where
/// how many are made depends on what they give.
#[test]
fn slices_make_the_same_runs() {
    let as_needed = format!(
        "{}study: {{replication: {{first: 3, until: [{{class: f, metric: owd_mean, within: 20 %}}]}}}}\n",
        scenario(20)
    );
    for text in [scenario(3), as_needed] {
        let whole = common::run(&common::plan(&text), 2);
        for events in [1_000, 8_192, u64::MAX] {
            let (runs, slices) = sliced(&text, events);
            assert_eq!(common::digests(&runs), common::digests(&whole));
            assert!(slices >= whole.len(), "{slices}");
        }
    }
}

#[test]
fn a_sliced_campaign_that_is_cancelled_begins_no_further_run() {
    let plan = common::plan(&scenario(50));
    let mut sliced = Sliced::new(Engine::default(), plan, Observed::First);
    while sliced.campaign().progress().runs_done < 3 {
        assert!(sliced.advance(8_192).unwrap());
    }
    sliced.campaign().cancel();
    while sliced.advance(8_192).unwrap() {}
    assert!((3..=4).contains(&sliced.campaign().finished().len()));
}
