//! What every mechanism of the registry costs: an enqueue and a dequeue with 1, 100 and 10,000
//! flows, as a multiple of a FIFO's in the same run.
//!
//! `cargo bench -p spillgate-queueing --bench mechanisms` prints a table. All are measured in
//! turns, and of each the shortest turn counts, so that what else the machine does spoils neither.
//!
//! Disciplines and schedulers of classes, eight of them, have three packets of each flow waiting,
//! and each departure is replaced by a packet of its flow. AQMs have a FIFO of 20 packets to
//! themselves, to which a quarter more comes than leaves at 10 Mb/s, of flows at random.

mod common;

use std::net::Ipv4Addr;
use std::sync::Arc;
use std::time::Instant;

use common::{MTU, Offers, Queue, Whole, recipe};
use spillgate_core::{Dur, FlowKey, Rng};
use spillgate_queueing::{Recipe, testkit};

const FLOWS: [u32; 3] = [1, 100, 10_000];
/// Packets of each flow that wait.
const DEEP: u32 = 3;
/// How long 1500 B take at 10 Mb/s.
const STEP: Dur = Dur::from_us(1200);
const FAST: u64 = 1_000_000_000;
const SLOW: u64 = 10_000_000;
const SCHEDULERS: [&str; 8] = [
    "scfq",
    "start-time",
    "wf2q+",
    "virtual-clock",
    "drr",
    "wrr",
    "strict",
    "ets",
];

/// How packets come.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Load {
    Backlogged,
    Overloaded,
}

/// A mechanism with a queue for each number of flows, and the shortest times so far.
struct Row {
    name: String,
    load: Load,
    queues: Vec<(Whole, Offers)>,
    ns: [f64; 3],
}

impl Row {
    fn new(name: &str, load: Load, recipe: &Recipe) -> Self {
        let queues = FLOWS.map(|flows| {
            let key = |i| FlowKey {
                src: Ipv4Addr::from(i).into(),
                ..testkit::flows()[0]
            };
            let keys: Arc<[FlowKey]> = (0..flows).map(key).collect();
            let step = match load {
                Load::Backlogged => Dur::ZERO,
                Load::Overloaded => STEP,
            };
            let mut queue = Whole::new(recipe, &keys, step);
            let mut offers = Offers {
                rng: Rng::from_key(1),
                flows,
                seq: 0,
                mtu: MTU,
            };
            if load == Load::Backlogged {
                for flow in (0..DEEP).flat_map(|_| 0..flows) {
                    queue.offer(offers.packet(Some(flow)));
                }
            }
            (queue, offers)
        });
        Self {
            name: name.to_owned(),
            load,
            queues: queues.into(),
            ns: [f64::INFINITY; 3],
        }
    }

    /// One turn of so many pairs.
    fn turn(&mut self, pairs: u32) {
        for ((queue, offers), least) in self.queues.iter_mut().zip(&mut self.ns) {
            // The one place where a wall clock is read: this is about time itself.
            #[allow(clippy::disallowed_methods)]
            let begin = Instant::now();
            for i in 0..pairs {
                match self.load {
                    Load::Backlogged => {
                        if let Some(left) = queue.pop() {
                            queue.offer(offers.packet(Some(left.flow)));
                        }
                    }
                    Load::Overloaded => {
                        queue.offer(offers.packet(None));
                        if i % 5 != 0 {
                            queue.pop();
                        }
                    }
                }
            }
            *least = least.min(begin.elapsed().as_secs_f64() * 1e9 / f64::from(pairs));
        }
    }
}

/// The first of these keys, beside which a kind holds 100,000 packets, that it has.
fn discipline(kind: &str) -> Option<Recipe> {
    let limits = [
        r#""limit": "100000 packets", "hold_queue": "100000 packets""#,
        r#""hold_queue": 100000, "threshold": 4096, "queues": 4096"#,
        r#""limit": "100000 packets", "flows": 65408, "divisor": 65536"#,
        r#""limit": "100000 packets""#,
        r#""pfq": {}, "buffer": "100000 packets""#,
        "",
    ];
    limits
        .iter()
        .find_map(|keys| recipe(&format!(r#"{{"main": {{"{kind}": {{{keys}}}}}}}"#), FAST))
}

/// Eight classes by class selector, with shares where the scheduler has any.
fn classes(scheduler: &str) -> Recipe {
    // How many classes go first.
    let (strict, key) = match scheduler {
        "strict" => (8, ""),
        "ets" => (1, r#""strict": 1, "#),
        _ => (0, ""),
    };
    let classes: Vec<_> = (1..8)
        .map(|i| {
            let share = if i <= strict { "" } else { r#""bandwidth": "10 %", "# };
            format!(
                r#"{{"name": "c{i}", "match": {{"dscp": "cs{i}"}}, {share}"queue_limit": "100000 packets"}}, "#
            )
        })
        .collect();
    let json = format!(
        r#"{{"main": {{"class-based": {{"scheduler": "{scheduler}", {key}"classes": [{}
            {{"name": "class-default", "queue_limit": "100000 packets"}}]}}}}}}"#,
        classes.concat()
    );
    recipe(&json, FAST).expect("a policy of classes")
}

fn kinds(family: &str) -> impl Iterator<Item = &'static str> {
    let families = spillgate_queueing::kinds().iter();
    let found = families.filter(move |f| f.name == family);
    found.flat_map(|f| f.kinds).map(|k| k.kind)
}

/// Every mechanism, behind the FIFO that it is compared with.
fn rows() -> Vec<Row> {
    let mut rows = Vec::new();
    // What the registry has and cannot be built by itself, such as a policy of classes, is below.
    for kind in kinds("disciplines") {
        if let Some(recipe) = discipline(kind) {
            rows.push(Row::new(kind, Load::Backlogged, &recipe));
        }
    }
    for scheduler in SCHEDULERS {
        let name = format!("8 classes, {scheduler}");
        rows.push(Row::new(&name, Load::Backlogged, &classes(scheduler)));
    }
    let short = r#""limit": "20 packets""#;
    let fifo = |keys: &str| {
        recipe(
            &format!(r#"{{"main": {{"fifo": {{{short}{keys}}}}}}}"#),
            SLOW,
        )
    };
    let alone = fifo("").expect("a FIFO");
    rows.push(Row::new("FIFO of 20 packets", Load::Overloaded, &alone));
    for kind in kinds("aqm") {
        let keys = format!(r#", "aqm": {{"{kind}": {{}}}}"#);
        let recipe = fifo(&keys).expect("an AQM with its defaults");
        rows.push(Row::new(kind, Load::Overloaded, &recipe));
    }
    rows
}

fn main() {
    // `cargo test` runs the program too, to see whether it works.
    let real = std::env::args().any(|a| a == "--bench");
    let (pairs, turns) = if real { (20_000, 40) } else { (100, 1) };
    let mut rows = rows();
    for _ in 0..turns {
        for row in &mut rows {
            row.turn(pairs);
        }
    }
    println!("| mechanism | 1 flow | 100 flows | 10,000 flows | ns at 100 flows | 10,000 to 100 |");
    println!("|---|---:|---:|---:|---:|---:|");
    let mut fifo = [f64::NAN; 3];
    for row in rows {
        if row.name == "fifo" || row.name.starts_with("FIFO") {
            fifo = row.ns;
        }
        let times: Vec<_> = row
            .ns
            .iter()
            .zip(fifo)
            .map(|(a, b)| format!("{:.1}", a / b))
            .collect();
        println!(
            "| {} | {} | {:.0} | {:.1} |",
            row.name,
            times.join(" | "),
            row.ns[1],
            row.ns[2] / row.ns[1]
        );
    }
}
