//! An AQM of one's own in an ordinary run: `cargo run --release -p own-aqm`.

use std::collections::BTreeMap;
use std::error::Error;
use std::path::PathBuf;
use std::sync::Arc;

use serde_json::{Map, Value};
use spillgate_core::{DropReason, Dur, Packet, Time, Verdict};
use spillgate_output::Report;
use spillgate_queueing::{Backlog, CustomAqm, Draw, OwnPart, OwnQueue, State};
use spillgate_scenario::{NoImporter, Options, load};
use spillgate_sim::Campaign;

/// Drops what arrives with the probability (w - target) / target, w being how long the first
/// packet has waited: nothing up to the target, everything from twice the target on.
#[derive(Clone, Debug)]
struct Ramp {
    target: f64,
    /// The probability for the packet that came last.
    odds: f64,
}

impl CustomAqm for Ramp {
    fn arrival(&mut self, now: Time, queue: &Backlog, _: &Packet, draw: &mut dyn Draw) -> Verdict {
        let waited = queue.head.map_or(Dur::ZERO, |arrived| now.since(arrived));
        self.odds = ((waited.as_secs_f64() - self.target) / self.target).clamp(0.0, 1.0);
        match self.odds > 0.0 && draw.draw() < self.odds {
            true => Verdict::Drop(DropReason::Early),
            false => Verdict::Pass,
        }
    }

    fn state(&self, _: Time) -> State {
        vec![("drop_probability", self.odds)]
    }

    fn boxed(&self) -> Box<dyn CustomAqm> {
        Box::new(self.clone())
    }
}

/// Makes one for each queue that the scenario gives it to, with its settings.
struct Ramps;

impl OwnPart<dyn CustomAqm> for Ramps {
    fn identity(&self) -> String {
        "ramp, version 1".to_owned()
    }

    fn make(&self, with: &Map<String, Value>, _: &OwnQueue) -> Result<Box<dyn CustomAqm>, String> {
        let target = with.get("target").map_or(Some(0.02), Value::as_f64);
        let target = target.ok_or("`target` is a number of seconds")?;
        Ok(Box::new(Ramp { target, odds: 0.0 }))
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut options = Options::default();
    options.own.aqm("ramp", Arc::new(Ramps))?;
    let path = PathBuf::from("scenario.yaml");
    let files = BTreeMap::from([(path.clone(), include_bytes!("../scenario.yaml").to_vec())]);
    let campaign = Campaign::new(Arc::new(load(&path, &files, &NoImporter, &options)?.plan));
    campaign.execute(0)?;
    let report = Report::new(Arc::clone(campaign.plan()), campaign.finished());
    for v in report.verdicts() {
        let (variant, class, metric, unit) = (&v.variant, &v.class, v.metric, v.unit);
        let (mean, low, high, verdict) = (v.mean, v.low, v.high, v.verdict);
        println!(
            "{variant}, {class}: {metric} {mean:.4} {unit} ({low:.4} to {high:.4}): {verdict}"
        );
    }
    for run in report.runs().iter().filter(|run| run.variant == "own") {
        println!("run {} of own: {}", run.run, run.digest);
    }
    Ok(())
}
