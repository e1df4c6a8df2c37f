//! What a packet costs in a whole cross-protect router, by the number of flows on
//! its list, and what a packet costs that makes the mechanism remove them.
//!
//! `cargo bench -p spillgate-queueing --bench fan_router` prints two tables:
//! nanoseconds for one enqueue and one dequeue, the least of several
//! repetitions, and microseconds for the one packet.

use std::collections::BTreeMap;
use std::net::Ipv4Addr;
use std::sync::Arc;
use std::time::Instant;

use spillgate_core::{Drops, Dur, FlowKey, Packet, Rate, Rng, Time};
use spillgate_queueing::spec::DisciplineSpec;
use spillgate_queueing::{Discipline, Recipe};

/// A router with its driver.
struct Router {
    discipline: Discipline,
    rate: Rate,
    now: Time,
    rng: Rng,
    drops: Drops,
}

impl Router {
    fn new(more: &str, flows: u32) -> Self {
        let json = format!(
            r#"{{"fan": {{"limit": "1000000 packets", "max_priority_load": "100 %"{more}}}}}"#
        );
        let spec: DisciplineSpec = serde_json::from_str(&json).unwrap();
        let policies = BTreeMap::from([("fan".to_owned(), spec)]);
        let rate = Rate::from_bps(10_000_000_000).unwrap();
        let (recipe, _) = Recipe::resolve("fan", &policies, rate).unwrap();
        // Only their number matters.
        let key = FlowKey {
            src: Ipv4Addr::LOCALHOST.into(),
            dst: Ipv4Addr::LOCALHOST.into(),
            protocol: 17,
            sport: 1,
            dport: 2,
        };
        let keys: Arc<[FlowKey]> = vec![key; flows as usize + 1].into();
        Self {
            discipline: recipe.build(&keys),
            rate,
            now: Time::ZERO,
            rng: Rng::from_key(1),
            drops: Drops::new(),
        }
    }

    #[inline]
    fn offer(&mut self, flow: u32, seq: u32) {
        let packet = Packet::new(flow, seq, 1000);
        self.discipline
            .enqueue(self.now, packet, &mut self.rng, &mut self.drops);
        self.drops.clear();
    }

    #[inline]
    fn send(&mut self) {
        let sent = self
            .discipline
            .dequeue(self.now, &mut self.rng, &mut self.drops);
        if let Some(packet) = sent {
            self.now += self.rate.tx_time(packet.len);
        }
    }

    fn listed(&self) -> u32 {
        self.discipline.admission(self.now).unwrap().listed
    }
}

// The places where a wall clock is read: this is about time itself.
#[allow(clippy::disallowed_methods)]
fn timed(f: impl FnOnce()) -> f64 {
    let begin = Instant::now();
    f();
    begin.elapsed().as_secs_f64()
}

/// Nanoseconds for a packet of a random listed flow that goes in and out.
fn per_packet(more: &str, flows: u32, (packets, repeats): (u32, u32)) -> f64 {
    let mut router = Router::new(&format!(r#", "min_fair_rate": "0 %"{more}"#), flows);
    // The link is idle half of the time, or the measured load would close it.
    let gap = router.rate.tx_time(1000);
    for flow in 0..flows {
        router.offer(flow, 0);
        router.send();
        router.now += gap;
    }
    assert_eq!(router.listed(), flows);
    let mut choice = Rng::from_key(2);
    let mut once = || {
        timed(|| {
            for seq in 0..packets {
                router.offer(choice.below(flows), seq);
                router.send();
                router.now += gap;
            }
        })
    };
    let best = (0..repeats).map(|_| once()).fold(f64::MAX, f64::min);
    best * 1e9 / f64::from(packets)
}

/// Microseconds for the packet that removes `flows` elastic flows, and for the costliest of the
/// 1000 packets of theirs after it.
fn removal(more: &str, flows: u32) -> (f64, f64) {
    let mut router = Router::new(more, flows);
    let mut choice = Rng::from_key(3);
    for seq in 0..3 {
        for flow in 0..flows {
            router.offer(flow, seq);
        }
    }
    while router.now < Time::ZERO + Dur::from_ms(1_100) && router.discipline.backlog_packets() > 0 {
        // So that the link stays saturated.
        router.offer(choice.below(flows), 3);
        router.send();
    }
    assert_eq!(router.listed(), flows);
    let trigger = timed(|| router.offer(flows, 0));
    assert_eq!(router.listed(), 0);
    let mut after = |seq| timed(|| router.offer(seq % flows, seq));
    let worst = (0..1000).map(&mut after).fold(0.0, f64::max);
    (trigger * 1e6, worst * 1e6)
}

fn main() {
    // `cargo test` runs the program too, to see whether it works.
    let real = std::env::args().any(|a| a == "--bench");
    let (sizes, work, removed) = match real {
        true => ([1_000, 10_000, 1_000_000], (200_000, 20), 100_000),
        false => ([10, 100, 1_000], (1_000, 1), 1_000),
    };
    println!(
        "| router | {} |",
        sizes.map(|n| format!("{n} flows, ns")).join(" | ")
    );
    println!("|---|---|---|---|");
    for (name, more) in [
        ("PFQ, basic", ""),
        ("PFQ, EFM", r#", "mechanism": {"efm": {}}"#),
        ("PFQ, RBAEF", r#", "mechanism": {"rbaef": {}}"#),
        (
            "PFQ, EFM, `pfl_max`",
            r#", "mechanism": {"efm": {}}, "pfl_max": 1000000"#,
        ),
        (
            "PFQ, EFM, shared list",
            r#", "mechanism": {"efm": {}}, "protected_list": "all""#,
        ),
        (
            "PDRR, EFM",
            r#", "mechanism": {"efm": {}}, "scheduler": {"pdrr": {}}"#,
        ),
    ] {
        let cells = sizes.map(|n| format!("{:.0}", per_packet(more, n, work)));
        println!("| {name} | {} |", cells.join(" | "));
    }
    println!("\n| mechanism | removal of {removed} flows, µs | costliest packet after it, µs |");
    println!("|---|---|---|");
    for (name, more) in [
        ("EFM", r#", "mechanism": {"efm": {}}"#),
        ("RAEF", r#", "mechanism": {"raef": {"active_time": "1 s"}}"#),
        (
            "RBAEF",
            r#", "mechanism": {"rbaef": {"active_time": "1 s"}}"#,
        ),
    ] {
        let (trigger, after) = removal(more, removed);
        println!("| {name} | {trigger:.1} | {after:.1} |");
    }
}
