//! Many runs: in order, on any number of threads, interrupted or not.

use crate::common;
use std::sync::Arc;

use spillgate_sim::Campaign;

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
