//! Every kind of node and every stage, against values worked out by hand: files of `nodes/`, each a
//! scenario with lines such as `# node g sojourn_max 0.01 1e-6` (scope, name, metric, value in its
//! base unit, and by how much it may be off).

use crate::common;
use std::fs;
use std::path::Path;

use spillgate_measure::table::{Metric, Scope};
use spillgate_nodes::NodePlan;
use spillgate_nodes::stage::StagePlan;
use spillgate_sim::layout;

/// Scope, name, metric, value, tolerance.
fn wanted(line: &str) -> Option<(Scope, &str, Metric, f64, f64)> {
    let mut words = line.strip_prefix("# ")?.split(' ');
    // Other comments are for people.
    let scope = Scope::from_name(words.next()?)?;
    let name = words.next().expect("a name");
    let metric = words.next().and_then(Metric::from_name);
    let [value, off] = [(); 2].map(|()| words.next().expect("a number").parse().expect("a number"));
    Some((scope, name, metric.expect("a metric"), value, off))
}

#[test]
fn kinds_do_what_their_files_say() {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/nodes");
    let files = fs::read_dir(directory)
        .expect("the files")
        .map(|f| f.expect("a file").path());
    let texts: Vec<String> = files
        .map(|f| fs::read_to_string(f).expect("a text"))
        .collect();
    for kind in NodePlan::KINDS.iter().chain(StagePlan::KINDS) {
        let key = format!("{}: ", kind.kind);
        assert!(
            texts.iter().any(|t| t.contains(&key)),
            "{}: no file",
            kind.kind
        );
    }
    for text in texts {
        let plan = common::plan(&text);
        // Both engines agree, value by value.
        let of = common::same_series(&plan, 1);
        let layout = layout(&plan.variants[0].world);
        let mut checked = 0;
        for (scope, name, metric, value, off) in text.lines().filter_map(wanted) {
            let at = layout
                .position(scope, name, metric)
                .expect("it is measured");
            let found = of.values[at];
            assert!(
                (found - value).abs() <= off,
                "{}: {found}\n{text}",
                metric.name()
            );
            checked += 1;
        }
        assert!(checked > 0, "nothing is checked\n{text}");
    }
}
