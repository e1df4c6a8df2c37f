//! Results as one tidy Parquet table: a row a value.
//!
//! Columns: `variant`, `run`, `scope`, `name`, `class`, `metric`, `value` (null where undefined),
//! `unit`, `bound` (what the value cannot exceed; null where nothing is known). With axes also
//! `point`, which is variant and coordinates in one text, and a column for each axis: numbers in a
//! base unit, or texts.

use std::collections::BTreeMap;
use std::fs::File;
use std::path::Path;
use std::sync::Arc;

use parquet::basic::{Compression, ConvertedType, Repetition, Type as PhysicalType};
use parquet::data_type::{ByteArray, ByteArrayType, DoubleType, Int32Type};
use parquet::errors::{ParquetError, Result};
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::parser::parse_message_type;
use parquet::schema::types::{Type, TypePtr};
use spillgate_measure::table::{Metric, Scope};
use spillgate_scenario::plan::{Axis, Plan, VariantPlan};
use spillgate_sim::Finished;

use crate::report::Report;

const COLUMNS: &str = "required binary variant (UTF8);
    required int32 run;
    required binary scope (UTF8);
    required binary name (UTF8);
    required binary class (UTF8);
    required binary metric (UTF8);
    optional double value;
    required binary unit (UTF8);
    optional double bound;";

/// The columns of a table with these axes.
fn schema(axes: &[Axis]) -> Result<TypePtr> {
    let utf8 = |name: &str| -> Result<TypePtr> {
        let column = Type::primitive_type_builder(name, PhysicalType::BYTE_ARRAY)
            .with_repetition(Repetition::REQUIRED)
            .with_converted_type(ConvertedType::UTF8);
        Ok(Arc::new(column.build()?))
    };
    let mut fields = parse_message_type(&format!("message results {{ {COLUMNS} }}"))?
        .get_fields()
        .to_vec();
    if !axes.is_empty() {
        fields.push(utf8("point")?);
    }
    for axis in axes {
        fields.push(match axis.numbers {
            Some(_) => {
                let column = Type::primitive_type_builder(&axis.name, PhysicalType::DOUBLE);
                Arc::new(column.with_repetition(Repetition::REQUIRED).build()?)
            }
            None => utf8(&axis.name)?,
        });
    }
    let message = Type::group_type_builder("results").with_fields(fields);
    Ok(Arc::new(message.build()?))
}

/// Rows of a row group. They are all the writer holds, so that its memory does not grow with
/// the number of flows and runs.
const GROUP: usize = 1 << 15;

/// One row, but for variant and run.
struct Row<'a> {
    scope: &'a ByteArray,
    place: &'a ByteArray,
    class: &'a ByteArray,
    metric: &'a ByteArray,
    value: f64,
    unit: &'a ByteArray,
    bound: Option<f64>,
}

/// What all rows take their texts from, so that none of them has one of its own.
struct Texts {
    scopes: Vec<ByteArray>,
    metrics: Vec<ByteArray>,
    units: Vec<ByteArray>,
    none: ByteArray,
}

impl Texts {
    fn new() -> Self {
        Self {
            scopes: Scope::ALL.iter().map(|s| text(s.name())).collect(),
            metrics: Metric::ALL.iter().map(|m| text(m.name())).collect(),
            units: Metric::ALL.iter().map(|m| text(m.unit())).collect(),
            none: text(""),
        }
    }
}

/// The names of a variant.
struct Names<'a> {
    variant: usize,
    places: Vec<ByteArray>,
    classes: Vec<ByteArray>,
    class_of: BTreeMap<&'a str, u16>,
    /// By key what it cannot exceed.
    bounds: Vec<Option<f64>>,
}

impl<'a> Names<'a> {
    fn of(report: &'a Report, variant: usize) -> Self {
        let world = &report.plan().variants[variant].world;
        Self {
            variant,
            places: report
                .layout(variant)
                .names
                .iter()
                .map(|n| text(n))
                .collect(),
            classes: world.classes.iter().map(|c| text(c)).collect(),
            bounds: (report.layout(variant).keys.iter())
                .map(|k| report.bound(variant, k.scope, report.layout(variant).name(k), k.metric))
                .collect(),
            class_of: world.flows.iter().map(|f| (&*f.name, f.class)).collect(),
        }
    }
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
    bound: Vec<Option<f64>>,
    /// With axes.
    point: Vec<ByteArray>,
    /// For each axis.
    coordinates: Vec<Coordinates>,
}

/// Where rows are on an axis.
enum Coordinates {
    Numbers(Vec<f64>),
    Texts(Vec<ByteArray>),
}

/// A point of the plan, as its rows have it.
struct PointColumns<'p> {
    name: ByteArray,
    variant: ByteArray,
    coordinates: Vec<Coordinate<'p>>,
}

/// A place on an axis.
enum Coordinate<'p> {
    Number(f64),
    Text(&'p str),
}

impl<'p> PointColumns<'p> {
    fn of(plan: &'p Plan, point: &VariantPlan) -> Self {
        let places = plan.axes.iter().zip(&point.coordinates);
        let coordinate = |(axis, at): (&'p Axis, &u32)| match &axis.numbers {
            Some(numbers) => Coordinate::Number(numbers[*at as usize]),
            None => Coordinate::Text(&axis.labels[*at as usize]),
        };
        // Without axes the variant is the point.
        let variant = if plan.axes.is_empty() {
            &point.name
        } else {
            &point.variant
        };
        Self {
            name: text(&point.name),
            variant: text(variant),
            coordinates: places.map(coordinate).collect(),
        }
    }
}

/// Writes all values of the report's runs, but for time series.
///
/// # Errors
/// What the file system or the encoder says.
pub fn write_parquet(report: &Report, path: &Path) -> Result<()> {
    let schema = schema(&report.plan().axes)?;
    let properties = WriterProperties::builder()
        .set_compression(Compression::SNAPPY)
        // Nobody asks a table of results for its least and largest name.
        .set_statistics_enabled(EnabledStatistics::None)
        .set_created_by(concat!("spillgate ", env!("CARGO_PKG_VERSION")).to_owned())
        .build();
    let file = File::create(path).map_err(|e| ParquetError::External(Box::new(e)))?;
    let mut writer = SerializedFileWriter::new(file, schema, Arc::new(properties))?;
    let mut columns = Columns::default();
    let (texts, mut names) = (Texts::new(), None);
    for finished in report.finished() {
        let variant = finished.info.variant;
        let known = names.take().filter(|n: &Names<'_>| n.variant == variant);
        let names = names.insert(known.unwrap_or_else(|| Names::of(report, variant)));
        let plan = report.plan();
        let point = PointColumns::of(plan, &plan.variants[finished.info.variant]);
        let run = finished.info.run as i32;
        rows(report, finished, &texts, names, |row| {
            columns.push(&point, run, &row);
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
    texts: &Texts,
    names: &Names<'_>,
    mut write: impl FnMut(Row<'_>) -> Result<()>,
) -> Result<()> {
    let world = &report.plan().variants[finished.info.variant].world;
    let layout = report.layout(finished.info.variant);
    let (classes, none) = (&names.classes, &texts.none);
    let values = finished.outcome.values.iter().zip(&names.bounds);
    for (key, (&value, &bound)) in layout.keys.iter().zip(values) {
        let place = &names.places[key.name as usize];
        let class = match key.scope {
            Scope::Class => place,
            Scope::ClassDscp => {
                let class = layout.name(key).rsplit_once('/').map(|(class, _)| class);
                let class = world.classes.iter().position(|c| Some(&**c) == class);
                class.map_or(none, |c| &classes[c])
            }
            Scope::Flow => names
                .class_of
                .get(layout.name(key))
                .map_or(none, |c| &classes[usize::from(*c)]),
            _ => none,
        };
        write(Row {
            scope: &texts.scopes[key.scope as usize],
            place,
            class,
            metric: &texts.metrics[key.metric as usize],
            value,
            unit: &texts.units[key.metric as usize],
            bound,
        })?;
    }
    Ok(())
}

impl Columns {
    fn push(&mut self, point: &PointColumns<'_>, run: i32, row: &Row<'_>) {
        if !point.coordinates.is_empty() {
            self.point.push(point.name.clone());
        }
        let empty = |c: &Coordinate<'_>| match c {
            Coordinate::Number(_) => Coordinates::Numbers(Vec::new()),
            Coordinate::Text(_) => Coordinates::Texts(Vec::new()),
        };
        if self.coordinates.is_empty() {
            self.coordinates = point.coordinates.iter().map(empty).collect();
        }
        for (column, at) in self.coordinates.iter_mut().zip(&point.coordinates) {
            match (column, at) {
                (Coordinates::Numbers(column), Coordinate::Number(x)) => column.push(*x),
                (Coordinates::Texts(column), Coordinate::Text(t)) => column.push(text(t)),
                // Each axis has one kind.
                _ => {}
            }
        }
        self.variant.push(point.variant.clone());
        self.run.push(run);
        self.scope.push(row.scope.clone());
        self.place.push(row.place.clone());
        self.class.push(row.class.clone());
        self.metric.push(row.metric.clone());
        self.value.push(Some(row.value).filter(|v| v.is_finite()));
        self.unit.push(row.unit.clone());
        self.bound.push(row.bound);
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
        put::<ByteArrayType>(group, &self.unit, None)?;
        optional(group, &self.bound)?;
        if !self.coordinates.is_empty() {
            put::<ByteArrayType>(group, &self.point, None)?;
        }
        for column in &self.coordinates {
            match column {
                Coordinates::Numbers(values) => put::<DoubleType>(group, values, None)?,
                Coordinates::Texts(values) => put::<ByteArrayType>(group, values, None)?,
            }
        }
        Ok(())
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
