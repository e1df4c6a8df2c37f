//! Sums of what is measured by code point and by color.

use proptest::prelude::*;
use spillgate_core::DropReason;
use spillgate_measure::table::{Metric, Scope};
use spillgate_scenario::plan::Plan;
use spillgate_sim::{Outcome, layout};

/// What came to a queue and was lost there by code point adds to the queue's numbers; what arrived
/// and was lost of a class by code point to the class's; and what conforms, exceeds and violates to
/// what came to the meter.
pub(crate) fn parts_add_up(plan: &Plan, of: &Outcome) -> Result<(), TestCaseError> {
    let layout = layout(&plan.variants[0].world);
    let value = |scope, name: &str, metric| Some(of.values[layout.position(scope, name, metric)?]);
    let values = || layout.keys.iter().zip(&of.values);
    let parts = |scope, whole: &str, metric| -> f64 {
        let of_whole = |name: &str| name.rsplit_once('/').is_some_and(|(w, _)| w == whole);
        let mine = values().filter(|(k, _)| k.scope == scope && k.metric == metric);
        mine.filter(|(k, _)| of_whole(layout.name(k)))
            .map(|(_, v)| v)
            .sum()
    };
    for (key, _) in values() {
        let name = layout.name(key);
        match (key.scope, key.metric) {
            (Scope::QueueDscp, Metric::PacketsOffered) => {
                let queue = name.rsplit_once('/').map_or("", |(queue, _)| queue);
                for metric in [Metric::PacketsOffered, Metric::PacketsLost] {
                    let whole = value(Scope::Queue, queue, metric);
                    prop_assert_eq!(
                        Some(parts(Scope::QueueDscp, queue, metric)),
                        whole,
                        "{}",
                        queue
                    );
                }
            }
            (Scope::ClassDscp, Metric::PacketsReceived) => {
                let class = name.rsplit_once('/').map_or("", |(class, _)| class);
                let received = value(Scope::Class, class, Metric::PacketsReceived);
                let got = parts(Scope::ClassDscp, class, Metric::PacketsReceived);
                prop_assert_eq!(Some(got), received, "{}", class);
                let drops = DropReason::ALL.map(Metric::drops);
                let lost: f64 = drops
                    .iter()
                    .filter_map(|m| value(Scope::Class, class, *m))
                    .sum();
                prop_assert_eq!(parts(Scope::ClassDscp, class, Metric::PacketsLost), lost);
                let rate = value(Scope::Class, class, Metric::Throughput).unwrap_or(f64::NAN);
                let sum = parts(Scope::ClassDscp, class, Metric::Throughput);
                prop_assert!(
                    (sum - rate).abs() <= 1e-9 * rate,
                    "{class}: {sum}, not {rate}"
                );
            }
            (Scope::Meter, Metric::PacketsOffered) => {
                let colors = [
                    Metric::PacketsConform,
                    Metric::PacketsExceed,
                    Metric::PacketsViolate,
                ];
                let sum: f64 = colors
                    .iter()
                    .filter_map(|m| value(Scope::Meter, name, *m))
                    .sum();
                prop_assert_eq!(Some(sum), value(Scope::Meter, name, key.metric), "{}", name);
            }
            _ => {}
        }
    }
    Ok(())
}
