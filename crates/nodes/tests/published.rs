//! Against closed forms and published values. `SPILLGATE_LONG=20` runs twenty times longer.

use crate::common::{Bernoulli, Estimate, Slotted, crossbar, effort};
use spillgate_core::Rng;
use spillgate_nodes::switch::Speedup;

fn two() -> Speedup {
    Speedup::new(2, 1).unwrap()
}

/// Cells that leave for each output and slot while every input always has a cell at the head of its
/// FIFO.
fn head_of_line(ports: usize, hot: f64) -> Estimate {
    // Each input requests one output, so that one iteration of PIM chooses among the contenders at
    // random.
    let json = crossbar("input-queued", "1", r#""pim": {"iterations": 1}"#);
    let mut s = Slotted::new(&json, ports, Speedup::ONE);
    let mut rng = Rng::named(3, 0, "traffic", "destinations");
    let mut fill = |s: &mut Slotted| {
        let mut sent = 0;
        for _ in 0..s.ports {
            for (output, packet) in std::mem::take(&mut s.left) {
                sent += 1;
                let input = packet.flow as usize;
                assert!(output < ports);
                let to = if rng.chance(hot) {
                    0
                } else {
                    rng.below(ports as u32) as usize
                };
                s.arrive(input, to);
            }
        }
        sent
    };
    for input in 0..ports {
        s.arrive(input, input);
        s.arrive(input, input);
    }
    let slots = 3000 * effort();
    (0..200).for_each(|_| {
        s.step();
        fill(&mut s);
    });
    Estimate::of(|| {
        let mut sent = 0;
        for _ in 0..slots {
            s.step();
            sent += fill(&mut s);
        }
        (f64::from(sent), (slots * ports as u64) as f64)
    })
}

/// M. Karol, M. Hluchyj and S. Morgan, Input versus output queueing on a space-division packet
/// switch, IEEE Transactions on Communications 35(12), 1987, table I. Their values have four
/// digits.
#[test]
fn head_of_line_blocking_saturates_as_karol_says() {
    for (ports, expected) in [
        (2, 0.75),
        (3, 0.6825),
        (4, 0.6553),
        (5, 0.6399),
        (8, 0.6184),
    ] {
        head_of_line(ports, 0.0).agrees(expected, 0.002, &format!("{ports} ports"));
    }
    let many = head_of_line(32, 0.0);
    println!("32 ports: {many:?}");
    assert!(
        (many.mean - (2.0 - 2.0_f64.sqrt())).abs() < 0.01 && many.error < 0.001,
        "{many:?}"
    );
}

/// G. Pfister and V. Norton, "Hot spot" contention and combining in multistage interconnection
/// networks, IEEE Transactions on Computers 34(10), 1985: with a share h of the traffic of n ports
/// for one output, all of them are held to 1 / (1 + h (n - 1)) by queues that the hot cells block.
#[test]
fn a_hot_spot_holds_all_back() {
    for (ports, h) in [(4, 0.5), (16, 0.25)] {
        let expected = 1.0 / (1.0 + h * (ports - 1) as f64);
        head_of_line(ports, h).agrees(expected, 0.002, &format!("{ports} ports, hot {h}"));
    }
}

/// Runs and counts what leaves: throughput for each port, and the mean delay in slots, for a cell
/// that leaves in the slot of its arrival 0.
fn run(s: &mut Slotted, mut traffic: Bernoulli, warmup: u64, slots: u64) -> (Estimate, Estimate) {
    let mut step = |s: &mut Slotted| {
        for (input, output) in traffic.draw() {
            s.arrive(input, output);
        }
        let slot = s.slot;
        s.step();
        let waits = s.left.iter().map(|(_, p)| slot - p.sent.as_ps());
        (s.left.len(), waits.sum::<u64>())
    };
    (0..warmup).for_each(|_| {
        step(s);
    });
    let mut delays = Vec::new();
    let throughput = Estimate::of(|| {
        let (mut left, mut waited) = (0, 0);
        for _ in 0..slots {
            let (n, w) = step(s);
            left += n;
            waited += w;
        }
        delays.push((waited as f64, left as f64));
        (left as f64, (slots * s.ports as u64) as f64)
    });
    let mut delays = delays.into_iter();
    (throughput, Estimate::of(|| delays.next().unwrap()))
}

/// Karol and others, equation (4): W = (n - 1) / n p / (2 (1 - p)) slots.
#[test]
fn an_output_queued_switch_waits_as_its_closed_form_says() {
    for (ports, p) in [(2_u32, 0.8), (4, 0.5), (16, 0.8), (16, 0.9)] {
        let n = ports as usize;
        let mut s = Slotted::new(r#"{"architecture": "output-queued"}"#, n, Speedup::ONE);
        let traffic = Bernoulli::uniform(n, p, 1);
        let (throughput, delay) = run(&mut s, traffic, 2000, 8000 * effort());
        let expected = f64::from(ports - 1) / f64::from(ports) * p / (2.0 * (1.0 - p));
        delay.agrees(
            expected,
            0.05 * expected.max(1.0),
            &format!("{ports} ports at {p}"),
        );
        throughput.agrees(p, 0.005, "throughput");
    }
}

/// McKeown 1999: 100 % for uniform independent traffic. From a large backlog, since the load takes
/// very long to build one up, no less leaves than arrives.
#[test]
fn islip_carries_uniform_traffic_at_load_099() {
    for iterations in [1, 4] {
        let json = crossbar(
            "voq",
            "1",
            &format!(r#""islip": {{"iterations": {iterations}}}"#),
        );
        let mut s = Slotted::new(&json, 16, Speedup::ONE);
        for cell in 0..16 * 16 * 60 {
            s.arrive(cell % 16, cell / 16 % 16);
        }
        let traffic = Bernoulli::uniform(16, 0.99, 1);
        let (throughput, _) = run(&mut s, traffic, 0, 1000 * effort());
        println!("{iterations} iterations at 0.99: {throughput:?}");
        // The backlog can only have shrunk.
        assert!(throughput.mean >= 0.99, "{throughput:?}");
        assert!(s.waiting_at_inputs() < 16 * 16 * 60);
    }
}

/// The order of McKeown 1999, figure 17: fewer iterations wait longer, output queueing waits least,
/// and at low load they are the same. The figure's values are not printed in the paper; ours are,
/// by `--nocapture`.
#[test]
fn delays_of_islip_are_in_the_published_order() {
    println!("load: 1, 2, 4 iterations, output-queued; delay in slots, 16 x 16");
    for load in [0.2, 0.5, 0.8, 0.9, 0.95] {
        let mut delays: Vec<Estimate> = [1, 2, 4]
            .map(|i| crossbar("voq", "1", &format!(r#""islip": {{"iterations": {i}}}"#)))
            .iter()
            .map(String::as_str)
            .chain([r#"{"architecture": "output-queued"}"#])
            .map(|json| {
                let mut s = Slotted::new(json, 16, Speedup::ONE);
                run(
                    &mut s,
                    Bernoulli::uniform(16, load, 1),
                    3000,
                    1000 * effort(),
                )
                .1
            })
            .collect();
        let shown: Vec<_> = delays
            .iter()
            .map(|d| format!("{:.3} +- {:.3}", d.mean, d.error))
            .collect();
        println!("{load}: {}", shown.join(", "));
        let least = delays.pop().unwrap();
        // All see the same arrivals; from half load on the differences are far above the errors.
        for pair in delays.windows(2).filter(|_| load >= 0.5) {
            assert!(pair[0].mean > pair[1].mean, "{load}: {pair:?}");
        }
        assert!(delays.iter().all(|d| d.mean >= least.mean), "{load}");
        if load == 0.2 {
            assert!(delays[2].mean < 2.0 * least.mean, "{delays:?}");
        }
    }
}

/// Delays in McKeown 1999, figure 10 (`vectors/mckeown.csv`), as far as a marker can be read: to a
/// pixel either way. The paper does not say how long its runs were, nor how far off they are.
#[test]
fn delays_are_those_of_the_published_figure() {
    const PIXELS_PER_LOAD: f64 = 646.0;
    // 10^(1 / 173.9) - 1.
    const PIXEL_OF_DELAY: f64 = 0.01333;
    let published: Vec<(&str, f64, f64)> = include_str!("vectors/mckeown.csv")
        .lines()
        .filter(|line| !line.starts_with('#'))
        .skip(1)
        .map(|line| {
            let mut cells = line.split(',');
            let mut next = || cells.next().unwrap();
            (next(), next().parse().unwrap(), next().parse().unwrap())
        })
        .collect();
    let delay = |scheduler: &str, load: f64, seed: u64| {
        let (architecture, matching) = match scheduler {
            "fifo" => ("input-queued", "pim"),
            other => ("voq", other),
        };
        let matching = format!(r#""{matching}": {{"iterations": 1}}"#);
        let json = crossbar(architecture, "1", &matching);
        let mut s = Slotted::new(&json, 16, Speedup::ONE);
        let traffic = Bernoulli::uniform(16, load, seed);
        // Batches far longer than what a cell waits.
        let slots = if load > 0.75 { 4000 } else { 1000 };
        run(&mut s, traffic, 4 * slots, slots * effort()).1
    };
    let mut off = Vec::new();
    for &(scheduler, load, expected) in &published {
        let measured = delay(scheduler, load, 1);
        // A pixel of load moves the delay by as much as it does here.
        let steeper = delay(scheduler, load + 2.0 / PIXELS_PER_LOAD, 1).mean;
        let slope = (steeper - measured.mean) / 2.0;
        let reading = expected * PIXEL_OF_DELAY + slope.abs();
        println!(
            "{scheduler} at {load}: {:.3} +- {:.3}, published {expected} +- {reading:.3}",
            measured.mean, measured.error
        );
        if (measured.mean - expected).abs() > reading + 4.0 * measured.error {
            off.push((scheduler, load, measured, expected, reading));
        }
    }
    assert!(off.is_empty(), "{off:#?}");
}

/// Pointers that move together (McKeown 1995, section 2.2.2): one iteration of round-robin matching
/// carries no more than pointers at random would, 1 - (1 - 1/16)^16 = 0.644, where iSLIP carries
/// all. Up to about 0.63 it is stable (figure 10 above), and beyond that falls far below: where all
/// queues wait, each pointer moves by one in every slot, so that those that have met stay together.
#[test]
fn pointers_that_move_together_waste_slots() {
    let carried = |matching: &str, load: f64| {
        let mut s = Slotted::new(&crossbar("voq", "1", matching), 16, Speedup::ONE);
        let traffic = Bernoulli::uniform(16, load, 1);
        let (throughput, _) = run(&mut s, traffic, 3000, 1000 * effort());
        println!("{matching} at {load}: {throughput:?}");
        throughput
    };
    let together = r#""round-robin": {"iterations": 1}"#;
    carried(together, 0.6).agrees(0.6, 0.005, "round robin at 0.6");
    for load in [0.68, 1.0] {
        let above = carried(together, load);
        assert!(above.mean + 4.0 * above.error < 0.6439, "{above:?}");
    }
    let apart = carried(r#""islip": {"iterations": 1}"#, 1.0);
    assert!(apart.mean > 0.95, "{apart:?}");
}

/// With every queue full the number of different grant pointers, which is what crosses in a slot,
/// never changes.
#[test]
fn full_queues_freeze_the_pointers_of_round_robin() {
    let json = crossbar("voq", "1", r#""round-robin": {"iterations": 1}"#);
    let mut s = Slotted::new(&json, 16, Speedup::ONE);
    // Pointers that differ: light load before the flood.
    let mut traffic = Bernoulli::uniform(16, 0.5, 1);
    for _ in 0..2000 {
        traffic.draw().into_iter().for_each(|(i, o)| s.arrive(i, o));
        s.step();
    }
    for cell in 0..16 * 16 * 400 {
        s.arrive(cell % 16, cell / 16 % 16);
    }
    s.step();
    let crossed = s.left.len();
    assert!((2..16).contains(&crossed), "{crossed}");
    for _ in 0..300 {
        s.step();
        assert_eq!(s.left.len(), crossed);
    }
    // McKeown's example: half of 2 x 2, however the pointers began.
    let json = crossbar("voq", "1", r#""round-robin": {"iterations": 1}"#);
    let mut two = Slotted::new(&json, 2, Speedup::ONE);
    let (half, _) = run(&mut two, Bernoulli::uniform(2, 1.0, 1), 3000, 1000);
    assert_eq!((half.mean, half.error), (0.5, 0.0));
}

/// Diagonal traffic is admissible, and the matching of maximum weight carries it (McKeown and
/// others 1999); iSLIP, which does not weigh, does not (P. Giaccone, B. Prabhakar and D. Shah, IEEE
/// JSAC 21(4), 2003).
#[test]
fn diagonal_traffic_needs_weights() {
    let carried = |matching: &str| {
        let mut s = Slotted::new(&crossbar("voq", "1", matching), 8, Speedup::ONE);
        let slots = 1500 * effort();
        run(&mut s, Bernoulli::diagonal(8, 0.95, 1), 8000, slots).0
    };
    for weighs in [
        r#""maximum-weight": {}"#,
        r#""maximum-weight": {"weight": "age"}"#,
    ] {
        carried(weighs).agrees(0.95, 0.003, weighs);
    }
    let islip = carried(r#""islip": {"iterations": 8}"#);
    println!("iSLIP, diagonal at 0.95: {islip:?}");
    assert!(islip.mean + 4.0 * islip.error < 0.95, "{islip:?}");
}

/// Any maximal matching at speedup 2 carries any admissible traffic (J. Dai and B. Prabhakar,
/// INFOCOM 2000).
#[test]
fn maximal_matchings_at_speedup_two_carry_all() {
    for matching in [
        r#""islip": {"iterations": 8}"#,
        r#""longest-queue-first": {}"#,
        r#""oldest-cell-first": {}"#,
        r#""pim": {"iterations": 8}"#,
    ] {
        let mut s = Slotted::new(&crossbar("cioq", "2", matching), 8, two());
        let (throughput, _) = run(
            &mut s,
            Bernoulli::diagonal(8, 0.98, 1),
            8000,
            1500 * effort(),
        );
        throughput.agrees(0.98, 0.003, matching);
        assert!(s.waiting_at_inputs() < 200, "{}", s.waiting_at_inputs());
    }
}

/// A random matrix whose rows and columns sum to `load`: a mixture of permutations.
fn admissible(ports: usize, load: f64, rng: &mut Rng) -> Vec<Vec<f64>> {
    let mut rows = vec![vec![0.0; ports]; ports];
    let parts = 1 + rng.below(4);
    for _ in 0..parts {
        let mut to: Vec<usize> = (0..ports).collect();
        for i in (1..ports).rev() {
            to.swap(i, rng.below(i as u32 + 1) as usize);
        }
        for (i, o) in to.into_iter().enumerate() {
            rows[i][o] += load / f64::from(parts);
        }
    }
    rows
}

/// Chuang and others 1999: at speedup 2 each cell leaves in the slot in which it would leave an
/// output-queued switch. At speedup 1, or with another matching, it does not: the comparison can
/// fail.
#[test]
fn stable_matching_at_speedup_two_is_an_output_queued_switch() {
    let differ = |ports: usize, matching: &str, speedup: Speedup, seed: u64| {
        let mut rng = Rng::named(seed, 0, "traffic", "matrix");
        let json = crossbar("cioq", &speedup.to_string(), matching);
        let mut cioq = Slotted::new(&json, ports, speedup).in_order_of_arrival();
        let mut oq = Slotted::new(r#"{"architecture": "output-queued"}"#, ports, Speedup::ONE);
        let load = 0.8 + 0.2 * rng.f64();
        let mut traffic = Bernoulli::new(admissible(ports, load, &mut rng), seed);
        for _ in 0..2000 * effort() {
            for (input, output) in traffic.draw() {
                cioq.arrive(input, output);
                oq.arrive(input, output);
            }
            cioq.step();
            oq.step();
            let key = |s: &Slotted| -> Vec<_> {
                s.left.iter().map(|(o, p)| (*o, p.flow, p.sent)).collect()
            };
            if key(&cioq) != key(&oq) {
                return true;
            }
        }
        false
    };
    let stable = r#""stable-marriage": {}"#;
    for ports in [2, 3, 4, 8, 16] {
        for seed in 0..4 {
            assert!(
                !differ(ports, stable, two(), seed),
                "{ports} ports, seed {seed}"
            );
        }
    }
    assert!(differ(8, stable, Speedup::ONE, 0));
    assert!(differ(8, r#""islip": {"iterations": 1}"#, two(), 0));
}
