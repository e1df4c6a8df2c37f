//! Runs the golden vectors of `tests/vectors`; its README tells the format.

use std::collections::BTreeMap;
use std::sync::Arc;

use spillgate_core::units::parse_rate;
use spillgate_core::{Acknowledgment, Dscp, Dur, Ecn, FlowKey, Packet, Rate, Time};
use spillgate_queueing::spec::DisciplineSpec;
use spillgate_queueing::{Recipe, testkit::Bench};

#[derive(Default)]
struct Case {
    name: String,
    policies: BTreeMap<String, DisciplineSpec>,
    rate: Option<Rate>,
    flows: Vec<FlowKey>,
    arrivals: Vec<(Time, Packet, Option<Acknowledgment>)>,
    departs: Vec<String>,
    drops: Vec<String>,
    marks: Vec<String>,
}

/// The ECN field, by its name in the vectors.
fn ecn(word: &str) -> Option<Ecn> {
    match word {
        "ect0" => Some(Ecn::Ect0),
        "ect1" => Some(Ecn::Ect1),
        "ce" => Some(Ecn::Ce),
        _ => None,
    }
}

/// Adds a word of what a packet acknowledges: `ack=N` before `sack=FROM-TO`, `ece`, `data`. Returns
/// whether it is one.
fn acknowledges(word: &str, ack: &mut Option<Acknowledgment>) -> bool {
    if let Some(number) = word.strip_prefix("ack=") {
        *ack = Some(Acknowledgment::of(number.parse().unwrap()));
        return true;
    }
    let Some(ack) = ack else {
        return false;
    };
    if let Some((from, to)) = word.strip_prefix("sack=").and_then(|b| b.split_once('-')) {
        let n = ack.selective().count();
        ack.blocks[n] = (from.parse().unwrap(), to.parse().unwrap());
        return true;
    }
    ack.ece |= word == "ece";
    ack.is_pure &= word != "data";
    ["ece", "data"].contains(&word)
}

/// The addresses of a flow.
fn between(rest: &str) -> FlowKey {
    let (src, dst) = rest.split_once(' ').unwrap();
    let of = |a: &str| a.parse::<std::net::Ipv4Addr>().unwrap().octets().into();
    FlowKey {
        src: of(src),
        dst: of(dst),
        protocol: 6,
        sport: 0,
        dport: 0,
    }
}

fn parse(text: &str) -> Vec<Case> {
    let mut cases: Vec<Case> = Vec::new();
    // Policies may run over several lines, indented.
    let mut lines: Vec<String> = Vec::new();
    for line in text.lines().filter(|l| !l.trim_start().starts_with('#')) {
        match lines.last_mut() {
            Some(last) if line.starts_with(' ') => last.push_str(line),
            _ => lines.push(line.to_owned()),
        }
    }
    let mut seq = BTreeMap::new();
    for line in lines.iter().filter(|l| !l.is_empty()) {
        let (word, rest) = line.split_once(' ').unwrap();
        if word == "case" {
            seq.clear();
            cases.push(Case {
                name: rest.to_owned(),
                ..Case::default()
            });
            continue;
        }
        let case = cases.last_mut().unwrap();
        let (times, word) = match word.split_once('*') {
            Some((n, w)) => (n.parse().unwrap(), w),
            None => (1, word),
        };
        match word {
            "policy" => {
                let (name, json) = rest.split_once(' ').unwrap();
                let spec = serde_json::from_str(json).unwrap_or_else(|e| panic!("{line}: {e}"));
                case.policies.insert(name.to_owned(), spec);
            }
            "flow" => case.flows.push(between(rest)),
            "rate" => case.rate = Some(parse_rate(rest).unwrap()),
            "arrive" => {
                let mut f = rest.split_whitespace();
                let at: f64 = f.next().unwrap().parse().unwrap();
                let flow: u32 = f.next().unwrap().parse().unwrap();
                let len = f.next().unwrap().parse().unwrap();
                let (mut dscp, mut field) = (Dscp::DEFAULT, Ecn::NotEct);
                let mut ack = None;
                for word in f {
                    match ecn(word) {
                        _ if acknowledges(word, &mut ack) => {}
                        Some(known) => field = known,
                        None => dscp = word.parse().unwrap(),
                    }
                }
                for _ in 0..times {
                    let n = seq.entry(flow).or_insert(0);
                    let packet = Packet {
                        dscp,
                        ecn: field,
                        hash: flow.wrapping_mul(0x9e37_79b9),
                        ..Packet::new(flow, *n, len)
                    };
                    *n += 1;
                    case.arrivals.push((Time::from_secs_f64(at), packet, ack));
                }
            }
            "depart" => case
                .departs
                .extend(rest.split_whitespace().map(str::to_owned)),
            "drop" => case
                .drops
                .extend(rest.split_whitespace().map(str::to_owned)),
            "mark" => case
                .marks
                .extend(rest.split_whitespace().map(str::to_owned)),
            _ => panic!("{line}"),
        }
    }
    cases
}

fn run(case: Case) {
    let name = &case.name;
    let rate = case.rate.unwrap();
    let (recipe, _) =
        Recipe::resolve("main", &case.policies, rate).unwrap_or_else(|e| panic!("{name}: {e}"));
    let flows: Arc<[FlowKey]> = Arc::from(&case.flows[..]);
    let mut bench = Bench::new(recipe.build(&flows), rate);
    for (at, packet, ack) in case.arrivals {
        bench.arrive_with(at, packet, ack);
    }
    let out = bench.run();
    let flows: Vec<_> = out.departures.iter().map(|d| d.packet.flow).collect();
    let wanted: Vec<(u32, Time)> = case
        .departs
        .iter()
        .map(|d| {
            let (flow, at) = d.split_once('@').unwrap();
            let at = Time::from_secs_f64(at.parse().unwrap());
            (flow.parse().unwrap(), at)
        })
        .collect();
    let order: Vec<_> = wanted.iter().map(|w| w.0).collect();
    assert_eq!(flows, order, "{name}: order");
    for (d, (_, at)) in out.departures.iter().zip(&wanted) {
        assert_eq!(d.finish, *at, "{name}: flow {}", d.packet.flow);
        assert!(d.finish.since(d.start) <= rate.tx_time(d.packet.len) + Dur::from_ps(1));
    }
    let drops: Vec<String> = out
        .drops
        .iter()
        .map(|(t, d)| {
            let reason = d.reason.metric().trim_start_matches("drops_");
            let reason = reason.replace('_', "-");
            format!("{}@{}:{reason}", d.packet.flow, t.as_secs_f64())
        })
        .collect();
    assert_eq!(drops, case.drops, "{name}: drops");
    let marks: Vec<String> = out
        .departures
        .iter()
        .filter(|d| d.packet.ecn == Ecn::Ce)
        .map(|d| format!("{}@{}", d.packet.flow, d.finish.as_secs_f64()))
        .collect();
    assert_eq!(marks, case.marks, "{name}: marks");
}

/// Every file of cases, so that a new one needs no line here; files of other forms have tests of
/// their own.
#[test]
fn every_file_holds() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/vectors");
    let mut files = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|e| e != "txt") {
            continue;
        }
        let text = std::fs::read_to_string(&path).unwrap();
        if text.lines().any(|l| l.starts_with("policy ")) {
            files += 1;
            parse(&text).into_iter().for_each(run);
        }
    }
    assert!(files >= 6, "{files}");
}
