//! Designs of studies: which points a scenario with axes has.

use std::collections::BTreeSet;
use std::path::Path;

use crate::common::{Router, SMALL, memory};
use spillgate_scenario::plan::Plan;
use spillgate_scenario::shift::{Busiest, Shift};
use spillgate_scenario::{Options, load};

const AXES: &str = "axes:
  - {name: load, set: topology.links.wan.rate, from: 5 Mb/s, to: 13 Mb/s, steps: 3}
  - {name: delay, set: topology.links.wan.delay, from: 1 ms, to: 1 s, scale: log, steps: 3}
  - {name: calls, set: traffic.voice.count, values: [1, 2, 5]}
";

fn plan(rest: &str) -> Plan {
    let text = format!("{SMALL}{rest}");
    let files = memory(&[("s.yaml", text.as_bytes())]);
    let found = load(Path::new("s.yaml"), &files, &Router, &Options::default());
    found.unwrap_or_else(|e| panic!("{rest}: {e}")).plan
}

fn names(plan: &Plan) -> Vec<&str> {
    plan.variants.iter().map(|v| v.name.as_str()).collect()
}

/// The coordinates of each point, as numbers.
fn numbers(plan: &Plan) -> Vec<Vec<f64>> {
    let of = |v: &spillgate_scenario::plan::VariantPlan| {
        let places = v.coordinates.iter().zip(&plan.axes);
        let number = |(at, axis): (&u32, &spillgate_scenario::plan::Axis)| {
            axis.numbers.as_ref().map(|n| n[*at as usize])
        };
        places.map(number).collect::<Option<Vec<_>>>()
    };
    plan.variants
        .iter()
        .map(|v| of(v).expect("quantities"))
        .collect()
}

#[test]
fn a_range_has_equal_steps_in_a_full_design() {
    let p = plan(AXES);
    assert_eq!((p.design, p.variants.len()), ("full", 27));
    assert_eq!(p.axes[0].labels, ["5 Mb/s", "9 Mb/s", "13 Mb/s"]);
    assert_eq!(p.axes[1].labels, ["1 ms", "31.6 ms", "1 s"]);
    assert_eq!(names(&p)[1], "load=5 Mb/s, delay=1 ms, calls=2");
    let rates: Vec<_> = p
        .variants
        .iter()
        .map(|v| v.world.links[0].rate.bps())
        .collect();
    assert_eq!(
        (rates[0], rates[9], rates[26]),
        (5_000_000, 9_000_000, 13_000_000)
    );
    assert_eq!(p.variants[3].world.links[0].delay.to_string(), "31.6 ms");
}

/// Value i of each axis goes with value i of the others, and with each variant.
#[test]
fn paired_values_go_together() {
    let variants = "variants: [{name: A, set: {}}, {name: B, set: {measurement.duration: 3 s}}]\n";
    let p = plan(&format!("{AXES}{variants}study: {{design: paired}}\n"));
    assert_eq!(
        names(&p)[..4],
        [
            "A (load=5 Mb/s, delay=1 ms, calls=1)",
            "A (load=9 Mb/s, delay=31.6 ms, calls=2)",
            "A (load=13 Mb/s, delay=1 s, calls=5)",
            "B (load=5 Mb/s, delay=1 ms, calls=1)"
        ]
    );
    assert_eq!(p.against, [0, 1, 2, 0, 1, 2]);
    assert_eq!(p.design, "paired");
    // A value may occur in several points; a point that occurs twice is one.
    let again = "axes:
  - {name: calls, set: traffic.voice.count, values: [1, 1, 2, 1]}
  - {name: delay, set: topology.links.wan.delay, values: [1 ms, 2 ms, 1 ms, 1 ms]}
study: {design: paired}
";
    let p = plan(again);
    let wanted = [
        "calls=1, delay=1 ms",
        "calls=1, delay=2 ms",
        "calls=2, delay=1 ms",
    ];
    assert_eq!(names(&p), wanted);
    assert_eq!((p.axes[0].labels.len(), p.axes[1].labels.len()), (2, 2));
    assert_eq!(p.variants[1].coordinates, [0, 1]);
    let told = |w: &&String| w.contains("of the 4 points of the design 3 differ");
    assert_eq!(
        p.warnings.iter().filter(told).count(),
        1,
        "{:?}",
        p.warnings
    );
}

/// Each of as many equal parts of an axis as there are points has one: by differences, by ratios.
#[test]
fn a_latin_hypercube_has_a_point_in_each_part_of_each_axis() {
    for points in [1, 7, 50, 300] {
        let p = plan(&format!(
            "{AXES}study: {{design: {{latin-hypercube: {{points: {points}, seed: {points}}}}}}}\n"
        ));
        let n = f64::from(points);
        let found = numbers(&p);
        assert_eq!(found.len(), points as usize);
        // What is rounded to a hundredth of a part may fall upon its edge.
        let part = |u: f64| (u * n + 1e-9).floor() as u32;
        let load: BTreeSet<u32> = found.iter().map(|x| part((x[0] - 5e6) / 8e6)).collect();
        let delay: BTreeSet<u32> = found
            .iter()
            .map(|x| part((x[1] / 1e-3).log10() / 3.0))
            .collect();
        assert_eq!(load.len(), points as usize, "{points}");
        assert_eq!(delay.len(), points as usize, "{points}");
        // Listed values have their share, to within one part.
        for calls in [1.0, 2.0, 5.0] {
            let share = found.iter().filter(|x| x[2] == calls).count() as f64;
            assert!((share - n / 3.0).abs() <= 1.0, "{points}: {calls}");
        }
    }
}

/// A (0, 2)-sequence: of 64 points in the first two dimensions each box of a 64th of the square has
/// one, whatever its shape (I. M. Sobol, 1967). Listed values divide their axis alike.
#[test]
fn points_of_a_sobol_sequence_fill_the_space_evenly() {
    let p = plan(&format!(
        "{AXES}study: {{design: {{sobol: {{points: 64}}}}}}\n"
    ));
    let found = numbers(&p);
    for columns in [1_u32, 2, 4, 8, 16, 32, 64] {
        let rows = 64 / columns;
        let cell = |x: &Vec<f64>| {
            let (u, v) = ((x[0] - 5e6) / 8e6, (x[1] / 1e-3).log10() / 3.0);
            // Values are rounded to about 1/10,000 of the range, which may take them over an edge.
            (
                (u * f64::from(columns)) as u32,
                (v * f64::from(rows)) as u32,
            )
        };
        let cells: BTreeSet<_> = found.iter().map(cell).collect();
        assert!(cells.len() >= 63, "{columns} x {rows}: {}", cells.len());
    }
    let longer = plan(&format!(
        "{AXES}study: {{design: {{sobol: {{points: 128}}}}}}\n"
    ));
    assert_eq!(names(&p)[..], names(&longer)[..64]);
    assert!(
        p.warnings.iter().all(|w| !w.contains("Sobol")),
        "{:?}",
        p.warnings
    );
    let odd = plan(&format!(
        "{AXES}study: {{design: {{sobol: {{points: 100}}}}}}\n"
    ));
    assert!(
        odd.warnings
            .iter()
            .any(|w| w.contains("take a power of two")),
        "{:?}",
        odd.warnings
    );
}

/// What is drawn is the same on every machine and in every version: these are the points.
#[test]
fn drawn_points_are_always_the_same() {
    let points = |design: &str| {
        let p = plan(&format!("{AXES}study: {{design: {{{design}}}}}\n"));
        names(&p).join("; ")
    };
    let designs = [
        "random: {points: 3}",
        "latin-hypercube: {points: 3}",
        "sobol: {points: 4}",
    ];
    let all: String = designs
        .iter()
        .map(|d| format!("{d}\n{}\n", points(d)))
        .collect();
    let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/designs.txt");
    if std::env::var_os("SPILLGATE_BLESS").is_some() {
        std::fs::write(&golden, &all).unwrap();
    }
    assert_eq!(std::fs::read_to_string(&golden).unwrap_or_default(), all);
    let random = points("random: {points: 3}");
    assert_ne!(points("random: {points: 3, seed: 2}"), random);
    assert_ne!(
        points("sobol: {points: 4, seed: 2}"),
        points("sobol: {points: 4}")
    );
    // More points of a random design are further ones, and an axis more changes no other's values.
    let more = points("random: {points: 5}");
    assert!(more.starts_with(&random), "{more}");
    let p = plan(&format!(
        "{}study: {{design: {{random: {{points: 3}}}}}}\n",
        AXES.replace("  - {name: delay", "  - {name: other")
    ));
    assert_eq!(p.axes[0].labels.len(), 3);
    assert!(names(&p)[0].starts_with(random.split_once(',').unwrap().0));
}

/// Seeds of runs and of points have nothing to do with each other.
#[test]
fn the_seed_of_the_runs_moves_no_point() {
    let design = "study: {design: {random: {points: 4}}}\n";
    let one = plan(&format!("{AXES}{design}"));
    let other = plan(&format!("{AXES}{design}runs: {{seed: 9, count: 2}}\n"));
    assert_eq!(names(&one), names(&other));
}

const RING: &str = "schema_version: 1
topology:
  nodes: [a, b, c, d, e]
  links:
    ab: {from: a, to: b, rate: 10 Mb/s, duplex: true}
    bc: {from: b, to: c, rate: 10 Mb/s, duplex: true}
    ad: {from: a, to: d, rate: 10 Mb/s, duplex: true, cost: 5}
    dc: {from: d, to: c, rate: 10 Mb/s, duplex: true}
    de: {from: d, to: e, rate: 10 Mb/s, duplex: true}
policies: {}
traffic:
  - flow: {name: f, from: a, to: c, source: {cbr: {rate: 1 Mb/s, packet: 500 B}}}
measurement: {warmup: 1 s, duration: 10 s}
";

fn ring(rest: &str) -> Plan {
    let text = format!("{RING}{rest}");
    let files = memory(&[("s.yaml", text.as_bytes())]);
    let found = load(Path::new("s.yaml"), &files, &Router, &Options::default());
    found.unwrap_or_else(|e| panic!("{rest}: {e}")).plan
}

/// A point without a failure, then one for each link; those that no flow takes are the same as the
/// first.
#[test]
fn each_link_fails_in_turn() {
    let p = ring("axes: [{name: failure, each: link, at: 5 s, repair: 8 s}]\n");
    assert_eq!(p.axes[0].labels, ["none", "ab", "ad", "bc", "dc", "de"]);
    assert!(p.axes[0].failures);
    let same: Vec<_> = p.variants.iter().map(|v| v.same).collect();
    assert_eq!(same, [None, None, Some(0), None, Some(0), Some(0)]);
    let down = |i: usize| {
        let world = &p.variants[i].world;
        let of =
            |f: &spillgate_scenario::plan::FailurePlan| world.links[f.link as usize].name.clone();
        world.failures.iter().map(of).collect::<Vec<_>>()
    };
    assert_eq!(down(0), Vec::<String>::new());
    assert_eq!(down(1), ["ab", "ab.reverse"]);
    assert_eq!(
        p.variants[3].world.failures[0].up,
        spillgate_core::Time::from_secs_f64(8.0)
    );
    // Of what moves, the loads: 1 Mb/s over the other side of the ring.
    let shift = |i: usize| p.variants[i].shift.clone().unwrap();
    assert_eq!(p.variants[0].shift, None);
    let world = &p.variants[1].world;
    let ad = world.links.iter().position(|l| l.name == "ad").unwrap() as u32;
    let busiest = Busiest {
        link: ad,
        without: 0.0,
        load: 0.1,
    };
    for failing in [1, 3] {
        assert_eq!(
            shift(failing),
            Shift {
                moved: 1,
                cut: 0,
                busiest: Some(busiest.clone()),
            }
        );
    }
    assert_eq!(shift(2), Shift::default());
    // What is not a failure of the axis may make a way the shortest: nothing is screened then.
    let own = RING.replace(
        "policies: {}",
        "  failures: [{link: ab, at: 2 s}]\npolicies: {}",
    );
    let text = format!(
        "{own}axes: [{{name: failure, each: link, of: [dc, bc], at: 5 s, repair: never}}]\n"
    );
    let files = memory(&[("s.yaml", text.as_bytes())]);
    let p = load(Path::new("s.yaml"), &files, &Router, &Options::default())
        .unwrap()
        .plan;
    assert_eq!(p.axes[0].labels, ["none", "bc", "dc"]);
    assert!(
        p.variants
            .iter()
            .all(|v| v.same.is_none() && v.shift.is_none())
    );
    assert_eq!(p.variants[2].world.failures.len(), 4);
}

/// Nodes where flows begin or end stay; pairs are links.
#[test]
fn nodes_and_pairs_of_links_fail_in_turn() {
    let p = ring("axes: [{name: failure, each: node, at: 5 s}]\n");
    assert_eq!(p.axes[0].labels, ["none", "b", "d", "e"]);
    assert_eq!(p.variants[1].world.failures.len(), 4);
    let same: Vec<_> = p.variants.iter().map(|v| v.same).collect();
    assert_eq!(same, [None, None, Some(0), Some(0)]);
    let p = ring(
        "variants: [{name: A, set: {}}, {name: B, set: {topology.links.ab.cost: 9}}]\naxes: [{name: failure, each: pair, of: [ab, ad, de], at: 5 s}]\n",
    );
    assert_eq!(p.axes[0].labels, ["none", "ab + ad", "ab + de", "ad + de"]);
    assert_eq!(p.variants.len(), 8);
    // Each variant has its own point without a failure.
    assert_eq!((p.variants[3].same, p.variants[7].same), (Some(0), None));
}

/// Places of a program outside: along ranges by their scale, in listed values by equal parts.
#[test]
fn given_points_are_places_on_the_axes() {
    let points = "[[0.0, 0.0, 0.0], [1.0, 1.0, 1.0], [0.5, 0.5, 0.34], [0.5, 0.5, 0.66]]";
    let p = plan(&format!(
        "{AXES}study: {{design: {{given: {{points: {points}}}}}}}\n"
    ));
    assert_eq!(
        names(&p),
        [
            "load=5 Mb/s, delay=1 ms, calls=1",
            "load=13 Mb/s, delay=1 s, calls=5",
            "load=9 Mb/s, delay=31.623 ms, calls=2"
        ],
        "two that are the same are one"
    );
    let listed: Vec<_> = p.axes.iter().map(|a| a.listed).collect();
    assert_eq!((p.design, listed), ("given", vec![None, None, Some(3)]));
}
