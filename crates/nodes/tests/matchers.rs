//! Matchers alone: at most one grant for each port, only where requested, and as large as promised.

use proptest::prelude::*;
use spillgate_core::Rng;
use spillgate_core::testkit::effort;
use spillgate_nodes::switch::matcher::{Matcher, MatchingSpec, Weights};
use spillgate_nodes::switch::ports::{Matching, Requests};

/// Weights by input, then output: what a matcher may ask of a pair is the same number.
#[derive(Debug)]
struct Table(Vec<Vec<u64>>);

impl Weights for Table {
    fn length(&self, i: usize, o: usize) -> u64 {
        self.0[i][o]
    }
    fn waited(&self, i: usize, o: usize) -> u64 {
        self.0[i][o]
    }
    fn first(&self, i: usize, o: usize) -> u64 {
        1_000_000 - self.0[i][o]
    }
    fn busy_since(&self, i: usize, o: usize) -> u64 {
        self.0[i][o] * 7 % 1009
    }
}

impl Table {
    fn requests(&self) -> Requests {
        let mut requests = Requests::new(self.0.len());
        for (i, row) in self.0.iter().enumerate() {
            for (o, weight) in row.iter().enumerate() {
                if *weight > 0 {
                    requests.set(i, o);
                }
            }
        }
        requests
    }
}

fn matcher(json: &str, ports: usize) -> Matcher {
    let spec: MatchingSpec = serde_json::from_str(json).unwrap();
    spec.resolve(ports).unwrap()
}

/// The output of each input, or none.
fn find(matcher: &mut Matcher, requests: &Requests, table: &Table) -> Vec<Option<u16>> {
    let (mut rng, mut found) = (Rng::from_key(1), Matching::default());
    matcher.find(requests, table, &mut rng, &mut found);
    let mut outputs = vec![None; requests.ports()];
    for (i, o) in found.pairs() {
        assert!(outputs[usize::from(*i)].replace(*o).is_none());
    }
    outputs
}

fn backlogged(ports: usize) -> (Requests, Table) {
    let table = Table(vec![vec![1; ports]; ports]);
    (table.requests(), table)
}

const X: Option<u16> = None;

fn row(outputs: &[i32]) -> Vec<Option<u16>> {
    outputs.iter().map(|o| u16::try_from(*o).ok()).collect()
}

/// All queues backlogged, pointers at 0. Derived by hand from the paper's rules.
#[test]
fn islip_pointers_spread_out() {
    let (requests, table) = backlogged(4);
    let mut once = matcher(r#"{"islip": {"iterations": 1}}"#, 4);
    for expected in [
        [0, -1, -1, -1],
        [1, 0, -1, -1],
        [2, 1, 0, -1],
        [3, 2, 1, 0],
        [0, 3, 2, 1],
    ] {
        assert_eq!(find(&mut once, &requests, &table), row(&expected));
    }
    let mut often = matcher(r#"{"islip": {"iterations": 4}}"#, 4);
    for expected in [[0, 1, 2, 3], [1, 0, 2, 3], [2, 1, 0, 3]] {
        assert_eq!(find(&mut often, &requests, &table), row(&expected));
    }
    let (requests, table) = backlogged(3);
    let mut once = matcher(r#"{"islip": {"iterations": 1}}"#, 3);
    let sizes: Vec<_> = (0..5)
        .map(|_| find(&mut once, &requests, &table).iter().flatten().count())
        .collect();
    assert_eq!(sizes, [1, 2, 3, 3, 3]);
}

/// Of requests with a maximum matching of four, iSLIP finds a maximal one of two, and more
/// iterations do not help.
#[test]
fn islip_need_not_be_maximum() {
    let mut requests = Requests::new(4);
    let wanted = [(0, 0), (0, 1), (1, 0), (2, 2), (2, 3), (3, 2)];
    wanted.iter().for_each(|&(i, o)| requests.set(i, o));
    let table = Table(vec![vec![1; 4]; 4]);
    for iterations in [1, 2, 9] {
        let mut m = matcher(
            &format!(r#"{{"islip": {{"iterations": {iterations}}}}}"#),
            4,
        );
        assert_eq!(find(&mut m, &requests, &table), [Some(0), X, Some(2), X]);
        // The pointers are at 1, 0, 3, 0 now, on both sides.
        assert_eq!(
            find(&mut m, &requests, &table),
            [Some(1), Some(0), Some(3), Some(2)]
        );
    }
}

#[test]
fn round_robin_pointers_move_together() {
    let (requests, table) = backlogged(4);
    let mut m = matcher(r#"{"round-robin": {"iterations": 1}}"#, 4);
    for _ in 0..9 {
        assert_eq!(find(&mut m, &requests, &table).iter().flatten().count(), 1);
    }
}

/// One iteration under full load matches 1 - (1 - 1/n)^n of the ports.
#[test]
fn rotation_connects_each_pair_once_in_as_many_slots_as_ports() {
    let (requests, table) = backlogged(3);
    let mut m = matcher(r#"{"rotation": {}}"#, 3);
    assert_eq!(find(&mut m, &requests, &table), row(&[0, 1, 2]));
    assert_eq!(find(&mut m, &requests, &table), row(&[1, 2, 0]));
    assert_eq!(find(&mut m, &requests, &table), row(&[2, 0, 1]));
    assert_eq!(find(&mut m, &requests, &table), row(&[0, 1, 2]));
    // A pair for which nothing waits leaves its slot unused.
    let mut few = Requests::new(3);
    few.set(0, 2);
    few.set(1, 2);
    assert_eq!(find(&mut m, &few, &table), row(&[-1, 2, -1]));
    assert_eq!(find(&mut m, &few, &table), row(&[2, -1, -1]));
    assert_eq!(find(&mut m, &few, &table), row(&[-1, -1, -1]));
}

#[test]
fn one_iteration_of_pim_matches_what_anderson_says() {
    for (ports, expected) in [(2, 0.75), (4, 0.683_594), (8, 0.656_391), (16, 0.643_926)] {
        let (requests, table) = backlogged(ports);
        let mut m = matcher(r#"{"pim": {"iterations": 1}}"#, ports);
        let (mut rng, mut found) = (Rng::from_key(2), Matching::default());
        let (mut sum, mut squares) = (0.0, 0.0);
        let slots = 40_000;
        for _ in 0..slots {
            m.find(&requests, &table, &mut rng, &mut found);
            let share = found.pairs().len() as f64 / ports as f64;
            sum += share;
            squares += share * share;
        }
        let mean = sum / f64::from(slots);
        // Slots are independent.
        let error = ((squares / f64::from(slots) - mean * mean) / f64::from(slots)).sqrt();
        assert!(
            (mean - expected).abs() < 4.0 * error,
            "{ports}: {mean} +- {error}"
        );
    }
}

#[test]
fn greedy_takes_half_at_least_and_maximum_all() {
    let table = Table(vec![vec![5, 4, 0], vec![4, 0, 0], vec![0, 3, 2]]);
    let requests = table.requests();
    for kind in ["longest-queue-first", "oldest-cell-first"] {
        let mut m = matcher(&format!(r#"{{"{kind}": {{}}}}"#), 3);
        assert_eq!(find(&mut m, &requests, &table), [Some(0), X, Some(1)]);
    }
    for weight in ["length", "age"] {
        let json = format!(r#"{{"maximum-weight": {{"weight": "{weight}"}}}}"#);
        assert_eq!(
            find(&mut matcher(&json, 3), &requests, &table),
            [Some(1), Some(0), Some(2)]
        );
    }
}

/// The greatest weight of a matching, by trying all.
fn best(table: &Table, input: usize, taken: u32) -> u64 {
    if input == table.0.len() {
        return 0;
    }
    let with = (0..table.0.len())
        .filter(|o| taken & (1 << o) == 0)
        .map(|o| {
            let weight = table.0[input][o];
            weight + best(table, input + 1, taken | (1 << o))
        });
    with.max().unwrap_or(0).max(best(table, input + 1, taken))
}

fn table(ports: std::ops::Range<usize>) -> impl Strategy<Value = Table> {
    let weight = prop_oneof![Just(0_u64), 1..1000_u64];
    ports.prop_flat_map(move |n| {
        let rows = prop::collection::vec(prop::collection::vec(weight.clone(), n), n);
        rows.prop_map(Table)
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64 * effort()))]

    #[test]
    fn the_maximum_weight_is_the_maximum(table in table(1..7)) {
        let requests = table.requests();
        let found = find(&mut matcher(r#"{"maximum-weight": {}}"#, table.0.len()), &requests, &table);
        let weight: u64 = found
            .iter()
            .enumerate()
            .filter_map(|(i, o)| o.map(|o| table.0[i][usize::from(o)]))
            .sum();
        prop_assert_eq!(weight, best(&table, 0, 0));
        let mut greedy = matcher(r#"{"longest-queue-first": {}}"#, table.0.len());
        let half: u64 = find(&mut greedy, &requests, &table)
            .iter()
            .enumerate()
            .filter_map(|(i, o)| o.map(|o| table.0[i][usize::from(o)]))
            .sum();
        prop_assert!(2 * half >= weight);
    }

    /// No pair of free ports that request each other would both rather have each other.
    #[test]
    fn the_stable_matching_is_stable(table in table(1..9)) {
        let requests = table.requests();
        let n = table.0.len();
        let found = find(&mut matcher(r#"{"stable-marriage": {}}"#, n), &requests, &table);
        for (i, o) in requests.pairs() {
            let input_is_content = found[i].is_some_and(|has| {
                table.busy_since(i, has.into()) >= table.busy_since(i, o)
            });
            let output_is_content = (0..n).any(|other| {
                found[other] == Some(o as u16) && table.first(other, o) <= table.first(i, o)
            });
            prop_assert!(input_is_content || output_is_content, "{i} and {o}");
        }
    }

    /// In every slot, of every algorithm, with some ports taken.
    #[test]
    fn matchings_are_matchings(
        tables in prop::collection::vec(table(1..20), 1..4),
        wide in any::<bool>(),
        seed in any::<u64>(),
        iterations in 1..6_u32,
    ) {
        for kind in MatchingSpec::KINDS {
            for table in &tables {
                // Wide: spread over a switch of 256 ports.
                let (n, spread) = if wide { (256, 13) } else { (table.0.len(), 1) };
                let json = match kind.kind {
                    "islip" | "round-robin" | "pim" =>
                        format!(r#"{{"{}": {{"iterations": {iterations}}}}}"#, kind.kind),
                    other => format!(r#"{{"{other}": {{}}}}"#),
                };
                if wide && kind.kind == "maximum-weight" {
                    continue;
                }
                let mut m = matcher(&json, n);
                let mut big = Table(vec![vec![0; n]; n]);
                for (i, row) in table.0.iter().enumerate() {
                    for (o, weight) in row.iter().enumerate() {
                        big.0[i * spread][o * spread] = *weight;
                    }
                }
                let mut requests = big.requests();
                let mut rng = Rng::from_key(seed);
                for _ in 0..rng.below(3) {
                    let (i, o) = (rng.below(n as u32) as usize, rng.below(n as u32) as usize);
                    requests.occupy(i, o);
                }
                let mut found = Matching::default();
                for _ in 0..4 {
                    m.find(&requests, &big, &mut rng, &mut found);
                    let (mut inputs, mut outputs) = (vec![0; n], vec![0; n]);
                    for &(i, o) in found.pairs() {
                        let (i, o) = (usize::from(i), usize::from(o));
                        inputs[i] += 1;
                        outputs[o] += 1;
                        prop_assert!(requests.has(i, o), "{}", kind.kind);
                        prop_assert!(requests.free_inputs().contains(i));
                        prop_assert!(requests.free_outputs().contains(o));
                    }
                    prop_assert!(inputs.iter().chain(&outputs).all(|n| *n <= 1), "{}", kind.kind);
                    prop_assert!(found.is_maximal(&requests) || !m.is_maximal(), "{}", kind.kind);
                    // One iteration already finds something.
                    let none = requests.pairs().next().is_none();
                    prop_assert!(!found.pairs().is_empty() || none || !m.always_finds());
                }
            }
        }
    }
}

/// With as many iterations as ports the iterative ones are maximal, too.
#[test]
fn enough_iterations_are_maximal() {
    for kind in ["islip", "round-robin", "pim"] {
        let m = |iterations: u32| {
            matcher(
                &format!(r#"{{"{kind}": {{"iterations": {iterations}}}}}"#),
                8,
            )
        };
        assert!(m(8).is_maximal() && !m(7).is_maximal());
        let mut rng = Rng::from_key(3);
        let mut matcher = m(8);
        let mut found = Matching::default();
        for _ in 0..500 {
            let mut table = Table(vec![vec![0; 8]; 8]);
            for row in &mut table.0 {
                row.iter_mut().for_each(|w| *w = u64::from(rng.chance(0.3)));
            }
            let requests = table.requests();
            matcher.find(&requests, &table, &mut rng, &mut found);
            assert!(found.is_maximal(&requests));
        }
    }
}

#[test]
fn no_iterations_are_refused() {
    for kind in ["islip", "round-robin", "pim"] {
        let spec: MatchingSpec =
            serde_json::from_str(&format!(r#"{{"{kind}": {{"iterations": 0}}}}"#)).unwrap();
        let problem = spec.resolve(4).unwrap_err();
        assert_eq!(problem.path, format!("{kind}.iterations"));
        assert_eq!(problem.found, "0");
    }
}
