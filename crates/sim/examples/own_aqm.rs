//! An AQM of one's own in the queue of a scenario: `cargo run -p spillgate-sim --example own_aqm`.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use spillgate_core::{DropReason, Dur, Packet, Time, Verdict};
use spillgate_measure::table::{Metric, Scope};
use spillgate_queueing::{Backlog, CustomAqm, Draw};
use spillgate_scenario::{NoImporter, Options, load};
use spillgate_sim::{Campaign, layout};

/// Drops what arrives with the probability (w - target) / target, w being how long the first
/// packet has waited: nothing up to the target, everything from twice the target on.
#[derive(Clone, Debug)]
struct Ramp {
    target: Dur,
}

impl CustomAqm for Ramp {
    fn arrival(&mut self, now: Time, queue: &Backlog, _: &Packet, draw: &mut dyn Draw) -> Verdict {
        let waited = queue.head.map_or(Dur::ZERO, |arrived| now.since(arrived));
        let target = self.target.as_secs_f64();
        let odds = (waited.as_secs_f64() - target) / target;
        if odds > 0.0 && draw.draw() < odds {
            Verdict::Drop(DropReason::Early)
        } else {
            Verdict::Pass
        }
    }

    fn boxed(&self) -> Box<dyn CustomAqm> {
        Box::new(self.clone())
    }
}

const SCENARIO: &str = "
schema_version: 1
topology:
  nodes: [a, b]
  links:
    wan: {from: a, to: b, rate: 10 Mb/s, delay: 20 ms, policy: QUEUE, duplex: true}
policies:
  QUEUE: {fifo: {limit: 200 packets}}
traffic:
  - flow: {name: load, count: 4, from: a, to: b, tcp: {cc: cubic}}
measurement: {warmup: 2 s, duration: 10 s}
runs: {count: 4}
";

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let name = Path::new("scenario.yaml");
    let files = BTreeMap::from([(PathBuf::from(name), SCENARIO.as_bytes().to_vec())]);
    for own in [false, true] {
        let mut plan = load(name, &files, &NoImporter, &Options::default())?.plan;
        let world = Arc::make_mut(&mut plan.variants[0].world);
        if own {
            let wan = world.links.iter_mut().find(|l| l.name == "wan");
            let queue = &mut wan.ok_or("no link wan")?.discipline;
            let target = Dur::from_ms(20);
            queue.manage("fifo", Box::new(Ramp { target }))?;
        }
        let layout = layout(world);
        let campaign = Campaign::new(Arc::new(plan));
        campaign.execute(1)?;
        let runs = campaign.finished();
        for (key, i) in layout.keys.iter().zip(0..) {
            if key.scope == Scope::Total && [Metric::OwdP95, Metric::Goodput].contains(&key.metric)
            {
                let sum: f64 = runs.iter().map(|run| run.outcome.values[i]).sum();
                let mean = sum / runs.len() as f64;
                println!(
                    "own AQM: {own}: {} {mean:.3e} {}",
                    key.metric.name(),
                    key.metric.unit()
                );
            }
        }
    }
    Ok(())
}
