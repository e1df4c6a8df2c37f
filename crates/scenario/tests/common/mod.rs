//! A stand-in for the importer of router configurations.

#[cfg(test)]
#[allow(dead_code, reason = "not every test needs it")]
pub(crate) mod json_schema;

use std::collections::BTreeMap;

use spillgate_core::units::parse_rate;
use spillgate_core::{Cells, Limit, Overhead, Percent, RateOrPercent};
use spillgate_queueing::Counting;
use spillgate_queueing::spec::{ClassBasedSpec, ClassSpec, DisciplineSpec, FifoSpec, MatchSpec};
use spillgate_scenario::import::{PolicyPlaces, RouterCounting};
use spillgate_scenario::plan::Unmodelled;
use spillgate_scenario::{
    Diagnostic, Diagnostics, Imported, ImportedInterface, Importer, Platform,
};

/// All platforms but the first count 14 B more than the IP packet.
fn counted(platform: Platform) -> RouterCounting {
    let all = Some(Overhead::new(14, 0, Cells::None)).filter(|_| platform != Platform::Ios);
    RouterCounting {
        counting: Counting {
            policers: all,
            queues: all,
        },
        at_most_link: false,
    }
}

/// Reads lines `policy NAME fifo N`, `policy NAME percent P`, `interface NAME [bandwidth RATE]`,
/// `output POLICY`, `ignored TEXT`; anything else is an error.
pub(crate) struct Router;

impl Importer for Router {
    fn ios(&self, file: &str, bytes: &[u8], platform: Platform) -> Result<Imported, Diagnostics> {
        let mut out = Imported::default();
        let mut interface = String::new();
        for (i, line) in String::from_utf8_lossy(bytes).lines().enumerate() {
            let number = i as u32 + 1;
            let words: Vec<_> = line.split_whitespace().collect();
            let spec = match words[..] {
                ["policy", _, "fifo", n] => fifo(n.parse().unwrap()),
                ["policy", _, "percent", p] => class(p.parse().unwrap()),
                ["interface", name, ..] => {
                    interface = name.to_owned();
                    let entry = ImportedInterface {
                        line: number,
                        bandwidth: words.get(3).map(|r| parse_rate(r).unwrap()),
                        counted: counted(platform),
                        ..ImportedInterface::default()
                    };
                    out.interfaces.insert(interface.clone(), entry);
                    continue;
                }
                ["output", policy] => {
                    let entry = out.interfaces.get_mut(&interface).unwrap();
                    entry.output_policy = Some((policy.to_owned(), number));
                    continue;
                }
                ["input", policy] => {
                    let entry = out.interfaces.get_mut(&interface).unwrap();
                    entry.input_policy = Some((policy.to_owned(), number));
                    continue;
                }
                ["ignored", ..] => {
                    out.unmodelled.push(Unmodelled {
                        understood: true,
                        file: file.to_owned(),
                        line: number,
                        text: line.to_owned(),
                        reason: "ignored".to_owned(),
                    });
                    continue;
                }
                _ => {
                    let d = Diagnostic::error("E1001", "not a command")
                        .at(file, number, 1)
                        .found(line)
                        .hint("write `policy` or `interface`");
                    return Err(d.into());
                }
            };
            out.policies.insert(words[1].to_owned(), spec);
            let places = PolicyPlaces::in_line(number);
            out.places.insert(words[1].to_owned(), places);
        }
        Ok(out)
    }
}

fn fifo(packets: u32) -> DisciplineSpec {
    DisciplineSpec::Fifo(FifoSpec {
        limit: Limit::Packets(packets),
        ..FifoSpec::default()
    })
}

fn class(percent: f64) -> DisciplineSpec {
    let class = |name: &str| ClassSpec {
        name: name.to_owned(),
        matching: Some(MatchSpec::default()),
        bandwidth: Some(RateOrPercent::Percent(Percent(percent / 100.0))),
        ..ClassSpec::default()
    };
    DisciplineSpec::ClassBased(ClassBasedSpec {
        classes: vec![class("a"), class("b")],
        ..ClassBasedSpec::default()
    })
}

/// A small scenario that loads.
#[allow(dead_code, reason = "not every test needs it")]
pub(crate) const SMALL: &str = "schema_version: 1
topology:
  nodes: [a, b]
  links:
    wan: {from: a, to: b, rate: 10 Mb/s, delay: 5 ms, policy: Q}
policies:
  Q: {fifo: {limit: 50 packets}}
traffic:
  - flow: {name: voice, count: 3, from: a, to: b, dscp: ef, source: {cbr: {rate: 64 kb/s, packet: 200 B}}}
measurement: {warmup: 1 s, duration: 10 s, interval: 1 s}
";

/// Files in memory.
#[allow(dead_code, reason = "not every test needs it")]
pub(crate) fn memory(files: &[(&str, &[u8])]) -> BTreeMap<std::path::PathBuf, Vec<u8>> {
    files
        .iter()
        .map(|(name, bytes)| ((*name).into(), bytes.to_vec()))
        .collect()
}
