//! Results as one tidy Parquet table: a row a value.
//!
//! Columns: `variant`, `run`, `scope`, `where`, `class`, `time` (seconds; null for a
//! value of the whole period), `metric`, `value` (null where undefined), `unit`.

use std::fs::File;
use std::path::Path;
use std::sync::Arc;

use parquet::basic::Compression;
use parquet::data_type::{ByteArray, ByteArrayType, DoubleType, Int32Type};
use parquet::errors::{ParquetError, Result};
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::parser::parse_message_type;
use spillgate_measure::table::Scope;
use spillgate_sim::Finished;

use crate::report::Report;

const SCHEMA: &str = "message results {
    required binary variant (UTF8);
    required int32 run;
    required binary scope (UTF8);
    required binary where (UTF8);
    required binary class (UTF8);
    optional double time;
    required binary metric (UTF8);
    optional double value;
    required binary unit (UTF8);
}";

/// The columns of one row group.
#[derive(Default)]
struct Columns {
    variant: Vec<ByteArray>,
    run: Vec<i32>,
    scope: Vec<ByteArray>,
    place: Vec<ByteArray>,
    class: Vec<ByteArray>,
    time: Vec<Option<f64>>,
    metric: Vec<ByteArray>,
    value: Vec<Option<f64>>,
    unit: Vec<ByteArray>,
}

/// Writes all values and time series of the report's runs.
///
/// # Errors
/// What the file system or the encoder says.
pub fn write_parquet(report: &Report, path: &Path) -> Result<()> {
    let schema = Arc::new(parse_message_type(SCHEMA)?);
    let properties = WriterProperties::builder()
        .set_compression(Compression::SNAPPY)
        .set_created_by(concat!("spillgate ", env!("CARGO_PKG_VERSION")).to_owned())
        .build();
    let file = File::create(path).map_err(|e| ParquetError::External(Box::new(e)))?;
    let mut writer = SerializedFileWriter::new(file, schema, Arc::new(properties))?;
    // A row group a run bounds the memory of the writer by that of one run.
    for finished in report.finished() {
        let mut group = writer.next_row_group()?;
        columns(report, finished).write(&mut group)?;
        group.close()?;
    }
    writer.close()?;
    Ok(())
}

fn columns(report: &Report, finished: &Finished) -> Columns {
    let variant = &report.plan().variants[finished.info.variant];
    let layout = report.layout(finished.info.variant);
    let text = |s: &str| ByteArray::from(s.as_bytes().to_vec());
    let names: Vec<ByteArray> = layout.names.iter().map(|n| text(n)).collect();
    let (name, none) = (text(&variant.name), text(""));
    let classes: Vec<ByteArray> = variant.world.classes.iter().map(|c| text(c)).collect();
    let mut out = Columns::default();
    let mut flow = 0;
    let mut last_flow = None;
    for (key, &value) in layout.keys.iter().zip(&finished.outcome.values) {
        let class = match key.scope {
            Scope::Class => names[key.name as usize].clone(),
            Scope::Flow => {
                // Flows stand in the layout in the plan's order, each with several keys.
                if last_flow.is_some_and(|l| l != key.name) {
                    flow += 1;
                }
                last_flow = Some(key.name);
                classes[usize::from(variant.world.flows[flow].class)].clone()
            }
            Scope::Dscp | Scope::Queue | Scope::Link | Scope::Total => none.clone(),
        };
        out.variant.push(name.clone());
        out.run.push(finished.info.run as i32);
        out.scope.push(text(key.scope.as_str()));
        out.place.push(names[key.name as usize].clone());
        out.class.push(class);
        out.time.push(None);
        out.metric.push(text(key.metric.name()));
        out.value.push(Some(value).filter(|v| v.is_finite()));
        out.unit.push(text(key.metric.unit()));
    }
    for curve in &finished.outcome.series {
        for (t, v) in curve.t.iter().zip(&curve.v) {
            out.variant.push(name.clone());
            out.run.push(finished.info.run as i32);
            out.scope.push(text("series"));
            out.place.push(text(&curve.place));
            out.class.push(none.clone());
            out.time.push(Some(*t));
            out.metric.push(text(curve.metric));
            out.value.push(Some(*v));
            out.unit.push(text(curve.unit));
        }
    }
    out
}

impl Columns {
    fn write(self, group: &mut SerializedRowGroupWriter<'_, File>) -> Result<()> {
        let mut binary = |values: &[ByteArray]| put::<ByteArrayType>(group, values, None);
        binary(&self.variant)?;
        put::<Int32Type>(group, &self.run, None)?;
        for values in [&self.scope, &self.place, &self.class] {
            put::<ByteArrayType>(group, values, None)?;
        }
        optional(group, &self.time)?;
        put::<ByteArrayType>(group, &self.metric, None)?;
        optional(group, &self.value)?;
        put::<ByteArrayType>(group, &self.unit, None)
    }
}

fn optional(group: &mut SerializedRowGroupWriter<'_, File>, values: &[Option<f64>]) -> Result<()> {
    let present: Vec<f64> = values.iter().flatten().copied().collect();
    let levels: Vec<i16> = values.iter().map(|v| i16::from(v.is_some())).collect();
    put::<DoubleType>(group, &present, Some(&levels))
}

fn put<T: parquet::data_type::DataType>(
    group: &mut SerializedRowGroupWriter<'_, File>,
    values: &[T::T],
    levels: Option<&[i16]>,
) -> Result<()> {
    let Some(mut column) = group.next_column()? else {
        return Err(ParquetError::General(
            "the schema has fewer columns than the data".to_owned(),
        ));
    };
    column.typed::<T>().write_batch(values, levels, None)?;
    column.close()
}
