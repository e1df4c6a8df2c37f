//! The native module of the Python package: `spillgate._native`.
//!
//! PyO3 classes and nothing else, but for AQMs of a user's own (`own`). Documents go to Python as
//! JSON text; long calls release the interpreter.

mod alone;
mod bound;
mod capture;
mod config;
mod dataset;
mod explain;
mod export;
mod files;
mod job;
mod lint;
mod memory;
mod own;
mod results;
mod show;
mod stored;
mod voice;
mod waiting;
mod written;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use job::{InputError, Job};
use results::Results;

use spillgate_core::{DropReason, Kind, suggest};
use spillgate_endpoints::{cc::CcSpec, source};
use spillgate_measure::sla::{self, Verdict};
use spillgate_measure::stats::{Interval, Looks};
use spillgate_measure::table::{Better, Metric, Scope};
use spillgate_measure::{Needs, Sampled};
use spillgate_nodes::{NodePlan, atm::ContractSpec, switch::matcher::MatchingSpec};
use spillgate_output::Effect;

/// The JSON Schema of scenario files, or of customers' files of requirements (`sla`).
#[pyfunction]
#[pyo3(signature = (of = "scenario"))]
fn schema(of: &str) -> PyResult<String> {
    match of {
        "scenario" => Ok(spillgate_scenario::json_schema().to_string()),
        "sla" => Ok(spillgate_scenario::customer_schema().to_string()),
        _ => Err(PyValueError::new_err(format!(
            "there is no schema of {of:?}"
        ))),
    }
}

/// The one of `known` that `name` is probably meant to be, if one is near enough.
#[pyfunction]
#[allow(clippy::needless_pass_by_value, reason = "it comes from Python")]
fn nearest(name: &str, known: Vec<String>) -> Option<String> {
    suggest::nearest(name, known.iter().map(String::as_str)).map(str::to_owned)
}

/// Everything that can be named in a scenario, by family, as JSON.
#[pyfunction]
fn catalog() -> String {
    let list = |kinds: &mut dyn Iterator<Item = (&'static str, &'static str)>| {
        kinds
            .map(|(kind, summary)| serde_json::json!({"kind": kind, "summary": summary}))
            .collect::<Vec<_>>()
    };
    let known = |kinds: &[Kind]| list(&mut kinds.iter().map(|k| (k.kind, k.summary)));
    let mut families = serde_json::Map::new();
    for family in spillgate_queueing::kinds() {
        families.insert(family.name.to_owned(), known(family.kinds).into());
    }
    let (codecs, mixes) = (source::CODECS.iter(), source::MIXES.iter());
    let words = spillgate_core::overhead::words::all();
    for (name, kinds) in [
        ("sources", known(source::spec::SourceSpec::KINDS)),
        ("voip-codecs", list(&mut codecs.copied())),
        ("overhead", list(&mut words.into_iter())),
        ("packet-mixes", list(&mut mixes.copied())),
        ("congestion-control", known(CcSpec::KINDS)),
        ("nodes", known(NodePlan::KINDS)),
        ("matching", known(MatchingSpec::KINDS)),
        ("contracts", known(ContractSpec::KINDS)),
    ] {
        families.insert(name.to_owned(), kinds.into());
    }
    families.insert(
        "platforms".to_owned(),
        list(&mut spillgate_import::platforms()).into(),
    );
    let codecs: Vec<_> = spillgate_voice::codec::CODECS
        .iter()
        .map(|c| {
            let wide = match c.scale {
                spillgate_voice::Scale::Narrowband => "",
                spillgate_voice::Scale::Wideband => ",WB",
            };
            let values = format!(
                "{}: Ie{wide} {}, Bpl{wide} {}, frame {}, look-ahead {}, packets of {}",
                c.summary, c.ie, c.bpl, c.frame, c.look_ahead, c.packetization
            );
            let summary = match c.assumed {
                Some(assumed) => format!("{values} ({assumed})"),
                None => values,
            };
            serde_json::json!({"kind": c.name, "summary": summary})
        })
        .collect();
    families.insert("codecs".to_owned(), codecs.into());
    let objectives: Vec<_> = spillgate_scenario::objectives::PRESETS
        .iter()
        .map(|p| {
            let bounds: Vec<String> = p
                .objectives
                .iter()
                .map(|o| format!("{} ≤ {} ({})", o.parameter, o.bound(), o.metric.name()))
                .collect();
            let bounds = match bounds.as_slice() {
                [] => "nothing".to_owned(),
                all => all.join(", "),
            };
            let summary = format!("{}: {bounds}. {}", p.summary, p.source);
            serde_json::json!({"kind": p.name, "summary": summary})
        })
        .collect();
    families.insert("objectives".to_owned(), objectives.into());
    let rules: Vec<_> = spillgate_lint::RULES
        .iter()
        .map(|r| {
            let summary = format!("{}: {} ({})", r.name, r.summary, r.level.name());
            serde_json::json!({"kind": r.id, "summary": summary})
        })
        .collect();
    families.insert("rules".to_owned(), rules.into());
    let mut codes = [
        spillgate_scenario::codes::CODES,
        spillgate_import::IOS_CODES,
        spillgate_import::SHOW_CODES,
        spillgate_export::CODES,
        spillgate_lint::CODES,
    ]
    .concat();
    codes.sort_unstable();
    let codes: Vec<_> = codes
        .iter()
        .map(|(code, meaning)| serde_json::json!({"kind": code, "summary": meaning}))
        .collect();
    families.insert("codes".to_owned(), codes.into());
    let scopes = Scope::ALL
        .iter()
        .map(|s| serde_json::json!({"name": s.name(), "short": s.short(), "summary": s.summary()}));
    families.insert("scopes".to_owned(), scopes.collect());
    let metrics = Metric::ALL.iter().map(|m| {
        serde_json::json!({
            "name": m.name(), "unit": m.unit(), "short": m.short(), "label": m.label(),
            "summary": m.summary(), "better": m.better().map(Better::as_str),
            "needs": m.needs().map(Needs::as_str), "key": m.needs().and_then(Needs::key),
            "tags": m.tags().iter().map(|t| t.as_str()).collect::<Vec<_>>(),
        })
    });
    families.insert("metrics".to_owned(), metrics.collect());
    let series = Sampled::ALL.iter().map(|m| {
        serde_json::json!({
            "name": m.name(), "unit": m.unit(), "short": m.short(),
            "label": m.label(), "summary": m.summary(),
        })
    });
    families.insert("series".to_owned(), series.collect());
    let drops = DropReason::ALL.iter().map(
        |r| serde_json::json!({"name": r.metric(), "label": r.label(), "summary": r.sentence()}),
    );
    families.insert("drops".to_owned(), drops.collect());
    let verdicts = Verdict::ALL.iter().map(|v| {
        serde_json::json!({
            "name": v.as_str(), "certain": v.as_certain(), "mark": v.mark(), "summary": v.summary(),
            "severity": v.severity(), "status": v.status(),
        })
    });
    families.insert("verdicts".to_owned(), verdicts.collect());
    let effects = Effect::ALL.iter().map(|e| {
        serde_json::json!({
            "name": e.as_str(), "mark": e.mark(), "label": e.label(), "summary": e.summary(),
        })
    });
    families.insert("effects".to_owned(), effects.collect());
    let delays = spillgate_output::PARTS
        .iter()
        .map(|(name, summary)| serde_json::json!({"name": name, "summary": summary}));
    families.insert("delays".to_owned(), delays.collect());
    serde_json::Value::Object(families).to_string()
}

/// Mean of independent values with its interval of `level`, for one look (Student's t) or, `again`,
/// for any number of them: mean, low, high. Of one value the interval is infinite, of none the mean
/// is NaN.
#[pyfunction]
#[pyo3(signature = (values, level = Interval::LEVEL, again = false))]
fn interval(values: Vec<f64>, level: f64, again: bool) -> PyResult<(f64, f64, f64)> {
    let found = Interval::of(&values, proper(level, "level")?).for_looks(looks(again));
    Ok((found.mean, found.low, found.high))
}

/// The `p`-quantile of what independent values come from, with an interval of `level` for any
/// number of looks: value, low, high.
#[pyfunction]
#[pyo3(signature = (values, p, level = Interval::LEVEL))]
fn quantile_interval(values: Vec<f64>, p: f64, level: f64) -> PyResult<(f64, f64, f64)> {
    let found = Interval::of_quantile(&values, proper(p, "p")?, proper(level, "level")?);
    Ok((found.mean, found.low, found.high))
}

/// The p-value of `bound` being the mean of independent values, for one look or, `again`, for any
/// number of them.
#[pyfunction]
#[pyo3(signature = (values, bound, again = false))]
fn p_value(values: Vec<f64>, bound: f64, again: bool) -> f64 {
    let of = Interval::of(&values, Interval::LEVEL).for_looks(looks(again));
    sla::p_value(&of, Some(bound), None)
}

/// `Any` of those who look again.
const fn looks(again: bool) -> Looks {
    if again { Looks::Any } else { Looks::Once }
}

/// A probability that is neither 0 nor 1.
fn proper(p: f64, name: &str) -> PyResult<f64> {
    let between = p > 0.0 && p < 1.0;
    between
        .then_some(p)
        .ok_or_else(|| PyValueError::new_err(format!("{name} must be between 0 and 1, not {p}")))
}

/// Judges the 95 % interval of independent values, from `low` to `high` as it is reported, as
/// requirements are judged when one looks once: pass, fail or undecided, and then how many more
/// values would probably tell.
#[pyfunction]
fn judge(
    values: Vec<f64>,
    low: f64,
    high: f64,
    most: Option<f64>,
    least: Option<f64>,
) -> (&'static str, Option<u32>) {
    let of = Interval {
        low,
        high,
        ..Interval::of(&values, Interval::LEVEL)
    };
    let further = sla::further_runs(&of, most, least);
    (sla::judge(&of, most, least).as_str(), further)
}

/// The native module.
#[pymodule]
fn _native(py: Python<'_>, m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add("__version__", env!("CARGO_PKG_VERSION"))?;
    m.add("__commit__", env!("SPILLGATE_COMMIT"))?;
    m.add("BEHAVIOR", spillgate_sim::BEHAVIOR)?;
    m.add("InputError", py.get_type::<InputError>())?;
    m.add("AqmError", py.get_type::<own::AqmError>())?;
    m.add("HookError", py.get_type::<own::HookError>())?;
    m.add("SchedulerError", py.get_type::<own::SchedulerError>())?;
    m.add_class::<Job>()?;
    m.add_class::<Results>()?;
    m.add_class::<own::BacklogView>()?;
    m.add_class::<own::PacketView>()?;
    m.add_class::<own::PortView>()?;
    m.add_class::<own::QueueView>()?;
    m.add_function(wrap_pyfunction!(interval, m)?)?;
    m.add_function(wrap_pyfunction!(quantile_interval, m)?)?;
    m.add_function(wrap_pyfunction!(p_value, m)?)?;
    m.add_function(wrap_pyfunction!(judge, m)?)?;
    m.add_function(wrap_pyfunction!(stored::stored_runs, m)?)?;
    m.add_function(wrap_pyfunction!(stored::study, m)?)?;
    m.add_function(wrap_pyfunction!(dataset::write_dataset, m)?)?;
    m.add_function(wrap_pyfunction!(stored::note_study, m)?)?;
    m.add_function(wrap_pyfunction!(nearest, m)?)?;
    m.add_function(wrap_pyfunction!(schema, m)?)?;
    m.add_function(wrap_pyfunction!(catalog, m)?)?;
    m.add_function(wrap_pyfunction!(config::understand, m)?)?;
    m.add_function(wrap_pyfunction!(capture::profile_capture, m)?)?;
    m.add_function(wrap_pyfunction!(export::export, m)?)?;
    m.add_function(wrap_pyfunction!(alone::alone, m)?)?;
    m.add_function(wrap_pyfunction!(bound::bound, m)?)?;
    m.add_function(wrap_pyfunction!(bound::worst, m)?)?;
    m.add_function(wrap_pyfunction!(lint::lint, m)?)?;
    m.add_function(wrap_pyfunction!(lint::lint_rules, m)?)?;
    m.add_function(wrap_pyfunction!(lint::reader_warnings, m)?)?;
    m.add_function(wrap_pyfunction!(config::is_show_output, m)?)?;
    m.add_function(wrap_pyfunction!(config::offered, m)?)?;
    m.add_function(wrap_pyfunction!(show::scale_for, m)?)?;
    m.add_function(wrap_pyfunction!(show::format_number, m)?)?;
    m.add_function(wrap_pyfunction!(show::column_decimals, m)?)?;
    m.add_function(wrap_pyfunction!(show::format_cell, m)?)?;
    m.add_function(wrap_pyfunction!(show::format_value, m)?)?;
    m.add_function(wrap_pyfunction!(show::format_ceiling, m)?)?;
    m.add_function(wrap_pyfunction!(show::format_rough, m)?)?;
    m.add_function(wrap_pyfunction!(show::format_count, m)?)?;
    m.add_function(wrap_pyfunction!(show::rounded_up, m)?)?;
    m.add_function(wrap_pyfunction!(voice::rate_call, m)?)?;
    m.add_function(wrap_pyfunction!(written::written, m)?)?;
    Ok(())
}
