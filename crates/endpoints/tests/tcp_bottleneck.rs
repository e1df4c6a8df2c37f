//! Every algorithm over a bottleneck with a short queue.

use crate::common::net::{Fate, Net, config};
use spillgate_core::{Dur, Time};
use spillgate_endpoints::cc;

/// 10 Mb/s in bytes per second.
const RATE: f64 = 1.25e6;

struct Outcome {
    /// Of the rate, in the second half.
    utilization: f64,
    /// Mean wait in the queue in the second half, ms.
    wait: f64,
    timeouts: u32,
}

/// 40 ms of propagation and `limit` ms of queue, which marks above `mark` ms what may be marked.
fn run(json: &str, limit: f64, mark: f64) -> Outcome {
    let cfg = config(json);
    let mut net = Net::new(cfg.clone(), Dur::from_ms(20));
    net.tx.write(Time::ZERO, u64::MAX);
    let (half, end) = (10.0, 20.0);
    let mut free = 0.0_f64;
    let (mut sum, mut n, mut bytes) = (0.0, 0, 0.0);
    // The queue is the time at which the bottleneck falls idle; lateness is given per packet, and
    // the clock of the closure is the timestamp that the segment carries.
    net.run(Time::from_secs_f64(end), &mut |forward, _, seg| {
        if !forward || seg.len == 0 {
            return Fate::Pass;
        }
        let now = seg.ts_val.as_secs_f64();
        let wait = (free - now).max(0.0) * 1e3;
        if wait > limit {
            return Fate::Lose;
        }
        let size = f64::from(seg.wire_len(&cfg));
        free = free.max(now) + size / RATE;
        if now > half {
            sum += wait;
            n += 1;
            bytes += size;
        }
        let late = Dur::from_secs_f64(free - now);
        if wait > mark && seg.ect.is_capable() {
            Fate::MarkLate(late)
        } else {
            Fate::Late(late)
        }
    });
    Outcome {
        utilization: bytes / (RATE * (end - half)),
        wait: sum / f64::from(n.max(1)),
        timeouts: net.tx.stats().timeouts,
    }
}

/// With a queue of one round trip every algorithm that halves keeps the link busy; Tahoe
/// empties it at each loss (it sends half of the time at half the window at least: above 70 %).
#[test]
fn every_algorithm_fills_the_link() {
    for kind in cc::CcSpec::NAMES {
        for profile in ["ns2", "rfc", "linux"] {
            let o = run(
                &format!(r#"{{"cc": {{"{kind}": {{}}}}, "profile": "{profile}"}}"#),
                40.0,
                1e9,
            );
            println!(
                "{kind} {profile}: {:.3} busy, {:.1} ms, {} timeouts",
                o.utilization, o.wait, o.timeouts
            );
            let least = if *kind == "tahoe" { 0.7 } else { 0.9 };
            assert!(o.utilization > least, "{kind} {profile}: {}", o.utilization);
        }
    }
}

/// RFC 8257, RFC 9331: with a marking threshold far below a round trip scalable senders keep the
/// queue near it and the link busy; NewReno, which halves at each mark, does not.
#[test]
fn marks_keep_the_queue_short() {
    for kind in ["dctcp", "prague"] {
        let o = run(&format!(r#"{{"cc": {{"{kind}": {{}}}}}}"#), 100.0, 5.0);
        println!("{kind}: {:.3} busy, {:.1} ms", o.utilization, o.wait);
        assert!(
            o.utilization > 0.9 && o.wait < 10.0,
            "{kind}: {} {}",
            o.utilization,
            o.wait
        );
        assert_eq!(o.timeouts, 0);
    }
    let o = run(r#"{"cc": {"newreno": {}}, "ecn": "classic"}"#, 100.0, 5.0);
    println!("newreno: {:.3} busy, {:.1} ms", o.utilization, o.wait);
    assert!(o.wait < 10.0);
}

/// BBR needs no loss to stop: over a deep buffer about one product of rate and delay waits at
/// most, where CUBIC fills it.
#[test]
fn bbr_leaves_a_deep_buffer_short() {
    let bbr = run(r#"{"cc": {"bbr": {}}}"#, 400.0, 1e9);
    let cubic = run(r#"{"cc": {"cubic": {}}}"#, 400.0, 1e9);
    println!(
        "bbr {:.3} {:.1} ms, cubic {:.3} {:.1} ms",
        bbr.utilization, bbr.wait, cubic.utilization, cubic.wait
    );
    assert!(
        bbr.utilization > 0.9 && bbr.wait < 40.0,
        "{} {}",
        bbr.utilization,
        bbr.wait
    );
    assert!(cubic.wait > 100.0, "{}", cubic.wait);
}
