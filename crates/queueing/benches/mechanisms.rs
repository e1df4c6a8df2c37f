//! What every mechanism of the registry costs: an enqueue and a dequeue with 1, 100 and 10,000
//! flows, as a multiple of a FIFO's in the same run.
//!
//! `cargo bench -p spillgate-queueing --bench mechanisms` prints a table. All are measured in
//! turns, and of each the shortest turn counts, so that what else the machine does spoils neither.
//!
//! Disciplines and schedulers of classes, eight of them, have three packets of each flow waiting,
//! and each departure is replaced by a packet of its flow. A tree of HTB or HFSC has a class for
//! each flow. *Borrowed*: classes have next to no rate of their own. *Shaped*: the tree sends
//! slower than it is asked, so that each packet waits for a wake-up, which counts. AQMs have a FIFO
//! of 20 packets to themselves, to which a quarter more comes than leaves at 10 Mb/s, of flows at
//! random.

mod common;

use std::net::Ipv4Addr;
use std::sync::Arc;
use std::time::Instant;

use common::{MTU, Offers, Queue, Whole, recipe};
use schemars::{JsonSchema, schema_for};
use spillgate_core::{Dur, FlowKey, Rng};
use spillgate_queueing::spec::{ClassScheduler, FlowScheduler};
use spillgate_queueing::{Recipe, testkit};

const FLOWS: [u32; 3] = [1, 100, 10_000];
/// Packets of each flow that wait.
const DEEP: u32 = 3;
/// How long 1500 B take at 10 Mb/s.
const STEP: Dur = Dur::from_us(1200);
const FAST: u64 = 1_000_000_000;
/// Of trees of classes, so that none needs to wait for its tokens.
const FASTER: u64 = 100 * FAST;
const SLOW: u64 = 10_000_000;
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
    /// One with the recipe for so many flows.
    fn new(name: &str, load: Load, recipe: impl Fn(u32) -> Recipe) -> Self {
        let queues = FLOWS.map(|flows| {
            let key = |i: u32| FlowKey {
                src: Ipv4Addr::from(i).into(),
                sport: i as u16,
                ..testkit::flows()[0]
            };
            let keys: Arc<[FlowKey]> = (0..flows).map(key).collect();
            let step = match load {
                Load::Backlogged => Dur::ZERO,
                Load::Overloaded => STEP,
            };
            let mut queue = Whole::new(&recipe(flows), &keys, step);
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
                self.load.pair(i, queue, offers);
            }
            *least = least.min(begin.elapsed().as_secs_f64() * 1e9 / f64::from(pairs));
        }
    }
}

impl Load {
    /// An enqueue and a dequeue, nearly.
    #[inline]
    fn pair(self, i: u32, queue: &mut Whole, offers: &mut Offers) {
        match self {
            Self::Backlogged => {
                if let Some(left) = queue.pop() {
                    queue.offer(offers.packet(Some(left.flow)));
                }
            }
            Self::Overloaded => {
                queue.offer(offers.packet(None));
                if i % 5 != 0 {
                    queue.pop();
                }
            }
        }
    }
}

/// The first of these keys, beside which a kind holds 100,000 packets, that it has.
fn discipline(kind: &str, more: &str) -> Option<Recipe> {
    let limits = [
        r#""limit": "100000 packets", "hold_queue": "100000 packets""#,
        r#""hold_queue": 100000, "threshold": 4096, "queues": 4096"#,
        r#""limit": "100000 packets", "flows": 65408, "divisor": 65536"#,
        r#""limit": "100000 packets""#,
        r#""pfq": {}, "buffer": "100000 packets""#,
        r#""memory_limit": "1 GB""#,
    ];
    limits.iter().find_map(|keys| {
        recipe(
            &format!(r#"{{"main": {{"{kind}": {{{keys}{more}}}}}}}"#),
            FAST,
        )
    })
}

/// A tree of HTB or HFSC with so many leaves, with the keys of the top and of each leaf.
fn tree(kind: &str, leaves: u32, top: &str, leaf: &str) -> Recipe {
    let leaves: Vec<_> = (0..leaves)
        .map(|i| {
            format!(r#"{{"name": "c{i}", "parent": "top", "match": {{"sport": {i}}}, {leaf}}}"#)
        })
        .collect();
    let json = format!(
        r#"{{"main": {{"{kind}": {{"default": "c0", "classes": [{{"name": "top", {top}}}, {}]}}}}}}"#,
        leaves.join(", ")
    );
    recipe(&json, FASTER).expect("a tree of classes")
}

/// Trees by name: what they are made of at the top and in each leaf.
const TREES: [[&str; 4]; 5] = [
    ["htb", "own tokens", WIDE, WIDE],
    ["htb", "borrowed", WIDE, NOTHING],
    ["htb", "shaped", NARROW, NOTHING],
    [
        "hfsc",
        "link-sharing",
        r#""ls": {"m2": "1 Gb/s"}"#,
        r#""ls": {"m2": "1 Mb/s"}"#,
    ],
    [
        "hfsc",
        "shaped",
        r#""ls": {"m2": "1 Gb/s"}, "ul": {"m2": "1 Gb/s"}"#,
        r#""sc": {"m1": "50 kb/s", "d": "10 ms", "m2": "10 kb/s"}"#,
    ],
];
const WIDE: &str = r#""rate": "90 Gb/s", "burst": "1 GB", "cburst": "1 GB", "quantum": "1500 B""#;
const NOTHING: &str = r#""rate": "8 b/s", "ceil": "90 Gb/s", "burst": "0 B", "cburst": "1 GB",
    "quantum": "1500 B""#;
const NARROW: &str = r#""rate": "1 Gb/s", "burst": "1600 B", "cburst": "1600 B""#;

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

/// The names of an enumeration, as scenarios write them.
fn names<T: JsonSchema>() -> Vec<String> {
    let schema = schema_for!(T);
    let kinds = schema.get("oneOf").and_then(|k| k.as_array());
    let kinds = kinds.expect("an enumeration of described names");
    let name = |kind: &serde_json::Value| kind["const"].as_str().map(str::to_owned);
    kinds.iter().filter_map(name).collect()
}

/// Every mechanism, behind the FIFO that it is compared with.
fn rows() -> Vec<Row> {
    let mut rows = Vec::new();
    let mut waiting = |name: &str, recipe: Recipe| {
        rows.push(Row::new(name, Load::Backlogged, |_| recipe.clone()));
    };
    // What the registry has and cannot be built by itself, such as a policy of classes, is below.
    for kind in kinds("disciplines").filter(|k| *k != "fair") {
        if let Some(recipe) = discipline(kind, "") {
            waiting(kind, recipe);
        }
    }
    let by_flow = discipline("cake", r#", "isolation": "flows""#).expect("CAKE");
    waiting("cake, flows", by_flow);
    for scheduler in names::<FlowScheduler>() {
        let sum = if scheduler == "virtual-clock" {
            r#", "weight_sum": 10000"#
        } else {
            ""
        };
        let keys = format!(r#", "scheduler": "{scheduler}"{sum}"#);
        let recipe = discipline("fair", &keys).expect("a fair queue");
        waiting(&format!("fair, {scheduler}"), recipe);
    }
    for scheduler in names::<ClassScheduler>() {
        waiting(&format!("8 classes, {scheduler}"), classes(&scheduler));
    }
    for [kind, load, top, leaf] in TREES {
        let name = format!("{kind}, {load}");
        rows.push(Row::new(&name, Load::Backlogged, |n| {
            tree(kind, n, top, leaf)
        }));
    }
    let short = r#""limit": "20 packets""#;
    let mut overloaded = |name: &str, keys: &str| {
        let json = format!(r#"{{"main": {{"fifo": {{{short}{keys}}}}}}}"#);
        let recipe = recipe(&json, SLOW).expect("a FIFO");
        rows.push(Row::new(name, Load::Overloaded, |_| recipe.clone()));
    };
    overloaded("FIFO of 20 packets", "");
    for kind in kinds("aqm") {
        overloaded(kind, &format!(r#", "aqm": {{"{kind}": {{}}}}"#));
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
