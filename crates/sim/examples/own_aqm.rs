//! An AQM of one's own in the queue of a scenario: `cargo run -p spillgate-sim --example own_aqm`.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use spillgate_core::{DropReason, Dur, Packet, Time, Verdict};
use spillgate_measure::table::{Metric, Scope};
use spillgate_queueing::{Backlog, CustomAqm, Draw, State};
use spillgate_scenario::{NoImporter, Options, load};
use spillgate_sim::{Campaign, layout};

/// Drops what arrives with the probability (w - target) / target, w being how long the first
/// packet has waited: nothing up to the target, everything from twice the target on.
#[derive(Clone, Debug)]
struct Ramp {
    target: Dur,
    /// The probability for the packet that came last.
    odds: f64,
}

impl CustomAqm for Ramp {
    fn arrival(&mut self, now: Time, queue: &Backlog, _: &Packet, draw: &mut dyn Draw) -> Verdict {
        let waited = queue.head.map_or(Dur::ZERO, |arrived| now.since(arrived));
        let target = self.target.as_secs_f64();
        self.odds = ((waited.as_secs_f64() - target) / target).clamp(0.0, 1.0);
        if self.odds > 0.0 && draw.draw() < self.odds {
            Verdict::Drop(DropReason::Early)
        } else {
            Verdict::Pass
        }
    }

    fn state(&self, _: Time) -> State {
        vec![("drop_probability", self.odds)]
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
measurement: {warmup: 2 s, duration: 10 s, interval: 10 ms, series: [wan]}
runs: {count: 4}
";

fn main() -> Result<(), Box<dyn std::error::Error>> {
    for own in [false, true] {
        run(own)?;
    }
    Ok(())
}

/// Runs the scenario, with the AQM or without it; the delay that 95 % of the packets keep, in
/// seconds, and the largest drop probability, if there is one.
pub(crate) fn run(own: bool) -> Result<(f64, Option<f64>), Box<dyn std::error::Error>> {
    let name = Path::new("scenario.yaml");
    let files = BTreeMap::from([(PathBuf::from(name), SCENARIO.as_bytes().to_vec())]);
    let mut plan = load(name, &files, &NoImporter, &Options::default())?.plan;
    let world = Arc::make_mut(&mut plan.variants[0].world);
    if own {
        let wan = world.links.iter_mut().find(|l| l.name == "wan");
        let queue = &mut wan.ok_or("no link wan")?.discipline;
        let (target, odds) = (Dur::from_ms(20), 0.0);
        queue.manage("fifo", Box::new(Ramp { target, odds }))?;
    }
    let layout = layout(world);
    let campaign = Campaign::new(Arc::new(plan));
    campaign.execute(1)?;
    let runs = campaign.finished();
    let mean = |metric| {
        let mut keys = layout.keys.iter();
        let i = keys.position(|k| k.scope == Scope::Total && k.metric == metric);
        let values = runs
            .iter()
            .map(|run| run.outcome.values[i.expect("a metric of a total")]);
        values.sum::<f64>() / runs.len() as f64
    };
    let (delay, goodput) = (mean(Metric::OwdP95), mean(Metric::Goodput));
    println!("own AQM: {own}: 95 % of the packets take {delay:.3e} s, {goodput:.3e} b/s arrive");
    let mut series = runs.iter().flat_map(|run| &run.outcome.series);
    let odds = series.find(|s| s.metric == "drop_probability");
    let most = odds.map(|s| s.v.iter().copied().fold(0.0, f64::max));
    if let Some(most) = most {
        println!("own AQM: {own}: drop probabilities of up to {most:.2}");
    }
    Ok((delay, most))
}
