//! Runs one scenario without output: what the programs of `bench/` time from
//! outside and what callgrind counts.
//!
//! One run on one thread, or with `--threads` a whole campaign. Prints one JSON
//! object; a wrong command line or scenario ends with status 2.
#![forbid(unsafe_code)]

mod args;
mod usage;

use std::io;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;

use args::{Args, Command, Wanted};
use serde_json::{Map, Value, json};
use spillgate_events::{EventSet, Heap4, WinnerTree};
use spillgate_import::ConfigImporter;
use spillgate_measure::table::{Layout, Metric, Scope};
use spillgate_scenario::plan::{Plan, Traffic, WorldPlan};
use spillgate_scenario::{Files, load};
use spillgate_sim::{Campaign, Engine, Manner, Observed, Outcome, Stop, World, layout};

struct Disk;

impl Files for Disk {
    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        std::fs::read(path)
    }
}

fn main() -> ExitCode {
    let args = match args::parse(std::env::args().skip(1)) {
        Ok(Command::Run(args)) => *args,
        Ok(Command::Help) => {
            println!("{}", args::USAGE);
            return ExitCode::SUCCESS;
        }
        Err(message) => {
            eprintln!("error: {message}\n\n{}", args::USAGE);
            return ExitCode::from(2);
        }
    };
    match report(&args) {
        Ok(object) => {
            println!("{object}");
            ExitCode::SUCCESS
        }
        Err(message) => {
            eprintln!("{message}");
            ExitCode::from(2)
        }
    }
}

fn report(args: &Args) -> Result<Value, String> {
    let loaded = load(
        &args.scenario,
        &Disk,
        &ConfigImporter::default(),
        &args.options,
    )
    .map_err(|problems| problems.to_string())?;
    let engine = if args.plain {
        Engine::Plain
    } else {
        Engine::Express
    };
    match args.threads {
        Some(threads) => campaign(loaded.plan, engine, threads),
        None if args.heap4 => single::<Heap4>(&loaded.plan, engine, args),
        None => single::<WinnerTree>(&loaded.plan, engine, args),
    }
}

/// The first run of the first variant.
fn single<S: EventSet>(plan: &Plan, engine: Engine, args: &Args) -> Result<Value, String> {
    let world_plan = &plan.variants[0].world;
    let mut world = World::<S>::on(engine, world_plan, plan.seed, 0, args.series);
    let begin = usage::cpu_s();
    while world.run(u64::MAX) != Stop::Done {}
    let run_s = usage::cpu_s().zip(begin).map(|(end, begin)| end - begin);
    let hops = world.hops();
    let outcome = world.into_outcome();
    let peak_kb = usage::peak_kb();
    let layout = layout(world_plan);
    Ok(json!({
        "packets": outcome.packets,
        "hops": hops,
        "events": outcome.events,
        "delivered": delivered(world_plan, &layout, &outcome),
        "digest": outcome.digest,
        "run_s": run_s,
        "peak_kb": peak_kb,
        "values": values(&layout, &outcome, &args.values)?,
    }))
}

/// Every run of every variant, none of them sampled: that takes longer, and runs are to be alike.
/// The digests are in the order of runs.
fn campaign(plan: Plan, engine: Engine, threads: usize) -> Result<Value, String> {
    let campaign = Campaign::on(engine, Arc::new(plan));
    let nobody = Manner {
        observed: Observed::These(Vec::new()),
        ..Manner::default()
    };
    campaign
        .execute_so(threads, &nobody, &())
        .map_err(|e| e.to_string())?;
    let finished = campaign.finished();
    Ok(json!({
        "runs": finished.len(),
        "events": finished.iter().map(|f| f.outcome.events).sum::<u64>(),
        "digests": finished.iter().map(|f| &f.outcome.digest).collect::<Vec<_>>(),
        "peak_kb": usage::peak_kb(),
    }))
}

/// Data packets delivered within the measured period: of connections the segments that their
/// bytes make, each byte once; without connections all packets. None if segments differ in length.
fn delivered(plan: &WorldPlan, layout: &Layout, outcome: &Outcome) -> Option<u64> {
    let mut lengths = plan.flows.iter().filter_map(|f| match &f.traffic {
        Traffic::Tcp { config, .. } => Some(config.mss),
        Traffic::Sessions(sessions) => Some(sessions.config.mss),
        Traffic::Source(_) | Traffic::Replay(_) => None,
    });
    let total = |metric| Some(outcome.values[layout.position(Scope::Total, "all", metric)?]);
    let Some(mss) = lengths.next() else {
        return total(Metric::PacketsReceived).map(|n| n as u64);
    };
    if lengths.any(|other| other != mss) {
        return None;
    }
    let bytes = total(Metric::Goodput)? * plan.duration.as_secs_f64() / 8.0;
    Some((bytes / f64::from(mss)).round() as u64)
}

fn values(layout: &Layout, outcome: &Outcome, wanted: &[Wanted]) -> Result<Value, String> {
    let mut values = Map::new();
    for w in wanted {
        let position = layout
            .position(w.scope, &w.name, w.metric)
            .ok_or_else(|| missing(layout, w))?;
        // JSON has no NaN: what is undefined becomes null.
        values.insert(w.text.clone(), json!(outcome.values[position]));
    }
    Ok(values.into())
}

/// Says that there is no such value, and what there is for its scope.
fn missing(layout: &Layout, wanted: &Wanted) -> String {
    const SHOWN: usize = 8;
    let mut names: Vec<&str> = layout
        .keys
        .iter()
        .filter(|k| k.scope == wanted.scope && k.metric == wanted.metric)
        .map(|k| layout.name(k))
        .collect();
    names.dedup();
    let more = if names.len() > SHOWN { ", ..." } else { "" };
    names.truncate(SHOWN);
    format!(
        "error: --value: the scenario has no {}; of {} and {} there is {}{more}",
        wanted.text,
        wanted.scope.name(),
        wanted.metric.name(),
        if names.is_empty() {
            "nothing".to_owned()
        } else {
            names.join(", ")
        },
    )
}
