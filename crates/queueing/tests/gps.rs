//! PGPS against the fluid server that it approximates, simulated here by
//! brute force, and the delay bound of Parekh and Gallager.

use crate::common::{build, packet, rate};
use proptest::prelude::*;
use spillgate_core::testkit::effort;
use spillgate_core::{Dscp, Time};
use spillgate_queueing::testkit::Bench;

/// An arrival at the fluid server: time in seconds, flow, bytes.
type Arrival = (f64, usize, f64);

/// When the fluid server, at 1 B/s, finishes each arrival. It steps from one
/// arrival or departure to the next and knows no virtual time.
fn fluid(weights: &[f64], arrivals: &[Arrival]) -> Vec<f64> {
    let mut finish = vec![0.0; arrivals.len()];
    // Per flow, what is left of each packet that it holds.
    let mut held: Vec<Vec<(usize, f64)>> = vec![Vec::new(); weights.len()];
    let mut now = 0.0_f64;
    let mut next = 0;
    loop {
        let busy: f64 = (0..weights.len())
            .filter(|f| !held[*f].is_empty())
            .map(|f| weights[f])
            .sum();
        let first_done = (0..weights.len())
            .filter(|f| !held[*f].is_empty())
            .map(|f| now + held[f][0].1 * busy / weights[f])
            .fold(f64::INFINITY, f64::min);
        let arrival = arrivals.get(next).map_or(f64::INFINITY, |a| a.0);
        let until = first_done.min(arrival);
        if until.is_infinite() {
            return finish;
        }
        for (f, queue) in held.iter_mut().enumerate() {
            if let Some(head) = queue.first_mut() {
                head.1 -= (until - now) * weights[f] / busy;
                // Rounding leaves crumbs of at most some 10^-12 B per step.
                if head.1 < 1e-9 {
                    finish[head.0] = until;
                    queue.remove(0);
                }
            }
        }
        now = until;
        while next < arrivals.len() && arrivals[next].0 <= now {
            let (_, flow, bytes) = arrivals[next];
            held[flow].push((next, bytes));
            next += 1;
        }
    }
}

/// The fluid server finishes the first trace of the specification as
/// its tags say: virtual times 50, 100, 100, 100 at 200 s and 350 s.
#[test]
fn the_fluid_server_is_right() {
    let arrivals = [
        (0.0, 0, 100.0),
        (0.0, 1, 100.0),
        (0.0, 2, 100.0),
        (10.0, 2, 100.0),
    ];
    let got = fluid(&[1.0, 1.0, 2.0], &arrivals);
    for (g, e) in got.iter().zip([400.0, 400.0, 200.0, 400.0]) {
        assert!((g - e).abs() < 1e-6, "{got:?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300 * effort()))]

    /// Parekh and Gallager 1993, theorem 1: no packet leaves PGPS more than
    /// Lmax / r after it leaves the fluid server. And the order of departures is
    /// that of smallest tags, checked by the bound on every packet.
    #[test]
    fn no_packet_is_later_than_gps_by_more_than_one_packet(
        gaps in prop::collection::vec((0_u64..400, 0_usize..6, 20_u16..200), 1..120),
    ) {
        let precedence = [0_u8, 1, 3, 5, 7, 0];
        let weights = precedence.map(|p| f64::from(p) + 1.0);
        let json = r#"{"main": {"wfq": {"weights": "precedence", "limit": "1000 packets"}}}"#;
        let mut bench = Bench::new(build(json, 8), rate(8));
        let mut now = 0.0;
        let mut arrivals = Vec::new();
        for (i, (gap, flow, len)) in gaps.iter().enumerate() {
            // Whole seconds now and then, so that bursts and idle periods occur.
            now += gap.saturating_sub(200) as f64;
            let mut p = packet(*flow as u32, i as u32, *len);
            p.dscp = Dscp::new(8 * precedence[*flow]).unwrap();
            bench.arrive(Time::from_secs_f64(now), p);
            arrivals.push((now, *flow, f64::from(*len)));
        }
        let finish = fluid(&weights, &arrivals);
        let longest = gaps.iter().map(|g| g.2).max().map_or(0.0, f64::from);
        let out = bench.run();
        prop_assert_eq!(out.departures.len(), gaps.len());
        for d in &out.departures {
            let late = d.finish.as_secs_f64() - finish[d.packet.seq as usize];
            // Tags err by 2^-20 B at most per event, of which there are below 240.
            prop_assert!(late <= longest + 240.0 / f64::from(1 << 20), "{late} s late");
        }
    }
}

/// A burst of 10 kb of a flow that is guaranteed 100 kb/s of 10 Mb/s, against 99
/// flows that always send 12 kb packets: D <= sigma/g + Lmax/r = 0.1 + 0.0012 s.
#[test]
fn a_leaky_bucket_flow_keeps_its_delay_bound() {
    let json = r#"{"main": {"wfq": {"limit": "1000 packets", "hold_queue": "100000 packets"}}}"#;
    let mut bench = Bench::new(build(json, 10_000_000), rate(10_000_000));
    for flow in 1..100 {
        for seq in 0..40 {
            bench.arrive(Time::ZERO, packet(flow, seq, 1500));
        }
    }
    // V is 26.1 kb then, so that the last of the burst, of tag 36.1 kb, has to let a whole
    // round of the others' packets, of tag 36 kb, go first: close to the worst case.
    let burst_at = Time::from_secs_f64(0.2585);
    for seq in 0..10 {
        bench.arrive(burst_at, packet(0, seq, 125));
    }
    let out = bench.run();
    let worst = out
        .departures
        .iter()
        .filter(|d| d.packet.flow == 0)
        .map(|d| d.finish.since(burst_at).as_secs_f64())
        .fold(0.0, f64::max);
    assert!(worst <= 0.1012, "{worst}");
    // The burst takes about sigma/g: a bound that is met with ease would prove little.
    assert!(worst > 0.095, "{worst}");
}
