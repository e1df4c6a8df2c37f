//! What a packet costs in trees of classes: nanoseconds for one enqueue and one dequeue of a whole
//! discipline with all classes backlogged, the least of several repetitions, beside a FIFO.
//!
//! `cargo bench -p spillgate-queueing --bench classes` prints a table. *Own tokens*: no class ever
//! waits. *Borrowed*: classes have next to no rate and borrow. *Shaped*: the tree sends slower than
//! it is asked, so that each packet waits for a wake-up, which counts.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::net::Ipv4Addr;
use std::sync::Arc;
use std::time::Instant;

use spillgate_core::{Drops, FlowKey, Packet, Rate, Rng, Time};
use spillgate_queueing::spec::DisciplineSpec;
use spillgate_queueing::{Discipline, Recipe};

/// A tree of so many leaves, with the keys of the top and of each leaf.
fn tree(kind: &str, leaves: u16, top: &str, leaf: &str) -> String {
    let mut classes = format!(r#"{{"name": "top", {top}}}"#);
    for i in 0..leaves {
        let _ = write!(
            classes,
            r#", {{"name": "c{i}", "parent": "top", "match": {{"sport": {i}}}, {leaf}}}"#
        );
    }
    format!(r#"{{"{kind}": {{"default": "c0", "classes": [{classes}]}}}}"#)
}

/// Discipline, load, and what makes the policy for so many classes.
type Row<'a> = (&'a str, &'a str, &'a dyn Fn(u16) -> String);

struct Port {
    discipline: Discipline,
    rng: Rng,
    drops: Drops,
    now: Time,
    seq: u32,
}

impl Port {
    fn new(json: &str, flows: u16) -> Self {
        let spec: DisciplineSpec = serde_json::from_str(json).expect("a policy");
        let policies = BTreeMap::from([("main".to_owned(), spec)]);
        let rate = Rate::from_bps(100_000_000_000).expect("a rate");
        let (recipe, _) = Recipe::resolve("main", &policies, rate).expect("a policy");
        let address = |n: u8| Ipv4Addr::new(10, 0, 0, n).into();
        let flow = |sport| FlowKey {
            src: address(1),
            dst: address(2),
            protocol: 17,
            sport,
            dport: 5000,
        };
        let flows: Arc<[FlowKey]> = (0..flows).map(flow).collect();
        let mut port = Self {
            discipline: recipe.build(&flows),
            rng: Rng::from_key(1),
            drops: Drops::new(),
            now: Time::ZERO,
            seq: 0,
        };
        for flow in (0..flows.len() as u32).chain(0..flows.len() as u32) {
            port.offer(flow);
        }
        port
    }

    fn offer(&mut self, flow: u32) {
        self.seq += 1;
        let packet = Packet::new(flow, self.seq, 500 + (self.seq % 11 * 100) as u16);
        self.discipline
            .enqueue(self.now, packet, &mut self.rng, &mut self.drops);
    }

    /// Packets that leave and are replaced, so many; nanoseconds for one.
    fn measure(&mut self, packets: u32) -> f64 {
        #[allow(clippy::disallowed_methods)]
        let begin = Instant::now();
        for _ in 0..packets {
            let sent = loop {
                match self
                    .discipline
                    .dequeue(self.now, &mut self.rng, &mut self.drops)
                {
                    Some(sent) => break sent,
                    None => {
                        let wake = self.discipline.next_wake(self.now);
                        self.now = wake.expect("it wakes");
                    }
                }
            };
            self.offer(sent.flow);
        }
        begin.elapsed().as_secs_f64() * 1e9 / f64::from(packets)
    }
}

fn main() {
    let real = std::env::args().any(|a| a == "--bench");
    let (packets, repetitions) = if real { (20_000, 20) } else { (200, 1) };
    println!("| discipline | load | 1 class, ns | 100 classes, ns | 10,000 classes, ns |");
    println!("|---|---|---|---|---|");
    let fast = r#""rate": "90 Gb/s", "burst": "1 GB", "cburst": "1 GB""#;
    let none = r#""rate": "8 b/s", "ceil": "90 Gb/s", "burst": "0 B", "cburst": "1 GB", "quantum": "1500 B""#;
    let slow = r#""rate": "1 Gb/s", "burst": "1600 B", "cburst": "1600 B""#;
    let rows: [Row<'_>; 6] = [
        ("FIFO", "backlogged", &|_| {
            r#"{"fifo": {"limit": "100000 packets"}}"#.to_owned()
        }),
        ("HTB", "own tokens", &|n| {
            tree("htb", n, fast, &format!(r#"{fast}, "quantum": "1500 B""#))
        }),
        ("HTB", "borrowed", &|n| tree("htb", n, fast, none)),
        ("HTB", "shaped", &|n| tree("htb", n, slow, none)),
        ("HFSC", "link-sharing", &|n| {
            tree(
                "hfsc",
                n,
                r#""ls": {"m2": "1 Gb/s"}"#,
                r#""ls": {"m2": "1 Mb/s"}"#,
            )
        }),
        ("HFSC", "shaped", &|n| {
            let top = r#""ls": {"m2": "1 Gb/s"}, "ul": {"m2": "1 Gb/s"}"#;
            tree(
                "hfsc",
                n,
                top,
                r#""sc": {"m1": "50 kb/s", "d": "10 ms", "m2": "10 kb/s"}"#,
            )
        }),
    ];
    for (name, load, make) in rows {
        let cells = [1, 100, 10_000].map(|n| {
            let mut port = Port::new(&make(n), n);
            let each = (0..repetitions).map(|_| port.measure(packets));
            let least = each.fold(f64::INFINITY, f64::min);
            format!("{least:.0}")
        });
        println!("| {name} | {load} | {} |", cells.join(" | "));
    }
}
