//! Files of requirements: what they become, and that no file makes the loader stumble.

use std::path::Path;

use crate::common::{Router, memory};
use spillgate_core::Rng;
use spillgate_measure::Metric;
use spillgate_scenario::plan::Plan;
use spillgate_scenario::{Diagnostics, Options, load};

const SCENARIO: &str = include_str!("good/sla.yaml");
const CUSTOMER: &str = include_str!("good/customer.yml");
const TABLE: &str = include_str!("good/customers.csv");

fn with(customer: &[u8], table: &[u8], beside: &[&str]) -> Result<Plan, Diagnostics> {
    let files = memory(&[
        ("d/sla.yaml", SCENARIO.as_bytes()),
        ("d/customer.yml", customer),
        ("d/customers.csv", table),
        ("d/more.csv", TABLE.as_bytes()),
    ]);
    let opts = Options {
        sla: beside.iter().map(|s| (*s).to_owned()).collect(),
        ..Options::default()
    };
    load(Path::new("d/sla.yaml"), &files, &Router, &opts).map(|l| l.plan)
}

#[test]
fn requirements_come_in_order_with_their_customers() {
    let plan = with(CUSTOMER.as_bytes(), TABLE.as_bytes(), &[]).unwrap_or_else(|e| panic!("{e}"));
    let rows: Vec<_> = plan
        .sla
        .iter()
        .map(|s| {
            let of = s.customer.as_deref().unwrap_or("-");
            let about = s.group.as_deref().unwrap_or(&s.class);
            (of, about, s.metric, s.max.or(s.min).unwrap())
        })
        .collect();
    assert_eq!(
        rows,
        [
            // A tenth of 100 ms, 50 ms, 10^-5.
            ("-", "voice", Metric::OwdMean, 0.01),
            ("-", "voice", Metric::PdvP99999, 0.005),
            ("-", "voice", Metric::LossRatio, 1e-6),
            ("-", "voice", Metric::OwdMean, 0.01),
            ("Acme", "voice", Metric::OwdP999, 0.03),
            ("Acme", "voice", Metric::MosMin, 3.6),
            ("Acme", "data @ site", Metric::LossRatio, 1e-3),
            ("Acme", "data @ site-1", Metric::OwdMean, 1.0),
            ("Acme", "data @ site-1", Metric::LossRatio, 1e-3),
            ("Acme", "data", Metric::Throughput, 50e3),
            ("Bravo", "data @ site-0+b", Metric::OwdMean, 0.05),
            ("Bravo", "data @ site-0+b", Metric::LossRatio, 5e-4),
        ]
    );
    assert_eq!(
        plan.sla[0].basis.as_deref(),
        Some("y1541-class-6 IPTD, 10 %")
    );
    assert_eq!(
        plan.sla[4].basis.as_deref(),
        Some("g114-preferred delay, 20 %")
    );
    assert_eq!(plan.sla[7].site.as_deref(), Some("One"));
    // Groups stand for their members, and each site is measured once.
    let world = &plan.variants[0].world;
    let sites: Vec<_> = world
        .sites
        .iter()
        .map(|s| {
            (
                s.name.as_str(),
                s.nodes.len(),
                world.flows.iter().filter(|f| s.has(f)).count(),
            )
        })
        .collect();
    assert_eq!(
        sites,
        [
            ("data @ site", 2, 2),
            ("data @ site-1", 1, 1),
            ("data @ site-0+b", 2, 2)
        ]
    );
}

#[test]
fn files_beside_the_scenario_add_requirements_and_leave_its_fingerprint() {
    let plain = with(CUSTOMER.as_bytes(), TABLE.as_bytes(), &[]).unwrap();
    let more = with(CUSTOMER.as_bytes(), TABLE.as_bytes(), &["more.csv"]);
    // The same requirement of the same customer twice is an error.
    let text = more.unwrap_err().to_string();
    assert!(
        text.contains("more.csv:3") && text.contains("a second bound"),
        "{text}"
    );
    let files = memory(&[
        (
            "d/sla.yaml",
            SCENARIO.split("  - {file").next().unwrap().as_bytes(),
        ),
        ("d/customers.csv", TABLE.as_bytes()),
    ]);
    let hash_of = |sla: &[&str]| {
        let sla = sla.iter().map(|s| (*s).to_owned()).collect();
        let opts = Options {
            sla,
            ..Options::default()
        };
        let loaded = load(Path::new("d/sla.yaml"), &files, &Router, &opts);
        let plan = loaded.unwrap_or_else(|e| panic!("{e}")).plan;
        (plan.hash, plan.sla.len())
    };
    let ((bare, n), (beside, m)) = (hash_of(&[]), hash_of(&["customers.csv"]));
    assert_eq!(bare, beside);
    assert_eq!((n, m), (4, 7));
    assert_ne!(bare, plain.hash, "files that the scenario names count");
}

/// Every truncation, and every character replaced: a plan, or errors with a place.
#[test]
fn no_file_makes_the_loader_stumble() {
    let check = |customer: &[u8], table: &[u8]| {
        if let Err(Diagnostics(errors)) = with(customer, table, &[]) {
            for e in errors {
                assert!(
                    !e.file.is_empty() && e.line.is_some() || e.code == "E0103",
                    "{e}"
                );
            }
        }
    };
    let mut rng = Rng::named(1, 0, "test", "corrupt");
    let bytes = b",:{}[]\"'#\n\t \\%-0x\xff";
    for end in 0..=CUSTOMER.len() {
        check(&CUSTOMER.as_bytes()[..end], TABLE.as_bytes());
    }
    for end in 0..=TABLE.len() {
        check(CUSTOMER.as_bytes(), &TABLE.as_bytes()[..end]);
    }
    for (text, first) in [(CUSTOMER, true), (TABLE, false)] {
        for at in 0..text.len() {
            let mut copy = text.as_bytes().to_vec();
            copy[at] = bytes[rng.u64() as usize % bytes.len()];
            if first {
                check(&copy, TABLE.as_bytes());
            } else {
                check(CUSTOMER.as_bytes(), &copy);
            }
        }
    }
}

#[test]
fn a_table_says_what_is_to_hold_for_certain() {
    let table = "customer,class,metric,max,certain\nA,data,owd_p99,1 s,yes\nA,data,owd_mean,1 s,no\nA,data,owd_max,1 s,\n";
    let plan = with(CUSTOMER.as_bytes(), table.as_bytes(), &[]).unwrap_or_else(|e| panic!("{e}"));
    let rows = plan
        .sla
        .iter()
        .filter(|s| s.customer.as_deref() == Some("A"));
    let certain: Vec<_> = rows.map(|s| (s.metric, s.certain)).collect();
    assert_eq!(
        certain,
        [
            (Metric::OwdP99, true),
            (Metric::OwdMean, false),
            (Metric::OwdMax, false),
        ]
    );
}
