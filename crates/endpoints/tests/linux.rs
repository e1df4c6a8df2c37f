//! `profile: linux` beside recorded runs of a real kernel.

#[path = "common/early.rs"]
mod early;
#[path = "common/lan.rs"]
mod lan;

use lan::{Lan, discipline};
use spillgate_endpoints::tcp::TcpSpec;
use std::sync::Arc;

#[test]
fn beside_the_kernel() {
    let only = std::env::var("ONLY").unwrap_or_default();
    let trace = std::env::var("TRACE").is_ok();
    for line in include_str!("data/linux_tcp.txt")
        .lines()
        .filter(|l| !l.starts_with('#'))
    {
        if !line.contains(&only) {
            continue;
        }
        let f: Vec<_> = line.split(", ").collect();
        let queue = match f[0] {
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
            "fq_codel" => r#"{"fq-codel": {"limit": "1000 packets", "inverse_sqrt": "newton16"}}"#,
            "red adaptive" | "pie" => "",
            _ => continue,
        };
        let n: usize = f[1].parse().unwrap();
        let cc = if f[2] == "reno" {
            r#", "cc": "newreno", "sack": true, "prr": true, "rack_tlp": true"#
        } else {
            ""
        };
        let ecn = if f[0] == "codel ecn" {
            r#", "ecn": "classic""#
        } else {
            ""
        };
        let json = format!(r#"{{"profile": "linux"{cc}{ecn}}}"#);
        let spec: TcpSpec = serde_json::from_str(&json).unwrap();
        let cfg = Arc::new(spec.resolve().unwrap());
        let seeds = 10;
        let mut all = vec![];
        let want: Vec<f64> = f[3..].iter().map(|x| x.parse().unwrap()).collect();
        let (mut q, mut d, mut m, mut g, mut to) = (0.0, 0.0, 0.0, 0.0, 0);
        for seed in 0..seeds {
            let mut lan = Lan::new(
                &cfg,
                n,
                match f[0] {
                    "pie" => lan::Queue::Early(early::Early::pie()),
                    "red adaptive" => lan::Queue::Early(early::Early::adaptive_red()),
                    _ => discipline(queue),
                },
                seed,
            );
            lan.trace = trace;
            lan.spread = 10000;
            lan.run();
            if !only.is_empty() {
                let total: u64 = lan.hist.iter().sum();
                let quantile = |p: f64| {
                    let mut s = 0;
                    lan.hist
                        .iter()
                        .position(|h| {
                            s += h;
                            s as f64 >= p * total as f64
                        })
                        .unwrap()
                };
                println!(
                    "p50 {} p95 {} p99 {} max {} wire {:.4} srtt {:.3} ms {:?}",
                    quantile(0.5),
                    quantile(0.95),
                    quantile(0.99),
                    lan.hist.len() - 1,
                    lan.wire as f64 * 8.0 / 25e6,
                    lan.srtt / 25.0,
                    lan.hist
                        .iter()
                        .map(|h| (*h as f64 / total as f64 * 1000.0) as u32)
                        .collect::<Vec<_>>()
                );
            }
            let k = seeds as f64;
            all.push((lan.mean_queue(), (lan.drops + lan.marks) as f64));
            q += lan.mean_queue() / k;
            d += lan.drops as f64 / k;
            m += lan.marks as f64 / k;
            g += lan.goodput() / k;
            to += lan.timeouts();
        }
        let (loss, ours) = if want[2] > 0.0 {
            (want[2], m)
        } else {
            (want[1], d)
        };
        println!(
            "{:9} {n} {:5}  queue {q:6.2} for {:6.2} {:+6.1} %  drops {ours:6.1} for {loss:5} {:+6.1} %  goodput {g:.3} for {:.2}, timeouts {to}, sd {:.2} {:.1}",
            f[0],
            f[2],
            want[0],
            (q / want[0] - 1.0) * 100.0,
            (ours / loss - 1.0) * 100.0,
            want[3],
            sd(all.iter().map(|a| a.0).collect()),
            sd(all.iter().map(|a| a.1).collect())
        );
    }
}

fn sd(x: Vec<f64>) -> f64 {
    let n = x.len() as f64;
    let m = x.iter().sum::<f64>() / n;
    (x.iter().map(|v| (v - m) * (v - m)).sum::<f64>() / (n - 1.0).max(1.0)).sqrt()
}
