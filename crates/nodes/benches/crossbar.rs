//! Cells a second of CPU: a 16 x 16 crossbar with iSLIP (4 iterations) and other matchings at load
//! 0.9, uniform arrivals.

#![allow(clippy::disallowed_methods, reason = "a benchmark reads the clock")]

use std::hint::black_box;
use std::time::Instant;

use spillgate_core::{Packet, Rate, Rng, Time};
use spillgate_nodes::switch::{FabricOutbox, SwitchRecipe, SwitchSpec};

fn main() {
    let line = Rate::from_bps(1_000_000_000).unwrap();
    for (ports, matching) in [
        (16_u16, r#""islip": {"iterations": 4}"#),
        (16, r#""pim": {"iterations": 4}"#),
        (16, r#""longest-queue-first": {}"#),
        (16, r#""stable-marriage": {}"#),
        (16, r#""maximum-weight": {}"#),
        (256, r#""islip": {"iterations": 8}"#),
    ] {
        let json = format!(
            r#"{{"architecture": "voq", "fabric": {{"crossbar": {{"cell": "64 B", "matching": {{{matching}}}}}}}}}"#
        );
        let spec: SwitchSpec = serde_json::from_str(&json).unwrap();
        let mut switch = SwitchRecipe::resolve(&spec, ports.into(), line)
            .unwrap()
            .build(&[].into());
        let (mut rng, mut out) = (Rng::named(1, 0, "bench", "cells"), FabricOutbox::default());
        let slots = 3_200_000 / u64::from(ports);
        let (mut cells, mut longest) = (0, 0.0_f64);
        let start = Instant::now();
        for slot in 0..slots {
            let now = Time::from_ps(slot * 512_000);
            for input in 0..ports {
                if rng.chance(0.9) {
                    let output = rng.below(ports.into()) as u16;
                    switch.offer(
                        now,
                        (input, output),
                        Packet::new(0, 0, 64),
                        &mut rng,
                        &mut out,
                    );
                }
            }
            switch.wake(now, &mut rng, &mut out);
            cells += out.crossed.len();
            black_box(&out.crossed);
            out.crossed.clear();
        }
        let time = start.elapsed().as_secs_f64();
        longest = longest.max(time);
        println!(
            "{ports:>3} ports {matching:<32} {:>6.2} million cells/s, arrivals included",
            cells as f64 / longest / 1e6
        );
    }
    parallel(line);
}

/// Time for a packet through the parallel fabric, 16 ports at load 0.9 and speedup 1.1.
fn parallel(line: Rate) {
    let json = r#"{"architecture": "cioq", "speedup": 1.1, "fabric": {"parallel": {}}}"#;
    let spec: SwitchSpec = serde_json::from_str(json).unwrap();
    let mut switch = SwitchRecipe::resolve(&spec, 16, line)
        .unwrap()
        .build(&[].into());
    let (mut rng, mut out) = (Rng::named(1, 0, "bench", "cells"), FabricOutbox::default());
    let packets = 4_000_000_u64;
    let start = Instant::now();
    for k in 0..packets {
        let now = Time::from_ps(k * 555_000);
        while let Some(at) = switch.next_wake().filter(|at| *at <= now) {
            switch.wake(at, &mut rng, &mut out);
        }
        out.crossed.clear();
        let pair = (rng.below(16) as u16, rng.below(16) as u16);
        switch.offer(now, pair, Packet::new(0, 0, 1000), &mut rng, &mut out);
    }
    let time = start.elapsed().as_secs_f64();
    println!(
        " 16 ports parallel: {:.0} ns a packet, arrivals included",
        time / packets as f64 * 1e9
    );
}
