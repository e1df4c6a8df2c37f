//! Worst cases, without simulating.

use std::path::Path;
use std::sync::Arc;

use serde_json::Value;
use spillgate_bounds::report;
use spillgate_import::ConfigImporter;
use spillgate_output::Report;
use spillgate_scenario::{Diagnostics, Files, Options, load};

/// Why there is no bound with code of one's own.
pub const NO_CURVE: &str = "no curve is known of an AQM or a scheduler of one's own, so a scenario that names one has no bounds";

/// What cannot be exceeded at each point of a scenario: a list of `point`, its report as `bounds`,
/// and as `certain` the verdicts on what is required for certain.
///
/// # Errors
/// What is wrong with the scenario.
pub fn bounds(path: &Path, files: &dyn Files, options: &Options) -> Result<Value, Diagnostics> {
    let importer = ConfigImporter { strict: false };
    let plan = Arc::new(load(path, files, &importer, options)?.plan);
    // Without a run nothing is refuted.
    let mut certain = match plan.sla.iter().any(|r| r.certain) {
        true => Report::new(Arc::clone(&plan), Vec::new())
            .verdicts()
            .to_vec(),
        false => Vec::new(),
    };
    certain.retain(|v| v.certain);
    let points = plan.variants.iter().map(|point| {
        let report = report(&point.world, &spillgate_bounds::bounds(&point.world));
        let certain = certain.iter().filter(|v| v.variant == point.name);
        let certain: Vec<_> = certain.collect();
        serde_json::json!({"point": point.name, "bounds": report, "certain": certain})
    });
    Ok(Value::from_iter(points))
}
