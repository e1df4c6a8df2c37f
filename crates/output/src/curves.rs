//! Time series as a Parquet table: a row a curve.
//!
//! Columns: `variant`, `run`, `where`, `metric`, `unit`, `start` (seconds, the first sample),
//! `step` (seconds), `v` (list of the values; null where undefined).

use std::fs::File;
use std::path::Path;
use std::sync::Arc;

use parquet::basic::Compression;
use parquet::data_type::{ByteArray, ByteArrayType, DataType, DoubleType, Int32Type};
use parquet::errors::{ParquetError, Result};
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::parser::parse_message_type;
use parquet::schema::types::ColumnPath;

use crate::report::{Report, SeriesRow};

const SCHEMA: &str = "message series {
    required binary variant (UTF8);
    required int32 run;
    required binary where (UTF8);
    required binary metric (UTF8);
    required binary unit (UTF8);
    required double start;
    required double step;
    required group v (LIST) {
        repeated group list {
            optional double element;
        }
    }
}";

/// Writes the time series of the report's runs.
///
/// # Errors
/// What the file system or the encoder says.
pub fn write_series(report: &Report, path: &Path) -> Result<()> {
    let values = ColumnPath::new(["v", "list", "element"].map(str::to_owned).into());
    let properties = WriterProperties::builder()
        .set_compression(Compression::SNAPPY)
        // Rates and windows seldom repeat: a dictionary of them takes longer than it saves.
        .set_column_dictionary_enabled(values, false)
        .set_created_by(concat!("spillgate ", env!("CARGO_PKG_VERSION")).to_owned())
        .build();
    let schema = Arc::new(parse_message_type(SCHEMA)?);
    let file = File::create(path).map_err(|e| ParquetError::External(Box::new(e)))?;
    let mut writer = SerializedFileWriter::new(file, schema, Arc::new(properties))?;
    let rows: Vec<SeriesRow<'_>> = report.series().collect();
    if !rows.is_empty() {
        let mut group = writer.next_row_group()?;
        let text = |of: fn(&SeriesRow<'_>) -> ByteArray| rows.iter().map(of).collect::<Vec<_>>();
        let run: Vec<i32> = rows.iter().map(|r| r.run as i32).collect();
        let start: Vec<f64> = rows.iter().map(|r| r.start).collect();
        let step: Vec<f64> = rows.iter().map(|r| r.step).collect();
        put::<ByteArrayType>(&mut group, &text(|r| r.variant.into()))?;
        put::<Int32Type>(&mut group, &run)?;
        put::<ByteArrayType>(&mut group, &text(|r| r.place.into()))?;
        put::<ByteArrayType>(&mut group, &text(|r| r.metric.into()))?;
        put::<ByteArrayType>(&mut group, &text(|r| r.unit.into()))?;
        put::<DoubleType>(&mut group, &start)?;
        put::<DoubleType>(&mut group, &step)?;
        lists(&mut group, &rows)?;
        group.close()?;
    }
    writer.close()?;
    Ok(())
}

fn too_few() -> ParquetError {
    ParquetError::General("the schema has fewer columns than the data".to_owned())
}

fn put<T: DataType>(group: &mut SerializedRowGroupWriter<'_, File>, values: &[T::T]) -> Result<()> {
    let mut column = group.next_column()?.ok_or_else(too_few)?;
    column.typed::<T>().write_batch(values, None, None)?;
    column.close()
}

fn lists(group: &mut SerializedRowGroupWriter<'_, File>, rows: &[SeriesRow<'_>]) -> Result<()> {
    let mut column = group.next_column()?.ok_or_else(too_few)?;
    for row in rows {
        // Levels of definition: an empty list, an undefined value, a value.
        let defined: Vec<i16> = match row.v {
            [] => vec![0],
            v => v.iter().map(|v| 1 + i16::from(v.is_finite())).collect(),
        };
        // Every value but the first goes on with its list.
        let repeated: Vec<i16> = (0..defined.len()).map(|i| i16::from(i > 0)).collect();
        let values: Vec<f64> = row.v.iter().copied().filter(|v| v.is_finite()).collect();
        let typed = column.typed::<DoubleType>();
        typed.write_batch(&values, Some(&defined), Some(&repeated))?;
    }
    column.close()
}
