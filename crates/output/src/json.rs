//! Results as one JSON document, written row by row.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;

use serde::Serialize;
use serde_json::{Map, Value};
use spillgate_measure::table::Scope;

use crate::report::Report;

/// Rows of a scope above which `summary` has none of them: 4 MB. Nobody reads so many, and
/// `results.parquet` has them all.
const MOST_ROWS: usize = 20_000;

/// Writes the report's parts, one row a line, after the entries of `head`: `scopes`, which are
/// those of `summary`, without single flows and those of which there are [many](MOST_ROWS), the
/// [words](crate::Words), `summary`, `verdicts`, `bounds`, `differences`, `transients`, `runs`,
/// `distributions`; an empty list of `series` if there are none. Memory does not grow with their
/// number.
///
/// # Errors
/// What the file system says.
pub fn write_json(report: &Report, head: &Map<String, Value>, path: &Path) -> std::io::Result<()> {
    let mut out = BufWriter::new(File::create(path)?);
    out.write_all(b"{")?;
    for (key, value) in head {
        serde_json::to_writer(&mut out, key)?;
        out.write_all(b": ")?;
        serde_json::to_writer(&mut out, value)?;
        out.write_all(b",\n")?;
    }
    let scopes = scopes(report);
    let names: Vec<_> = scopes.iter().map(|s| s.name()).collect();
    out.write_all(b"\"scopes\": ")?;
    serde_json::to_writer(&mut out, &names)?;
    let words = report.words();
    out.write_all(b",\n\"conclusion\": ")?;
    serde_json::to_writer(&mut out, &words.conclusion)?;
    rows(&mut out, "remarks", &words.remarks)?;
    rows(&mut out, "assumptions", &words.assumptions)?;
    out.write_all(b",\n\"summary\": [")?;
    let mut first = true;
    report.each_summary_row(
        |_, key| scopes.contains(&key.scope),
        |row| {
            out.write_all(if first { b"\n" } else { b",\n" })?;
            first = false;
            serde_json::to_writer(&mut out, &row).map_err(std::io::Error::from)
        },
    )?;
    out.write_all(b"\n]")?;
    rows(&mut out, "verdicts", report.verdicts())?;
    rows(&mut out, "bounds", report.bounds())?;
    rows(&mut out, "differences", report.differences())?;
    rows(&mut out, "transients", report.transients())?;
    rows(&mut out, "runs", report.runs())?;
    // The table of series has them.
    if report.series().next().is_none() {
        rows(&mut out, "series", [(); 0])?;
    }
    rows(&mut out, "distributions", report.distributions())?;
    out.write_all(b"\n}\n")?;
    out.into_inner().map_err(|e| e.into_error())?.flush()
}

/// The scopes of `summary`.
fn scopes(report: &Report) -> Vec<Scope> {
    let mut rows = BTreeMap::new();
    for variant in 0..report.plan().variants.len() {
        for key in &report.layout(variant).keys {
            *rows.entry(key.scope).or_insert(0) += 1;
        }
    }
    rows.remove(&Scope::Flow);
    rows.retain(|_, n| *n <= MOST_ROWS);
    rows.into_keys().collect()
}

fn rows<T: Serialize>(
    out: &mut impl Write,
    name: &str,
    rows: impl IntoIterator<Item = T>,
) -> std::io::Result<()> {
    write!(out, ",\n\"{name}\": [")?;
    for (i, row) in rows.into_iter().enumerate() {
        out.write_all(if i == 0 { b"\n" } else { b",\n" })?;
        serde_json::to_writer(&mut *out, &row)?;
    }
    out.write_all(b"\n]")
}
