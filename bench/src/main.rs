//! Runs one scenario once, on one thread, without output: what `bench/run.py`
//! times from outside and what callgrind counts.
//!
//! `spillgate-bench SCENARIO [--set path=value ...] [--heap4]` prints one JSON object.
#![forbid(unsafe_code)]

use std::io;
use std::path::Path;
use std::process::ExitCode;

use spillgate_events::{EventSet, Heap4, WinnerTree};
use spillgate_import::IosImporter;
use spillgate_scenario::plan::Plan;
use spillgate_scenario::{Files, Options, load};
use spillgate_sim::{Stop, World};

struct Disk;

impl Files for Disk {
    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        std::fs::read(path)
    }
}

fn main() -> ExitCode {
    let mut scenario = None;
    let mut options = Options::default();
    let mut heap4 = false;
    let mut args = std::env::args().skip(1);
    while let Some(arg) = args.next() {
        match arg.as_str() {
            "--heap4" => heap4 = true,
            "--set" => options.overrides.extend(args.next()),
            _ => scenario = Some(arg),
        }
    }
    let Some(scenario) = scenario else {
        eprintln!("usage: spillgate-bench SCENARIO [--set path=value ...] [--heap4]");
        return ExitCode::from(2);
    };
    match load(Path::new(&scenario), &Disk, &IosImporter, &options) {
        Ok(loaded) if heap4 => run::<Heap4>(&loaded.plan),
        Ok(loaded) => run::<WinnerTree>(&loaded.plan),
        Err(problems) => {
            eprintln!("{problems}");
            return ExitCode::from(2);
        }
    }
    ExitCode::SUCCESS
}

fn run<S: EventSet>(plan: &Plan) {
    let mut world = World::<S>::new(&plan.variants[0].world, plan.seed, 0, false);
    while world.run(u64::MAX) != Stop::Done {}
    let outcome = world.outcome();
    println!(
        "{{\"packets\": {}, \"hops\": {}, \"events\": {}, \"digest\": \"{}\", \"peak_kb\": {}}}",
        outcome.packets,
        world.hops(),
        outcome.events,
        outcome.digest,
        peak_kb()
    );
}

/// The largest resident memory of this process so far in KiB, 0 where the system does not say.
///
/// The account that a parent gets of its child begins before the child's program does, with the
/// parent's own memory.
fn peak_kb() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|l| l.strip_prefix("VmHWM:"));
    line.and_then(|l| l.split_whitespace().next()?.parse().ok())
        .unwrap_or(0)
}
