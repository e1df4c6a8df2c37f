//! Loads a scenario from disk and says what is in it, or what is wrong with it.
//!
//! `cargo run -p spillgate-scenario --example load -- scenario.yaml [--set path=value]...`

use std::path::Path;
use std::process::ExitCode;

use spillgate_scenario::{Files, NoImporter, Options, load};

struct Disk;

impl Files for Disk {
    fn read(&self, path: &Path) -> std::io::Result<Vec<u8>> {
        std::fs::read(path)
    }
}

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let (file, overrides) = match &args[..] {
        [file, rest @ ..] => (
            file,
            rest.iter().filter(|a| *a != "--set").cloned().collect(),
        ),
        [] => {
            eprintln!("usage: load scenario.yaml [--set path=value]...");
            return ExitCode::from(2);
        }
    };
    let opts = Options {
        overrides,
        ..Options::default()
    };
    match load(Path::new(file), &Disk, &NoImporter, &opts) {
        Ok(loaded) => {
            let plan = loaded.plan;
            println!(
                "{}, hash {}, {} runs from seed {}",
                plan.name, plan.hash, plan.runs, plan.seed
            );
            for v in &plan.variants {
                let w = &v.world;
                println!(
                    "{}: {} nodes, {} links, {} flows, {} classes",
                    v.name,
                    w.nodes.len(),
                    w.links.len(),
                    w.flows.len(),
                    w.classes.len()
                );
            }
            for w in &plan.warnings {
                println!("warning: {w}");
            }
            ExitCode::SUCCESS
        }
        Err(e) => {
            eprintln!("{e}");
            ExitCode::from(2)
        }
    }
}
