//! What a packet costs in fair queues: nanoseconds for one enqueue and one dequeue,
//! the least of several repetitions. The schedulers of Flow-Aware Networking are bare;
//! DRR and FQ-CoDel are whole disciplines, with counters and drops.
//!
//! `cargo bench -p spillgate-queueing --bench fair_queue [-- MAX_NS ROWS]` prints a
//! table; with a number the exit status is 1 if any cell is above it, with a part of
//! "PFQ, buffer overflows" there are only the rows that have it in their names.

mod common;

use std::net::Ipv4Addr;
use std::sync::Arc;
use std::time::Instant;

use common::{MTU, Offers, Queue, Whole, recipe};
use spillgate_core::{Dur, FlowKey, Packet, Rng};
use spillgate_queueing::FlowNumbers;
use spillgate_queueing::aqm::AqmSpec;
use spillgate_queueing::testkit::{self, BareFairQueue};

/// Packets of each flow that wait where all are backlogged.
const DEEP: u32 = 3;

/// How packets come.
#[derive(Clone, Copy)]
enum Load {
    /// Each departure is replaced by a packet of the same flow: all flows stay backlogged, nothing
    /// is dropped.
    Backlogged,
    /// Packets of random flows, a quarter more than leave: the buffer overflows, the longest
    /// backlog is pushed out.
    Overflowing,
    /// Packets of random flows that find the queue almost empty: next to all get priority.
    Light,
}

impl Load {
    /// A buffer for `flows` of them, in packets.
    fn buffer(self, flows: u32) -> u32 {
        match self {
            Self::Overflowing => DEEP * flows,
            _ => u32::MAX,
        }
    }
}

impl Queue for BareFairQueue {
    fn offer(&mut self, packet: Packet) {
        self.offer(packet);
    }

    fn pop(&mut self) -> Option<Packet> {
        self.pop()
    }
}

/// That of jumbo frames, with their headers, and of IP.
const JUMBO: u32 = 9216;
const LONGEST: u32 = 65_535;

/// A discipline of a kind with more keys, which holds so many packets. Time hardly passes: nothing
/// waits for long.
fn limited(kind: &str, keys: &str, packets: u32) -> Whole {
    let limit = packets.min(1_000_000_000);
    let json = format!(r#"{{"main": {{"{kind}": {{"limit": "{limit} packets"{keys}}}}}}}"#);
    let recipe = recipe(&json, 1_000_000_000).expect("a policy");
    Whole::new(&recipe, &Arc::from([]), Dur::ZERO)
}

fn fill(queue: &mut impl Queue, load: Load, flows: u32, offers: &mut Offers) {
    if matches!(load, Load::Light) {
        return;
    }
    for _ in 0..DEEP {
        for flow in 0..flows {
            let packet = offers.packet(Some(flow));
            queue.offer(packet);
        }
    }
}

/// `pairs` of an enqueue and a dequeue; nanoseconds for one.
fn measure(queue: &mut impl Queue, load: Load, pairs: u32, offers: &mut Offers) -> f64 {
    // The one place where a wall clock is read: this is about time itself.
    #[allow(clippy::disallowed_methods)]
    let begin = Instant::now();
    for i in 0..pairs {
        match load {
            Load::Backlogged => {
                if let Some(left) = queue.pop() {
                    let next = offers.packet(Some(left.flow));
                    queue.offer(next);
                }
            }
            Load::Overflowing => {
                queue.offer(offers.packet(None));
                if i % 5 != 0 {
                    queue.pop();
                }
            }
            Load::Light => {
                queue.offer(offers.packet(None));
                queue.pop();
            }
        }
    }
    begin.elapsed().as_secs_f64() * 1e9 / f64::from(pairs)
}

/// The rows to print.
struct Table {
    pairs: u32,
    repetitions: u32,
    /// What the rows have in their names.
    only: String,
    /// The largest value of all.
    worst: f64,
}

impl Table {
    /// Measures queues that `make` makes with a buffer of so many packets up to `mtu`, and prints
    /// their rows; the largest value.
    fn rows<Q: Queue>(&self, name: &str, mtu: u32, make: impl Fn(u32) -> Q) -> f64 {
        let mut worst = 0.0_f64;
        for (what, load) in [
            ("all backlogged", Load::Backlogged),
            ("buffer overflows", Load::Overflowing),
            ("light load", Load::Light),
        ] {
            if !format!("{name}, {what}").contains(&self.only) {
                continue;
            }
            let cells = [10, 1000, 10_000].map(|flows| {
                let mut queue = make(load.buffer(flows));
                let mut offers = Offers {
                    rng: Rng::from_key(1),
                    flows,
                    seq: 0,
                    mtu,
                };
                fill(&mut queue, load, flows, &mut offers);
                (0..self.repetitions)
                    .map(|_| measure(&mut queue, load, self.pairs, &mut offers))
                    .fold(f64::INFINITY, f64::min)
            });
            worst = cells.into_iter().fold(worst, f64::max);
            let cells = cells.map(|ns| format!("{ns:.0}")).join(" | ");
            println!("| {name} | {what} | {cells} |");
        }
        worst
    }

    /// The same with a limit on what they may take.
    fn limited<Q: Queue>(&mut self, name: &str, mtu: u32, make: impl Fn(u32) -> Q) {
        self.worst = self.worst.max(self.rows(name, mtu, make));
    }
}

/// What it takes to announce a flow to a port of classes: as much with few as with many, but for
/// the cache.
fn announcements(repetitions: u32) {
    let json = r#"{"main": {"class-based": {"classes": [{"name": "a", "match": {"sport": 1}, "drr": {}}]}}}"#;
    let recipe = recipe(json, 1_000_000_000).expect("a policy");
    let cells = [10_u32, 1000, 10_000].map(|flows| {
        let once = || {
            #[allow(clippy::disallowed_methods)]
            let begin = Instant::now();
            let mut port = recipe.build(&Arc::from([]));
            let mut numbers = FlowNumbers::new();
            for i in 0..flows {
                let src = Ipv4Addr::from(i).into();
                numbers.announce(
                    FlowKey {
                        src,
                        ..testkit::flows()[0]
                    },
                    &mut port,
                );
            }
            begin.elapsed().as_secs_f64() * 1e9 / f64::from(flows)
        };
        (0..repetitions)
            .map(|_| once())
            .fold(f64::INFINITY, f64::min)
    });
    let cells = cells.map(|ns| format!("{ns:.0}")).join(" | ");
    println!("| class-based | a flow is announced | {cells} |");
}

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    // `cargo test` runs the program too, to see whether it works.
    let real = args.iter().any(|a| a == "--bench");
    let limit: Option<f64> = args.iter().find_map(|a| a.parse().ok());
    let rows = |a: &&String| !a.starts_with('-') && a.parse::<f64>().is_err();
    let (pairs, repetitions) = if real { (50_000, 100) } else { (1000, 1) };
    let mut table = Table {
        pairs,
        repetitions,
        only: args.iter().find(rows).cloned().unwrap_or_default(),
        worst: 0.0,
    };
    println!("| scheduler | load | 10 flows, ns | 1,000 flows, ns | 10,000 flows, ns |");
    println!("|---|---|---|---|---|");
    table.limited("PFQ", MTU, |n| BareFairQueue::pfq(n, MTU));
    table.limited("PFQ, 9216 B", JUMBO, |n| BareFairQueue::pfq(n, JUMBO));
    table.limited("PFQ, 65,535 B", LONGEST, |n| BareFairQueue::pfq(n, LONGEST));
    // To be compared with.
    table.rows("PFQ, heap", MTU, |n| BareFairQueue::pfq_heap(n, MTU));
    table.limited("PDRR, charged", MTU, |n| BareFairQueue::pdrr(n, MTU, true));
    table.limited("PDRR, literal", MTU, |n| BareFairQueue::pdrr(n, MTU, false));
    table.limited("DRR, whole", MTU, |n| limited("drr", "", n));
    for scheduler in ["scfq", "start-time", "wf2q+", "virtual-clock", "qfq", "wrr"] {
        let sum = match scheduler {
            "virtual-clock" => r#", "weight_sum": 10000"#,
            _ => "",
        };
        let keys = format!(r#", "scheduler": "{scheduler}"{sum}"#);
        let name = format!("fair, {scheduler}, whole");
        table.rows(&name, MTU, |n| limited("fair", &keys, n));
    }
    table.limited("FQ-CoDel, whole", MTU, |n| limited("fq-codel", "", n));
    let many = r#", "flows": 65408, "divisor": 65536, "depth": 1000"#;
    table.rows("SFQ, whole", MTU, |n| limited("sfq", many, n));
    table.limited("FQ-PIE, whole", MTU, |n| limited("fq-pie", "", n));
    table.limited("DualPI2, whole", MTU, |n| limited("dualpi2", "", n));
    table.limited("CAKE, whole", MTU, |n| limited("cake", "", n));
    let families = spillgate_queueing::kinds().iter();
    for aqm in families.filter(|f| f.name == "aqm").flat_map(|f| f.kinds) {
        let keys = format!(r#", "aqm": {{"{}": {{}}}}"#, aqm.kind);
        let name = format!("FQ, {}, whole", aqm.kind);
        // Those that tell flows apart are not for fair queues.
        let json = format!(r#"{{"{}": {{}}}}"#, aqm.kind);
        let spec: AqmSpec = serde_json::from_str(&json).expect("an AQM");
        if !spec.tells_flows() {
            table.rows(&name, MTU, |n| limited("fq", &keys, n));
        }
    }
    announcements(repetitions.min(30));
    let worst = table.worst;
    if real && limit.is_some_and(|limit| worst > limit) {
        eprintln!("{worst:.0} ns are above the limit");
        std::process::exit(1);
    }
}
