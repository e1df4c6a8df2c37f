//! What the tables hold that [`write_parquet`](crate::write_parquet) and
//! [`write_series`](crate::write_series) wrote.

use std::collections::BTreeMap;
use std::fs::File;
use std::path::Path;

use parquet::column::reader::get_typed_column_reader;
use parquet::data_type::{ByteArray, ByteArrayType, DataType, DoubleType, Int32Type};
use parquet::errors::{ParquetError, Result};
use parquet::file::reader::{FileReader, RowGroupReader, SerializedFileReader};
use spillgate_measure::stats::Interval;

use crate::report::SummaryRow;
use crate::samples::SampleRow;

/// The values of every finished run, of the scopes, metrics and names that are wanted, point by
/// point.
///
/// # Errors
/// If the file cannot be read, or is no table of results.
pub fn read_samples(
    path: &Path,
    scope: impl Fn(&str) -> bool,
    metric: impl Fn(&str) -> bool,
    name: impl Fn(&str) -> bool,
) -> Result<Vec<SampleRow>> {
    let (reader, columns) = open(path)?;
    let column = |name| place(&columns, name);
    // With axes the point has a column of its own.
    let point = column("point").or_else(|_| column("variant"))?;
    let keys = [point, column("scope")?, column("name")?, column("metric")?];
    let (unit, run, value) = (column("unit")?, column("run")?, column("value")?);
    let mut names = Dictionary::default();
    // By point, in the order of the table, then by what was measured.
    let mut points: BTreeMap<u32, usize> = BTreeMap::new();
    let mut found: Vec<(usize, SampleRow)> = Vec::new();
    let mut known: BTreeMap<[u32; 4], usize> = BTreeMap::new();
    for i in 0..reader.num_row_groups() {
        let group = &*reader.get_row_group(i)?;
        let texts = |c| values::<ByteArrayType>(group, c);
        let columns = keys.map(texts);
        let (units, runs) = (texts(unit)?, values::<Int32Type>(group, run)?);
        let numbers = values::<DoubleType>(group, value)?;
        let mut key_columns = Vec::with_capacity(keys.len());
        for column in columns {
            key_columns.push(names.numbered(&column?)?);
        }
        let units = names.numbered(&units)?;
        for row in 0..runs.len() {
            let at = |c: usize| key_columns[c].get(row).copied().unwrap_or_default();
            let key = [at(0), at(1), at(2), at(3)];
            let [_, its_scope, its_name, its_metric] = key.map(|n| names.text(n));
            if !scope(its_scope) || !metric(its_metric) || !name(its_name) {
                continue;
            }
            let next = points.len();
            let order = *points.entry(key[0]).or_insert(next);
            let at = *known.entry(key).or_insert_with(|| {
                let [variant, scope, name, metric] = key.map(|n| names.text(n).to_owned());
                let unit = units.get(row).copied().unwrap_or_default();
                let sample = SampleRow {
                    variant,
                    scope: scope.into(),
                    name,
                    metric: metric.into(),
                    unit: names.text(unit).to_owned().into(),
                    runs: Vec::new(),
                    values: Vec::new(),
                };
                found.push((order, sample));
                found.len() - 1
            });
            let sample = &mut found[at].1;
            let run = runs.get(row).copied().flatten().unwrap_or_default();
            sample.runs.push(run.try_into().unwrap_or_default());
            let number = numbers.get(row).copied().flatten();
            sample.values.push(number.unwrap_or(f64::NAN));
        }
    }
    found.sort_by_key(|(order, _)| *order);
    Ok(found.into_iter().map(|(_, sample)| sample).collect())
}

/// A time series, as [`SeriesRow`](crate::SeriesRow).
#[derive(Clone, Debug, PartialEq)]
pub struct StoredSeries {
    /// The point.
    pub variant: String,
    /// Number of the run.
    pub run: u32,
    /// What was sampled.
    pub place: String,
    /// Metric.
    pub metric: String,
    /// Unit.
    pub unit: String,
    /// When the first sample was taken, in seconds since the start of the run.
    pub start: f64,
    /// Seconds from each sample to the next.
    pub step: f64,
    /// The values; NaN where undefined.
    pub v: Vec<f64>,
}

/// The time series of the runs that have some.
///
/// # Errors
/// If the file cannot be read, or is no table of series.
pub fn read_series(path: &Path) -> Result<Vec<StoredSeries>> {
    let (reader, columns) = open(path)?;
    let column = |name| place(&columns, name);
    let texts = [
        column("variant")?,
        column("where")?,
        column("metric")?,
        column("unit")?,
    ];
    let (run, start, step) = (column("run")?, column("start")?, column("step")?);
    let element = column("element")?;
    let mut found = Vec::new();
    for i in 0..reader.num_row_groups() {
        let group = &*reader.get_row_group(i)?;
        let mut names = Dictionary::default();
        let mut numbers = Vec::new();
        for column in texts {
            numbers.push(names.numbered(&values::<ByteArrayType>(group, column)?)?);
        }
        let runs = values::<Int32Type>(group, run)?;
        let starts = values::<DoubleType>(group, start)?;
        let steps = values::<DoubleType>(group, step)?;
        for (row, v) in lists(group, element)?.into_iter().enumerate() {
            let text = |c: usize| {
                let number = numbers[c].get(row).copied().unwrap_or_default();
                names.text(number).to_owned()
            };
            let number = |of: &[Option<f64>]| of.get(row).copied().flatten().unwrap_or(f64::NAN);
            let run = runs.get(row).copied().flatten().unwrap_or_default();
            found.push(StoredSeries {
                variant: text(0),
                run: run.try_into().unwrap_or_default(),
                place: text(1),
                metric: text(2),
                unit: text(3),
                start: number(&starts),
                step: number(&steps),
                v,
            });
        }
    }
    Ok(found)
}

/// The lists of numbers in a column of a row group, NaN where null.
fn lists(group: &dyn RowGroupReader, column: usize) -> Result<Vec<Vec<f64>>> {
    let described = group.metadata().column(column).column_descr_ptr();
    let nested = (described.max_def_level(), described.max_rep_level()) == (2, 1);
    if !nested || described.physical_type() != DoubleType::get_physical_type() {
        return Err(of_another_type(described.name()));
    }
    let rows = usize::try_from(group.metadata().num_rows()).unwrap_or_default();
    let mut reader = get_typed_column_reader::<DoubleType>(group.get_column_reader(column)?);
    let (mut numbers, mut defined, mut repeated) = (Vec::new(), Vec::new(), Vec::new());
    let mut read = 0;
    while read < rows {
        let levels = (Some(&mut defined), Some(&mut repeated));
        let (records, _, _) = reader.read_records(rows - read, levels.0, levels.1, &mut numbers)?;
        if records == 0 {
            return Err(too_short());
        }
        read += records;
    }
    let mut numbers = numbers.into_iter();
    let mut found: Vec<Vec<f64>> = Vec::with_capacity(rows);
    for (defined, repeated) in defined.into_iter().zip(repeated) {
        if repeated == 0 {
            found.push(Vec::new());
        }
        // Levels of definition: an empty list, an undefined value, a value.
        let value = match defined {
            0 => continue,
            1 => f64::NAN,
            _ => numbers.next().unwrap_or(f64::NAN),
        };
        if let Some(list) = found.last_mut() {
            list.push(value);
        }
    }
    Ok(found)
}

type StoredColumns = parquet::schema::types::SchemaDescPtr;

/// A table and what its columns are.
fn open(path: &Path) -> Result<(SerializedFileReader<File>, StoredColumns)> {
    let file = File::open(path).map_err(|e| ParquetError::External(Box::new(e)))?;
    let reader = SerializedFileReader::new(file)?;
    let columns = reader.metadata().file_metadata().schema_descr_ptr();
    Ok((reader, columns))
}

/// Which column has a name.
fn place(columns: &StoredColumns, name: &str) -> Result<usize> {
    let missing = || ParquetError::General(format!("there is no column `{name}`"));
    let mut all = columns.columns().iter();
    all.position(|c| c.name() == name).ok_or_else(missing)
}

fn of_another_type(column: &str) -> ParquetError {
    ParquetError::General(format!("the column `{column}` is of another type"))
}

fn too_short() -> ParquetError {
    ParquetError::EOF("the table ends too soon".to_owned())
}

/// The means over the runs with their intervals, of the scopes, metrics and names that are wanted.
///
/// # Errors
/// Those of [`read_samples`].
pub fn read_summary(
    path: &Path,
    scope: impl Fn(&str) -> bool,
    metric: impl Fn(&str) -> bool,
    name: impl Fn(&str) -> bool,
) -> Result<Vec<SummaryRow>> {
    let samples = read_samples(path, scope, metric, name)?;
    let rows = samples.into_iter().map(|s| {
        let i = Interval::of(&s.values, Interval::LEVEL);
        SummaryRow {
            variant: s.variant,
            scope: s.scope,
            name: s.name,
            metric: s.metric,
            unit: s.unit,
            mean: i.mean,
            low: i.low,
            high: i.high,
            n: i.n,
        }
    });
    Ok(rows.collect())
}

/// The texts of a table, each once.
#[derive(Default)]
struct Dictionary {
    texts: Vec<String>,
    numbers: BTreeMap<Vec<u8>, u32>,
}

impl Dictionary {
    /// The numbers of the texts of a column.
    fn numbered(&mut self, column: &[Option<ByteArray>]) -> Result<Vec<u32>> {
        let mut found = Vec::with_capacity(column.len());
        for cell in column {
            let bytes = cell.as_ref().map_or(&[][..], ByteArray::data);
            let number = match self.numbers.get(bytes) {
                Some(number) => *number,
                None => {
                    let text = std::str::from_utf8(bytes)
                        .map_err(|e| ParquetError::External(Box::new(e)))?;
                    self.texts.push(text.to_owned());
                    let number = self.texts.len() as u32 - 1;
                    self.numbers.insert(bytes.to_vec(), number);
                    number
                }
            };
            found.push(number);
        }
        Ok(found)
    }

    fn text(&self, number: u32) -> &str {
        &self.texts[number as usize]
    }
}

/// A column of a row group; none where it is null.
fn values<T: DataType>(group: &dyn RowGroupReader, column: usize) -> Result<Vec<Option<T::T>>> {
    let reader = group.get_column_reader(column)?;
    let described = group.metadata().column(column).column_descr_ptr();
    let may_be_null = described.max_def_level() > 0;
    if described.physical_type() != T::get_physical_type() {
        return Err(of_another_type(described.name()));
    }
    let rows = usize::try_from(group.metadata().num_rows()).unwrap_or_default();
    let mut reader = get_typed_column_reader::<T>(reader);
    let (mut found, mut levels) = (Vec::new(), Vec::new());
    let mut read = 0;
    while read < rows {
        let wanted = may_be_null.then_some(&mut levels);
        let (records, _, _) = reader.read_records(rows - read, wanted, None, &mut found)?;
        if records == 0 {
            return Err(too_short());
        }
        read += records;
    }
    let mut found = found.into_iter();
    if !may_be_null {
        return Ok(found.map(Some).collect());
    }
    Ok(levels
        .into_iter()
        .map(|level| if level > 0 { found.next() } else { None })
        .collect())
}
