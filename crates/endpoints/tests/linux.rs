//! `profile: linux` beside recorded runs of a real kernel.

use crate::common::early;

use std::sync::Arc;

use crate::common::lan::{Lan, Queue, discipline};
use spillgate_endpoints::tcp::TcpSpec;

/// Runs with other random numbers.
const RUNS: u64 = 10;
/// How far the mean queue may be off, and the number of drops or marks.
const OFF: (f64, f64) = (0.05, 0.1);
/// Cells whose drops are further off. The first: 16 for 18, and nothing in it is random. The
/// second: one connection in two has a timeout there.
const OUTSIDE: [(&str, usize, &str); 2] = [("pfifo", 1, "cubic"), ("pie", 5, "reno")];

/// The queue of a cell; none for those whose queue neither Spillgate nor this test has: CAKE, and
/// RED with an adaptive probability (whose recordings are those without: the law would have lowered
/// the probability).
fn queue(name: &str) -> Option<Queue> {
    let spec = match name {
        "pfifo" => r#"{"fifo": {"limit": "100 packets"}}"#,
        "red" => {
            r#"{"fifo": {"limit": "400000 B", "aqm": {"red": {"min_th": 9.9075, "max_th": 29.7226, "max_p": 0.1, "weight": 0.0625, "gentle": false, "mean_packet": "1000 B"}}}}"#
        }
        "codel" => {
            r#"{"fifo": {"limit": "1000 packets", "aqm": {"codel": {"inverse_sqrt": "newton16"}}}}"#
        }
        "codel ecn" => {
            r#"{"fifo": {"limit": "1000 packets", "aqm": {"codel": {"inverse_sqrt": "newton16", "ecn": true}}}}"#
        }
        // It marks unless it is told otherwise.
        "fq_codel" | "fq_codel ecn" => {
            r#"{"fq-codel": {"limit": "1000 packets", "inverse_sqrt": "newton16"}}"#
        }
        // The kernel's clock of 100 Hz makes 20 ms of the 15 ms between updates.
        "pie" => {
            r#"{"fifo": {"limit": "1000 packets", "aqm": {"pie": {"as": "linux", "update": "20 ms", "mean_packet": "1500 B"}}}}"#
        }
        "pie dq_rate_estimator" => {
            r#"{"fifo": {"limit": "1000 packets", "aqm": {"pie": {"as": "linux", "update": "20 ms", "mean_packet": "1500 B", "dq_rate_estimator": true}}}}"#
        }
        _ => return None,
    };
    Some(discipline(spec))
}

/// Mean and standard deviation.
fn moments(values: &[f64]) -> (f64, f64) {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let squares: f64 = values.iter().map(|v| (v - mean) * (v - mean)).sum();
    (mean, (squares / (n - 1.0)).sqrt())
}

/// A recorded run is one draw: it lies within `t(0.975, 9) * sqrt(1 + 1 / 10)` standard deviations
/// of the mean of ten of ours, 19 times of 20, if both are of one kind.
fn is_near(mean: f64, deviation: f64, recorded: f64, off: f64) -> bool {
    let scatter = 2.262 * (1.0 + 1.0 / RUNS as f64).sqrt() * deviation;
    (mean - recorded).abs() <= (off * recorded).max(scatter)
}

#[test]
fn beside_the_kernel() {
    let mut far = Vec::new();
    let cells = include_str!("data/linux_tcp.txt").lines();
    for cell in cells.filter(|l| !l.starts_with('#')) {
        let f: Vec<_> = cell.split(", ").collect();
        if queue(f[0]).is_none() {
            continue;
        }
        let flows: usize = f[1].parse().unwrap();
        let recorded: Vec<f64> = f[3..].iter().map(|x| x.parse().unwrap()).collect();
        let cc = match f[2] {
            "reno" => r#", "cc": {"newreno": {}}"#,
            _ => "",
        };
        let ecn = match f[0].ends_with(" ecn") {
            true => r#", "ecn": "classic""#,
            false => "",
        };
        let spec = format!(r#"{{"profile": "linux"{cc}{ecn}}}"#);
        let spec: TcpSpec = serde_json::from_str(&spec).unwrap();
        let cfg = Arc::new(spec.resolve().unwrap());
        let (mut waiting, mut signals, mut goodputs) = (Vec::new(), Vec::new(), Vec::new());
        for seed in 0..RUNS {
            let mut lan = Lan::new(&cfg, flows, queue(f[0]).unwrap(), seed);
            lan.run();
            goodputs.push(lan.goodput());
            waiting.push(lan.mean_queue());
            signals.push((lan.drops + lan.marks) as f64);
        }
        let ((length, by), (number, of)) = (moments(&waiting), moments(&signals));
        let expected = recorded[1] + recorded[2];
        println!(
            "| {} | {flows} | {} | {:.2} | {length:.2} ± {by:.2} | {:+.1} % | {expected:.0} | {number:.0} ± {of:.0} | {:+.1} % |",
            f[0],
            f[2],
            recorded[0],
            (length / recorded[0] - 1.0) * 100.0,
            (number / expected - 1.0) * 100.0,
        );
        let (goodput, deviation) = moments(&goodputs);
        assert!(
            is_near(goodput, deviation, recorded[3], 0.01),
            "{cell}: {goodput} Mb/s"
        );
        assert!(
            is_near(length, by, recorded[0], OFF.0),
            "{cell}: {length} packets wait"
        );
        if !is_near(number, of, expected, OFF.1) {
            far.push((f[0], flows, f[2]));
        }
    }
    assert_eq!(far, OUTSIDE);
}

/// `as: linux` is what the model of the test makes of the kernel's rules: packet by packet, with
/// the same random numbers.
#[test]
fn the_pie_of_linux_is_an_independent_model_of_it() {
    let reno = r#", "cc": {"newreno": {}}"#;
    for (flows, cc, estimates) in [
        (1, reno, false),
        (5, reno, false),
        (5, "", false),
        (5, reno, true),
        (5, "", true),
    ] {
        let spec = ["pie", "pie dq_rate_estimator"][usize::from(estimates)];
        let qdisc = || queue(spec).unwrap();
        let tcp: TcpSpec = serde_json::from_str(&format!(r#"{{"profile": "linux"{cc}}}"#)).unwrap();
        let cfg = Arc::new(tcp.resolve().unwrap());
        for seed in 0..3 {
            let run = |queue| {
                let mut lan = Lan::new(&cfg, flows, queue, seed);
                lan.run();
                (
                    lan.drops,
                    lan.mean_queue().to_bits(),
                    lan.goodput().to_bits(),
                )
            };
            let model = run(Queue::Early(early::Early::pie(estimates)));
            assert_eq!(
                run(qdisc()),
                model,
                "{spec}: {flows} flows{cc}, seed {seed}"
            );
            assert!(model.0 > 100, "{}", model.0);
        }
    }
}
