//! Results as one tidy Parquet table: a row a value.
//!
//! Columns: `variant`, `run`, `scope`, `where`, `class`, `metric`, `value` (null where undefined), `unit`.

use std::collections::BTreeMap;
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
    required binary metric (UTF8);
    optional double value;
    required binary unit (UTF8);
}";

/// Rows of a row group. They are all the writer holds, so that its memory does not grow with
/// the number of flows and runs.
const GROUP: usize = 1 << 15;

/// One row, but for variant and run.
struct Row<'a> {
    scope: &'static str,
    place: &'a ByteArray,
    class: &'a ByteArray,
    metric: &'static str,
    value: f64,
    unit: &'static str,
}

/// The columns of one row group.
#[derive(Default)]
struct Columns {
    variant: Vec<ByteArray>,
    run: Vec<i32>,
    scope: Vec<ByteArray>,
    place: Vec<ByteArray>,
    class: Vec<ByteArray>,
    metric: Vec<ByteArray>,
    value: Vec<Option<f64>>,
    unit: Vec<ByteArray>,
}

/// Writes all values of the report's runs, but for time series.
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
    let mut columns = Columns::default();
    for finished in report.finished() {
        let variant = text(&report.plan().variants[finished.info.variant].name);
        let run = finished.info.run as i32;
        rows(report, finished, |row| {
            columns.push(&variant, run, &row);
            if columns.run.len() == GROUP {
                columns.flush(&mut writer)?;
            }
            Ok(())
        })?;
    }
    columns.flush(&mut writer)?;
    writer.close()?;
    Ok(())
}

fn text(s: &str) -> ByteArray {
    ByteArray::from(s.as_bytes().to_vec())
}

/// Gives the rows of a run to `write`.
fn rows(
    report: &Report,
    finished: &Finished,
    mut write: impl FnMut(Row<'_>) -> Result<()>,
) -> Result<()> {
    let world = &report.plan().variants[finished.info.variant].world;
    let layout = report.layout(finished.info.variant);
    let names: Vec<ByteArray> = layout.names.iter().map(|n| text(n)).collect();
    let classes: Vec<ByteArray> = world.classes.iter().map(|c| text(c)).collect();
    let none = text("");
    let class_of: BTreeMap<&str, u16> = world.flows.iter().map(|f| (&*f.name, f.class)).collect();
    for (key, &value) in layout.keys.iter().zip(&finished.outcome.values) {
        let place = &names[key.name as usize];
        let class = match key.scope {
            Scope::Class => place,
            Scope::Flow => class_of
                .get(layout.name(key))
                .map_or(&none, |c| &classes[usize::from(*c)]),
            Scope::Dscp
            | Scope::Queue
            | Scope::Link
            | Scope::Exp
            | Scope::Input
            | Scope::Node
            | Scope::Site
            | Scope::Admission
            | Scope::Total => &none,
        };
        write(Row {
            scope: key.scope.as_str(),
            place,
            class,
            metric: key.metric.name(),
            value,
            unit: key.metric.unit(),
        })?;
    }
    Ok(())
}

impl Columns {
    fn push(&mut self, variant: &ByteArray, run: i32, row: &Row<'_>) {
        self.variant.push(variant.clone());
        self.run.push(run);
        self.scope.push(ByteArray::from(row.scope));
        self.place.push(row.place.clone());
        self.class.push(row.class.clone());
        self.metric.push(ByteArray::from(row.metric));
        self.value.push(Some(row.value).filter(|v| v.is_finite()));
        self.unit.push(ByteArray::from(row.unit));
    }

    /// Writes the rows so far as a row group, if there are any.
    fn flush(&mut self, writer: &mut SerializedFileWriter<File>) -> Result<()> {
        if self.run.is_empty() {
            return Ok(());
        }
        let mut group = writer.next_row_group()?;
        std::mem::take(self).write(&mut group)?;
        group.close()?;
        Ok(())
    }

    fn write(self, group: &mut SerializedRowGroupWriter<'_, File>) -> Result<()> {
        let mut binary = |values: &[ByteArray]| put::<ByteArrayType>(group, values, None);
        binary(&self.variant)?;
        put::<Int32Type>(group, &self.run, None)?;
        for values in [&self.scope, &self.place, &self.class] {
            put::<ByteArrayType>(group, values, None)?;
        }
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
